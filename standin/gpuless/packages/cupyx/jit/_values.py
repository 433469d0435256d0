"""What a kernel's Python is about: types and values of the device, and constants.

A type's ``str`` is its C++; a value is C++ text that gives it, and a type.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from cupy._core._kernel import ctype_of
from cupy._core._syntax import Constant


class Type:
    pass


@dataclass(frozen=True)
class Named(Type):
    """A type that is nothing but its C++ name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Scalar(Type):
    dtype: np.dtype

    def __str__(self) -> str:
        return "float" if self.dtype == np.float16 else ctype_of(self.dtype)


@dataclass(frozen=True)
class Pointer(Type):
    """Shared memory."""

    item: Type
    ndim = 1

    def __str__(self) -> str:
        return f"{self.item}*"


@dataclass(frozen=True)
class Array(Type):
    dtype: np.dtype
    ndim: int
    contiguous: bool

    @property
    def item(self) -> Scalar:
        return Scalar(self.dtype)

    def __str__(self) -> str:
        return f"jit::Array<{ctype_of(self.dtype)}, {self.ndim}, {int(self.contiguous)}>"


@dataclass(frozen=True)
class Tuple(Type):
    types: tuple[Type, ...]

    def __str__(self) -> str:
        return f"jit::Tuple<{', '.join(map(str, self.types))}>"


def scalar(dtype) -> Scalar:
    return Scalar(np.dtype(dtype))


VOID, DIM3 = Named("void"), Named("dim3")
BOOL, INT32, UINT32, INT64 = map(scalar, "?iIq")


@dataclass(frozen=True)
class Value:
    """Something on the device. ``open``: CuPy's text for it has a sum without brackets;
    ``parts``: what a tuple was made of; ``of_array``: it is the shape or the strides of one."""

    code: str
    type: Type
    open: bool = False
    parts: tuple[Value, ...] = ()
    of_array: bool = False


@dataclass(frozen=True)
class Range:
    """What a ``for`` loop goes over; ``rising`` is None where only the device knows."""

    start: Value
    stop: Value
    step: Value
    type: Type
    rising: bool | None
    unroll: int | bool | None


def type_of(value, mode: str) -> Scalar:
    """The type of a number; NotImplementedError for what is none."""
    if isinstance(value, np.generic):
        return Scalar(value.dtype)
    short = mode == "cuda"
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT32 if short and -(1 << 31) <= value < 1 << 31 else scalar("l")
    if isinstance(value, float):
        return scalar("f" if short else "d")
    if isinstance(value, complex):
        return scalar("F" if short else "D")
    raise NotImplementedError(f"{value} is not scalar object.")


def on_device(value, mode: str) -> Value:
    """A value or a constant as a value."""
    if isinstance(value, Value):
        return value
    if not isinstance(value, Constant):
        raise TypeError(f"'{value}' cannot be interpreted as a cuda object.")
    if isinstance(value.obj, tuple):
        return pack([on_device(Constant(one), mode) for one in value.obj])
    kind = type_of(value.obj, mode)
    return Value(_literal(value.obj, kind), kind)


def pack(values: list[Value]) -> Value:
    """A tuple of values. Within braces C++ works them out from the left, and converts nothing."""
    kind = Tuple(tuple(one.type for one in values))
    codes = [f"({one.type})({one.code})" if _is_short(one.type) else one.code for one in values]
    return Value(f"{kind}{{{', '.join(codes)}}}", kind, parts=tuple(values))


def _is_short(kind: Type) -> bool:
    """Whether C++ makes an ``int`` of it wherever it is in an expression."""
    return isinstance(kind, Scalar) and kind.dtype.kind in "biu" and kind.dtype.itemsize < 4


def _literal(number, kind: Scalar) -> str:
    dtype = kind.dtype
    if dtype.kind == "c":
        part = scalar(dtype.char.lower())
        return f"{kind}({_literal(number.real, part)}, {_literal(number.imag, part)})"
    if not np.isfinite(number):
        wide = dtype == np.float64
        bits = np.array(number, "d" if wide else "f").view("q" if wide else "i")
        as_float = "__longlong_as_double" if wide else "__int_as_float"
        return f"{as_float}({bits:#x})"
    suffixes = {"d": "", "f": "f", "l": "ll", "q": "ll", "i": "", "L": "ull", "Q": "ull", "I": "u"}
    suffix = suffixes.get(dtype.char)
    text = str(number).lower()
    if dtype.kind == "b" or suffix is None:  # of a float16 all digits: C++ makes a float of them
        return text if dtype.kind == "b" else f"({kind}){number}"
    return f"({text}{suffix})" if number < 0 else text + suffix


def cast(value: Value | Constant, kind: Scalar, casting: str = "same_kind") -> Value | Constant:
    """A number as another type; TypeError where NumPy's rule ``casting`` forbids it."""
    if isinstance(value, Constant):
        return Constant(kind.dtype.type(value.obj))
    if not isinstance(value.type, Scalar):
        raise TypeError(f"{value.code} is not scalar type.")
    given, wanted = value.type.dtype, kind.dtype
    if given == wanted:
        return value
    if not np.can_cast(given, wanted, casting):
        raise TypeError(f"Cannot cast from '{given}' to {wanted} with casting rule {casting}.")
    real = given.kind == "c" and wanted.kind != "c"
    if real and wanted.kind != "b":
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, np.exceptions.ComplexWarning, stacklevel=2)
    return Value(f"({kind})({value.code}{'.real()' * real})", kind)
