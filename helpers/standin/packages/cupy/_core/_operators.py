"""Python's operators on device arrays, and methods that are functions of the array."""

from __future__ import annotations

import numpy as np

from cupy._core import _routines, _ufuncs
from cupy._core._dispatch import SCALARS, named
from cupy._core._ndarray import ndarray

_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "divmod": "divmod",
    "pow": "power",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "matmul": "matmul",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_METHODS = """all any argmax argmin argpartition argsort choose clip compress cumprod
cumsum dot max mean min prod ptp repeat round searchsorted std sum take trace var""".split()


def _defers_to(other) -> bool:
    """True where ``other`` is to do the operation: it said so, or has the higher priority."""
    missing = object()
    theirs = getattr(other, "__array_ufunc__", missing)
    if theirs is not missing:
        return theirs is None
    return getattr(other, "__array_priority__", 0) > ndarray.__array_priority__


def _add_operators(name: str, ours, theirs) -> None:
    def forward(self, other):
        if isinstance(other, (ndarray, *SCALARS)):
            return ours(self, other)
        return NotImplemented if _defers_to(other) else theirs(self, other)

    def reflected(self, other):
        if isinstance(other, SCALARS):
            return ours(other, self)
        return NotImplemented if _defers_to(other) else theirs(other, self)

    def in_place(self, other):
        if name == "matmul":
            self[...] = ours(self, other)
            return self
        return ours(self, other, self)

    setattr(ndarray, f"__{name}__", forward)
    setattr(ndarray, f"__r{name}__", reflected)
    if name != "divmod":
        setattr(ndarray, f"__i{name}__", in_place)


def _add_comparison(name: str, ours, theirs) -> None:
    def compare(self, other):
        if isinstance(other, (ndarray, *SCALARS)):
            return ours(self, other)
        if _defers_to(other):
            return NotImplemented
        kind = type(other)
        plain = kind.__eq__ is object.__eq__ and (name == "eq" or kind.__ne__ is object.__ne__)
        if name in ("eq", "ne") and (other is None or plain):
            return _routines.full(self.shape, name == "ne", bool)
        return theirs(self, other)

    setattr(ndarray, f"__{name}__", compare)


def install() -> None:
    """Give ``ndarray`` its operators and the methods that repeat a function's name."""
    for name, function in _BINARY.items():
        ours = getattr(_ufuncs, function, None) or getattr(_routines, function)
        _add_operators(name, ours, getattr(np, function))
    for name, function in _COMPARISONS.items():
        _add_comparison(name, getattr(_ufuncs, function), getattr(np, function))
    for name, function in _UNARY.items():
        setattr(ndarray, f"__{name}__", _method(getattr(_ufuncs, function)))
    for name in _METHODS:
        function = getattr(_routines, name, None) or getattr(_ufuncs, name)
        setattr(ndarray, name, _method(function))


def _method(function):
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    return named(method, function.__name__, "with this array as its first argument")
