"""Random CUDA C expressions, each with the function by which NumPy finds its value.

The two sides share nothing but the tree: C++ compiles the text, NumPy applies C's rules (integer
promotion, the usual conversions, wrap-around, truncating division) to whole arrays. What both must
give bit for bit is built freely; an inexact function (``sin``, a complex product) stands only at
the root of a tree, where a tolerance can be stated.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

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


def _truncated(x, y):
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
    "__brev": ("I", "I", lambda x: np.packbits(_reversed(x), axis=-1).view(">u4")[..., 0]),
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


# --------------------------------------------------------------------------------------- drawing


_integers = functools.cache(st.integers)  # a strategy takes longer to make than to draw from


class Pointer(NamedTuple):
    """An array that an expression may index: all its elements in C order are ``env[name]``."""

    name: str
    type: str
    shape: tuple[int, ...]
    carray: bool  # CArray has size() and takes {i, j}


class Grammar:
    """Draws expressions over ``scope``; what comes first in a list is what shrinking leads to."""

    def __init__(self, draw, scope: list[Expression], pointers: list[Pointer] | None = None):
        self.draw, self.scope, self.pointers = draw, scope, pointers or []
        self.types = [c for c in INTEGERS + "fd"]

    def pick(self, *choices):
        return choices[self.within(0, len(choices) - 1)]

    def within(self, low: int, high: int) -> int:
        return self.draw(_integers(low, high))

    def constant(self) -> Expression:
        type_ = self.pick("i", "d", "f", "I", "q", "Q")
        if type_ in "fd":
            return literal(self.pick(1.0, 0.5, -2.0, 0.1, 3e9, 1e-3), type_)
        number = self.pick(1, 0, 2, 7, 100, 255, 65537)
        number *= self.pick(1, -1) if type_ in "iq" else 1
        return literal(number, type_)

    def leaf(self) -> Expression:
        if self.scope and self.within(0, 4):
            return self.pick(*self.scope)
        return self.constant()

    def real(self, depth: int) -> Expression:
        """An expression that is not complex."""
        e = self.expression(depth)
        if e.type in COMPLEX:
            part = self.pick("real", "imag")
            call = f"{e.text}.{part}()" if self.within(0, 1) else f"{part}({e.text})"
            value = e.value
            return Expression(e.type.lower(), call, lambda env: getattr(value(env), part))
        return e

    def integer(self, depth: int) -> Expression:
        e = self.real(depth)
        return e if e.type in INTEGERS else cast(e, self.pick("i", "q", "I", "B"))

    def condition(self, depth: int) -> Expression:
        return self.comparison(depth)

    def expression(self, depth: int = 3) -> Expression:
        """Any exact expression, at most so deep."""
        if depth == 0:
            return self.leaf()
        kinds = [
            self.leaf, self.arithmetic, self.arithmetic, self.comparison, self.ternary,
            self.bitwise, self.shift, self.division, self.converted, self.minmax, self.unary,
            self.function, self.bits, self.logic,
        ]  # fmt: skip
        if self.pointers:
            kinds.append(self.indexed)
        kind = self.pick(*kinds)
        return kind() if kind == self.leaf else kind(depth - 1)

    def arithmetic(self, depth):
        a, b = self.expression(depth), self.expression(depth)
        operator = self.pick("+", "-", "*")
        if operator == "*" and common(a.type, b.type) in COMPLEX:
            operator = "+"
        return binary(operator, ARITHMETIC[operator], a, b)

    def comparison(self, depth):
        a, b = self.expression(depth), self.expression(depth)
        operator = self.pick(*COMPARISONS)
        if common(a.type, b.type) in COMPLEX:
            operator = "==" if "=" in operator else "!="
        return binary(operator, COMPARISONS[operator], a, b, result="?")

    def logic(self, depth):
        a, b = self.real(depth), self.real(depth)
        operator = self.pick(*LOGIC)
        a, b = cast(a, "?"), cast(b, "?")
        return binary(operator, LOGIC[operator], a, b, result="?", at="?")

    def ternary(self, depth):
        return chosen(self.condition(depth), self.expression(depth), self.expression(depth))

    def bitwise(self, depth):
        operator = self.pick(*BITWISE)
        return binary(operator, BITWISE[operator], self.integer(depth), self.integer(depth))

    def shift(self, depth):
        a, count = self.integer(depth), self.integer(depth)
        at = promoted(a.type)
        last = 8 * np.dtype(at).itemsize - 1
        count = binary("&", BITWISE["&"], count, literal(last, "i"))
        left = self.within(0, 1)
        function = np.left_shift if left else np.right_shift
        return Expression(
            at,
            f"({a.text} {'<<' if left else '>>'} {count.text})",
            lambda env: function(converted(a.value(env), at), count.value(env).astype(at)),
        )

    def division(self, depth):
        operator = self.pick("/", "%")
        if operator == "/" and self.within(0, 1):
            a, b = self.real(depth), self.real(depth)
            if not {a.type, b.type} & set(FLOATS):
                b = cast(b, self.pick("d", "f"))
            return binary("/", np.divide, a, b)
        a = self.integer(depth)
        if self.within(0, 1):
            b = literal(self.pick(2, 3, 7, -3, 1000), "i")
        else:  # -11 to -3; for an unsigned type another number, but never 0
            b = binary("%", np.fmod, self.integer(depth), literal(5, "i"))
            b = binary("-", np.subtract, b, literal(7, "i"))
        return binary(operator, _truncated if operator == "/" else np.fmod, a, b)

    def converted(self, depth):
        return cast(self.real(depth), self.pick(*self.types))

    def minmax(self, depth):
        a, b = self.real(depth), self.real(depth)
        at = common(a.type, b.type)
        name = self.pick("min", "max")
        function = {"min": np.fmin, "max": np.fmax}[name]
        e = called(name, function, (a, b), at)
        # Of -0 and 0 either may come out; adding 0 makes them one.
        return binary("+", np.add, e, literal(0, "i")) if at in "fd" else e

    def unary(self, depth):
        operator = self.pick("-", "~", "!", "+")
        if operator == "~":
            a = self.integer(depth)
        elif operator == "!":
            a = cast(self.real(depth), "?")
            return Expression("?", f"(!{a.text})", lambda env: ~a.value(env))
        else:
            a = self.expression(depth)
        at = promoted(a.type)
        function = {"-": np.negative, "~": np.invert, "+": np.positive}[operator]
        text = f"({operator}{a.text})"
        return Expression(at, text, lambda env: function(converted(a.value(env), at)))

    def function(self, depth):
        a = self.real(depth)
        at = "f" if a.type in "fe" else "d"
        group = self.pick(EXACT, TESTS, "fmod", "copysign", "signbit")
        if group == "fmod":
            return called("fmod", np.fmod, (a, self.real(depth)), at)
        if group == "copysign":  # with a number's sign: that of a NaN is nowhere defined
            return called("copysign", np.copysign, (a, clamped(self.real(depth), -9, 9, at)), at)
        if group == "signbit":
            return called("signbit", np.signbit, (clamped(a, -9, 9, at),), at, result="?")
        name = self.pick(*group)
        return called(name, group[name], (a,), at, result="?" if group is TESTS else None)

    def bits(self, depth):
        name = self.pick(*OF_BITS, *OF_TWO)
        if name in OF_BITS:
            at, result, function = OF_BITS[name]
            return called(name, function, (self.integer(depth),), at, result=result)
        at, function = OF_TWO[name]
        return called(name, function, (self.integer(depth), self.integer(depth)), at)

    def indexed(self, depth):
        """An element of an array, at an index that is brought inside."""
        p = self.pick(*self.pointers)

        def inside(length: str, number: int):
            at = cast(self.integer(depth), "Q")
            return f"{at.text} % {length}", lambda env: at.value(env) % np.uint64(number)

        if p.carray and p.shape and self.within(0, 1):
            lengths = [
                f"{n}ull" if self.within(0, 1) else f"(unsigned long long){p.name}.shape()[{k}]"
                for k, n in enumerate(p.shape)
            ]
            parts = [inside(length, n) for length, n in zip(lengths, p.shape, strict=True)]
            text = ", ".join(f"(int)({part})" for part, _ in parts)

            def value(env):
                index = np.broadcast_arrays(*(at(env).astype("q") for _, at in parts))
                return env[p.name][np.ravel_multi_index(tuple(index), p.shape)]

            return Expression(p.type, f"{p.name}[{{{text}}}]", value)
        size = math.prod(p.shape)
        text, at = inside(f"{size}ull", size)
        return Expression(p.type, f"{p.name}[{text}]", lambda env: env[p.name][at(env).astype("q")])

    def root(self, type_: str, depth: int) -> Expression:
        """An expression of that type to store, perhaps an inexact one."""
        if type_ in "efdFD" and self.within(0, 3) == 3:
            return cast(self.inexact(depth, "FD" if type_ in COMPLEX else "fd"), type_)
        e = self.expression(depth)
        return cast(e, type_)

    def inexact(self, depth: int, types: str) -> Expression:
        at = self.pick(*types)
        if at in COMPLEX:
            a, b = cast(self.expression(depth), at), cast(self.expression(depth), at)
            return _complex_product(a, b, self.pick("*", "/"))
        name = self.pick(*INEXACT, *INEXACT_OF_TWO)
        low, high, function = (INEXACT | INEXACT_OF_TWO)[name]
        count = 1 if name in INEXACT else 2
        arguments = [clamped(self.real(depth), low, high, at) for _ in range(count)]
        return called(
            name, lambda *x: function(*(v.astype("d") for v in x)).astype(at), arguments, at,
            rough=at,
        )  # fmt: skip


def _complex_product(a: Expression, b: Expression, operator: str) -> Expression:
    """A product or a quotient of small Gaussian integers, so that nothing cancels or overflows."""
    at, part = a.type, CTYPES[a.type.lower()]

    def small(z: Expression, shift: int) -> Expression:
        clamp = f"fmin(fmax({z.text}.{{}}(), ({part})-99), ({part})99)"
        text = f"{CTYPES[at]}({clamp.format('real')} + {shift}, {clamp.format('imag')})"

        def value(env):
            v = z.value(env)
            real, imag = (np.fmin(np.fmax(x, -99), 99) for x in (v.real, v.imag))
            return real + shift + 1j * imag

        return Expression(at, text, value)

    a, b = small(a, 0), small(b, 300)  # the divisor is far from 0
    function = np.multiply if operator == "*" else np.divide
    return Expression(
        at,
        f"({a.text} {operator} {b.text})",
        lambda env: function(a.value(env), b.value(env)).astype(at),
        rough=at,
    )
