"""``cupy.ndarray``: a wrapper around a NumPy array that behaves as if it lived on a device.

It is no subclass of ``numpy.ndarray`` and has no buffer protocol, so that everything that would
copy it to the host unasked (NumPy, matplotlib, SciPy) meets CuPy's TypeError instead.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from cupy._core._dispatch import SCALARS, check_device, routine, run, submit, unsupported
from cupy._core._host import OnHost
from cupy._core._indexing import resolve
from cupy._core._protocols import Protocols, as_device
from cupy.cuda import device, memory, stream
from helpers.standin import not_covered

_KINDS = "biufc"


def check_dtype(dtype) -> np.dtype:
    """``numpy.dtype(dtype)``; ValueError unless it is boolean, integer, float or complex."""
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        raise ValueError(f"Unsupported dtype {dtype} with big-endian byte-order")
    if dtype.kind not in _KINDS or dtype.char in "gG":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


class ndarray(OnHost, Protocols):
    """An array on a device.

    ``shape`` int or tuple of ints; ``dtype`` numeric, float64 by default; ``memptr`` a
    ``cupy.cuda.MemoryPointer`` to use instead of new memory; ``strides`` in bytes; ``order`` 'C' or
    'F'. New memory holds garbage, as on a device: NaN where the dtype has one.
    """

    __slots__ = ("_array", "_memory", "_base", "__weakref__")
    __array_priority__ = 100
    __module__ = "cupy"

    def __new__(cls, shape, dtype=float, memptr=None, strides=None, order="C"):
        shape = tuple(shape) if np.iterable(shape) else (shape,)
        shape = tuple(operator.index(n) for n in shape)
        if any(n < 0 for n in shape):
            raise ValueError("Negative dimensions are not allowed")
        dtype = check_dtype(dtype)
        made = allocate(shape, dtype, order or "C", memptr, strides)
        self = object.__new__(cls)
        self._array, self._memory, self._base = made._array, made._memory, None
        if memptr is None:
            self._poison()
        return self

    def _poison(self) -> None:
        """Fill with what no program should mistake for a result."""
        kind = self._array.dtype.kind
        if kind in "fc":
            self._array.fill(np.nan)
        elif kind == "b":
            self._array.fill(True)
        else:
            pattern = b"\xa5" * self._array.dtype.itemsize
            self._array.fill(np.frombuffer(pattern, self._array.dtype)[0])

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @shape.setter
    def shape(self, new) -> None:
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
        return Flags(self)

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
        return memory.MemoryPointer(self._memory, offset)

    @property
    def cstruct(self):
        raise not_covered("cupy.ndarray.cstruct")

    def _write(self, value) -> None:
        submit(lambda: np.copyto(self._array, value(), casting="unsafe"))

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        with self.device:
            return self.copy()

    __hash__ = None

    # Elements

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value) -> bool:
        return bool((self == value).any())

    def __getitem__(self, index):
        entries, advanced = resolve(index, self.shape)
        if not advanced:
            return self._view(self._array[entries])
        if stream.capturing():  # the index array is read when the graph runs
            return run(lambda: self._array[resolve(index, self.shape)[0]])
        return run(lambda: self._array[entries])

    def __setitem__(self, index, value) -> None:
        entries, advanced = resolve(index, self.shape, assigned=True)
        late = advanced and stream.capturing()  # the index array is read when the graph runs
        target = self._array
        value = as_device(value)
        if isinstance(value, ndarray):
            check_device(value)
            source = value._array
            while source.ndim > target.ndim and source.shape[0] == 1:
                source = source[0]
        else:
            source = np.asarray(value) if isinstance(value, (*SCALARS, np.ndarray)) else value
            if not isinstance(source, np.ndarray):
                source = np.asarray(value, dtype=self.dtype)
            if source.ndim and not advanced:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                source = np.asarray(value, dtype=self.dtype)  # OverflowError, as in CuPy

        def work() -> None:
            where = resolve(index, self.shape, assigned=True)[0] if late else entries
            target[where] = source.astype(target.dtype, copy=False)

        submit(work)

    def _scatter(self, function: np.ufunc, index, value) -> None:
        _, advanced = resolve(index, self.shape, assigned=True)
        if isinstance(value, ndarray):
            value = value._array
        elif isinstance(value, np.ndarray) and not advanced:
            raise unsupported(value)

        def work() -> None:
            source = np.asarray(value).astype(self.dtype)
            function.at(self._array, resolve(index, self.shape, assigned=True)[0], source)

        submit(work)

    def scatter_add(self, slices, value) -> None:
        self._scatter(np.add, slices, value)

    def scatter_max(self, slices, value) -> None:
        self._scatter(np.maximum, slices, value)

    def scatter_min(self, slices, value) -> None:
        self._scatter(np.minimum, slices, value)

    @property
    def flat(self):
        from cupy._core._flatiter import flatiter

        return flatiter(self)

    # Views

    def _view(self, array: np.ndarray):
        return wrap(array, self._memory, self)

    @property
    def T(self):
        return self.transpose()

    @property
    def mT(self):
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self):
        return self._view(self._array.real) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value) -> None:
        self.real[...] = value

    @property
    def imag(self):
        if self.dtype.kind == "c":
            return self._view(self._array.imag)
        return place(np.zeros(self.shape, self.dtype))

    @imag.setter
    def imag(self, value) -> None:
        if self.dtype.kind != "c":
            raise TypeError("cupy.ndarray does not have imaginary part to set")
        self.imag[...] = value

    def view(self, dtype=None, type=None):
        if dtype is None:
            return self._view(self._array.view())
        return self._view(self._array.view(check_dtype(dtype)))

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 else shape
        if order not in ("C", "F", "A", "c", "f", "a"):
            raise ValueError(f"order must be one of 'C', 'F', or 'A' (got {order!r})")
        return _view_of(self, lambda a: a.reshape(shape, order=order), copy)

    def ravel(self, order="C"):
        return _view_of(self, lambda a: a.ravel(order))

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 else axes or None
        return _view_of(self, lambda a: a.transpose(axes))

    def swapaxes(self, axis1, axis2):
        return _view_of(self, lambda a: a.swapaxes(axis1, axis2))

    def squeeze(self, axis=None):
        return _view_of(self, lambda a: a.squeeze(axis))

    def diagonal(self, offset=0, axis1=0, axis2=1):
        def diagonal(a):
            view = a.diagonal(offset, axis1, axis2)
            view.flags.writeable = True  # NumPy's is read-only, CuPy's is not
            return view

        return _view_of(self, diagonal)

    # New arrays

    def copy(self, order="C"):
        """A copy on the current device."""
        return self.astype(self.dtype, order)

    def flatten(self, order="C"):
        return self.copy(order).ravel(order) if order in "CF" else self.ravel(order).copy()

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        if casting is not None:
            raise TypeError("casting is not supported yet")
        if subok is not None:
            raise TypeError("subok is not supported yet")
        dtype = check_dtype(dtype)
        order = "K" if order is None else order
        flags = self._array.flags
        fits = {"C": flags.c_contiguous, "F": flags.f_contiguous}.get(order.upper(), True)
        if not copy and dtype == self.dtype and fits:
            return self
        result = allocate_like(self._array, dtype, order)
        result._write(lambda: self._array)
        return result

    def byteswap(self, inplace=False):
        if not inplace:
            return routine(np.ndarray.byteswap, self)
        submit(lambda: self._array.byteswap(inplace=True))
        return self

    def conj(self):
        """The complex conjugate; the array itself where it is real."""
        import cupy

        return cupy.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def fill(self, value) -> None:
        value = as_device(value)
        if isinstance(value, ndarray):
            if value.shape != ():
                raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
            self._write(lambda: value._array)
            return
        value = np.asarray(value, dtype=self.dtype)
        if value.shape != ():
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self._write(lambda: value)

    def sort(self, axis=-1, kind=None) -> None:
        if kind is not None and kind != "stable":
            raise ValueError("kind can only be None or 'stable'")
        if self.ndim == 0:
            raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
        self._check_sortable()
        submit(lambda: self._array.sort(axis, kind="stable"))

    def _check_sortable(self) -> None:
        if not self._array.flags.c_contiguous:
            raise NotImplementedError("Sorting non-contiguous array is not supported.")

    def partition(self, kth, axis=-1) -> None:
        self._check_sortable()
        submit(lambda: self._array.partition(kth, axis))

    def put(self, indices, values, mode="wrap") -> None:
        import cupy

        cupy.put(self, indices, values, mode)

    def nonzero(self):
        import cupy

        return cupy.nonzero(self)


class Flags:
    """Layout of an array: ``c_contiguous``, ``f_contiguous``, ``owndata``."""

    def __init__(self, array: ndarray):
        self.c_contiguous = array._array.flags.c_contiguous
        self.f_contiguous = array._array.flags.f_contiguous
        self.fnc = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous
        self.owndata = array._base is None

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


def allocate(shape: tuple, dtype, order="C", pointer=None, strides=None) -> ndarray:
    """An array at ``pointer``, by default in new memory: undefined and not even poisoned."""
    dtype = check_dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if pointer is None:
        pointer = memory.alloc(size)
    buffer, offset = (pointer.mem.payload, pointer._offset) if size else (None, 0)
    return wrap(np.ndarray(shape, dtype, buffer, offset, strides, order), pointer.mem)


def wrap(array: np.ndarray, mem=None, base: ndarray | None = None) -> ndarray:
    """A device array over ``array``'s own memory, without copying.

    ``mem`` is the Memory that holds the bytes; without it the result has no guard zones.
    """
    self = object.__new__(ndarray)
    self._array = array
    if mem is None:
        mem = memory.UnownedMemory(array.ctypes.data, max(array.nbytes, 1), array)
    self._memory = mem
    self._base = base if base is None or base._base is None else base._base
    return self


def place(array: np.ndarray, order: str = "K") -> ndarray:
    """A device array with a copy of ``array`` in memory of the pool."""
    result = allocate(array.shape, check_dtype(array.dtype), _order(array, order))
    if array.size:
        result._array[...] = array
    return result


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


def _view_of(source: ndarray, function, copy: bool | None = None) -> ndarray:
    """``function`` of the NumPy array: a view where NumPy gives one, else a new array."""
    result = function(source._array)
    if result.base is source._array.base or result.base is source._array:
        view = wrap(result, source._memory, source)
        return view.copy() if copy else view
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return run(lambda: function(source._array))
