"""Arguments of a kind that CuPy's functions refuse and NumPy's or SciPy's take.

``refused.toml`` has what was found by giving every argument of every function one of each kind on
a GPU: ``parameter = "kinds: functions"``, for each module.
"""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cupy._core._ndarray import ndarray


def kind(value) -> str:
    """What ``value`` is, as the table has it. A point is a device array without dimensions; an
    integer and a floating are numbers of NumPy's, an int and a float of Python's; what is hosted
    is a NumPy array without dimensions."""
    if isinstance(value, ndarray):
        return "array" if value.ndim else "point"
    if isinstance(value, np.ndarray):
        return "host" if value.ndim else "hosted"
    if isinstance(value, (list, tuple)):
        return "arrays" if any(isinstance(v, ndarray) for v in value) else type(value).__name__
    if isinstance(value, (int, np.integer)) and not -(2**63) <= value < 2**64:
        return "huge"
    if hasattr(value, "tocsr"):
        return "sparse"
    for name, types in _TYPES.items():
        if isinstance(value, types):
            return name
    return "other"


_TYPES = {
    "none": type(None),
    "bool": (bool, np.bool_),
    "int": int,
    "integer": np.integer,
    "float": float,
    "floating": np.floating,
    "complex": (complex, np.complexfloating),
    "text": (str, bytes),
    "type": (type, np.dtype),
}
_IN_WORDS = {
    "array": "device array",
    "arrays": "list of device arrays",
    "host": "NumPy array",
    "hosted": "NumPy array",
    "huge": "integer of this size",
    "other": "value of this kind",
    "point": "device array",
}


@functools.cache
def _table() -> dict:
    return tomllib.loads((Path(__file__).parent / "refused.toml").read_text())


def checked(module: str, names: dict, signatures=None) -> dict[str, Callable]:
    """{name: function} of those in ``names`` whose arguments the table's part ``module`` knows.

    ``signatures`` has functions of the same names, whose parameters are asked for where those of a
    function are any.
    """
    checks: dict[str, dict[str, set]] = {}
    for parameter, rows in _table()[module].items():
        for row in [rows] if isinstance(rows, str) else rows:
            kinds, functions = row.split(":")
            for name in functions.split():
                checks.setdefault(name, {}).setdefault(parameter, set()).update(kinds.split())
    return {
        name: _checked(names[name], name, refused, getattr(signatures, name, names[name]))
        for name, refused in checks.items()
        if name in names
    }


def _checked(function: Callable, name: str, refused: dict[str, set], like: Callable) -> Callable:
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        parameters = inspect.signature(like).parameters
    parameters = list(parameters)
    places = {p: parameters.index(p) if p in parameters else len(parameters) for p in refused}

    @functools.wraps(function)
    def call(*args, **kwargs):
        for parameter, kinds in refused.items():
            place = places[parameter]
            if place < len(args):
                value = args[place]
            elif parameter in kwargs:
                value = kwargs[parameter]
            else:
                continue
            if (found := kind(value)) in kinds:
                what = _IN_WORDS.get(found, type(value).__name__)
                raise TypeError(f"CuPy's {name}() takes no {what} as its {parameter}: {value!r}")
        return function(*args, **kwargs)

    return call
