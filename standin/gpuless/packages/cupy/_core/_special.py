"""What the table of functions needs beside NumPy's: its functions where CuPy's rules are others,
and which calls end in cuBLAS.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import warnings
from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._reductions import into, normalized, refuse_real
from cupy.cuda import stream


def of_host(function: Callable, waits: bool = False) -> Callable:
    """NumPy's ``function`` of arguments that may be device arrays; it answers with a host value."""

    def plain(value):
        return value._array if isinstance(value, ndarray) else value

    def host(*args, **kwargs):
        if waits:
            stream.refuse_while_capturing()
        stream.catch_up()
        return function(*map(plain, args), **{key: plain(v) for key, v in kwargs.items()})

    return named(host, function.__name__, "which answers with a host value")


def _array(function: Callable) -> Callable:
    """``function``, with an array in place of a Python number or NumPy's own scalar."""
    return lambda *args, **kwargs: np.asarray(function(*args, **kwargs))


real, imag = _array(np.real), _array(np.imag)
allclose = _array(np.allclose)
array_equal, array_equiv = _array(np.array_equal), _array(np.array_equiv)


def check_kind(kind) -> None:
    if kind is not None and kind != "stable":
        raise ValueError("kind can only be None or 'stable'")


def sort(a, axis=-1, kind=None):
    check_kind(kind)
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


def scanned(function):
    """``function``, a running sum or product, whose result lies in memory as CuPy's: with that axis
    the last where the others are no single axis of an array in C's order."""

    @functools.wraps(function)
    def call(a, axis=None, *args, **kwargs):
        if axis is not None:  # NumPy takes an array without axes as one of a single element
            axis = normalized(operator.index(axis), a.ndim)[0]
        result = cast_first(function)(a, axis, *args, **kwargs)
        if axis is None or result is kwargs.get("out") or not result.size:
            return result
        turned = np.moveaxis(np.ascontiguousarray(result), axis, -1)
        rows = turned.reshape(-1, turned.shape[-1])
        return np.moveaxis(rows.reshape(turned.shape), -1, axis)

    return call


def cast_first(function: Callable) -> Callable:
    """``function``, a running sum or product, of numbers that have the result's type before they
    are added: minus one is 0 among numbers without a sign."""

    @functools.wraps(function)
    def call(a, *args, **kwargs):
        dtype, out = kwargs.get("dtype", args[1] if len(args) > 1 else None), kwargs.get("out")
        dtype = out.dtype if dtype is None and out is not None else dtype
        if dtype is not None and a.dtype.kind in "fc" and np.dtype(dtype).kind != "c":
            if function.__name__.startswith("nan"):
                a = np.where(np.isnan(a), function.__name__ == "nancumprod", a)
            a = cast(a, np.dtype(dtype)).astype(dtype)
        return function(a, *args, **kwargs)

    return call


_OF_CUB = "bBhHiIlLqQefdFD"  # the types that cuB reduces, and those whose sums have that type
_SUMS_OF_CUB = "lLqQefdFD"


def summed_in_f(a: np.ndarray, axis, any_type: bool) -> bool:
    """Whether cuB reduces ``a`` and leaves the result in Fortran's order: the first axes of an
    array that lies in it."""
    if a.flags.c_contiguous or not a.flags.f_contiguous or axis is None:
        return False
    axes = np.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    types = _OF_CUB if any_type else _SUMS_OF_CUB
    return sorted(axes) == list(range(len(axes))) and a.dtype.char in types


def reduced(function: Callable, types: str = "all") -> Callable:
    """``function`` over axes, whose result is in C's order but where cuB leaves it in Fortran's.

    ``types``: "all" that cuB knows, the "sums" of types that stay, or "means", of no integers.
    """

    @functools.wraps(function)
    def call(a, axis=None, *args, **kwargs):
        if function in (np.min, np.amin, np.ptp) and kwargs.get("out") is not None:
            if a.flags.forc and a.dtype.char in _OF_CUB:  # CuPy passes it to cuB as the dtype
                raise TypeError("CuPy has no out for the minimum of an array in C's or F's order")
        result = function(a, axis, *args, **kwargs)
        if isinstance(axis, tuple) and not axis and result is not kwargs.get("out"):
            return np.asarray(result, order="C")
        if result.ndim < 2 or result.flags.c_contiguous or result is kwargs.get("out"):
            return result
        dtype = kwargs.get("dtype", args[0] if args and types != "all" else None)
        fits = dtype is None or np.dtype(dtype) == a.dtype
        if types == "means":
            fits = fits and a.dtype.char in "fdFD"
        in_f = fits and summed_in_f(a, axis, types == "all" or dtype is not None)
        return result if in_f else np.ascontiguousarray(result)

    return call


def summed(function: Callable) -> Callable:
    """A sum or product ``in_float``. Integers are made of each number, not of the sum, and ``out``
    does not say in which type it is added."""

    @functools.wraps(function)
    def call(a, axis=None, dtype=None, out=None, **kwargs):
        if out is not None:
            refuse_real(a, out.dtype)
        kind = a.dtype.kind if dtype is None else np.dtype(dtype).kind
        if kind in "iu" and a.dtype.kind == "f":
            a = cast(a, np.dtype(dtype)).astype(dtype)
        if dtype is None and out is not None and kind + out.dtype.kind in ("ff", "fc", "cc"):
            dtype = a.dtype
        return added(a, axis, dtype, out, **kwargs)

    added = in_float(function)
    return call


def in_float(function: Callable) -> Callable:
    """A sum or product, which of half precision CuPy takes in single precision."""
    kinds = "c" if function in (np.nansum, np.nanprod) else "fc"

    @functools.wraps(function)
    def call(a, axis=None, dtype=None, out=None, **kwargs):
        refuse_real(a, dtype, kinds)
        if np.dtype(dtype or a.dtype).char != "e":
            return function(a, axis, dtype, out, **kwargs)
        made = function(a.astype("e", copy=False), axis, "f", None, **kwargs)
        if out is None:
            return np.asarray(made).astype("e")
        np.copyto(out, made, "unsafe")
        return out

    return call


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    diagonal = np.diagonal(a, offset, axis1, axis2)
    return in_float(np.sum)(diagonal, -1, dtype, out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    axes = normalized(axis, np.ndim(a))
    if weights is None and not returned:
        made = mean(a, axes, keepdims=keepdims)
        np.size(a) / np.size(made)  # ZeroDivisionError, as in CuPy, where there is no mean
        return made
    found = np.average(a, axis, weights, returned, keepdims=keepdims)
    if returned:
        return tuple(np.asarray(part, order="C") for part in found)
    return np.asarray(found, order="C")


@functools.wraps(np.mean)
def _mean(a, axis=None, dtype=None, out=None, **kwargs):
    """Of integers, too, a sum of double ones."""
    refuse_real(a, dtype, "c" if dtype is not None and np.dtype(dtype) == "d" else "fc")
    if dtype is None or np.dtype(dtype).kind not in "iu":
        return np.mean(a, axis, dtype, out, **kwargs)
    made = np.asarray(np.mean(a, axis, float, None, **kwargs))
    made = cast(made, np.dtype(dtype)).astype(dtype)
    return made if out is None else into(out, made)


mean = reduced(_mean, "means")


def sorts_instead(a, kth, axis: int, least: int) -> bool:
    """Whether CuPy sorts all of an array that it is to partition: by the sizes in its own code."""
    length = a.shape[axis]
    highest = max((k + length if k < 0 else k for k in np.ravel(kth)), default=0)
    most, parts = max(32, 1 << int(highest).bit_length()), 512
    while parts and length // parts < most + 128:
        parts //= 2
    parts *= a.size // max(length, 1)
    return length < 32 or parts < least or most >= 1024


def partition(a, kth, axis=-1):
    a, axis = (a.ravel(), -1) if axis is None else (a, axis)
    made = np.partition(a, kth, axis)  # an error where kth is none
    if not a.shape[axis]:
        raise ValueError(f"kth(={np.ravel(kth)[0]}) out of bounds 0")
    return np.sort(a, axis, kind="stable") if sorts_instead(a, kth, axis, 33) else made


def argpartition(a, kth, axis=-1):
    a, axis = (a.ravel(), -1) if axis is None else (a, axis)
    made = np.argpartition(a, kth, axis)
    return np.argsort(a, axis, kind="stable") if sorts_instead(a, kth, axis, 1) else made


def argsort(a, axis=-1, kind=None):
    check_kind(kind)
    return np.argsort(a, axis, kind="stable")


def diagonal(a, offset=0, axis1=0, axis2=1):
    view = np.diagonal(a, offset, axis1, axis2)
    view.flags.writeable = a.flags.writeable  # NumPy's is read-only, CuPy's is not
    return view


def unmoved(function: Callable) -> Callable:
    """``function``, which turns or drops axes; where it has nothing to do, the array itself."""

    @functools.wraps(function)
    def call(a, *args, **kwargs):
        made = function(a, *args, **kwargs)
        return a if (made.shape, made.strides) == (a.shape, a.strides) else made

    return call


def diag(v, k=0):
    """New memory also of a diagonal, of which NumPy gives a view."""
    return np.array(np.diag(v, k))


def gradient(f, *varargs, axis=None, edge_order=1):
    if any(isinstance(spacing, (list, tuple)) for spacing in varargs):
        raise AttributeError("'list' object has no attribute 'dtype'")
    found = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    return list(found) if isinstance(found, tuple) else found


def interp(x, xp, fp, left=None, right=None, period=None):
    """What lies beyond the ends has the type of ``fp``, too."""
    if not x.flags.c_contiguous:
        raise NotImplementedError("Non-C-contiguous x is currently not supported")
    if x.dtype.kind == "b" or xp.dtype.kind == "b":
        raise TypeError("can't get common type for non-numeric array")
    ends = (None if end is None else np.asarray(end, fp.dtype).item() for end in (left, right))
    return np.interp(x, xp, fp, *ends, period)


def packbits(a, axis=None, bitorder="big"):
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    return np.packbits(a, bitorder=bitorder)


def unpackbits(a, axis=None, bitorder="big"):
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    return np.unpackbits(a, bitorder=bitorder)


def trim_zeros(filt, trim="fb"):
    if filt.ndim > 1:
        raise NotImplementedError("Multi-dimensional trim is not supported")
    return np.trim_zeros(filt, trim)


def pad(array, pad_width, mode="constant", **kwargs):
    if array.ndim > 1 and np.shape(pad_width) == (array.ndim, 1):
        raise ValueError(f"cannot reshape array of size {array.ndim} into shape ({array.ndim},2)")
    if mode == "median":
        raise ValueError("mode 'median' is not supported")
    if array.dtype.kind in "iu":  # OverflowError
        np.asarray(kwargs.get("constant_values", 0), array.dtype)
    return np.pad(array, pad_width, mode, **kwargs)


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True
):
    """By an axis, CuPy sorts with differences of its own: a NaN or a difference that does not fit
    the type counts as no less."""
    if axis is None:
        return np.unique(ar, return_index, return_inverse, return_counts, None, equal_nan=equal_nan)
    if ar.dtype.kind == "b":
        raise TypeError("cupy boolean subtract, the `-` operator, is deprecated")
    turned = np.moveaxis(ar, axis, 0)
    rows = turned.reshape(len(turned), math.prod(turned.shape[1:]))
    keys = rows.astype(np.intp) if rows.dtype.kind == "u" else rows
    if not rows.size or _all_differences_fit(keys):
        return np.unique(ar, return_index, return_inverse, return_counts, axis)
    order = _order_of_rows(keys, np.arange(len(rows)))
    rows = rows[order]
    first = np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)]
    found = [np.moveaxis(rows[first].reshape(-1, *turned.shape[1:]), 0, axis)]
    if return_index:
        found.append(order[first])
    if return_inverse:
        inverse = np.empty(len(rows), np.intp)
        inverse[order] = np.cumsum(first) - 1
        found.append(inverse)
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(first), len(rows))))
    return found[0] if len(found) == 1 else tuple(found)


def _all_differences_fit(keys) -> bool:
    if keys.dtype.kind in "fc":
        return not np.isnan(keys - keys).any()  # nor an infinity
    return int(keys.max()) - int(keys.min()) <= np.iinfo(keys.dtype).max


def _order_of_rows(keys, rows):
    """CuPy's quicksort: around the first of the rows, those less than it before it."""
    if len(rows) < 2:
        return rows
    middle, others = rows[0], rows[1:]
    difference = keys[others] - keys[middle]
    there = difference != 0
    first = np.take_along_axis(difference, there.argmax(axis=1)[:, None], 1)[:, 0]
    less = (first < 0) & there.any(axis=1)
    if keys.dtype.kind == "c":
        less |= np.isnan(first)
    parts = (_order_of_rows(keys, others[less]), [middle], _order_of_rows(keys, others[~less]))
    return np.concatenate(parts)


def unique_values(x):
    return np.unique(x, equal_nan=False)  # sorted, which NumPy's unique_values need not be


def sort_complex(a):
    if not np.empty_like(a).flags.c_contiguous:  # CuPy sorts a copy that lies as the array does
        raise NotImplementedError("Sorting non-contiguous array is not supported.")
    return np.sort_complex(a)


def msort(a):
    return np.sort(a, 0, kind="stable")


def take(a, indices, axis=None, out=None):
    return np.take(a, indices, axis, out, "wrap")  # on a device an index out of range wraps


def compress(condition, a, axis=None, out=None):
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return np.take(a, np.nonzero(condition)[0], axis, out, "wrap")


def around(a, decimals=0, out=None):
    """Rounded in double precision, whatever the array's; integers among themselves."""
    a = np.asarray(a)
    if a.dtype.kind in "iu" and -17 < decimals < 0:
        made = _rounded(a, 10**-decimals).astype(a.dtype)
        return made if out is None else np.copyto(out, made, "unsafe")
    wide = {"e": "d", "f": "d", "F": "D"}.get(np.asarray(a).dtype.char) if decimals else None
    made = np.around(a.astype(wide), decimals).astype(a.dtype) if wide else np.around(a, decimals)
    return made if out is None else np.copyto(out, made, "unsafe")


def _rounded(a: np.ndarray, unit: int) -> np.ndarray:
    """``a`` to multiples of ``unit``, a power of ten: beyond the range it wraps around."""
    dtype = np.dtype(f"{a.dtype.kind}8")
    a, many = a.astype(dtype), np.asarray(unit * 10, dtype)
    whole = a // many + ((a < 0) & (a % many != 0))
    rest = (a - whole * many).astype(np.int32)
    tens = np.rint(rest / np.float32(unit)).astype(np.int64).astype(dtype)
    return (whole * 10 + tens) * np.asarray(unit, dtype)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """A number is an array of no axes, of a type of its own."""
    return np.isclose(np.asarray(a), np.asarray(b), rtol, atol, equal_nan)


def broadcast_arrays(*args):
    """Numbers stay what they are."""
    made = iter(np.broadcast_arrays(*(arg for arg in args if isinstance(arg, np.ndarray))))
    return tuple(next(made) if isinstance(arg, np.ndarray) else arg for arg in args)


def ix_(*args):
    """An axis without places has integers, whatever its type."""
    return np.ix_(*(arg if np.size(arg) else np.asarray(arg, np.intp) for arg in args))


def fit(dtype: np.dtype, *numbers) -> None:
    """OverflowError where one of Python's integers is no number of an integer type."""
    for number in numbers:
        if type(number) is int and dtype.kind in "iu":
            dtype.type(number)


def choice(condition, x=None, y=None):
    if x is None or y is None:
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    for value, other in ((x, y), (y, x)):
        fit(getattr(other, "dtype", np.dtype(float)), value)
    return np.where(condition, x, y)


def clip(a, a_min, a_max, out=None):
    """A bound that is no number bounds nothing."""

    if a.dtype.kind == "c" and a_min is a_max is None:
        raise TypeError("Unsupported type <class 'NoneType'>")
    if a.dtype.kind in "bc" and not (a_min is a_max is None):
        if a.dtype.kind == "c" or a_min is None or a_max is None:
            raise TypeError(f"Wrong type ({a.dtype}) of arguments for cupy_clip")
    if a.dtype.kind != "c" and any(np.iscomplexobj(value) for value in (a_min, a_max)):
        raise TypeError(f"Wrong type ({a.dtype}) of arguments for cupy_clip")
    if all(value is None or type(value) is int for value in (a_min, a_max)):
        fit(a.dtype, a_min, a_max)

    def bound(value, limit):
        if value is None or np.result_type(value).kind != "f":
            return value
        if isinstance(value, float):
            return limit if value != value else value
        return np.where(np.isnan(value), np.asarray(limit, value.dtype), value)

    low, high = bound(a_min, -np.inf), bound(a_max, np.inf)
    made = np.asarray(np.clip(a, low, high, out))
    if a.dtype.kind == "f":  # one zero for another is no change
        np.copyto(made, a, "unsafe", where=(a == 0) & (made == 0))
    if a.dtype.kind == "f" and low is not None and high is not None and np.any(low > high):
        np.copyto(made, high, where=np.greater(low, high))  # also where a is no number
    return made


def _of_float_type(function: Callable) -> Callable:
    """``function`` in double precision, in the type that a sine of ``x`` has."""

    def call(x):
        x = np.asarray(x)
        dtype = np.sin.resolve_dtypes((x.dtype, None))[1]
        wide = np.complex128 if dtype.kind == "c" else np.float64
        return function(x.astype(wide)).astype(dtype)

    return named(call, function.__name__)


@_of_float_type
def i0(x):
    return np.where(np.isinf(x), np.inf, np.i0(x))


@_of_float_type
def sinc(x):
    """Of whole numbers exactly 0, of 0 and of what is no number 1."""
    if x.dtype.kind == "c":
        sine = np.sin(np.pi * x)
    else:
        x = np.abs(x)
        turn = np.remainder(x, 2)
        sine = np.where(turn == 1, 0, np.sin(np.pi * turn))
    return np.where(np.abs(x) > 1e-9, sine / (np.pi * x), 1)


def angle(z, deg=False):
    """Of a real number 0, or the angle of -1 where it is not at least 0."""
    found = np.asarray(np.angle(z, deg))
    if np.iscomplexobj(z):
        return found
    return np.where(np.asarray(z) >= 0, 0, 180 if deg else np.pi).astype(found.dtype)


def _search(function: Callable, types: str = "qlihb") -> Callable:
    """``function``, which finds places; ``types`` of CuPy's kernels for them."""

    def search(a, axis=None, dtype=None, out=None, keepdims=False):
        if dtype is not None and np.dtype(dtype).char not in types:
            if types == "lq" and a.dtype.kind not in "fc":  # argmax does it
                return numbers(a, axis, dtype, out, keepdims)
            raise TypeError(f"Wrong type ({np.dtype(dtype)}) of arguments for a search")
        found = function(a, axis, keepdims=keepdims)
        found = found if dtype is None else np.asarray(found).astype(dtype)
        return found if out is None else into(out, found)

    numbers = search if types != "lq" else _search(function)
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

    return _search(search, "lq")


nanargmax, nanargmin = _search_numbers(np.max, -np.inf), _search_numbers(np.min, np.inf)


def column_stack(tup):
    if any(not 1 <= np.ndim(a) <= 2 for a in tup):
        raise ValueError("Only 1 or 2 dimensional arrays can be column stacked")
    return np.column_stack(tup)


def lexsort(keys):
    if np.ndim(keys) > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")
    return np.lexsort(keys)


def atleast(function: Callable) -> Callable:
    """``numpy.atleast_1d`` or its like; new axes by ``reshape``, and of several arrays a list."""

    def call(*arrays):
        shapes = [function(a).shape for a in arrays]
        made = [
            a if np.shape(a) == s else np.reshape(a, s) for a, s in zip(arrays, shapes, strict=True)
        ]
        return made[0] if len(made) == 1 else made

    return named(call, function.__name__)


def kron(a, b):
    return np.kron(a, b) if np.ndim(a) and np.ndim(b) else np.multiply(a, b)


def or_of_scalars(row: Callable, function: Callable) -> Callable:
    """``row``; of a number, what NumPy's ``function`` says."""
    return named(lambda x: function(x) if np.isscalar(x) else row(x), row.__name__)


def choose(a, choices, out=None, mode="raise"):
    if not isinstance(choices, np.ndarray):
        raise AttributeError(f"{type(choices).__name__!r} object has no attribute 'shape'")
    return np.choose(a, choices, out, mode)


def _is_over_nothing(a, axis) -> bool:
    if axis is None:
        return not a.size
    axes = np.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    return any(a.shape[axis] == 0 for axis in axes)


def of_some(function: Callable, kinds: str = "biufc") -> Callable:
    """A median, which of ``kinds`` is an error where there is nothing."""

    @functools.wraps(function)
    def median(a, axis=None, *args, **kwargs):
        if a.dtype.kind in kinds and _is_over_nothing(a, axis):
            raise ValueError("kth(=-1) out of bounds 0")
        if a.dtype.kind in kinds:
            out = kwargs.pop("out", None)
            made = function(a, axis, *args, **kwargs)
            return made if out is None else into(out, made)
        made = function(a, axis, *args, **kwargs)
        if not np.size(made):
            raise ValueError(f"cannot reshape array of size 0 into shape {np.shape(made)}")
        return made

    return median


def empty_is_zero(function: Callable) -> Callable:
    """A variance without NaN, which is 0 where there is nothing at all."""

    @functools.wraps(function)
    def call(a, axis=None, dtype=None, *args, **kwargs):
        refuse_real(a, dtype)
        made = np.asarray(function(a, axis, dtype, *args, **kwargs))
        return made if a.size or a.dtype.kind in "biu" else np.zeros_like(made)

    return call


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    if a.dtype.kind in "fc" and _is_over_nothing(a, axis):
        raise ValueError("zero-size array to reduction operation cupy_nanmean")
    return np.nanmean(a, axis, dtype, out, keepdims)


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


def matmul(a, b, out=None, *, dtype=None, **kwargs):
    """The product in the operands' own type, of which ``dtype`` is made afterwards."""
    if dtype is None:
        return np.matmul(a, b, out=out, **kwargs)
    if not np.can_cast(np.result_type(a, b), dtype, kwargs.get("casting", "same_kind")):
        return np.matmul(a, b, dtype=dtype, **kwargs)  # which raises
    made = np.matmul(a, b, **kwargs).astype(dtype)
    if out is None:
        return made
    out[...] = made
    return out


def tensordot_blas(a, b, axes=2) -> str | None:
    summed = axes if isinstance(axes, int) else np.size(axes[0])
    return None if summed == a.ndim == b.ndim else blas(a, b)


def min_scalar_type(a) -> np.dtype:
    """NumPy's; of a device array, whose values only the device knows, its own dtype."""
    if isinstance(a, (list, tuple)) and any(isinstance(item, ndarray) for item in a):
        return np.result_type(*map(min_scalar_type, a))
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)
