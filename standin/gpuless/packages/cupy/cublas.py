"""``cupy.cublas`` on the CPU: the products of vectors and matrices, by NumPy, with CuPy's rules."""

from __future__ import annotations

import numpy as _np

from cupy._core import _routines as _r
from cupy._core import _ufuncs as _u
from cupy._core._creation import array as _array
from cupy._core._creation import empty as _empty
from cupy._core._functions import copyto as _copyto
from cupy._core._ndarray import ndarray as _ndarray
from gpuless import missing as _missing


def iamax(x, out=None):
    """The first place, counted from 1, of the element of the largest magnitude (of a complex
    number, of the sum of its parts' magnitudes), in ``out`` or a new int32 array without axes.
    """
    return _into(_r.argmax(_magnitudes(x)) + 1, "i", out)


def iamin(x, out=None):
    """As ``iamax``, of the smallest magnitude."""
    return _into(_r.argmin(_magnitudes(x)) + 1, "i", out)


def asum(x, out=None):
    """The sum of the magnitudes, of a complex number those of both its parts."""
    return _into(_magnitudes(x).sum(), x.dtype.char.lower(), out)


def axpy(a, x, y) -> None:
    """``y += a * x``, in place."""
    _check_vectors(x, y)
    _check_type(x)
    _copyto(y, y + _scalar(a, x.dtype) * x)


def dot(x, y, out=None):
    """The product of two real vectors."""
    if x.dtype.char in "FD":
        raise TypeError("Use dotu() or dotc() for complex dtype")
    return dotu(x, y, out)


def dotu(x, y, out=None):
    """The product of two vectors."""
    _check_type(x)
    _check_vectors(x, y)
    return _into(_r.dot(x, y), x.dtype.char, out)


def dotc(x, y, out=None):
    """The product of ``x.conj()`` and ``y``."""
    _check_type(x)
    _check_vectors(x, y)
    return _into(_r.dot(x.conj(), y), x.dtype.char, out)


def nrm2(x, out=None):
    """The Euclidean length of a vector."""
    _check_vector(x)
    _check_type(x)
    return _into(_u.sqrt(_u.square(_u.absolute(x)).sum()), x.dtype.char.lower(), out)


def scal(a, x) -> None:
    """``x *= a``, in place."""
    _check_vector(x)
    _check_type(x)
    _copyto(x, _scalar(a, x.dtype) * x)


def gemv(transa, alpha, a, x, beta, y) -> None:
    """``y = alpha * op(a) @ x + beta * y``, in place; ``transa`` as in ``gemm``."""
    _check_type(a)
    assert a.ndim == 2 and x.ndim == y.ndim == 1 and a.dtype == x.dtype == y.dtype
    _check_gaps(x, y)
    product = _op(a, transa)
    assert product.shape == (len(y), len(x))
    _check_apart(y, a, x)
    _copyto(y, _sum(alpha, _r.matmul(product, x), beta, y))


def ger(alpha, x, y, a) -> None:
    """``a += alpha * x @ y.T``, in place, of real numbers."""
    if a.dtype.char in "FD":
        raise TypeError("Use geru or gerc for complex dtypes")
    geru(alpha, x, y, a)


def geru(alpha, x, y, a) -> None:
    """``a += alpha * x @ y.T``, in place."""
    _check_type(a)
    assert a.ndim == 2 and x.ndim == y.ndim == 1 and a.dtype == x.dtype == y.dtype
    assert a.shape == (len(x), len(y))
    _check_gaps(x, y)
    _copyto(a, a + _scalar(alpha, a.dtype) * _r.outer(x, y))


def gerc(alpha, x, y, a) -> None:
    """``a += alpha * x @ y.T.conj()``, in place."""
    _check_gaps(y)
    geru(alpha, x, y.conj(), a)


def gemm(transa, transb, a, b, out=None, alpha=1.0, beta=0.0):
    """``alpha * op(a) @ op(b) + beta * out``, in ``out`` or a new array in Fortran's order.

    ``op`` is nothing for "N" (or 0), the transpose for "T" (1), its conjugate for "H" (2).
    """
    assert a.ndim == b.ndim == 2
    assert a.dtype == b.dtype
    _check_type(a)
    left, right = _op(a, transa), _op(b, transb)
    assert left.shape[1] == right.shape[0]
    out, beta = _matrix(out, (left.shape[0], right.shape[1]), a.dtype, beta)
    _check_apart(out, a, b)
    _copyto(out, _sum(alpha, _r.matmul(left, right), beta, out))
    return out


def geam(transa, transb, alpha, a, beta, b, out=None):
    """``alpha * op(a) + beta * op(b)``, in ``out`` or a new array in Fortran's order."""
    assert a.ndim == b.ndim == 2
    assert a.dtype == b.dtype
    _check_type(a)
    left, right = _op(a, transa), _op(b, transb)
    assert left.shape == right.shape
    out, _ = _matrix(out, left.shape, a.dtype, 0)
    _copyto(out, _sum(alpha, left, beta, right))
    return out


def dgmm(side, a, x, out=None, incx=1):
    """``diag(x) @ a`` for the side "L", ``a @ diag(x)`` for "R"."""
    assert a.ndim == 2
    assert 0 <= x.ndim <= 2
    assert a.dtype == x.dtype
    _check_type(a)
    if side not in ("L", 0, "R", 1):
        raise ValueError(f"invalid side (actual: {side})")
    left = side in ("L", 0)
    length = a.shape[0 if left else 1]
    diagonal = (x if x.flags.c_contiguous else x.T).reshape(-1)  # as it lies in memory
    _check_gaps(x if x.flags.c_contiguous else x.T)
    assert x.size >= (length - 1) * abs(incx) + 1
    diagonal = diagonal[:: abs(incx)][:length] if incx else _r.repeat(diagonal[:1], length)
    if incx < 0:
        diagonal = diagonal[::-1]
    if out is None:
        out = _empty(a.shape, a.dtype, order="C" if a.flags.c_contiguous else "F")
    out, _ = _matrix(out, a.shape, a.dtype, 0)
    _copyto(out, diagonal[:, None] * a if left else a * diagonal)
    return out


def _check_vector(x, name: str = "x") -> None:
    if x.ndim != 1:
        raise ValueError(f"{name} must be a 1D array (actual: {x.ndim})")
    _check_gaps(x)


def _check_gaps(*arrays) -> None:
    for array in arrays:
        if not array.flags.c_contiguous:
            raise NotImplementedError(
                "the CPU stand-in does not cover a vector with gaps (CuPy reads its memory as that "
                "of one without); give cupy.cublas what cupy.ascontiguousarray makes of it"
            )


def _check_vectors(x, y) -> None:
    _check_vector(x)
    _check_vector(y, "y")
    if x.size != y.size:
        raise ValueError(f"x and y must be the same size (actual: {x.size} and {y.size})")
    if x.dtype != y.dtype:
        raise TypeError(f"x and y must be the same dtype (actual: {x.dtype} and {y.dtype})")


def _check_apart(out, *operands) -> None:
    if any(_r.may_share_memory(out, operand) for operand in operands):
        raise NotImplementedError(
            "the CPU stand-in does not cover a product in the memory of one of its operands (where "
            "cuBLAS may read what it has already written)"
        )


def _check_type(x) -> None:
    if x.dtype.char not in "fdFD":
        raise TypeError("invalid dtype")


def _magnitudes(x):
    _check_vector(x)
    _check_type(x)
    return _u.absolute(x.real) + _u.absolute(x.imag) if x.dtype.kind == "c" else _u.absolute(x)


def _scalar(a, dtype: _np.dtype):
    """A number or an array of one element, in the type of the others."""
    if isinstance(a, _ndarray):
        return a.astype(dtype).reshape(-1)[0]
    return _array(_np.array(a, dtype).reshape(-1)[0])


def _sum(alpha, x, beta, y):
    """``alpha * x + beta * y``; without ``y`` where beta is 0, so that garbage in it is lost."""
    first = _scalar(alpha, x.dtype) * x
    factor = _scalar(beta, x.dtype)
    return first + factor * y if bool(factor != 0) else first


def _op(a, trans):
    if trans in ("N", 0):
        return a
    if trans in ("T", 1):
        return a.T
    if trans in ("H", 2):
        return a.T.conj()
    raise TypeError(f"invalid trans (actual: {trans})")


def _matrix(out, shape: tuple, dtype: _np.dtype, beta):
    if out is None:
        return _empty(shape, dtype, order="F"), 0
    assert out.ndim == 2
    assert out.shape == shape
    assert out.dtype == dtype
    return out, beta


def _into(result, dtype: str, out):
    """The result in ``out``, an array of the device's or of NumPy's; a new array without one."""
    result = result.astype(dtype)
    if out is None:
        return result
    if isinstance(out, _ndarray):
        same = out.dtype == result.dtype  # where cuBLAS writes itself, one number
        _copyto(out.reshape(-1)[:1] if same else out, result, "unsafe")
    elif isinstance(out, _np.ndarray):
        out[...] = result.get()
    else:
        raise TypeError(f"out must be either cupy or numpy ndarray (actual: {type(out)})")
    return out


def __getattr__(name: str):
    raise _missing(__name__, name)
