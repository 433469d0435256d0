"""``cupyx.scipy.spatial.distance`` on the CPU: SciPy's distances, as far as CuPy has them."""

from __future__ import annotations

from collections.abc import Callable

import cupy as _cupy
import numpy as _np
from cupy._core._dispatch import named as _named
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._run import routine as _routine
from scipy.spatial import distance as _library

from gpuless import missing as _missing
from gpuless import not_covered as _not_covered

_TEXT = """
canberra
chebyshev chebychev cheby cheb ch
cityblock cblock cb c
correlation co
cosine cos
hamming matching hamm ha h
euclidean euclid eu e
jensenshannon js
minkowski mi m pnorm
russellrao
sqeuclidean sqe sqeuclid
"""
_NAMES = {name: line.split()[0] for line in _TEXT.strip().splitlines() for name in line.split()}


def _distances(a: _np.ndarray, b: _np.ndarray, metric: str, p: float) -> _np.ndarray:
    """The distance of each row of ``a`` from each one of ``b``, in the type of ``a``.

    cuVS divides no row by its sum first, and takes no element for a truth, as SciPy does.
    """
    if metric == "jensenshannon":
        with _np.errstate(all="ignore"):
            made = _np.reshape([_divergences(row, b) for row in a], (len(a), len(b))) ** 0.5
    elif metric == "russellrao":
        made = (a.shape[1] - a.astype(float) @ b.T) / a.shape[1]
    else:
        options = {"p": p} if metric == "minkowski" else {}
        made = _library.cdist(a, b, metric, **options)
    return made.astype(a.dtype)


def _divergences(row: _np.ndarray, rows: _np.ndarray) -> _np.ndarray:
    """Those of Jensen and Shannon between ``row`` and each of ``rows``; the logarithm of 0 is 0."""
    x, y, m = (_np.log(v + (v == 0)) for v in (row, rows, (row + rows) / 2))
    return (row * (x - m) + rows * (y - m)).sum(1) / 2


def _floating(x: _cupy.ndarray) -> _cupy.ndarray:
    if not isinstance(x, _cupy.ndarray):
        raise _unsupported(x)
    return x if x.dtype.char in "fd" else x.astype("f")


def _check_alike(a: _cupy.ndarray, b: _cupy.ndarray, metric: str = "", p: float = 2.0) -> None:
    if metric == "minkowski" and p in (0, _np.inf):
        raise _not_covered(f"the power {p}, by which cuVS divides 1,")
    if not all(x.flags.forc for x in (a, b)):
        raise ValueError("cuVS takes arrays without gaps only: copy() it first")
    if _cupy.isfortran(a) != _cupy.isfortran(b):
        raise ValueError("the two arrays must have the same layout")
    if a.dtype != b.dtype:
        raise ValueError("the two arrays must have the same dtype")


def _between_two(metric: str, p: float = 2.0) -> Callable:
    def distance(u, v):
        """The distance between two rows ``(1, n)``, an array without axes of the type of ``u``."""
        if _floating(u) is not u or _floating(v) is not v or {u.ndim, v.ndim} != {2}:
            raise ValueError("cuVS takes rows of float32 or float64 only, of the shape (1, n)")
        if u.shape != v.shape or len(u) != 1:
            raise ValueError(f"two rows of as many numbers are needed: {u.shape}, {v.shape}")
        _check_alike(u, v, metric, p)
        return _routine(lambda u, v: _distances(u, v, metric, p)[0, 0], u, v)

    return _named(distance, metric)


globals().update({name: _between_two(name) for name in set(_NAMES.values()) - {"minkowski"}})


def minkowski(u, v, p):
    """The distance between two vectors: the ``p``-norm of their difference."""
    return _between_two("minkowski", p)(u, v)


def cdist(XA, XB, metric="euclidean", out=None, **kwargs):
    """The distances of the rows of ``XA``, of shape (m, n), from those of ``XB``, (k, n): (m, k).

    ``p`` is the order of ``metric="minkowski"``; other keywords CuPy does not look at.
    """
    XA, XB = map(_floating, (XA, XB))
    if XA.ndim != 2 or XB.ndim != 2 or XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must be 2-dimensional, with the same number of columns")
    if not isinstance(metric, str):
        raise TypeError("2nd argument metric must be a string identifier")
    if metric.lower() not in _NAMES:
        raise ValueError(f"Unknown Distance Metric: {metric.lower()}")
    name, p = _NAMES[metric.lower()], kwargs.get("p", 2.0)
    _check_alike(XA, XB, name, p)
    made = _routine(lambda a, b: _distances(a, b, name, p), XA, XB)
    made = _cupy.array(made, order="F" if _cupy.isfortran(XA) else "C", copy=None)
    if out is None:
        return made
    out = _floating(out)  # of another type, it is another array
    _check_alike(out, made)
    if out.shape != made.shape:
        raise ValueError(f"out must have the shape {made.shape}")
    out[...] = made
    return out


def pdist(X, metric="euclidean", *, out=None, **kwargs):
    """The distances between the rows of ``X``, of shape (m, n): (m * (m - 1) / 2,)."""
    between = cdist(X, X, metric=metric, out=out, **kwargs)
    return between[_cupy.triu_indices_from(between, 1)]


def __getattr__(name: str):
    raise _missing(__name__, name)
