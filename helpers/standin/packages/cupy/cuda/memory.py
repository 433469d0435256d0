"""Memory pools and allocators, which keep the books that CuPy's keep.

Sizes are rounded up to 512 bytes, blocks split and merged, and freed blocks kept for the next.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import weakref

import numpy as np

from cupy.cuda import runtime
from cupy.cuda._guarded import (  # noqa: F401
    Memory,
    MemoryPointer,
    UnownedMemory,
    round_up,
    spare,
)


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
            spare.clear()
            device = runtime.getDevice()
            self._free[device] = [
                b for b in self._free.get(device, ()) if b.before is not None or b.after is not None
            ]

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


malloc_managed = malloc_unpooled  # managed memory is host memory here anyway
