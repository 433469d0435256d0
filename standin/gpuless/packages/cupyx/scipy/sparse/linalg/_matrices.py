"""Norms and powers of sparse matrices."""

from __future__ import annotations

import operator

import cupy
import numpy as np
from cupy._core._ndarray import place
from scipy.sparse import linalg as _library

from cupyx.scipy.sparse import _base, eye_array


def norm(x, ord=None, axis=None) -> cupy.ndarray:
    """The norm of a matrix, or those of its rows or columns along ``axis``, as SciPy's ``norm``.

    TypeError for what is not sparse; NotImplementedError for the orders 2 and -2 of a matrix.
    """
    if not _base.issparse(x):
        raise TypeError("input is not sparse. use cupy.linalg.norm")
    axis = int(axis) if isinstance(axis, np.integer) else axis
    of_matrix = axis is None or (isinstance(axis, tuple) and len(axis) == 2)
    if of_matrix and axis and (not all(-2 <= a < 2 for a in axis) or sum(axis) % 2 == 0):
        raise ValueError(f"Invalid or duplicate axes: {axis!r}")
    if of_matrix and ord in (2, -2):
        raise NotImplementedError
    squared = ord in ((None, "f", "fro") if of_matrix else (None, 2))
    summed = squared or not of_matrix and ord not in (0, 1, np.inf, -np.inf)  # powers of elements
    if summed and x.dtype == bool:
        raise TypeError("no kernel makes powers of booleans in booleans")
    if of_matrix and squared and x.format != "dia":  # of the elements as they are stored
        x = x if axis is None else x.tocsr()
        return place(np.asarray(np.linalg.norm(x._here().data)))
    rows = x.tocsr()
    here = (rows if ord == 0 else abs(rows))._here()  # of duplicates, each element's own amount
    with np.errstate(all="ignore"):
        found = np.asarray(_library.norm(here, ord, axis))
        if not of_matrix and summed:
            power = 2 if ord is None else ord
            here = abs(rows)._here()
            here.data = here.data**power
            (along,) = axis if isinstance(axis, tuple) else (axis,)
            found = np.asarray(here.sum(along)) ** (1 / power)
    return place(found if of_matrix else found.ravel())


def matrix_power(A, power):
    """``A @ A @ ...``, ``power`` times; a CSR array of ones on the diagonal for 0.

    TypeError unless ``A`` is square, ValueError for a ``power`` that is negative or no integer.
    """
    if A.shape[0] != A.shape[1]:
        raise TypeError("sparse matrix is not square")
    try:
        power = operator.index(power)
    except TypeError:
        raise ValueError("exponent must be an integer") from None
    if power < 0:
        raise ValueError("exponent must be >= 0")
    if power < 2:
        return A.copy() if power else eye_array(A.shape[0], dtype=A.dtype)
    half = matrix_power(A, power // 2)
    return A @ half @ half if power % 2 else half @ half
