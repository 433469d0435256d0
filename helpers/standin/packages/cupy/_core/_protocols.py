"""How an array and other libraries meet: NumPy's protocols, and CUDA's for device memory."""

from __future__ import annotations

import math

import numpy as np

from cupy._core._dispatch import SCALARS
from cupy.cuda import memory, stream


class Protocols:
    """The methods of ``cupy.ndarray`` that other libraries look for."""

    __slots__ = ()

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

    def __dlpack__(self, **kwargs):
        raise NotImplementedError("DLPack: the CPU stand-in has no device memory to share")

    __dlpack_device__ = toDlpack = __dlpack__

    def __array_ufunc__(self, function, method, *inputs, **kwargs):
        import cupy

        outs = kwargs.get("out", ())
        if outs:
            if len(outs) != 1:
                raise ValueError("The 'out' parameter must have exactly one array value")
            kwargs["out"] = outs[0]
        ours = getattr(cupy, function.__name__, None)
        if method != "__call__":
            ours = getattr(ours, method, None)
        if ours is None:
            return NotImplemented
        if function.nout == 1 and function.types[0].endswith("->?"):
            # NumPy makes arrays of its scalars before it asks, in comparisons.
            zero_dim = [isinstance(x, np.ndarray) and x.ndim == 0 for x in inputs]
            inputs = [x[()] if zero else x for x, zero in zip(inputs, zero_dim, strict=True)]
        for value in (*inputs, *outs):
            if not isinstance(value, (*SCALARS, cupy.ndarray, np.ndarray)):
                return NotImplemented
        return ours(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        import cupy

        module = cupy
        try:
            for name in function.__module__.split(".")[1:]:
                module = getattr(module, name)
            ours = getattr(module, function.__name__)
        except (AttributeError, NotImplementedError):
            return NotImplemented
        if ours is function or not all(issubclass(t, (cupy.ndarray, np.ndarray)) for t in types):
            return NotImplemented
        return ours(*args, **kwargs)


def as_device(value):
    """An object that offers a device array by CuPy's or CUDA's protocol as that, else itself."""
    from cupy._core._ndarray import ndarray

    if isinstance(value, (ndarray, np.ndarray, *SCALARS, list, tuple, type(None))):
        return value
    if hasattr(value, "__cupy_get_ndarray__"):
        return value.__cupy_get_ndarray__()
    if hasattr(value, "__cuda_array_interface__"):
        described = value.__cuda_array_interface__
        dtype, shape = np.dtype(described["typestr"]), tuple(described["shape"])
        strides = described.get("strides")
        size = math.prod(shape) * dtype.itemsize
        if strides is not None and size:
            size = (
                sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
            )
        if not size:
            return ndarray(shape, dtype)
        held = memory.UnownedMemory(described["data"][0], size, value)
        return ndarray(shape, dtype, memory.MemoryPointer(held, 0), strides)
    return value
