"""``cupy.fuse``: on a GPU, one kernel for a whole function; here, the function's own steps.

While a fused function runs, its arguments are proxies that allow what CuPy can fuse and refuse the
rest with CuPy's errors: elementwise functions, some reductions, full or reversed slices. A proxy's
branch (``if x > 0``) or ``x.get()`` is thus an error here too, although nothing is compiled.

As in CuPy, the Python function runs once for each combination of types, and with zeros, so that
one that fails has written nothing; and once more where CuPy's elementwise and reduction kernels do
not suffice. Its steps are kept, with what its globals were at that time, and calls do these steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from cupy._core import _operators, _ufuncs
from cupy._core._fusion_steps import (
    PYTHON,
    SCALARS,
    TYPES,
    Program,
    Refused,
    _ArrayProxy,
    _VariableProxy,
    assign,
    cast_to_kernel,
    copied,
    fusing,
    in_kernel_types,
    local,
    on_device,
    proxies_of,
    unwrap,
)
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to
from cupy._core._ufunc import Comparison, broadcast, ufunc
from cupy.cuda.compiler import CompileException
from gpuless.engine import spaces

_REDUCTIONS = "sum prod nansum nanprod amax amin max min all any".split()
_TYPED = "sum prod nansum nanprod".split()
_OTHERS = "where clip copy copyto around round real imag angle".split()
_PLAIN: dict[str, Callable] = {}
_CHECKED = (_VariableProxy, ndarray)
_CONDITION = ("condition", "x", "y")
_WHERE = ["?" + 2 * kind for kind in TYPES]
_CLIP = [3 * kind for kind in TYPES if kind not in "FD"]
_ROUND = [kind + "q" for kind in TYPES]


def _reduced(operand, axis=None, **options) -> list:
    """The extents that are left of the operand's."""
    count = operand.ndim
    axes = range(count) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    gone = [one % count for one in axes if count]
    return [one for number, one in enumerate(operand._extents) if number not in gone]


def _reduction(function: Callable, name: str, operand, *given, **options):
    program = local.program
    names = ("axis", "dtype", "out", "keepdims") if name in _TYPED else ("axis", "out", "keepdims")
    options |= zip(names, given, strict=False)
    if options.pop("keepdims", False):
        raise NotImplementedError(f"cupy.{name} does not support `keepdims` in fusion yet.")
    for value in (operand, *options.values()):
        if isinstance(value, (_VariableProxy, ndarray)):
            unwrap(value)
    if not isinstance(operand, _VariableProxy if program.simple else _ArrayProxy):
        raise NotImplementedError("Reduction for scalar arguments is not supported.")
    function = _PLAIN[name.removeprefix("nan")]  # a fused kernel takes NaN as it is
    if not program.simple:
        if isinstance(options.get("axis"), list):
            raise TypeError("'list' object cannot be interpreted as an integer")
        return program.perform(function, (operand,), options, _reduced(operand, **options))
    if program.reduced:
        raise NotImplementedError("Multiple reduction is not implemented yet")
    program.see(operand)
    axis = options.get("axis")
    axes = axis if isinstance(axis, tuple | list) else () if axis is None else (axis,)
    if len(axes) > max(operand.ndim, 0):
        raise np.exceptions.AxisError(len(axes) - 1, max(operand.ndim, 0))
    dtype, out = options.get("dtype"), options.pop("out", None)
    if name in ("any", "all") and operand.dtype.kind == "c":
        program.refusal = TypeError(
            f"CuPy's fused kernel of {name} takes no complex numbers: x != 0"
        )
    elif out is not None:
        program.refusal = TypeError(
            f"in a fused function CuPy takes no `out` of {name}, unless the function has views or "
            "several of them: return what it makes"
        )
    elif dtype is not None and np.dtype(dtype) != operand.dtype:
        program.refusal = NotImplementedError(
            "CuPy takes no notice of the dtype of a sum or product in such a fused function: make "
            "one of x.astype(dtype)"
        )
    program.reduced = True
    work = functools.partial(_over_all, function)
    program.total = program.perform(work, (operand,), options)
    return program.total


def _over_all(function: Callable, operand, **options):
    """A simple kernel sums over the shape that all its arguments make together."""
    return function(broadcast_to(on_device(operand), local.shape), **options)


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
        if name in _REDUCTIONS:
            return _reduction(function, name, *args, **kwargs)
        if name == "copy" and (*args[1:], *kwargs.values()) in ((), ("K",)):
            args, kwargs, given = args[:1], {}, args[:1]
        elif name == "copy":
            raise NotImplementedError("cupy.copy does not support `order` in fusion yet.")
        for value in (*given, *(v for v in kwargs.values() if isinstance(v, _CHECKED))):
            unwrap(value)
        if is_ufunc:
            known = ("out",) if program.simple else ("out", "dtype")
            odd = {k: v for k, v in kwargs.items() if k not in known and v is not None}
            if odd:
                raise TypeError(f"Wrong arguments {odd} in cupy.fuse")
        bounds = (*given[1:3], *(kwargs.get(key, 0) for key in ("a_min", "a_max")))
        if name == "clip" and any(bound is None for bound in bounds):
            raise TypeError("NoneType is not supported: in cupy.fuse clip takes two bounds")
        if name == "where" and (len(given) + len(kwargs) != 3 or {*kwargs} - {*_CONDITION}):
            raise TypeError("in cupy.fuse where takes a condition and two values")
        if kwargs.get("dtype") is not None and np.dtype(kwargs["dtype"]).kind != "c":
            if any(isinstance(a, _VariableProxy) and a.dtype.kind == "c" for a in given):
                raise TypeError("a fused kernel makes no real number of a complex one")
        program.see(*given, *kwargs.values())
        if program.simple and any(a is None for a in given):
            raise TypeError("Unsupported type <class 'NoneType'>")
        if name == "copyto" and type(given[1]) in PYTHON:  # NumPy's errors
            made = np.empty((), given[0].dtype)
            np.copyto(made, given[1], kwargs.get("casting", "same_kind"))
        named = [value for value in kwargs.values() if value is not None]
        if name == "copyto":
            extents = program.join([*given[1:], *named], given[:1])
        elif is_ufunc:
            extents = program.join(given[: args[0].nin], [*given[args[0].nin :], *named])
        else:
            out = [kwargs["out"]] if kwargs.get("out") is not None else []
            extents = program.join([*given, *named], out)
        work = functools.partial(_call, function, name, program.simple)
        return program.perform(work, args, kwargs, extents)

    return call


def _call(function: Callable, name: str, simple: bool, *content, **options):
    """One of CuPy's functions, whose numbers have the types of its kernels."""
    content = list(content)
    if name == "where":
        values = [*content, *(options[key] for key in _CONDITION if key in options)]
        return function(*cast_to_kernel(name, values, _WHERE, simple))
    if name == "clip" and len(content) + len(options) - ("out" in options) == 3:
        values = [*content, *(options[key] for key in ("a_min", "a_max") if key in options)]
        return function(*cast_to_kernel(name, values, _CLIP, simple), out=options.get("out"))
    if name in ("around", "round"):
        return _rounded(function, simple, *content, **options)
    if name in ("real", "imag", "copy", "angle"):
        content[:1] = in_kernel_types(content[:1], list(TYPES), simple)
        if name == "copy":
            return on_device(content[0]).copy("C")
    elif name == "copyto" and options.get("where") is None:
        content[1:2] = [copied(*content[:2], simple)]
    elif isinstance(content[0], ufunc):
        inputs = slice(1, 1 + content[0].nin)
        rows, compares = content[0].types, isinstance(content[0], Comparison)
        content[inputs] = in_kernel_types(content[inputs], rows, simple, compares)
    result = function(*content, **options)
    # These are no views in a kernel.
    return result.copy() if name in ("real", "imag") and isinstance(result, ndarray) else result


def _rounded(function: Callable, simple: bool, a, decimals=0, out=None):
    """In a kernel integers stay as they are, whatever ``decimals`` are."""
    a, places = cast_to_kernel("round", [a, decimals], _ROUND, simple)
    if a.dtype.kind in "fc":
        return function(a, decimals, out=out)
    made = broadcast_to(a, broadcast([a.shape, places.shape]))
    made = made.astype("e" if a.dtype == bool else a.dtype)
    if out is None:
        return made
    assign(out, made, simple)
    return out


def install(namespace: dict) -> None:
    """Give the proxies operators and reductions, and the functions of ``cupy`` a second face."""
    _PLAIN.update({name: namespace[name] for name in _REDUCTIONS})
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


def _method(function: Callable, reduces: bool) -> property:
    def method(self) -> Callable:
        if reduces and local.program.simple:
            raise AttributeError("only the proxies of CuPy's other kernels have it")
        return functools.partial(function, self)

    return property(method)


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
        program = self._program(args)
        if program.refusal is not None:
            raise type(program.refusal)(*program.refusal.args)
        if wrong := spaces.misnamed(self.name):
            advice = 'a kernel needs another name, as in cupy.fuse(kernel_name="name")(function)'
            raise CompileException(f"{wrong}: {advice}", "", self.name, ())
        return _output(program, program.replay(args), args)

    def _program(self, args: tuple) -> Program:
        if self._others is None:
            key = _key(args, False)
            if key in self._simple:
                return self._simple[key]
            program = Program(args, simple=True)
            try:
                program.trace(self.func, args)
            except Refused:
                raise
            except Exception:
                self._others = {}
            else:
                self._simple[key] = program
                return program
        kept = self._others.setdefault(_key(args, True), [])
        program = next((one for one in kept if one.fits(args)), None)
        if program is None:
            program = Program(args, simple=False)
            program.trace(self.func, args)
            kept.append(program)
        return program

    def clear_cache(self) -> None:
        """Forget the steps. As in CuPy, those of other than simple kernels stay."""
        self._simple = {}


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


def _output(program: Program, contents: dict, args: tuple):
    if program.result is None:
        return None
    made = [contents[id(proxy)] for proxy in proxies_of(program.result)]
    arrays = [a for a in args if isinstance(a, ndarray)]
    # One kernel for all: each result has an element for each of the arguments' elements, and is an
    # array of its own.
    shape = contents[id(program.total)].shape if program.reduced else local.shape
    outputs: list = []
    for array in made:
        if not isinstance(array, ndarray):
            array = broadcast_to(on_device(array), shape).copy()
        elif program.simple:
            shared = any(
                array is a or np.may_share_memory(array._array, a._array) for a in arrays + outputs
            )
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
