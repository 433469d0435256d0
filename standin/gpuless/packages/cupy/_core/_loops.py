"""Loops of universal functions whose values on a device are not NumPy's.

Each takes the operands, converted to one dtype, and returns a tuple of results, or None where
NumPy's loop gives what CuPy's kernel gives.
"""

from __future__ import annotations

import numpy as np

from cupy._core._casts import cast

# Where a product of two numbers of the type fits, so that x - q * y is rounded once, as by a GPU's
# fused multiplication and addition.
_WIDE = {"e": np.float32, "f": np.float64, "d": np.longdouble}


def _quotient(x, y):
    """Of numbers with a fraction, the floor of the rounded quotient: 1 // 0.1 is 10."""
    single = x.dtype.char == "e"
    return np.floor(np.divide(x, y, dtype=np.float32 if single else x.dtype))


def _rest(x, quotient, y):
    wide = _WIDE[x.dtype.char]
    return np.subtract(x, np.multiply(quotient, y, dtype=wide), dtype=wide).astype(x.dtype)


def floor_divide(x, y):
    return (_quotient(x, y),) if x.dtype.kind == "f" else None


def remainder(x, y):
    return (_rest(x, _quotient(x, y), y),) if x.dtype.kind == "f" else None


def divmod(x, y):
    if x.dtype.kind != "f":
        return None
    quotient = _quotient(x, y).astype(x.dtype)
    return quotient, _rest(x, quotient, y)


def reciprocal(x):
    """Of the integer 0 it is 0."""
    return (np.where(x == 0, x, np.reciprocal(x)),) if x.dtype.kind in "iu" else None


def power(base, exponent):
    """As in C: a negative exponent gives 1 / base**n rounded towards zero, where NumPy raises."""
    if base.dtype.kind not in "iu":
        return None
    sign = np.where(exponent % 2 == 0, 1, base)
    inverse = np.where(np.abs(base) == 1, sign, 0)
    return (np.where(exponent < 0, inverse, np.power(base, np.maximum(exponent, 0))),)


def fmod(x, y):
    """In double precision, which has not all digits of an integer of 64 bits."""
    if x.dtype.itemsize < 8:
        return None
    return (cast(np.where(y == 0, 0.0, np.fmod(x.astype(float), y.astype(float))), x.dtype),)


def nextafter(x, y):
    """Of float16 by CuPy's own function: NaN from an infinity, and a zero stays that zero."""
    if x.dtype.char != "e":
        return None
    made = np.where(x == y, x, np.nextafter(x, y))
    return (np.where(np.isfinite(x), made, np.nan),)


def true_divide(x, y):
    """Of complex numbers by 0: no number, not even an infinity."""
    return (np.where(y == 0, complex(np.nan, np.nan), np.divide(x, y)),)
