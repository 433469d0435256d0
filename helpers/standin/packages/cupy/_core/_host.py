"""What brings an array to the host, and what refuses to do so unasked."""

from __future__ import annotations

import warnings

import numpy as np

from cupy._core._dispatch import named
from cupy.cuda import runtime, stream


class OnHost:
    """The methods of ``cupy.ndarray`` that need its values on the host: all wait for the device."""

    __slots__ = ()

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def _host(self, on=None) -> np.ndarray:
        """The NumPy array inside; CUDARuntimeError where a stream is capturing."""
        if on is not None and on.is_capturing():
            raise runtime.CUDARuntimeError(900)
        stream.refuse_while_capturing()
        return self._array

    def get(self, stream=None, order="C", out=None, blocking=True) -> np.ndarray:
        """A copy in host memory, as a NumPy array; into ``out`` where one is given."""
        host = self._host(stream)
        if out is None:
            if order not in ("C", "F", "A"):
                raise ValueError(f"unsupported order: {order}")
            return host.copy(order)
        if not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
        if self.dtype != out.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        if self.shape != out.shape:
            raise ValueError(
                f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}"
            )
        if not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        out[...] = host
        return out

    def set(self, arr: np.ndarray, stream=None) -> None:
        """Copy a NumPy array of the same dtype and shape to the device."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not (self._array.flags.c_contiguous or self._array.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        self._write(lambda: arr)

    def item(self):
        return self._host().item()

    def __bytes__(self) -> bytes:
        return self._host().tobytes()

    def __bool__(self) -> bool:
        if not self.size:
            warnings.warn(
                "The truth value of an empty array is ambiguous. Returning False, but in future "
                "this will result in an error. Use `array.size > 0` to check that an array is not "
                "empty.",
                DeprecationWarning,
                stacklevel=2,
            )
            return False
        return bool(self._host())

    def __reduce__(self):
        from cupy._core._ndarray import place

        return place, (self.get(order="A"),)


def _of_numpy(name: str):
    def method(self, *args, **kwargs):
        return getattr(self._host(), name)(*args, **kwargs)

    return named(method, name, "of a copy on the host")


for _name in """tolist tobytes tofile dump dumps __repr__ __str__ __format__ __int__ __float__
__complex__""".split():
    setattr(OnHost, _name, _of_numpy(_name))
