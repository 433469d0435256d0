"""The array, the functions on it, and the four ways to write a kernel."""

# ruff: noqa: F401  (parts of ndarray, and what other libraries import)
from cupy._core import _host, _indexing, _methods, _operators, _scalar, internal
from cupy._core._creation import array
from cupy._core._dispatch import PerformanceWarning
from cupy._core._ndarray import allocate, ndarray, place, wrap
from cupy._core._ufunc import ufunc

__all__ = ["PerformanceWarning", "allocate", "array", "ndarray", "place", "ufunc", "wrap"]
