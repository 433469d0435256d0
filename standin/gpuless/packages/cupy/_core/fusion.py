"""``cupy.fuse``: on a GPU, one kernel for a whole function; here, the function's own steps.

While a fused function runs, its arguments are proxies that allow what CuPy can fuse and refuse the
rest with CuPy's errors: elementwise functions, some reductions, full or reversed slices. A proxy's
branch (``if x > 0``) or ``x.get()`` is thus an error here too, although nothing is compiled.

As in CuPy, the Python function runs once for each combination of types. Its steps are kept, with
what its globals were at that time, and later calls do these steps.
"""

from __future__ import annotations

import functools
import operator
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
_TYPED = "sum prod nansum nanprod".split()
_OTHERS = "where clip copy copyto around round real imag".split()

_local = threading.local()


def _fusing() -> bool:
    return getattr(_local, "program", None) is not None


class _Program:
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
        _local.program = self
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
            _local.program = None
        made = [proxy for step in self.steps for proxy in _proxies(step[-1])]
        contents = {}
        for proxy in (*_proxies(tuple(self.parameters)), *made):
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
        _local.program = None  # what CuPy does inside is not fused code
        try:
            value = work(*content, **options)
        finally:
            _local.program = self
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
            for proxy, one in zip(_proxies(result), values, strict=False):
                contents.setdefault(id(proxy), one)
        return contents


def _proxies(result) -> list:
    given = result if isinstance(result, tuple) else (result,)
    return [one for one in given if isinstance(one, _VariableProxy)]


class _VariableProxy:
    """An argument, or something computed from arguments, inside a fused function."""

    __slots__ = ("_content", "_extents", "_reduced")
    __hash__ = None

    def __init__(self, content, extents=()):
        self._content, self._extents = content, extents
        self._reduced = _local.program.reduced

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
        _local.program.see(self)
        return _local.program.perform(_astype, (self, dtype), {}, self._extents)


class _ScalarProxy(_VariableProxy):
    __slots__ = ()


class _ArrayProxy(_VariableProxy):
    __slots__ = ()

    def __getitem__(self, index):
        _local.program.simple = False
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
        return _local.program.perform(operator.getitem, (self, index), {}, extents)

    def __setitem__(self, index, value) -> None:
        if index is not Ellipsis and not (isinstance(index, slice) and index == slice(None)):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        _unwrap(value)
        _local.program.see(self, value)
        _local.program.join([value], [self])
        _local.program.perform(_assign, (self, value), {})


def _copied(target: ndarray, value):
    """``value`` as CuPy's universal function for copies takes it: a number has the first type that
    it fits by its kind, so that 300 is an int8."""
    [value] = _typed([value], list(_TYPES))
    given = np.dtype(getattr(value, "dtype", type(value)))
    if given.kind != target.dtype.kind and not np.can_cast(given, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast output operand from {given!r} to {target.dtype!r} according to the rule "
            "'same_kind'"
        )
    return value


def _assign(target: ndarray, value) -> None:
    value = _copied(target, value)
    shape = getattr(value, "shape", ())
    if broadcast([target.shape, shape]) != target.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {broadcast([target.shape, shape])}"
        )
    target[...] = value


def _astype(content, dtype) -> ndarray:
    [content] = _typed([content], list("?bhilqBHILQefdFD"))
    return asarray(content).astype(dtype)


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


def _reduced(operand, axis=None, *args, **kwargs) -> list:
    """The extents that are left of the operand's."""
    count = operand.ndim
    axes = range(count) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    gone = [one % count for one in axes if count]
    return [one for number, one in enumerate(operand._extents) if number not in gone]


def _wrap(value, proxies: tuple, extents):
    if isinstance(value, tuple):
        return tuple(_wrap(item, proxies, extents) for item in value)
    for proxy in proxies:  # an output that was given comes back as itself
        if isinstance(proxy, _VariableProxy) and proxy._content is value:
            return proxy
    return _ArrayProxy(value, extents) if isinstance(value, ndarray) else value


def _fusable(function: Callable) -> Callable:
    """``function``, which inside a fused function takes and returns proxies."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _fusing():
            return function(*args, **kwargs)
        program = _local.program
        is_ufunc = bool(args) and isinstance(args[0], ufunc)
        given = args[1:] if is_ufunc else args
        name = getattr(function, "__name__", "")
        for value in kwargs.values():
            if isinstance(value, (_VariableProxy, ndarray)):
                _unwrap(value)
        if name in _REDUCTIONS:
            if kwargs.pop("keepdims", False):
                raise NotImplementedError(f"cupy.{name} does not support `keepdims` in fusion yet.")
            _unwrap(given[0])
            program.see(given[0])
            program.simple &= not program.reduced
            third = given[2] if len(given) > 2 and name in _TYPED else None
            dtype = kwargs.get("dtype", third)
            program.typed |= dtype is not None and np.dtype(dtype) != given[0].dtype
            program.reduced = True
            return program.perform(function, args, kwargs, _reduced(*args, **kwargs))
        for value in given:
            _unwrap(value)
        program.see(*given, *kwargs.values())
        named = [value for key, value in kwargs.items() if key != "out"]
        if any(a is None for a in given) or is_ufunc and any(a is not None for a in named):
            program.simple = False
        if name == "copyto" and type(given[1]) in _PYTHON:  # NumPy's errors
            made = np.empty((), given[0].dtype)
            np.copyto(made, given[1], kwargs.get("casting", "same_kind"))
        named = list(kwargs.values())
        if name == "copyto":
            extents = program.join([*given[1:], *named], given[:1])
        elif is_ufunc:
            extents = program.join(given[: args[0].nin], [*given[args[0].nin :], *named])
        else:
            extents = program.join(given, named)
        return program.perform(functools.partial(_call, function, name), args, kwargs, extents)

    return call


def _call(function: Callable, name: str, *content, **options):
    """One of CuPy's functions, whose numbers have the types of its kernels."""
    content = list(content)
    if name == "where":
        content = [asarray(content[0]), *_typed(content[1:], _PAIRS)]
    elif name in ("real", "imag", "around", "round", "copy"):
        content[:1] = _typed(content[:1], list(_TYPES))
        if name == "copy":
            content[0] = asarray(content[0])
    elif name == "copyto" and options.get("where") is None:
        content[1:2] = [_copied(*content[:2])]
    elif isinstance(content[0], ufunc):
        kernels = _KERNELS.get(content[0].name.removeprefix("cupy_"), content[0].types)
        inputs = slice(1, 1 + content[0].nin)
        content[inputs] = _typed(content[inputs], kernels)
    result = function(*content, **options)
    # These are no views in a kernel.
    return result.copy() if name in ("real", "imag") and isinstance(result, ndarray) else result


def install(namespace: dict) -> None:
    """Give the proxies operators and reductions, and the functions of ``cupy`` a second face."""
    ufunc.__call__ = _fusable(ufunc.__call__)
    for name in _REDUCTIONS + _OTHERS:
        namespace[name] = _fusable(namespace[name])
    for name in "copy sum prod max min all any".split():
        setattr(_VariableProxy, name, _method(namespace[name], name != "copy"))
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


def _method(function: Callable, reduces: bool) -> Callable:
    def method(self, *args, **kwargs):
        if reduces:  # only the proxies of CuPy's other kernels have it
            _local.program.simple = False
        return function(self, *args, **kwargs)

    return method


class Fusion:
    """A fused function. Without a CuPy array among its arguments it is the plain function."""

    def __init__(self, func: Callable, name: str | None = None):
        self.func = func
        self.name = name or func.__name__
        self._simple: dict[tuple, _Program] = {}
        # CuPy goes over to kernels of another kind at the first function, or types, that have no
        # simple one, and stays there.
        self._others: dict[tuple, list[_Program]] | None = None

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
        program, contents = self._run(args)
        output = _output(program, contents, args, self._others is None)
        if not self.name.isidentifier():
            raise CompileException(
                f"error: expected an identifier in 'void {self.name}': a lambda needs a name, as "
                'in cupy.fuse(kernel_name="name")(lambda x: x + 1)',
                *("", self.name, ()),
            )
        return output

    def _run(self, args: tuple) -> tuple[_Program, dict]:
        key = _key(args, self._others is not None)
        if self._others is None:
            kept = [self._simple[key]] if key in self._simple else []
        else:
            kept = [one for one in self._others.get(key, ()) if one.fits(args)]
        if kept:
            return kept[0], kept[0].replay(args)
        program = _Program(args)
        try:
            contents = program.trace(self.func, args)
        except Exception:
            if self._others is None and _fit(args):
                self._others = {}
            raise
        if self._others is None and program.simple:
            self._simple[key] = program
        else:
            self._others = self._others or {}
            self._others.setdefault(_key(args, True), []).append(program)
        return program, contents

    def clear_cache(self) -> None:
        """Forget the steps. As in CuPy, those of other than simple kernels stay."""
        self._simple = {}


def _fit(args: tuple) -> bool:
    try:
        broadcast([a.shape for a in args if isinstance(a, ndarray)])
    except ValueError:  # CuPy sees it when the kernel is launched
        return False
    return True


def _key(args: tuple, others: bool) -> tuple:
    """What arguments have in common that take the same steps."""
    found: list = []
    for number, arg in enumerate(args):
        if isinstance(arg, ndarray):
            found += [arg.dtype.char, arg.ndim]
            if others:
                found.append(arg.base is None)
                for one in args[:number]:
                    found.append(arg is one)
                    if arg.base is not None and isinstance(one, ndarray):
                        found.append(arg.base is one.base)
        elif isinstance(arg, np.generic):
            found.append(arg.dtype.char)
        else:
            kinds = (float, int, complex)
            found.append(next((kind for kind in kinds if isinstance(arg, kind)), None))
    return tuple(found)


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


def _output(program: _Program, contents: dict, args: tuple, simple: bool):
    if program.result is None:
        return None
    made = [contents[id(proxy)] for proxy in _proxies(program.result)]
    arrays = [a for a in args if isinstance(a, ndarray)]
    outputs: list = []
    for array in made:
        if simple:
            # One kernel for all: each result has an element for each of the arguments' elements,
            # and is an array of its own.
            shape = array.shape if program.reduced else broadcast([a.shape for a in arrays])
            shared = any(np.may_share_memory(array._array, a._array) for a in arrays + outputs)
            if shared or array.shape != shape:
                array = broadcast_to(array, shape).copy()
        elif any(_same(array, one) for one in outputs):
            raise NotImplementedError(
                "CuPy gives another array in place of one that a fused function returns twice: "
                "return y.copy() the second time"
            )
        outputs.append(array)
    return tuple(outputs) if isinstance(program.result, tuple) else outputs[0]


def _same(one: ndarray, other: ndarray) -> bool:
    x, y = one._array.__array_interface__, other._array.__array_interface__
    return one is other or one.size > 0 and x == y


def fuse(*args, **kwargs):
    """Decorator that fuses a function: ``@cupy.fuse``, ``@cupy.fuse(kernel_name="name")``."""

    def wrapper(f: Callable, kernel_name: str | None = None) -> Fusion:
        return functools.update_wrapper(Fusion(f, kernel_name), f)

    if len(args) == 1 and not kwargs and callable(args[0]):
        return wrapper(args[0])
    return lambda f: wrapper(f, *args, **kwargs)
