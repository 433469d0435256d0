"""Sums, means and what else goes over an axis, where CuPy's rules are others than NumPy's."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._indexing import wrapped
from cupy._core._reductions import MANY, in_parts, into, normalized, one_by_one, refuse_real
from cupy.cuda.compiler import CompileException
from gpuless import not_covered


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
        dtype = out.dtype if out is not None else dtype
        if dtype is not None and a.dtype.kind in "fc" and np.dtype(dtype).kind != "c":
            if function.__name__.startswith("nan"):
                a = np.where(np.isnan(a), function.__name__ == "nancumprod", a)
            a = cast(a, np.dtype(dtype)).astype(dtype)
        if out is None:
            return function(a, *args, **kwargs)
        return _scan(function, a, out, args[0] if args else kwargs.get("axis"))

    return call


def _scan(function: Callable, a, out, axis):
    """As CuPy has it: ``a`` is copied into ``out``, whose numbers are added as they lie in memory,
    whatever the ``dtype``."""
    if np.broadcast_shapes(a.shape, out.shape) != out.shape:
        raise ValueError("Out shape is mismatched")
    if axis is None and out.ndim != 1 and out.dtype == bool:  # which cuB does not add
        raise TypeError("Input array should be 1D array.")
    out[...] = a
    if axis is None:
        order = "F" if out.flags.fnc else "C"
        out[...] = function(out.ravel(order), axis=0, dtype=out.dtype).reshape(
            out.shape, order=order
        )
    else:
        out[...] = function(out, axis=axis, dtype=out.dtype)
    return out


def _running(function: Callable) -> Callable:
    """``function``, a running sum or product, in double precision of very many numbers of half or
    single: of parts that threads of a GPU take, where NumPy goes on one after the other and sums
    of ones would end at 2048 and 2**24."""

    @functools.wraps(function)
    def running(a, axis=None, dtype=None, out=None):
        size = a.size if axis is None else a.shape[axis]
        short = a.dtype.char not in "efF" or size <= (512 if a.dtype.char == "e" else MANY)
        if short or np.dtype(dtype or a.dtype) != a.dtype:
            return function(a, axis, dtype, out)
        made = function(a, axis, np.result_type(a, "d")).astype(a.dtype)
        return made if out is None else into(out, made)

    return running


cumsum, cumprod, nancumsum, nancumprod = map(
    _running, (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(cumprod, 1, x, axis, dtype, out, include_initial)


def _cumulative(function: Callable, identity: int, x, axis, dtype, out, include_initial):
    x, run = np.atleast_1d(x), scanned(function)
    if axis is None and x.ndim > 1:
        raise ValueError("For arrays of more than one dimension ``axis`` argument is required.")
    axis = 0 if axis is None else normalized(operator.index(axis), x.ndim)[0]
    shape = tuple(n + bool(include_initial) * (i == axis) for i, n in enumerate(x.shape))
    if out is not None and out.shape != shape:
        raise ValueError(f"out.shape {out.shape} does not match expected shape {shape}")
    if not include_initial:
        return run(x, axis, dtype) if out is None else run(x, axis, dtype, out=out)
    made = np.empty(shape, run(x, axis, dtype).dtype) if out is None else out
    turned = np.moveaxis(made, axis, 0)
    turned[0] = identity
    run(x, axis, dtype, out=np.moveaxis(turned[1:], 0, axis))
    return made


def added_at(a, indices, axis, dtype):
    """CuPy's ``add.reduceat``: differences of running sums, so that a NaN goes on to the end."""
    axis = normalized(operator.index(axis), a.ndim)[0]
    ends = np.append(indices, a.shape[axis])
    sums = np.moveaxis(cast_first(cumsum)(a, axis, dtype), axis, 0)
    sums = np.concatenate((np.zeros((1, *sums.shape[1:]), sums.dtype), sums))
    first, last = ends[:-1], ends[1:]
    one = np.moveaxis(a, axis, 0).take(wrapped(first, ends[-1]), 0)
    first, last = wrapped(first, len(sums)), wrapped(last, len(sums))
    several = sums.take(last, 0) - sums.take(first, 0)
    made = np.where((ends[:-1] >= ends[1:]).reshape(-1, *[1] * (a.ndim - 1)), one, several)
    return np.moveaxis(made, 0, axis)


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


def _is_added_by_cub(a: np.ndarray, axis) -> bool:
    """Whether cuB adds ``a``, in its own type also if that is half precision: all of it, or its
    last axes in C's order, its first ones in Fortran's."""
    axes = sorted(normalized(axis, a.ndim))
    if not a.size or not (a.flags.c_contiguous or a.flags.f_contiguous):
        return False
    kept = a.ndim - len(axes)
    return axes == list(range(kept, a.ndim) if a.flags.c_contiguous else range(len(axes)))


def _fill(out, made):
    """``out`` with a result that a kernel has in its own type, and makes this one of it."""
    if np.iscomplexobj(made) and out.dtype.kind != "c":
        raise CompileException("CuPy's kernel makes no real numbers of complex ones", "", "out", ())
    return into(out, made)


def reduced(function: Callable, types: str = "all") -> Callable:
    """``function`` over axes, whose result is in C's order but where cuB leaves it in Fortran's.

    ``types``: "all" that cuB knows, the "sums" of types that stay, or "means", of no integers.
    """

    @functools.wraps(function)
    def call(a, axis=None, *args, **kwargs):
        if function in (np.min, np.amin, np.ptp) and kwargs.get("out") is not None:
            if a.flags.forc and a.dtype.char in _OF_CUB + "?":  # CuPy passes it to cuB as the dtype
                raise TypeError("CuPy has no out for the minimum of an array in C's or F's order")
            least = np.result_type(a, kwargs["out"]) if function is np.ptp else a.dtype
            if function is np.ptp and not np.can_cast(least, kwargs["out"].dtype, "same_kind"):
                raise TypeError(f"Cannot cast output operand from {least}")
        if types == "all" and kwargs.get("out") is not None:
            out, made = kwargs.pop("out"), np.asarray(function(a, axis, *args, **kwargs))
            return (into if _is_added_by_cub(a, axis) else _fill)(out, made)
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
        if kind in "iu" and a.dtype.kind == "f" and function in (np.nansum, np.nanprod):
            a = np.where(np.isnan(a), a.dtype.type(function is np.nanprod), a)
        if kind in "iu" and a.dtype.kind == "f":
            a = cast(a, np.dtype(dtype)).astype(dtype)
        return added(a, axis, dtype, out, **kwargs)

    added = in_float(function)
    return call


def in_float(function: Callable) -> Callable:
    """A sum or product, which of half precision CuPy takes in single precision."""
    kinds = "c" if function in (np.nansum, np.nanprod) else "fc"
    added = function if "prod" in function.__name__ else in_parts(function)

    @functools.wraps(function)
    def call(a, axis=None, dtype=None, out=None, **kwargs):
        refuse_real(a, dtype, kinds)
        if np.dtype(dtype or a.dtype).char != "e":
            made = added(a, axis, dtype, None, **kwargs)
            return made if out is None else _fill(out, made)
        made = np.asarray(added(a.astype("e", copy=False), axis, "f", None, **kwargs))
        if out is None:
            return made.astype("e")
        by_cub = function in (np.sum, np.prod) and _is_added_by_cub(a, axis)
        return _fill(out, made.astype("e") if by_cub else made)

    return call


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    diagonal = np.diagonal(a, offset, axis1, axis2)
    return summed(np.sum)(diagonal, -1, dtype, out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if isinstance(axis, (bool, dict)):
        raise TypeError(f"{type(axis).__name__!r} object cannot be interpreted as an integer")
    axes = normalized(axis, np.ndim(a))
    if weights is None:
        made = mean(a, axes, keepdims=keepdims)
        of = np.size(a) / np.size(made)  # ZeroDivisionError, as in CuPy, where there is no mean
        return (made, np.full(np.shape(made), of, made.dtype)) if returned else made
    if isinstance(axis, tuple) and weights.shape != a.shape:
        raise TypeError("tuple indices must be integers or slices, not tuple")
    kind = np.result_type(a, weights)
    half = kind.char == "e" and a.dtype.kind == "f"
    if half or kind.char in "fF" and a.dtype.kind in "fc" and one_by_one(a, axis):
        a = a.astype(np.result_type(kind, "f" if half else "d"))
    else:
        kind = None
    found = np.average(a, axis, weights, returned or half, keepdims=keepdims)
    if half:  # a quotient of two sums that are half precision
        whole = np.asarray(found[1]).astype("e")
        found = np.asarray(found[0] * found[1]).astype("e") / whole, whole
        found = found if returned else found[0]
    if returned:
        return tuple(np.asarray(part, kind, order="C") for part in found)
    return np.asarray(found, kind, order="C")


_mean_in_parts = in_parts(np.mean)


@functools.wraps(np.mean)
def _mean(a, axis=None, dtype=None, out=None, **kwargs):
    """Of integers, too, a sum of double ones."""
    refuse_real(a, dtype, "c" if dtype is not None and np.dtype(dtype) == "d" else "fc")
    if dtype is not None and np.dtype(dtype) == "e" and a.dtype.kind != "c":
        if a.dtype == "e" and _is_added_by_cub(a, axis):
            total = in_float(np.sum)(a, axis, **kwargs)
            made = np.asarray(total / np.dtype("e").type(a.size // total.size)).astype("e")
            return made if out is None else into(out, made)
        a, dtype = a.astype("e", copy=False), None  # whose mean NumPy, too, takes of single ones
    if out is not None and dtype is not None and np.dtype(dtype).kind in "biu":
        return into(out, np.mean(a, axis, float, None, **kwargs))
    if out is not None:
        if a.dtype.char in "fdFD" and dtype in (None, a.dtype) and _is_added_by_cub(a, axis):
            _fill(out, in_float(np.sum)(a, axis, **kwargs))  # the sum, which is divided there
            return into(out, np.divide(out, a.size // out.size))
        half = dtype is None and a.dtype == "e"
        return _fill(out, _mean(a, axis, "f" if half else dtype, None, **kwargs))
    if dtype is None or np.dtype(dtype).kind not in "iu":
        return _mean_in_parts(a, axis, dtype, out, **kwargs)
    made = np.asarray(np.mean(a, axis, float, None, **kwargs))
    made = cast(made, np.dtype(dtype)).astype(dtype)
    return made if out is None else into(out, made)


mean = reduced(_mean, "means")


def _search(function: Callable, types: str = "qlihb") -> Callable:
    """``function``, which finds places; ``types`` of CuPy's kernels for them."""

    def search(a, axis=None, dtype=None, out=None, keepdims=False):
        if dtype is not None and np.dtype(dtype).char not in types:
            if types == "lq" and a.dtype.kind not in "fc":  # argmax does it
                return numbers(a, axis, dtype, out, keepdims)
            raise TypeError(f"Wrong type ({np.dtype(dtype)}) of arguments for a search")
        found = np.asarray(function(a, axis, keepdims=keepdims))
        if dtype is None:  # cuB's is a long, that of CuPy's own kernels a long long, as repr shows
            by_cub = axis is None and a.flags.forc and not (types == "lq" and a.dtype.kind in "fc")
            dtype = "l" if by_cub else "q"
        found = found.astype(dtype)
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


def _is_over_nothing(a, axis) -> bool:
    if axis is None:
        return not a.size
    axes = np.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
    return any(a.shape[axis] == 0 for axis in axes)


def of_some(function: Callable, kinds: str = "biufc") -> Callable:
    """A median, which of ``kinds`` is an error where there is nothing."""

    @functools.wraps(function)
    def median(a, axis=None, *args, **kwargs):
        if a.ndim == 0 and axis == ():
            raise np.exceptions.AxisError("Axis overrun")
        in_place = kwargs.get("overwrite_input") and isinstance(axis, int)
        if in_place and a.dtype.kind in kinds and not a.flags.c_contiguous:
            raise NotImplementedError("Sorting non-contiguous array is not supported.")
        if a.dtype.kind in kinds and _is_over_nothing(a, axis):
            raise ValueError("kth(=-1) out of bounds 0")
        if a.dtype.kind in kinds:
            if np.iterable(axis) and not a.size:
                raise ValueError("cannot reshape array of size 0")
            a = np.atleast_1d(a) if axis is None else a  # of which ``keepdims`` keeps an axis
            out = kwargs.pop("out", None)
            wide = a.astype("f") if a.dtype == "e" else a
            made = function(wide, axis, *args, **kwargs)
            if out is None:
                return np.asarray(made).astype("e") if a.dtype == "e" else made
            if out.dtype.kind in "iu" and a.dtype.kind in "fc":
                raise ValueError("cannot convert float NaN to integer")
            if np.isnan(made).any():
                raise not_covered("NaN in an out of median(), where CuPy leaves a number,")
            return _fill(out, made)
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
        if np.dtype(dtype or a.dtype).kind == "c" and np.dtype(dtype or a.dtype) != a.dtype:
            if a.dtype.kind == "c" or isinstance(dtype, str):
                raise TypeError(f"no kernel for a variance of {a.dtype} in {dtype}")
        made = np.asarray(function(a, axis, dtype, *args, **kwargs))
        return made if a.size or a.dtype.kind in "biu" else np.zeros_like(made)

    return call


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Told that it may, CuPy writes the largest number over each NaN of an array that lies as it is
    added; all else it does with copies."""
    if a.dtype.kind not in "fc":
        return _median(a, axis, out=out, overwrite_input=overwrite_input, keepdims=keepdims)
    wide = a.astype("f") if a.dtype == "e" else a  # where the sum of two numbers is no infinity
    made = np.asarray(_nanmedian(wide, axis, keepdims=keepdims)).astype(a.dtype)
    axes = normalized(axis, a.ndim)
    in_place = a.flags.c_contiguous and sorted(axes) == list(range(a.ndim - len(axes), a.ndim))
    if overwrite_input is not False and in_place:
        np.copyto(a, np.finfo(a.dtype).max, where=np.isnan(a))
    if out is None:
        return made
    return into(out, np.broadcast_to(made, out.shape))


_median, _nanmedian = of_some(np.median), of_some(np.nanmedian, "biu")


def nan_extreme(function: Callable) -> Callable:
    """``nanmax`` or ``nanmin``, into an ``out`` by a GPU's rule."""

    @functools.wraps(function)
    def call(a, axis=None, out=None, keepdims=False):
        made = function(a, axis, keepdims=keepdims)
        return made if out is None else _fill(out, made)

    return call


_nanmean = in_float(np.nanmean)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    if a.dtype.kind in "biu":
        return mean(a, axis, dtype, out, keepdims=keepdims)
    if _is_over_nothing(a, axis):
        raise ValueError("zero-size array to reduction operation cupy_nanmean")
    kinds = np.dtype(dtype or a.dtype), a.dtype if out is None else out.dtype
    if any(kind.kind in "biu" for kind in kinds):
        raise TypeError("the nanmean of numbers with a fraction is none of integers")
    kind = kinds[out is not None]  # in which it is added
    refuse_real(a, kind)
    if "e" in (a.dtype.char, kind.char) and a.dtype != kind:
        size = math.prod(a.shape[i] for i in normalized(axis, a.ndim))
        if size >= 128 and _is_added_by_cub(a, axis):  # cuB's part
            message = "CuPy's kernel for the nanmean of halves in another type does not compile"
            hint = f"{message}; take that of array.astype({str(kind)!r})"
            raise CompileException(hint, "", "cupy_nanmean", ())
    if kind != "e":
        made = _nanmean(a, axis, kind, None, keepdims=keepdims)
        return made if out is None else into(out, made)
    total = in_float(np.nansum)(a, axis, "e", keepdims=keepdims)
    count = np.sum(~np.isnan(a), axis, keepdims=keepdims)
    made = np.asarray(total / np.asarray(count, "f").astype("e")).astype("e")
    return made if out is None else into(out, made)
