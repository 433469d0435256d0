"""What the table of functions needs beside NumPy's: its functions where CuPy's rules are others,
and which calls end in cuBLAS.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable

import numpy as np

from cupy._core._casts import as_type
from cupy._core._dispatch import check_number, named, unsupported
from cupy._core._indexing import wrapped
from cupy._core._loops import remainder
from cupy._core._ndarray import ndarray, poison, wrap
from cupy._core._reductions import MANY, into, normalized
from cupy._core._search import compared_as, searchsorted
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


def size(a, axis=None) -> int:
    """How many elements ``a`` has, or has along ``axis``; TypeError for what is no device array."""
    if not isinstance(a, ndarray):
        raise unsupported(a)
    return np.size(a._array, axis if axis is None else operator.index(axis))


def byte_bounds(a) -> tuple[int, int]:
    """The addresses of the first byte of ``a`` and of the one behind its last."""
    if not isinstance(a, ndarray):
        raise TypeError(f"Argument 'array' has incorrect type (got {type(a).__name__})")
    return np.lib.array_utils.byte_bounds(a._array) if a.size else (a.data.ptr, a.data.ptr)


def may_share_memory(a, b, max_work=None) -> bool:
    if max_work is not None:
        raise NotImplementedError("Only supported for `max_work` is `None`")
    return np.may_share_memory(a, b)


def shares_memory(a, b, max_work=None) -> bool:
    """Exact, or by the bounds where ``max_work`` asks for those by name; CuPy knows no numbers."""
    if max_work == "MAY_SHARE_BOUNDS":
        return np.may_share_memory(a, b)
    if max_work not in (None, "MAY_SHARE_EXACT"):
        raise NotImplementedError("Not supported for integer `max_work`.")
    return np.shares_memory(a, b)


def _array(function: Callable) -> Callable:
    """``function``, with an array in place of a Python number or NumPy's own scalar."""
    return lambda *args, **kwargs: np.asarray(function(*args, **kwargs))


def real(val):
    return np.real(np.asarray(val))


def imag(val):
    return np.imag(np.asarray(val))


array_equal, array_equiv = _array(np.array_equal), _array(np.array_equiv)


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


def triangle(function: Callable) -> Callable:
    """``tril`` or one of its kin, of whose ``k`` CuPy's kernel makes an int32."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        k = kwargs.get("k", args[1] if len(args) > 1 else None)
        if isinstance(k, np.ndarray) and k.dtype != np.int32:
            raise TypeError(f"Type is mismatched. k {k.dtype} int32")
        return function(*args, **kwargs)

    return call


def moveaxis(a, source, destination):
    """The array itself where one axis moves nowhere."""
    made = np.moveaxis(a, source, destination)
    several = np.iterable(source) or np.iterable(destination)
    return made if several or (source - destination) % a.ndim else a


@functools.wraps(np.nan_to_num)
def nan_to_num(x, copy=True, *args, **kwargs):
    """In place also of an array without axes, of which NumPy gives a number."""
    if x is None:
        raise TypeError("Unsupported dtype object")
    made = np.nan_to_num(x, copy, *args, **kwargs)
    return made if copy or not isinstance(x, np.ndarray) else x


def diag(v, k=0):
    """New memory also of a diagonal, of which NumPy gives a view."""
    return np.array(np.diag(v, k))


def gradient(f, *varargs, axis=None, edge_order=1):
    if any(isinstance(spacing, (list, tuple)) for spacing in varargs):
        raise AttributeError("'list' object has no attribute 'dtype'")
    for spacing in varargs:
        check_number(spacing)
    if np.asarray(f).dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {np.asarray(f).dtype}")
    if isinstance(axis, (list, set, dict)):
        raise TypeError(f"{type(axis).__name__!r} object cannot be interpreted as an integer")
    found = np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    return list(found) if isinstance(found, tuple) else found


def _parts(function: np.ufunc, x, factor) -> np.ndarray:
    """``function`` of the real and the imaginary part each, by a real number."""
    if x.dtype.kind != "c":
        return function(x, factor)
    made = np.empty_like(x)
    made.real, made.imag = function(x.real, factor), function(x.imag, factor)
    return made


def interp(x, xp, fp, left=None, right=None, period=None):
    """As CuPy's kernel has it: what lies beyond the ends has the type of ``fp``, in which also the
    steps are taken, so that among integers without a sign one downwards is a large one."""
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("xp and fp must be 1D arrays")
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length")
    if not xp.size:
        raise ValueError("array of sample points is empty")
    if not x.flags.c_contiguous:
        raise NotImplementedError("Non-C-contiguous x is currently not supported")
    if not np.can_cast(np.common_type(x, xp), float):
        raise TypeError("Cannot cast array data to float64 according to the rule 'safe'")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = (remainder(one.astype(float), np.asarray(period, float))[0] for one in (x, xp))
        order = np.argsort(xp, kind="stable")
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[:1]))
    last = xp.size - 1
    place = searchsorted(xp, x, "right") - 1
    before = np.clip(place, 0, max(last - 1, 0))
    left = fp[0] if left is None else np.array(left, fp.dtype).ravel()[0]
    right = fp[-1] if right is None else np.array(right, fp.dtype).ravel()[0]
    common = compared_as(xp.dtype, x.dtype) or np.result_type(xp, x)
    at, points = x.astype(common), xp.astype(common)
    kind = complex if fp.dtype.kind == "c" else float
    short = {"f": np.float32}.get(fp.dtype.kind, np.int32)  # as C takes a half or a short
    values, steps = fp.astype(kind), fp.astype(short) if fp.dtype.itemsize < 4 else fp
    if last:
        step = (steps[before + 1] - steps[before]).astype(kind)
        wide, points_of = x.astype(float), xp.astype(float)
        slope = _parts(np.divide, step, points_of[before + 1] - points_of[before])
        made = _parts(np.multiply, slope, wide - points_of[before]) + values[before]
        again = _parts(np.multiply, slope, wide - points_of[before + 1]) + values[before + 1]
        made = np.where(np.isnan(made), again, made)
        flat = np.isnan(made) & (fp[before] == fp[before + 1])
        made = np.where(flat, values[before], made)
        made = np.where(at == points[before], values[before], made)
    else:
        made = np.full(x.shape, right, kind)
    made = np.where(place >= last, kind(right), made)
    made = np.where(at == points[-1], values[-1], made)
    made = np.where(place < 0, kind(left), made)
    return np.where(np.isnan(x), x, made).astype(kind)


def _check_bits(bitorder) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError("bitorder must be either 'big' or 'little'")


def packbits(a, axis=None, bitorder="big"):
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    _check_bits(bitorder)
    return np.packbits(a, bitorder=bitorder)


def unpackbits(a, axis=None, bitorder="big"):
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    _check_bits(bitorder)
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
    for name, value in (("pad_width", pad_width), *kwargs.items()):
        if isinstance(value, np.ndarray):
            raise TypeError(f"`{name}`: implicit conversion to a NumPy array is not allowed.")
    if isinstance(pad_width, dict):
        raise TypeError("`pad_width` must be of integral type.")
    if callable(mode):  # is given parts of an array on the device, which it fills

        def fill(part, pair, axis, options):
            mode(wrap(part), tuple(map(int, pair)), axis, options)

        return np.pad(array, pad_width, fill, **kwargs)
    made = np.pad(array, pad_width, mode, **kwargs)
    pairs = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    if isinstance(mode, str) and mode == "empty":
        poison(made)
        ends = zip(pairs, array.shape, strict=True)
        made[tuple(slice(left, left + n) for (left, _), n in ends)] = array
    if isinstance(mode, str) and mode == "wrap":
        for axis, pair in enumerate(pairs):
            array = np.take(array, _rounds(array.shape[axis], *pair), axis)
        made[...] = array
    if mode == "linear_ramp" and array.dtype.kind in "iu":
        ends, limits = np.asarray(kwargs.get("end_values", 0)), np.iinfo(array.dtype)
        if (ends < limits.min).any() or (ends > limits.max).any():
            return _ramps(array, pad_width, ends)
    return made


def _rounds(size: int, left: int, right: int) -> np.ndarray:
    """The places along an axis of which CuPy's ``wrap`` makes the padded one: in rounds, each of
    which takes what the rounds before it have made for the period."""
    places = np.empty(left + size + right, int)
    places[left : left + size] = range(size)
    while left or right:
        end = len(places) - right
        more, later = min(end - left, left), min(end - left, right)
        places[left - more : left] = places[end - more : end]
        places[end : end + later] = places[left : left + later]
        left, right = left - more, right - later
    return places


def _ramps(array, pad_width, end_values):
    """Ramps to numbers that are none of the type: integers by a GPU's rule."""
    pairs = (np.broadcast_to(given, (array.ndim, 2)) for given in (pad_width, end_values))
    for axis, (widths, ends) in enumerate(zip(*pairs, strict=True)):
        parts = [array]
        for at, width, end in zip((0, -1), widths, ends, strict=True):
            edge = np.take(array, at, axis).astype(float)
            ramp = np.floor(np.linspace(end, edge, width, endpoint=False, axis=axis))
            ramp = as_type(ramp, array.dtype)
            parts = [ramp, *parts] if at == 0 else [*parts, np.flip(ramp, axis)]
        array = np.concatenate(parts, axis)
    return array


def sort_complex(a):
    if not np.empty_like(a).flags.c_contiguous:  # CuPy sorts a copy that lies as the array does
        raise NotImplementedError("Sorting non-contiguous array is not supported.")
    return np.sort_complex(a)


def take(a, indices, axis=None, out=None):
    if out is not None and out.dtype != a.dtype:
        raise TypeError("Output dtype mismatch")
    size = a.size if axis is None or not a.ndim else a.shape[normalized(axis, a.ndim)[0]]
    indices = np.asarray(indices)
    if not indices.size:  # of an empty list NumPy makes fractions
        indices = indices.astype(np.intp)
    elif size and indices.dtype.kind in "iu":
        indices = wrapped(indices, size)
    return np.take(a, indices, axis, out, "wrap" if a.size else "clip")


def compress(condition, a, axis=None, out=None):
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.nonzero(condition)[0], axis, out)


def of_whole(row: Callable) -> Callable:
    """``row``, ``compress``: a condition of the host's is one of whole numbers, so 0.5 is False."""

    def call(condition, a, axis=None, out=None):
        if not isinstance(condition, ndarray):
            if np.ndim(condition) != 1:
                raise ValueError("condition must be a 1-d array")
            condition = np.array(condition, int)
        return row(condition, a, axis, out)

    return named(call, row.__name__)


def around(a, decimals=0, out=None):
    """Rounded in double precision, whatever the array's; integers among themselves."""
    a = np.asarray(a)
    if isinstance(decimals, (float, np.floating)):
        raise TypeError("decimals is a whole number")
    if a.dtype.kind in "iu" and -17 < decimals < 0:
        made = _rounded(a, 10**-decimals).astype(a.dtype)
        return made if out is None else _as_ufunc(out, made)
    wide = {"e": "d", "f": "d", "F": "D"}.get(np.asarray(a).dtype.char) if decimals else None
    made = np.around(a.astype(wide), decimals).astype(a.dtype) if wide else np.around(a, decimals)
    return made if out is None else _as_ufunc(out, made)


def _as_ufunc(out: np.ndarray, made: np.ndarray) -> np.ndarray:
    """``out`` with ``made`` written into it; TypeError where a ufunc does not cast to its type."""
    if not np.can_cast(made.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast output operand from {made.dtype} to {out.dtype} (same_kind)")
    return into(out, made)


def _rounded(a: np.ndarray, unit: int) -> np.ndarray:
    """``a`` to multiples of ``unit``, a power of ten: beyond the range it wraps around."""
    dtype = np.dtype(f"{a.dtype.kind}8")
    a, many = a.astype(dtype), np.asarray(unit * 10, dtype)
    whole = a // many + ((a < 0) & (a % many != 0))
    rest = (a - whole * many).astype(np.int32)
    tens = np.rint(rest / np.float32(unit)).astype(np.int64).astype(dtype)
    return (whole * 10 + tens) * np.asarray(unit, dtype)


def average(row):
    """``row``, of whose results the number of elements is one of the host's where there is one."""

    def call(a, axis=None, weights=None, returned=False, *, keepdims=False):
        found = row(a, axis, weights, returned, keepdims=keepdims)
        if not returned or weights is not None or found[0].ndim:
            return found
        return found[0], found[0].dtype.type(np.size(a._array if isinstance(a, ndarray) else a))

    return named(call, row.__name__)


def median(row):
    """``row``, which returns another array than an ``out``: of fractions, or a view of it where
    there are several axes."""

    def call(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        if out is None or not isinstance(a, ndarray):
            return row(a, axis, out, overwrite_input=overwrite_input, keepdims=keepdims)
        whole, several = a.dtype.kind in "biu", isinstance(axis, (list, tuple))
        if row.__name__ == "nanmedian" and not whole:
            return row(a, axis, out, overwrite_input=overwrite_input, keepdims=keepdims)
        if several and keepdims:  # of axes that CuPy moves to the end
            axes = normalized(tuple(axis), a.ndim)
            if out.shape != (*(n for i, n in enumerate(a.shape) if i not in axes), 1):
                raise ValueError("Out shape is mismatched")
        found = row(a, axis, out, overwrite_input=overwrite_input, keepdims=keepdims)
        return found.copy() if not whole else found.view() if several else found

    return named(call, row.__name__)


def running(row):
    """``row``, a running sum or product along an axis, which makes a view of an ``out``, unless
    its rows, with that axis the last, take a copy."""

    def call(*args, **kwargs):
        found = row(*args, **kwargs)
        out = kwargs.get("out", args[3] if len(args) > 3 else None)
        axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
        if axis is None and row.__name__.startswith("cumulative"):
            axis = 0
        if axis is None or out is None or not out.flags.forc or kwargs.get("include_initial"):
            return found
        a = args[0] if args else kwargs["a"]
        turned = np.moveaxis(out._array, axis % max(a.ndim, 1), -1)  # where ``out`` has more axes
        rows = turned.reshape(math.prod(turned.shape[:-1]), turned.shape[-1])
        shared = np.shares_memory(rows, turned) if out.size else turned.shape[-1]
        return out.view() if shared else found

    return named(call, row.__name__)


def between(row):
    """``row``, percentiles, which makes a view of an ``out`` whose numbers lie between others, and
    a copy of one with gaps."""

    def call(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
             interpolation=None):  # fmt: skip
        options = {} if interpolation is None else {"interpolation": interpolation}
        found = row(a, q, axis, out, overwrite_input, method, keepdims, **options)
        if out is None:
            return found
        made = out
        if keepdims:
            axes = normalized(axis, a.ndim)
            ones = [1 if i in axes else n for i, n in enumerate(a.shape)]
            made = out.reshape(ones if len(out) == 1 else [len(out), *ones])
        elif out.ndim > 1 and (interpolation or method) not in ("lower", "higher", "nearest"):
            made = out.view()
        return made if made.flags.c_contiguous else made.copy()

    return named(call, row.__name__)


def broadcast_arrays(*args):
    """Numbers stay what they are."""
    made = iter(np.broadcast_arrays(*(arg for arg in args if isinstance(arg, np.ndarray))))
    return tuple(next(made) if isinstance(arg, np.ndarray) else arg for arg in args)


def with_scalars(row: Callable) -> Callable:
    """``row``, which gives back NumPy's numbers as they are."""

    def call(*args):
        made = row(*args)
        kept = zip(args, made, strict=True)
        return tuple(arg if isinstance(arg, np.generic) else one for arg, one in kept)

    return named(call, row.__name__)


def real_if_close(row: Callable) -> Callable:
    """``row``; what is not complex, a number of NumPy's too, is given back."""

    def call(a, tol=100):
        return a if not np.issubdtype(a.dtype, np.complexfloating) else row(a, tol)

    return named(call, "real_if_close")


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
    check_number(x)
    check_number(y)
    for value, other in ((x, y), (y, x)):
        fit(getattr(other, "dtype", np.dtype(float)), value)
    if isinstance(x, int) and isinstance(y, int) and max(x, y) >= 1 << 63:
        x, y = np.asarray(x, np.uint64), np.asarray(y, np.uint64)
    return np.where(condition, x, y)


def clip(a, a_min, a_max, out=None):
    return a.clip(a_min, a_max, out=out)


def angle(z, deg=False):
    """Of a real number 0, or the angle of -1 where it is not at least 0."""
    found = np.asarray(np.angle(z, deg))
    if np.iscomplexobj(z):
        return found
    return np.where(np.asarray(z) >= 0, 0, 180 if deg else np.pi).astype(found.dtype)


def column_stack(tup):
    if any(not 1 <= np.ndim(a) <= 2 for a in tup):
        raise ValueError("Only 1 or 2 dimensional arrays can be column stacked")
    return np.column_stack(tup)


def atleast(function: Callable) -> Callable:
    """``numpy.atleast_1d`` or its like; new axes by ``reshape``, and of several arrays a list."""

    def call(*arrays):
        arrays = [a if isinstance(a, np.ndarray) else np.asarray(a) for a in arrays]
        shapes = [function(a).shape for a in arrays]
        made = [
            a if np.shape(a) == s else np.reshape(a, s) for a, s in zip(arrays, shapes, strict=True)
        ]
        return made[0] if len(made) == 1 else made

    return named(call, function.__name__)


def kron(a, b):
    return np.kron(a, b) if np.ndim(a) and np.ndim(b) else np.multiply(a, b)


def of_numbers(row: Callable) -> Callable:
    """``row``; of two numbers, their product."""

    def call(a, b):
        return a * b if np.isscalar(a) and np.isscalar(b) else row(a, b)

    return named(call, row.__name__)


def or_of_scalars(row: Callable, function: Callable) -> Callable:
    """``row``; of a number, what NumPy's ``function`` says."""
    return named(lambda x: function(x) if np.isscalar(x) else row(x), row.__name__)


def choose(a, choices, out=None, mode="raise"):
    if not isinstance(mode, str) or mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode not understood")
    if out is not None and isinstance(choices, np.ndarray) and out.dtype != choices.dtype:
        raise TypeError(f"Type is mismatched. choices {choices.dtype} {out.dtype} T")
    if not isinstance(choices, np.ndarray):
        raise AttributeError(f"{type(choices).__name__!r} object has no attribute 'shape'")
    if mode == "wrap" and len(choices) and a.dtype.kind in "iu":
        a = wrapped(a, len(choices))
    return np.choose(a, choices, out, mode)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    with warnings.catch_warnings(record=True) as given:  # of vectors of two elements
        warnings.simplefilter("always", DeprecationWarning)
        made = np.cross(a, b, axisa, axisb, axisc, axis)
    if given:
        text = "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors"
        warnings.warn(f"{text} instead.", DeprecationWarning, stacklevel=6)
    return made


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


def _in_parts(function: Callable) -> Callable:
    """``function``, sums of products, which a GPU adds in parts and the CPU's library in few long
    rows: many of single precision are added in double precision, as exact as a GPU's. Where it is
    one sum of halves, CuPy makes halves of the products before it adds them."""

    @functools.wraps(function)
    def call(a, b, *args, out=None, **kwargs):
        into = {} if out is None else {"out": out}
        made = function(a, b, *args, **kwargs, **into)
        dtype = np.result_type(a, b)
        one = a.ndim and b.ndim and a.size == b.size and np.size(made) == 1
        if function.__name__ == "matmul" and max(a.ndim, b.ndim) > 2:  # in single precision
            one = False
        if one and function.__name__ == "tensordot":  # a dot already
            return made
        if one and dtype == "e":
            exact = np.multiply(a.ravel(), b.ravel(), dtype="e").sum(dtype="f").astype("e")
        elif dtype.char in "efF" and a.size * b.size > MANY**2 * np.size(made):
            wide = np.result_type(dtype, "d")
            exact = function(a.astype(wide), b.astype(wide), *args, **kwargs).astype(dtype)
        else:
            return made
        made = np.asarray(made) if out is None else out
        made[...] = exact
        return made

    return call


@_in_parts
def matmul(a, b, *, out=None, dtype=None, **kwargs):
    """The product in the operands' own type, of which ``dtype`` or ``out`` is made afterwards."""
    if kwargs.get("signature") is not None:
        raise TypeError("No loop matching the specified signature and casting was found for matmul")
    if out is not None and "axes" not in kwargs:
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if out.shape != outer + a.shape[-2:-1] + (b.shape[-1:] if b.ndim > 1 else ()):
            raise ValueError("Output array has an invalid size")
    if dtype is None:
        made = np.matmul(a, b, out=out, **kwargs)
        turned = out is None and "order" not in kwargs
        return np.asarray(made, order="C") if turned else made
    for one, other in ((np.result_type(a, b), dtype), (dtype, dtype if out is None else out.dtype)):
        if not np.can_cast(one, other, kwargs.get("casting", "same_kind")):
            raise TypeError(f"Cannot cast the product from {np.dtype(one)} to {np.dtype(other)}")
    made = np.matmul(a, b, **kwargs)
    if out is None:
        return made.astype(dtype)
    np.copyto(out, made, "unsafe")
    return out


@_in_parts
def inner(a, b):
    if a.ndim and b.ndim and a.shape[-1] == b.shape[-1] == 0:
        raise ZeroDivisionError("integer division or modulo by zero")  # CuPy divides by it
    return np.inner(a, b) if a.ndim and b.ndim else np.multiply(a, b, order="C")


@_in_parts
def dot(a, b, out=None):
    if out is not None and out.dtype != np.result_type(a.dtype, b.dtype):
        raise ValueError("Not supported dtype combination.")
    return np.dot(a, b, out) if a.ndim and b.ndim else np.multiply(a, b, out, order="C")


vdot = _in_parts(np.vdot)


@_in_parts
def tensordot(a, b, axes=2):
    if not (a.ndim and b.ndim) and axes not in (0, ((), ())):
        raise ValueError("An input is zero-dim while axes has dimensions")
    pairs = (range(-axes, 0), range(axes)) if np.ndim(axes) == 0 else map(np.atleast_1d, axes)
    left, right = map(tuple, pairs)
    if len(left) == len(right) == a.ndim == b.ndim:
        a, b = a.transpose(left), b.transpose(right)
        if a.shape == b.shape:
            return dot(a.ravel(), b.ravel())
        left = right = range(a.ndim)
    return np.tensordot(a, b, (left, right))


def bincount(x, weights=None, minlength=None):
    if x.size and x.dtype.kind in "iu" and x.max() >= 1 << 60:
        raise MemoryError(f"an array of {x.max()} numbers")
    if weights is not None and x.shape != weights.shape:
        raise ValueError("The weights and list don't have the same length.")
    return np.bincount(x, weights, 0 if minlength is None else minlength)


def tensordot_blas(a, b, axes=2) -> str | None:
    summed = axes if isinstance(axes, int) else np.size(axes[0])
    return None if summed == a.ndim == b.ndim else blas(a, b)


def min_scalar_type(a) -> np.dtype:
    """NumPy's; of a device array, whose values only the device knows, its own dtype."""
    if isinstance(a, (list, tuple)) and any(isinstance(item, ndarray) for item in a):
        return np.result_type(*map(min_scalar_type, a))
    return a.dtype if isinstance(a, ndarray) else np.min_scalar_type(a)


def take_along_axis(arr, indices, axis):
    """NumPy's, for indices modulo the length: on a device one out of range wraps around."""
    if not isinstance(indices, np.ndarray):
        raise AttributeError(f"{type(indices).__name__!r} object has no attribute 'dtype'")
    try:
        return np.take_along_axis(arr, indices, axis)
    except IndexError:
        length = arr.size if axis is None else arr.shape[axis]
        if indices.dtype.kind not in "iu" or not length:
            raise
        return np.take_along_axis(arr, wrapped(indices, length), axis)
