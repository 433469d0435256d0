"""Filters along the axes of an image, which CuPy has from ``ndimage``, on NumPy's arrays."""

from __future__ import annotations

import numpy as np
from scipy import ndimage, signal


def sepfir2d(input, hrow, hcol):
    """An image filtered along its columns and its rows. SciPy's own writes beyond the memory of an
    image that is smaller than the filter."""
    if any(v.ndim != 1 or v.size % 2 == 0 for v in (hrow, hcol)):
        raise ValueError("hrow and hcol must be 1 dimensional and odd length")
    small = input.dtype.itemsize <= 2 or input.dtype in (np.float32, np.complex64)
    if input.dtype.kind == "c":
        dtype = np.complex64 if small else np.complex128
    else:
        dtype = np.float32 if small else np.float64
    input, hrow, hcol = (v.astype(dtype, copy=False) for v in (input, hrow, hcol))
    for axis, weights in enumerate((hcol, hrow)):
        input = ndimage.correlate1d(input, weights[::-1].conj(), axis)
    return input


def spline_filter(Iin, lmbda=5.0):
    """Its splines, filtered; complex ones are single precision on the way."""
    if Iin.dtype.char not in "fdFD":
        raise TypeError("Invalid data type for Iin")
    weights = np.array([1, 4, 1], np.float32) / np.float32(6)
    image = Iin.astype(np.complex64) if Iin.dtype.kind == "c" else Iin
    return sepfir2d(signal.cspline2d(image, lmbda), weights, weights).astype(Iin.dtype)


INSTEAD = {"sepfir2d": sepfir2d, "spline_filter": spline_filter}
