"""Direct solvers: SciPy's, with CuPy's checks."""

from __future__ import annotations

import warnings

import cupy
import numpy as np
import scipy.sparse
from cupy._core._ndarray import place
from scipy.sparse import linalg as _library

from cupyx.scipy.sparse import _base, _formats


def _check(A, b=None) -> None:
    """CuPy's refusals of a square system."""
    if not _base.issparse(A):
        raise TypeError("A must be cupyx.scipy.sparse.spmatrix")
    if b is not None and not isinstance(b, cupy.ndarray):
        raise TypeError("b must be cupy.ndarray")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix (A.shape: {A.shape})")
    if b is not None and b.ndim not in (1, 2):
        raise ValueError(f"b must be 1D or 2D array (b.shape: {b.shape})")
    if b is not None and A.shape[0] != b.shape[0]:
        raise ValueError(f"matrix dimension mismatch (A.shape: {A.shape}, b.shape: {b.shape})")
    if A.dtype.char not in "fdFD":
        raise TypeError(f"Invalid dtype (actual: {A.dtype})")


def _check_index(A, name: str) -> None:
    if A.indices.dtype == np.int64:
        raise ValueError(f"{name} does not support int64 indices (cuSPARSE {name} is int32-only)")


@np.errstate(all="ignore")
def spsolve(A, b) -> cupy.ndarray:
    """``x`` of ``A x = b``, in the dtype of ``A``; ``b`` has the shape ``(M,)`` or ``(M, K)``.

    Of a singular ``A`` there is a warning, and NaN.
    """
    _check(A, b)
    if A.format != "csr":
        text = "CSR format is required. Converting to CSR format."
        warnings.warn(text, _base.SparseEfficiencyWarning, stacklevel=2)
        A = A.tocsr()
    _check_index(A, "spsolve")
    x = _library.spsolve(A._here(), b.astype(A.dtype, copy=False)._host(), use_umfpack=False)
    return place(np.asfortranarray(x.reshape(b.shape)))


@np.errstate(all="ignore")
def lsqr(A, b) -> tuple:
    """``x`` of ``A x = b`` for a square ``A``, in float64, and nine times None."""
    if not (_base.issparse(A) and A.format == "csr"):
        A = _formats.csr_matrix(A)
    if A.shape[0] != A.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if not isinstance(b, cupy.ndarray):
        raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
    _check_index(A, "lsqr")
    if b.shape != A.shape[:1]:
        raise ValueError("b must be 1-d array whose size is same as A")
    if A.dtype.kind == "c":
        raise TypeError("A of complex numbers, whose bytes cuSOLVER would read as real ones")
    dtype = A.dtype if A.dtype.char in "fd" else np.promote_types(A.dtype, "f")
    if b.dtype != dtype:
        raise TypeError(f"b of {b.dtype}, whose bytes cuSOLVER would read as {dtype}")
    if A.dtype != dtype:
        raise TypeError(f"A of {A.dtype}, whose bytes cuSOLVER would read as {dtype}")
    if not b.flags.c_contiguous:
        raise ValueError("b has gaps, and cuSOLVER would read what lies in them")
    x = _library.spsolve(A._here().astype(dtype), b._host(), use_umfpack=False)
    return (place(x).astype(np.float64), *[None] * 9)


def _triangular(T, b: np.ndarray, lower: bool, unit: bool = False) -> np.ndarray:
    """``x`` of ``T x = b``, where one triangle of ``T``, on the host, counts; NaN if singular."""
    T = (scipy.sparse.tril if lower else scipy.sparse.triu)(T).tocsr()
    try:
        return _library.spsolve_triangular(T, b, lower=lower, unit_diagonal=unit)
    except np.linalg.LinAlgError:
        return np.full(b.shape, np.nan, b.dtype)


@np.errstate(all="ignore")
def spsolve_triangular(
    A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False
) -> cupy.ndarray:  # fmt: skip
    """``x`` of ``A x = b``, where ``A`` counts in one triangle only, in double precision.

    ``b`` has the dtype of ``A`` (else TypeError) and the shape ``(M,)`` or ``(M, K)``, without gaps
    between its elements. ``unit_diagonal`` takes ones for the diagonal. NaN where ``A`` is
    singular; nothing is overwritten.
    """
    _check(A, b)
    if A.format == "dia":
        text = "CSR, CSC or COO format is required. Converting to CSR format."
        warnings.warn(text, _base.SparseEfficiencyWarning, stacklevel=2)
    if b.dtype != A.dtype:
        raise TypeError("dtype mismatch")
    if not (b.flags.c_contiguous or b.flags.f_contiguous):
        raise ValueError("b must be F-contiguous or C-contiguous.")
    x = _triangular(A._here(), b._host(), lower, unit_diagonal)
    return place(np.asfortranarray(x, np.promote_types(A.dtype, np.float64)))


class SuperLU:
    """The factors of a matrix, ``Pr A Pc = L U``, made by ``splu`` and ``spilu``.

    ``L`` and ``U`` are CSR matrices, ``perm_r`` and ``perm_c`` device arrays, or None where nothing
    is permuted. ``obj`` is SciPy's object of this name, else TypeError.
    """

    def __init__(self, obj):
        if not isinstance(obj, _library.SuperLU):
            raise TypeError("obj must be scipy.sparse.linalg.SuperLU")
        self.shape, self.nnz = obj.shape, obj.nnz
        self.perm_r, self.perm_c = place(obj.perm_r), place(obj.perm_c)
        self.L, self.U = (_formats.csr_matrix(_base.on_device(v.tocsr())) for v in (obj.L, obj.U))

    @np.errstate(all="ignore")
    def solve(self, rhs, trans="N") -> cupy.ndarray:
        """``x`` of ``A x = rhs``, of the transpose (``trans`` "T") or the adjoint ("H").

        ``rhs`` is a device array of shape ``(M,)`` or ``(M, K)``; ``x`` is in Fortran's order.
        """
        if not isinstance(rhs, cupy.ndarray):
            raise TypeError("rhs must be cupy.ndarray")
        if rhs.ndim not in (1, 2):
            raise ValueError(f"rhs.ndim must be 1 or 2 (actual: {rhs.ndim})")
        if rhs.shape[0] != self.shape[0]:
            raise ValueError(
                f"shape mismatch (self.shape: {self.shape}, rhs.shape: {rhs.shape})"
            )  # fmt: skip
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be 'N', 'T', or 'H'")
        x = rhs.astype(self.L.dtype)._host()
        factors = [(self.L._here(), True), (self.U._here(), False)]
        before, after = self.perm_r, self.perm_c
        if trans != "N":
            factors = [(factor.T, not lower) for factor, lower in reversed(factors)]
            before, after = after, before
        if trans == "H":
            factors = [(factor.conj(), lower) for factor, lower in factors]
        if before is not None:
            x = x[np.argsort(before._host())]
        for factor, lower in factors:
            x = _triangular(factor, x, lower)
        if after is not None:
            x = x[after._host()]
        return place(np.asfortranarray(x, self.L.dtype))


class CusparseLU(SuperLU):
    """The factors that have zeros where the matrix has."""


def factorized(A):
    """A function of ``b`` that solves ``A x = b``: ``splu(A).solve``."""
    return splu(A).solve


def splu(
    A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None
) -> SuperLU:  # fmt: skip
    """The LU factors of a square sparse matrix, as SciPy finds them."""
    _check(A)
    found = _library.splu(
        A._here().tocsc(), permc_spec, diag_pivot_thresh, relax, panel_size, options=options or {}
    )
    return SuperLU(found)


def spilu(
    A,
    drop_tol=None,
    fill_factor=None,
    drop_rule=None,
    permc_spec=None,
    diag_pivot_thresh=None,
    relax=None,
    panel_size=None,
    options=None,
) -> SuperLU:
    """Incomplete LU factors of a square sparse matrix, as SciPy finds them.

    With ``fill_factor`` 1 those that are zero where ``A`` is, and without pivoting: ValueError
    where the diagonal has a gap, or a zero comes up in it.
    """
    _check(A)
    if fill_factor == 1:
        return _without_fill(A.tocsr())
    found = _library.spilu(
        A._here().tocsc(),
        drop_tol=drop_tol,
        fill_factor=fill_factor,
        drop_rule=drop_rule,
        permc_spec=permc_spec,
        diag_pivot_thresh=diag_pivot_thresh,
        relax=relax,
        panel_size=panel_size,
        options=options or {},
    )
    return SuperLU(found)


def _without_fill(A) -> SuperLU:
    """ILU(0): elimination by rows that leaves out what would fill a gap."""
    _check_index(A, "csrilu02")
    here = A.get()
    here.sum_duplicates()
    rows = [
        dict(zip(here.indices[start:end], here.data[start:end], strict=True))
        for start, end in zip(here.indptr, here.indptr[1:], strict=False)
    ]
    for i, row in enumerate(rows):
        for k in [k for k in row if k < i]:  # in rising order
            row[k] = row[k] / rows[k][k]
            for j in [j for j in rows[k] if j > k and j in row]:
                row[j] = row[j] - row[k] * rows[k][j]
        if i not in row:
            raise ValueError(f"a({i},{i}) is missing")
        if row[i] == 0:
            raise ValueError(f"u({i},{i}) is zero")
    here.data[:] = [value for row in rows for value in row.values()]
    found = object.__new__(CusparseLU)
    found.shape, found.nnz = here.shape, here.nnz
    found.perm_r = found.perm_c = None
    unit = scipy.sparse.eye_array(here.shape[0], dtype=here.dtype)
    found.L = _base.on_device(scipy.sparse.csr_matrix(scipy.sparse.tril(here, -1) + unit))
    found.U = _base.on_device(scipy.sparse.csr_matrix(scipy.sparse.triu(here)))
    return found
