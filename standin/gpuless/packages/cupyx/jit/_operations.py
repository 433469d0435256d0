"""CuPy's universal functions inside kernels: the types of each, in CuPy's order, and its C++.

A function takes the first loop to whose types all arguments may be cast: in the mode "numpy" by
NumPy's safe casts; in the mode "cuda" to any type further on in ``_ORDER``, so that an ``int32``
and a ``float16`` make a ``float16``, as in C.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import cupy
import numpy as np
from cupy._core._syntax import Constant
from cupy._core._ufunc import ufunc

from cupyx.jit._values import Scalar, Value, cast, on_device, scalar, type_of

_ORDER = "?bBhHiIlLqQefdFD"
_BINDING = ("multiply", "negative", "scalar_invert", "scalar_not")  # closer than a sum
_INTEGERS, _FLOATS, _COMPLEX = "bBhHiIlLqQ", "efd", "FD"


class _Loop(NamedTuple):
    inputs: str
    output: str
    code: str | Exception


def _loops(types: str | list[str], code: str | Exception, output: str = "", nin: int = 0) -> list:
    """A loop for each of these types. In ``code`` are the operands {0} and {1}, the types {T} of
    the result and {A} of the first operand."""
    nin = nin or 1 + ("{1}" in str(code))
    return [_Loop(t if len(t) > 1 else t * nin, output or t[0], code) for t in types]


def _refused(text: str) -> Exception:
    return TypeError(f"The cupy boolean {text}, is not supported.")


def _uncovered(name: str) -> Exception:
    from gpuless import not_covered

    return not_covered(f"cupy.{name} of complex numbers in a kernel of cupyx.jit")


def _arithmetic(sign: str, of_bools: str | Exception) -> list:
    return _loops("?", of_bools, nin=2) + _loops(
        _INTEGERS + _FLOATS + _COMPLEX, f"{{0}} {sign} {{1}}"
    )


def _comparison(sign: str, more: str = "") -> list:
    """CuPy makes ``logical_and`` and ``logical_or`` in the same way, and so takes no account of the
    unsigned number where the other one is negative."""
    return [
        *_loops("?qQ", f"{{0}} {sign} {{1}}", "?"),
        _Loop("qQ", "?", f"({{0}} < 0 ? {{0}} {sign} 0 : {{0}} {sign} {{1}})"),
        _Loop("Qq", "?", f"({{1}} < 0 ? 0 {sign} {{1}} : {{0}} {sign} {{1}})"),
        *_loops(_FLOATS + more, f"{{0}} {sign} {{1}}", "?"),
    ]


def _bits(sign: str, bools: str = "") -> list:
    return _loops(bools + _INTEGERS, f"{{0}} {sign} {{1}}")


def _extreme(name: str, of_integers: str) -> list:
    return [
        *_loops("?" + _INTEGERS, f"{of_integers}({{0}}, {{1}})"),
        *_loops(_FLOATS, f"jit::{name}<{{T}}>({{0}}, {{1}})"),
        *_loops(_COMPLEX, _uncovered(name), nin=2),
    ]


def _rounding(code: str) -> list:
    return _loops("?" + _INTEGERS, "{0}") + _loops(_FLOATS, code)


def _signed(bools: str, signed: str, unsigned: str) -> list:
    found = _loops("?", bools) if bools else []
    for char in _INTEGERS:
        found += _loops(char, signed if char.islower() else unsigned)
    return found


def _function(name: str, code: str, nin: int = 1) -> list:
    """Of numbers with a fraction; of complex ones only where ``complex.h`` has it."""
    covered = name in "sqrt exp log sin cos tan sinh cosh tanh".split()
    return _loops(_FLOATS, code) + _loops(_COMPLEX, code if covered else _uncovered(name), nin=nin)


_DIVIDE = "static_cast<{T}>({0}) / static_cast<{T}>({1})"
LOOPS: dict[str, list[_Loop]] = {
    "add": _arithmetic("+", "{0} | {1}"),
    "subtract": _arithmetic("-", _refused("subtract, the `-` operator")),
    "multiply": _arithmetic("*", "{0} & {1}"),
    "true_divide": _loops(["q", "qQ", "Qq", "Q"], _DIVIDE, "d")
    + _loops(_FLOATS + _COMPLEX, _DIVIDE),
    "floor_divide": _loops(_INTEGERS + _FLOATS, "jit::floor_divide({0}, {1})"),
    "remainder": [
        *_loops(_INTEGERS, "({0} - jit::floor_divide({0}, {1}) * {1}) * ({1} != 0)"),
        *_loops(_FLOATS, "{0} - jit::floor_divide({0}, {1}) * {1}"),
    ],
    "power": [
        _Loop("??", "b", "jit::power({0}, {1})"),
        *_loops(_INTEGERS, "jit::power({0}, {1})"),
        *_loops("ef", "powf({0}, {1})"),
        *_loops("d", "pow({0}, {1})"),
        *_loops(_COMPLEX, "jit::complex_power<{T}>({0}, {1})"),
    ],
    "float_power": [*_loops("d", "pow({0}, {1})"), *_loops(_COMPLEX, _uncovered("pow"), "D", 2)],
    "fmod": [
        *_loops(_INTEGERS, "({1} == 0 ? 0 : fmod((double)({0}), (double)({1})))"),
        *_loops(_FLOATS, "fmod({0}, {1})"),
    ],
    "bitwise_and": _bits("&", "?"),
    "bitwise_or": _bits("|", "?"),
    "bitwise_xor": _bits("^", "?"),
    "left_shift": _bits("<<"),
    "right_shift": _bits(">>"),
    "invert": _loops("?", "!{0}") + _loops(_INTEGERS, "~{0}"),
    "negative": _loops("?", _refused("negative, the `-` operator"))
    + _loops(_INTEGERS + _FLOATS + _COMPLEX, "-{0}"),
    "positive": _loops("?", _refused("positive, the `+` operator"))
    + _loops(_INTEGERS + _FLOATS + _COMPLEX, "+{0}"),
    "absolute": [
        *_signed("{0}", "{0} > 0 ? {0} : -{0}", "{0}"),
        *_loops(_FLOATS, "fabs({0})"),
        _Loop("F", "f", "abs({0})"),
        _Loop("D", "d", "abs({0})"),
    ],
    "sign": [
        *_signed("", "({0} > 0) - ({0} < 0)", "{0} > 0"),
        *_loops(_FLOATS + _COMPLEX, NotImplementedError("ufunc `cupy_sign` is not supported.")),
    ],
    "equal": _comparison("==", _COMPLEX),
    "not_equal": _comparison("!=", _COMPLEX),
    "less": _comparison("<"),
    "less_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_equal": _comparison(">="),
    "logical_and": _comparison("&&"),
    "logical_or": _comparison("||"),
    "logical_xor": _loops("?" + _INTEGERS + _FLOATS, "!{0} != !{1}", "?"),
    "logical_not": _loops("?" + _INTEGERS + _FLOATS, "!{0}", "?"),
    "minimum": _extreme("minimum", "min"),
    "maximum": _extreme("maximum", "max"),
    "fmin": _loops("?" + _INTEGERS, "min({0}, {1})") + _function("fmin", "fmin({0}, {1})", 2),
    "fmax": _loops("?" + _INTEGERS, "max({0}, {1})") + _function("fmax", "fmax({0}, {1})", 2),
    "floor": _rounding("floor({0})"),
    "ceil": _rounding("ceil({0})"),
    "trunc": _rounding("trunc({0})"),
    "fix": _rounding("trunc({0})"),
    "square": _loops(_INTEGERS + _FLOATS + _COMPLEX, "{0} * {0}"),
    "reciprocal": [
        *_loops(_INTEGERS, "({0} == 0 ? 0 : 1 / {0})"),
        *_loops(_FLOATS + _COMPLEX, "{A}(1) / {0}"),
    ],
    "conjugate": _loops(_INTEGERS + _FLOATS, "{0}") + _loops(_COMPLEX, "conj({0})"),
    "exp2": _function("exp2", "pow({A}(2), {0})"),
    "deg2rad": _loops(_FLOATS, "{0} * ({T})(M_PI / 180)"),
    "rad2deg": _loops(_FLOATS, "{0} * ({T})(180 / M_PI)"),
    "signbit": _loops(_FLOATS, "signbit({0})", "?"),
    "ldexp": _loops(["ei", "fi", "el", "fl", "di", "dq"], "ldexp({0}, {1})"),
    "gcd": _loops("?", TypeError("gcd cannot be computed with boolean arrays"), nin=2)
    + _loops(_INTEGERS, "jit::gcd({0}, {1})"),
    "lcm": _loops("?", TypeError("lcm cannot be computed with boolean arrays"), nin=2)
    + _loops(_INTEGERS, "jit::lcm({0}, {1})"),
    "rsqrt": _loops(_FLOATS, "rsqrt({0})") + _loops(_COMPLEX, _uncovered("rsqrt")),
    "cbrt": _loops(_FLOATS, "cbrt({0})"),
    "fabs": _loops(_FLOATS, "fabs({0})"),
    # Of the language, not of CuPy's functions.
    "scalar_not": _loops("?" + _INTEGERS + _FLOATS, "!{0}", "?")
    + _loops(_COMPLEX, "{0} == {A}(0)", "?"),
    "scalar_invert": _loops("?" + _INTEGERS, "~{0}"),
}
LOOPS["degrees"], LOOPS["radians"] = LOOPS["rad2deg"], LOOPS["deg2rad"]
for _name in "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh rint".split():
    LOOPS[_name] = _function(_name, f"{_name}({{0}})")
for _name in "sin cos tan sinh cosh tanh".split():
    LOOPS[f"arc{_name}"] = _function(f"arc{_name}", f"a{_name}({{0}})")
for _name in "isnan isinf isfinite".split():
    LOOPS[_name] = _loops(_FLOATS + _COMPLEX, f"{_name}({{0}})", "?")
for _name in "atan2 hypot copysign nextafter".split():
    LOOPS[_name.replace("atan2", "arctan2")] = _function(_name, f"{_name}({{0}}, {{1}})", 2)
_OF_ERRORS = "erf erfc erfcx".split()  # of cupyx.scipy.special
for _name in _OF_ERRORS:
    LOOPS[_name] = [_Loop("e", "d", f"{_name}({{0}})"), *_loops("fd", f"{_name}({{0}})")]


def name_of(function) -> str | None:
    """What one of CuPy's universal functions is called here; None for what is none."""
    if function in (cupy.i0, cupy.sinc):
        return None
    if isinstance(function, ufunc):
        return function.name.removeprefix("cupy_")
    special = sys.modules.get("cupyx.scipy.special")
    for name in _OF_ERRORS if special else ():
        if function is getattr(special, name):
            return name
    return None


def refuse_uncovered(function) -> None:
    """NotImplementedError for a universal function of CuPy's that is none here."""
    from gpuless import not_covered

    special = sys.modules.get("cupyx.scipy.special")
    for module, names in ((cupy, ("i0", "sinc")), (special, vars(special) if special else ())):
        for name in names:
            if callable(function) and function is getattr(module, name):
                raise not_covered(f"{module.__name__}.{name} in a kernel of cupyx.jit")


def apply(name: str, args: list, mode: str, dtype=None) -> Value:
    """The function of that name of values and constants, the result of ``dtype`` if given."""
    loops = LOOPS.get(name)
    if loops is None:
        raise NotImplementedError(f"ufunc `cupy_{name}` is not supported.")
    if len(args) != len(loops[0].inputs):
        raise ValueError("invalid number of arguments")
    types = []
    for arg in args:
        kind = type_of(arg.obj, mode) if isinstance(arg, Constant) else arg.type
        if not isinstance(kind, Scalar):
            raise TypeError(f"cupy.ufunc: {kind} is unsupported")
        types.append(kind.dtype)
    loop = _choose(loops, types, dtype, mode)
    if loop is None:
        raise TypeError(f'"cupy_{name}" does not support for the input types: {types}')
    if isinstance(loop.code, Exception):
        raise type(loop.code)(*loop.code.args)
    operands = []
    for arg, char in zip(args, loop.inputs, strict=True):
        operand = on_device(cast(arg, scalar(char)), mode)
        if operand.open and (name in _BINDING or (name == "subtract" and operands)):
            raise ValueError(
                f"CuPy puts {operand.code} without brackets into this expression, so that on a GPU "
                "it is another number: assign it to a variable first"
            )
        # In an array a float16 has 16 bits; here it is a float.
        operands.append(f"float({operand.code})" if char == "e" else operand.code)
    result, first = scalar(loop.output), scalar(loop.inputs[0])
    code = loop.code.format(*operands, T=result, A=first)
    if max(loop.code.count(f"{{{number}}}") for number in range(len(args))) > 1:
        # Each operand is worked out once. What it is in C++ it stays: two int8 make an int.
        names = ["x", "y"][: len(args)]
        parameters = ", ".join(f"auto {one}" for one in names)
        body = loop.code.format(*names, T=result, A=first)
        code = f"[]({parameters}) -> {result} {{ return {body}; }}({', '.join(operands)})"
    return Value(f"({code})", result)


def _choose(loops: list[_Loop], types: list[np.dtype], dtype, mode: str) -> _Loop | None:
    if dtype is not None:
        return next((loop for loop in loops if np.dtype(loop.output) == np.dtype(dtype)), None)

    def fits(given: np.dtype, char: str) -> bool:
        if mode == "numpy":
            return np.can_cast(given, np.dtype(char))
        return _ORDER.find(given.char) <= _ORDER.find(char)

    return next((loop for loop in loops if all(map(fits, types, loop.inputs))), None)
