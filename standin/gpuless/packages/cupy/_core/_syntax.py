"""What ``cupy.vectorize`` knows of Python: operators, refusals, a function's source."""

from __future__ import annotations

import ast
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
    body = [ast.Return(near[0].body)]
    return ast.FunctionDef("_lambda_kernel", near[0].args, body, [])
