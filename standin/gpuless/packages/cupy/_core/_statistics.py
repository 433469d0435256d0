"""Quantiles, variances and histograms, where CuPy's rules are not NumPy's."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from cupy._core._dispatch import check_number, named
from cupy._core._reductions import check_ddof, in_parts, normalized
from cupy._core._search import compared_as
from cupy._core._sums import mean

_sum, _nansum, _var, _nanvar = map(in_parts, (np.sum, np.nansum, np.var, np.nanvar))
_WHOLE = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}


def _of_places(name: str, whole: int) -> Callable:
    """``percentile`` or ``quantile``: ``q`` goes from 0 to ``whole``."""

    def call(
        a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
        interpolation=None,
    ):  # fmt: skip
        if interpolation is not None:
            method = _renamed(method, interpolation, name)
        q = np.asarray(q) if isinstance(q, (list, tuple)) else q
        q = q if whole == 1 else q / whole
        if not _is_valid(q):
            raise ValueError(f"{name.capitalize()}s must be in the range [0, {whole}]")
        return _quantile(a, q, axis, out, overwrite_input, method, keepdims)

    return named(call, name)


percentile, quantile = _of_places("percentile", 100), _of_places("quantile", 1)


def _renamed(method: str, interpolation: str, name: str) -> str:
    text = f"the `interpolation=` argument to {name} was renamed to `method=`"
    warnings.warn(text, DeprecationWarning, stacklevel=7)
    if method != "linear":
        raise TypeError("You shall not pass both `method` and `interpolation`!")
    return interpolation


def _is_valid(q) -> bool:
    """CuPy's check, which is content with one number that is right."""
    return bool(np.any(np.less_equal(0.0, q)) and np.any(np.less_equal(q, 1.0)))


def _quantile(a, q, axis, out, overwrite_input: bool, method: str, keepdims: bool):
    """NaN are the largest numbers, as they are sorted, and make no NaN of all the rest."""
    if not isinstance(method, str) or method not in (*_WHOLE, "midpoint", "linear"):
        raise ValueError(f"'{method}' method is not yet supported. Please use any other method.")
    dtype, places = np.result_type(a, q), np.asarray(q)
    if places.ndim > 1:
        raise ValueError(f"Expected q to have a dimension of 1.\nActual: {places.ndim} != 1")
    axes = normalized(axis, a.ndim)
    if isinstance(axis, np.integer):
        raise TypeError(f"{type(axis).__name__!r} object is not iterable")
    if out is not None and not out.ndim:  # CuPy turns its axes
        raise ValueError("Axis out of range")
    kept = [n for i, n in enumerate(a.shape) if i not in axes]
    rows = np.moveaxis(a, axes, range(-len(axes), 0)).reshape(*kept, -1)
    if overwrite_input and not rows.flags.c_contiguous:
        raise NotImplementedError("Sorting non-contiguous array is not supported.")
    rows = rows if overwrite_input else rows.copy()
    rows.sort(axis=-1)
    at = places.reshape(-1) * (rows.shape[-1] - 1.0)
    if ((at < 0) | (at > rows.shape[-1] - 1)).any():
        raise IndexError("CuPy reads beside the numbers for a q outside of its range: leave it out")
    if method in _WHOLE:
        found = np.take(rows, _WHOLE[method](at).astype(int), -1)
    else:
        found = _between(
            rows, at if method == "linear" else (np.floor(at) + np.ceil(at)) / 2, dtype
        )
    found = np.moveaxis(found, -1, 0)
    if places.ndim == 0:
        found = found[0]
    if keepdims and out is None:
        ones = [1 if i in axes else n for i, n in enumerate(a.shape)]
        found = found.reshape([-1, *ones] if places.size > 1 else ones)
    if out is None:
        return np.asarray(found, order="C")
    if not places.ndim:  # CuPy wants an axis more of it, and takes it off again
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if out.shape != found.shape:
        raise ValueError("Output shape mismatch")
    if method in _WHOLE and out.dtype != found.dtype:
        raise TypeError("Output dtype mismatch")
    np.copyto(out, found, "unsafe")
    return out


def _between(rows, at, dtype: np.dtype):
    """Between two elements of each row, as CuPy's kernel has it: all rows are one, so that the
    largest number of a row meets the first one of the next, with a factor of 0."""
    if rows.dtype.kind == "c":
        raise TypeError("complex numbers have no order between two of them")
    wide = {"e": "f4", "?": "i4", "b": "i4", "B": "i4", "h": "i4", "H": "i4"}
    numbers = rows.astype(wide.get(rows.dtype.char, rows.dtype), copy=False).ravel()
    if rows.ndim > 1 and rows.size == rows.shape[-1] and at.size > 1:
        raise IndexError(
            "CuPy takes the numbers of q for those of rows where there is one row, and reads past "
            "its end; give it the row, without that axis"
        )
    first = np.arange(rows.size // rows.shape[-1]).reshape(*rows.shape[:-1], 1) * rows.shape[-1]
    bottom = first + np.floor(at).astype(int)
    top = np.minimum(bottom + 1, rows.size - 1)
    low, high = numbers[bottom], numbers[top]
    above = (at - np.floor(at)).astype(dtype)
    step = (high - low).astype(dtype)
    return np.where(above < 0.5, low + step * above, high - step * (1 - above)).astype(dtype)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """Of fewer numbers than ``ddof`` no number. Where ``dtype`` is given, the mean has the type of
    the array."""
    if isinstance(axis, (list, np.ndarray)):
        raise TypeError(f"tuple indices must be integers or slices, not {type(axis).__name__}")
    check_ddof(ddof)
    rest = max(math.prod(a.shape[i] for i in normalized(axis, a.ndim)) - ddof, 0)
    if dtype is None and rest and a.dtype.char != "e":
        return _var(a, axis, None, out, ddof, keepdims=keepdims)
    wide = np.dtype("d" if dtype is None else dtype)
    if dtype is None and a.dtype.kind in "fc":
        wide = a.real.dtype
    wide = wide if wide.char in "ef" else np.dtype("d")
    kind = a.dtype if dtype is not None or a.dtype.char == "e" else None
    middle = mean(a, axis, kind, keepdims=True)
    plain = a.dtype.kind in "biu" and middle.dtype.kind in "biu"
    off = np.subtract(a, middle, dtype=np.int64 if plain else "f" if a.dtype == "e" else None)
    square = off.real * off.real + off.imag * off.imag if off.dtype.kind == "c" else off * off
    square = square.astype("e") if wide.char == "e" else square
    made = _sum(square, axis, "f" if wide.char == "e" else wide, keepdims=keepdims)
    if wide.char == "e":  # as large as the sum may be
        made = made.astype("e").astype("f")
    made = np.asarray(made * (made.dtype.type(1) / rest if rest else np.nan)).astype(wide)
    return _given(made, out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return _root(var(a, axis, dtype, None, ddof, keepdims), dtype, out)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """Where ``ddof`` leaves nothing to divide by, a sum of squares divided by 0."""
    check_ddof(ddof)
    if a.dtype.kind in "biu":
        return var(a, axis, dtype, out, ddof, keepdims)
    if a.dtype.char == "e" and np.dtype(dtype or "e") == "e":
        made = _nanvar_of_half(a, axis, ddof, keepdims)
        if out is not None and out.shape != made.shape:
            raise ValueError("Out shape is mismatched")
        return _given(made.astype("e") if out is None else made, out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of nothing left
        into = out if out is not None and out.dtype.kind in "fc" else None  # whose type it has
        made = np.asarray(_nanvar(a, axis, dtype, into, int(ddof), keepdims=keepdims))
        if ddof > 0 and np.isnan(made).any():
            size = np.square(np.abs(a - np.nanmean(a, axis, keepdims=True))).astype(made.dtype)
            over = np.sum(
                np.where(np.isnan(a), 0, size) / made.dtype.type(0), axis, keepdims=keepdims
            )
            made = np.where(np.isnan(made), over, made)
    if out is None:  # the type is the array's, whatever the ``dtype`` it is added in
        kind = np.dtype(dtype or a.dtype)
        return made.astype(kind.type(0).real.dtype if kind.kind == "c" else a.real.dtype)
    if out.shape != made.shape:
        raise ValueError("Out shape is mismatched")
    return _given(made, out)


def _nanvar_of_half(a, axis, ddof, keepdims):
    """Half the numbers are: the sum is one, the squares are added in single precision."""
    numbers = ~np.isnan(a)
    count = np.sum(numbers, axis, keepdims=True)
    total = np.asarray(_nansum(a, axis, "f", keepdims=True)).astype("e")
    with np.errstate(all="ignore"):
        square = np.square(a - (total / count).astype("f")) / np.maximum(count - ddof, 0)
    return np.asarray(_sum(np.where(numbers, square, 0), axis, "f", keepdims=keepdims))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return _root(nanvar(a, axis, dtype, None, ddof, keepdims), dtype, out)


def _root(square, dtype, out):
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError(f"Wrong type ({dtype}) of arguments for cupy_sqrt")
    made = np.sqrt(square if dtype is None else square.astype(dtype))
    return _given(made, out)


def _given(made, out):
    if out is None:
        return made
    if np.broadcast_shapes(np.shape(made), out.shape) != out.shape:
        raise ValueError("Out shape is mismatched")
    np.copyto(out, made, "same_kind")
    return out


def cov(
    a, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
):  # fmt: skip
    """Weights count in the sum of the products, but not in the mean that is taken off."""
    bias = bool(bias)
    if ddof is not None:
        check_number(ddof)
        if ddof != int(ddof):
            raise ValueError("ddof must be integer")
        ddof = int(ddof)
    if not all(w is None or isinstance(w, np.ndarray) for w in (fweights, aweights)):
        raise TypeError("weights must be a cupy.ndarray")
    if fweights is not None and fweights.dtype.kind not in "iu":
        raise TypeError("fweights must be integer")
    made = np.cov(a, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)
    weights = [np.asarray(w, float) for w in (fweights, aweights) if w is not None]
    if not weights:
        return made
    w, ddof = math.prod(weights), (0 if bias else 1) if ddof is None else ddof
    x = np.array(a if rowvar else a.T, ndmin=2, dtype=made.dtype)
    if y is not None:
        y = np.atleast_2d(y)
        x = np.concatenate((x, y if rowvar or len(y) == 1 else y.T))
    off = np.average(x, axis=1, weights=w) - x.mean(axis=1)
    share = ddof if aweights is None else ddof * np.sum(w * weights[-1]) / w.sum()
    count = max(w.sum() - share, 0.0)
    return made + np.squeeze(np.outer(off, off.conj()) * (w.sum() / count))


def histogram(x, bins=10, range=None, density=False, weights=None):
    """Sums of ``weights`` are integers, double precision, or complex numbers of it; a weight whose
    x is NaN is in the first bin."""
    if isinstance(bins, str):
        raise NotImplementedError("only integer and array bins are implemented")
    if isinstance(bins, np.ndarray) and bins.ndim == 0:
        raise IndexError("too many indices for array: CuPy takes an array for the edges")
    if x.dtype.kind == "c":
        raise NotImplementedError("complex number is not supported")
    if weights is None and x.dtype.kind in "iu":
        edges = np.histogram_bin_edges(x, bins, range)
        found = _counted(x, edges)
        return (found / np.diff(edges) / found.sum() if density else found), edges
    if weights is None:
        found, edges = np.histogram(x, bins, range)
        last = edges[-1].astype(np.result_type(edges, x))
        if last + 1 == last:  # cuB ends before the last edge, which CuPy moves up towards this sum
            found[-1] -= np.count_nonzero(x == last)
        return (found / np.diff(edges) / found.sum() if density else found), edges
    if weights.shape != x.shape:
        raise ValueError("weights should have the same shape as a.")
    edges = np.histogram(x, bins, range)[1]
    x, weights = x.ravel(), weights.ravel()
    found = np.zeros(len(edges) - 1, {"c": complex, "f": float}.get(weights.dtype.kind, int))
    given, compared = edges, compared_as(edges.dtype, x.dtype) or np.result_type(edges, x)
    edges, x = edges.astype(compared), x.astype(compared)
    inside = ~((x < edges[0]) | (edges[-1] < x))
    place = np.minimum(np.searchsorted(edges, x, "right") - 1, len(found) - 1)
    place = np.where(x == x, place, 0)
    np.add.at(found, place[inside], weights[inside].astype(found.dtype))
    return (found / np.diff(given) / found.sum() if density else found), given


def _counted(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many integers are in each bin, as cuB counts them: in double precision, bytes as if they
    had no sign, and in the last bin whatever is less than 1 beyond its end."""
    ends = edges.astype(float)
    ends[-1] += 1
    numbers = (x.view(np.uint8) if x.dtype.char == "b" else x).astype(float).ravel()
    place = np.searchsorted(ends, numbers, "right") - 1
    inside = (place >= 0) & (place < len(ends) - 1)
    return np.bincount(place[inside], minlength=len(ends) - 1)


def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    if not np.isscalar(bins) and getattr(bins, "ndim", 1) and len(bins) not in (1, 2):
        if not isinstance(bins, np.ndarray):
            raise ValueError("array-like bins not supported in CuPy")
        bins = [bins, bins]
    made, edges = histogramdd([x, y], bins, range, weights, density)
    return made, *edges


def histogramdd(sample, bins=10, range=None, weights=None, density=False):
    if not isinstance(sample, np.ndarray):
        if not all(isinstance(one, np.ndarray) for one in sample):
            raise TypeError("Argument 'a' has incorrect type (expected cupy.ndarray)")
        sample = np.stack(sample, axis=-1)
        if sample.ndim != 2:
            raise ValueError("not enough values to unpack (expected 2)")
    if sample.ndim not in (1, 2):
        raise ValueError("a sample has one axis or two")
    if weights is not None and np.shape(weights) != sample.shape[:1]:
        raise ValueError("The weights and list don't have the same length.")
    for one in bins if isinstance(bins, (list, tuple)) else ():
        if isinstance(one, (list, tuple)):
            raise ValueError("array-like bins not supported")
    made, edges = np.histogramdd(sample, bins, range, density, weights)
    return _framed(made, density), edges


def _framed(made, density):
    return made if density else np.pad(made, 1)


def inner(function: Callable) -> Callable:
    """``function``, a histogram, of whose counts CuPy gives the inner part: beside them lie those
    of what is outside the bins, so that they are not contiguous."""

    def call(*args, **kwargs):
        made, *edges = function(*args, **kwargs)
        density = kwargs.get("density", args[at] if len(args) > at else None)
        return made if density else made[(slice(1, -1),) * made.ndim], *edges

    at = 5 if function.__name__ == "histogram2d" else 4
    return named(call, function.__name__)
