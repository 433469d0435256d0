"""The steps of a fused function, and the proxies for its arguments with which they are found."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import threading
from collections.abc import Callable

import numpy as np

from cupy._core._ndarray import ndarray, wrap
from cupy._core._ufunc import broadcast
from cupy.cuda.stream import Stream, capturing

SCALARS = (int, float, complex, bool, np.generic)
PYTHON = (bool, int, float, complex)
TYPES = "?bBhHiIlLqQefdFD"
_SCORES = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}

local = threading.local()


class Refused(TypeError):
    """What even CuPy's simple kernels take, and make another thing of than it says."""


def fusing() -> bool:
    return getattr(local, "program", None) is not None


class Program:
    """The steps of a fused function. ``simple`` is whether CuPy makes an elementwise or a reduction
    kernel of them; of others it makes a kernel of another kind, which has no shape of its own.
    ``types`` are those of the arguments with which it was traced. ``equal`` are extents that must
    be equal for such a kernel to be taken again: pairs of 1 and of (argument, axis)."""

    def __init__(self, args: tuple, simple: bool):
        self.steps: list[tuple] = []
        self.simple, self.reduced, self.written = simple, False, False
        self.types = [type(arg) for arg in args]
        self.parameters: list = []
        self.taken: set[int] = set()  # proxies, by their ids
        self.changed: set[int] = set()  # those that are read and then written
        self.equal: set[tuple] = set()
        self.result = None
        self.total = None  # of a simple kernel, what it reduces to
        self.refusal: Exception | None = None  # CuPy's own, when the kernel is launched

    def trace(self, function: Callable, args: tuple) -> None:
        """Do what ``function`` does with zeros, and keep its steps. The zeros have the arguments'
        types, and their shapes too where CuPy looks at these."""
        local.program = self
        local.shape = (1,) * max(arg.ndim for arg in args if isinstance(arg, ndarray))
        zeros: dict[int, ndarray] = {}
        try:
            for number, arg in enumerate(args):
                if isinstance(arg, ndarray):
                    first = next(n for n, one in enumerate(args) if one is arg)
                    shape = (1,) * arg.ndim if self.simple else arg.shape
                    zero = on_device(np.zeros(shape, arg.dtype))
                    content = zeros.setdefault(number if self.simple else first, zero)
                    one = _ArrayProxy(content, [(first, axis) for axis in range(arg.ndim)])
                else:
                    one = None if arg is None else _ScalarProxy(arg)
                self.parameters.append(one)
            # A graph that is captured is not to hold what is done to the zeros.
            with Stream(non_blocking=True) if capturing() else contextlib.nullcontext():
                self.result = self._checked(function(*self.parameters))
        finally:
            local.program = None
        made = [proxy for step in self.steps for proxy in proxies_of(step[-1])]
        for proxy in (*proxies_of(tuple(self.parameters)), *made):
            proxy._content = None  # to free the zeros

    def _checked(self, result):
        if self.simple and isinstance(result, tuple):
            result = tuple(one for one in result if one is not None)
        _check_result(result, _VariableProxy if self.simple else _ArrayProxy)
        self.see(*(result if isinstance(result, tuple) else (result,)))
        if self.reduced and isinstance(result, tuple):
            self.refusal = NotImplementedError(
                "of several results of such a sum CuPy returns the first one alone: return that, "
                "or sum x[...], of which it makes a kernel of another kind"
            )
        return result

    def see(self, *operands) -> None:
        """What was made before a sum has another shape than what was made of the sum."""
        proxies = [one for one in operands if isinstance(one, _VariableProxy)]
        if self.simple and any(one._reduced != self.reduced for one in proxies):
            raise ValueError("Shape mismatch")

    def join(self, inputs, outputs=()) -> list:
        """The extents that the inputs make together."""
        self.written |= bool(outputs)
        self.changed |= {id(one) for one in outputs} & (self.taken | {id(one) for one in inputs})
        if self.simple:
            complexes = [np.dtype("F"), np.dtype("D")]
            types = [getattr(one, "dtype", np.dtype(type(one))) for one in inputs]
            if any(one.dtype in complexes for one in outputs) and not any(
                one in complexes for one in types
            ):
                self.refusal = TypeError(
                    "CuPy's fused kernel does not compile where real numbers are written to a "
                    "complex array: write x + 0j"
                )
            return []
        given = [one for one in inputs if isinstance(one, _ArrayProxy)]
        arrays = [*given, *(one for one in outputs if isinstance(one, _ArrayProxy))]
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
        operands = (*args, *kwargs.values())
        # CuPy's simple kernels have numbers beside arrays without axes.
        kind = _ArrayProxy
        if self.simple and not any(isinstance(one, _ArrayProxy) for one in operands):
            kind = _ScalarProxy
        # An output that was given comes back as itself; outputs come last.
        result = _wrap(value, operands[::-1], kind, extents)
        self.steps.append((work, args, kwargs, result))
        self.taken |= {id(one) for one in operands if isinstance(one, _VariableProxy)}
        return result

    def replay(self, args: tuple) -> dict:
        """Do the steps with arguments. CuPy keeps a boolean and an integer of Python's apart
        from other numbers, not from each other, so that the first one's type stays."""
        contents: dict = {}
        if self.simple:
            local.shape = broadcast([arg.shape for arg in args if isinstance(arg, ndarray)])
        for proxy, arg, kind in zip(self.parameters, args, self.types, strict=True):
            if kind in (bool, int):
                if not -(1 << 63) <= arg < 1 << 64 - self.simple:
                    raise OverflowError("Python int too large to convert to C long")
                if kind is bool and not self.simple and arg not in (0, 1):
                    raise NotImplementedError(
                        f"this fused function was made for True or False, and CuPy takes {arg} "
                        "for one of these: make another one for integers"
                    )
                arg = kind(arg)
            elif self.reduced and self.written and isinstance(arg, ndarray):
                arg = arg.copy()  # what is written before a sum is written to the kernel's copies
            elif self.simple and id(proxy) in self.changed and arg.size != math.prod(local.shape):
                raise NotImplementedError(
                    f"CuPy's kernel would change each element of an array of shape {arg.shape} "
                    f"once for each of shape {local.shape}, which the arguments make together: "
                    "give it an array of that shape"
                )
            if proxy is not None:
                contents[id(proxy)] = arg

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
        if local.program.simple and isinstance(self, _ScalarProxy):
            return -1
        return np.ndim(getattr(self._content, "_array", self._content))

    @property
    def shape(self):
        raise NotImplementedError("`shape` is not supported, currently.")

    def _to_host(self, *args):
        raise TypeError("Cannot convert to Python scalar in cupy.fuse")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _to_host

    def __array__(self, dtype=None, copy=None):
        raise Refused("Cannot convert to a NumPy array in cupy.fuse")

    def astype(self, dtype, order=None, casting=None, subok=None, copy=True):
        for name, value in (("order", order), ("casting", casting), ("subok", subok)):
            if value is not None:
                raise TypeError(f"{name} is not supported yet")
        if not copy and self.dtype == np.dtype(dtype):
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise TypeError("a fused kernel makes no real number of a complex one")
        local.program.see(self)
        return local.program.perform(
            _astype, (self, dtype, local.program.simple), {}, self._extents
        )


class _ScalarProxy(_VariableProxy):
    __slots__ = ()


class _ArrayProxy(_VariableProxy):
    __slots__ = ()

    def __getitem__(self, index):
        if local.program.simple:
            raise TypeError("only CuPy's other kernels have views")
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

    def __iter__(self):
        raise TypeError("in cupy.fuse an array has no end: take x[0], x[1] and so on")

    def __setitem__(self, index, value) -> None:
        if index is not Ellipsis and not (isinstance(index, slice) and index == slice(None)):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        unwrap(value)
        local.program.see(self, value)
        local.program.join([value], [self])
        local.program.perform(assign, (self, value, local.program.simple), {})


def copied(target: ndarray, value, simple: bool):
    """``value`` as CuPy's universal function for copies takes it: a number has the first type that
    it fits by its kind, so that in a simple kernel 300 is an int8."""
    [value] = in_kernel_types([value], list(TYPES), simple)
    given = np.dtype(getattr(value, "dtype", type(value)))
    if given.kind != target.dtype.kind and not np.can_cast(given, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output operand from {given!r} to {target.dtype!r} according to the rule "
            "'same_kind'"
        )
    return value


def assign(target: ndarray, value, simple: bool) -> None:
    value = copied(target, value, simple)
    shape = getattr(value, "shape", ())
    if broadcast([target.shape, shape]) != target.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {broadcast([target.shape, shape])}"
        )
    target[...] = value


def _astype(content, dtype, simple: bool) -> ndarray:
    [content] = in_kernel_types([content], list("?bhilqBHILQefdFD"), simple)
    return on_device(content).astype(dtype, "C")


def unwrap(value):
    if isinstance(value, _VariableProxy):
        return value._content
    if isinstance(value, (ndarray, np.ndarray)):
        raise TypeError("Concrete ndarray is not supported in fusion.")
    if value is None or isinstance(value, SCALARS):
        return value
    raise TypeError(f"{type(value)} type is not supported")


def in_kernel_types(values: list, rows: list[str], simple: bool, compares=False) -> list:
    """``values``, of which a number of Python's has the type of the first kernel that takes it and
    the others, even if that cannot hold it: among booleans 2 is an int8, and 0.5 a half."""
    if not any(type(v) in PYTHON for v in values):
        return values
    row = _row(values, rows, simple, compares)
    if row is None:
        return values
    return [_number(v, t) if type(v) in PYTHON else v for v, t in zip(values, row, strict=False)]


def cast_to_kernel(name: str, values: list, rows: list[str], simple: bool) -> list[ndarray]:
    """``values`` as arrays of the types of the first kernel of ``name`` that takes them."""
    row = _row(values, rows, simple)
    if row is None:
        types = ", ".join(str(getattr(v, "dtype", type(v).__name__)) for v in values)
        raise TypeError(
            f"Wrong type ({types}) of arguments for cupy_{name}, which in cupy.fuse takes no "
            "others than its kernels do: a condition is Boolean, such as x != 0"
        )
    return [
        v.astype(t, copy=False) if isinstance(v, ndarray) else on_device(_number(v, t))
        for v, t in zip(values, row, strict=True)
    ]


def _row(values: list, rows: list[str], simple: bool, compares=False) -> str | None:
    """The types of the first kernel that takes ``values``. A simple one takes each number of
    Python's as one without a type of its own; the others do so beside an array of its kind, or of
    a higher one."""
    types = [type(v) if type(v) in PYTHON else v.dtype for v in values]
    kinds = [_SCORES[one.kind] for one in types if isinstance(one, np.dtype)]
    scores = [_SCORES[np.dtype(one).kind] for one in types if one in PYTHON and one is not bool]
    integers = compares and any(isinstance(one, np.dtype) and one.kind in "iu" for one in types)
    if not simple and max(kinds, default=-1) < max(scores, default=0):
        types = list(map(np.dtype, types))
    elif integers:
        types = [np.dtype(one) if one is int else one for one in types]
    return next((row for row in rows if all(map(_fits, types, row))), None)


def on_device(value) -> ndarray:
    """A number, which a kernel is given, as an array: that is no transfer."""
    return value if isinstance(value, ndarray) else wrap(np.asarray(value))


def _number(value, dtype: str):
    """Of an integer of Python's the kernel has 64 bits."""
    if type(value) is int:
        value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return np.array(value).astype(dtype)[()]


@functools.cache
def _fits(given, needed: str) -> bool:
    if np.can_cast(given, needed):
        return True
    return isinstance(given, type) and np.result_type(given(0), needed) == np.dtype(needed)


def _wrap(value, proxies: tuple, kind: type, extents):
    if isinstance(value, tuple):
        return tuple(_wrap(item, proxies, kind, extents) for item in value)
    for proxy in proxies:  # an output that was given comes back as itself
        if isinstance(proxy, _VariableProxy) and proxy._content is value:
            return proxy
    return kind(value, extents) if isinstance(value, ndarray) else value


def _check_result(result, kind: type) -> None:
    if isinstance(result, tuple):
        if not all(isinstance(item, kind) for item in result):
            raise ValueError(
                "The all elements of return value of fused function must be of _ArrayProxy type."
            )
    elif result is not None and not isinstance(result, kind):
        raise ValueError(
            "The return value of fused functions must be `None`, ndarray or a tuple of ndarays."
        )
