"""Memory as CuPy hands it out, kept in host memory between two guard zones.

Every array lives in a ``Memory``: its bytes lie between zones filled with a known pattern, so
that a kernel which writes past either end is found out (``Memory.damage``). The pool keeps the
books that CuPy's pool keeps: sizes rounded up to 512 bytes, blocks split and merged, freed blocks
kept.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import sys
import threading
import weakref

import numpy as np

from cupy.cuda import runtime

ALIGNMENT = 512  # bytes; what cudaMalloc guarantees, and the pool's unit
GUARD = 512  # bytes on each side
GUARD_BYTE = 0xA5
_INTACT = bytes([GUARD_BYTE]) * (GUARD + ALIGNMENT)
POISON_BYTE = 0xFF  # every float made of these bytes is a NaN


class OutOfMemoryError(MemoryError):
    """Raised when the pool's limit would be passed."""

    def __init__(self, size: int, total: int, limit: int = 0):
        self._size, self._total, self._limit = size, total, limit
        message = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes" + (
            f", limit set to: {limit:,} bytes)." if limit else ")."
        )
        super().__init__(message)

    def __reduce__(self):
        return type(self), (self._size, self._total, self._limit)


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


_spare = _Spare()


def round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class Memory:
    """``size`` bytes on the current device, between guard zones.

    ``payload`` is a uint8 array of the bytes, ``ptr`` its address. ``given_back``, if set, is
    called when the memory is no longer used.
    """

    given_back = None
    _raw = None

    def __init__(self, size: int):
        self.size = size
        self.device_id = runtime.getDevice()
        held = round_up(size) + 2 * GUARD
        raw = _spare.take(held + ALIGNMENT)
        address = raw.__array_interface__["data"][0]
        start = -address % ALIGNMENT
        self._raw = raw
        self._held = raw[start : start + held]
        self.payload = self._held[GUARD : GUARD + size]
        self.ptr = address + start + GUARD
        self.repair()

    def __del__(self) -> None:
        if self.given_back is not None:
            self.given_back()
        raw = self._raw
        self.__dict__.clear()
        if (
            raw is not None and sys.getrefcount(raw) == 2
        ):  # no NumPy array sees these bytes any more
            _spare.keep(raw)

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


class UnownedMemory:
    """``size`` bytes at address ``ptr`` that belong to ``owner``; there are no guard zones."""

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

    def copy_from_device_async(self, src, size: int, stream=None) -> None:
        self.copy_from_device(src, size)

    def copy_from_host_async(self, mem, size: int, stream=None) -> None:
        self.copy_from_host(mem, size)

    def copy_to_host_async(self, mem, size: int, stream=None) -> None:
        self.copy_to_host(mem, size)

    def memset_async(self, value: int, size: int, stream=None) -> None:
        self.memset(value, size)


class _Block:
    """A stretch of the pool's address space; neighbours come from one original allocation."""

    __slots__ = ("size", "free", "before", "after")

    def __init__(self, size: int, before=None, after=None):
        self.size, self.free, self.before, self.after = size, False, before, after


class MemoryPool:
    """The books of CuPy's pool, one set for each device.

    Sizes are in bytes. What is handed out is host memory; the figures are those a GPU would show.
    """

    def __init__(self, allocator=None):
        self._lock = threading.RLock()
        self._free: dict[int, list[_Block]] = {}
        self._used: dict[int, int] = {}
        self._limit: dict[int, int] = {}
        # A garbage collection may free memory in the middle of anything, so freed blocks wait here.
        self._freed: collections.deque = collections.deque()

    def malloc(self, size: int) -> MemoryPointer:
        """Allocate ``size`` bytes; raises OutOfMemoryError past the limit."""
        device = runtime.getDevice()
        block = self._take(round_up(size), device) if size else None
        memory = Memory(size)
        if block is not None:
            memory.given_back = functools.partial(self._freed.append, (block, device))
        return MemoryPointer(memory, 0)

    def _take(self, size: int, device: int) -> _Block:
        with self._lock:
            self._settle()
            free = self._free.setdefault(device, [])
            fitting = [block for block in free if block.size >= size]
            if fitting:
                block = min(fitting, key=lambda b: b.size)
                free.remove(block)
                if block.size > size:  # split: the rest stays free
                    rest = _Block(block.size - size, block, block.after)
                    if rest.after is not None:
                        rest.after.before = rest
                    block.size, block.after, rest.free = size, rest, True
                    free.append(rest)
                block.free = False
            else:
                total, limit = self._total(device), self._limit.get(device, 0)
                if limit and total + size > limit:
                    self.free_all_blocks()
                    total = self._total(device)
                    if total + size > limit:
                        raise OutOfMemoryError(size, total, limit)
                block = _Block(size)
            self._used[device] = self._used.get(device, 0) + size
            return block

    def _settle(self) -> None:
        """Enter the freed blocks in the books."""
        with self._lock:
            while self._freed:
                self._give_back(*self._freed.popleft())

    def _give_back(self, block: _Block, device: int) -> None:
        self._used[device] -= block.size
        free = self._free.setdefault(device, [])
        if block.after is not None and block.after.free:
            self._merge(block, block.after, free)
        if block.before is not None and block.before.free:
            block = block.before
            self._merge(block, block.after, free)
            free.remove(block)
        block.free = True
        free.append(block)

    @staticmethod
    def _merge(left: _Block, right: _Block, free: list[_Block]) -> None:
        if right.free:
            free.remove(right)
        left.size += right.size
        left.after = right.after
        if left.after is not None:
            left.after.before = left

    def _total(self, device: int) -> int:
        return self._used.get(device, 0) + sum(b.size for b in self._free.get(device, ()))

    def used_bytes(self) -> int:
        self._settle()
        return self._used.get(runtime.getDevice(), 0)

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        self._settle()
        return self._total(runtime.getDevice())

    def n_free_blocks(self) -> int:
        self._settle()
        return len(self._free.get(runtime.getDevice(), ()))

    def free_all_blocks(self, stream=None) -> None:
        """Return the free blocks to the system; parts of split blocks stay until all are free."""
        with self._lock:
            self._settle()
            _spare.clear()
            device = runtime.getDevice()
            self._free[device] = [
                b for b in self._free.get(device, ()) if b.before is not None or b.after is not None
            ]

    def free_all_free(self) -> None:
        self.free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        if fraction is not None:
            if size is not None:
                raise ValueError("size and fraction cannot be specified at one time")
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * runtime.memGetInfo()[1])
        self._limit[runtime.getDevice()] = size or 0

    def get_limit(self) -> int:
        return self._limit.get(runtime.getDevice(), 0)


class PinnedMemoryPool:
    """Page-locked host memory is ordinary host memory here; blocks are counted as CuPy does."""

    def __init__(self, allocator=None):
        self._free = 0

    def malloc(self, size: int) -> PinnedMemoryPointer:
        self._free = max(0, self._free - 1)
        pointer = PinnedMemoryPointer(size)
        weakref.finalize(pointer, self._give_back).atexit = False
        return pointer

    def _give_back(self) -> None:
        self._free += 1

    def n_free_blocks(self) -> int:
        return self._free

    def free_all_blocks(self) -> None:
        self._free = 0


class PinnedMemoryPointer(bytearray):
    """Host memory with the buffer protocol, for ``numpy.frombuffer``."""

    @property
    def ptr(self) -> int:
        return np.frombuffer(self, np.uint8).ctypes.data

    def size(self) -> int:
        return len(self)


_default_pool = MemoryPool()
_default_pinned_pool = PinnedMemoryPool()
_allocator = _default_pool.malloc
_local = threading.local()


def malloc_unpooled(size: int) -> MemoryPointer:
    """Memory straight from the system, kept in no pool."""
    return MemoryPointer(Memory(size), 0)


def alloc(size: int) -> MemoryPointer:
    """Allocate ``size`` bytes with the current allocator."""
    return (getattr(_local, "allocator", None) or _allocator)(size)


def set_allocator(allocator=None) -> None:
    """Use ``allocator(size) -> MemoryPointer`` from now on; None: no pool."""
    global _allocator
    if getattr(_local, "allocator", None) is not None:
        raise ValueError(
            "Can't change the global allocator inside `using_allocator` context manager"
        )
    _allocator = allocator or malloc_unpooled


def get_allocator():
    return getattr(_local, "allocator", None) or _allocator


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Use ``allocator`` in this thread inside a ``with`` block; None: no pool."""
    before = getattr(_local, "allocator", None)
    _local.allocator = allocator or malloc_unpooled
    try:
        yield
    finally:
        _local.allocator = before


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    return _default_pinned_pool.malloc(size)


def set_pinned_memory_allocator(allocator=None) -> None:
    """Accepted and of no effect: host memory is never page-locked here."""


def get_default_memory_pool() -> MemoryPool:
    return _default_pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    return _default_pinned_pool


def malloc_managed(size: int) -> MemoryPointer:
    """Managed memory is host memory here anyway."""
    return malloc_unpooled(size)
