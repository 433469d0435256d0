"""Which logical device a piece of memory belongs to, and which devices may touch it."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import weakref
from collections.abc import Iterator

from cupy.cuda import _card, _state
from gpuless.engine import kernels
from gpuless.engine.errors import KernelError

# Of every piece of memory: address -> bytes, device, and the Memory.
_live: dict[int, tuple[int, int, weakref.ref]] = {}
several = False  # whether a device but the first has had memory
_peers: set[tuple[int, int]] = set()  # (device, owner): the first may touch the second's memory


def enter(memory, address: int, size: int, device: int) -> None:
    """Note new ``memory``; CUDARuntimeError (out of memory) past the simulated card's size."""
    global several
    if not fits(size, device):
        raise _state.CUDARuntimeError(2)
    if device:
        several = True
    _live[address] = size, device, weakref.ref(memory)


def fits(size: int, device: int) -> bool:
    """Whether a device has room for ``size`` more bytes; what nothing refers to is freed first."""
    limit = _card.memory_limit()
    if limit is None or used(device) + size <= limit:
        return True
    gc.collect()
    return used(device) + size <= limit


def leave(address: int) -> None:
    """Forget memory that is freed."""
    _live.pop(address, None)


def used(device: int) -> int:
    """Bytes in use on a device."""
    return sum(size for size, owner, _ in list(_live.values()) if owner == device)


def find(address: int) -> tuple[int, int] | None:
    """The device that owns an address, and the bytes from there on; None: no device does."""
    found = memory_at(address)
    return None if found is None else (found.device_id, found.ptr + found.size - address)


def memory_at(address: int):
    """The Memory in which an address lies; None where no device owns it."""
    for start, (size, _, memory) in _live.copy().items():  # others allocate meanwhile
        if start <= address < start + size:
            return memory()
    return None


def set_device_count(count: int) -> None:
    """Have ``count`` logical devices from now on; RuntimeError if one in use would vanish."""
    gc.collect()
    lost = sorted({device for _, device, _ in list(_live.values()) if device >= count})
    if lost:
        number = sum(1 for _, device, _ in _live.values() if device == lost[0])
        raise RuntimeError(
            f"Device {lost[0]} would vanish, and {number} of its arrays still exist "
            f"({used(lost[0])} bytes). Delete them first (`del x`), or keep {max(lost) + 1} devices"
        )
    if _state.getDevice() >= count:
        raise RuntimeError(
            f"Device {_state.getDevice()} is the current one and would vanish. Leave its `with` "
            "block, or call cupy.cuda.Device(0).use(), first"
        )
    os.environ[_state.DEVICES] = str(count)  # processes that are started from here see it too
    for pair in [pair for pair in _peers if max(pair) >= count]:
        _peers.discard(pair)


def check_apart(target: int, source: int, size: int) -> None:
    """ValueError where ``size`` bytes at two addresses overlap: CUDA copies them in no order."""
    if 0 < abs(target - source) < size:
        raise ValueError(
            "the source and the target of this copy overlap, and a GPU may read what it has just "
            "written; take a copy first, as in a[1:] = a[:-1].copy()"
        )


def may_touch(device: int, owner: int) -> bool:
    return device == owner or (device, owner) in _peers


def enable(device: int, owner: int) -> bool:
    """Let ``device`` touch the memory of ``owner``; False where the card cannot."""
    if device != owner:
        if not _card.has_peers() or owner < 0:  # the host
            return False
        _peers.add((device, owner))
    return True


def disable(device: int, owner: int) -> None:
    _peers.discard((device, owner))


@contextlib.contextmanager
def others_shut() -> Iterator[None]:
    """Inside a ``with`` block no kernel reaches the memory of devices that the current one may not
    touch: it may have the address from an integer, or from another array."""
    current = _state.getDevice()
    found = [
        memory() for _, owner, memory in _live.copy().values() if not may_touch(current, owner)
    ]
    found = [memory for memory in found if memory is not None and not memory.managed]
    try:
        with kernels.without([(memory.ptr, memory.size) for memory in found]):
            yield
    except KernelError as error:
        if found and re.search("outside the array|none of its arrays", str(error)):
            error.add_note(
                f"It is not memory of a device to which device {current} has peer access, either "
                "(cupy.cuda.runtime.deviceEnablePeerAccess)."
            )
        raise


def check_device(memory, what: str) -> None:
    """RuntimeError if the current device may not touch ``memory``, which ``what`` names."""
    current, owner = _state.getDevice(), memory.device_id
    if owner != current and not memory.managed and not may_touch(current, owner):
        remedy = (
            f"call cupy.cuda.runtime.deviceEnablePeerAccess({owner}) on device {current} first"
            if _card.has_peers()
            else "these devices have no peer access to each other"
        )
        raise RuntimeError(
            f"{what} is memory of device {owner}, and the current device is {current}, which may "
            "not touch it: a GPU would stop with an illegal memory access. Launch inside `with "
            f"cupy.cuda.Device({owner}):`, or copy the array to device {current} (cupy.asarray), "
            f"or, to reach it from where it is, {remedy}"
        )


def check_stream(stream) -> None:
    """CUDARuntimeError (invalid resource handle) if ``stream`` is of another device."""
    if stream is not None and stream.device_id not in (-1, _state.getDevice()):
        error = _state.CUDARuntimeError(400)
        error.add_note(
            f"The stream belongs to device {stream.device_id}, and the current device is "
            f"{_state.getDevice()}. Work inside `with cupy.cuda.Device({stream.device_id}):`."
        )
        raise error
