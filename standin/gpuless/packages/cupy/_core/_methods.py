"""Methods of an array that give a view of it, or a copy in another shape, order or type."""

from __future__ import annotations

import builtins
import operator

import numpy as np

from cupy._core import _alignment
from cupy._core._casts import cast
from cupy._core._dispatch import check_dtype, check_number, extends, submit, unsupported
from cupy._core._ndarray import allocate_like, ndarray, place, refuse_subclass, wrap
from cupy._core._order import partition
from cupy._core._protocols import as_device
from cupy._core._run import routine, run
from cupy._core._special import diagonal
from cupy.cuda import _late
from cupy.cuda.stream import get_current_stream, refuse_while_capturing


@extends(ndarray)
class Views:
    """The same memory, seen in another way."""

    T = property(lambda self: self.transpose() if self.ndim > 1 else self)

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
        self.real[...] = _of_device(value)

    @property
    def imag(self):
        if self.dtype.kind == "c":
            return self._view(self._array.imag)
        return place(np.zeros(self.shape, self.dtype))

    @imag.setter
    def imag(self, value) -> None:
        if self.dtype.kind != "c":
            raise TypeError("cupy.ndarray does not have imaginary part to set")
        self.imag[...] = _of_device(value)

    def view(self, dtype=None, type=None):
        if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
            if type is not None:
                raise ValueError("Cannot specify output type twice.")
            dtype, type = None, dtype
        if type is not None and not (isinstance(type, builtins.type) and issubclass(type, ndarray)):
            raise ValueError("Type must be a sub-type of ndarray type")
        refuse_subclass(type or ndarray)
        if dtype is None:
            return self._view(self._array.view())
        return self._view(_alignment.note(self._array.view(check_dtype(dtype))))

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 else shape
        if isinstance(copy, str):
            raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None.")
        copy = copy if copy is None else bool(copy)
        if order not in ("C", "F", "A", "c", "f", "a"):
            kind = TypeError if order is None else ValueError
            raise kind(f"order must be one of 'C', 'F', or 'A' (got {order!r})")
        if shape is None:
            raise TypeError("'NoneType' object cannot be interpreted as an integer")
        return _view_of(self, lambda a: a.reshape(shape, order=order), copy)

    def ravel(self, order="C"):
        if order is None:
            raise TypeError("object of type 'NoneType' has no len()")
        return _view_of(self, lambda a: a.ravel(order))

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 else axes or None
        return _view_of(self, lambda a: a.transpose(axes))

    def swapaxes(self, axis1, axis2):
        return _view_of(self, lambda a: a.swapaxes(axis1, axis2))

    def squeeze(self, axis=None):
        made = _view_of(self, lambda a: a.squeeze(axis))
        return self if made.ndim == self.ndim else made

    def reduced_view(self):
        """A view with as few axes as the strides allow."""
        shape, steps = [], []
        for n, step in zip(self.shape, self.strides, strict=True):
            if n == 1 and self.size:
                continue
            if steps and steps[-1] == n * step:
                n, steps = n * shape.pop(), steps[:-1]
            shape, steps = [*shape, n], [*steps, step]
        shape = (shape or [1]) if self.size else [0]
        return _view_of(self, lambda a: a.reshape(shape)) if len(shape) < self.ndim else self

    def diagonal(self, offset=0, axis1=0, axis2=1):
        return _view_of(self, lambda a: diagonal(a, offset, axis1, axis2))


def _of_device(value):
    """TypeError for what CuPy's kernels do not take."""
    value = as_device(value)
    if not isinstance(value, ndarray):
        if isinstance(value, np.ndarray):
            raise unsupported(value)
        check_number(value)
    return value


def _view_of(source: ndarray, function, copy: bool | None = None) -> ndarray:
    """``function`` of the NumPy array: a view where NumPy gives one, else a new array."""
    result = function(source._array)
    if result.base is source._array.base or result.base is source._array:
        view = source._view(result)
        return view.copy() if copy else view
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return run(lambda: function(source._array), [source])


@extends(ndarray)
class Copies:
    """New arrays from an array, and what writes all of it."""

    def _write(self, value, source=None) -> None:
        """Write what ``value()`` gives, an element of each of ``source`` where that is an array."""
        if _alignment.odd and source is not None:
            _alignment.check_copy(self._array, source._array, self, source)
        submit(lambda: np.copyto(self._array, cast(value(), self.dtype), "unsafe"))

    def copy(self, order="C"):
        """A copy on the current device."""
        return self.astype(self.dtype, order)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        with self.device:
            return self.copy()

    def flatten(self, order="C"):
        if order not in "CF":
            return self.ravel(order).copy()
        flat = self.copy(order).ravel(order)
        return wrap(flat._array, flat._memory)  # no view: nobody else has that memory

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        if casting is not None:
            raise TypeError("casting is not supported yet")
        if subok is not None:
            raise TypeError("subok is not supported yet")
        dtype = check_dtype(dtype)
        order = "K" if order is None else order
        flags = self._array.flags
        fits = {"C": flags.c_contiguous, "F": flags.f_contiguous, "A": flags.forc, "K": True}
        if order.upper() not in fits:
            raise ValueError(f"order not understood: {order!r}")
        if not copy and dtype == self.dtype and fits[order.upper()]:
            return self
        result = allocate_like(self._array, dtype, order)
        result._write(lambda: self._array, self)
        return result

    def byteswap(self, inplace=False):
        if not inplace:
            return routine(np.ndarray.byteswap, self, new_order="C")
        _alignment.check(self)
        submit(lambda: self._array.byteswap(inplace=True))
        return self

    def fill(self, value) -> None:
        value = as_device(value)
        if isinstance(value, ndarray):
            if value.shape != ():
                raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
            _alignment.check(self, value)
            self._write(lambda: value._array)
            return
        value = np.asarray(value, dtype=self.dtype)
        if value.shape != ():
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        if not value and self._array.flags.c_contiguous:
            value = np.zeros((), self.dtype)  # CuPy clears the memory: of -0.0 it makes 0.0
        else:
            _alignment.check(self)
        self._write(lambda: value)

    def set(self, arr: np.ndarray, stream=None) -> None:
        """Copy a NumPy array of the same dtype and shape to the device."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not (self._array.flags.c_contiguous or self._array.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        refuse_while_capturing("H2D transfers", stream)
        # CuPy copies first what is laid out in another way.
        alike = arr.flags.c_contiguous if self.flags.c_contiguous else arr.flags.f_contiguous
        source = _late.bare(arr) if alike and _late.pinned else arr
        on = stream or get_current_stream()
        if source is not arr and _late.put_off(on, self._array, source):
            self._poison(source)
        else:
            submit(lambda: np.copyto(self._array, arr), stream)

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
        _alignment.check(self)

    def partition(self, kth, axis=-1) -> None:
        self._check_sortable()
        if self.ndim == 0:
            raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
        axis = operator.index(axis)
        submit(lambda: np.copyto(self._array, partition(self._array, kth, axis)))
