"""Device memory: the engine's fenced bytes, seen through NumPy and through CuPy's pointers."""

from __future__ import annotations

import ctypes
import gc
import operator

import numpy as np

from cupy.cuda import _ownership, _state, runtime
from cupy.cuda._hooks import hooks, told
from gpuless import not_covered
from gpuless.engine.memory import Allocation, NoMemory, is_freed, release

UNIT = 512  # bytes; sizes in a pool are multiples of it


def round_up(size: int) -> int:
    return -(-size // UNIT) * UNIT


class OutOfMemoryError(MemoryError):
    """Raised when the pool's limit would be passed."""

    __module__ = "cupy.cuda.memory"

    def __init__(self, size: int, total: int, limit: int = 0):
        self._size, self._total, self._limit = size, total, limit
        message = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes" + (
            f", limit set to: {limit:,} bytes)." if limit else ")."
        )
        super().__init__(message)

    def __reduce__(self):
        return type(self), (self._size, self._total, self._limit)


def _allocate(size: int) -> Allocation:
    """CUDARuntimeError (out of memory) if even what nothing refers to is not enough."""
    try:
        return Allocation(size)
    except NoMemory:
        gc.collect()
        release()
    try:
        return Allocation(size)
    except NoMemory:
        raise runtime.CUDARuntimeError(2) from None


class Memory:
    """``size`` bytes on the current device.

    ``payload`` is a uint8 array of the bytes, ``ptr`` its address. ``given_back``, if set, is
    called when the memory is no longer used.
    """

    given_back = None
    managed = False

    def __init__(self, size: int):
        _state.use()
        self.size = size
        self.device_id = runtime.getDevice()
        allocation = _allocate(size)  # freed with the last array that sees it
        self.ptr = allocation.address if size else 0  # a null pointer, as CuPy's
        self.payload = np.asarray(allocation)
        if size:
            _ownership.enter(self, self.ptr, size, self.device_id)

    def __del__(self) -> None:
        if hasattr(self, "payload") and self.size:
            _ownership.leave(self.ptr)
        if self.given_back is not None:
            (self._give_back if hooks else self.given_back)()

    def _give_back(self) -> None:
        """``given_back``, of which hooks are told."""
        known = {"device_id": self.device_id, "mem_size": round_up(self.size)}
        known |= {"mem_ptr": self.ptr, "pmem_id": id(self)}
        with told("free", known, {}):
            self.given_back()

    @property
    def device(self):
        from cupy.cuda.device import Device

        return Device(self.device_id)


class ManagedMemory(Memory):
    """Memory that belongs to no device: every one may touch it."""

    managed = True


class PooledMemory(Memory):
    """Memory that a pool hands out; what it got of its own ``allocator`` it keeps as ``of``."""

    of = None

    @classmethod
    def around(cls, of, size: int) -> PooledMemory:
        """The first ``size`` bytes of other memory."""
        made = cls.__new__(cls)
        made.of, made.size, made.ptr, made.device_id = of, size, of.ptr, of.device_id
        made.payload, made.managed = of.payload[:size], of.managed
        return made

    def __del__(self) -> None:
        if self.of is None:
            super().__del__()
        elif self.given_back is not None:
            (self._give_back if hooks else self.given_back)()


class UnownedMemory:
    """``size`` bytes at address ``ptr`` that belong to ``owner``; there are no fences.

    ValueError if an array begins there and has fewer, or if one did that is freed.
    """

    managed = False

    def __init__(self, ptr: int, size: int, owner, device_id: int = -1):
        if ptr == 0 and device_id < 0:
            raise RuntimeError("UnownedMemory requires explicit device ID for a null pointer.")
        # A NumPy array knows its size: what the stand-in itself makes is not searched for.
        known = isinstance(owner, np.ndarray)
        there = _ownership._live.get(ptr, (size,))[0]
        if not known and (found := _ownership.find(ptr)) is not None:
            there = found[1]
        if size > max(there, 1):
            raise ValueError(
                f"{size} bytes at {ptr:#x}, where an array has {there}: CuPy does not check this, "
                "and on a GPU the rest is other memory"
            )
        if not known and is_freed(ptr):
            raise ValueError(
                f"{size} bytes at {ptr:#x}, where an array was that is freed: CuPy does not check "
                "this, and on a GPU it may be other memory by now"
            )
        self.ptr, self.size, self._owner = ptr, size, owner
        if device_id < 0:  # which the address tells, but that of a module's variable
            device_id = runtime.pointerGetAttributes(ptr).device
            if device_id < 0 and not known:
                device_id = runtime.getDevice()
        self.device_id = device_id
        buffer = (ctypes.c_ubyte * size).from_address(ptr)
        self.payload = np.frombuffer(buffer, dtype=np.uint8)

    device = Memory.device


class Handle:
    """What a kernel is given as the number ``ptr``: a texture or a surface object. ``_memory`` is
    what it reads."""

    is_texture = False


class MemoryPointer:
    """An address inside a ``Memory``: ``mem`` plus an offset in bytes."""

    of_array = False  # whether one is made of it

    def __init__(self, mem, offset: int):
        self.mem = mem
        self._offset = operator.index(offset)
        self.ptr = mem.ptr + self._offset

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    @property
    def device(self):
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<MemoryPointer {self.ptr:#x} device={self.device_id} mem={self.mem!r}>"

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def __iadd__(self, offset: int) -> MemoryPointer:
        if self.of_array:
            raise not_covered(
                "p += n (in CuPy it moves the array whose data p is; write p = p + n)"
            )
        self._offset += operator.index(offset)
        self.ptr += offset
        return self

    def __isub__(self, offset: int) -> MemoryPointer:
        self += -offset
        return self

    def _bytes(self, size: int) -> np.ndarray:
        if size < 0:
            raise OverflowError("can't convert negative value to size_t")
        if self._offset < 0 or self._offset + size > self.mem.size:
            raise runtime.CUDARuntimeError(1)
        return self.mem.payload[self._offset : self._offset + size]

    # Copies. A host address is an int or a ctypes.c_void_p, a size is in bytes; those that are
    # called _async do their work in the order of ``stream``, the current one by default.

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream=None) -> None:
        target, source = self._bytes(size), src._bytes(size)
        _ownership.check_apart(self.ptr, src.ptr, size)
        _submit(lambda: np.copyto(target, source), stream)

    def copy_from_host_async(self, mem, size: int, stream=None) -> None:
        self._host_async("H2D transfers", mem, size, stream)

    def copy_to_host_async(self, mem, size: int, stream=None) -> None:
        self._host_async("D2H transfers", mem, size, stream)

    def _host_async(self, what: str, mem, size: int, on) -> None:
        from cupy.cuda import stream

        stream.refuse_while_capturing(what, on)
        device, host = self._bytes(size).ctypes.data, _host_address(mem, size)
        to_host = what.startswith("D2H")
        stream.move(*((host, device) if to_host else (device, host)), size, on, self.mem)

    def copy_from_async(self, mem, size: int, stream=None) -> None:
        from_device = isinstance(mem, MemoryPointer)
        copy = self.copy_from_device_async if from_device else self.copy_from_host_async
        copy(mem, size, stream)

    def memset_async(self, value: int, size: int, stream=None) -> None:
        if stream is not None:
            _ = stream.ptr
        target, value = self._bytes(size), operator.index(value) & 0xFF
        _submit(lambda: target.fill(value), stream)

    # The others go to the null stream, whichever is the current one, and the host waits.

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        self.copy_from_device_async(src, size, _null())

    def copy_from_host(self, mem, size: int) -> None:
        target, address = self._bytes(size), _host_address(mem, size)
        _submit(lambda: ctypes.memmove(target.ctypes.data, address, size), _null())

    def copy_to_host(self, mem, size: int) -> None:
        source, address = self._bytes(size), _host_address(mem, size)
        _submit(lambda: ctypes.memmove(address, source.ctypes.data, size), _null())

    def copy_from(self, mem, size: int) -> None:
        copy = self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host
        copy(mem, size)

    def memset(self, value: int, size: int) -> None:
        self.memset_async(value, size, _null())


def _host_address(mem, size: int) -> int:
    """The host's address; CUDARuntimeError (invalid argument) for bytes at address 0."""
    address = mem if isinstance(mem, int) else mem.value or 0
    if size and not address:
        raise runtime.CUDARuntimeError(1)
    return address


def _null():
    """The null stream; RuntimeError, as CuPy's, where the current one is capturing."""
    from cupy.cuda import stream

    stream.refuse_while_capturing("synchronous API calls")
    return stream.Stream.null


def _submit(work, on_stream) -> None:
    from cupy.cuda import stream

    stream.submit(work, on_stream)
