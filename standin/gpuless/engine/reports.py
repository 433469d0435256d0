"""What the runtime tells of a launch, in words: which thread did what to which array, and where."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuless.engine import lines, memory

FAR = 1 << 36  # bytes; what is farther away, such as host memory, is not beside an array
CONSTANT = (
    "constant: a kernel is to read it only. A GPU stops the whole program there or, where NVIDIA's "
    "compiler does not see that it is constant, changes it while other threads read it"
)
_NOT_SHARED, _DYNAMIC = -2, -1  # StandinSlotNumber of shim/runtime.h


class Report(ctypes.Structure):
    """StandinReport."""

    _fields_ = [
        ("code", ctypes.c_int),
        ("has_thread", ctypes.c_int),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
        ("access", ctypes.c_char),
        ("unwritten", ctypes.c_char),
        ("address", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("slot", ctypes.c_int),
        ("slot_bytes", ctypes.c_size_t),
        ("slot_offset", ctypes.c_long),
        ("line", ctypes.c_int),
        ("offset", ctypes.c_size_t),
        ("library", ctypes.c_char * 512),
        ("text", ctypes.c_char * 1024),
    ]


class Overrun(ctypes.Structure):
    """StandinOverrun."""

    _fields_ = [
        ("found", ctypes.c_int),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
        ("address", ctypes.c_void_p),
        ("offset", ctypes.c_size_t),
        ("library", ctypes.c_char * 512),
    ]


@dataclass(frozen=True)
class View:
    """The bytes from ``begin`` to ``end`` of an allocation, which are all that a launch is given of
    it."""

    allocation: int
    size: int
    begin: int
    end: int


@dataclass(frozen=True)
class Pointer:
    """An array that a kernel was given: its ``name`` there, its address, bytes an element."""

    name: str
    address: int
    item_bytes: int


@contextlib.contextmanager
def watched(library: ctypes.CDLL, views: Sequence[View]) -> Iterator[list[Overrun]]:
    """Inside a ``with`` block writes outside views are seen; afterwards the list has the first."""
    found: list[Overrun] = []
    library.standin_view.argtypes = [ctypes.c_size_t] * 4
    for v in sorted(views, key=lambda v: (v.allocation, v.begin)):
        library.standin_view(v.allocation, v.allocation + v.size, v.begin, v.end)
    try:
        yield found
    finally:
        if views:
            overrun = Overrun.in_dll(library, "standin_overrun")
            if overrun.found:
                found.append(Overrun.from_buffer_copy(overrun))
            library.standin_forget_views()


def told(report: Report, source: str, pointers: Sequence[Pointer], shared) -> tuple[str, int, str]:
    """Where in the launch it was, the line in the file ``source`` (0 if unknown), and what."""
    where = ""
    if report.has_thread:
        where += f", block {tuple(report.block)}, thread {tuple(report.thread)}"
    line = report.line
    if not line and report.offset:
        line = lines.find(report.library.decode(errors="replace"), report.offset, source)
    if line:
        where += f", line {line}"
    text = report.text.decode(errors="replace")
    # Type names as both compilers write them.
    text = re.sub(r"'standin_type_\d+' \(aka ('.*?')\)", r"\1", text).replace(" [", "[")
    return where, line, text or _describe(report, pointers, shared)


def _describe(report: Report, pointers: Sequence[Pointer], shared) -> str:
    """What is wrong with an access to memory, in words."""
    if report.access == b"c":
        return f"writes to a variable that is {CONSTANT}"
    verb = {b"r": "reads", b"w": "writes"}.get(report.access, "reads or writes")
    if report.slot != _NOT_SHARED:
        dynamic = report.slot == _DYNAMIC
        name = "its dynamic shared memory" if dynamic else f"'{shared[report.slot].name}'"
        if ord(report.unwritten) == 2:
            return (
                f"{verb} byte {report.slot_offset} of {name}, which an asynchronous copy is to "
                "fill: the thread that asked for it has not waited, as by __pipeline_wait_prior(0)"
            )
        if ord(report.unwritten):
            return (
                f"{verb} byte {report.slot_offset} of {name}, shared memory that no thread of the "
                "block has written: on a GPU it holds whatever an earlier block left there"
            )
        kind = f"{report.slot_bytes:,} bytes of " + ("" if dynamic else "shared memory ")
        hint = " (its size is the launch's shared_mem)" if dynamic else ""
        beside = _beside(report.slot_offset, report.slot_bytes)
        return f"{verb} outside the {kind}{name}, {beside}{hint}"
    nearest = None
    for pointer in pointers if report.address else ():
        if held := memory.holding(pointer.address):
            offset = report.address - held[0]
            distance = max(-offset, offset - held[1], 0)
            if distance < FAR and (nearest is None or distance < nearest[0]):
                nearest = distance, pointer, offset, held[1]
    if nearest is None:
        return (
            f"{verb} memory that belongs to none of its arrays. Host memory, such as a NumPy "
            "array's, is out of a kernel's reach: give it a CuPy array"
        )
    _, given, offset, size = nearest
    index = (report.address - given.address) // given.item_bytes
    return (
        f"{verb} {given.name}[{index}], outside the array '{given.name}' of {size:,} bytes, "
        f"{_beside(offset, size)}. On a GPU this silently reads or overwrites other memory. Test "
        "the index before the access, as in `if (i < n)`"
    )


def _beside(offset: int, size: int) -> str:
    if offset < 0:
        return f"{-offset:,} bytes before its start"
    return f"{offset - size:,} bytes past its end" if offset > size else "just past its end"


def outside_view(overrun: Overrun, pointers: Sequence[Pointer], name: str) -> str:
    """What is said of a write outside the view that a kernel of the source ``name`` was given."""
    line = lines.find(overrun.library.decode(errors="replace"), overrun.offset, f"{name}.cu")
    held = memory.holding(overrun.address)
    inside = [p for p in pointers if memory.holding(p.address) == held]
    nearest = min(inside, key=lambda p: abs(p.address - overrun.address))
    index = (overrun.address - nearest.address) // nearest.item_bytes
    where = f", line {line}" if line else ""
    return (
        f"block {tuple(overrun.block)}, thread {tuple(overrun.thread)}{where}: writes "
        f"{nearest.name}[{index}], which is outside the view that it was given as "
        f"'{nearest.name}', but inside the array that this is a view of. A kernel is given an "
        "address alone, so a GPU writes there as well, without a word"
    )
