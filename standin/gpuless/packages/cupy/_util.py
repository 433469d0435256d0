"""``memoize``, and what other libraries take from this module of CuPy's."""

from __future__ import annotations

import functools
from collections.abc import Callable

from cupy._core import PerformanceWarning as PerformanceWarning
from cupy._core import ndarray
from cupy.cuda import runtime

_memos: list[dict] = []


def memoize(for_each_device: bool = False) -> Callable[[Callable], Callable]:
    """A decorator: the function is called once for the same arguments, which must be hashable.

    ``for_each_device`` calls it once on each device.
    """

    def decorator(function: Callable) -> Callable:
        memo: dict = {}
        _memos.append(memo)

        @functools.wraps(function)
        def call(*args, **kwargs):
            device = runtime.getDevice() if for_each_device else None
            key = (device, args, frozenset(kwargs.items()))
            if key not in memo:
                result = function(*args, **kwargs)
                return memo.setdefault(key, result)  # another thread may have been faster
            return memo[key]

        return call

    return decorator


def clear_memo() -> None:
    """Forget the results of all functions decorated by ``memoize``."""
    for memo in _memos:
        memo.clear()


def check_array(obj, *, arg_name: str) -> None:
    """TypeError for what is no device array."""
    if not isinstance(obj, ndarray):
        raise TypeError(f"{arg_name!r} must be a cupy.ndarray object, not {type(obj)}.")
