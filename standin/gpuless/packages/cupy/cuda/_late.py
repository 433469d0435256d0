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
import itertools
import threading
import weakref
from collections.abc import Callable

import numpy as np
from numpy.lib.array_utils import byte_bounds

_lock = threading.RLock()
_numbers = itertools.count()
# Of each stream that is behind, by its ptr: what it has put off, numbered in the order of all, and
# from where to where that reads.
_queues: dict[int, list[tuple[int, Callable[[], None], tuple[int, int]]]] = {}
_blocking: set[int] = set()  # those of them that the null stream waits for
# All that is page-locked, by its address.
pinned: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
# Of it, by size, what was freed while streams were behind.
_loose: dict[int, list] = {}


def pinned_at(address: int) -> np.ndarray | None:
    """The page-locked memory that an address lies in, if it lies in any."""
    for start, memory in list(pinned.items()):
        if start <= address < start + memory.nbytes:
            return memory
    return None


def freed(allocation) -> None:
    """Its owner has let page-locked memory go, and a copy may still have to read it."""
    if _queues:
        _loose.setdefault(_pooled(allocation.size), []).append(allocation)


def taken(size: int) -> None:
    """Somebody asks for page-locked memory. CuPy's pool would give him what is freed, though a copy
    may still have to read it: there are canaries from now on."""
    for allocation in _loose.pop(_pooled(size), ()) if size and _loose else ():
        ctypes.memset(allocation.address, 0xFF, allocation.size)


def _pooled(size: int) -> int:
    """Into how large a piece of CuPy's pool it goes: a power of two."""
    return 1 << max(size - 1, 511).bit_length()


def bare(host: np.ndarray) -> np.ndarray:
    """A contiguous array of page-locked memory, without what keeps that from being ``freed``."""
    memory = pinned_at(host.ctypes.data)
    if memory is None:
        return host
    start = host.ctypes.data - memory.ctypes.data
    order = "C" if host.flags.c_contiguous else "F"
    return np.ndarray(host.shape, host.dtype, np.asarray(memory._allocation), start, order=order)


def move(target: int, source: int, size: int, stream, memory) -> None:
    """Copy bytes between two addresses on ``stream``, one of the host's and one in ``memory``.

    The target of a late copy holds NaNs, which as integers are -1.
    """
    found = map(pinned_at, (target, source)) if pinned else ()
    host = [end._allocation for end in found if end is not None]

    def copy(kept=(host, memory)) -> None:  # whose bytes stay until then
        ctypes.memmove(target, source, size)

    between = (source, source + size), (target, target + size)
    if not host or not put_behind(stream, copy, *between):
        copy()
    else:
        ctypes.memset(target, 0xFF, size)


def put_off(stream, target: np.ndarray, source: np.ndarray) -> bool:
    """Let ``source`` be copied to ``target`` later by ``stream``, if either is page-locked; False
    where it has to be done now."""
    if not pinned or not any(pinned_at(end.ctypes.data) is not None for end in (target, source)):
        return False
    between = byte_bounds(source), byte_bounds(target)
    return put_behind(stream, lambda: np.copyto(target, source), *between)


def put_behind(stream, work: Callable[[], None], reads=(0, 0), writes=(0, 0)) -> bool:
    """Let any ``work`` be done by ``stream`` before its next; False where a graph is captured. It
    reads and writes between two addresses; the caller may put canaries where it will write."""
    if stream._capture is not None:
        return False
    with _lock:
        # What is to be read first, by this stream or by one that it waits for, is read now.
        waiting = itertools.chain.from_iterable(_queues.values())
        if any(begin < writes[1] and writes[0] < end for _, _, (begin, end) in waiting):
            finish(stream.ptr, not stream.is_non_blocking)
        if stream.ptr == 0:  # it comes after what all blocking streams were given before
            _do([ptr for ptr in _blocking if ptr])
        if stream.ptr not in _queues:
            _queues[stream.ptr] = []
            weakref.finalize(stream, finish, stream.ptr, not stream.is_non_blocking).atexit = False
        _queues[stream.ptr].append((next(_numbers), work, reads))
        if not stream.is_non_blocking:
            _blocking.add(stream.ptr)
    return True


def is_behind() -> bool:
    """Whether any stream has put something off."""
    return bool(_queues)


def now() -> int:
    """A moment for ``finish``."""
    return next(_numbers)


def finish(ptr: int | None = None, behind_null: bool = True, before: int | None = None) -> None:
    """Do all that the stream ``ptr`` has put off and what the null stream had before, if the stream
    comes ``behind_null``; only what was put off ``before`` a moment, if one is given. The null
    stream's work waits for all blocking streams; None is the whole device."""
    with _lock:
        if ptr is None:
            _do([*_queues])
        elif ptr == 0:
            _do([0, *_blocking], before)
        else:
            _do([0, ptr] if behind_null or ptr in _blocking else [ptr], before)


def _do(streams: list[int], before: int | None = None) -> None:
    for ptr in streams:
        queue = _queues.get(ptr, [])
        while queue and (before is None or queue[0][0] < before):
            queue.pop(0)[1]()
        if not queue:
            _queues.pop(ptr, None)
            _blocking.discard(ptr)
    if not _queues:
        _loose.clear()
