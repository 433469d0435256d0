"""Iterative solvers: SciPy's or CuPy's steps, with CuPy's signatures, checks and defaults.

All of them take a device array, a sparse matrix or a ``LinearOperator`` for ``A`` and ``M``, and
device arrays of shape ``(n,)`` or ``(n, 1)`` for ``b`` and ``x0``; what a ``callback`` gets lies on
the device, too.
"""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np
from cupy import cublas
from cupy._core._dispatch import named, unsupported
from cupy._core._ndarray import place
from scipy.sparse import linalg as _library

from cupyx.scipy.sparse import _base
from cupyx.scipy.sparse.linalg._operators import LinearOperator, aslinearoperator, for_scipy
from gpuless import not_covered


def _vector(value, n: int, name: str) -> cupy.ndarray:
    if not isinstance(value, cupy.ndarray):
        raise unsupported(value)
    if value.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name} has incompatible dimensions")
    return value


class _Identity(LinearOperator):
    """It gives what it is given, and no copy."""

    def _matvec(self, x):
        return x


def _system(A, b, x0, M) -> tuple:
    """``A``, ``M``, ``x`` and ``b`` of a square system, in the dtype of ``A``, in new arrays."""
    A = aslinearoperator(A)
    n = A.shape[0]
    if A.shape != (n, n):
        raise ValueError(f"expected square matrix (shape: {A.shape})")
    if A.dtype.char not in "fdFD":
        raise TypeError(f"unsupported dtype (actual: {A.dtype})")
    b = _vector(b, n, "b").astype(A.dtype).ravel()
    x = cupy.zeros(n, A.dtype) if x0 is None else _vector(x0, n, "x0").astype(A.dtype).ravel()
    if _base.issparse(M) and M.format == "csr" and M.dtype != A.dtype:
        raise TypeError("cuSPARSE multiplies no CSR matrix with a vector of another type")
    M = _Identity(A.dtype, A.shape) if M is None else aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError("matrix and preconditioner have different shapes")
    return A, M, x, b


def _krylov(steps: Callable, iterations: int) -> Callable:
    """The solver of these steps; ``iterations`` times ``n`` is its default of ``maxiter``.

    The steps are CuPy's, not SciPy's: when they look at the residual decides about ``info``, and
    what they write in place is seen by a ``callback`` that keeps its argument, and by an operator
    that gives the same array each time.
    """

    def solve(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
        A, M, x, b = _system(A, b, x0, M)
        norm = cupy.linalg.norm(b)
        if b.size == 0 or norm == 0:
            return b, 0
        x, info = steps(
            A.matvec,
            M.matvec,
            b,
            x,
            max(float(atol), rtol * float(norm)),
            iterations * b.size if maxiter is None else maxiter,
            callback or (lambda x: None),
        )
        return x, info

    return named(solve, steps.__name__.strip("_"), "``(x, info)`` with ``x`` on the device")


def _cg(A, M, b, x, atol, maxiter, callback):
    r, rho, p, done = b - A(x), 0, None, 0
    while done < maxiter:
        z = M(r)
        before, rho = rho, cublas.dotc(r, z)
        p = z + rho / before * p if done else z
        q = A(p)
        alpha = rho / cublas.dotc(p, q)
        x = x + alpha * p
        r = r - alpha * q
        done += 1
        callback(x)
        residual = cublas.nrm2(r)
        if residual <= atol:
            break
    return x, done if done == maxiter and not residual <= atol else 0


def _cgs(A, M, b, x, atol, maxiter, callback):
    first = u = b - A(x)
    r, p, rho, done = first.copy(), first.copy(), cupy.dot(first, first), 0
    while True:
        v = A(M(p))
        alpha = rho / cupy.dot(first, v)
        q = u - alpha * v
        z = M(u + q)
        x += alpha * z
        r -= alpha * A(z)
        residual = cupy.linalg.norm(r)
        done += 1
        callback(x)
        if residual <= atol or done >= maxiter:
            return x, done if done == maxiter and not residual < atol else 0
        before, rho = rho, cupy.dot(first, r)
        beta = rho / before
        u = r + beta * q
        p *= beta
        p += q
        p *= beta
        p += u


def _bicgstab(A, M, b, x, atol, maxiter, callback):
    dot = cupy.vdot if x.dtype.kind == "c" else cupy.dot
    least = np.finfo(x.dtype).eps ** 2
    r, done = b - A(x), 0
    first, before = r.copy(), None
    p = v = alpha = omega = None
    while True:
        residual = cupy.linalg.norm(r)
        if residual <= atol or done >= maxiter:
            return x, done if done >= maxiter and not residual <= atol else 0
        rho = dot(first, r).item()
        if abs(rho) < least:
            return x, -10
        if done:
            if abs(omega) < least:
                return x, -11
            p -= omega * v
            p *= rho / before * (alpha / omega)
            p += r
        else:
            p = r.copy()
        at = M(p)
        v = A(at)
        along = dot(first, v).item()
        if along == 0:
            return x, -11
        alpha = rho / along
        r -= alpha * v
        if cupy.linalg.norm(r) <= atol:
            x += alpha * at
            return x, 0
        z = M(r)
        t = A(z)
        omega = (dot(t, r) / dot(t, t)).item()
        x += alpha * at
        x += omega * z
        r -= omega * t
        before = rho
        done += 1
        callback(x)


cg = _krylov(_cg, 10)
cgs = _krylov(_cgs, 5)
bicgstab = _krylov(_bicgstab, 10)


def gmres(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    restart=None,
    maxiter=None,
    M=None,
    callback=None,
    callback_type=None,
):
    """Solve ``A x = b`` by GMRES: ``(x, info)``, ``info`` 0 or how many iterations were not enough.

    ``maxiter`` (10 n) counts iterations, of which ``restart`` (20) make a cycle; it is rounded up.
    ``callback_type`` "x" calls ``callback`` with the solution so far, before the first cycle and
    after each; "pr_norm" (the default) with the relative norm of the residual, after each.
    """
    if callback_type not in (None, "x", "pr_norm"):
        raise ValueError(f"Unknown callback_type: {callback_type}")
    A, M, x, b = _system(A, b, x0, M)
    n = b.size
    restart = min(20 if restart is None else restart, n)
    if n and restart < 1:
        raise IndexError(f"restart has to be 1 at least: {restart}")
    most = 10 * n if maxiter is None else maxiter
    size = cupy.linalg.norm(b)
    if not n or not size:
        return b, 0
    enough, done = max(float(atol), rtol * float(size)), 0
    while True:  # SciPy's stops in the middle of a cycle
        found = M.matvec(x)
        residual = b - A.matvec(found)
        left = cupy.linalg.norm(residual)
        if callback is not None and callback_type == "x":
            callback(found)
        elif callback is not None and done:
            callback(left / size)
        if left <= enough or done >= most:
            return found, 0 if left <= enough else done
        x += _cycle(A, M, residual, left, restart)
        done += restart


def _cycle(A, M, residual, norm, steps: int):
    """What a cycle of Arnoldi's iteration adds to the solution."""
    base = cupy.empty((residual.size, steps), residual.dtype, order="F")
    inner = np.zeros((steps + 1, steps), residual.dtype)
    v = residual / norm
    for j in range(steps):
        base[:, j] = v
        u = A.matvec(M.matvec(v))
        along = base[:, : j + 1].conj().T @ u
        u -= base[:, : j + 1] @ along
        size = cupy.linalg.norm(u)
        inner[: j + 1, j], inner[j + 1, j] = along.get(), size.item()
        v = u / size
    start = np.zeros(steps + 1, residual.dtype)
    start[0] = norm.item()
    return base @ cupy.array(np.linalg.lstsq(inner, start)[0])


@np.errstate(all="ignore")
def minres(
    A, b, x0=None, shift=0.0, tol=1e-5, maxiter=None, M=None, callback=None, check=False
):  # fmt: skip
    """Solve ``(A - shift I) x = b`` for a symmetric ``A``: ``(x, info)``, ``x`` in float64 where it
    would be float32. ValueError where ``check`` finds ``A`` or ``M`` not symmetric.
    """
    plain = M is None
    A, M, x, b = _system(A, b, x0, M)
    if not b.size:
        raise ZeroDivisionError("CuPy multiplies no vectors of length 0")
    if x.dtype.kind == "c":
        raise not_covered("minres of complex numbers, of which CuPy makes no conjugates,")
    if x.any() and not b.any():
        raise not_covered("minres with an x0 where b is 0")
    found, told = x.copy(), []

    def tell(now):
        found[...] = place(now)  # always in the same array, as CuPy
        told.append(callback and callback(found))

    made, info = _library.minres(
        for_scipy(A),
        b._host(),
        x._host(),
        M=None if plain else for_scipy(M),
        shift=shift,
        rtol=tol,
        maxiter=5 * b.size if maxiter is None else maxiter,
        callback=tell,
        check=check,
    )
    if not told and (maxiter is None or maxiter > 0):  # it was the solution
        return x, 0
    found[...] = place(made)
    return found.astype(np.float64, copy=False), info


@np.errstate(all="ignore")
def lsmr(A, b, x0=None, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, maxiter=None):
    """The least squares ``min ||b - A x||``: SciPy's ``(x, istop, itn, normr, normar, norma, conda,
    normx)``, with ``x`` in float64 on the device. ``maxiter`` is 5 min(A.shape) by default.
    """
    A = aslinearoperator(A)
    m, n = A.shape
    if not isinstance(b, cupy.ndarray):
        raise unsupported(b)
    if b.dtype.char not in "fdFD":
        raise TypeError(f"a dtype that cuBLAS has no norm of: {b.dtype}")
    if b.squeeze().ndim != 1 or b.size != m:
        raise ValueError(f"b must be a vector of {m} numbers, and more than one")
    if not b.squeeze().flags.c_contiguous:
        raise ValueError("b has gaps, and cuBLAS would read what lies in them: copy() it first")
    dtype = np.result_type(A.dtype, b.dtype, float)
    if x0 is not None:
        kinds = [_vector(x0, n, "x0").dtype.kind, A.dtype.kind, b.dtype.kind]
        if "c" in kinds and kinds[1:] != ["c", "c"]:
            raise TypeError("CuPy adds complex numbers to real ones, in place")
        dtype, x0 = A.dtype, x0.astype(A.dtype).ravel()._host()
        if x0.any() and not b.any():
            raise not_covered("lsmr with an x0 where b is 0")
    x, stop, steps, *norms, size = _library.lsmr(
        for_scipy(A),
        b._host().squeeze(),
        damp=damp,
        atol=atol,
        btol=btol,
        conlim=conlim,
        maxiter=5 * min(m, n) if maxiter is None else maxiter,
        x0=x0,
    )
    if not steps and not norms[1]:  # there was nothing to do
        return place(x.astype(dtype)), 0, 0, float(norms[0]), 0.0, 0, 1, 0
    return place(x).astype(np.float64), stop, steps, *map(np.float64, norms), float(size)
