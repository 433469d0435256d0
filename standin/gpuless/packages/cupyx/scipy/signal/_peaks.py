"""Peaks and extrema as CuPy's kernels find them: in the type of the signal, and of peaks that are
equally high and too near to each other the last one first."""

from __future__ import annotations

import math
import warnings

import numpy as np
from cupy._core import _ufuncs
from cupy._core._creation import asarray
from cupy._core._ndarray import ndarray
from cupy._core._run import routine
from scipy.signal import _peak_finding_utils as library

from cupyx.scipy._warned import tell


def _signal(x) -> ndarray:
    x = asarray(x)
    if x.dtype.kind in "bc":
        raise TypeError(f"CuPy has no kernel for peaks of {x.dtype}")
    if x.ndim != 1:
        raise ValueError("`x` must be a 1-D array")
    return x


def _places(peaks) -> ndarray:
    peaks = asarray(peaks)
    if peaks.dtype.kind == "c":
        raise TypeError("cannot safely cast `peaks` to dtype('intp')")
    if peaks.ndim != 1:
        raise ValueError("`peaks` must be a 1-D array")
    return peaks


def _window(wlen) -> int:
    if wlen is None:
        return -1
    if not wlen > 1:
        raise ValueError(f"`wlen` must be larger than 1, was {wlen}")
    return math.ceil(wlen)


def _height(value):
    """A part of the prominence, of which CuPy's kernel reads the bits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if value < 0:
            raise ValueError("`rel_height` must be greater or equal to 0.0")
        if value:
            tell(
                f"CuPy's kernel takes the bits of rel_height={value}, a whole number, for those of "
                f"a float, which is next to 0: say {value}.0"
            )
        return float(np.int64(value).view(float))
    if not isinstance(value, float):
        raise TypeError(f"CuPy's kernel takes a float as rel_height, not {type(value).__name__}")
    if value < 0:
        raise ValueError("`rel_height` must be greater or equal to 0.0")
    return value


def _ordered(x: np.ndarray) -> np.ndarray:
    """Doubles in the same order."""
    if x.dtype.kind == "f" or x.itemsize < 8:
        return x.astype(float)
    return np.unique(x, return_inverse=True)[1].astype(float)


def _prominences(x, peaks, wlen) -> tuple:
    if peaks.size and not (0 <= peaks.min() and peaks.max() < x.size):
        raise ValueError("peaks are not a valid index")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what has no prominence
        _, left, right = library._peak_prominences(_ordered(x), peaks, wlen)
    return x[peaks] - np.maximum(x[left], x[right]), left, right


def _widths(x, peaks, part, prominences, left, right) -> tuple:
    """Widths, heights and ends, whose fractions are quotients of differences in the type of x."""
    if not len(peaks) == len(prominences) == len(left) == len(right):
        raise ValueError("arrays in `prominence_data` must have the same shape as `peaks`")
    if not ((left >= 0) & (left <= peaks) & (peaks <= right) & (right < x.size)).all():
        raise ValueError("prominence data is invalid")
    if [v.dtype for v in (prominences, left, right)] != [x.dtype, np.int64, np.int64]:
        raise TypeError("CuPy's kernel reads prominences of the type of x and bases of int64")
    values, found = x.astype(float), np.zeros((4, peaks.size))
    exact = int if x.dtype.kind in "iu" else x.dtype.type
    for k, peak in enumerate(peaks):
        height = values[peak] - float(prominences[k]) * part
        ends = []
        for step, last in ((-1, left[k]), (1, right[k])):
            i = peak
            while i != last and height < values[i]:
                i += step
            end = float(i)
            if values[i] < height:
                end -= step * float((height - values[i]) / float(exact(x[i - step]) - exact(x[i])))
            ends.append(end)
        found[:, k] = ends[1] - ends[0], height, *ends
    return tuple(found)


def peak_prominences(x, peaks, wlen=None):
    """How far peaks rise above what is around them, in the type of the signal, and their bases."""

    def prominences(x, peaks, wlen):
        return _prominences(x, peaks.astype(np.int64), wlen)

    return routine(prominences, _signal(x), _places(peaks), _window(wlen))


def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None):
    """How wide peaks are below a part of their prominence."""
    x, peaks, rel_height = _signal(x), _places(peaks), _height(rel_height)
    if prominence_data is not None and any(v is None for v in prominence_data):
        raise TypeError("prominences and bases must not be None")

    def widths(x, peaks, part, data, wlen):
        peaks = peaks.astype(np.int64)
        return _widths(x, peaks, part, *(data or _prominences(x, peaks, wlen)))

    wlen = -1 if prominence_data is not None else _window(wlen)
    return routine(widths, x, peaks, rel_height, prominence_data, wlen)


def _between(interval, x, peaks):
    """The function that says of numbers whether they lie in the interval, of each peak its own."""
    if isinstance(interval, np.ndarray) and interval.ndim and x.size != 1:
        limits = [interval, None]
    else:
        try:
            limits = least, most = interval
        except (TypeError, ValueError):
            limits = interval, None
    for limit in limits:
        if isinstance(limit, (list, tuple)):
            raise TypeError(f"an interval has one end or two, which are numbers, not {interval}")
        if isinstance(limit, np.ndarray) and limit.size != x.size:
            raise ValueError("array size of interval border must match x")
    least, most = (v.ravel()[peaks] if isinstance(v, np.ndarray) else v for v in limits)

    def lie(low, high):
        keep = np.ones(len(low), bool)
        if least is not None:
            keep &= least <= low
        if most is not None:
            keep &= high <= most
        return keep

    return lie


def _apart(peaks, heights, distance) -> np.ndarray:
    keep = np.ones(peaks.size, bool)
    for j in np.argsort(heights, kind="stable")[::-1]:
        if keep[j]:
            keep &= np.abs(peaks - peaks[j]) >= distance
            keep[j] = True
    return keep


def _found(x, height, threshold, distance, prominence, width, wlen, part, plateau_size):
    peaks, left, right = library._local_maxima_1d(_ordered(x))
    about = {}

    def choose(interval, low, high=None):
        nonlocal peaks, about
        keep_only(_between(interval, x, peaks)(low, low if high is None else high))

    def keep_only(keep):
        nonlocal peaks, about
        peaks, about = peaks[keep], {name: values[keep] for name, values in about.items()}

    if plateau_size is not None:
        about = {"plateau_sizes": right - left + 1, "left_edges": left, "right_edges": right}
        choose(plateau_size, about["plateau_sizes"])
    if height is not None:
        about["peak_heights"] = x[peaks]
        choose(height, x[peaks])
    if threshold is not None:
        sides = x[peaks] - x[peaks - 1], x[peaks] - x[peaks + 1]
        about["left_thresholds"], about["right_thresholds"] = sides
        choose(threshold, np.minimum(*sides), np.maximum(*sides))
    if distance is not None:
        keep_only(_apart(peaks, x[peaks], np.ceil(distance)))
    if prominence is not None or width is not None:
        names = "prominences", "left_bases", "right_bases"
        about.update(zip(names, _prominences(x, peaks, _window(wlen)), strict=True))
    if prominence is not None:
        choose(prominence, about["prominences"])
    if width is not None:
        data = about["prominences"], about["left_bases"], about["right_bases"]
        names = "widths", "width_heights", "left_ips", "right_ips"
        about.update(zip(names, _widths(x, peaks, part, *data), strict=True))
        choose(width, about["widths"])
    return peaks, about


def find_peaks(
    x,
    height=None,
    threshold=None,
    distance=None,
    prominence=None,
    width=None,
    wlen=None,
    rel_height=0.5,
    plateau_size=None,
):
    """The places of local maxima with these properties, and what was found of them on the way."""
    x = _signal(x)
    if distance is not None and distance < 1:
        raise ValueError("`distance` must be greater or equal to 1")
    if x.size < 2:  # CuPy makes an array of what lies between its ends
        raise ValueError("Negative dimensions are not allowed")
    part = rel_height if width is None else _height(rel_height)
    conditions = height, threshold, distance, prominence, width, wlen, part, plateau_size
    return routine(_found, x, *conditions)


_COMPARED = "less greater less_equal greater_equal equal not_equal".split()


def argrelextrema(data, comparator, axis=0, order=1, mode="clip"):
    """The places where every one of ``order`` neighbours on both sides compares so."""
    data = asarray(data)
    names = {getattr(_ufuncs, name): name for name in _COMPARED}
    if data.ndim < 3 and comparator not in names:
        raise KeyError(comparator)
    if order < 1 or int(order) != order:
        raise ValueError("Order must be an int >= 1")
    if not isinstance(order, (int, np.integer)):
        raise TypeError("CuPy's kernel takes an int as order")
    if data.ndim < 3:
        if data.dtype.kind in "buc":
            raise NotImplementedError(f"CuPy has no kernel for extrema of {data.dtype}")
        if not data.flags.c_contiguous:
            tell(
                "CuPy's kernel for extrema reads an array that is not C contiguous as if it were, "
                "so that it finds others: make it one with cupy.ascontiguousarray."
            )
        if not -data.ndim <= axis < data.ndim:
            raise IndexError("tuple index out of range")
        if data.ndim == 2 and axis == -2:
            tell("CuPy's kernel for extrema takes axis -2 for the last one: say 0.")
        axis = int(axis != 0) if data.ndim == 2 else 0
    if mode == "raise":
        raise NotImplementedError("CuPy `take` doesn't support `mode='raise'`.")

    def compare(low, high):
        if comparator in names:
            return getattr(np, names[comparator])(low, high)
        return comparator(asarray(low), asarray(high)).get()

    def extrema(data):
        length = data.shape[axis]
        places, found = np.arange(length), np.ones(data.shape, bool)
        for by in range(1, order + 1):
            for there in (places + by, places - by):
                there = np.clip(there, 0, length - 1) if mode == "clip" else there % length
                found &= compare(data, np.take(data, there, axis))
        return np.nonzero(found)

    return routine(extrema, data)


def argrelmax(data, axis=0, order=1, mode="clip"):
    """The places of maxima that are greater than their neighbours."""
    return argrelextrema(data, _ufuncs.greater, axis, order, mode)


def argrelmin(data, axis=0, order=1, mode="clip"):
    """The places of minima that are less than their neighbours."""
    return argrelextrema(data, _ufuncs.less, axis, order, mode)
