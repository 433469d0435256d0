"""NumPy's functions that take more than CuPy's do: here what CuPy's refuse is refused."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._reductions import normalized
from cupy._core._sums import in_float


def count_nonzero(a, axis=None):
    return np.asarray(np.count_nonzero(a, axis if axis is None else normalized(axis, a.ndim)))


def joined(function: Callable) -> Callable:
    """``function``, which joins arrays: fractions become integers by a GPU's rule."""

    @functools.wraps(function)
    def call(arrays, /, *args, **kwargs):
        out, dtype = kwargs.get("out"), kwargs.get("dtype")
        dtype = out.dtype if out is not None else None if dtype is None else np.dtype(dtype)
        if dtype is not None and dtype.kind in "iu" and kwargs.get("casting") == "unsafe":
            arrays = [cast(array, dtype).astype(dtype, copy=False) for array in arrays]
        return function(arrays, *args, **kwargs)

    return call


def ordered(function: Callable) -> Callable:
    """``function`` of an array, which takes a shape or an order but not None for it."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        given = (*args[1:], kwargs.get("order", ""), kwargs.get("shape", ""))
        if any(one is None for one in given):
            raise TypeError("object of type 'NoneType' has no len()")
        return function(*args, **kwargs)

    return call


def splits(row: Callable) -> Callable:
    """``row``, which takes the places to split at from the host."""

    def call(ary, indices_or_sections, *args, **kwargs):
        at = indices_or_sections
        if isinstance(at, (ndarray, float, np.floating)):
            raise TypeError(f"{type(at).__name__!r} object cannot be interpreted as an integer")
        if isinstance(at, np.ndarray) and at.ndim:
            at = at.tolist()
        if isinstance(at, (list, tuple, range)):
            at = [operator.index(one) for one in at]
        elif not isinstance(at, (int, np.integer, np.bool_)):
            raise TypeError(f"{type(at).__name__!r} object is no number of sections, nor places")
        parts = row(ary, at, *args, **kwargs)
        return [ary] if len(parts) == 1 else parts

    return named(call, row.__name__)


def repeat(a, repeats, axis=None):
    if axis is not None:
        normalized(axis, a.ndim)  # of no axes there is none
    if not isinstance(repeats, (list, tuple, np.ndarray)):
        if not isinstance(repeats, (int, np.integer, np.bool_)):
            raise ValueError(f"'repeats' should be int or sequence: {repeats}")
        if repeats < 0:
            raise ValueError(f"'repeats' should not be negative: {repeats}")
    return np.repeat(a, repeats, axis)


def roll(a, shift, axis=None):
    """Places from a device array are whole numbers; in a list there are the host's only."""
    taken = isinstance(shift, np.ndarray)
    if taken and shift.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast output operand from {shift.dtype} to int64")
    if isinstance(shift, (list, tuple)) and any(isinstance(one, np.ndarray) for one in shift):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    if axis is not None and not isinstance(axis, (int, np.integer)) and not np.iterable(axis):
        raise TypeError(f"{type(axis).__name__!r} object is not iterable")
    made = np.roll(a, shift, axis)
    return np.ascontiguousarray(made) if taken and made.ndim else made


def expand_dims(a, axis):
    if isinstance(axis, list):
        raise TypeError("Argument 'axis' has incorrect type (expected tuple, got list)")
    return np.expand_dims(a, axis)


def flip(m, axis=None):
    if isinstance(axis, list):
        raise TypeError("'list' object cannot be interpreted as an integer")
    return np.flip(m, axis) if m.ndim or axis not in (None, ()) else m[...]


def tile(A, reps):
    if isinstance(reps, (np.ndarray, bool, np.bool_)):
        raise TypeError("an integer is required")
    return np.tile(A, reps)


def shaped(function: Callable) -> Callable:
    """``function``, with a shape behind the array: NumPy's takes arrays for it."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        for given in (*args[1:2], *kwargs.values()):
            numbers = given if isinstance(given, (tuple, list)) else [given]
            if any(isinstance(n, np.ndarray) for n in numbers):
                raise TypeError("an array is no number of a shape: int(n) copies it to the host")
        return function(*args, **kwargs)

    return call


def _refuse_host(**values) -> None:
    """TypeError for what is no device array: here, a NumPy array."""
    for name, value in values.items():
        if not (value is None or isinstance(value, np.ndarray)):
            raise TypeError(f"`{name}` should be of type cupy.ndarray")


def ediff1d(ary, to_end=None, to_begin=None):
    _refuse_host(to_end=to_end, to_begin=to_begin)
    return np.ediff1d(ary, to_end, to_begin)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The numbers are paired in their own type: of Booleans, True and True are True."""
    _refuse_host(x=x)
    if isinstance(dx, (list, tuple)):
        raise TypeError(f"unsupported operand type(s) for *: {type(dx).__name__!r} and 'ndarray'")
    first, second = [[slice(None)] * y.ndim for _ in range(2)]
    first[axis], second[axis] = slice(1, None), slice(None, -1)
    if x is not None and x.ndim == 1:
        ones = [1] * y.ndim
        ones[axis] = -1
        dx = np.diff(x).reshape(ones)
    elif x is not None:
        dx = np.diff(x, axis=axis)
    return in_float(np.sum)(np.asarray(dx * (y[tuple(first)] + y[tuple(second)]) / 2.0), axis)


def of_two(function: Callable) -> Callable:
    """``cov``, whose other array is none of the host's."""

    @functools.wraps(function)
    def call(a, y=None, *args, **kwargs):
        _refuse_host(y=y)
        return function(a, y, *args, **kwargs)

    return call


def corrcoef(a, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    _refuse_host(y=y)
    if bias is not None or ddof is not None:
        text = "bias and ddof have no effect and are deprecated"
        warnings.warn(text, DeprecationWarning, stacklevel=1)
    return np.corrcoef(a, y, rowvar, dtype=dtype)
