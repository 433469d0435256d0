"""``cupy.polynomial.polyutils``: NumPy's functions of that module, as far as CuPy has them."""

from __future__ import annotations

import numpy as _np
from numpy.polynomial import polyutils as _library

from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._row import row as _row


def _trimseq(seq):
    if seq.ndim != 1:
        raise (ValueError if seq.ndim else TypeError)("Input must be 1-d array")
    return _library.trimseq(seq)


def _part(array, made):
    """``made``, the first elements of ``array``: a view of it where their type is the same."""
    return array.ravel()[: made.size].astype(made.dtype, copy=False)


def _as_series(alist, trim=True):
    return [_part(*pair) for pair in zip(alist, _library.as_series(alist, trim), strict=True)]


def _trimcoef(c, tol=0):
    made = _library.trimcoef(c, tol)
    return _part(c, made) if _np.any(_np.abs(made) > tol) else _np.zeros_like(made)


def as_series(alist, trim=True):
    arrays = list(alist)
    for one in arrays:
        if not isinstance(one, _ndarray):
            raise TypeError(f"Unsupported type {type(one)}")
    return _of_arrays(arrays, trim)


_of_arrays = _row(_as_series, "-", waits=True)
trimcoef = _row(_trimcoef, name="trimcoef", waits=True)
trimseq = _row(_trimseq, name="trimseq", waits=True)
