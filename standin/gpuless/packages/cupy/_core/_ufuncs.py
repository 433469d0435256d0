"""CuPy's universal functions. NumPy's loops choose the same result types, and compute the
same values but for those of ``_loops``."""

from __future__ import annotations

import numpy as np

from cupy._core import _loops
from cupy._core._ndarray import ndarray
from cupy._core._ufunc import Comparison, Kernel, ufunc


def _rows(types: str, operands: int, made: str = "") -> str:
    """A row for each of the types, of operands of that type."""
    return " ".join(f"{t * operands}->{made or t}" for t in types)


_WHOLE = "?bBhHiIlLqQ"
_ALL = _WHOLE + "efdFD"
_PAIRS = "??->? qq->? QQ->? qQ->? Qq->? "
_COMPARED = _PAIRS + _rows("efdFD", 2, "?")
_LOGICAL = _PAIRS + _rows("efd", 2, "?")
_DIVIDED = "qq->d qQ->d Qq->d QQ->d " + _rows("efdFD", 2)


class _LogicalAnd(ufunc):
    """Of an integer with a sign and one of 64 bits without, CuPy's kernel takes a negative one for
    false."""

    def __call__(self, *args, dtype=None, **kwargs):
        if len(args) > 1 and dtype is None:
            x, y, *rest = args
            args = (_not_negative(x, y), _not_negative(y, x), *rest)
        return super().__call__(*args, dtype=dtype, **kwargs)


def _not_negative(x, other):
    if _type(x).kind != "i" or _type(other) != np.uint64:
        return x
    return maximum(x, 0) if isinstance(x, ndarray) else max(x, 0)


def _type(x) -> np.dtype:
    if isinstance(x, (ndarray, np.generic)):
        return x.dtype
    return np.asarray(x).dtype if type(x) is int else np.dtype(object)


absolute = abs = ufunc(np.absolute)
add = ufunc(np.add)
arccos = acos = ufunc(np.arccos)
arccosh = acosh = ufunc(np.arccosh)
arcsin = asin = ufunc(np.arcsin)
arcsinh = asinh = ufunc(np.arcsinh)
arctan = atan = ufunc(np.arctan)
arctan2 = atan2 = ufunc(np.arctan2, types=_rows("efdFD", 2))
arctanh = atanh = ufunc(np.arctanh)
bitwise_and = ufunc(np.bitwise_and)
bitwise_count = ufunc(np.bitwise_count)
bitwise_or = ufunc(np.bitwise_or)
bitwise_xor = ufunc(np.bitwise_xor)
cbrt = ufunc(np.cbrt)
ceil = ufunc(np.ceil)
clip = ufunc(np._core.umath.clip, loop=_loops.clip, types=_rows(_WHOLE + "efd", 3))
conjugate = conj = ufunc(np.conjugate)
copysign = ufunc(np.copysign, types=_rows("efdFD", 2))
cos = ufunc(np.cos)
cosh = ufunc(np.cosh)
deg2rad = ufunc(np.deg2rad)
degrees = ufunc(np.degrees)
divide = true_divide = ufunc(
    np.divide, "true_divide", loop=_loops.true_divide, loop_for="c", types=_DIVIDED
)
divmod = ufunc(np.divmod, loop=_loops.divmod)
equal = Comparison(np.equal, types=_COMPARED)
exp = ufunc(np.exp)
exp2 = ufunc(np.exp2, loop=_loops.exp2, loop_for="c")
expm1 = ufunc(np.expm1, loop=_loops.expm1, loop_for="c")
fabs = ufunc(np.fabs)
float_power = ufunc(np.float_power, loop=_loops.power, loop_for="c", types="dd->d FF->D DD->D")
fix = ufunc(np.trunc, "fix")
floor = ufunc(np.floor)
floor_divide = ufunc(np.floor_divide, loop=_loops.floor_divide)
fmax = ufunc(np.fmax, loop=_loops.fmax, loop_for="fc")
fmin = ufunc(np.fmin, loop=_loops.fmin, loop_for="fc")
fmod = ufunc(np.fmod, loop=_loops.fmod, loop_for="iu")
frexp = ufunc(np.frexp)
gcd = ufunc(np.gcd, types=_rows(_WHOLE, 2))
greater = Comparison(np.greater, loop=_loops.greater, loop_for="c", types=_COMPARED)
greater_equal = Comparison(
    np.greater_equal, loop=_loops.greater_equal, loop_for="c", types=_COMPARED
)
heaviside = ufunc(np.heaviside)
hypot = ufunc(np.hypot, types=_rows("efdFD", 2))
i0 = ufunc(Kernel("i0", 1), loop=_loops.i0, loop_for="f", types=_rows("efdFD", 1))
invert = bitwise_invert = bitwise_not = ufunc(np.invert)
is_close = ufunc(Kernel("is_close", 5), loop=_loops.is_close, types="eeee?->? ffff?->? dddd?->?")
is_close_complex = ufunc(
    Kernel("is_close_complex", 5), loop=_loops.is_close, types="FFff?->? DDdd?->?"
)
isfinite = ufunc(np.isfinite)
isinf = ufunc(np.isinf)
isnan = ufunc(np.isnan)
lcm = ufunc(np.lcm, loop=_loops.lcm, loop_for="i", types=_rows(_WHOLE, 2))
ldexp = ufunc(
    np.ldexp, loop=_loops.ldexp, loop_for="f", types="ei->e fi->f el->e fl->f di->d dq->d"
)
left_shift = bitwise_left_shift = ufunc(np.left_shift, loop=_loops.left_shift, loop_for="iu")
less = Comparison(np.less, loop=_loops.less, loop_for="c", types=_COMPARED)
less_equal = Comparison(np.less_equal, loop=_loops.less_equal, loop_for="c", types=_COMPARED)
log = ufunc(np.log)
log10 = ufunc(np.log10)
log1p = ufunc(np.log1p, loop=_loops.log1p, loop_for="c")
log2 = ufunc(np.log2, loop=_loops.log2, loop_for="c")
logaddexp = ufunc(np.logaddexp)
logaddexp2 = ufunc(np.logaddexp2, loop=_loops.logaddexp2, loop_for="f")
logical_and = _LogicalAnd(np.logical_and, types=_LOGICAL)
logical_not = ufunc(np.logical_not, types=_rows(_WHOLE + "efd", 1, "?"))
logical_or = ufunc(np.logical_or, types=_LOGICAL)
logical_xor = ufunc(np.logical_xor, types=_rows(_WHOLE + "efd", 2, "?"))
maximum = ufunc(np.maximum, loop=_loops.maximum, loop_for="fc")
minimum = ufunc(np.minimum, loop=_loops.minimum, loop_for="fc")
modf = ufunc(np.modf)
multiply = ufunc(np.multiply)
negative = ufunc(np.negative, types=_rows(_ALL, 1))
nextafter = ufunc(np.nextafter, loop=_loops.nextafter, loop_for="f", types=_rows("efdFD", 2))
not_equal = Comparison(np.not_equal, types=_COMPARED)
positive = ufunc(np.positive, types=_rows(_ALL, 1))
power = pow = ufunc(np.power, loop=_loops.power, types="??->b " + _rows(_ALL[1:], 2))
rad2deg = ufunc(np.rad2deg)
radians = ufunc(np.radians)
reciprocal = ufunc(np.reciprocal, loop=_loops.reciprocal)
remainder = mod = ufunc(np.remainder, loop=_loops.remainder)
right_shift = bitwise_right_shift = ufunc(np.right_shift, loop=_loops.right_shift, loop_for="iu")
rint = ufunc(np.rint)
rsqrt = ufunc(Kernel("rsqrt", 1), loop=_loops.rsqrt, loop_for="f", types=_rows("efdFD", 1))
sign = ufunc(np.sign, loop=_loops.sign, loop_for="c")
signbit = ufunc(np.signbit)
sin = ufunc(np.sin)
sinc = ufunc(Kernel("sinc", 1), loop=_loops.sinc, types=_rows("efdFD", 1))
sinh = ufunc(np.sinh)
sqrt = ufunc(np.sqrt)
square = ufunc(np.square)
subtract = ufunc(np.subtract, types=_rows(_ALL, 2))
tan = ufunc(np.tan)
tanh = ufunc(np.tanh)
trunc = ufunc(np.trunc)

true_divide._by_dtype = true_divide.types[4:]  # by ``dtype`` no others

for _function in (isfinite, isinf, isnan):  # of integers, too, as of floats
    _function.types = [row for row in _function.types if row[0] in "efdFD"]
    _function._by_dtype = _function.types
