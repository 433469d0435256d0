"""Linear operators on device arrays, and how SciPy's solvers call them."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable

import cupy
import numpy as np
import scipy.sparse.linalg
from cupy._core._ndarray import place
from cupy._core._run import unwrap

from cupyx.scipy.sparse import _base

# What an operator can be asked for, and what its adjoint is asked for instead.
_ADJOINT = {
    "matvec": "rmatvec",
    "rmatvec": "matvec",
    "matmat": "rmatmat",
    "rmatmat": "matmat",
}


class LinearOperator:
    """A matrix that is known by its products only.

    ``LinearOperator(shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None)`` makes
    one of functions of device arrays: ``matvec(v)`` is ``A @ v`` for ``v`` of shape ``(N,)`` or
    ``(N, 1)``, ``matmat(V)`` is ``A @ V`` for shape ``(N, K)``; ``rmatvec`` and ``rmatmat`` are
    those of the adjoint. A subclass has ``_matvec`` or ``_matmat`` instead, and ``_rmatvec``,
    ``_rmatmat`` or ``_adjoint``. Without a ``dtype`` it is that of ``matvec`` of float64.

    ValueError where shapes do not fit, NotImplementedError where the adjoint is not known.
    """

    ndim = 2

    def __new__(cls, *args, **kwargs):
        if cls is LinearOperator:
            return super().__new__(_CustomLinearOperator)
        if cls._matvec is LinearOperator._matvec and cls._matmat is LinearOperator._matmat:
            warnings.warn(
                "LinearOperator subclass should implement at least one of _matvec and _matmat.",
                RuntimeWarning,
                stacklevel=2,
            )
        return super().__new__(cls)

    def __init__(self, dtype, shape):
        shape = tuple(shape)
        if len(shape) != 2 or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.shape = shape

    # What a subclass may give; the default of each is made of the others.

    def _matvec(self, x):
        return self.matmat(x.reshape(-1, 1))

    def _matmat(self, X):
        return cupy.hstack([self.matvec(column.reshape(-1, 1)) for column in X.T])

    def _rmatvec(self, x):
        if type(self)._adjoint is LinearOperator._adjoint:  # which would ask here again
            raise NotImplementedError("rmatvec is not defined")
        return self.H.matvec(x)

    def _rmatmat(self, X):
        if type(self)._adjoint is LinearOperator._adjoint:
            return cupy.hstack([self.rmatvec(column.reshape(-1, 1)) for column in X.T])
        return self.H.matmat(X)

    def _adjoint(self):
        return _made((self.shape[1], self.shape[0]), self.dtype, self._adjoint_product)

    def _transpose(self):
        def product(kind):
            apply = self._adjoint_product(kind)
            return lambda x: cupy.conj(apply(cupy.conj(x)))

        return _made((self.shape[1], self.shape[0]), self.dtype, product)

    def _adjoint_product(self, kind: str) -> Callable:
        return getattr(self, _ADJOINT[kind])

    # What its users call

    def _vector(self, product: Callable, x, sizes: tuple[int, int]):
        rows, columns = sizes
        if x.shape not in ((columns,), (columns, 1)):
            raise ValueError("dimension mismatch")
        return product(x).reshape((rows,) if x.ndim == 1 else (rows, 1))

    def matvec(self, x):
        """``A @ x`` for ``x`` of shape ``(N,)`` or ``(N, 1)``."""
        return self._vector(self._matvec, x, self.shape)

    def rmatvec(self, x):
        """The adjoint's ``matvec``, for ``x`` of shape ``(M,)`` or ``(M, 1)``."""
        return self._vector(self._rmatvec, x, self.shape[::-1])

    def _block(self, product: Callable, X, size: int):
        if X.ndim != 2:
            raise ValueError(f"expected 2-d ndarray or matrix, not {X.ndim}-d")
        if X.shape[0] != size:
            raise ValueError(f"dimension mismatch: {self.shape!r}, {X.shape!r}")
        return product(X)

    def matmat(self, X):
        """``A @ X`` for ``X`` of shape ``(N, K)``."""
        return self._block(self._matmat, X, self.shape[1])

    def rmatmat(self, X):
        """The adjoint's ``matmat``, for ``X`` of shape ``(M, K)``."""
        return self._block(self._rmatmat, X, self.shape[0])

    def dot(self, x):
        """The product with an operator, a scalar, a vector or a matrix."""
        if isinstance(x, LinearOperator):
            return _product(self, x)
        if np.isscalar(x):
            return _scaled(self, x)
        if x.ndim not in (1, 2):
            raise ValueError(f"expected 1-d or 2-d array, got {x!r}")
        return self.matvec(x) if x.ndim == 1 or x.shape[1] == 1 else self.matmat(x)

    def __call__(self, x):
        return self.dot(x)

    def __mul__(self, x):
        return self.dot(x)

    def __rmul__(self, x):
        return _scaled(self, x) if np.isscalar(x) else NotImplemented

    def __matmul__(self, other):
        if np.isscalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(other)

    def __rmatmul__(self, other):
        if np.isscalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return NotImplemented

    def __pow__(self, p):
        return _power(self, p) if np.isscalar(p) else NotImplemented

    def __add__(self, x):
        return _sum(self, x) if isinstance(x, LinearOperator) else NotImplemented

    def __neg__(self):
        return _scaled(self, -1)

    def __sub__(self, x):
        return self + -x

    def __repr__(self) -> str:
        dtype = "unspecified dtype" if self.dtype is None else f"dtype={self.dtype}"
        return "<{}x{} {} with {}>".format(*self.shape, type(self).__name__, dtype)

    def adjoint(self):
        """The operator of the conjugate of the transpose."""
        return self._adjoint()

    def transpose(self):
        """The operator of the transpose."""
        return self._transpose()

    H = property(lambda self: self.adjoint())
    T = property(lambda self: self.transpose())


class _CustomLinearOperator(LinearOperator):
    """An operator made of functions."""

    def __init__(self, shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        super().__init__(dtype, shape)
        self._functions = (matvec, rmatvec, matmat, rmatmat)
        if dtype is None:
            self.dtype = self.matvec(cupy.zeros(self.shape[1])).dtype

    def _matvec(self, x):
        return self._functions[0](x)

    def _rmatvec(self, x):
        return (self._functions[1] or super()._rmatvec)(x)

    def _matmat(self, X):
        return (self._functions[2] or super()._matmat)(X)

    def _rmatmat(self, X):
        return (self._functions[3] or super()._rmatmat)(X)


class MatrixLinearOperator(LinearOperator):
    """The operator of a matrix of the device's, dense or sparse."""

    def __init__(self, A):
        super().__init__(A.dtype, A.shape)
        self.A = A

    def _matmat(self, X):
        return self.A.dot(X)

    def _adjoint(self):
        return MatrixLinearOperator(self.A.T.conj())


def _made(shape, dtype, product: Callable[[str], Callable], adjoint=None) -> LinearOperator:
    """An operator whose ``matvec`` is ``product("matvec")``, and so on, and whose ``H`` is what
    ``adjoint`` gives."""
    made = _CustomLinearOperator(shape, dtype=dtype, **{kind: product(kind) for kind in _ADJOINT})
    if adjoint is not None:
        made._adjoint = adjoint
    return made


def _sum(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    if a.shape != b.shape:
        raise ValueError(f"cannot add {a!r} and {b!r}: shape mismatch")

    def product(kind):
        return lambda x: getattr(a, kind)(x) + getattr(b, kind)(x)

    return _made(a.shape, np.result_type(a.dtype, b.dtype), product, lambda: a.H + b.H)


def _product(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"cannot multiply {a!r} and {b!r}: shape mismatch")

    def product(kind):
        outer, inner = (b, a) if kind[0] == "r" else (a, b)
        return lambda x: getattr(outer, kind)(getattr(inner, kind)(x))

    dtype = np.result_type(a.dtype, b.dtype)
    return _made((a.shape[0], b.shape[1]), dtype, product, lambda: b.H @ a.H)


def _scaled(a: LinearOperator, alpha) -> LinearOperator:
    def product(kind):
        if kind[0] != "r":
            return lambda x: alpha * getattr(a, kind)(x)
        return lambda x: cupy.conj(alpha) * getattr(a, kind)(x)  # an array, of its own type

    def adjoint():  # CuPy has the conjugate of `alpha` as an array, and an operator takes none
        raise ValueError("expected 1-d or 2-d array: CuPy has no H of an operator times a number")

    return _made(a.shape, np.result_type(type(alpha), a.dtype), product, adjoint)


def _power(a: LinearOperator, p) -> LinearOperator:
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"square LinearOperator expected, got {a!r}")
    if int(p) != p or p < 0:
        raise ValueError("non-negative integer expected as p")

    def product(kind):
        def repeat(x):
            x = x.copy()
            for _ in range(operator.index(p)):
                x = getattr(a, kind)(x)
            return x

        return repeat

    return _made(a.shape, a.dtype, product, lambda: a.H**p)


def aslinearoperator(A) -> LinearOperator:
    """``A`` as an operator: a device array, a sparse matrix or what has ``shape`` and ``matvec``.

    TypeError for anything else, such as what lies on the host.
    """
    if isinstance(A, LinearOperator):
        return A
    if isinstance(A, cupy.ndarray):
        if A.ndim > 2:
            raise ValueError("array must have ndim <= 2")
        return MatrixLinearOperator(cupy.atleast_2d(A))
    if _base.issparse(A):
        return MatrixLinearOperator(A)
    if not (hasattr(A, "shape") and hasattr(A, "matvec")):
        raise TypeError("type not understood")
    given = {name: getattr(A, name, None) for name in ("rmatvec", "rmatmat", "dtype")}
    return LinearOperator(A.shape, A.matvec, **given)


def for_scipy(A: LinearOperator):
    """What SciPy is given for ``A``: the matrix, or an operator that calls ``A`` with device arrays
    and takes no others from it."""
    if isinstance(A, MatrixLinearOperator):
        return _base.on_host(A.A)

    def product(kind):
        return lambda x: unwrap(getattr(A, kind)(place(np.asarray(x))), []).copy()

    return scipy.sparse.linalg.LinearOperator(
        A.shape, dtype=A.dtype, **{kind: product(kind) for kind in _ADJOINT}
    )
