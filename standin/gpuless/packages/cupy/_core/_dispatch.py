"""What every road to an array shares: which values are scalars, which dtypes a device has, how
work is handed to the current stream.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from cupy.cuda import _ownership, runtime, stream

SCALARS = (bool, int, float, complex, np.number, np.bool_)
_KINDS = "biufc"


class PerformanceWarning(RuntimeWarning):
    """Something works, but slowly."""


def named(function: Callable, name: str, what: str = "on the device") -> Callable:
    """``function``, which stands for NumPy's function ``name``, with that name and a docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As NumPy's ``{name}``, {what}."
    return function


def deprecated(function: Callable, name: str, text: str) -> Callable:
    """``function`` as CuPy's ``name``, which warns that it is deprecated. As in CuPy the warning is
    the package's own, so that Python shows it only where it is asked for all of them."""

    def call(*args, **kwargs):
        warnings.warn(text, DeprecationWarning, stacklevel=1)
        return function(*args, **kwargs)

    return named(call, name)


def extends(cls: type) -> Callable[[type], type]:
    """A decorator: ``cls`` gets the members of the decorated class, which is a part of it.

    So one class is written in several files, each of which may use what ``cls`` itself cannot know.
    """

    def give(part: type) -> type:
        for name, member in vars(part).items():
            if hasattr(member, "__get__") and name not in ("__dict__", "__weakref__"):
                setattr(cls, name, member)
        return part

    return give


def unsupported(value) -> TypeError:
    return TypeError(f"Unsupported type {type(value)}")


def check_numbers(*values) -> None:
    """TypeError for a number of a type that is made from Python's, such as a member of an IntEnum:
    CuPy's kernels take none."""
    for value in values:
        if isinstance(value, (int, float, complex)):
            if type(value) not in (bool, int, float, complex) and not isinstance(value, np.generic):
                raise unsupported(value)


def check_number(value) -> None:
    """TypeError for a host's value that CuPy's kernels do not take for a number: a fraction of
    Python's, a decimal, a number of more than 64 bits or of a type made from Python's."""
    check_numbers(value)
    wide = isinstance(value, np.generic) and value.dtype.char not in "?bBhHiIlLqQefdFD"
    if wide or not (hasattr(value, "shape") or isinstance(value, SCALARS)):
        raise unsupported(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("Python int too large to convert to C long")


def check_dtype(dtype) -> np.dtype:
    """``numpy.dtype(dtype)``; ValueError unless it is boolean, integer, float or complex."""
    if type(dtype).__hash__ is None:  # CuPy looks it up: an array does not stand for its dtype
        raise TypeError(f"unhashable type: {type(dtype).__name__!r}")
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        raise ValueError(f"Unsupported dtype {dtype} with big-endian byte-order")
    if dtype.kind not in _KINDS or dtype.char in "gG":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def check_device(array) -> None:
    """Enable peer access, with CuPy's warning, to an array of another device than the current."""
    current, owner = runtime.getDevice(), array._memory.device_id
    if owner == current:
        return
    message = (
        f"The device where the array resides ({owner}) is different from the current device "
        f"({current})."
    )
    if not _ownership.enable(current, owner):
        raise ValueError(f"{message} Peer access is unavailable between these devices.")
    warnings.warn(
        f"{message} Peer access has been activated automatically.",
        PerformanceWarning,
        stacklevel=4,
    )


def submit(work: Callable[[], object], on: stream.Stream | None = None) -> None:
    """Hand work of NumPy's to the stream ``on``, by default the current one; a device reports no
    floating-point errors."""

    def quietly() -> None:
        with np.errstate(all="ignore"):
            work()

    stream.submit(quietly, on)
