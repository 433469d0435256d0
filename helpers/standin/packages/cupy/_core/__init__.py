"""The array, the functions on it, and the four ways to write a kernel."""

from cupy._core import _operators
from cupy._core._creation import array
from cupy._core._dispatch import PerformanceWarning
from cupy._core._ndarray import allocate, ndarray, place, wrap
from cupy._core._ufunc import ufunc

_operators.install()

__all__ = ["PerformanceWarning", "allocate", "array", "ndarray", "place", "ufunc", "wrap"]
