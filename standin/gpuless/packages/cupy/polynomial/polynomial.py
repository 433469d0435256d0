"""``cupy.polynomial.polynomial``: NumPy's functions of that module, as far as CuPy has them."""

from __future__ import annotations

from numpy.polynomial import polynomial as _library

from cupy._core._row import row as _row

polycompanion = _row(_library.polycompanion)
polyval = _row(_library.polyval, "-a")
polyvalfromroots = _row(_library.polyvalfromroots, "-a")
polyvander = _row(_library.polyvander)
