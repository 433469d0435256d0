"""Copies that are late, as CUDA's between pinned memory and the device are.

CUDA's rule: a copy on a stream between page-locked memory and the device returns before it is done.
It comes after what the stream was given before, and before what it is given later. The host may use
its memory only when it has waited for the stream; another stream, when it has waited for an event.
(From ordinary memory CUDA takes a copy of its own first, so that the caller need not wait.)

So here such a copy is put off until something waits for its stream, or work comes that the stream
does after it. Until then the target holds canaries, and the source is not read: who reads a result
too early finds the canaries, and who fills a buffer anew too early finds the new numbers in the old
one's place.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable

import numpy as np

_lock = threading.RLock()
_queues: dict[int, list[Callable[[], None]]] = {}  # of each stream that is behind, by its ptr
_blocking: set[int] = set()  # those of them that the null stream waits for
# All that is page-locked, by its address.
pinned: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()


def pinned_at(address: int) -> np.ndarray | None:
    """The page-locked memory that an address lies in, if it lies in any."""
    for start, memory in list(pinned.items()):
        if start <= address < start + memory.nbytes:
            return memory
    return None


def move(target: int, source: int, size: int, stream, memory) -> None:
    """Copy bytes between two addresses on ``stream``, one of the host's and one in ``memory``.

    The target of a late copy holds NaNs, which as integers are -1.
    """
    host = [end for end in map(pinned_at, (target, source)) if end is not None] if pinned else []

    def copy(kept=(host, memory)) -> None:  # whose bytes stay until then
        ctypes.memmove(target, source, size)

    if not host or not _put_off(stream, copy):
        copy()
    else:
        ctypes.memset(target, 0xFF, size)


def put_off(stream, copy: Callable[[], None], host: np.ndarray) -> bool:
    """Let ``copy`` be done later by ``stream``; False where it has to be done now."""
    if not pinned or pinned_at(host.ctypes.data) is None:
        return False
    return _put_off(stream, copy)


def _put_off(stream, copy: Callable[[], None]) -> bool:
    if stream._capture is not None:
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
