"""Python's operators on device arrays, and methods that are functions of the array."""

from __future__ import annotations

import importlib
import sys
import warnings

import numpy as np

from cupy._core import _functions, _routines, _ufuncs
from cupy._core._creation import full
from cupy._core._dispatch import SCALARS, extends, named
from cupy._core._ndarray import ndarray
from cupy._core._protocols import as_device

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
        return ours(self, other, self)

    setattr(ndarray, f"__{name}__", forward)
    setattr(ndarray, f"__r{name}__", reflected)
    if name not in ("divmod", "matmul"):  # x @= y makes a new array, as in CuPy
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
            return full(self.shape, name == "ne", bool)
        return theirs(self, other)

    setattr(ndarray, f"__{name}__", compare)


def _power(base, exponent, out=None):
    """CuPy has kernels of their own for a few exponents of Python's."""
    if out is None and isinstance(base, ndarray) and type(exponent) in (int, float):
        kind = base.dtype.kind
        if exponent == 2 or type(exponent) is float and exponent in (0.5, -1.0):
            function = {2: _ufuncs.square, 0.5: _ufuncs.sqrt, -1: _ufuncs.reciprocal}[exponent]
            as_is = kind in ("ifc" if type(exponent) is int else "fc")
            return function(base, dtype=None if as_is else np.result_type(base.dtype, exponent))
    return _ufuncs.power(base, exponent, out)


for _name, _function in _BINARY.items():
    _ours = getattr(_routines if _name == "matmul" else _ufuncs, _function)
    _add_operators(_name, _power if _name == "pow" else _ours, getattr(np, _function))
for _name, _function in _COMPARISONS.items():
    _add_comparison(_name, getattr(_ufuncs, _function), getattr(np, _function))


def _method(function):
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    return named(method, function.__name__, "with this array as its first argument")


def _search(function):
    def method(self, axis=None, out=None, dtype=None, keepdims=False):  # not the function's order
        return function(self, axis, dtype, out, keepdims)

    return named(method, function.__name__, "with this array as its first argument")


def _scatter(name: str, function, instead: str):
    def method(self, slices, value) -> None:
        text = f"`ndarray.{name}` is deprecated. Please use `cupy.{instead}.at` instead."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        self._scatter(function, slices, value)

    return named(method, name)


@extends(ndarray)
class Methods:
    """Methods that are functions of the array."""

    __neg__ = _method(_ufuncs.negative)
    __abs__ = _method(_ufuncs.absolute)
    __invert__ = _method(_ufuncs.invert)

    all = _method(_routines.all)
    any = _method(_routines.any)
    argmax = _search(_routines.argmax)
    argmin = _search(_routines.argmin)
    argpartition = _method(_routines.argpartition)
    argsort = _method(_routines.argsort)
    choose = _method(_routines.choose)
    cumprod = _method(_routines.cumprod)
    cumsum = _method(_routines.cumsum)
    dot = _method(_routines.dot)
    max = _method(_routines.max)
    mean = _method(_routines.mean)
    min = _method(_routines.min)
    nonzero = _method(_routines.nonzero)
    prod = _method(_routines.prod)
    ptp = _method(_routines.ptp)
    put = _method(_functions.put)
    repeat = _method(_routines.repeat)
    round = _method(_routines.round)
    searchsorted = _method(_routines.searchsorted)
    std = _method(_routines.std)
    sum = _method(_routines.sum)
    take = _method(_routines.take)
    trace = _method(_routines.trace)
    var = _method(_routines.var)

    def __pos__(self):
        if self.dtype.kind != "b":
            return _ufuncs.positive(self)
        text = "Applying '+' to a non-numerical array is ill-defined. Returning a copy, but in the "
        warnings.warn(text + "future this will error.", DeprecationWarning, stacklevel=2)
        return self.copy()

    scatter_add = _scatter("scatter_add", _ufuncs.add, "add")
    scatter_max = _scatter("scatter_max", _ufuncs.maximum, "maximum")
    scatter_min = _scatter("scatter_min", _ufuncs.minimum, "minimum")

    def clip(self, min=None, max=None, out=None):
        low = high = None
        if self.dtype.kind in "iu":
            low, high = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        elif self.dtype.kind == "f":
            low, high = self.dtype.type(-np.inf), self.dtype.type(np.inf)
        min, max = low if min is None else min, high if max is None else max
        return _ufuncs.clip(self, min, max, out=out)

    def compress(self, condition, axis=None, out=None):
        return _routines.compress(condition, self, axis, out)

    def conj(self):
        """The complex conjugate; the array itself where it is real."""
        return _ufuncs.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj


def _special(function):
    """The function of ``cupyx.scipy.special`` for one of SciPy's ufuncs, else None."""
    if "scipy.special" not in sys.modules:
        return None
    special = importlib.import_module("cupyx.scipy.special")
    scipys = getattr(sys.modules["scipy.special"], function.__name__, None)
    return vars(special).get(function.__name__) if scipys is function else None


@extends(ndarray)
class NumpyDispatch:
    """What NumPy's own functions and ufuncs ask a device array that they are given."""

    def __array_ufunc__(self, function, method, *inputs, **kwargs):
        outs = kwargs.get("out", ())
        if outs:
            if len(outs) != 1:
                raise ValueError("The 'out' parameter must have exactly one array value")
            kwargs["out"] = outs[0]
        ours = getattr(_ufuncs, function.__name__, None) or _special(function)
        if function is np.matmul:
            ours = _routines.matmul
        if method != "__call__":
            ours = getattr(ours, method, None)
        if ours is None:
            return NotImplemented
        if function.__name__ in _COMPARISONS.values():
            # NumPy makes arrays of its scalars before it asks, in comparisons.
            zero_dim = [isinstance(x, np.ndarray) and x.ndim == 0 for x in inputs]
            inputs = [x[()] if zero else x for x, zero in zip(inputs, zero_dim, strict=True)]
        if function is not np.matmul:  # which takes no other library's arrays
            inputs = [as_device(x) for x in inputs]
        for value in (*inputs, *outs):
            if not isinstance(value, (*SCALARS, ndarray, np.ndarray)):
                return NotImplemented
        return ours(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        place = "cupy" + function.__module__.removeprefix("numpy")
        try:  # the function of that name, in the module of CuPy's that has NumPy's name for it
            ours = getattr(sys.modules[place], function.__name__)
        except (AttributeError, KeyError, NotImplementedError):
            return NotImplemented
        if ours is function or not all(issubclass(t, (ndarray, np.ndarray)) for t in types):
            return NotImplemented
        return ours(*args, **kwargs)
