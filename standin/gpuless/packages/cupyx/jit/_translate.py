"""Python as CUDA C: one text for a kernel and the device functions that it calls.

Each statement is preceded by a ``#line`` directive with its line in the Python file, so that what
is said of a fault, of a race or by the compiler has the reader's line.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cupy._core._syntax import NUMBERS, OPERATORS, Constant, Walker

from cupyx.jit import _operations
from cupyx.jit._builtins import OF_PYTHON, Builtin
from cupyx.jit._values import (
    BOOL, DIM3, INT64, UINT32, VOID, Array, Pointer, Range, Scalar, Tuple, Type, Value, cast,
    on_device, pack, type_of,
)  # fmt: skip

MOST_FUNCTIONS = 100


class Marked:
    """A Python function that ``rawkernel`` has marked as a kernel or as a device function."""

    def __init__(self, function: Callable, mode: str, device: bool):
        self.function, self.mode, self.device = function, mode, device


class Program:
    """The text of a kernel, which is the first function, for arguments of these types."""

    def __init__(self, function: Callable, mode: str, types: tuple[Type, ...]):
        self.mode, self.texts = mode, ['#include "cupyx_jit.h"']
        # By function and types: its name and the type of what it returns, None while it is written.
        self.functions: dict[tuple, tuple[str, Type] | None] = {}
        self.file = inspect.getsourcefile(function)
        self.name, _ = self.add(function, types, 'extern "C" __global__', VOID)
        self.text = "\n".join(self.texts) + "\n"

    def add(
        self, function: Callable, types: tuple[Type, ...], words: str, result: Type | None = None
    ) -> tuple[str, Type]:
        key = function, types
        if key in self.functions:
            if self.functions[key] is None:
                raise ValueError("Recursive function is not supported.")
            return self.functions[key]
        if len(self.functions) >= MOST_FUNCTIONS:
            raise ValueError("Number of functions exceeds upper limit.")
        one = Function(self, function, result)
        name = one.tree.name
        if self.functions:
            name += f"_{len(self.functions)}"
        else:
            self.name = name
        self.functions[key] = None
        self.texts.append(one.text(words, name, types))
        self.functions[key] = name, one.result
        return self.functions[key]


class Function(Walker):
    """One Python function as CUDA C: statements become lists of lines, expressions values."""

    def __init__(self, program: Program, function: Callable, result: Type | None):
        super().__init__(function)
        self.program, self.mode, self.result = program, program.mode, result
        self.declared: list[str] = []
        self._count = self.current = 0
        is_lambda = function.__name__ == "<lambda>"
        self._before = 0 if is_lambda else inspect.getsourcelines(function)[1] - 1
        self._file = inspect.getsourcefile(function)
        for one in map(ast.unparse, self.tree.decorator_list):
            if "rawkernel" not in one and "vectorize" not in one:
                text = f"Decorator {one} may not supported in JIT."
                warnings.warn(text, RuntimeWarning, stacklevel=2)

    def text(self, words: str, name: str, types: tuple[Type, ...]) -> str:
        names = self.parameters(len(types), name)
        self.variables = {one: Value(one, kind) for one, kind in zip(names, types, strict=True)}
        body = self.block(self.tree.body, True)
        self.result = self.result or VOID
        parameters = ", ".join(f"{self.variables[one].type} {one}" for one in names)
        head = f"{words} {self.result} {name}({parameters}) {{"
        return "\n".join([self.place(self.tree), " ".join([head, *self.declared]), *closed(body)])

    def place(self, node: ast.AST) -> str:
        ours = self._file == self.program.file
        file = f"{self.program.name}.cu" if ours else Path(self._file).name
        return f'#line {self.number(node)} "{file}"'

    def number(self, node: ast.AST) -> int:
        return getattr(node, "lineno", 1) + self._before

    def fresh(self, prefix: str) -> str:
        """A name that no variable has."""
        self._count += 1
        name = f"{prefix}{self._count}"
        taken = name in self.variables or name in self.constants
        return self.fresh(prefix) if taken else name

    # Statements

    def block(self, lines: list, top: bool = False) -> list[str]:
        return [text for line in lines for text in self.line(line, top)]

    def line(self, line: ast.stmt, top: bool) -> list[str]:
        """A line's text, behind a directive that says which line it is; braces open and close on
        the lines of others, so that no line is counted twice."""
        self.current = self.number(line)
        try:
            texts = super().line(line, top)
        except Exception as error:
            if not hasattr(error, "__notes__"):
                where = f"{self._file}, line {self.number(line)}, in {self.tree.name}"
                error.add_note(f"{where}: {ast.unparse(line).splitlines()[0]}")
            raise
        return [self.place(line), *texts] if texts else []

    def do_Pass(self, line, top):
        return []

    def do_Break(self, line, top):
        return ["break;"]

    def do_Continue(self, line, top):
        return ["continue;"]

    def do_Expr(self, line, top):
        value = self.value(line.value)
        return [] if isinstance(value, Constant) else [f"{on_device(value, self.mode).code};"]

    def do_Assert(self, line, top):
        value = self.value(line.test)
        if not isinstance(value, Constant):
            raise TypeError("CuPy cannot compile an assert of what is not constant")
        assert value.obj
        return []

    def do_Return(self, line, top):
        value = Constant(None) if line.value is None else self.value(line.value)
        if isinstance(value, Constant) and value.obj is None:
            return ["return;"]
        value = on_device(value, self.mode)
        self.result = self.result or value.type
        if self.result != value.type:
            raise ValueError(f"Failed to infer the return type: {self.result} or {value.type}")
        return [f"return {value.code};"]

    def do_Assign(self, line, top):
        if len(line.targets) != 1:
            raise NotImplementedError("Not implemented.")
        value, target = self.value(line.value), line.targets[0]
        named = isinstance(value, Constant) and isinstance(target, ast.Name)
        if named and not isinstance(value.obj, NUMBERS):
            if not top:
                raise TypeError("Cannot assign constant value not at top-level.")
            if target.id in self.variables:
                raise TypeError(f"Type mismatch of variable: `{target.id}`")
            self.constants[target.id] = value
            return []
        return self.assign(target, on_device(value, self.mode), top)

    def assign(self, target: ast.expr, value: Value, top: bool, depth: int = 0) -> list[str]:
        if isinstance(target, ast.Tuple):
            return self.unpack(target.elts, value, top, depth)
        if isinstance(target, ast.Subscript):
            return self.store(on_device(self.value(target), self.mode), value)
        if not isinstance(target, ast.Name):
            raise TypeError(f"Cannot assign to {ast.unparse(target)}")
        name = target.id
        if name not in self.variables:
            if name in self.constants:
                raise TypeError("lvalue of assignment must not be constant value")
            self.variables[name] = Value(name, value.type)
            if top and not depth:
                return [f"{value.type} {name} = {value.code};"]
            self.declared.append(f"{value.type} {name};")
        return self.store(self.variables[name], value)

    def unpack(self, targets: list, value: Value, top: bool, depth: int) -> list[str]:
        if not isinstance(value.type, Tuple):
            raise ValueError(f"{value.type} cannot be unpack")
        if len(value.type.types) != len(targets):
            word = "too many" if len(value.type.types) > len(targets) else "not enough"
            raise ValueError(f"{word} values to unpack (expected {len(targets)})")
        whole = f"_temp{depth}"
        texts = [f"{{ {value.type} {whole} = {value.code};"]
        for number, (one, kind) in enumerate(zip(targets, value.type.types, strict=True)):
            part = Value(f"jit::get<{number}>({whole})", kind)
            texts += self.assign(one, part, top, depth + 1)
        return [" ".join([*texts, "}"])]

    def store(self, target: Value, value: Value) -> list[str]:
        if isinstance(target.type, Scalar) and isinstance(value.type, Scalar):
            value = cast(value, target.type)
        elif target.type != value.type:
            raise TypeError(
                f"Data type mismatch of variable: `{target.code}`: {target.type} != {value.type}"
            )
        return [f"{target.code} = {value.code};"]

    def do_AugAssign(self, line, top):
        value, target = self.value(line.value), self.value(line.target)
        if not isinstance(target, Value):
            raise TypeError(f"Cannot augassign to {ast.unparse(line.target)}")
        name = self.fresh("_tmp_")
        kept = Value(name, target.type)
        found = self.operate(line.op, [kept, on_device(value, self.mode)])
        cast(found, target.type)  # TypeError where it cannot be
        return [f"{{ {target.type} &{name} = {target.code}; {name} = {found.code}; }}"]

    def do_If(self, line, top):
        test = self.value(line.test)
        if isinstance(test, Constant):
            return self.block(line.body if test.obj else line.orelse, top)
        texts = [f"if ({test.code}) {{", *closed(self.block(line.body))]
        if line.orelse:
            texts[-1] += " else {"
            texts += closed(self.block(line.orelse))
        return texts

    def do_While(self, line, top):
        if line.orelse:
            raise NotImplementedError("while-else is not supported.")
        test = on_device(cast(self.value(line.test), BOOL, "unsafe"), self.mode)
        return [f"while ({test.code}) {{", *closed(self.block(line.body))]

    def do_For(self, line, top):
        if line.orelse:
            raise NotImplementedError("while-else is not supported.")
        over = self.value(line.iter)
        if not isinstance(over, Range):
            raise NotImplementedError("for-loop is supported only for range iterator.")
        if not isinstance(line.target, ast.Name):
            raise TypeError(f"Cannot assign to {ast.unparse(line.target)}")
        name = line.target.id
        if name not in self.variables:
            if name in self.constants:
                raise TypeError("loop counter must not be constant value")
            self.variables[name] = Value(name, over.type)
            self.declared.append(f"{over.type} {name};")
        elif self.variables[name].type != over.type:
            raise TypeError(
                f"Data type mismatch of variable: `{name}`: {self.variables[name].type} != "
                f"{over.type}"
            )
        going = {
            True: "_it < _stop", False: "_it > _stop",
            None: "_step >= 0 ? _it < _stop : _it > _stop",
        }[over.rising]  # fmt: skip
        bounds = f"_it = {over.start.code}, _stop = {over.stop.code}, _step = {over.step.code}"
        head = f"for ({over.type} {bounds}; {going}; _it += _step) {{ {name} = _it;"
        texts = [head, *closed(self.block(line.body))]
        if over.unroll is None:
            return texts
        turns = "" if over.unroll is True else f"({over.unroll})"
        return [f"#pragma unroll{turns}", self.place(line), *texts]

    # Expressions

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
        if x.type != y.type or not isinstance(x.type, Scalar):
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
                return pack(parts)
            if name in ("begin", "end"):
                from gpuless import not_covered

                raise not_covered(f"an array's {name}() in a kernel of cupyx.jit")
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
        if isinstance(index.type, Tuple):
            count = len(index.type.types)
            indices = [Value(f"jit::get<{i}>({index.code})", t)
                       for i, t in enumerate(index.type.types)]  # fmt: skip
        else:
            count, indices = 1, [index]
            if not kind.ndim:
                raise TypeError("Scalar indexing is not supported for 0-dim array.")
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
            return Value(f"{array.code}[{indices[0].code}]", kind.item)
        name = ast.unparse(node.value) if node is not None else array.code
        given = ", ".join([f'"{name}"', str(self.current), *(one.code for one in indices)])
        if count == kind.ndim:
            return Value(f"{array.code}.at({given})", kind.item)
        part = Array(kind.dtype, kind.ndim - count, kind.contiguous)
        return Value(f"{array.code}.part({given})", part)

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
        if all(isinstance(one, Constant) for one in (*args, *kwargs.values())):
            named = {name: one.obj for name, one in kwargs.items()}
            return Constant(function(*(one.obj for one in args), **named))
        if inspect.isclass(function) and issubclass(function, NUMBERS):
            if len(args) != 1:
                raise TypeError(f"function takes {function} invalid number of argument")
            return cast(args[0], Scalar(np.dtype(function)), "unsafe")
        raise TypeError(f"Invalid function call '{getattr(function, '__name__', function)}'.")


def closed(texts: list[str]) -> list[str]:
    """The lines of a block with its closing brace."""
    inside = [text if text.startswith("#") else f"  {text}" for text in texts or [";"]]
    return [*inside[:-1], f"{inside[-1]} }}"]
