"""Random expressions.

What C++ and NumPy must both give bit for bit is built freely; an inexact function (``sin``, a
complex product) stands only at the root of a tree, where a tolerance can be stated.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from .expressions import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    COMPLEX,
    CTYPES,
    EXACT,
    FLOATS,
    INEXACT,
    INEXACT_OF_TWO,
    INTEGERS,
    LOGIC,
    OF_BITS,
    OF_TWO,
    TESTS,
    Expression,
    binary,
    called,
    cast,
    chosen,
    clamped,
    common,
    converted,
    literal,
    promoted,
    truncated,
)

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
        return binary(operator, truncated if operator == "/" else np.fmod, a, b)

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
        real, imag = (
            f"fmin(fmax({z.text}.{of}(), ({part})-99), ({part})99)" for of in ("real", "imag")
        )
        text = f"{CTYPES[at]}({real} + {shift}, {imag})"

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
