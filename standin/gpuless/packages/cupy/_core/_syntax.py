"""What ``cupyx.jit``, and ``cupy.vectorize`` by it, knows of Python: a function's source and
constants, operators, refusals.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import numbers
import operator
import textwrap
from collections.abc import Callable

import numpy as np

from cupy._core import _ufuncs

NUMBERS = (bool, np.bool_, numbers.Number)
# {operator: (on constants, on elements)}
OPERATORS = {
    ast.Add: (operator.add, _ufuncs.add),
    ast.Sub: (operator.sub, _ufuncs.subtract),
    ast.Mult: (operator.mul, _ufuncs.multiply),
    ast.Pow: (operator.pow, _ufuncs.power),
    ast.Div: (operator.truediv, _ufuncs.true_divide),
    ast.FloorDiv: (operator.floordiv, _ufuncs.floor_divide),
    ast.Mod: (operator.mod, _ufuncs.remainder),
    ast.LShift: (operator.lshift, _ufuncs.left_shift),
    ast.RShift: (operator.rshift, _ufuncs.right_shift),
    ast.BitOr: (operator.or_, _ufuncs.bitwise_or),
    ast.BitAnd: (operator.and_, _ufuncs.bitwise_and),
    ast.BitXor: (operator.xor, _ufuncs.bitwise_xor),
    ast.Invert: (operator.invert, _ufuncs.invert),
    ast.Not: (operator.not_, _ufuncs.ufunc(np.logical_not)),  # of complex numbers, too
    ast.USub: (operator.neg, _ufuncs.negative),
    ast.UAdd: (operator.pos, _ufuncs.positive),
    ast.Eq: (operator.eq, _ufuncs.equal),
    ast.NotEq: (operator.ne, _ufuncs.not_equal),
    ast.Lt: (operator.lt, _ufuncs.less),
    ast.LtE: (operator.le, _ufuncs.less_equal),
    ast.Gt: (operator.gt, _ufuncs.greater),
    ast.GtE: (operator.ge, _ufuncs.greater_equal),
    ast.And: (lambda x, y: x and y, _ufuncs.logical_and),
    ast.Or: (lambda x, y: x or y, _ufuncs.logical_or),
}
REFUSED = {
    ast.ClassDef: (NotImplementedError, "class is not supported currently."),
    ast.FunctionDef: (NotImplementedError, "Nested functions are not supported currently."),
    ast.AsyncFunctionDef: (NotImplementedError, "Nested functions are not supported currently."),
    ast.Delete: (NotImplementedError, "`del` is not supported currently."),
    ast.AsyncFor: (ValueError, "`async for` is not allowed."),
    ast.With: (ValueError, "Switching contexts are not allowed."),
    ast.AsyncWith: (ValueError, "Switching contexts are not allowed."),
    ast.Raise: (ValueError, "throw/catch are not allowed."),
    ast.Try: (ValueError, "throw/catch are not allowed."),
    ast.Import: (ValueError, "Cannot import modules from the target functions."),
    ast.ImportFrom: (ValueError, "Cannot import modules from the target functions."),
    ast.Global: (ValueError, "Cannot use global/nonlocal in the target functions."),
    ast.Nonlocal: (ValueError, "Cannot use global/nonlocal in the target functions."),
}


def tree(function: Callable) -> ast.FunctionDef:
    """The syntax tree of a function; ValueError where its source cannot be told."""
    if not callable(function):
        raise ValueError("`func` must be a callable object.")
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        file = None
    if file == "<stdin>":
        raise RuntimeError(
            f"JIT needs access to the Python source code for {function} but it cannot be retrieved "
            "within the Python interactive interpreter. Consider using IPython instead."
        )
    if function.__name__ != "<lambda>":
        return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if file is None:
        raise ValueError(
            f"JIT needs access to Python source code for {function} but could not be located."
        )
    lines, start = inspect.getsourcelines(function)
    near = [
        node
        for node in ast.walk(ast.parse("".join(linecache.getlines(file))))
        if isinstance(node, ast.Lambda) and start <= node.lineno < start + len(lines)
    ]
    if len(near) > 1:
        raise ValueError(
            f"Multiple callables are found near the definition of {function}, and JIT could not "
            "identify the source code for it."
        )
    body = ast.copy_location(ast.Return(near[0].body), near[0])
    made = ast.FunctionDef("_lambda_kernel", near[0].args, [body], [])
    return ast.copy_location(made, near[0])


class Constant:
    """What is known before any element is looked at: a number in the text, a module, a type."""

    def __init__(self, obj):
        self.obj = obj


class Walker:
    """A function's syntax tree and who goes through it: ``do_X`` a statement, ``of_X`` an
    expression. What an operator does is the subclass's ``operate(op, values)``."""

    def __init__(self, function: Callable):
        self.tree = tree(function)
        known = inspect.getclosurevars(function)
        names = {**known.globals, **known.nonlocals, **known.builtins}
        self.constants = {name: Constant(value) for name, value in names.items()}
        self.variables: dict = {}

    def parameters(self, count: int, name: str) -> list[str]:
        """Names of the parameters for so many arguments; TypeError for another number."""
        given = self.tree.args
        if given.vararg is not None:
            raise NotImplementedError("`*args` is not supported currently.")
        if given.kwonlyargs:
            raise NotImplementedError("keyword only arguments are not supported currently .")
        if given.kwarg is not None:
            raise NotImplementedError("`**kwargs` is not supported currently.")
        if given.defaults:
            raise NotImplementedError("Default values are not supported currently.")
        if len(given.args) != count:
            raise TypeError(
                f"{name}() takes {len(given.args)} positional arguments but {count} were given."
            )
        return [arg.arg for arg in given.args]

    def line(self, line: ast.stmt, top: bool):
        """Do a statement; ``top``: not inside a branch or a loop."""
        if type(line) in REFUSED:
            kind, text = REFUSED[type(line)]
            raise kind(text)
        return getattr(self, f"do_{type(line).__name__}", unknown)(line, top)

    def value(self, node: ast.expr):
        return getattr(self, f"of_{type(node).__name__}", unknown)(node)

    def of_Constant(self, node):
        return Constant(node.value)

    def of_Name(self, node):
        found = self.variables.get(node.id, self.constants.get(node.id))
        if found is None:
            raise NameError(f"Unbound name: {node.id}")
        return found

    def of_BoolOp(self, node):
        values = [self.value(one) for one in node.values]
        return functools.reduce(lambda x, y: self.operate(node.op, [x, y]), values)

    def of_BinOp(self, node):
        return self.operate(node.op, [self.value(node.left), self.value(node.right)])

    def of_UnaryOp(self, node):
        return self.operate(node.op, [self.value(node.operand)])

    def of_Compare(self, node):
        if len(node.ops) != 1:
            raise NotImplementedError("Comparison of 3 or more values is not implemented.")
        return self.operate(node.ops[0], [self.value(node.left), self.value(node.comparators[0])])


def unknown(node, top=None):
    raise ValueError(f"Not supported: type {type(node)}")
