"""The steps of a fused function, and the proxies for its arguments with which they are found."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable

import numpy as np

from cupy._core._creation import asarray
from cupy._core._ndarray import ndarray
from cupy._core._ufunc import broadcast

SCALARS = (int, float, complex, bool, np.generic)
PYTHON = (bool, int, float, complex)
TYPES = "?bBhHiIlLqQefdFD"
PAIRS = [2 * kind for kind in TYPES]

local = threading.local()


def fusing() -> bool:
    return getattr(local, "program", None) is not None


class Program:
    """The steps of a fused function. ``simple`` is whether CuPy makes an elementwise or a reduction
    kernel of them; of others it makes a kernel of another kind, which has no shape of its own.
    ``types`` are those of the arguments with which it was traced. ``equal`` are extents that must
    be equal for such a kernel to be taken again: pairs of 1 and of (argument, axis)."""

    def __init__(self, args: tuple):
        self.steps: list[tuple] = []
        self.simple, self.reduced, self.typed = True, False, False
        self.types = [type(arg) for arg in args]
        self.parameters: list = []
        self.equal: set[tuple] = set()
        self.result = None

    def trace(self, function: Callable, args: tuple) -> dict:
        """Do what ``function`` does, keep its steps, and give what the proxies stand for."""
        local.program = self
        try:
            for arg in args:
                first = next(n for n, one in enumerate(args) if one is arg)
                if isinstance(arg, ndarray):
                    one = _ArrayProxy(arg, [(first, axis) for axis in range(arg.ndim)])
                else:
                    one = None if arg is None else _ScalarProxy(arg)
                self.parameters.append(one)
            self.result = function(*self.parameters)
            self.see(*(self.result if isinstance(self.result, tuple) else (self.result,)))
            _check_result(self.result)
            if self.simple and self.typed:
                raise NotImplementedError(
                    "CuPy takes no notice of the dtype of a sum or product in such a fused "
                    "function: make one of x.astype(dtype)"
                )
        finally:
            local.program = None
        made = [proxy for step in self.steps for proxy in proxies_of(step[-1])]
        contents = {}
        for proxy in (*proxies_of(tuple(self.parameters)), *made):
            if id(proxy) not in contents:
                contents[id(proxy)], proxy._content = proxy._content, None  # to free the arrays
        return contents

    def see(self, *operands) -> None:
        """What was made before a sum has another shape than what was made of the sum."""
        if any(one._reduced != self.reduced for one in operands if isinstance(one, _VariableProxy)):
            self.simple = False

    def join(self, inputs, outputs=()) -> list:
        """The extents that the inputs make together."""
        given = [one for one in inputs if isinstance(one, _ArrayProxy)]
        arrays = given + [one for one in outputs if isinstance(one, _ArrayProxy)]
        shape = broadcast([one._content.shape for one in arrays])
        extents: list = [1] * len(shape)
        for one in arrays:
            for axis in range(-one.ndim, 0):
                if one._content.shape[axis] == shape[axis]:
                    extents[axis] = one._extents[axis]
        for one in given:
            for axis in range(-one.ndim, 0):
                whole = one._content.shape[axis] == shape[axis]
                self.equal.add((one._extents[axis], extents[axis] if whole else 1))
        return extents

    def fits(self, args: tuple) -> bool:
        def size(extent) -> int:
            return extent if extent == 1 else args[extent[0]].shape[extent[1]]

        return all(size(one) == size(other) for one, other in self.equal)

    def perform(self, work: Callable, args: tuple, kwargs: dict, extents=()):
        """``work`` done on what the proxies stand for, and kept as a step."""
        content = [a._content if isinstance(a, _VariableProxy) else a for a in args]
        options = {
            key: a._content if isinstance(a, _VariableProxy) else a for key, a in kwargs.items()
        }
        local.program = None  # what CuPy does inside is not fused code
        try:
            value = work(*content, **options)
        finally:
            local.program = self
        # An output that was given comes back as itself; outputs come last.
        result = _wrap(value, (*args, *kwargs.values())[::-1], extents)
        self.steps.append((work, args, kwargs, result))
        return result

    def replay(self, args: tuple) -> dict:
        """Do the steps with other arguments. CuPy keeps a boolean and an integer of Python's apart
        from other numbers, not from each other, so that the first one's type stays."""
        contents: dict = {}
        for proxy, arg, kind in zip(self.parameters, args, self.types, strict=True):
            if proxy is not None:
                contents[id(proxy)] = kind(arg) if kind in (bool, int) else arg

        def content(one):
            return contents[id(one)] if isinstance(one, _VariableProxy) else one

        for work, given, options, result in self.steps:
            value = work(*map(content, given), **{key: content(a) for key, a in options.items()})
            values = value if isinstance(result, tuple) else (value,)
            for proxy, one in zip(proxies_of(result), values, strict=False):
                contents.setdefault(id(proxy), one)
        return contents


def proxies_of(result) -> list:
    given = result if isinstance(result, tuple) else (result,)
    return [one for one in given if isinstance(one, _VariableProxy)]


class _VariableProxy:
    """An argument, or something computed from arguments, inside a fused function."""

    __slots__ = ("_content", "_extents", "_reduced")
    __hash__ = None

    def __init__(self, content, extents=()):
        self._content, self._extents = content, extents
        self._reduced = local.program.reduced

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(getattr(self._content, "dtype", type(self._content)))

    @property
    def ndim(self) -> int:
        return np.ndim(getattr(self._content, "_array", self._content))

    @property
    def shape(self):
        raise NotImplementedError("`shape` is not supported, currently.")

    def _to_host(self, *args):
        raise TypeError("Cannot convert to Python scalar in cupy.fuse")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _to_host

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Cannot convert to a NumPy array in cupy.fuse")

    def astype(self, dtype, order=None, casting=None, subok=None, copy=True):
        for name, value in (("order", order), ("casting", casting), ("subok", subok)):
            if value is not None:
                raise TypeError(f"{name} is not supported yet")
        if not copy and self.dtype == np.dtype(dtype):
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise TypeError("a fused kernel makes no real number of a complex one")
        local.program.see(self)
        return local.program.perform(_astype, (self, dtype), {}, self._extents)


class _ScalarProxy(_VariableProxy):
    __slots__ = ()


class _ArrayProxy(_VariableProxy):
    __slots__ = ()

    def __getitem__(self, index):
        local.program.simple = False
        entries = index if isinstance(index, tuple) else (index,)
        for entry in entries:
            if not (entry is None or entry is Ellipsis or isinstance(entry, (int, slice))):
                raise IndexError(
                    "Indices must be integers, slices, ellipsis, None or integer or boolean arrays."
                )
        if sum(isinstance(entry, (int, slice)) for entry in entries) > self.ndim:
            raise IndexError("Too many indices for array.")
        for entry in entries:
            if isinstance(entry, slice) and (
                entry.start is not None or entry.stop is not None or entry.step not in (1, -1, None)
            ):
                raise NotImplementedError(
                    "Only full range ``x[::]`` or reverse ``x[::-1]`` is supported for basic "
                    "slicing in CuPy fusion."
                )
        strides = [8 * (axis + 1) for axis in range(self.ndim)]  # they tell which axes are left
        marks = np.lib.stride_tricks.as_strided(np.zeros(()), (2,) * self.ndim, strides)
        left = marks[tuple(0 if isinstance(one, int) else one for one in entries)].strides
        extents = [self._extents[abs(one) // 8 - 1] if one else 1 for one in left]
        return local.program.perform(operator.getitem, (self, index), {}, extents)

    def __setitem__(self, index, value) -> None:
        if index is not Ellipsis and not (isinstance(index, slice) and index == slice(None)):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        unwrap(value)
        local.program.see(self, value)
        local.program.join([value], [self])
        local.program.perform(_assign, (self, value), {})


def copied(target: ndarray, value):
    """``value`` as CuPy's universal function for copies takes it: a number has the first type that
    it fits by its kind, so that 300 is an int8."""
    [value] = in_kernel_types([value], list(TYPES))
    given = np.dtype(getattr(value, "dtype", type(value)))
    if given.kind != target.dtype.kind and not np.can_cast(given, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output operand from {given!r} to {target.dtype!r} according to the rule "
            "'same_kind'"
        )
    return value


def _assign(target: ndarray, value) -> None:
    value = copied(target, value)
    shape = getattr(value, "shape", ())
    if broadcast([target.shape, shape]) != target.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {broadcast([target.shape, shape])}"
        )
    target[...] = value


def _astype(content, dtype) -> ndarray:
    [content] = in_kernel_types([content], list("?bhilqBHILQefdFD"))
    return asarray(content).astype(dtype)


def unwrap(value):
    if isinstance(value, _VariableProxy):
        return value._content
    if isinstance(value, (ndarray, np.ndarray)):
        raise TypeError("Concrete ndarray is not supported in fusion.")
    if value is None or isinstance(value, SCALARS):
        return value
    raise TypeError(f"{type(value)} type is not supported")


def in_kernel_types(values: list, rows: list[str]) -> list:
    """``values``, of which a number of Python's has the type of the first kernel that takes it and
    the others, even if that cannot hold it: among booleans 2 is an int8, and 0.5 a half."""
    if not any(type(v) in PYTHON for v in values):
        return values
    types = [type(v) if type(v) in PYTHON else v.dtype for v in values]
    for row in rows:
        if all(map(_fits, types, row)):
            return [
                np.array(v).astype(t)[()] if type(v) in PYTHON else v
                for v, t in zip(values, row, strict=False)
            ]
    return values


@functools.cache
def _fits(given, needed: str) -> bool:
    if np.can_cast(given, needed):
        return True
    return isinstance(given, type) and np.result_type(given(0), needed) == np.dtype(needed)


def _wrap(value, proxies: tuple, extents):
    if isinstance(value, tuple):
        return tuple(_wrap(item, proxies, extents) for item in value)
    for proxy in proxies:  # an output that was given comes back as itself
        if isinstance(proxy, _VariableProxy) and proxy._content is value:
            return proxy
    return _ArrayProxy(value, extents) if isinstance(value, ndarray) else value


def _check_result(result) -> None:
    if isinstance(result, tuple):
        if not all(isinstance(item, _ArrayProxy) for item in result):
            raise ValueError(
                "The all elements of return value of fused function must be of _ArrayProxy type."
            )
    elif result is not None and not isinstance(result, _ArrayProxy):
        raise ValueError(
            "The return value of fused functions must be `None`, ndarray or a tuple of ndarays."
        )
