"""Device memory, kept in host memory between two guard zones.

Every array lives in a ``Memory``: its bytes lie between zones filled with a known pattern, so
that a kernel which writes past either end is found out (``Memory.damage``).
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cupy.cuda import _ownership, runtime

ALIGNMENT = 512  # bytes; what cudaMalloc guarantees, and the pool's unit
GUARD = 512  # bytes on each side
GUARD_BYTE = 0xA5
_INTACT = bytes([GUARD_BYTE]) * (GUARD + ALIGNMENT)


class _Spare:
    """Buffers of freed memory, to be used again: faster than asking the system each time."""

    LIMIT = 1 << 28  # bytes kept at most

    def __init__(self):
        self._buffers: dict[int, list[np.ndarray]] = {}
        self._bytes = 0

    def take(self, size: int) -> np.ndarray:
        try:
            buffer = self._buffers[size].pop()
        except (KeyError, IndexError):
            return np.empty(size, dtype=np.uint8)
        self._bytes -= size
        return buffer

    def keep(self, buffer: np.ndarray) -> None:
        if self._bytes + buffer.size > self.LIMIT:
            self.clear()
        self._bytes += buffer.size
        self._buffers.setdefault(buffer.size, []).append(buffer)

    def clear(self) -> None:
        self._buffers.clear()
        self._bytes = 0


spare = _Spare()


def round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class Memory:
    """``size`` bytes on the current device, between guard zones.

    ``payload`` is a uint8 array of the bytes, ``ptr`` its address. ``given_back``, if set, is
    called when the memory is no longer used.
    """

    given_back = None
    managed = False  # whether every device may touch it
    _raw = None

    def __init__(self, size: int):
        self.size = size
        self.device_id = runtime.getDevice()
        held = round_up(size) + 2 * GUARD
        raw = spare.take(held + ALIGNMENT)
        address = raw.__array_interface__["data"][0]
        start = -address % ALIGNMENT
        self._raw = raw
        self._held = raw[start : start + held]
        self.payload = self._held[GUARD : GUARD + size]
        self.ptr = address + start + GUARD
        _ownership.enter(self.ptr, size, self.device_id)
        self.repair()

    def __del__(self) -> None:
        if self.given_back is not None:
            self.given_back()
        raw = self._raw
        if raw is not None:
            _ownership.leave(self.ptr)
        self.__dict__.clear()
        # Two references: no NumPy array sees these bytes any more.
        if raw is not None and sys.getrefcount(raw) == 2:
            spare.keep(raw)

    @property
    def device(self):
        from cupy.cuda import Device

        return Device(self.device_id)

    def repair(self) -> None:
        """Fill the guard zones with their pattern."""
        self._held[:GUARD] = GUARD_BYTE
        self._held[GUARD + self.size :] = GUARD_BYTE

    def damage(self) -> int | None:
        """Offset in bytes, from the start of the payload, of a guard byte that was overwritten.

        Negative: before the start. ``>= size``: past the end; the one nearest the payload is
        reported. None when both zones are intact.
        """
        held_before = self._held[:GUARD].tobytes()
        held_after = self._held[GUARD + self.size :].tobytes()
        if held_before == _INTACT[:GUARD] and held_after == _INTACT[: len(held_after)]:
            return None  # the usual case, and every launch asks
        after = np.flatnonzero(self._held[GUARD + self.size :] != GUARD_BYTE)
        if after.size:
            return self.size + int(after[0])
        before = np.flatnonzero(self._held[:GUARD] != GUARD_BYTE)
        return int(before[-1]) - GUARD if before.size else None


class ManagedMemory(Memory):
    """``size`` bytes that every device, and the host, may touch."""

    managed = True


class UnownedMemory:
    """``size`` bytes at address ``ptr`` that belong to ``owner``; there are no guard zones."""

    managed = False

    def __init__(self, ptr: int, size: int, owner, device_id: int = -1):
        self.ptr, self.size, self._owner = ptr, size, owner
        self.device_id = runtime.getDevice() if device_id < 0 else device_id
        buffer = (ctypes.c_ubyte * size).from_address(ptr)
        self.payload = np.frombuffer(buffer, dtype=np.uint8)

    device = Memory.device

    def repair(self) -> None:
        """There is nothing to repair."""

    def damage(self) -> None:
        """There are no guard zones to look at."""


class MemoryPointer:
    """An address inside a ``Memory``: ``mem`` plus an offset in bytes."""

    def __init__(self, mem, offset: int):
        self.mem = mem
        self._offset = offset
        self.ptr = mem.ptr + offset

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    @property
    def device(self):
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def _bytes(self, size: int) -> np.ndarray:
        if self._offset < 0 or self._offset + size > self.mem.size:
            raise runtime.CUDARuntimeError(1)
        return self.mem.payload[self._offset : self._offset + size]

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        from cupy.cuda import stream

        target, source = self._bytes(size), src._bytes(size)
        stream.submit(lambda: np.copyto(target, source))

    def copy_from_host(self, mem, size: int) -> None:
        """Copy ``size`` bytes from the host address ``mem`` (int or ctypes.c_void_p)."""
        from cupy.cuda import stream

        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        target = self._bytes(size)
        stream.submit(lambda: ctypes.memmove(target.ctypes.data, address, size))

    def copy_to_host(self, mem, size: int) -> None:
        from cupy.cuda import stream

        stream.refuse_while_capturing()
        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        ctypes.memmove(address, self._bytes(size).ctypes.data, size)

    def copy_from(self, mem, size: int) -> None:
        copy = self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host
        copy(mem, size)

    def memset(self, value: int, size: int) -> None:
        from cupy.cuda import stream

        target = self._bytes(size)
        stream.submit(lambda: target.fill(value))
