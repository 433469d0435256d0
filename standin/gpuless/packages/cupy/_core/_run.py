"""The road between CuPy's arrays and NumPy's functions.

``run`` calls a NumPy function and turns what it returns into device arrays: a result that shares
memory with an input becomes a view, anything else is copied into memory of the pool, so that
every array has guard zones and is in the pool's books. Under graph capture the result is computed
again at each launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cupy._core import _alignment
from cupy._core._dispatch import check_device, submit, unsupported
from cupy._core._ndarray import ndarray, place, wrap
from cupy.cuda import stream


def unwrap(value, sources: list):
    """NumPy's view of an argument; device arrays found on the way are appended to ``sources``.

    Raises TypeError for a NumPy array, which CuPy does not move to the device unasked.
    """
    if isinstance(value, ndarray):
        check_device(value)
        stream.catch_up()
        sources.append(value)
        return value._array
    if isinstance(value, np.ndarray):
        raise unsupported(value)
    if type(value) in (list, tuple):
        return type(value)(unwrap(item, sources) for item in value)
    return value


def unwrap_call(args: Sequence, kwargs: dict) -> tuple[tuple, dict, list]:
    """``unwrap`` for all arguments of a call: positional ones, keywords, the device arrays."""
    sources: list = []
    values = tuple(unwrap(arg, sources) for arg in args)
    return values, {name: unwrap(value, sources) for name, value in kwargs.items()}, sources


def run(function: Callable, sources: Sequence = (), order: str = "K"):
    """Call ``function()`` and return its result with every NumPy array as a device array.

    ``function`` takes nothing, reads the NumPy arrays of ``sources`` and may be called again later.
    ``order`` of new arrays: 'C', 'K' ('F' where NumPy's is, else 'C'), 'S' for NumPy's strides, or
    'G' for these with gaps.
    """
    stream.catch_up()
    with np.errstate(all="ignore"):
        raw = function()
    fresh: list = []
    result = _finish(raw, sources, fresh, order)
    if fresh and _alignment.odd:  # a view takes no kernel
        _alignment.check(*sources)
    if fresh and stream.capturing():
        for array in fresh:
            array._poison()

        def again() -> None:
            for array, value in zip(fresh, _leaves(function()), strict=True):
                array._array[...] = value

        if len(fresh) == len(_leaves(raw)):
            submit(again)
        else:
            raise NotImplementedError("a mixture of views and new arrays while capturing a graph")
    return result


def _leaves(raw) -> list:
    if isinstance(raw, dict):
        raw = list(raw.values())
    if isinstance(raw, (tuple, list)):
        return [leaf for item in raw for leaf in _leaves(item)]
    return [raw] if isinstance(raw, (np.ndarray, np.generic)) else []


def _finish(raw, sources: Sequence, fresh: list, order: str):
    if isinstance(raw, (np.ndarray, np.generic)):
        for source in sources:  # an output that lies over the input, too
            if raw is source._array:
                return source
        for source in sources:
            # A view without elements shares no memory.
            if isinstance(raw, np.ndarray) and (
                raw.base is source._array
                or (raw.base is not None and raw.base is source._array.base)
                or np.may_share_memory(raw, source._array)
            ):
                return wrap(raw, source._memory, source)
        fresh.append(place(np.asarray(raw), order))
        return fresh[-1]
    if isinstance(raw, tuple) and hasattr(raw, "_fields"):
        return type(raw)(*(_finish(item, sources, fresh, order) for item in raw))
    if isinstance(raw, (tuple, list)):
        return type(raw)(_finish(item, sources, fresh, order) for item in raw)
    if isinstance(raw, dict):
        return {key: _finish(item, sources, fresh, order) for key, item in raw.items()}
    return raw


def routine(function: Callable, *args, out=None, new_order: str = "K", **kwargs):
    """Call a NumPy function on device arrays; ``out`` is written in place and returned.
    ``new_order`` is ``run``'s ``order``.
    """
    values, options, sources = unwrap_call(args, kwargs)
    if out is None:
        return run(lambda: function(*values, **options), sources, new_order)
    if not isinstance(out, ndarray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    _alignment.check(out, *sources)
    submit(lambda: function(*values, out=out._array, **options))
    return out
