"""Linear algebra: NumPy's routines on device arrays."""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from cupy._core._routines import _wrapped

_NAMES = """cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power
matrix_rank matrix_transpose norm outer pinv qr slogdet solve svd svdvals tensorinv tensorsolve
trace vecdot vector_norm""".split()
_PAIRS = {"solve", "lstsq", "tensorsolve", "outer", "vecdot"}

for _name in _NAMES:
    globals()[_name] = _wrapped(_name, getattr(np.linalg, _name), 2 if _name in _PAIRS else 1)


def matrix_rank(M, tol=None):
    """Rank by singular values above ``tol``; a 0-d array."""
    return _rank(M, tol=tol)


_rank = _wrapped("matrix_rank", lambda M, tol: np.asarray(np.linalg.matrix_rank(M, tol)), 1)

__all__ = [*_NAMES, "LinAlgError"]
