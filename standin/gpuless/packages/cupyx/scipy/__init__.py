"""``cupyx.scipy`` on the CPU: thin faces over SciPy's functions of the same names."""

from __future__ import annotations

import importlib as _importlib
import sys as _sys

import scipy as _scipy
from cupy._core._ndarray import ndarray as _ndarray

from gpuless import missing as _missing

_SERVED = ("fft", "fftpack", "linalg", "ndimage", "signal", "sparse", "spatial", "special", "stats")


def get_array_module(*args):
    """``cupyx.scipy`` where an argument is a device array or sparse matrix, else ``scipy``."""
    sparse = _sys.modules.get(f"{__name__}.sparse")
    kinds = (_ndarray, sparse.spmatrix, sparse.sparray) if sparse else _ndarray
    if any(isinstance(arg, kinds) for arg in args):
        return _importlib.import_module(__name__)
    return _scipy


def __getattr__(name: str):
    if name in _SERVED:
        return _importlib.import_module(f"{__name__}.{name}")
    raise _missing(__name__, name)
