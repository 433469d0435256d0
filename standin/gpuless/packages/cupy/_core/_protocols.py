"""How an array and other libraries on the device meet."""

from __future__ import annotations

import math
import warnings

import numpy as np

from cupy._core._dispatch import SCALARS, extends
from cupy._core._ndarray import ndarray
from cupy.cuda import memory, stream
from cupy.cuda.stream import catch_up as _catch_up
from cupy.exceptions import VisibleDeprecationWarning


class _Lent(np.ndarray):
    """Memory that another library looks at, and the array that owns it, which lives as long."""


@extends(ndarray)
class DeviceMemory:
    """What libraries look for that use an array's memory on the device."""

    @property
    def __cuda_array_interface__(self) -> dict:
        contiguous = self._array.flags.c_contiguous
        current = stream.get_current_stream().ptr or 1  # 1 names the null stream
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": current,
            "version": 3,
            "strides": None if contiguous else self.strides,
            "data": (self._array.ctypes.data if self.size else 0, False),
        }

    def __dlpack__(self, *, stream=None, **kwargs):
        """A capsule of this memory, which is a CPU's here: NumPy and others share it, but who asks
        for the CPU's by name has a copy."""
        wanted = {name: value for name, value in kwargs.items() if value is not None}
        copied = wanted.get("dl_device") is not None
        if copied and self._memory.managed:  # is the host's too
            copied = wanted.get("copy")
        elif copied and wanted.get("copy") is False:
            raise ValueError("GPU memory cannot be exported to CPU without copy.")
        elif wanted.get("copy") and not copied:
            raise BufferError("copy=True only supported for copy to CPU.")
        if not (copied or stream is None or (isinstance(stream, int) and stream >= -1)):
            raise ValueError(
                f"the stream for the DLPack protocol is -1, 1 or more, but no {stream}"
            )
        _catch_up()
        if copied:
            return self._array.copy().__dlpack__(**wanted)
        lent = self._array.view(_Lent)
        lent.owner = self
        return lent.__dlpack__(**wanted)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU: there is no other device, and whoever takes the array must know."""
        return self._array.__dlpack_device__()

    def toDlpack(self):
        """The capsule, by its older name."""
        text = "Use the cupy.from_dlpack() array constructor instead of toDlpack()."
        warnings.warn(text, VisibleDeprecationWarning, stacklevel=2)
        return self.__dlpack__()


def as_device(value):
    """An object that offers a device array by CuPy's or CUDA's protocol as that, else itself."""
    if isinstance(value, (ndarray, np.ndarray, *SCALARS, list, tuple, type(None))):
        return value
    if hasattr(value, "__cupy_get_ndarray__"):
        return value.__cupy_get_ndarray__()
    if hasattr(value, "__cuda_array_interface__"):
        described = value.__cuda_array_interface__
        if described.get("mask") is not None:
            raise ValueError("CuPy currently does not support masked arrays.")
        dtype, shape = np.dtype(described["typestr"]), tuple(described["shape"])
        strides = described.get("strides")
        size = math.prod(shape) * dtype.itemsize
        if strides is not None and size:
            size = (
                sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
            )
        if not size:
            return ndarray(shape, dtype)
        if described.get("stream") is not None:  # CuPy waits for it; 1 names the null stream
            ptr = described["stream"]
            stream.by_pointer(0 if ptr == 1 else ptr).synchronize()
        if not described["data"][0]:
            raise RuntimeError("UnownedMemory requires explicit device ID for a null pointer.")
        held = memory.UnownedMemory(described["data"][0], size, value)
        return ndarray(shape, dtype, memory.MemoryPointer(held, 0), strides)
    return value
