"""What a rank asks for, what all of them get, and NCCL's errors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TYPES = {
    0: np.dtype(np.int8),
    1: np.dtype(np.uint8),
    2: np.dtype(np.int32),
    3: np.dtype(np.uint32),
    4: np.dtype(np.int64),
    5: np.dtype(np.uint64),
    6: np.dtype(np.float16),
    7: np.dtype(np.float32),
    8: np.dtype(np.float64),
}
OPERATIONS = {0: "sum", 1: "prod", 2: "max", 3: "min", 4: "avg"}

_TEXT = {
    0: ("NCCL_ERROR_SUCCESS", "no error"),
    1: (
        "NCCL_ERROR_UNHANDLED_CUDA_ERROR",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    ),
    2: (
        "NCCL_ERROR_SYSTEM_ERROR",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    ),
    3: (
        "NCCL_ERROR_INTERNAL_ERROR",
        "internal error - please report this issue to the NCCL developers",
    ),
    4: ("NCCL_ERROR_INVALID_ARGUMENT", "invalid argument (run with NCCL_DEBUG=WARN for details)"),
    5: ("NCCL_ERROR_INVALID_USAGE", "invalid usage (run with NCCL_DEBUG=WARN for details)"),
    6: (
        "NCCL_ERROR_REMOTE_ERROR",
        "remote process exited or there was a network error",
    ),
}


class NcclError(RuntimeError):
    """``NcclError(4)`` reads ``NCCL_ERROR_INVALID_ARGUMENT: invalid argument ...``."""

    __module__ = "cupy.cuda.nccl"

    def __init__(self, status: int):
        self.status = status
        super().__init__(": ".join(_TEXT[status]))

    def __reduce__(self):
        return type(self), (self.status,)


def failure(status: int, note: str) -> NcclError:
    """NCCL's error, with a note (shown below it) that says what is wrong and what to do."""
    error = NcclError(status)
    error.add_note(note)
    return error


def patience() -> float:
    """Seconds to wait for other ranks: ``CUPY_STANDIN_TIMEOUT``, 60 when unset."""
    given = os.environ.get("CUPY_STANDIN_TIMEOUT") or "60"
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ValueError(f"CUPY_STANDIN_TIMEOUT must be seconds, more than 0, not {given!r}")
    return seconds


@dataclass(frozen=True)
class Call:
    """One call of one rank.

    ``kind`` is the name of NcclCommunicator's method, or join, split or barrier. ``count`` is in
    elements of ``dtype`` (a NumPy name); ``peer`` is the root, or the other side of send and recv.
    """

    kind: str
    count: int = 0
    dtype: str = ""
    op: str = ""
    peer: int = -1

    def __str__(self) -> str:
        if self.kind == "join":
            return f"a communicator of {self.count} ranks"
        text = self.kind
        if self.dtype:
            text += f" of {self.count} {self.dtype}"
        if self.op:
            text += f" ({self.op})"
        if self.peer >= 0:
            way = {"send": "to", "recv": "from", "broadcast": "from", "reduce": "to"}[self.kind]
            text += f" {way} rank {self.peer}"
        return text

    def like(self, other: Call) -> bool:
        """Whether two ranks' calls belong together."""
        if self.kind in ("send", "recv"):
            return (self.count, self.dtype) == (other.count, other.dtype)
        return self == other


def _reduce(parts: list[np.ndarray], op: str) -> np.ndarray:
    """Of all ranks, one after another in the order of the ranks: the bits repeat."""
    function = {"max": np.fmax, "min": np.fmin, "prod": np.multiply}.get(op, np.add)
    total = parts[0].copy()
    with np.errstate(all="ignore"):
        for part in parts[1:]:
            function(total, part, out=total)
        if op == "avg" and total.dtype.kind == "f":
            total /= total.dtype.type(len(parts))
        elif op == "avg":  # towards zero, as C divides
            total = np.sign(total) * (np.abs(total) // len(parts))
    return total


def results(calls: dict[int, tuple[Call, bytes]], new_id: Callable[[], bytes]) -> dict[int, bytes]:
    """What each rank gets, from what all of them brought; ``new_id`` makes a communicator's id."""
    ranks = sorted(calls)
    call = calls[ranks[0]][0]
    brought = [calls[rank][1] for rank in ranks]
    if call.kind == "barrier":
        return dict.fromkeys(ranks, b"")
    if call.kind == "join":
        return _join(ranks, brought)
    if call.kind == "split":
        return _split(ranks, brought, new_id)
    if call.kind == "broadcast":
        return dict.fromkeys(ranks, calls[call.peer][1])
    if call.kind == "allGather":
        return dict.fromkeys(ranks, b"".join(brought))
    total = _reduce([np.frombuffer(data, call.dtype) for data in brought], call.op)
    if call.kind == "reduceScatter":
        pieces = np.split(total, len(ranks))
        return {rank: piece.tobytes() for rank, piece in zip(ranks, pieces, strict=True)}
    data = total.tobytes()
    return {rank: data if call.peer in (-1, rank) else b"" for rank in ranks}


def _join(ranks: list[int], brought: list[bytes]) -> dict[int, bytes]:
    """Each rank brings its device: NCCL wants one for each."""
    owners: dict[bytes, int] = {}
    for rank, device in zip(ranks, brought, strict=True):
        if device in owners:
            raise failure(
                5,
                f"Ranks {owners[device]} and {rank} are both on device {device.decode()}; each "
                "rank needs a device of its own: cupy.cuda.Device(rank).use() before the "
                "communicator is made",
            )
        owners[device] = rank
    return dict.fromkeys(ranks, b"")


def _split(ranks: list[int], brought: list[bytes], new_id) -> dict[int, bytes]:
    """Each rank brings its color and key, and gets id, size and rank of its new communicator."""
    wanted = {rank: json.loads(data) for rank, data in zip(ranks, brought, strict=True)}
    answer = dict.fromkeys(ranks, b"")
    for color in {color for color, _ in wanted.values() if color >= 0}:
        members = sorted((key, rank) for rank, (c, key) in wanted.items() if c == color)
        name = new_id().hex()
        for number, (_, rank) in enumerate(members):
            answer[rank] = json.dumps([name, len(members), number]).encode()
    return answer
