"""Arrays that begin, or go on, between the multiples of their elements' size.

A view may be such an array, and so may one at a pointer. To make it is no error, and to copy its
bytes is none; a kernel that reads or writes an element of it stops a GPU's whole program.
"""

from __future__ import annotations

import numpy as np

from gpuless.engine.errors import KernelError

odd = False  # whether there has ever been one: else nobody needs to look


def note(array: np.ndarray) -> np.ndarray:
    """``array``, which is made in a way in which it may be misaligned."""
    global odd
    odd = odd or not _is_aligned(array)
    return array


def _is_aligned(array: np.ndarray) -> bool:
    if array.dtype.kind != "c" or not array.size:
        return array.flags.aligned
    size = array.itemsize  # where half of that is enough for NumPy
    steps = (step for n, step in zip(array.shape, array.strides, strict=True) if n > 1)
    return not (_address(array) % size or any(step % size for step in steps))


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def check(*arrays) -> None:
    """KernelError, as a RawKernel's, for a device array that kernels cannot read or write; what is
    none passes."""
    if not odd:
        return
    for given in arrays:
        array = getattr(given, "_array", None)
        if isinstance(array, np.ndarray) and not _is_aligned(array):
            size, past = array.itemsize, _address(array) % array.itemsize
            where = f"begins {past} past one" if past else f"has the strides {array.strides}"
            raise KernelError(
                f"a misaligned access: {array.dtype} is read and written at multiples of {size} "
                f"bytes only, and this array {where}. A GPU stops the whole program there. Copy "
                "the bytes before you view them: raw[5:].copy().view(...)"
            )


def check_copy(target: np.ndarray, source: np.ndarray, *arrays) -> None:
    """``check`` of device arrays between which elements go, unless CuPy copies their memory."""
    same = target.dtype == source.dtype and target.shape == source.shape
    flags, others = target.flags, source.flags
    if not (same and (flags.c_contiguous and others.c_contiguous or flags.fnc and others.fnc)):
        check(*arrays)
