"""What the table of functions needs beside NumPy's: its functions where CuPy's rules are others,
and which calls end in cuBLAS.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np

from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy.cuda import stream


def of_host(function: Callable, waits: bool = False) -> Callable:
    """NumPy's ``function`` of arguments that may be device arrays; it answers with a host value."""

    def plain(value):
        return value._array if isinstance(value, ndarray) else value

    def host(*args, **kwargs):
        if waits:
            stream.refuse_while_capturing()
        return function(*map(plain, args), **{key: plain(v) for key, v in kwargs.items()})

    return named(host, function.__name__, "which answers with a host value")


def _array(function: Callable) -> Callable:
    """``function``, with an array in place of a Python number or NumPy's own scalar."""
    return lambda *args, **kwargs: np.asarray(function(*args, **kwargs))


real, imag = _array(np.real), _array(np.imag)
allclose, count_nonzero = _array(np.allclose), _array(np.count_nonzero)
array_equal, array_equiv = _array(np.array_equal), _array(np.array_equiv)


def sort(a, axis=-1, kind=None):
    return np.sort(a, axis, kind="stable")


def along(function):
    """``function`` of an axis, whose result lies in memory as CuPy's: with that axis the last."""
    at = list(inspect.signature(function).parameters).index("axis")

    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        default = inspect.signature(function).parameters["axis"].default
        axis = args[at] if len(args) > at else kwargs.get("axis", default)
        if axis is None or result is kwargs.get("out") or result.ndim < 2:
            return result
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(result, axis, -1)), -1, axis)

    return call


def argsort(a, axis=-1, kind=None):
    return np.argsort(a, axis, kind="stable")


def msort(a):
    return np.sort(a, 0, kind="stable")


def take(a, indices, axis=None, out=None):
    return np.take(a, indices, axis, out, "wrap")  # on a device an index out of range wraps


def compress(condition, a, axis=None, out=None):
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return np.take(a, np.nonzero(condition)[0], axis, out, "wrap")


def in1d(ar1, ar2, assume_unique=False, invert=False):
    return np.isin(ar1.ravel(), ar2, assume_unique, invert)


def around(a, decimals=0, out=None):
    """Rounded in double precision, whatever the array's."""
    wide = {"e": "d", "f": "d", "F": "D"}.get(np.asarray(a).dtype.char) if decimals else None
    made = np.around(a.astype(wide), decimals).astype(a.dtype) if wide else np.around(a, decimals)
    return made if out is None else np.copyto(out, made, "unsafe")


def clip(a, a_min, a_max, out=None):
    """A bound that is no number bounds nothing."""

    def bound(value, limit):
        if value is None or np.result_type(value).kind != "f":
            return value
        if isinstance(value, float):
            return limit if value != value else value
        return np.where(np.isnan(value), np.asarray(limit, value.dtype), value)

    return np.clip(a, bound(a_min, -np.inf), bound(a_max, np.inf), out)


def angle(z, deg=False):
    """Of a real number 0, or the angle of -1 where it is not at least 0."""
    found = np.asarray(np.angle(z, deg))
    if np.iscomplexobj(z):
        return found
    return np.where(np.asarray(z) >= 0, 0, 180 if deg else np.pi).astype(found.dtype)


def _search(function: Callable) -> Callable:
    def search(a, axis=None, dtype=None, out=None, keepdims=False):
        found = function(a, axis, keepdims=keepdims)
        found = found if dtype is None else np.asarray(found).astype(dtype)
        return found if out is None else np.copyto(out, found)

    return search


argmax, argmin = _search(np.argmax), _search(np.argmin)


def _search_numbers(best: Callable, worst: float) -> Callable:
    """The place of the first best number; of nothing but NaN, -1."""

    def search(a, axis=None, keepdims=False):
        if a.dtype.kind not in "fc":
            return (np.argmax if best is np.max else np.argmin)(a, axis, keepdims=keepdims)
        numbers = ~np.isnan(a)
        filled = np.where(numbers, a, a.dtype.type(worst))
        found = (filled == best(filled, axis, keepdims=True)) & numbers
        place = np.argmax(found, axis, keepdims=keepdims)
        return np.where(np.any(numbers, axis, keepdims=keepdims), place, -1)

    return _search(search)


nanargmax, nanargmin = _search_numbers(np.max, -np.inf), _search_numbers(np.min, np.inf)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of vectors of two elements
        return np.cross(a, b, axisa, axisb, axisc, axis)


def nonzero(argwhere: Callable, plain: Callable) -> Callable:
    """The columns of one array with a row for each place, as in CuPy: no kernel takes them as they
    are where the rows have more than one number."""

    def nonzero(a):
        if not getattr(a, "ndim", 0):
            return plain(a)  # an error
        found = argwhere(a)
        return tuple(found[:, axis] for axis in range(a.ndim))

    return named(nonzero, "nonzero")


def where(choice: Callable, nonzero: Callable) -> Callable:
    """``choice``; of a condition alone it is ``nonzero``."""

    def where(condition, *values, **named_values):
        if values or named_values:
            return choice(condition, *values, **named_values)
        return nonzero(condition)

    return named(where, "where")


# Which calls reach a library of NVIDIA's


def blas(a, b, *args, **kwargs) -> str | None:
    """Sums of products, other than one single sum, are cuBLAS's where the numbers are inexact."""
    if not (a.ndim and b.ndim) or np.result_type(a.dtype, b.dtype).kind in "biu":
        return None
    return None if a.size == b.size == a.shape[-1] else "cuBLAS"


def tensordot_blas(a, b, axes=2) -> str | None:
    summed = axes if isinstance(axes, int) else np.size(axes[0])
    return None if summed == a.ndim == b.ndim else blas(a, b)


def min_scalar_type(a) -> np.dtype:
    """NumPy's; of a device array, whose values only the device knows, its own dtype."""
    if isinstance(a, (list, tuple)) and any(isinstance(item, ndarray) for item in a):
        return np.result_type(*map(min_scalar_type, a))
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)


def einsum(*operands, **kwargs):
    """NumPy's, of operands of one type: CuPy converts first, so that no small ones wrap around."""
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    if len(arrays) > 1:
        common = np.result_type(*(array.dtype for array in arrays))
        operands = tuple(
            operand.astype(common, copy=False) if isinstance(operand, np.ndarray) else operand
            for operand in operands
        )
    return np.einsum(*operands, **kwargs)


def einsum_blas(*args, **kwargs) -> str | None:
    """A label that two operands have and the result has not is summed over by cuBLAS."""
    if isinstance(args[0], str):
        inputs, arrow, output = args[0].replace(" ", "").partition("->")
        operands, inputs = args[1:], inputs.split(",")
    else:  # operand, labels, operand, labels, and perhaps the labels of the result
        pairs = len(args) // 2
        operands, inputs = args[0 : 2 * pairs : 2], args[1 : 2 * pairs : 2]
        arrow, output = len(args) % 2, args[-1]
    counts = Counter(label for labels in inputs for label in set(labels) - {".", Ellipsis})
    shared = {label for label, count in counts.items() if count > 1}
    inexact = any(np.asarray(getattr(v, "_array", v)).dtype.kind in "fc" for v in operands)
    return "cuBLAS" if inexact and shared.difference(output if arrow else ()) else None
