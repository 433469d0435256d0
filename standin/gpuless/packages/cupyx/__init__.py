"""``cupyx`` on the CPU: scatter operations, ``rsqrt``, pinned arrays and the profiler."""

from __future__ import annotations

import contextlib as _contextlib
import importlib as _importlib

import cupy as _cupy
import numpy as _np
from cupy._core._ufuncs import rsqrt  # noqa: F401
from cupy.cuda.memory import alloc_pinned_memory as _alloc_pinned_memory
from cupy.linalg import errors as _errors

from cupyx import profiler  # noqa: F401
from gpuless import missing as _missing


def scatter_add(a, slices, value) -> None:
    """``a[slices] += value``, where an element named twice is added to twice."""
    a.scatter_add(slices, value)


def scatter_max(a, slices, value) -> None:
    """``a[slices] = maximum(a[slices], value)``, repeated indices included."""
    a.scatter_max(slices, value)


def scatter_min(a, slices, value) -> None:
    """``a[slices] = minimum(a[slices], value)``, repeated indices included."""
    a.scatter_min(slices, value)


def empty_pinned(shape, dtype=float, order="C") -> _np.ndarray:
    """A NumPy array in page-locked memory; here, ordinary host memory."""
    dtype = _np.dtype(dtype)
    _check_held(dtype)
    if isinstance(shape, _np.integer):
        raise TypeError(f"{type(shape).__name__!r} object is not iterable")
    size = _np.empty(shape, dtype).nbytes
    buffer = _alloc_pinned_memory(size) if size else None
    return _np.ndarray(shape, dtype, buffer=buffer, order=order)


def _check_held(dtype) -> None:
    if dtype.hasobject:
        raise TypeError("page-locked memory holds numbers, no objects")


def zeros_pinned(shape, dtype=float, order="C") -> _np.ndarray:
    array = empty_pinned(shape, dtype, order)
    array.fill(0)
    return array


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None) -> _np.ndarray:
    """``empty_pinned`` with the shape, dtype and strides of an array ``a``, of either kind."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    here = a._array if isinstance(a, _cupy.ndarray) else a
    dtype = _np.dtype(a.dtype if dtype is None else dtype)
    if order is None or not hasattr(a, "flags"):
        raise AttributeError(f"{type(a).__name__!r} object has no attribute 'flags'")
    _check_held(dtype)
    like = _np.empty_like(here, dtype, order, subok=False, shape=shape)
    buffer = _alloc_pinned_memory(like.nbytes) if like.nbytes else None
    return _np.ndarray(like.shape, like.dtype, buffer=buffer, strides=like.strides)


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None) -> _np.ndarray:
    array = empty_like_pinned(a, dtype, order, subok, shape)
    array.fill(0)
    return array


def geterr() -> dict:
    """What happens at an error; a device reports none of arithmetic."""
    unset = dict.fromkeys(("divide", "over", "under", "invalid"))
    return {**unset, "linalg": _errors.linalg}


def seterr(*, divide=None, over=None, under=None, invalid=None, linalg=None) -> dict:
    """Let ``linalg`` routines "ignore" a matrix without an answer, or "raise"; as it was before."""
    before = geterr()
    others = [one for one in (divide, over, under, invalid) if one is not None]
    if others or linalg not in (None, "ignore", "raise"):
        raise NotImplementedError
    _errors.linalg = linalg or _errors.linalg
    return before


@_contextlib.contextmanager
def errstate(*, divide=None, over=None, under=None, invalid=None, linalg=None):
    """``seterr`` for a while."""
    before = seterr(divide=divide, over=over, under=under, invalid=invalid, linalg=linalg)
    try:
        yield
    finally:
        seterr(**before)


def __getattr__(name: str):
    if name == "jit":
        return _importlib.import_module("cupyx.jit")
    raise _missing("cupyx", name)
