"""``cupyx`` on the CPU: scatter operations, ``rsqrt``, pinned arrays and the profiler."""

from __future__ import annotations

import contextlib

import cupy as _cupy
import numpy as _np
from cupy.cuda.memory import alloc_pinned_memory as _alloc_pinned_memory

from helpers.standin import missing as _missing


def scatter_add(a, slices, value) -> None:
    """``a[slices] += value``, where an element named twice is added to twice."""
    a.scatter_add(slices, value)


def scatter_max(a, slices, value) -> None:
    """``a[slices] = maximum(a[slices], value)``, repeated indices included."""
    a.scatter_max(slices, value)


def scatter_min(a, slices, value) -> None:
    """``a[slices] = minimum(a[slices], value)``, repeated indices included."""
    a.scatter_min(slices, value)


def rsqrt(x, out=None):
    """``1 / sqrt(x)``, elementwise, in the type of ``sqrt(x)``."""
    root = _cupy.sqrt(x)
    return _cupy.reciprocal(root, out=root if out is None else out)


def empty_pinned(shape, dtype=float, order="C") -> _np.ndarray:
    """A NumPy array in page-locked memory; here, ordinary host memory."""
    size = _np.empty(shape, dtype).nbytes
    buffer = _alloc_pinned_memory(size) if size else None
    return _np.ndarray(shape, dtype, buffer=buffer, order=order)


def zeros_pinned(shape, dtype=float, order="C") -> _np.ndarray:
    array = empty_pinned(shape, dtype, order)
    array.fill(0)
    return array


@contextlib.contextmanager
def errstate(**kwargs):
    """Accepted and of no effect: a device reports no floating-point errors."""
    yield


_NOT_COVERED = (
    "allow_synchronize cusparse cutensor empty_like_pinned jit linalg optimizing scipy "
    "tools zeros_like_pinned"
).split()


def __getattr__(name: str):
    raise _missing("cupyx", name, _NOT_COVERED)
