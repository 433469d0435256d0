"""The Python that ``cupy.vectorize`` does: a function's syntax tree, for all elements at once."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable

import numpy as np

from cupy._core import _ufuncs
from cupy._core._creation import array, asarray, empty
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to
from cupy._core._syntax import NUMBERS, OPERATORS, Constant, Walker
from cupy._core._ufunc import ufunc


class _Range:
    def __init__(self, start: ndarray, stop: ndarray, step: ndarray):
        self.start, self.stop, self.step = start, stop, step


class Elements(Walker):
    """The elements of one call: a value of each variable for each of them, and which of them the
    line is for.
    """

    def __init__(self, function: Callable, shape: tuple):
        super().__init__(function)
        self.shape, self.here = shape, np.ones(shape, bool)
        self.result = None
        self.left = np.zeros(shape, bool)  # those that have returned
        self.loops: list[tuple[np.ndarray, np.ndarray]] = []  # who has left it, or this turn

    def call(self, values: list):
        names = self.parameters(len(values), self.tree.name)
        self.variables = dict(zip(names, values, strict=True))
        self.block(self.tree.body, True)
        if self.result is None:
            raise TypeError("Invalid return type: void")
        return self.result

    # Statements

    def block(self, lines: list, top: bool = False) -> None:
        for line in lines:
            self.line(line, top)

    def do_Pass(self, line, top) -> None:
        pass

    def do_Expr(self, line, top) -> None:
        self.value(line.value)

    def do_Assert(self, line, top) -> None:
        value = self.value(line.test)
        assert not isinstance(value, Constant) or value.obj

    def do_Return(self, line, top) -> None:
        value = Constant(None) if line.value is None else self.value(line.value)
        if not (isinstance(value, Constant) and value.obj is None):
            value = self.elements(value)
            if self.result is None:
                self.result = _like(value)
            elif _types(self.result) != _types(value):
                raise ValueError(
                    f"Failed to infer the return type: {_types(self.result)} or {_types(value)}"
                )
            self.write(self.result, value)
        self.leave(self.left)

    def leave(self, mask: np.ndarray) -> None:
        """Those here do nothing more of what ``mask`` counts them out of."""
        mask |= self.here
        self.here = np.zeros_like(self.here)

    def do_Assign(self, line, top) -> None:
        if len(line.targets) != 1:
            raise NotImplementedError("Not implemented.")
        value, (target,) = self.value(line.value), line.targets
        constant = isinstance(value, Constant) and not isinstance(value.obj, NUMBERS)
        if constant and isinstance(target, ast.Name):
            if not top:
                raise TypeError("Cannot assign constant value not at top-level.")
            if target.id in self.variables:
                raise TypeError(f"Type mismatch of variable: `{target.id}`")
            self.constants[target.id] = value
            return
        self.assign(target, self.elements(value))

    def assign(self, target: ast.expr, value) -> None:
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple):
                raise ValueError(f"{value.dtype} cannot be unpack")
            if len(value) != len(target.elts):
                word = "too many" if len(value) > len(target.elts) else "not enough"
                raise ValueError(f"{word} values to unpack (expected {len(target.elts)})")
            for one, part in zip(target.elts, value, strict=True):
                self.assign(one, part)
            return
        if not isinstance(target, ast.Name):
            raise TypeError(f"{ast.unparse(target)} is not subscriptable.")
        name, old = target.id, self.variables.get(target.id)
        if old is None:
            if name in self.constants:
                raise TypeError("lvalue of assignment must not be constant value")
            new = _like(value)
        else:
            if isinstance(old, ndarray) and isinstance(value, ndarray):
                value = _cast(value, old.dtype, "same_kind")
            elif _types(old) != _types(value):
                raise TypeError(
                    f"Data type mismatch of variable: `{name}`: {_types(old)} != {_types(value)}"
                )
            new = _copy(old)
        self.write(new, value)
        self.variables[name] = new

    def write(self, to, value) -> None:
        """Where the line is for an element, its value."""
        if isinstance(to, tuple):
            for one, part in zip(to, value, strict=True):
                self.write(one, part)
        else:
            np.copyto(to._array, value._host(), where=self.here)

    def do_AugAssign(self, line, top) -> None:
        value, target = self.elements(self.value(line.value)), self.value(line.target)
        if not isinstance(target, ndarray):
            raise TypeError(f"Cannot augassign to {ast.unparse(line.target)}")
        found = self.operate(line.op, [target, value])
        if not np.can_cast(found.dtype, target.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast from '{found.dtype}' to {target.dtype} with casting rule same_kind."
            )
        self.assign(line.target, found)

    def do_If(self, line, top) -> None:
        test = self.value(line.test)
        if isinstance(test, Constant):
            self.block(line.body if test.obj else line.orelse, top)
            return
        taken, before = _true(test), self.here
        self.here = before & taken
        self.block(line.body)
        after, self.here = self.here, before & ~taken
        self.block(line.orelse)
        self.here |= after

    def do_While(self, line, top) -> None:
        if line.orelse:
            raise NotImplementedError("while-else is not supported.")
        self.loop(lambda: _true(self.elements(self.value(line.test))), line.body, lambda: None)

    def do_For(self, line, top) -> None:
        if line.orelse:
            raise NotImplementedError("while-else is not supported.")
        steps = self.value(line.iter)
        if not isinstance(steps, _Range):
            raise NotImplementedError("for-loop is supported only for range iterator.")
        name = line.target.id
        old = self.variables.get(name)
        if old is not None and old.dtype != np.dtype(int):
            raise TypeError(f"Data type mismatch of variable: `{name}`: {old.dtype} != int64")
        at, stop, step = (one._host().astype(int) for one in (steps.start, steps.stop, steps.step))

        def goes_on() -> np.ndarray:
            inside = np.where(step >= 0, at < stop, at > stop)
            before, self.here = self.here, self.here & inside
            self.assign(line.target, asarray(at))
            self.here = before
            return inside

        self.loop(goes_on, line.body, lambda: np.add(at, step, out=at))

    def loop(self, goes_on: Callable, body: list, then: Callable) -> None:
        """The body for those for whom it goes on; once for nobody, so that its types are known."""
        before, inside, done = self.here, self.here.copy(), False
        while not done:
            self.here = inside
            inside = inside & goes_on()
            done = not inside.any()
            self.here = inside.copy()
            out, skipped = np.zeros_like(inside), np.zeros_like(inside)
            self.loops.append((out, skipped))
            self.block(body)
            self.loops.pop()
            inside = inside & ~out & ~self.left
            then()
        self.here = before & ~self.left

    def do_Break(self, line, top) -> None:
        self.leave(self.loops[-1][0])

    def do_Continue(self, line, top) -> None:
        self.leave(self.loops[-1][1])

    # Expressions

    def elements(self, value):
        """A value for each element: of a constant, the same one."""
        if isinstance(value, tuple):
            return tuple(self.elements(one) for one in value)
        if isinstance(value, _Range):
            raise TypeError("a range is no number")
        if not isinstance(value, Constant):
            return value
        if isinstance(value.obj, tuple):
            return tuple(self.elements(Constant(one)) for one in value.obj)
        if not isinstance(value.obj, NUMBERS):
            raise TypeError(f"{value.obj} is not scalar object.")
        return broadcast_to(array(np.asarray(value.obj)), self.shape)

    def operate(self, op: ast.AST, args: list):
        if type(op) not in OPERATORS:
            raise NotImplementedError(f"Not supported: {type(op).__name__}")
        on_constants, on_elements = OPERATORS[type(op)]
        if all(isinstance(arg, Constant) for arg in args):
            return Constant(on_constants(*(arg.obj for arg in args)))
        if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            types = [getattr(self.elements(arg), "dtype", np.dtype(object)) for arg in args]
            if any(one.kind not in "biuf" for one in types):
                raise TypeError(f'"scalar_less" does not support for the input types: {types}')
        return self.apply(on_elements, args)

    def apply(self, function: ufunc, args: list, **options) -> ndarray:
        given = [self.elements(arg) for arg in args]
        for one in given:
            if isinstance(one, tuple):
                raise TypeError("cupy.ufunc: a tuple is unsupported")
        return function(*given, **options)

    def of_Attribute(self, node):
        value = self.value(node.value)
        if isinstance(value, Constant):
            return Constant(getattr(value.obj, node.attr))
        raise NotImplementedError("Not implemented: __getattr__")

    def of_Tuple(self, node):
        values = [self.value(one) for one in node.elts]
        if all(isinstance(one, Constant) for one in values):
            return Constant(tuple(one.obj for one in values))
        return tuple(self.elements(one) for one in values)

    def of_Subscript(self, node):
        value, index = self.value(node.value), self.value(node.slice)
        if isinstance(value, ndarray) or not isinstance(index, Constant):
            raise TypeError(f"{ast.unparse(node.value)} is not subscriptable.")
        return value[index.obj] if isinstance(value, tuple) else Constant(value.obj[index.obj])

    def of_IfExp(self, node):
        test, x, y = (self.value(one) for one in (node.test, node.body, node.orelse))
        test = _true(self.elements(test))
        x, y = self.hinted(x, y), self.hinted(y, x)
        if x.dtype != y.dtype:
            raise TypeError(f"Type mismatch in conditional expression.: {x.dtype} != {y.dtype}")
        return array(np.where(test, x._host(), y._host()))

    def hinted(self, value, other) -> ndarray:
        """A number of the text takes the type of the other one."""
        if isinstance(value, Constant) and not isinstance(value.obj, np.generic):
            value = Constant(self.elements(other).dtype.type(value.obj))
        return self.elements(value)

    def of_Call(self, node):
        function, args = self.value(node.func), [self.value(one) for one in node.args]
        options = {one.arg: self.value(one.value) for one in node.keywords}
        if not isinstance(function, Constant):
            raise TypeError(f"'{ast.unparse(node.func)}' is not callable.")
        function = function.obj
        if function is range:
            return self.range(*args)
        if function in (min, max):
            if len(args) < 2:
                raise TypeError(f"{function.__name__}() expects at least 2 arguments")
            chosen = _ufuncs.minimum if function is min else _ufuncs.maximum
            return functools.reduce(lambda x, y: self.apply(chosen, [x, y]), args)
        if isinstance(function, ufunc):
            dtype = options.pop("dtype", Constant(None)).obj
            if options:
                raise TypeError(
                    f"{next(iter(options))!r} is an invalid keyword to ufunc {function.__name__}"
                )
            if dtype is None:
                return self.apply(function, args)
            values = [_cast(self.elements(one), np.dtype(dtype), "same_kind") for one in args]
            return self.apply(function, values, dtype=dtype)
        if all(isinstance(one, Constant) for one in [*args, *options.values()]):
            named = {name: one.obj for name, one in options.items()}
            return Constant(function(*(one.obj for one in args), **named))
        if inspect.isclass(function) and issubclass(function, NUMBERS):
            if len(args) != 1:
                raise TypeError(f"function takes {function} invalid number of argument")
            return _cast(self.elements(args[0]), np.dtype(function), "unsafe")
        raise TypeError(f"Invalid function call '{function.__name__}'.")

    def range(self, *args) -> _Range:
        if not 0 < len(args) < 4:
            raise TypeError(f"range expected at most 3 argument, got {len(args)}")
        start, stop, step = [Constant(0), *args, Constant(1)] if len(args) == 1 else (
            [*args, Constant(1)][:3]
        )  # fmt: skip
        values = [self.elements(one) for one in (start, stop, step)]
        if any(value.dtype.kind not in "iu" for value in values):
            raise TypeError("range supports only for integer type.")
        return _Range(*values)


def _types(value) -> str:
    """The types of a value, in words."""
    inner = ", ".join(map(_types, value)) if isinstance(value, tuple) else ""
    return f"Tuple({inner})" if isinstance(value, tuple) else str(value.dtype)


def _like(value):
    """Room for such a value, with garbage in it as a kernel's variable has it."""
    if isinstance(value, tuple):
        return tuple(map(_like, value))
    return empty(value.shape, value.dtype)


def _copy(value):
    return tuple(map(_copy, value)) if isinstance(value, tuple) else value.copy()


def _cast(value: ndarray, dtype: np.dtype, casting: str) -> ndarray:
    if not np.can_cast(value.dtype.type(0), dtype, casting):
        raise TypeError(f"Cannot cast from '{value.dtype}' to {dtype} with casting rule {casting}.")
    return value.astype(dtype)


def _true(value: ndarray) -> np.ndarray:
    if isinstance(value, tuple) or value.dtype.kind == "c":
        raise TypeError("Complex type value cannot be boolean condition.")
    return value._host().astype(bool)
