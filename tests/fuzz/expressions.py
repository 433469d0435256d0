"""CUDA C expressions, each with the function by which NumPy finds its value.

The two sides share nothing but the tree: C++ compiles the text, NumPy applies C's rules (integer
promotion, the usual conversions, wrap-around, truncating division) to whole arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

CTYPES = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short",
    "i": "int", "I": "unsigned int", "q": "long long", "Q": "unsigned long long",
    "e": "float16", "f": "float", "d": "double", "F": "complex<float>", "D": "complex<double>",
}  # fmt: skip
INTEGERS, FLOATS, COMPLEX = "ibhqBHIQ?", "fde", "FD"
REAL = INTEGERS + FLOATS
SUFFIX = {"i": "", "I": "u", "q": "ll", "Q": "ull", "f": "f", "d": ""}
RANGES = {c: (np.iinfo(c).min, np.iinfo(c).max) for c in "bBhHiI"}
RANGES |= {"q": (-(2**53), 2**53), "Q": (0, 2**53)}  # what a double can hold exactly


class Expression(NamedTuple):
    """C text of a type (a dtype's character), and its value where the variables have values.

    ``rough`` is the type in which it was computed inexactly, "" if it is exact.
    """

    type: str
    text: str
    value: Callable[[dict], np.ndarray]
    rough: str = ""


# ------------------------------------------------------------------------------ C's conversions


def promoted(type_: str) -> str:
    """The type in which arithmetic is done on a value: ``int`` for the small ones."""
    return "i" if type_ in "?bBhH" else "f" if type_ == "e" else type_


def common(a: str, b: str) -> str:
    """The usual arithmetic conversions; for a complex number, the one of enough precision."""
    a, b = promoted(a), promoted(b)
    if a in "FD" or b in "FD":
        return "F" if {a, b} <= {"F", "f", "i"} else "D"
    for floating in "df":
        if floating in (a, b):
            return floating
    return max(a, b, key=lambda c: (np.dtype(c).itemsize, c in "IQ"))


def converted(x: np.ndarray, to: str) -> np.ndarray:
    """A value converted as an assignment in C does it."""
    if x.dtype.char == to:
        return x
    if to == "?":
        return x != 0
    if to == "e":  # by way of float: that is what the class takes
        return x.astype("f").astype("e")
    if to in COMPLEX and x.dtype.kind != "c":
        return x.astype(to.lower()).astype(to)
    return x.astype(to)


def cast(e: Expression, to: str) -> Expression:
    """An explicit conversion that C defines: a float goes to an integer within its range."""
    if e.type == to:
        return e
    name = CTYPES[to]
    if e.type in COMPLEX and to not in COMPLEX:
        e = Expression(e.type.lower(), f"{e.text}.real()", lambda env, v=e.value: v(env).real)
        return cast(e, to)
    if to in COMPLEX and e.type not in COMPLEX:
        text = f"{name}(({CTYPES[to.lower()]})({e.text}))"
    elif e.type in FLOATS and to in RANGES:
        low, high = RANGES[to]

        def value(env, v=e.value):
            x = np.fmin(np.fmax(v(env).astype("d"), low), high)
            return np.trunc(x).astype(to)

        text = f"({name})fmin(fmax((double)({e.text}), {low}.0), {high}.0)"
        return Expression(to, f"({text})", value)
    else:
        text = f"({name})({e.text})"
    return Expression(to, f"({text})", lambda env, v=e.value: converted(v(env), to), e.rough)


def literal(number, type_: str) -> Expression:
    """A constant; negative ones in brackets."""
    value = np.array([number], type_)
    if type_ in "fd":
        text = f"{float(value[0])!r}{SUFFIX[type_]}"
    else:
        text = f"{number}{SUFFIX[type_]}"
    text = f"({text})" if number < 0 else text
    return Expression(type_, text, lambda env: value)


def variable(name: str, type_: str, text: str | None = None) -> Expression:
    return Expression(type_, text or name, lambda env: env[name])


# ------------------------------------------------------------------------------------ operations


def truncated(x, y):
    """C's integer division; ``y`` is neither 0 nor, where ``x`` may be the least number, -1."""
    return (x - np.fmod(x, y)) // y


ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply}
BITWISE = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
COMPARISONS = {
    "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip
LOGIC = {"&&": np.logical_and, "||": np.logical_or}


def _round(x):
    whole = np.trunc(x)
    return np.where(abs(x - whole) >= 0.5, whole + np.copysign(1, x).astype(x.dtype), whole)


# Exact functions of one float, and of one float to a truth value.
EXACT = {
    "sqrt": np.sqrt, "fabs": np.fabs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "round": _round,
}  # fmt: skip
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def _bit_length(x):
    return np.where(x == 0, 0, np.frexp(x.astype("d"))[1])  # of 32 bits: exact in a double


def _reversed(x):
    bits = x.astype("I")[..., None].copy().view("B")
    return np.unpackbits(bits, axis=-1, bitorder="little")


# Of one integer: name, type of the argument, of the result, what it computes.
OF_BITS = {
    "__popc": ("I", "i", lambda x: np.bitwise_count(x).astype("i")),
    "__popcll": ("Q", "i", lambda x: np.bitwise_count(x).astype("i")),
    "__clz": ("i", "i", lambda x: (32 - _bit_length(x.view("I"))).astype("i")),
    "__ffs": ("i", "i", lambda x: _bit_length((x & -x).view("I")).astype("i")),
    "__brev": (
        "I",
        "I",
        lambda x: np.packbits(_reversed(x), axis=-1).view(">u4")[..., 0].astype("I"),
    ),
    "abs": ("i", "i", np.abs),
}
OF_TWO = {
    "__mulhi": ("i", lambda x, y: (x.astype("q") * y >> 32).astype("i")),
    "__umulhi": ("I", lambda x, y: (x.astype("Q") * y >> np.uint64(32)).astype("I")),
    "__mul24": ("i", lambda x, y: (x << 8 >> 8) * (y << 8 >> 8)),
}
# Inexact: the function, the interval its argument is held in, NumPy's own.
INEXACT = {
    "sin": (-50, 50, np.sin), "cos": (-50, 50, np.cos), "exp": (-30, 30, np.exp),
    "tan": (-1.25, 1.25, np.tan), "log": (0.015625, 1e4, np.log), "log2": (0.015625, 1e4, np.log2),
    "log1p": (-0.5, 1e4, np.log1p), "expm1": (-20, 20, np.expm1), "tanh": (-9, 9, np.tanh),
    "sinh": (-9, 9, np.sinh), "atan": (-1e4, 1e4, np.arctan), "asin": (-1, 1, np.arcsin),
    "acos": (-1, 0.75, np.arccos), "cbrt": (-1e4, 1e4, np.cbrt), "exp2": (-20, 20, np.exp2),
    "rsqrt": (0.015625, 1e4, lambda x: 1 / np.sqrt(x)),
    "erf": (-4, 4, np.vectorize(math.erf, "d")),
}  # fmt: skip
INEXACT_OF_TWO = {
    "pow": (0.125, 8, np.power), "atan2": (0.5, 9, np.arctan2), "hypot": (-99, 99, np.hypot),
}  # fmt: skip


def binary(operator: str, function, a: Expression, b: Expression, result=None, at=None):
    """``a operator b`` in the common type ``at``; ``result`` is the result's type if another."""
    at = at or common(a.type, b.type)
    if at in COMPLEX:
        a, b = cast(a, at), cast(b, at)
    text = f"({a.text} {operator} {b.text})"
    return Expression(
        result or at,
        text,
        lambda env: function(converted(a.value(env), at), converted(b.value(env), at)),
    )


def called(name: str, function, arguments, at: str, result=None, rough="") -> Expression:
    """``name(...)``, each argument brought to the type ``at``."""
    arguments = [cast(a, at) for a in arguments]
    return Expression(
        result or at,
        f"{name}({', '.join(a.text for a in arguments)})",
        lambda env: function(*(a.value(env) for a in arguments)),
        rough,
    )


def clamped(e: Expression, low: float, high: float, at: str) -> Expression:
    """A float in [low, high]; NaN becomes ``low``."""
    high, low = literal(high, at), literal(low, at)
    e = called("fmax", np.fmax, (e, low), at)
    return called("fmin", np.fmin, (e, high), at)


def chosen(condition: Expression, a: Expression, b: Expression) -> Expression:
    """``condition ? a : b``."""
    at = a.type
    if a.type != b.type:
        at = common(a.type, b.type)
        if "e" in (a.type, b.type) or at in COMPLEX:
            a, b = cast(a, at), cast(b, at)
    return Expression(
        at,
        f"({condition.text} ? {a.text} : {b.text})",
        lambda env: np.where(
            condition.value(env), converted(a.value(env), at), converted(b.value(env), at)
        ),
    )
