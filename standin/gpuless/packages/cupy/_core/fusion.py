"""``cupy.fuse``: on a GPU, one kernel for a whole function; here, the function's own steps.

While a fused function runs, its arguments are proxies that allow what CuPy can fuse and refuse the
rest with CuPy's errors: elementwise functions, some reductions, full or reversed slices. A proxy's
branch (``if x > 0``) or ``x.get()`` is thus an error here too, although nothing is compiled.

As in CuPy, the Python function runs once for each combination of types. Its steps are kept, with
what its globals were at that time, and later calls do these steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from cupy._core import _operators, _ufuncs
from cupy._core._creation import asarray
from cupy._core._fusion_steps import (
    PAIRS,
    PYTHON,
    SCALARS,
    TYPES,
    Program,
    _ArrayProxy,
    _VariableProxy,
    copied,
    fusing,
    in_kernel_types,
    local,
    proxies_of,
    unwrap,
)
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to
from cupy._core._ufunc import broadcast, ufunc
from cupy.cuda.compiler import CompileException

_REDUCTIONS = "sum prod nansum nanprod amax amin max min all any".split()
_TYPED = "sum prod nansum nanprod".split()
_OTHERS = "where clip copy copyto around round real imag".split()


def _reduced(operand, axis=None, *args, **kwargs) -> list:
    """The extents that are left of the operand's."""
    count = operand.ndim
    axes = range(count) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    gone = [one % count for one in axes if count]
    return [one for number, one in enumerate(operand._extents) if number not in gone]


def _fusable(function: Callable) -> Callable:
    """``function``, which inside a fused function takes and returns proxies."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not fusing():
            return function(*args, **kwargs)
        program = local.program
        is_ufunc = bool(args) and isinstance(args[0], ufunc)
        given = args[1:] if is_ufunc else args
        name = getattr(function, "__name__", "")
        for value in kwargs.values():
            if isinstance(value, (_VariableProxy, ndarray)):
                unwrap(value)
        if name in _REDUCTIONS:
            if kwargs.pop("keepdims", False):
                raise NotImplementedError(f"cupy.{name} does not support `keepdims` in fusion yet.")
            unwrap(given[0])
            program.see(given[0])
            program.simple &= not program.reduced
            third = given[2] if len(given) > 2 and name in _TYPED else None
            dtype = kwargs.get("dtype", third)
            program.typed |= dtype is not None and np.dtype(dtype) != given[0].dtype
            program.reduced = True
            return program.perform(function, args, kwargs, _reduced(*args, **kwargs))
        for value in given:
            unwrap(value)
        if is_ufunc and "casting" in kwargs:
            raise TypeError(f"Wrong arguments {{'casting': {kwargs['casting']!r}}} in cupy.fuse")
        if name == "where" and isinstance(given[0], _ArrayProxy) and given[0].dtype != bool:
            raise TypeError(
                f"Wrong type ({given[0].dtype}) of arguments for cupy_where: in cupy.fuse a "
                "condition is Boolean, such as x != 0"
            )
        bounds = (*given[1:3], *(kwargs.get(key, 0) for key in ("a_min", "a_max")))
        if name == "clip" and any(bound is None for bound in bounds):
            raise TypeError("NoneType is not supported: in cupy.fuse clip takes two bounds")
        program.see(*given, *kwargs.values())
        named = [value for key, value in kwargs.items() if key != "out"]
        if any(a is None for a in given) or is_ufunc and any(a is not None for a in named):
            program.simple = False
        if name == "copyto" and type(given[1]) in PYTHON:  # NumPy's errors
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
        content = [asarray(content[0]), *in_kernel_types(content[1:], PAIRS)]
    elif name in ("real", "imag", "around", "round", "copy"):
        content[:1] = in_kernel_types(content[:1], list(TYPES))
        if name == "copy":
            content[0] = asarray(content[0])
    elif name == "copyto" and options.get("where") is None:
        content[1:2] = [copied(*content[:2])]
    elif isinstance(content[0], ufunc):
        inputs = slice(1, 1 + content[0].nin)
        content[inputs] = in_kernel_types(content[inputs], content[0].types)
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
            local.program.simple = False
        return function(self, *args, **kwargs)

    return method


class Fusion:
    """A fused function. Without a CuPy array among its arguments it is the plain function."""

    def __init__(self, func: Callable, name: str | None = None):
        self.func = func
        self.name = name or func.__name__
        self._simple: dict[tuple, Program] = {}
        # CuPy goes over to kernels of another kind at the first function, or types, that have no
        # simple one, and stays there.
        self._others: dict[tuple, list[Program]] | None = None

    def __repr__(self) -> str:
        return f"<Fusion {self.name!r}>"

    def __call__(self, *args):
        if fusing() or not any(isinstance(a, ndarray) for a in args):
            return self.func(*args)
        for arg in args:
            if not (arg is None or isinstance(arg, (ndarray, np.ndarray, *SCALARS))):
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

    def _run(self, args: tuple) -> tuple[Program, dict]:
        key = _key(args, self._others is not None)
        if self._others is None:
            kept = [self._simple[key]] if key in self._simple else []
        else:
            kept = [one for one in self._others.get(key, ()) if one.fits(args)]
        if kept:
            return kept[0], kept[0].replay(args)
        program = Program(args)
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


def _output(program: Program, contents: dict, args: tuple, simple: bool):
    if program.result is None:
        return None
    made = [contents[id(proxy)] for proxy in proxies_of(program.result)]
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
