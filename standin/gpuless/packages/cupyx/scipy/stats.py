"""``cupyx.scipy.stats`` on the CPU: CuPy's few functions, in its order of steps."""

from __future__ import annotations

import math as _math

import cupy as _cupy
import numpy as _np
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._refused import checked as _checked
from scipy import stats as _library

from cupyx.scipy import special as _special
from gpuless import missing as _missing
from gpuless import not_covered as _not_covered


def _taken(*values) -> None:
    for value in values:
        if not isinstance(value, _ndarray):
            raise _unsupported(value)


def _constant(a, axis):
    """Whether all numbers along ``axis`` are the first one."""
    first = a.ravel()[0] if axis is None else a.take(_cupy.array([0]), axis)
    return (first == a).all(axis=axis, keepdims=True)


def _half_nan(a) -> bool:
    """Whether the other part of a NaN is a number that CuPy's nanstd counts."""
    return bool(((_cupy.isnan(a.real) ^ _cupy.isnan(a.imag)) & (_cupy.nan_to_num(a) != 0)).any())


def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    """``scores`` less the mean of ``compare``, in its deviations; NaN where it is constant.

    ``nan_policy`` 'omit' leaves NaN out of both, 'raise' raises ValueError for one.
    """
    if nan_policy not in ("propagate", "raise", "omit"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    _taken(compare)
    if compare.size == 0:
        return _cupy.empty(compare.shape, compare.dtype if compare.dtype.kind in "fc" else float)
    if nan_policy == "raise" and _cupy.isnan(compare.sum()):
        raise ValueError("The input contains nan values")
    if nan_policy == "omit":
        if axis is None:
            raise IndexError("CuPy's zmap() with 'omit' needs an axis")
        if compare.dtype.kind == "c" and _half_nan(compare):
            raise _not_covered("cupyx.scipy.stats.zmap with 'omit' and a NaN in one part alone")
        mean = _cupy.nanmean(compare, axis=axis, keepdims=True)
        deviation = _cupy.nanstd(compare, axis=axis, keepdims=True, ddof=ddof)
        constant = _constant(compare, axis)
    else:
        mean = compare.mean(axis=axis, keepdims=True)
        deviation = compare.std(axis=axis, ddof=ddof, keepdims=True)
        constant = _constant(compare, axis)
    found = (scores - mean) / _cupy.where(constant, deviation.dtype.type(1), deviation)
    found[_cupy.broadcast_to(constant, found.shape)] = _cupy.nan
    return found


def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    """``a`` less its mean, in its standard deviations: ``zmap(a, a)``."""
    return zmap(a, a, axis=axis, ddof=ddof, nan_policy=nan_policy)


def _normalized(x, axis):
    """``x`` with sum 1, in place where it is of a floating type, as CuPy's."""
    total = x.sum(axis=axis, keepdims=True)
    x /= total
    return x


def entropy(pk, qk=None, base=None, axis=0):
    """The entropy of ``pk``, or its Kullback-Leibler divergence from ``qk``, along ``axis``.

    Arrays of float32 and float64 are left with sum 1, as CuPy leaves them.
    """
    _taken(pk, *([] if qk is None else [qk]))
    if pk.dtype.kind == "c" or qk is not None and qk.dtype.kind == "c":
        raise TypeError("complex dtype not supported")
    dtype = _cupy.result_type(pk, _cupy.float32) if pk.dtype.kind == "f" else _cupy.float64
    pk = _normalized(pk.astype(dtype, copy=False), axis)
    if qk is None:
        found = _special.entr(pk)
    else:
        if qk.shape != pk.shape:
            raise ValueError("qk and pk must have same shape.")
        qk = _normalized(qk.astype(dtype, copy=False), axis)
        found = _special.rel_entr(pk, qk)
    found = found.sum(axis=axis)
    if base is not None:
        found /= _math.log(base)
    return found


def _log_variance(logs):
    """The logarithm of the variance along the first axis, of numbers with these logarithms."""
    count = _math.log(len(logs))
    mean = _special.logsumexp(logs, axis=0) - count
    pairs = _cupy.stack([logs + 0j, _cupy.broadcast_to(mean - _math.pi * 1j, logs.shape)])
    apart = _special.logsumexp(pairs, axis=0)
    return _special.logsumexp(2 * apart, axis=0).real - count


def boxcox_llf(lmb, data):
    """The Box-Cox log-likelihood along the first axis, in the type of ``data``; of float16 in
    single precision on the way."""
    _taken(data, *([lmb] if isinstance(lmb, _np.ndarray) else []))
    dtype = data.dtype if data.dtype.kind in "fc" else _np.dtype(float)
    if not len(data):
        return _cupy.array(_cupy.nan, dtype)
    logs = _cupy.log(data.astype(_np.result_type(dtype, "f"), copy=False))
    if lmb == 0:
        spread = _cupy.log(_cupy.var(logs, axis=0))
    else:
        spread = _log_variance(lmb * logs) - 2 * _math.log(abs(lmb))
    return ((lmb - 1) * logs.sum(axis=0) - len(data) / 2 * spread).astype(dtype, copy=False)


def trim_mean(a, proportiontocut, axis=0):
    """The mean along ``axis`` without that part of the smallest and of the greatest numbers."""
    _taken(a)
    if a.size == 0:
        return _cupy.nan
    if axis is None:
        a, axis = a.ravel(), 0
    count = a.shape[axis]
    low = int(proportiontocut * count)
    high = count - low
    if low > high:
        raise ValueError("Proportion too big.")
    kept = _cupy.partition(a, (low, high - 1), axis)
    return _cupy.mean(kept[(slice(None),) * (axis % a.ndim) + (slice(low, high),)], axis=axis)


globals().update(_checked("stats", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
