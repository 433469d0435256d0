"""``cupy.fuse``: on a GPU, one kernel for a whole function; here, the function itself.

While a fused function runs, its arguments are proxies that allow what CuPy can fuse and refuse the
rest with CuPy's errors: elementwise functions, some reductions, full or reversed slices. A proxy's
branch (``if x > 0``) or ``x.get()`` is thus an error here too, although nothing is compiled.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

import numpy as np

from cupy._core import _operators, _ufuncs
from cupy._core._creation import asarray
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to
from cupy._core._ufunc import broadcast, ufunc
from cupy.cuda.compiler import CompileException

_SCALARS = (int, float, complex, bool, np.generic)
_PYTHON = (bool, int, float, complex)
_TYPES = "?bBhHiIlLqQefdFD"
_PAIRS = [2 * kind for kind in _TYPES]
# The kernels that a universal function has in CuPy, where NumPy's has others.
_COMPARED = "?? qq QQ qQ Qq ee ff dd FF DD".split()
_KERNELS = {
    **dict.fromkeys("equal not_equal less less_equal greater greater_equal".split(), _COMPARED),
    **dict.fromkeys(("logical_and", "logical_or"), _COMPARED[:-2]),
    "true_divide": "qq qQ Qq QQ ee ff dd FF DD".split(),
    "float_power": "dd FF DD".split(),
    "subtract": _PAIRS,
    "negative": list(_TYPES),
    "positive": list(_TYPES),
}
_REDUCTIONS = "sum prod nansum nanprod amax amin max min all any".split()
_OTHERS = "where clip copy copyto around round real imag".split()

_local = threading.local()


def _fusing() -> bool:
    return getattr(_local, "fusing", False)


class _VariableProxy:
    """An argument, or something computed from arguments, inside a fused function."""

    __slots__ = ("_content",)
    __hash__ = None

    def __init__(self, content):
        self._content = content

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
        content = self._content
        if not isinstance(content, ndarray):
            content = asarray(content)
        if content.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise TypeError("a fused kernel makes no real number of a complex one")
        return _ArrayProxy(content.astype(dtype))


class _ScalarProxy(_VariableProxy):
    __slots__ = ()


class _ArrayProxy(_VariableProxy):
    __slots__ = ()

    def __getitem__(self, index):
        _local.elementwise = False
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
        return _ArrayProxy(self._content[index])

    def __setitem__(self, index, value) -> None:
        if index is not Ellipsis and not (isinstance(index, slice) and index == slice(None)):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        self._content[...] = _unwrap(value)


def _unwrap(value):
    if isinstance(value, _VariableProxy):
        return value._content
    if isinstance(value, (ndarray, np.ndarray)):
        raise TypeError("Concrete ndarray is not supported in fusion.")
    if value is None or isinstance(value, _SCALARS):
        return value
    raise TypeError(f"{type(value)} type is not supported")


def _typed(values: list, rows: list[str]) -> list:
    """``values``, of which a number of Python's has the type of the first kernel that takes it and
    the others, even if that cannot hold it: among booleans 2 is an int8, and 0.5 a half."""
    if not any(type(v) in _PYTHON for v in values):
        return values
    types = [type(v) if type(v) in _PYTHON else v.dtype for v in values]
    for row in rows:
        if all(map(_fits, types, row)):
            return [
                np.array(v).astype(t)[()] if type(v) in _PYTHON else v
                for v, t in zip(values, row, strict=False)
            ]
    return values


@functools.cache
def _fits(given, needed: str) -> bool:
    if np.can_cast(given, needed):
        return True
    return isinstance(given, type) and np.result_type(given(0), needed) == np.dtype(needed)


def _wrap(value, proxies: tuple):
    if isinstance(value, tuple):
        return tuple(_wrap(item, proxies) for item in value)
    for proxy in proxies:  # an output that was given comes back as itself
        if isinstance(proxy, _VariableProxy) and proxy._content is value:
            return proxy
    return _ArrayProxy(value) if isinstance(value, ndarray) else value


def _fusable(function: Callable) -> Callable:
    """``function``, which inside a fused function takes and returns proxies."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _fusing():
            return function(*args, **kwargs)
        given = args[1:] if args and isinstance(args[0], ufunc) else args
        name = getattr(function, "__name__", "")
        if name in _REDUCTIONS:
            _local.elementwise = False
            if kwargs.pop("keepdims", False):
                raise NotImplementedError(f"cupy.{name} does not support `keepdims` in fusion yet.")
            content = [_unwrap(given[0]), *given[1:]]
        else:
            content = [_unwrap(a) for a in given]
            if kwargs.get("dtype") is not None or any(a is None for a in given):
                _local.elementwise = False
        options = {
            key: _unwrap(value) if isinstance(value, (_VariableProxy, ndarray)) else value
            for key, value in kwargs.items()
        }
        if name == "where":
            content = [asarray(content[0]), *_typed(content[1:], _PAIRS)]
        elif name in ("real", "imag", "around", "round"):
            content[:1] = _typed(content[:1], list(_TYPES))
        elif isinstance(args[0], ufunc):
            inputs = args[0].nin
            kernels = _KERNELS.get(args[0].name.removeprefix("cupy_"), args[0].types)
            content[:inputs] = _typed(content[:inputs], kernels)
        content = [*args[: len(args) - len(given)], *content]
        _local.fusing = False  # what CuPy does inside is not fused code
        try:
            result = function(*content, **options)
        finally:
            _local.fusing = True
        return _wrap(result, (*given, *kwargs.values()))

    return call


def install(namespace: dict) -> None:
    """Give the proxies operators and reductions, and the functions of ``cupy`` a second face."""
    ufunc.__call__ = _fusable(ufunc.__call__)
    for name in _REDUCTIONS + _OTHERS:
        namespace[name] = _fusable(namespace[name])
    for name in "copy sum prod max min all any".split():
        function = namespace[name]
        setattr(_VariableProxy, name, lambda self, *a, f=function, **k: f(self, *a, **k))
    for name, function in (_operators._BINARY | _operators._COMPARISONS).items():
        if name in ("divmod", "matmul"):
            continue
        f = namespace[function]
        setattr(_VariableProxy, f"__{name}__", lambda self, other, f=f: f(self, other))
        if name in _operators._BINARY:
            setattr(_ArrayProxy, f"__i{name}__", lambda self, other, f=f: f(self, other, self))
            if name != "pow":  # as in CuPy
                setattr(_VariableProxy, f"__r{name}__", lambda self, other, f=f: f(other, self))
    _VariableProxy.__neg__ = lambda self: _ufuncs.negative(self)
    _VariableProxy.__invert__ = lambda self: _ufuncs.invert(self)


class Fusion:
    """A fused function. Without a CuPy array among its arguments it is the plain function."""

    def __init__(self, func: Callable, name: str | None = None):
        self.func = func
        self.name = name or func.__name__

    def __repr__(self) -> str:
        return f"<Fusion {self.name!r}>"

    def __call__(self, *args):
        if _fusing() or not any(isinstance(a, ndarray) for a in args):
            return self.func(*args)
        for arg in args:
            if not (arg is None or isinstance(arg, (ndarray, np.ndarray, *_SCALARS))):
                types = ", ".join(repr(type(a)) for a in args)
                raise TypeError(f"Invalid argument type for '{self.name}': ({types})")
        for arg in args:
            if isinstance(arg, np.ndarray):
                raise TypeError(f"Unsupported input type {type(arg)}.")
        proxies = [
            arg if arg is None else (_ArrayProxy if isinstance(arg, ndarray) else _ScalarProxy)(arg)
            for arg in args
        ]
        _local.fusing = _local.elementwise = True
        try:
            result = self.func(*proxies)
        finally:
            _local.fusing = False
        # One kernel for all: each result has an element for each of the arguments' elements.
        shapes = [a.shape for a in args if isinstance(a, ndarray)]
        output = _output(result, args, broadcast(shapes) if _local.elementwise else None)
        if not self.name.isidentifier():
            raise CompileException(
                f"error: expected an identifier in 'void {self.name}': a lambda needs a name, as "
                'in cupy.fuse(kernel_name="name")(lambda x: x + 1)',
                *("", self.name, ()),
            )
        return output

    def clear_cache(self) -> None:
        """Nothing is compiled, so there is nothing to forget."""


def _output(result, args: tuple, shape: tuple | None):
    if result is None:
        return None
    if isinstance(result, tuple):
        if not all(isinstance(item, _ArrayProxy) for item in result):
            raise ValueError(
                "The all elements of return value of fused function must be of _ArrayProxy type."
            )
        return tuple(_output(item, args, shape) for item in result)
    if not isinstance(result, _ArrayProxy):
        raise ValueError(
            "The return value of fused functions must be `None`, ndarray or a tuple of ndarays."
        )
    array = result._content
    if shape is not None and array.shape != shape:
        return broadcast_to(array, shape).copy()
    shared = (np.may_share_memory(array._array, a._array) for a in args if isinstance(a, ndarray))
    return array.copy() if any(shared) else array  # a kernel's output is an array of its own


def fuse(*args, **kwargs):
    """Decorator that fuses a function: ``@cupy.fuse``, ``@cupy.fuse(kernel_name="name")``."""

    def wrapper(f: Callable, kernel_name: str | None = None) -> Fusion:
        return functools.update_wrapper(Fusion(f, kernel_name), f)

    if len(args) == 1 and not kwargs and callable(args[0]):
        return wrapper(args[0])
    return lambda f: wrapper(f, *args, **kwargs)
