"""What brings an array to the host, and what refuses to do so unasked."""

from __future__ import annotations

import pickle
import warnings

import numpy as np

from cupy._core import _alignment
from cupy._core._dispatch import extends, named
from cupy._core._ndarray import ndarray, place, poison
from cupy.cuda import _late
from cupy.cuda.stream import catch_up, get_current_stream, refuse_while_capturing


@extends(ndarray)
class OnHost:
    """The methods of ``cupy.ndarray`` that need its values on the host: all wait for the device."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def _host(self, on=None) -> np.ndarray:
        """The NumPy array inside; RuntimeError where the stream is capturing."""
        refuse_while_capturing(stream=on)
        catch_up(on)
        if _alignment.odd and not self._array.flags.forc:  # which a kernel packs first
            _alignment.check(self)
        return self._array

    def get(self, stream=None, order="C", out=None, blocking=True) -> np.ndarray:
        """A copy in host memory, as a NumPy array; into ``out`` where one is given."""
        blocking = bool(blocking)
        if out is not None and not blocking and isinstance(out, np.ndarray):
            return self._get_later(stream, out)
        host = self._host(stream)
        if out is None:
            if order not in ("C", "F", "A"):
                raise ValueError(f"unsupported order: {order}")
            return host.copy(order)
        if not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
        self._check_target(out)
        out[...] = host
        return out

    def _get_later(self, stream, out: np.ndarray) -> np.ndarray:
        """``get`` that does not wait: ``out`` holds canaries until the stream was waited for."""
        self._check_target(out)
        refuse_while_capturing(stream=stream)
        on = get_current_stream() if stream is None else stream
        if not _late.put_off(on, out, self._array):
            return self.get(stream, out=out)
        poison(out, self._array)
        return out

    def _check_target(self, out: np.ndarray) -> None:
        if self.dtype != out.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        if self.shape != out.shape:
            raise ValueError(
                f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}"
            )
        if not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")

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

    def dump(self, file) -> None:
        pickle.dump(self, file, -1)

    def dumps(self) -> bytes:
        return pickle.dumps(self, -1)

    def __reduce__(self):
        return place, (self.get(order="A"),)


def _of_numpy(name: str):
    def method(self, *args, **kwargs):
        return getattr(self._host(), name)(*args, **kwargs)

    return named(method, name, "of a copy on the host")


@extends(ndarray)
class OfNumpy:
    """What NumPy's arrays answer in the same way."""

    tolist = _of_numpy("tolist")
    tobytes = _of_numpy("tobytes")
    tofile = _of_numpy("tofile")
    __repr__ = _of_numpy("__repr__")
    __str__ = _of_numpy("__str__")
    __format__ = _of_numpy("__format__")
    __int__ = _of_numpy("__int__")
    __float__ = _of_numpy("__float__")
    __complex__ = _of_numpy("__complex__")
