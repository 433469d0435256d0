"""The mathematical functions of CUDA that the stand-in has, each with an independent oracle.

``name(arguments): (ctype, oracle, low, high)``; arguments are ``x`` and ``y``, drawn from [low, high].
"""

import math

import numpy as np

_vector = np.vectorize
UNARY = {
    "acos": (np.arccos, -1, 1), "acosh": (np.arccosh, 1, 9), "asin": (np.arcsin, -1, 1),
    "asinh": (np.arcsinh, -9, 9), "atan": (np.arctan, -9, 9), "atanh": (np.arctanh, -0.9, 0.9),
    "cbrt": (np.cbrt, -9, 9), "ceil": (np.ceil, -9, 9), "cos": (np.cos, -9, 9),
    "cosh": (np.cosh, -5, 5), "erf": (_vector(math.erf), -3, 3), "erfc": (_vector(math.erfc), -3, 3),
    "exp": (np.exp, -5, 5), "exp2": (np.exp2, -5, 5), "expm1": (np.expm1, -1, 1),
    "exp10": (lambda x: 10.0**x, -5, 5), "fabs": (np.abs, -9, 9), "floor": (np.floor, -9, 9),
    "lgamma": (_vector(math.lgamma), 0.1, 9), "log": (np.log, 0.1, 9), "log10": (np.log10, 0.1, 9),
    "log1p": (np.log1p, -0.5, 1), "log2": (np.log2, 0.1, 9), "rint": (np.rint, -9, 9),
    "nearbyint": (np.rint, -9, 9), "round": (lambda x: np.trunc(x + np.copysign(0.5, x)), -9, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "sin": (np.sin, -9, 9), "sinh": (np.sinh, -5, 5),
    "sinpi": (lambda x: np.sin(np.pi * x), -2, 2), "cospi": (lambda x: np.cos(np.pi * x), -2, 2),
    "sqrt": (np.sqrt, 0, 9), "tan": (np.tan, -1, 1), "tanh": (np.tanh, -3, 3),
    "tgamma": (_vector(math.gamma), 0.1, 5), "trunc": (np.trunc, -9, 9),
    "rcbrt": (lambda x: 1 / np.cbrt(x), 0.1, 9), "logb": (lambda x: np.floor(np.log2(x)), 0.1, 9),
    "normcdf": (_vector(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))), -3, 3),
}  # fmt: skip
BINARY = {
    "atan2": np.arctan2, "copysign": np.copysign, "fdim": lambda x, y: np.maximum(x - y, 0),
    "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod, "hypot": np.hypot, "max": np.maximum,
    "min": np.minimum, "nextafter": np.nextafter, "pow": lambda x, y: np.abs(x) ** y,
    "remainder": _vector(math.remainder), "rhypot": lambda x, y: 1 / np.hypot(x, y),
}  # fmt: skip
FLOAT_ONLY = {
    "__expf": np.exp, "__exp10f": lambda x: 10.0**x, "__logf": np.log, "__log2f": np.log2,
    "__log10f": np.log10, "__sinf": np.sin, "__cosf": np.cos, "__tanf": np.tan,
    "__saturatef": lambda x: np.clip(x, 0, 1), "__frcp_rn": lambda x: 1 / x, "__fsqrt_rn": np.sqrt,
    "__frsqrt_rn": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
# Exact expressions in floats and integers: text and what it must give.
EXACT = [
    ("__popc(0xf0f0u)", 8), ("__popcll(~0ull)", 64), ("__clz(1)", 31), ("__clz(0)", 32),
    ("__clzll(1ll)", 63), ("__ffs(8)", 4), ("__ffs(0)", 0), ("__ffsll(1ll << 40)", 41),
    ("__brev(1u)", 2**31), ("(double)__brevll(1ull)", 2.0**63), ("__mulhi(1 << 30, 12)", 3),
    ("__mulhi(-5, 7)", -1), ("__umulhi(1u << 31, 6u)", 3),
    ("(double)__mul64hi(1ll << 62, 12ll)", 3), ("(double)__umul64hi(1ull << 63, 6ull)", 3),
    ("__mul24(-3, 5)", -15), ("__umul24(3u, 5u)", 15), ("__sad(3, -4, 10u)", 17),
    ("__funnelshift_l(0x80000001u, 5u, 1)", 11), ("__funnelshift_r(8u, 1u, 2)", 2 + 2**30),
    ("__byte_perm(0x33221100, 0x77665544, 0x7130)", 0x77113300),
    ("__float_as_int(1.0f)", 0x3F800000), ("__int_as_float(0x40200000)", 2.5),
    ("__float_as_uint(-2.0f)", 0xC0000000), ("__uint_as_float(0xc0000000u)", -2),
    ("__double_as_longlong(2.0) == 0x4000000000000000ll", 1), ("__longlong_as_double(0x4004000000000000ll)", 2.5),
    ("__double2hiint(2.0)", 0x40000000), ("__double2loint(2.0)", 0), ("__hiloint2double(0x40040000, 0)", 2.5),
    ("__float2int_rn(2.5f)", 2), ("__float2int_rz(-2.7f)", -2), ("__float2int_rd(-2.1f)", -3),
    ("__float2int_ru(2.1f)", 3), ("__float2int_rn(1e20f)", 2**31 - 1), ("__double2int_rn(-3.5)", -4),
    ("__float2uint_rn(-4.0f)", 0), ("__double2ll_rz(1e12)", 10**12), ("__int2float_rn(7)", 7),
    ("__double2float_rn(0.5)", 0.5), ("__fmaf_rn(2.0f, 3.0f, 4.0f)", 10), ("__fma_rn(2.0, 3.0, 4.0)", 10),
    ("fmaf(2.0f, 3.0f, 4.0f)", 10), ("fma(2.0, 3.0, 4.0)", 10), ("__fadd_rn(1.0f, 2.0f)", 3),
    ("__dmul_rn(1.5, 2.0)", 3), ("__ddiv_rn(3.0, 2.0)", 1.5), ("__fdividef(3.0f, 2.0f)", 1.5),
    ("abs(-3)", 3), ("abs(-3ll)", 3), ("abs(-2.5f)", 2.5), ("max(2, 3u)", 3), ("min(-1, 3)", -1),
    ("max(2.5f, 1.0)", 2.5), ("min(3ull, 4ull)", 3), ("ldexp(0.75, 3)", 6), ("ldexpf(0.75f, 3)", 6),
    ("scalbn(1.5f, 2)", 6), ("ilogb(9.0)", 3), ("lrint(2.5)", 2), ("lround(2.5)", 3), ("llrint(-3.5)", -4),
    ("llround(-2.5f)", -3), ("isnan(0.0 / 0.0)", 1), ("isinf(1.0f / 0.0f)", 1), ("isfinite(1.0)", 1),
    ("signbit(-0.0f) != 0", 1), ("sizeof(sqrt(2.0f))", 4),
    ("sizeof(pow(2.0f, 2))", 4), ("pow(2.0, 10)", 1024), ("norm3d(2.0, 3.0, 6.0)", 7),
    ("sinpi(1e15)", 0), ("cospi(0.5)", 0), ("erfcx(0.0)", 1), ("fminf(1.0f, 2.0f)", 1),
    ("make_float4(1, 2, 3, 4).w", 4), ("make_int3(1, 2, 3).z", 3), ("make_uint2(1, 2).y", 2),
    ("make_double2(1, 2).x", 1), ("make_uchar4(1, 2, 3, 4).z", 3), ("sizeof(float3)", 12),
    ("alignof(float4)", 16), ("alignof(double2)", 16), ("alignof(float2)", 8), ("sizeof(dim3(2))", 12),
    ("dim3(2, 3).y * dim3(2, 3).z", 3), ("warpSize", 32), ("__ldg(x) == x[0]", 1),
]  # fmt: skip
