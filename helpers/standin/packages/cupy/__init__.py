"""``cupy`` as the CPU stand-in serves it: CuPy's names and rules, NumPy's arithmetic.

``is_standin`` is True, ``is_available()`` False, and ``__version__`` ends in ``+standin``.
What is covered and what is not: ``helpers.standin.COVERED`` and ``NOT_COVERED``.
"""

from __future__ import annotations

import numpy as _np

from cupy import _core, cuda  # noqa: F401
from cupy._core import _creation, _routines, _ufuncs
from cupy._core._ndarray import ndarray
from cupy._core._ufunc import ufunc  # noqa: F401
from helpers.standin import missing as _missing

__version__ = "14.2.0+standin"
is_standin = True

for _module, _names in (
    (_ufuncs, _ufuncs.NAMES),
    (_routines, [n for n in vars(_routines) if n in (*_np.__all__, *_routines.ALIASES)]),
    (_creation, [n for n in vars(_creation) if n in (*_np.__all__, "asnumpy")]),
):
    globals().update({_name: getattr(_module, _name) for _name in _names})

# Types, constants and helpers that are NumPy's own in CuPy too.
for _name in """bool bool_ byte cdouble complex128 complex64 complexfloating csingle double
dtype e euler_gamma finfo float16 float32 float64 floating format_float_positional
format_float_scientific generic get_printoptions half iinfo index_exp inexact inf int16 int32 int64
int8 int_ intc integer intp isdtype issubdtype iterable long longlong nan ndindex newaxis number pi
printoptions s_ set_printoptions short signedinteger single ubyte uint uint16 uint32 uint64 uint8
uintc uintp ulong ulonglong unsignedinteger ushort base_repr binary_repr mintypecode""".split():
    globals()[_name] = getattr(_np, _name)

from cupy import exceptions, fft, lib, linalg, random, testing  # noqa: E402, F401
from cupy.cuda.memory import (  # noqa: E402, F401
    get_default_memory_pool,
    get_default_pinned_memory_pool,
)

AxisError = _np.exceptions.AxisError
ComplexWarning = _np.exceptions.ComplexWarning


def is_available() -> bool:
    """False: there is no GPU."""
    return False


def get_array_module(*args):
    """This module if any argument is a device array, else NumPy."""
    import sys

    for arg in args:  # `any` is CuPy's in this module
        if isinstance(arg, ndarray):
            return sys.modules[__name__]
    return _np


def show_config(*, _full: bool = False) -> None:
    """Print what is in use."""
    import platform

    print(f"CuPy Version          : {__version__} (CPU stand-in, no GPU)")
    print(f"NumPy Version         : {_np.__version__}")
    print(f"OS                    : {platform.platform()}")
    print(f"Python Version        : {platform.python_version()}")
    print(f"Logical devices       : {cuda.runtime.getDeviceCount()}")


def __getattr__(name: str):
    if name == "fuse":
        from cupy._core.fusion import fuse as value
    elif name in ("ElementwiseKernel", "ReductionKernel", "RawKernel", "RawModule"):
        import importlib

        home = name.removesuffix("Kernel").removesuffix("Module").lower()
        value = getattr(importlib.import_module(f"cupy._core.{home}"), name)
    else:
        known = {n for n in dir(_np) if not n.startswith("_")}
        raise _missing("cupy", name, known.union(_ONLY_CUPY))
    globals()[name] = value
    return value


_ONLY_CUPY = (
    "clear_memo disable_experimental_feature_warning from_dlpack fromDlpack memoize".split()
)
__all__ = [_name for _name in globals() if not _name.startswith("_")]
