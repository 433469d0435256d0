"""Memory pools and allocators, which keep the books that CuPy's keep.

Sizes are rounded up to 512 bytes, blocks split and merged, and freed blocks kept for the next.
"""

from __future__ import annotations

import bisect
import collections
import contextlib
import ctypes
import functools
import gc
import itertools
import os
import threading
import warnings
import weakref

import numpy as np

from cupy.cuda import _late, _ownership, runtime
from cupy.cuda._guarded import (  # noqa: F401
    Handle,
    ManagedMemory,
    Memory,
    MemoryPointer,
    OutOfMemoryError,
    PooledMemory,
    UnownedMemory,
    round_up,
)
from cupy.cuda._hooks import hooks, told
from cupy.cuda.stream import refuse_unsafe
from gpuless.engine import memory as engine_memory


class _Block:
    """A stretch of the pool's address space; neighbours come from one original allocation."""

    __slots__ = ("size", "number", "free", "before", "after")
    _numbers = itertools.count()

    def __init__(self, size: int, before=None, after=None):
        self.size, self.free, self.before, self.after = size, False, before, after
        self.number = next(self._numbers)

    def key(self) -> tuple[int, int]:
        """By which free blocks are sorted."""
        return self.size, self.number


def _limit(size: int | None = None, fraction: float | None = None) -> int:
    """In bytes, from bytes or from a part of the current device's memory."""
    if fraction is not None:
        if size is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if not 0 <= fraction <= 1:
            raise ValueError(f"memory limit fraction out of range: {fraction}")
        size = fraction * runtime.memGetInfo()[1]
    if size is not None and size < 0:
        raise ValueError(f"memory limit size out of range: {size}")
    return int(size or 0)


class _Books:
    """Of one device: the free blocks by size, their bytes, the bytes in use, and the limit in bytes
    (0: none).
    """

    def __init__(self):
        self.free: list[_Block] = []
        self.free_bytes = self.used = 0
        given = os.environ.get("CUPY_GPU_MEMORY_LIMIT", "0")
        part = given.endswith("%")
        self.limit = _limit(fraction=float(given[:-1]) / 100) if part else _limit(int(given))

    def total(self) -> int:
        return self.used + self.free_bytes

    def fits(self, size: int) -> bool:
        return bool(self.free) and self.free[-1].size >= size

    def _add(self, block: _Block) -> None:
        block.free = True
        bisect.insort(self.free, block, key=_Block.key)
        self.free_bytes += block.size

    def _remove(self, block: _Block) -> None:
        del self.free[bisect.bisect_left(self.free, block.key(), key=_Block.key)]
        block.free = False
        self.free_bytes -= block.size

    def take(self, size: int) -> _Block:
        """The smallest free block that fits, cut to ``size``; a new one where none fits."""
        if self.fits(size):
            block = self.free[bisect.bisect_left(self.free, (size, -1), key=_Block.key)]
            self._remove(block)
            if block.size > size:  # split: the rest stays free
                rest = _Block(block.size - size, block, block.after)
                if rest.after is not None:
                    rest.after.before = rest
                block.size, block.after = size, rest
                self._add(rest)
        else:
            block = _Block(size)
        self.used += size
        return block

    def give_back(self, block: _Block) -> None:
        self.used -= block.size
        self._add(block)
        if block.after is not None and block.after.free:
            self._merge(block)
        if block.before is not None and block.before.free:
            self._merge(block.before)

    def _merge(self, left: _Block) -> None:
        """Make one of ``left`` and the block after it, both free."""
        right = left.after
        self._remove(right)
        self._remove(left)
        left.size += right.size
        left.after = right.after
        if left.after is not None:
            left.after.before = left
        self._add(left)

    def forget(self) -> None:
        """Drop the free blocks; parts of split ones stay until all are free."""
        self.free = [b for b in self.free if b.before is not None or b.after is not None]
        self.free_bytes = sum(block.size for block in self.free)


class MemoryPool:
    """The books of CuPy's pool, one set for each device.

    Sizes are in bytes. What is handed out is host memory; the figures are those a GPU would show.
    An ``allocator`` of the caller's is asked for each piece, and not only for what no freed block
    has room for.
    """

    def __init__(self, allocator=None):
        self._allocator = allocator
        self._lock = threading.RLock()
        self._books: dict[int, _Books] = collections.defaultdict(_Books)
        # A garbage collection may free memory in the middle of anything, so freed blocks wait here.
        self._freed: collections.deque = collections.deque()

    def _here(self) -> _Books:
        """The books of the current device; freed blocks are entered first."""
        with self._lock:
            while self._freed:
                books, block = self._freed.popleft()
                books.give_back(block)
            return self._books[runtime.getDevice()]

    def malloc(self, size: int) -> MemoryPointer:
        """Allocate ``size`` bytes; OutOfMemoryError past the limit or the device's memory."""
        if not hooks:
            return self._malloc(size)
        known = {"device_id": runtime.getDevice(), "size": size, "mem_size": round_up(size)}
        given = {"mem_ptr": 0, "pmem_id": 0}
        with told("malloc", known, given):
            pointer = self._malloc(size)
            given |= {"mem_ptr": pointer.ptr, "pmem_id": id(pointer.mem)}
        return pointer

    def _malloc(self, size: int) -> MemoryPointer:
        if not _ownership.fits(size, runtime.getDevice()):
            raise OutOfMemoryError(size, self.total_bytes())
        with self._lock:
            books = self._here()
            self._make_room(round_up(size), books)
            if size and not books.fits(round_up(size)):
                refuse_unsafe()
            try:
                if not size:
                    memory = Memory(0)
                elif hooks and not books.fits(round_up(size)):
                    memory = self._make_and_tell(size)
                else:
                    memory = self._make(size)
            except runtime.CUDARuntimeError as error:
                if error.status != 2:
                    raise
                raise OutOfMemoryError(size, books.total()) from None
            if size:
                block = books.take(round_up(size))
                memory.given_back = functools.partial(self._freed.append, (books, block))
        return MemoryPointer(memory, 0)

    def _make(self, size: int) -> PooledMemory:
        if self._allocator is None:
            return PooledMemory(size)
        exact = self._allocator is malloc_managed  # so that its fence is where it ends
        given = self._allocator(size if exact else round_up(size)).mem
        return PooledMemory.around(given, size)

    def _make_and_tell(self, size: int) -> PooledMemory:
        known = {"device_id": runtime.getDevice(), "mem_size": round_up(size)}
        given = {"mem_ptr": 0}
        with told("alloc", known, given):
            made = self._make(size)
            given["mem_ptr"] = made.ptr
        return made

    def _make_room(self, size: int, books: _Books) -> None:
        if books.limit and not books.fits(size) and books.total() + size > books.limit:
            for free in (self.free_all_blocks, gc.collect, self.free_all_blocks):
                if size <= books.limit:  # else CuPy keeps its free blocks
                    free()
            if books.total() + size > books.limit:
                raise OutOfMemoryError(size, books.total(), books.limit)

    def used_bytes(self) -> int:
        return self._here().used

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        return self._here().total()

    def n_free_blocks(self) -> int:
        return len(self._here().free)

    def free_all_blocks(self, stream=None) -> None:
        """Return the free blocks to the system."""
        if stream is not None:
            _ = stream.ptr
        with self._lock:
            if self._here().free:
                refuse_unsafe()
            engine_memory.release()
            self._here().forget()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        self._here().limit = _limit(size, fraction)

    def get_limit(self) -> int:
        return self._here().limit


class PinnedMemoryPool:
    """Page-locked host memory is ordinary host memory here; blocks are counted as CuPy does."""

    def __init__(self, allocator=None):
        if allocator is not None:
            text = (
                "the CPU stand-in's PinnedMemoryPool has memory of its own, and asks no allocator"
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        self._free: collections.Counter[int] = collections.Counter()  # by their sizes

    def malloc(self, size: int) -> PinnedMemoryPointer:
        pointer = PinnedMemoryPointer(size)
        if size:
            block = self._block(size)
            self._free[block] = max(0, self._free[block] - 1)
            weakref.finalize(pointer, self._give_back, block).atexit = False
        return pointer

    @staticmethod
    def _block(size: int) -> int:
        """The bytes of the block for ``size``: a power of two, 512 or more."""
        return max(512, 1 << (int(size) - 1).bit_length())

    def _give_back(self, block: int) -> None:
        self._free[block] += 1

    def pass_through(self, size: int) -> None:
        """What is copied from ordinary memory passes through a block, which is free behind it."""
        block = self._block(size)
        self._free[block] = max(1, self._free[block])

    def n_free_blocks(self) -> int:
        return self._free.total()

    def free_all_blocks(self) -> None:
        self._free.clear()


class PinnedMemoryPointer(np.ndarray):
    """Host memory for ``numpy.frombuffer`` that kernels may touch too."""

    def __new__(cls, size: int):
        _late.taken(size)
        allocation = engine_memory.Allocation(size)
        # Not a view of an array: NumPy would have views of this one refer past it to that array.
        buffer = (ctypes.c_byte * size).from_address(allocation.address)
        pointer = super().__new__(cls, size, np.int8, buffer)
        pointer._allocation = allocation
        pointer.fill(-1)
        if size:
            _late.pinned[allocation.address] = pointer
            weakref.finalize(pointer, _late.freed, allocation).atexit = False
        return pointer

    def __add__(self, offset: int) -> PinnedMemoryPointer:
        """The pointer ``offset`` bytes further on."""
        start = self if self.base is None or isinstance(self.base, ctypes.Array) else self.base
        return super(PinnedMemoryPointer, start).__getitem__(
            slice(self.ptr - start.ptr + offset, None)
        )

    __radd__ = __add__
    __iadd__ = __add__

    def __sub__(self, offset: int) -> PinnedMemoryPointer:
        return self + -offset

    __isub__ = __sub__

    def __getitem__(self, *given):
        raise TypeError("a PinnedMemoryPointer has no elements; numpy.frombuffer() makes an array")

    __setitem__ = __len__ = __iter__ = __getitem__
    __eq__, __ne__, __hash__ = object.__eq__, object.__ne__, object.__hash__

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return object.__repr__(self)

    __str__ = __repr__

    @property
    def ptr(self) -> int:
        return self.ctypes.data

    def size(self) -> int:
        return self.nbytes


_default_pool = MemoryPool()
_default_pinned_pool = PinnedMemoryPool()
_allocator = _default_pool.malloc
_pinned_allocator = _default_pinned_pool.malloc
_local = threading.local()


def malloc_unpooled(size: int) -> MemoryPointer:
    """Memory straight from the system, kept in no pool."""
    refuse_unsafe()
    return MemoryPointer(Memory(size), 0)


def alloc(size: int) -> MemoryPointer:
    """Allocate ``size`` bytes with the current allocator. They hold NaNs, as integers -1, or what
    an allocator of the program's own has put there."""
    pointer = alloc_as_it_is(size)
    if get_allocator() in (_default_pool.malloc, malloc_unpooled):
        pointer._bytes(size).fill(0xFF)
    return pointer


def alloc_as_it_is(size: int) -> MemoryPointer:
    """``alloc`` of memory that is written at once."""
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
    return _pinned_allocator(size)


def set_pinned_memory_allocator(allocator=None) -> None:
    """Use ``allocator(size) -> PinnedMemoryPointer`` from now on; None: no pool."""
    global _pinned_allocator
    _pinned_allocator = allocator or PinnedMemoryPointer


def pass_through(size: int) -> None:
    """What is copied from ordinary memory passes through page-locked memory."""
    pool = getattr(_pinned_allocator, "__self__", None)
    if isinstance(pool, PinnedMemoryPool):
        pool.pass_through(size)
    else:
        _pinned_allocator(size)


def get_default_memory_pool() -> MemoryPool:
    return _default_pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    return _default_pinned_pool


def malloc_managed(size: int) -> MemoryPointer:
    """Memory that every device may touch."""
    refuse_unsafe()
    pointer = MemoryPointer(ManagedMemory(size), 0)
    pointer._bytes(size).fill(0xFF)
    return pointer


def __getattr__(name: str):
    from gpuless import missing

    if name not in ("MemoryAsync", "MemoryAsyncPool", "malloc_async"):
        raise missing("cupy.cuda.memory", name)
    from cupy.cuda import _async

    return getattr(_async, name)
