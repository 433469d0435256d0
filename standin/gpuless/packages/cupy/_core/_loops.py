"""Loops of universal functions whose values on a device are not NumPy's.

Each takes the operands, converted to the dtypes of the loop, and returns a tuple of results, or
None where NumPy's loop gives what CuPy's kernel gives.
"""

from __future__ import annotations

import numpy as np

from cupy._core._casts import cast


def _quotient(x, y):
    """Of numbers with a fraction, the floor of the rounded quotient: 1 // 0.1 is 10."""
    single = x.dtype.char == "e"
    return np.floor(np.divide(x, y, dtype=np.float32 if single else x.dtype))


def _rest(x, quotient, y):
    """x - quotient * y, rounded once, as by a GPU's fused multiplication and addition."""
    if x.dtype.char != "d":  # double precision has room for the product
        product = np.multiply(quotient, y, dtype=np.float64)
        return np.subtract(x, product, dtype=np.float64).astype(x.dtype)
    product = quotient * y
    (a, b), (c, d) = _halves(quotient), _halves(y)
    lost = ((a * c - product) + a * d + b * c) + b * d
    rest, whole = (x - product) - lost, np.isfinite(lost)
    if whole.all():
        return rest
    wide = np.longdouble  # at the end of the range, where the halves leave it
    return np.where(whole, rest, (x - quotient.astype(wide) * y).astype(x.dtype))


def _halves(x):
    """Two numbers of half of the digits, whose sum is ``x``."""
    large = x * 134217729.0  # 2**27 + 1
    high = large - (large - x)
    return high, x - high


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
    if x.dtype.kind == "c":
        return (_quotient_of_complex(np.ones_like(x), x),)
    return (np.where(x == 0, x, np.reciprocal(x)),) if x.dtype.kind in "iu" else None


def power(base, exponent):
    """As in C: a negative exponent gives 1 / base**n rounded towards zero, where NumPy raises.

    A complex power is CuPy's exp(log(base) * exponent), so that 0j to a negative power is no
    number."""
    if base.dtype.kind == "c":
        turn = np.log(base) * exponent
        made = np.where(np.isneginf(turn.real), 0, np.exp(turn))
        return (np.where(exponent == 0, 1, made).astype(base.dtype),)
    if base.dtype.kind == "f" and exponent.size == 1 and exponent == 0.5:
        # NumPy takes the root, which of -0.0 and -inf is not the power.
        return (np.where(np.isneginf(base), np.inf, np.sqrt(base) + 0).astype(base.dtype),)
    if base.dtype.kind == "b":
        base, exponent = base.astype("b"), exponent.astype("b")
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


def _quotient_of_complex(x, y):
    """As CuPy's complex.cuh has it: by 0 no number, by an infinity neither."""
    scale = 1 / (np.abs(y.real) + np.abs(y.imag))
    a, b, c, d = x.real * scale, x.imag * scale, y.real * scale, y.imag * scale
    scale = 1 / (c * c + d * d)
    return _complex((a * c + b * d) * scale, (b * c - a * d) * scale)


def _complex(real, imag):
    made = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    made.real, made.imag = real, imag
    return made


def true_divide(x, y):
    return (_quotient_of_complex(x, y),)


def log2(x):
    """Of a complex number the complex quotient of two logarithms."""
    return (_quotient_of_complex(np.log(x), np.log(np.full_like(x, 2))),)


def exp2(x):
    """Of a complex number its complex product with log(2), exponentiated."""
    return (np.exp(np.log(np.full_like(x, 2)) * x),)


def expm1(x):
    """Of a complex number the difference itself, which near 0 loses digits."""
    return (np.exp(x) - x.dtype.type(1),)


def log1p(x):
    """Of a complex number the logarithm of the sum, which near 0 loses digits."""
    return (np.log(x + x.dtype.type(1)),)


def sign(x):
    """Of a complex number x / abs(x): of an infinity no number."""
    size = np.abs(x)
    made = _complex(x.real / size, x.imag / size)
    return (np.where(size == 0, 0, made),)


def less(x, y):
    """Of complex numbers: the imaginary parts decide only where the real ones are equal."""
    return ((x.real < y.real) | (x.real == y.real) & (x.imag < y.imag),)


def less_equal(x, y):
    return ((x == y) | less(x, y)[0],)


def greater(x, y):
    return less(y, x)


def greater_equal(x, y):
    return less_equal(y, x)


def maximum(x, y):
    """Minus zero is less than zero, as in PTX. Of complex numbers with a NaN: NaN and no more."""
    if x.dtype.kind == "c":
        return (np.where(np.isnan(x) | np.isnan(y), np.nan, fmax(x, y)[0]).astype(x.dtype),)
    return _zeros_told_apart(np.maximum, np.add, x, y)


def minimum(x, y):
    if x.dtype.kind == "c":
        return (np.where(np.isnan(x) | np.isnan(y), np.nan, fmin(x, y)[0]).astype(x.dtype),)
    return _zeros_told_apart(np.minimum, _less_of_zeros, x, y)


def fmax(x, y):
    if x.dtype.kind == "c":
        return (np.where(np.isnan(x) | ~np.isnan(y) & less(x, y)[0], y, x),)
    return _zeros_told_apart(np.fmax, np.add, x, y)


def fmin(x, y):
    if x.dtype.kind == "c":
        return (np.where(~np.isnan(x) & (np.isnan(y) | less(x, y)[0]), x, y),)
    return _zeros_told_apart(np.fmin, _less_of_zeros, x, y)


def _less_of_zeros(x, y):
    return -(-x - y)


def _zeros_told_apart(function, of_zeros, x, y):
    """``function``, whose sign of two zeros NumPy leaves to chance."""
    if not all(map(_holds_zero, sorted((x, y), key=np.size))):
        return None
    return (np.where((x == 0) & (y == 0), of_zeros(x, y), function(x, y)),)


def _holds_zero(x) -> bool:
    if not x.ndim:
        return x == 0
    flat = x.reshape(-1) if x.flags.c_contiguous else x.T.reshape(-1)
    parts = range(0, flat.size, 1 << 15)  # so that what is compared stays in the cache
    return any((flat[i : i + (1 << 15)] == 0).any() for i in parts)


def clip(x, low, high):
    """The high bound where the low one is higher; a bound that is no number bounds nothing."""
    made = np.where(x < low, low, np.where(x > high, high, x))
    return (np.where(low > high, high, made),)


def _in_double(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def i0(x):
    wide = _in_double(x)
    return (np.where(np.isinf(wide), np.inf, np.i0(wide)).astype(x.dtype),)


def sinc(x):
    """Of whole numbers exactly 0, of 0 and of what is no number 1; complex ones in their own
    precision, that of pi too."""
    wide = x
    if x.dtype.kind == "c":
        sine = np.sin(x.dtype.type(np.pi) * x)
    else:
        wide = np.abs(_in_double(x))
        turn = np.remainder(wide, 2)
        sine = np.where(turn == 1, 0, np.sin(np.pi * turn))
    return (np.where(np.abs(wide) > 1e-9, sine / (np.pi * wide), 1).astype(x.dtype),)


def rsqrt(x):
    return (np.reciprocal(np.sqrt(x)),)


def is_close(x, y, rtol, atol, equal_nan):
    near = np.abs(x - y) <= atol + rtol * np.abs(y)
    same = (x == y) | (equal_nan & np.isnan(x) & np.isnan(y))
    return (np.where(np.isfinite(x) & np.isfinite(y), near, same),)


def lcm(x, y):
    """Its absolute value, also where it does not fit."""
    return (np.abs(np.lcm(x, y)),)


def ldexp(x, exponent):
    """Of the exponent the low 32 bits, which a kernel passes on as an int."""
    return (np.ldexp(x, exponent.astype(np.int32)),)


def left_shift(x, y):
    """Of 64 bits by the low 32 bits of the other number: no more reach the instruction."""
    return (np.left_shift(x, _places(y)),) if x.dtype.itemsize == 8 else None


def right_shift(x, y):
    return (np.right_shift(x, _places(y)),) if x.dtype.itemsize == 8 else None


def _places(y):
    return (y & 0xFFFFFFFF).astype(y.dtype)


def logaddexp2(x, y):
    """By log2(1 + ...), to which a tiny number adds nothing."""
    wide = np.float32 if x.dtype.char == "e" else x.dtype
    x, y = x.astype(wide), y.astype(wide)
    more = np.log2(1 + np.exp2(-np.abs(x - y)))
    return (np.where(x == y, x + 1, np.fmax(x, y) + more),)
