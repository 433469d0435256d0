"""``cupy.polynomial.polyutils``: NumPy's functions of that module, as far as CuPy has them."""

from __future__ import annotations

from numpy.polynomial import polyutils as _library

from cupy._core._row import row as _row


def _trimseq(seq):
    if seq.ndim != 1:
        raise (ValueError if seq.ndim else TypeError)("Input must be 1-d array")
    return _library.trimseq(seq)


as_series = _row(_library.as_series, "-", waits=True)
trimcoef = _row(_library.trimcoef, waits=True)
trimseq = _row(_trimseq, name="trimseq", waits=True)
