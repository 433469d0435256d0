"""Expressions of Python as values of the device, and CuPy's refusals of what cannot be one."""

# ruff: noqa: I001  (imported names in rows)

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from cupy._core._syntax import NUMBERS, OPERATORS, Constant, Walker

from cupyx.jit import _operations
from cupyx.jit._builtins import OF_PYTHON, Builtin
from cupyx.jit._values import (
    BOOL, DIM3, INT64, UINT32, Array, Pointer, Scalar, Tuple, Value, cast, on_device, pack, scalar,
)  # fmt: skip


class Marked:
    """A Python function that ``rawkernel`` has marked as a kernel or as a device function."""

    def __init__(self, function: Callable, mode: str, device: bool):
        self.function, self.mode, self.device = function, mode, device


class Expressions(Walker):
    """A function's expressions. ``program`` takes the device functions that it calls; ``current``
    is the line that is being translated."""

    mode: str
    current = 0

    def value(self, node: ast.expr):
        found = super().value(node)
        held = getattr(found, "obj", None)  # jit.threadIdx is a constant that holds a value
        return held if isinstance(held, Value | Builtin) else found

    def operate(self, op: ast.AST, args: list):
        if type(op) not in OPERATORS or isinstance(op, ast.UAdd):
            raise NotImplementedError(f"Not supported: {type(op).__name__}")
        of_constants, ufunc = OPERATORS[type(op)]
        if all(isinstance(arg, Constant) for arg in args):
            return Constant(of_constants(*(arg.obj for arg in args)))
        values = [on_device(arg, self.mode) for arg in args]
        if any(isinstance(one.type, Pointer) for one in values):
            return self.move(op, values)
        name = {ast.Not: "scalar_not", ast.Invert: "scalar_invert"}.get(type(op))
        return _operations.apply(name or _operations.name_of(ufunc), args, self.mode)

    def move(self, op: ast.AST, values: list[Value]) -> Value:
        """A pointer that many elements on or back, or how far two are from each other."""
        kinds = [getattr(getattr(one.type, "dtype", None), "kind", "p") for one in values]
        sign = {ast.Add: "+", ast.Sub: "-"}.get(type(op))
        if sign and kinds[0] == "p" and kinds[1] in "iu":
            kind = values[0].type
        elif sign == "+" and kinds[0] in "iu":
            kind = values[1].type
        elif sign == "-" and values[0].type == values[1].type:
            kind = INT64
        else:
            raise TypeError(f"cupy.ufunc: {values[kinds.index('p')].type} is unsupported")
        return Value(f"({values[0].code} {sign} {values[1].code})", kind)

    def of_IfExp(self, node):
        test, x, y = (self.value(one) for one in (node.test, node.body, node.orelse))
        if isinstance(test, Constant):
            raise AttributeError("CuPy cannot compile a conditional expression of a constant")
        if isinstance(test.type, Scalar) and test.type.dtype.kind == "c":
            raise TypeError("Complex type value cannot be boolean condition.")
        x, y = self.hinted(x, y), self.hinted(y, x)
        if x.type != y.type or not isinstance(x.type, Scalar | Array):
            found = [getattr(one.type, "dtype", one.type) for one in (x, y)]
            raise TypeError(f"Type mismatch in conditional expression.: {found[0]} != {found[1]}")
        return Value(f"({cast(test, BOOL, 'unsafe').code} ? {x.code} : {y.code})", x.type)

    def hinted(self, value, other) -> Value:
        """A number of the text takes the type of the other one."""
        if isinstance(value, Constant) and not isinstance(value.obj, np.generic):
            value = cast(value, on_device(other, self.mode).type)
        return on_device(value, self.mode)

    def of_Tuple(self, node):
        values = [self.value(one) for one in node.elts]
        if all(isinstance(one, Constant) for one in values):
            return Constant(tuple(one.obj for one in values))
        return pack([on_device(one, self.mode) for one in values])

    def of_Attribute(self, node):
        value, name = self.value(node.value), node.attr
        if isinstance(value, Constant):
            return Constant(getattr(value.obj, name))
        kind = getattr(value, "type", None)
        if kind == DIM3 and name in ("x", "y", "z"):
            return Value(f"{value.code}.{name}", UINT32)
        if isinstance(kind, Array | Pointer) and name == "ndim":
            return Constant(kind.ndim)
        if isinstance(kind, Array):
            if name == "size":
                return Value(f"static_cast<long long>({value.code}.size)", INT64)
            if name in ("shape", "strides"):
                if kind.ndim > 10:
                    raise NotImplementedError(
                        "getting shape/strides for an array with ndim > 10 is not supported yet"
                    )
                parts = [Value(f"{value.code}.{name}[{axis}]", INT64) for axis in range(kind.ndim)]
                return replace(pack(parts), of_array=True)
            if name in ("begin", "end"):
                from gpuless import not_covered

                raise not_covered(f"an array's {name}() in a kernel of cupyx.jit")
        if hasattr(kind, "method"):  # of a group of threads
            return kind.method(name, value)
        raise AttributeError(f"Unknown attribute: {name}")

    def of_Subscript(self, node):
        array, index = self.value(node.value), self.value(node.slice)
        if isinstance(array, Constant):
            if isinstance(index, Constant):
                return Constant(array.obj[index.obj])
            raise TypeError(f"{type(array.obj)} is not subscriptable with non-constants.")
        return self.index(on_device(array, self.mode), index, node)

    def index(self, array: Value, index, node: ast.expr | None = None) -> Value:
        """The element of an array, or the part of it, or the part of a tuple."""
        kind = array.type
        if isinstance(kind, Tuple):
            if not isinstance(index, Constant):
                raise TypeError("Tuple is not subscriptable with non-constants.")
            number = range(len(kind.types))[index.obj]
            return Value(f"jit::get<{number}>({array.code})", kind.types[number])
        if not isinstance(kind, Array | Pointer):
            raise TypeError(f"{array.code} is not subscriptable.")
        index = on_device(index, self.mode)
        indices = [index]
        if isinstance(index.type, Tuple):
            made = [Value(f"jit::get<{i}>(_at)", t) for i, t in enumerate(index.type.types)]
            indices = list(index.parts) or made
        elif not kind.ndim:
            raise TypeError("Scalar indexing is not supported for 0-dim array.")
        count = len(indices)
        if count > kind.ndim:
            raise IndexError(f"The number of indices is beyond array dim: {kind.ndim}")
        for one in indices:
            if isinstance(one.type, Array):
                raise TypeError("Advanced indexing is not supported.")
            if not isinstance(one.type, Scalar):
                raise TypeError("Array indices must be scalar.")
            if one.type.dtype.kind not in "iu":
                raise TypeError("Array indices must be integers.")
        if isinstance(kind, Pointer):
            code, item = f"{array.code}[{indices[0].code}]", kind.item
        else:
            whole = count == kind.ndim
            item = kind.item if whole else Array(kind.dtype, kind.ndim - count, kind.contiguous)
            name = json.dumps(array.code if node is None else ast.unparse(node.value))
            given = ", ".join([name, str(self.current), *(one.code for one in indices)])
            code = f"{array.code}.{'at' if whole else 'part'}({given})"
        if isinstance(index.type, Tuple) and not index.parts:  # worked out once
            code = f"[&](auto _at) -> decltype(auto) {{ return {code}; }}({index.code})"
        return Value(code, item)

    def of_Call(self, node):
        function = self.value(node.func)
        args = [self.value(one) for one in node.args]
        kwargs = {one.arg: self.value(one.value) for one in node.keywords}
        if isinstance(function, Constant):
            ours = (builtin for python, builtin in OF_PYTHON.items() if python is function.obj)
            function = next(ours, function)
        if isinstance(function, Builtin):
            return function.translate(self, args, kwargs)
        if not isinstance(function, Constant):
            raise TypeError(f"'{ast.unparse(node.func)}' is not callable.")
        return self.call(function.obj, args, kwargs)

    def call(self, function, args: list, kwargs: dict):
        if isinstance(function, Marked):
            if not function.device:
                raise TypeError(
                    f"Calling __global__ function {function.function.__name__} from __global__ "
                    "function is not allowed."
                )
            values = [on_device(one, self.mode) for one in args]
            types = tuple(one.type for one in values)
            name, result = self.program.add(function.function, types, "__device__")
            return Value(f"{name}({', '.join(one.code for one in values)})", result)
        if ufunc := _operations.name_of(function):
            dtype = kwargs.pop("dtype", Constant(None)).obj
            if kwargs:
                raise TypeError(
                    f"{next(iter(kwargs))!r} is an invalid keyword to ufunc cupy_{ufunc}"
                )
            return _operations.apply(ufunc, args, self.mode, dtype)
        _operations.refuse_uncovered(function)
        if all(isinstance(one, Constant) for one in (*args, *kwargs.values())):
            named = {name: one.obj for name, one in kwargs.items()}
            return Constant(function(*(one.obj for one in args), **named))
        if inspect.isclass(function) and issubclass(function, NUMBERS):
            if len(args) != 1:
                raise TypeError(f"function takes {function} invalid number of argument")
            return cast(args[0], scalar(function), "unsafe")
        raise TypeError(f"Invalid function call '{getattr(function, '__name__', function)}'.")
