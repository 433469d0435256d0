"""Copies that are late, as CUDA's between pinned memory and the device are.

CUDA's rule: a copy on a stream between page-locked memory and the device returns before it is done.
It comes after what the stream was given before, and before what it is given later. The host may use
its memory only when it has waited for the stream; another stream, when it has waited for an event.
(From ordinary memory CUDA takes a copy of its own first, so that the caller need not wait.)

So here such a copy is put off until something waits for its stream, or work comes that the stream
does after it. Until then the target holds canaries, and the source is not read: who reads a result
too early finds the canaries, and who fills a buffer anew too early finds the new numbers in the old
one's place. On the null stream ``get(blocking=False)`` alone is late: behind CuPy's other copies on
it comes a wait.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import numpy as np

_lock = threading.RLock()
_queues: dict[int, list[Callable[[], None]]] = {}  # of each stream that is behind, by its ptr
_blocking: set[int] = set()  # those of them that the null stream waits for


def is_pinned(array: np.ndarray) -> bool:
    """Whether the NumPy array lies in memory that CuPy has page-locked."""
    while isinstance(array, np.ndarray):
        if getattr(array, "is_page_locked", False):
            return True
        array = array.base
    return False


def put_off(stream, copy: Callable[[], None], host: np.ndarray, default=False) -> bool:
    """Let ``copy`` be done later by ``stream``; False where it has to be done now, as on a default
    stream unless ``default`` is true."""
    if stream._capture is not None or not is_pinned(host):
        return False
    if stream.ptr in (0, 2) and not default:
        return False
    with _lock:
        if stream.ptr == 0:  # it comes after what all blocking streams were given before
            _do([ptr for ptr in _blocking if ptr])
        if stream.ptr not in _queues:
            _queues[stream.ptr] = []
            weakref.finalize(stream, finish, stream.ptr, not stream.is_non_blocking).atexit = False
        _queues[stream.ptr].append(copy)
        if not stream.is_non_blocking:
            _blocking.add(stream.ptr)
    return True


def is_behind() -> bool:
    """Whether any stream has put something off."""
    return bool(_queues)


def finish(ptr: int | None = None, behind_null: bool = True) -> None:
    """Do all that the stream ``ptr`` has put off and what the null stream had before, if the stream
    comes ``behind_null``. The null stream's work waits for all blocking streams; None is the whole
    device."""
    with _lock:
        if ptr is None:
            _do([*_queues])
        elif ptr == 0:
            _do([0, *_blocking])
        else:
            _do([0, ptr] if behind_null or ptr in _blocking else [ptr])


def _do(streams: list[int]) -> None:
    for ptr in streams:
        _blocking.discard(ptr)
        for copy in _queues.pop(ptr, ()):
            copy()
