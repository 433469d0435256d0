"""CuPy's universal functions. NumPy's loops choose the same result types."""

from __future__ import annotations

import numpy as np

from cupy._core._ufunc import ufunc

NAMES = """abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
asinh atan atan2 atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not
bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad
degrees divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod
frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift
less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or
logical_xor maximum minimum mod modf multiply negative nextafter not_equal positive pow power
rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh sqrt square subtract
tan tanh true_divide trunc""".split()

_made: dict[str, ufunc] = {}
for _name in NAMES:
    _function = getattr(np, _name)
    globals()[_name] = _made.setdefault(_function.__name__, ufunc(_function))
