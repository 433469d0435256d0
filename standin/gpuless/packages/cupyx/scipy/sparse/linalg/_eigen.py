"""Some eigenvalues and singular values: SciPy's ARPACK and LOBPCG, with CuPy's checks."""

from __future__ import annotations

import operator
import warnings

import cupy
import numpy as np
from cupy._core._dispatch import unsupported
from cupy._core._ndarray import place
from scipy.sparse import linalg as _library

from cupyx.scipy.sparse.linalg._operators import aslinearoperator, for_scipy


def _check(a, k: int, most: int, square: bool) -> None:
    """CuPy's refusals; ``k`` has to be below ``most``."""
    if a.ndim != 2 or (square and a.shape[0] != a.shape[1]):
        raise ValueError(f"expected {'square matrix' if square else '2D'} (shape: {a.shape})")
    if a.dtype.char not in "fdFD":
        raise TypeError(f"unsupported dtype (actual: {a.dtype})")
    if k <= 0:
        raise ValueError(f"k must be greater than 0 (actual: {k})")
    if k >= most:
        raise ValueError(f"k must be smaller than {most} (actual: {k})")


def _largest(w: np.ndarray, k: int, which: str) -> np.ndarray:
    """Where in ``w`` the ``k`` wanted values are."""
    order = np.argsort({"LM": abs(w), "LA": w, "SA": -w}[which])
    return order[-k:]


_NEAR = {"f": 1e-4, "d": 1e-9, "F": 1e-4, "D": 1e-9}
_EARLY = (
    "the CPU stand-in does not cover eigsh that ends before it has converged (CuPy gives what it "
    "has after maxiter steps, 10 n): ask for a larger maxiter"
)


def eigsh(
    a, k=6, *, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True
):  # fmt: skip
    """``k`` eigenvalues of a Hermitian matrix or operator, in rising order: ``(w, x)`` or ``w``.

    ``which`` are the largest in magnitude ("LM"), the largest ("LA") or the smallest ("SA").
    NotImplementedError where ``maxiter`` steps (10 n) are too few: CuPy returns what it has then.
    """
    _check(a, k, a.shape[0], square=True)
    if which not in ("LM", "LA", "SA"):
        raise ValueError(f"which must be 'LM', 'LA' or 'SA' (actual: {which})")
    a = aslinearoperator(a)
    n = a.shape[0]
    ncv = min(max(2 * k, k + 32) if ncv is None else max(operator.index(ncv), k + 2), n - 1)
    if ncv < k + 2:
        raise IndexError(f"CuPy's steps have no room for {k} of {n} values: ask for fewer")
    given = v0 is not None
    v0 = v0 if given else cupy.random.random(n)
    if not isinstance(v0, cupy.ndarray):
        raise unsupported(v0)
    if v0.ndim != 1:
        raise ValueError(f"x must be a 1D array (actual: {v0.ndim})")
    if v0.dtype != a.dtype and given:
        raise TypeError(f"v0 of {v0.dtype}, whose bytes CuPy's steps would read as {a.dtype}")
    if not v0.flags.c_contiguous:
        raise ValueError("v0 has gaps, and CuPy's steps would read what lies in them: copy() it")
    near, v0 = _NEAR[a.dtype.char], v0.astype(a.dtype)
    step = a.matvec(v0)
    size = float(cupy.linalg.norm(step) / cupy.linalg.norm(v0))
    rest = step - v0 * (cupy.vdot(v0, step) / cupy.vdot(v0, v0))
    if given and float(cupy.linalg.norm(rest)) <= 1e-15 * float(cupy.linalg.norm(step)):
        raise NotImplementedError("v0 is an eigenvector, and CuPy divides by 0: take another")
    eps = np.finfo(a.dtype).eps
    if tol == 0 and 0 < size * near < eps:
        raise NotImplementedError(
            f"CuPy's eigsh ends where the residual is below {eps:.0e} itself, and the elements of "
            "this matrix are hardly larger: multiply it by a large number first"
        )
    if ncv == n - 1:  # as many steps as there are rows
        if maxiter is not None and maxiter <= 2 * ncv - k:  # which are begun again once at most
            raise NotImplementedError(_EARLY)
        w, x = np.linalg.eigh(a.matmat(cupy.eye(n, dtype=a.dtype))._host())
    else:
        steps = 10 * n if maxiter is None else maxiter  # of which a cycle takes up some again
        cycles = max(1 - (ncv - steps) // (ncv - k), 1)
        how = {"k": k, "which": which, "v0": v0._host(), "ncv": ncv}
        try:  # whether that is enough for nine digits, and then for all
            _library.eigsh(for_scipy(a), **how, maxiter=cycles, tol=max(tol, near))
            w, x = _library.eigsh(for_scipy(a), **how, tol=tol)
        except _library.ArpackNoConvergence as error:
            raise NotImplementedError(_EARLY) from error
    wanted = _largest(w, k, which)
    wanted = wanted[np.argsort(w[wanted])]
    w, x = w[wanted], np.ascontiguousarray(x[:, wanted])
    return (place(w), place(x)) if return_eigenvectors else place(w)


@np.errstate(all="ignore")
def svds(a, k=6, *, ncv=None, tol=0, which="LM", maxiter=None, return_singular_vectors=True):
    """The ``k`` largest singular values, in rising order and then those that are zero but for
    rounding: ``(u, s, vt)`` or ``s``. They come from ``eigsh`` of ``a.H @ a`` or ``a @ a.H``.
    """
    _check(a, k, min(a.shape), square=False)
    a = aslinearoperator(a)
    tall = a.shape[0] >= a.shape[1]
    if not tall:
        a = a.H
    _, v = eigsh(a.H @ a, k, which=which, ncv=ncv, maxiter=maxiter, tol=tol)
    u, s, turn = np.linalg.svd(a.matmat(v)._host(), full_matrices=False)
    v = v._host() @ turn.conj().T
    zero = s**2 <= {"f": 1e3, "d": 1e6}[s.dtype.char] * np.finfo(s.dtype).eps * s.max() ** 2
    order = np.lexsort((s, zero))
    s = np.where(zero, 0, s)[order].astype(s.dtype)
    u, v = (np.ascontiguousarray(vectors[:, order]) for vectors in (u, v))
    if not return_singular_vectors:
        return place(s)
    return tuple(map(place, (u, s, v.conj().T) if tall else (v, s, u.conj().T)))


def _of_few(A, B, k: int, largest: bool) -> tuple:
    """Where there are few rows, CuPy finds all eigenvalues, and gives views of ``k`` alone."""
    A, B = (one and one.matmat(cupy.eye(one.shape[0], dtype=one.dtype)) for one in (A, B))
    if B is None:
        w, v = cupy.linalg.eigh(A)
    else:
        inverse = cupy.linalg.inv(cupy.linalg.cholesky(B))
        w, v = cupy.linalg.eigh(inverse @ A @ inverse.T)
        v = cupy.ascontiguousarray(inverse.T @ v)
    turn = slice(None, None, -1 if largest else None)
    return w[turn][:k], v[:, turn][:, :k]


def lobpcg(
    A,
    X,
    B=None,
    M=None,
    Y=None,
    tol=None,
    maxiter=None,
    largest=True,
    verbosityLevel=0,
    retLambdaHistory=False,
    retResidualNormsHistory=False,
):
    """Eigenvalues of ``A v = w B v`` by LOBPCG: ``(w, v)``, and the histories that are asked for.

    ``X`` (n, k) are first approximations, ``Y`` constraints, ``M`` is a preconditioner; ``A``,
    ``B`` and ``M`` are matrices or operators. ``tol`` is ``n sqrt(1e-15)`` by default, ``maxiter``
    20; CuPy does not say whether that was enough.
    """
    for value in (X, Y):
        if not isinstance(value, (cupy.ndarray, type(None))):
            raise unsupported(value)
    if X.ndim != 2:
        raise ValueError("expected rank-2 array for argument X")
    n, size = X.shape
    operators = [None if one is None else aslinearoperator(one) for one in (A, B, M)]
    if any(one is not None and one.shape != (n, n) for one in operators):
        raise ValueError("operator has invalid shape")
    if Y is not None and n - Y.shape[1] < 5 * size:
        raise NotImplementedError("The dense eigensolver does not support constraints.")
    if "c" in {X.dtype.kind, *(one.dtype.kind for one in operators if one is not None)}:
        raise NotImplementedError(
            "CuPy's lobpcg makes no orthonormal basis of complex vectors, and finds other numbers "
            "than eigenvalues: use eigsh"
        )
    if n - (0 if Y is None else Y.shape[1]) < 5 * size:
        return _of_few(*operators[:2], min(size, n), largest)
    A, B, M = (None if one is None else for_scipy(one) for one in operators)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = _library.lobpcg(
            A,
            X._host().copy(),
            B,
            M,
            None if Y is None else Y._host(),
            tol=np.sqrt(1e-15) * n if tol is None or tol <= 0 else tol,
            maxiter=20 if maxiter is None else maxiter,
            largest=largest,
            verbosityLevel=verbosityLevel,
            retLambdaHistory=retLambdaHistory,
            retResidualNormsHistory=retResidualNormsHistory,
        )
    ended = any("not reaching" in str(one.message) for one in told)
    if ended:
        text = (
            "lobpcg has not converged, which CuPy does not tell: its numbers are as far from the "
            "eigenvalues as these, and others. Give it a larger maxiter or a preconditioner M."
        )
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    w, v, *histories = found
    steps = -2 if ended else -1  # without what SciPy does afterwards
    return place(w), place(v), *([place(np.atleast_1d(v)) for v in h[:steps]] for h in histories)
