"""How a row of the tables of functions becomes a function."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable

import numpy as np

from cupy._core._creation import asarray
from cupy._core._dispatch import SCALARS, check_dtype, named, unsupported
from cupy._core._ndarray import ndarray
from cupy._core._parameters import check_kinds, held
from cupy._core._protocols import as_device
from cupy._core._reductions import normalized
from cupy._core._run import routine
from cupy.cuda import stream

_AXES = {
    "axis",
    "axes",
    "kth",
    "axis1",
    "axis2",
    "axisa",
    "axisb",
    "axisc",
    "source",
    "destination",
    "start",
}
# Keywords of NumPy's that CuPy's functions do not have.
_NO_KEYWORDS = {"where", "initial", "subok", "like", "device", "sorted", "overwrite_input"}


def row(
    function: Callable,
    arguments: str = "d",
    *,
    name: str | None = None,
    waits: bool | Callable = False,
    library: str | Callable | None = None,
    keywords: tuple[str, ...] = (),
    order: str = "K",
) -> Callable:
    """The function of CuPy's that does on device arrays what NumPy's ``function`` does.

    ``arguments`` has a letter for each leading argument; ``a*`` is ``a`` for all of them:

    - ``d`` is a device array; TypeError for anything else
    - ``s`` is a sequence of device arrays
    - ``u`` is a device array or a scalar
    - ``o`` is a device array; of a NumPy array CuPy calls the method of that name, so that NumPy
      does all of the work, unasked
    - ``a`` is a device array, or a NumPy array or list that CuPy copies to the device
    - ``n`` is the same without a list
    - ``A`` is a sequence of what ``a`` is
    - ``-`` is anything but a NumPy array

    ``waits``: the host has to know the values or their number, so that a capture refuses the call.
    ``library``: the library of NVIDIA's that CuPy calls, which a capture refuses too. Both may be
    functions of the arguments.
    ``keywords``: which of the keywords that most functions refuse this one takes.
    ``order``: how new arrays lie in memory, which a kernel sees; see ``_run.run``.
    """
    name = name or function.__name__
    letters = itertools.repeat(arguments[0]) if arguments.endswith("*") else arguments
    refused = _NO_KEYWORDS.difference(keywords)  # a set of its own
    try:
        known = [*inspect.signature(function).parameters.values()]
    except ValueError:
        known = []
    parameters = [one.name for one in known if one.kind <= one.POSITIONAL_OR_KEYWORD]
    most, hold = held(name, parameters)
    refused |= _outless(function)
    leading = len(list(itertools.takewhile(lambda one: one not in refused, parameters)))
    if not parameters or any(one.kind == one.VAR_POSITIONAL for one in known):
        leading = 99
    check = check_kinds(name, parameters)
    axis_at = parameters.index("axis") if "keepdims" in parameters else None
    dtype_at = parameters.index("dtype") if "dtype" in parameters[1:] else None
    out_at = parameters.index("out") if "out" in parameters[1:] else None

    def call(*args, **kwargs):
        for keyword in refused.intersection(kwargs):
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")
        if len(args) > leading:
            raise TypeError(
                f"{name}() takes {leading} positional arguments but {len(args)} were given"
            )
        if kwargs or len(args) > most:
            kwargs = hold(args, kwargs)
            args, kwargs = _leading(args, kwargs, parameters[: len(arguments)])
        for position, value in enumerate(args[1:], 1):
            if position < len(parameters) and parameters[position] in _AXES:
                _check_axis(value)
        for keyword in _AXES.intersection(kwargs):
            _check_axis(kwargs[keyword])
        dtype = args[dtype_at] if dtype_at and len(args) > dtype_at else kwargs.get("dtype")
        if dtype is not None:
            check_dtype(dtype)
        if check:
            check(args, kwargs)
        taken = list(args)
        for position, (letter, arg) in enumerate(zip(letters, args, strict=False)):
            if letter == "o" and not isinstance(arg, ndarray):
                return _left_to_numpy(name, arg, args, kwargs)
            taken[position] = _taken(letter, arg)
        if axis_at and args:
            _check_axes(name, taken, kwargs, axis_at)
        if stream.transfers_matter():
            if waits(*taken, **kwargs) if callable(waits) else waits:
                stream.refuse_while_capturing()
            used = library(*taken, **kwargs) if callable(library) else library
            if used:
                stream.refuse_library_while_capturing(used)
        if out_at is not None and len(taken) > out_at:
            kwargs.update(zip(parameters[out_at:], taken[out_at:], strict=False))
            del taken[out_at:]
        return routine(function, *taken, new_order=order, **kwargs)

    return named(call, name)


def _outless(function: Callable) -> set[str]:
    """``out``, where the function is known to have none: ``routine`` would take it for all."""
    try:
        known = inspect.signature(function).parameters
    except ValueError:
        return set()
    any_keyword = any(one.kind == one.VAR_KEYWORD for one in known.values())
    return set() if "out" in known or any_keyword else {"out"}


def _leading(args: tuple, kwargs: dict, names: list[str]) -> tuple[tuple, dict]:
    """A call's arguments, of which those with these names stand first, without a keyword."""
    kwargs = dict(kwargs)
    while len(args) < len(names) and names[len(args)] in kwargs:
        args = (*args, kwargs.pop(names[len(args)]))
    return args, kwargs


def _check_axis(axis) -> None:
    """TypeError for a device array, which is no index of Python's."""
    for one in axis if isinstance(axis, (list, tuple)) else (axis,):
        if isinstance(one, ndarray):
            raise TypeError("'ndarray' object cannot be interpreted as an integer")


def _check_axes(name: str, taken: list, kwargs: dict, at: int) -> None:
    """CuPy's reductions take axes in a list, too, and none of an array that has none."""
    axis = taken[at] if len(taken) > at else kwargs.get("axis")
    if isinstance(axis, list) and not name.endswith(("std", "var", "norm")):
        axis = tuple(axis)
        if len(taken) > at:
            taken[at] = axis
        else:
            kwargs["axis"] = axis
    if axis is not None and not getattr(taken[0], "ndim", 1):
        normalized(axis, 0)


def _taken(letter: str, arg):
    """An argument as the function takes it; TypeError where CuPy raises one."""
    if letter == "a":
        arg = as_device(arg)
        return asarray(arg) if isinstance(arg, (np.ndarray, list, tuple)) else arg
    if letter == "n":
        if isinstance(arg, (list, tuple)) and any(isinstance(item, ndarray) for item in arg):
            raise TypeError("Implicit conversion to a NumPy array is not allowed.")
        return asarray(arg) if isinstance(arg, np.ndarray) else arg
    if letter == "A":
        return [_taken("a", item) for item in arg]
    if letter == "s":
        for item in arg if isinstance(arg, (list, tuple)) else [_taken("d", arg)]:
            _taken("d", item)
    elif letter == "d" and not isinstance(arg, ndarray):
        raise unsupported(arg)
    elif letter == "u" and not (arg is None or isinstance(arg, (ndarray, *SCALARS))):
        raise unsupported(arg)
    return arg


def _left_to_numpy(name: str, arg, args: tuple, kwargs: dict):
    """What NumPy makes of the call, all of it on the host."""
    if not isinstance(arg, (np.ndarray, np.generic)):
        raise AttributeError(f"{type(arg).__name__!r} object has no attribute {name!r}")
    if name in ("ptp", "dot") and not hasattr(arg, name):  # CuPy calls the method
        raise AttributeError(f"{type(arg).__name__!r} object has no attribute {name!r}")
    for other in (*args, *kwargs.values()):
        if isinstance(other, ndarray):
            raise unsupported(arg)
    return getattr(np, name)(*args, **kwargs)
