"""Polynomials by their coefficients, the highest power first: NumPy's older routines, ``poly1d``.

They are imported when they are first asked for.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable

import numpy as np
from numpy.polynomial import polyutils
from numpy.polynomial.polynomial import polycompanion

from cupy._core import _convolutions
from cupy._core._creation import array, asarray
from cupy._core._dispatch import named, unsupported
from cupy._core._loops import power
from cupy._core._ndarray import ndarray
from cupy._core._routines import atleast_1d, pad, trim_zeros
from cupy._core._row import row

_GENERAL = "Only complex Hermitian and real symmetric 2d arrays are supported currently"


def _is_hermitian(matrix: np.ndarray) -> bool:
    return np.array_equal(matrix, matrix.conj().T)


def _poly(seq_of_zeros):
    square = seq_of_zeros.ndim == 2 and len(set(seq_of_zeros.shape)) == 1 and seq_of_zeros.size
    if square and not _is_hermitian(seq_of_zeros):
        raise NotImplementedError(_GENERAL)
    if not square and seq_of_zeros.ndim != 1:
        raise ValueError("Input must be 1d or non-empty square 2d array.")
    if square:
        zeros = np.linalg.eigvalsh(seq_of_zeros)
    else:
        zeros = seq_of_zeros.astype(np.mintypecode(seq_of_zeros.dtype.char))
    return _convolutions.from_roots(zeros) if zeros.size else 1.0


def _roots(p):
    if p.dtype.kind == "b":
        raise NotImplementedError("boolean inputs are not supported")
    if p.ndim == 0:
        raise TypeError("0-dimensional input is not allowed")
    if p.size < 2:
        return np.array([])
    [series] = polyutils.as_series([p[::-1]])
    if series.size < 2:
        return np.array([])
    if series.size == 2:
        return np.array([0.0]) if series[0] == 0 else -series[:1] / series[1]
    matrix = polycompanion(series)
    if not _is_hermitian(matrix):
        raise NotImplementedError(_GENERAL)
    return np.linalg.eigvalsh(matrix).astype(series.dtype)


poly = row(_poly, name="poly", library="cuSOLVER")
_fit = row(np.polyfit, "dd", library="cuSOLVER")
_find_roots = row(_roots, name="roots", library="cuSOLVER")
_power = row(_convolutions.power, "d")


def _polyval(p, x):
    """A sum of coefficients times powers, which may be of an infinity less an infinity."""
    x = np.asarray(x)
    dtype = np.result_type(p.dtype.type(0), x)
    p = p.astype(dtype)
    if not p.size:
        return np.zeros(x.shape, dtype)
    if dtype.kind == "b":
        return p.any() * x + p[-1]
    x, exponents = x.astype(dtype)[..., None], np.arange(p.size).astype(dtype)
    powers = power(x, exponents) or (np.power(x, exponents),)
    wide = np.float32 if dtype.char == "e" else dtype
    return (p[::-1] * powers[0]).sum(axis=-1, dtype=wide).astype(dtype)


_evaluate = row(_polyval, "da", name="polyval", order="C")


def _coefficients(value) -> ndarray:
    if isinstance(value, poly1d):
        return value._coeffs
    if np.isscalar(value):
        return atleast_1d(asarray(value))
    if not isinstance(value, ndarray):
        raise unsupported(value)
    if value.ndim > 1:
        raise ValueError("Multidimensional inputs are not supported")
    return atleast_1d(value)


def _of_two(function: Callable, waits: bool = False) -> Callable:
    """NumPy's ``function`` of two polynomials: scalars, arrays of coefficients or ``poly1d``."""
    compute = row(function, "dd", waits=waits)

    def call(a1, a2, /):
        found = compute(_coefficients(a1), _coefficients(a2))
        return poly1d(found) if isinstance(a1, poly1d) or isinstance(a2, poly1d) else found

    return named(call, function.__name__)


def _polysub(a1, a2):
    """Of a longer first one by a detour, on which an infinity becomes NaN."""
    longer = len(a1) - len(a2)
    if longer <= 0:
        return np.polysub(a1, a2)
    padded = np.pad(a2, (longer, 0)).astype(np.result_type(a1, a2))
    padded -= 2 * padded - a1
    return padded


polyadd, polysub = _of_two(np.polyadd), _of_two(named(_polysub, "polysub"))
polymul = _of_two(_convolutions.polymul, waits=True)  # it looks for zeros that lead


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """NumPy's; of ``full`` the last value, ``rcond``, is a number of the host. As CuPy's, it leaves
    in a ``y`` of doubles the products with the weights ``w``."""
    if not (w is None or hasattr(w, "dtype")):
        raise AttributeError(f"{type(w).__name__!r} object has no attribute 'dtype'")
    if rcond is None and isinstance(x, ndarray):  # of the type in which CuPy computes
        rcond = x.size * np.finfo(np.result_type(x.dtype, float)).eps
    wide = y
    if isinstance(y, ndarray) and y.dtype != np.float16:  # which is refused
        wide = y.astype(complex if y.dtype.kind == "c" else float, copy=False)
    found = _fit(x, wide, deg, rcond, full, w, cov)
    if w is not None and wide is y:
        y *= w if y.ndim == 1 else w[:, None]
    if full:  # the rank is one of cuSOLVER's integers
        found = (*found[:2], array(found[2], np.int32), *found[3:])
    if full and isinstance(found[-1], ndarray):
        return (*found[:-1], found[-1].get()[()])
    return found


def roots(p) -> ndarray:
    """The roots of a polynomial, in no certain order.

    ``p`` has the coefficients, or is a ``poly1d``. NotImplementedError, as CuPy's, where the
    companion matrix is not Hermitian: of a degree above 2 none is.
    """
    return _find_roots(p.coeffs if isinstance(p, poly1d) else p)


def polyval(p, x):
    """The polynomial ``p`` (coefficients or ``poly1d``) at ``x``: numbers, or a ``poly1d``."""
    if isinstance(p, poly1d):
        p = p.coeffs
    if not isinstance(p, ndarray) or p.ndim == 0:
        raise TypeError("p must be 1d ndarray or poly1d object")
    if p.ndim > 1:
        raise ValueError("p must be 1d array")
    if not isinstance(x, poly1d):
        return _evaluate(p, x)
    dtype = np.result_type(x.coeffs.dtype, 1)
    result, product = poly1d(array([0], dtype)), poly1d(array([1], dtype))
    for coefficient in p[::-1]:
        result, product = result + product * coefficient, product * x
    return result


class poly1d:
    """A polynomial of one variable.

    Args:
        c_or_r: its coefficients, the highest power first: a device array, a NumPy array, a list
            or another ``poly1d`` of either kind. Leading zeros are dropped.
        r: whether ``c_or_r`` are its roots.
        variable: the name it is printed with, "x" by default.

    Raises ValueError for an array of more than one dimension.
    """

    __module__ = "cupy"
    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        known = isinstance(c_or_r, (poly1d, np.poly1d))
        if not (variable is None or isinstance(variable, str)):
            raise TypeError(f"Expected str, got {type(variable).__name__}")
        self._variable = variable or (c_or_r.variable if known else "x")
        if known:
            self._coeffs = asarray(c_or_r.coeffs)
        else:
            self._coeffs = atleast_1d(asarray(poly(c_or_r) if r else c_or_r))
        if self._coeffs.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self._trimmed = known

    @property
    def coeffs(self) -> ndarray:
        if not self._trimmed:
            self._coeffs = trim_zeros(self._coeffs, "f")
            if not self._coeffs.size:
                self._coeffs = array([0], self._coeffs.dtype)
            self._trimmed = True
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value) -> None:
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = property(lambda self: self.coeffs)
    variable = property(lambda self: self._variable)
    order = o = property(lambda self: self.coeffs.size - 1)
    roots = r = property(lambda self: roots(self._coeffs))

    def get(self, stream=None) -> np.poly1d:
        """A copy on the host."""
        return np.poly1d(self.coeffs.get(stream), variable=self.variable)

    def set(self, polyin, stream=None) -> None:
        """Take the coefficients, as many as there are here, and the variable of a NumPy poly1d."""
        if not isinstance(polyin, np.poly1d):
            raise TypeError("Only numpy.poly1d can be set to cupy.poly1d")
        self._variable = polyin.variable
        self.coeffs.set(polyin.coeffs, stream)

    def integ(self, m=1, k=0):
        raise NotImplementedError

    def deriv(self, m=1):
        raise NotImplementedError

    def __cupy_get_ndarray__(self) -> ndarray:
        return self.coeffs

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __len__(self) -> int:
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __call__(self, val):
        return polyval(self, val)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __pos__(self):
        return self

    def __add__(self, other):
        return polyadd(self, other)

    def __radd__(self, other):
        return polyadd(_left(other), self)

    def __sub__(self, other):
        return polysub(self, other)

    def __rsub__(self, other):
        return polysub(_left(other), self)

    def __mul__(self, other):
        return poly1d(self.coeffs * other) if np.isscalar(other) else polymul(self, other)

    def __rmul__(self, other):
        other = _left(other)
        return polymul(self._coeffs.dtype.type(other) if np.isscalar(other) else other, self)

    def __truediv__(self, other):
        if not np.isscalar(other):
            raise NotImplementedError
        return poly1d(self.coeffs / other)

    def __pow__(self, val, modulo=None):
        if not np.isscalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        if not isinstance(val, numbers.Integral):
            raise TypeError("float object cannot be interpreted as an integer")
        if val == 0:
            return poly1d(1)
        dtype = self._coeffs.dtype
        if val >= 1:
            wide = float if dtype == np.uint64 else {"c": complex, "f": float}.get(dtype.kind, int)
            dtype = np.promote_types(dtype, wide)
        return poly1d(_power(self.coeffs.astype(dtype, copy=False), val))

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            raise NotImplementedError
        if self.coeffs.shape != other.coeffs.shape:
            return False
        return np.bool(bool((self.coeffs == other.coeffs).all()))

    def __ne__(self, other):
        return not self == other

    def __getitem__(self, val):
        """The coefficient of that power, on the device; 0 beyond the highest."""
        return self._coeffs[-val - 1] if 0 <= val < self._coeffs.size else 0

    def __setitem__(self, key, val) -> None:
        if key < 0:
            raise ValueError("Negative powers are not supported.")
        if key >= self._coeffs.size:
            self._coeffs = pad(self._coeffs, (key - self._coeffs.size + 1, 0))
        self._coeffs[-key - 1] = val


def _left(value):
    """The left operand, which CuPy refuses where it is NumPy's scalar."""
    if isinstance(value, np.generic):
        raise TypeError("Numpy scalar and poly1d operations are not supported")
    return value
