"""``cupy.ndarray``: a wrapper around a NumPy array that behaves as if it lived on a device.

It is no subclass of ``numpy.ndarray`` and has no buffer protocol, so that everything that would
copy it to the host unasked (NumPy, matplotlib, SciPy) meets CuPy's TypeError instead. Here is what
an array is and where it lies; ``_methods``, ``_indexing``, ``_host``, ``_protocols`` and
``_operators`` add what it can do.
"""

from __future__ import annotations

import dataclasses
import math
import operator

import numpy as np

from cupy._core import _alignment
from cupy._core._dispatch import check_dtype
from cupy.cuda import device, memory, stream
from gpuless import not_covered


def poison(array: np.ndarray, coming: np.ndarray | None = None) -> None:
    """Fill with what no program should mistake for a result, or for what is ``coming``: of Booleans
    that is the opposite."""
    kind = array.dtype.kind
    if kind in "fc":
        array.fill(np.nan)
    elif kind == "b":
        array[...] = True if coming is None else ~coming
    else:
        array.fill(np.frombuffer(b"\xa5" * array.dtype.itemsize, array.dtype)[0])


class ndarray:
    """An array on a device.

    ``shape`` int or tuple of ints; ``dtype`` numeric, float64 by default; ``memptr`` a
    ``cupy.cuda.MemoryPointer`` to use instead of new memory; ``strides`` in bytes; ``order`` 'C' or
    'F'. New memory holds garbage, as on a device: NaN where the dtype has one.
    """

    __slots__ = ("_array", "_memory", "_base", "__weakref__")
    __array_priority__ = 100
    __module__ = "cupy"

    def __new__(cls, shape, dtype=float, memptr=None, strides=None, order="C"):
        refuse_subclass(cls)
        shape = tuple(shape) if np.iterable(shape) and not isinstance(shape, dict) else (shape,)
        if any(isinstance(n, (bool, np.bool_)) for n in shape):
            raise TypeError("an integer is required")
        shape = tuple(operator.index(n) for n in shape)
        dtype = check_dtype(dtype)
        made = allocate(shape, dtype, new_order(order), memptr, strides)
        self = object.__new__(cls)
        self._array, self._memory, self._base = made._array, made._memory, None
        if memptr is None:
            self._poison()
        else:
            memptr.of_array = True
        return self

    def _poison(self, coming: np.ndarray | None = None) -> None:
        poison(self._array, coming)

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @shape.setter
    def shape(self, new) -> None:
        if new is None:
            raise TypeError("'NoneType' object cannot be interpreted as an integer")
        shaped = self._array.reshape(new)
        if not np.may_share_memory(shaped, self._array) and shaped.size:
            raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()`.")
        self._array = shaped

    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    itemsize = property(lambda self: self._array.itemsize)
    nbytes = property(lambda self: self._array.nbytes)
    strides = property(lambda self: self._array.strides)

    @property
    def flags(self) -> Flags:
        flags = self._array.flags
        return Flags(flags.c_contiguous, flags.f_contiguous, self._base is None)

    @property
    def base(self):
        """The array this one is a view of, or None."""
        return self._base

    @property
    def device(self) -> device.Device:
        return device.Device(self._memory.device_id)

    @property
    def data(self) -> memory.MemoryPointer:
        offset = self._array.ctypes.data - self._memory.ptr if self.size else 0
        pointer = memory.MemoryPointer(self._memory, offset)
        pointer.of_array = True
        return pointer

    @property
    def cstruct(self):
        raise not_covered("cupy.ndarray.cstruct")

    __hash__ = None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def _view(self, array: np.ndarray) -> ndarray:
        return wrap(array, self._memory, self)


def refuse_subclass(cls: type) -> None:
    """NotImplementedError for a class made from ndarray: its views would be none of that class."""
    if cls is not ndarray:
        raise NotImplementedError(
            f"the CPU stand-in does not cover subclasses of cupy.ndarray ({cls.__name__})"
        )


@dataclasses.dataclass(frozen=True, repr=False)
class Flags:
    """Layout of an array. Unlike NumPy's they cannot be set."""

    c_contiguous: bool
    f_contiguous: bool
    owndata: bool

    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)

    def __getitem__(self, name: str) -> bool:
        try:
            return getattr(self, name.lower())
        except AttributeError:
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags") from None

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n"
            f"  F_CONTIGUOUS : {self.f_contiguous}\n"
            f"  OWNDATA : {self.owndata}"
        )


def new_order(order: str | None) -> str:
    """The order of a new array; 'A' and 'K', which are for what has one, give 'F' in CuPy."""
    if not (order is None or isinstance(order, str)):
        raise TypeError(f"object of type {type(order).__name__!r} has no len()")
    return "F" if order in ("A", "a", "K", "k") else order or "C"


def allocate(shape: tuple, dtype, order="C", pointer=None, strides=None) -> ndarray:
    """An array at ``pointer``, by default in new memory: undefined and not even poisoned."""
    dtype = check_dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if any(n < 0 for n in shape):
        raise ValueError("Negative dimensions are not allowed")
    given = pointer is not None
    if not given:
        pointer = memory.alloc_as_it_is(size)
    buffer, offset = (pointer.mem.payload, pointer._offset) if size else (None, 0)
    if offset < 0:
        raise ValueError(f"the pointer lies {-offset} bytes before the start of its memory")
    array = np.ndarray(shape, dtype, buffer, offset, strides, order)
    if given or strides is not None:
        _alignment.note(array)
    if stream.captures and stream.capturing():  # what is to be here comes when the graph runs
        poison(array)
    return wrap(array, pointer.mem)


def wrap(array: np.ndarray, mem=None, base: ndarray | None = None) -> ndarray:
    """A device array over ``array``'s own memory, without copying.

    ``mem`` is the Memory that holds the bytes; without it the result has no guard zones.
    """
    self = object.__new__(ndarray)
    self._array = array
    if mem is None:
        size, here = max(array.nbytes, 1), device.get_device_id()
        mem = memory.UnownedMemory(array.ctypes.data, size, array, here)
    self._memory = mem
    self._base = base if base is None or base._base is None else base._base
    return self


def place(array: np.ndarray, order: str = "K") -> ndarray:
    """A device array with a copy of ``array`` in memory of the pool; order 'S' is ``array``'s own,
    that of a transposed one too, 'G' also has the gaps of a part of a larger one."""
    if order == "G" and array.size and array.base is not None and not array.flags.forc:
        room, start = allocate(array.base.shape, check_dtype(array.dtype)), _address(array.base)
        how = {"strides": array.strides, "offset": _address(array) - start}
        result = wrap(np.ndarray(array.shape, array.dtype, room._array, **how), room._memory)
    elif order in ("S", "G"):
        result = allocate_like(array, check_dtype(array.dtype), "K")
    else:
        result = allocate(array.shape, check_dtype(array.dtype), _order(array, order))
    if array.size:
        result._array[...] = array
    return result


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def allocate_like(array: np.ndarray, dtype: np.dtype, order: str) -> ndarray:
    """New memory in ``array``'s shape; order 'K' keeps the order of its strides, without gaps."""
    flags = array.flags
    if order not in ("K", "k") or flags.c_contiguous or flags.f_contiguous:
        return allocate(array.shape, dtype, _order(array, order))
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    packed = allocate(tuple(array.shape[axis] for axis in axes), dtype)
    return wrap(packed._array.transpose(np.argsort(axes)), packed._memory)


def _order(array: np.ndarray, order: str) -> str:
    if order in ("K", "A", "k", "a"):
        return "F" if array.flags.fnc else "C"
    if order not in ("C", "F", "c", "f"):
        raise ValueError(f"order not understood: {order!r}")
    return order.upper()
