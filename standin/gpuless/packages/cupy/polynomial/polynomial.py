"""``cupy.polynomial.polynomial``: NumPy's functions of that module, as far as CuPy has them."""

from __future__ import annotations

import numpy as _np
from numpy.polynomial import polynomial as _library

from cupy._core._loops import power as _power
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._row import row as _row

polycompanion = _row(_library.polycompanion)
polyval = _row(_library.polyval, "-a")
polyvalfromroots = _row(_library.polyvalfromroots, "-a")


def _polyvander(x, deg):
    """Powers, not products: the 0th is 1 of NaN, too."""
    _library.polyvander(x[:0] if x.ndim else x, deg)  # its errors
    x = _np.atleast_1d(x)
    x = x.astype(float) if x.dtype.kind in "biu" else x
    exponents = _np.arange(deg + 1).astype(x.dtype).reshape(-1, *[1] * x.ndim)
    made = _power(x, exponents) or (_np.power(x, exponents),)
    return _np.moveaxis(made[0], 0, -1)


_powers = _row(_polyvander, name="polyvander", order="S")


def polyvander(x, deg):
    """The powers of ``x`` from 0 to ``deg``, along a new last axis."""
    if isinstance(deg, _ndarray):
        raise TypeError(f"deg must be an integer, received {deg}")
    return _powers(x, deg)
