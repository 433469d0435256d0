"""CUDA's own pool, one of each device: memory that is taken and given back in a stream's order."""

from __future__ import annotations

import collections
import weakref

from cupy.cuda import runtime
from cupy.cuda._guarded import Memory, MemoryPointer, OutOfMemoryError, round_up
from cupy.cuda.stream import get_current_stream

_PIECE = 32 << 20  # bytes; what the driver reserves is a multiple of it
_NO_LIMIT = 2**64 - 1


class _Reserve:
    """Of one device, in bytes: what is in use, what is reserved, and the limit."""

    def __init__(self):
        self.used = self.reserved = 0
        self.limit = _NO_LIMIT

    def trim(self) -> None:
        self.reserved = -(-self.used // _PIECE) * _PIECE

    def take(self, size: int) -> None:
        self.used += size
        if self.used > self.reserved:
            self.trim()

    def give_back(self, size: int) -> None:
        self.used -= size


_reserves: dict[int, _Reserve] = collections.defaultdict(_Reserve)


class MemoryAsync(Memory):
    """``size`` bytes of the current device's pool, for ``stream`` to use first."""

    _reserve = None

    def __init__(self, size: int, stream):
        super().__init__(size)
        self.stream_ref = weakref.ref(stream)
        self._reserve = _reserves[self.device_id]
        self._reserve.take(round_up(size))

    def __del__(self) -> None:
        super().__del__()
        if self._reserve is not None:
            self._reserve.give_back(round_up(self.size))


def malloc_async(size: int) -> MemoryPointer:
    """``size`` bytes of CUDA's pool, on the current stream; CUDARuntimeError without room."""
    pointer = _as_it_is(size)
    pointer._bytes(size).fill(0xFF)
    return pointer


def _as_it_is(size: int) -> MemoryPointer:
    return MemoryPointer(MemoryAsync(size, get_current_stream()), 0)


class MemoryAsyncPool:
    """CUDA's pools as an allocator: ``cupy.cuda.set_allocator(MemoryAsyncPool().malloc)``.

    Every one of these objects has the same pools. ``pool_handles`` is ``"default"`` or
    ``"current"``, or a list of these, one for each device; pools from elsewhere are not covered.
    Memory hooks are not told. The limit, in bytes, keeps CuPy from reserving more.
    """

    memoryAsyncHasStat = True

    def __init__(self, pool_handles="current"):
        handles = [pool_handles] if isinstance(pool_handles, (str, int)) else pool_handles
        for handle in handles:
            _check(handle)
        for device in range(runtime.getDeviceCount()):
            _reserves[device].limit = _NO_LIMIT

    def _here(self) -> _Reserve:
        return _reserves[runtime.getDevice()]

    def malloc(self, size: int) -> MemoryPointer:
        """Allocate ``size`` bytes; OutOfMemoryError past the limit or the device's memory."""
        here, needed = self._here(), round_up(size)
        total = here.reserved
        if total - here.used < needed and max(here.limit, total) < total + needed:
            raise OutOfMemoryError(size, total, here.limit)
        try:
            return _as_it_is(size)
        except runtime.CUDARuntimeError:
            raise OutOfMemoryError(size, total, here.limit) from None

    def free_all_blocks(self, stream=None) -> None:
        """Wait for ``stream`` (default: the current one) and return what is free to the system."""
        (stream or get_current_stream()).synchronize()
        self._here().trim()

    def n_free_blocks(self) -> int:
        raise NotImplementedError("This function is not supported in MemoryAsyncPool")

    def used_bytes(self) -> int:
        return self._here().used

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        return self._here().reserved

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """At most ``size`` bytes on the current device, or a ``fraction`` of it; 0: no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if size is None:
            if not 0 <= (fraction or 0) <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int((fraction or 0) * runtime.memGetInfo()[1])
        if size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._here().limit = size or _NO_LIMIT

    def get_limit(self) -> int:
        return self._here().limit


def _check(handle) -> None:
    from gpuless import not_covered

    if handle == "create":
        raise NotImplementedError("cudaMemPoolCreate is not yet supported")
    if isinstance(handle, int):
        raise not_covered("cupy.cuda.MemoryAsyncPool of a pool from elsewhere")
    if handle not in ("default", "current"):
        raise ValueError(
            "handle must be 'default' (for the device's default pool), 'current' (for the device's "
            "current pool), or int (a pointer to cudaMemPool_t)"
        )
