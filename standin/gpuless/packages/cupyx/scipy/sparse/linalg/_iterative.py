"""Iterative solvers: SciPy's or CuPy's steps, with CuPy's signatures, checks and defaults.

All of them take a device array, a sparse matrix or a ``LinearOperator`` for ``A`` and ``M``, and
device arrays of shape ``(n,)`` or ``(n, 1)`` for ``b`` and ``x0``; what a ``callback`` gets lies on
the device, too.
"""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np
from cupy._core._dispatch import named, unsupported
from cupy._core._ndarray import place
from scipy.sparse import linalg as _library

from cupyx.scipy.sparse.linalg._operators import aslinearoperator, for_scipy


def _vector(value, n: int, name: str) -> cupy.ndarray:
    if not isinstance(value, cupy.ndarray):
        raise unsupported(value)
    if value.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name} has incompatible dimensions")
    return value


def _system(A, b, x0, M) -> dict:
    """SciPy's arguments for a square system, in the dtype of ``A``."""
    A = aslinearoperator(A)
    n = A.shape[0]
    if A.shape != (n, n):
        raise ValueError(f"expected square matrix (shape: {A.shape})")
    if A.dtype.char not in "fdFD":
        raise TypeError(f"unsupported dtype (actual: {A.dtype})")
    given = {"b": _vector(b, n, "b")}
    if x0 is not None:
        given["x0"] = _vector(x0, n, "x0")
    given = {name: value.astype(A.dtype).ravel()._host() for name, value in given.items()}
    if M is not None:
        M = aslinearoperator(M)
        if M.shape != A.shape:
            raise ValueError("matrix and preconditioner have different shapes")
        given["M"] = for_scipy(M)
    return {"A": for_scipy(A), **given}


def _on_device(callback: Callable | None) -> Callable | None:
    return None if callback is None else lambda x: callback(place(x))


def _krylov(steps: Callable, iterations: int) -> Callable:
    """The solver of these steps; ``iterations`` times ``n`` is its default of ``maxiter``.

    The steps are CuPy's, not SciPy's: when they look at the residual decides about ``info``.
    """

    @np.errstate(all="ignore")
    def solve(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
        system = _system(A, b, x0, M)
        b, norm = system["b"], np.linalg.norm(system["b"])
        if len(b) == 0 or norm == 0:
            return place(b), 0
        x, info = steps(
            _library.aslinearoperator(system["A"]).matvec,
            (lambda v: v.copy()) if M is None else _library.aslinearoperator(system["M"]).matvec,
            b,
            system.get("x0", np.zeros_like(b)),
            max(float(atol), rtol * float(norm)),
            iterations * len(b) if maxiter is None else maxiter,
            _on_device(callback) or (lambda x: None),
        )
        return place(x), info

    return named(solve, steps.__name__.strip("_"), "``(x, info)`` with ``x`` on the device")


def _cg(A, M, b, x, atol, maxiter, callback):
    r, rho, p, done = b - A(x), 0, None, 0
    while done < maxiter:
        z = M(r)
        before, rho = rho, np.vdot(r, z)
        p = z + rho / before * p if done else z
        q = A(p)
        alpha = rho / np.vdot(p, q)
        x = x + alpha * p
        r = r - alpha * q
        done += 1
        callback(x)
        residual = np.linalg.norm(r)
        if residual <= atol:
            break
    return x, done if done == maxiter and not residual <= atol else 0


def _cgs(A, M, b, x, atol, maxiter, callback):
    first = u = b - A(x)
    r, p, rho, done = first.copy(), first.copy(), np.dot(first, first), 0
    while True:
        v = A(M(p))
        alpha = rho / np.dot(first, v)
        q = u - alpha * v
        z = M(u + q)
        x += alpha * z
        r -= alpha * A(z)
        residual = np.linalg.norm(r)
        done += 1
        callback(x)
        if residual <= atol or done >= maxiter:
            return x, done if done == maxiter and not residual < atol else 0
        before, rho = rho, np.dot(first, r)
        beta = rho / before
        u = r + beta * q
        p = (p * beta + q) * beta + u


def _bicgstab(A, M, b, x, atol, maxiter, callback):
    dot = np.vdot if x.dtype.kind == "c" else np.dot
    least = np.finfo(x.dtype).eps ** 2
    r, done = b - A(x), 0
    first, before = r.copy(), None
    p = v = alpha = omega = None
    while True:
        residual = np.linalg.norm(r)
        if residual <= atol or done >= maxiter:
            return x, done if done >= maxiter and not residual <= atol else 0
        rho = dot(first, r)
        if abs(rho) < least:
            return x, -10
        if done:
            if abs(omega) < least:
                return x, -11
            p = (p - omega * v) * (rho / before * (alpha / omega)) + r
        else:
            p = r.copy()
        at = M(p)
        v = A(at)
        along = dot(first, v)
        if along == 0:
            return x, -11
        alpha = rho / along
        r -= alpha * v
        if np.linalg.norm(r) <= atol:
            x += alpha * at
            return x, 0
        z = M(r)
        t = A(z)
        omega = dot(t, r) / dot(t, t)
        x += alpha * at
        x += omega * z
        r -= omega * t
        before = rho
        done += 1
        callback(x)


cg = _krylov(_cg, 10)
cgs = _krylov(_cgs, 5)
bicgstab = _krylov(_bicgstab, 10)


@np.errstate(all="ignore")
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
    system = _system(A, b, x0, M)
    n = len(system["b"])
    restart = min(20 if restart is None else restart, n)
    most = 10 * n if maxiter is None else maxiter
    matrix, right, precondition = system["A"], system["b"], system.get("M")
    x = np.array(system.get("x0", np.zeros_like(right)))
    size = np.linalg.norm(right)
    if not n or not size:
        return place(right.copy()), 0
    enough, done = max(float(atol), rtol * float(size)), 0
    while True:  # SciPy's stops in the middle of a cycle
        found = x if precondition is None else precondition @ x
        residual = right - matrix @ found
        left = np.linalg.norm(residual)
        if callback is not None and callback_type == "x":
            callback(place(found))
        elif callback is not None and done:
            callback(place(np.asarray(left / size)))
        if left <= enough or done >= most:
            return place(found), 0 if left <= enough else done
        x = x + _cycle(matrix, precondition, residual, left, restart)
        done += restart


def _cycle(matrix, precondition, residual, norm, steps: int):
    """What a cycle of Arnoldi's iteration adds to the solution."""
    base = np.empty((len(residual), steps), residual.dtype)
    inner = np.zeros((steps + 1, steps), residual.dtype)
    v = residual / norm
    for j in range(steps):
        base[:, j] = v
        u = matrix @ (v if precondition is None else precondition @ v)
        inner[: j + 1, j] = base[:, : j + 1].conj().T @ u
        u = u - base[:, : j + 1] @ inner[: j + 1, j]
        inner[j + 1, j] = np.linalg.norm(u)
        v = u / inner[j + 1, j]
    start = np.zeros(steps + 1, residual.dtype)
    start[0] = norm
    return base @ np.linalg.lstsq(inner, start)[0]


@np.errstate(all="ignore")
def minres(
    A, b, x0=None, shift=0.0, tol=1e-5, maxiter=None, M=None, callback=None, check=False
):  # fmt: skip
    """Solve ``(A - shift I) x = b`` for a symmetric ``A``: ``(x, info)``, ``x`` in float64 where it
    would be float32. ValueError where ``check`` finds ``A`` or ``M`` not symmetric.
    """
    system = _system(A, b, x0, M)
    x, info = _library.minres(
        **system,
        shift=shift,
        rtol=tol,
        maxiter=5 * len(system["b"]) if maxiter is None else maxiter,
        callback=_on_device(callback),
        check=check,
    )
    return place(x.astype(np.float64) if x.dtype == np.float32 else x), info


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
    if not b.squeeze().flags.c_contiguous:
        raise ValueError("b has gaps, and cuBLAS would read what lies in them: copy() it first")
    if x0 is not None:
        x0 = _vector(x0, n, "x0").astype(A.dtype).ravel()._host()
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
    return place(x).astype(np.float64), stop, steps, *map(np.float64, norms), float(size)
