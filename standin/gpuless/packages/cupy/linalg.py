"""Linear algebra: NumPy's routines on device arrays.

Where there is no answer (a singular matrix, one that is not positive definite), CuPy does not wait
to find out: the result is garbage, here NaN. ``cupyx.errstate(linalg="raise")`` makes it raise.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

import numpy as np
from numpy.linalg import LinAlgError

from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._reductions import MANY, normalized, one_by_one
from cupy._core._refused import checked
from cupy._core._routines import matmul, matrix_transpose  # noqa: F401
from cupy._core._row import row
from gpuless import missing


class _Errors(threading.local):
    linalg = "ignore"  # or "raise", for each thread; cupyx.errstate sets it


errors = _Errors()


def _solver(function: Callable, square: bool = True, arrays: int = 1, order: str = "K") -> Callable:
    """A routine of cuSOLVER's on ``arrays`` device arrays; the first has (stacks of) matrices."""
    routine = row(function, library=_library, order=order)

    def call(*args, **kwargs):
        for value in args[:arrays]:
            if not isinstance(value, ndarray):
                raise LinAlgError("cupy.linalg only supports cupy.ndarray")
        matrix = args[0]
        if square and matrix.ndim < 2:
            raise LinAlgError(
                f"{matrix.ndim}-dimensional array given. Array must be at least two-dimensional"
            )
        if square and matrix.shape[-1] != matrix.shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")
        found = routine(*args, **kwargs)
        return tuple(found) if isinstance(found, tuple) else found  # whose parts have no names

    return named(call, function.__name__)


def _library(a, *args, **kwargs) -> str:
    return "cuBLAS" if a.ndim > 2 else "cuSOLVER"  # stacks go to its batched routines


def _or_nan(function: Callable) -> Callable:
    """``function``, with NaN in place of what a bad matrix of a stack would give."""

    def attempt(*arrays):
        try:
            return function(*arrays)
        except LinAlgError:
            if errors.linalg == "raise" or arrays[0].shape[-1] != arrays[0].shape[-2]:
                raise
        a, *others = arrays
        if a.ndim == 2:
            like = others[0] if others else a
            dtype = np.linalg.inv(np.eye(1, dtype=np.result_type(*arrays))).dtype
            return np.full(like.shape, np.nan, dtype)
        if others and others[0].ndim == 1:
            others = [np.broadcast_to(others[0], a.shape[:-1])]
        return np.stack([attempt(*matrices) for matrices in zip(a, *others, strict=True)])

    return named(attempt, function.__name__)


def _turned(function: Callable, which: Callable = lambda a: True) -> Callable:
    """``function``, whose matrix is in Fortran's order where cuSOLVER's routine leaves it so: that
    of a single matrix for which ``which`` is true."""

    @functools.wraps(function)
    def compute(a, *args, **kwargs):
        found = function(a, *args, **kwargs)
        return np.asfortranarray(found) if a.ndim == 2 and which(a) else found

    return compute


def _in_room(found, rows: int, columns: int):
    """``found`` as it lies in the corner of such a matrix that is stored by columns."""
    room = np.empty((*found.shape[:-2], columns, rows), found.dtype).swapaxes(-1, -2)
    part = room[..., : found.shape[-2], : found.shape[-1]]
    part[...] = found
    return part


def _qr(a, mode="reduced"):
    if mode in ("f", "full", "e", "economic"):
        raise ValueError(f"The deprecated mode '{mode}' is not supported")
    found = np.linalg.qr(np.ascontiguousarray(a), mode)  # whose stack NumPy's follows
    if not a.size:
        return found
    rows, columns = a.shape[-2:]
    if mode == "r":
        return _in_room(found, rows, columns)
    q, r = found
    if mode == "raw":
        return np.ascontiguousarray(q), r
    return _in_room(q, rows, max(columns, q.shape[-1])), _in_room(r, rows, columns)


def _ending(a) -> None:
    """LAPACK may look for the singular vectors of infinities for ever."""
    if np.isinf(a).any():
        raise LinAlgError("SVD did not converge: the matrix holds infinities")


def _svd(a, full_matrices=True, compute_uv=True):
    if compute_uv:
        _ending(a)
    found = np.linalg.svd(np.ascontiguousarray(a), full_matrices, compute_uv)
    if not compute_uv:
        return np.ascontiguousarray(found)
    if not a.size:
        return found
    u, s, v = found
    s = np.ascontiguousarray(s)
    rows, columns = a.shape[-2:]
    if a.ndim == 2 and rows > columns:
        return np.asfortranarray(u), s, _in_room(v, rows if full_matrices else columns, columns)
    if a.ndim == 2 and full_matrices:
        u = _in_room(u.T, columns, rows).T
    elif a.ndim > 2 and max(rows, columns) <= 32:
        u = _in_room(u, rows, rows)
        if v.dtype.kind != "c":  # else it is conjugated, and so new
            v = _in_room(v.swapaxes(-1, -2), columns, columns).swapaxes(-1, -2)
    return u, s, v


def _solve(a, b):
    if b.ndim == 0:
        raise ValueError("b must have at least one dimension")
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            "a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b"
        )
    return np.linalg.solve(a, b)


def _solved(a, b):
    found = _or_nan(_solve)(a, b)
    if a.ndim == 2 or b.ndim != a.ndim or a.shape[-1] > 256:
        return found
    return np.ascontiguousarray(found.swapaxes(-1, -2)).swapaxes(-1, -2)  # from cuBLAS


def _lstsq(a, b, rcond=None):
    if a.ndim != 2 or b.ndim > 2:
        raise LinAlgError("a matrix, and one right side or a matrix of them")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    _ending(a)
    u, values, v = np.linalg.svd(a, full_matrices=False)  # in the type of ``a``, whatever b's is
    eps = np.finfo(values.dtype).eps
    if rcond is None:
        rcond = eps * max(a.shape)
    elif rcond <= 0 or rcond >= 1:
        rcond = eps
    small = values <= rcond * values.max(initial=0)
    inverse = np.where(small, 0, 1 / values)
    rank = values.size - np.count_nonzero(small)
    x = v.conj().T @ ((b.T @ u.conj()) * inverse).T
    if a.shape[0] <= a.shape[1] or rank != a.shape[1]:
        residuals = np.empty(0, values.dtype)
    else:
        residuals = np.atleast_1d((np.abs(b - a @ x) ** 2).sum(axis=0))
    return x, residuals, np.int32(rank), values


def _eig(a):
    """Complex numbers, also where all are real, but of no matrix at all."""
    values, vectors = np.linalg.eig(a)
    if not a.size:
        return values, vectors
    dtype = np.result_type(values, np.complex64)
    return values.astype(dtype), vectors.astype(dtype)


@functools.wraps(np.linalg.eigh)
def _eigh(a, UPLO="L"):
    values, vectors = np.linalg.eigh(a, UPLO)
    return np.ascontiguousarray(values), _in_room(vectors, *vectors.shape[-2:])


def _eigvals(a):
    values = np.linalg.eigvals(a)
    return values.astype(np.result_type(values, np.complex64)) if a.size else values


def _half_too(function: Callable) -> Callable:
    """``function``, which computes with float32 where it is given float16, as CuPy does."""

    def compute(a, UPLO="L"):
        if UPLO not in ("L", "U"):
            raise ValueError("UPLO argument must be 'L' or 'U'")
        if a.dtype != np.float16 or not a.size:  # of none it is refused
            return function(a, UPLO)
        found = function(a.astype(np.float32), UPLO)
        if isinstance(found, tuple):
            return tuple(part.astype(np.float16) for part in found)
        return found.astype(np.float16)

    return named(compute, function.__name__)


_inv = _turned(_or_nan(np.linalg.inv), lambda a: a.flags.fnc)


def _inverse_of_tensor(a, ind=2):
    if ind <= 0:
        raise ValueError("Invalid ind argument")
    shape = a.shape[ind:] + a.shape[:ind]
    return _inv(a.reshape(np.prod(a.shape[ind:], dtype=int), -1)).reshape(shape)


def _rank(M, tol=None):
    if M.ndim > 1 and not M.size:
        raise ValueError("zero-size array to reduction operation max which has no identity")
    return np.asarray(np.linalg.matrix_rank(M, tol))


def _powers(M, n) -> str | None:
    return None if n in (0, 1) else "cuSOLVER" if n == -1 else "cuBLAS"


def _norms(x, ord=None, *args, **kwargs) -> str | None:
    return "cuSOLVER" if ord in (2, -2, "nuc") and x.ndim > 1 else None


@functools.wraps(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False):
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    if isinstance(ord, np.ndarray) and axis is None and x.ndim == 2:
        raise TypeError("the order of a matrix's norm is a number of the host's")
    axes = () if x.size else normalized(axis, x.ndim)
    if len(axes) == 2 and ord == 2 and all(np.delete(x.shape, axes)):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if not x.size and ord in (1, -1, np.inf, -np.inf):
        if len(axes) == 2:  # the largest sum of none
            summed, other = axes if abs(ord) == 1 else axes[::-1]
            np.abs(x).sum(summed).max(other - (other > summed))
        elif abs(ord) != 1:
            np.abs(x).max(axes)
    of_all = ord is None or (x.ndim, ord) in ((1, 2), (2, "f"), (2, "fro"))
    if x.dtype.char == "e" and axis is None and of_all:  # the squares are halves, too
        made = np.sqrt(np.sum(x * x, dtype="f").astype("e"))
        return made.reshape((1,) * x.ndim) if keepdims else made
    half = x.dtype.char == "e" and axis is not None
    half = half and (ord in (None, 1, "fro", "f") or ord == 2 and isinstance(axis, int))
    long = of_all and axis is None and x.size > MANY  # for the CPU's library, in few long rows
    if not half and not (x.dtype.char in "fF" and (long or one_by_one(x, axis))):
        return np.linalg.norm(x, ord, axis, keepdims)
    wide = x.astype("f" if half else np.result_type(x, "d"))  # as exact as a GPU's sums of parts
    made = np.asarray(np.linalg.norm(wide, ord, axis, keepdims))
    if half and ord != 1:  # a root of the sum in half precision
        made = np.sqrt(np.square(made).astype("e"))
    return made.astype("e" if half else "f")


cholesky = _solver(_or_nan(np.linalg.cholesky), order="C")


def _cond(x, p=None):
    if not x.size:
        raise LinAlgError("cond is not defined on empty arrays")
    found = np.asarray(np.linalg.cond(x, p))
    by_inverse = p is not None and p not in (2, -2)
    return found.astype(x.dtype) if by_inverse and x.dtype.kind == "c" else found


cond = row(_cond, "a", name="cond", library="cuSOLVER", order="C")


def _cross(x1, x2, /, *, axis=-1):
    if x1.shape != x2.shape:
        raise ValueError("x1 and x2 must have the same shape")
    return np.linalg.cross(x1, x2, axis=axis)


cross = row(_cross, "dd", name="cross", order="S")
det = _solver(np.linalg.det, order="C")
eig = named(_solver(_eig), "eig")
eigh = _solver(_half_too(_eigh), order="G")
eigvals = named(_solver(_eigvals), "eigvals")
eigvalsh = _solver(_half_too(np.linalg.eigvalsh))
inv = _solver(_inv)
lstsq = named(_solver(_lstsq, square=False, arrays=2), "lstsq")


@functools.wraps(np.linalg.matrix_power)
def _matrix_power(a, n):
    made = np.linalg.matrix_power(a, n)
    return made if n in (0, 1) else np.ascontiguousarray(made)


_power = row(_matrix_power, library=_powers, order="S")


def matrix_power(M, n):
    """``M`` to the power of the integer ``n``: of -1 the inverse, as it lies in memory."""
    return inv(M) if isinstance(n, int) and n == -1 else _power(M, n)


matrix_rank = row(_rank, name="matrix_rank", library="cuSOLVER", order="C")
norm = row(_norm, library=_norms, order="C")


@functools.wraps(np.linalg.pinv)
def _pinv(a, *args, **kwargs):
    _ending(a)
    if a.dtype == np.float16:
        raise TypeError("float16 is unsupported in linalg")
    return np.linalg.pinv(a, *args, **kwargs)


@functools.wraps(np.linalg.tensorsolve)
def _tensorsolve(a, b, axes=None):
    if not a.size:
        raise ValueError("cannot reshape an array of size 0")
    return np.linalg.tensorsolve(a, b, axes)


pinv = _solver(_pinv, square=False)
qr = named(_solver(_qr, square=False, order="G"), "qr")
slogdet = _solver(np.linalg.slogdet, order="C")
solve = named(_solver(_turned(named(_solved, "solve")), arrays=2, order="S"), "solve")
svd = named(_solver(_svd, square=False, order="G"), "svd")
tensorinv = named(_solver(_inverse_of_tensor, square=False), "tensorinv")
tensorsolve = _solver(_tensorsolve, square=False, arrays=2)

globals().update(checked("linalg", globals(), np.linalg))

__all__ = """LinAlgError cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul
matrix_power matrix_rank matrix_transpose norm pinv qr slogdet solve svd tensorinv
tensorsolve""".split()


def __getattr__(name: str):
    raise missing("cupy.linalg", name)
