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

from cupy._core._syntax import NUMBERS, Constant
from cupy.cuda.compiler import CompileException

from cupyx.jit._expressions import Expressions
from cupyx.jit._values import BOOL, VOID, Range, Scalar, Tuple, Type, Value, cast, on_device

MOST_FUNCTIONS = 100


class Program:
    """The text of a kernel, which is the first function, for arguments of these types; or of what
    ``words`` make of it, which returns ``result``, or what it will."""

    def __init__(
        self,
        function: Callable,
        mode: str,
        types: tuple[Type, ...],
        words: str = 'extern "C" __global__',
        result: Type | None = VOID,
    ):
        self.mode, self.cooperative = mode, False
        self.headers, self.texts = ["cupyx_jit.h"], []
        # By function and types: its name and the type of what it returns, None while it is written.
        self.functions: dict[tuple, tuple[str, Type] | None] = {}
        self.file = inspect.getsourcefile(function)
        self.name, self.result = self.add(function, types, words, result)
        self.text = "\n".join([f'#include "{one}"' for one in self.headers] + self.texts) + "\n"

    def include(self, header: str) -> None:
        if header not in self.headers:
            self.headers.append(header)

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


class Function(Expressions):
    """One Python function as CUDA C: statements become lists of lines, expressions values."""

    def __init__(self, program: Program, function: Callable, result: Type | None):
        super().__init__(function)
        self.program, self.mode, self.result = program, program.mode, result
        self.declared: list[str] = []
        self._count = 0
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
        return node.lineno + self._before

    def fresh(self, prefix: str) -> str:
        """A name that no variable has."""
        self._count += 1
        name = f"{prefix}{self._count}"
        taken = name in self.variables or name in self.constants
        return self.fresh(prefix) if taken else name

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

    # Statements

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
        if value.of_array and len(value.parts) == 2:
            raise CompileException(
                "CuPy 14.2's headers make no pair of a shape: write x.shape[0] and x.shape[1]",
                ast.unparse(target),
                self.tree.name,
                (),
            )
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
        if hasattr(target.type, "method"):
            raise TypeError("a group of threads is not assignable: name it once, outside branches")
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
            True: "__it < __stop", False: "__it > __stop",
            None: "__step >= 0 ? __it < __stop : __it > __stop",
        }[over.rising]  # fmt: skip
        bounds = f"__it = {over.start.code}, __stop = {over.stop.code}, __step = {over.step.code}"
        head = f"for ({over.type} {bounds}; {going}; __it += __step) {{ {name} = __it;"
        texts = [head, *closed(self.block(line.body))]
        if over.unroll is None:
            return texts
        turns = "" if over.unroll is True else f"({over.unroll})"
        return [f"#pragma unroll{turns}", self.place(line), *texts]


def closed(texts: list[str]) -> list[str]:
    """The lines of a block with its closing brace."""
    inside = [text if text.startswith("#") else f"  {text}" for text in texts or [";"]]
    return [*inside[:-1], f"{inside[-1]} }}"]
