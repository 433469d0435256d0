"""Plans of cuFFT's: which transforms they are for. A CPU keeps none, so that they compute nothing
themselves; the functions of ``cupy.fft`` and ``cupyx.scipy`` hold their arrays to them.
"""

from __future__ import annotations

import threading

import numpy as np

from cupy._core._creation import empty
from gpuless import missing, not_covered

CUFFT_FORWARD, CUFFT_INVERSE = -1, 1
CUFFT_C2C, CUFFT_R2C, CUFFT_C2R = 0x29, 0x2A, 0x2C
CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D = 0x69, 0x6A, 0x6C
# {type: dtype of the result}
_RESULTS = {CUFFT_C2C: "F", CUFFT_R2C: "F", CUFFT_C2R: "f"}
_RESULTS |= {CUFFT_Z2Z: "D", CUFFT_D2Z: "D", CUFFT_Z2D: "d"}
_FROM_REAL = (CUFFT_R2C, CUFFT_D2Z)

_local = threading.local()


def get_current_plan():
    """The plan of the innermost ``with`` block of this thread, or None."""
    return getattr(_local, "plan", None)


class _Plan:
    def __enter__(self):
        _local.plan = self
        return self

    def __exit__(self, *error) -> None:
        _local.plan = None

    def fft(self, a, out, direction):
        raise not_covered(f"cupy.cuda.cufft.{type(self).__name__}.fft")

    def check_output_array(self, a, out) -> None:
        """ValueError unless ``out`` is what the plan makes of ``a``."""
        shape, dtype = self._result(a)
        if out.shape != shape:
            raise ValueError(f"out must have shape {shape}.")
        if out.dtype != dtype:
            raise ValueError(f"out dtype mismatch: found {out.dtype}, expected {dtype}")

    def _result(self, a) -> tuple[tuple, np.dtype]:
        shape, last = list(a.shape), self._last
        if self.fft_type in _FROM_REAL:
            shape[last] = shape[last] // 2 + 1
        elif self._size is not None:
            shape[last] = self._size
        return tuple(shape), np.dtype(_RESULTS[self.fft_type])


class Plan1d(_Plan):
    """For ``batch`` transforms of ``nx`` elements each, one behind the other, of a ``CUFFT_`` type.

    Several GPUs, and an ``out`` for them, are not covered.
    """

    _last = -1

    def __init__(self, nx: int, fft_type: int, batch: int, *, devices=None, out=None):
        if devices is not None:
            raise not_covered("cupy.cuda.cufft.Plan1d of several devices")
        self.nx, self.fft_type, self.batch, self.gpus = int(nx), int(fft_type), int(batch), None
        self._size = self.nx

    def get_output_array(self, a):
        """A new array for what the plan makes of ``a``."""
        return empty(*self._result(a))


class PlanNd(_Plan):
    """For ``batch`` transforms over the two or three axes of ``shape``; the arguments are CuPy's.

    ``shape`` is that of the axes in the order in which they lie in memory.
    """

    def __init__(
        self, shape, inembed, istride, idist, onembed, ostride, odist, fft_type, batch, order,
        last_axis, last_size,
    ):  # fmt: skip
        self.shape, self.fft_type, self.batch = tuple(shape), int(fft_type), int(batch)
        self.order, self.last_axis, self.last_size = order, last_axis, last_size
        self.gpus = None
        self._last = last_axis
        self._size = None if fft_type in (CUFFT_C2C, CUFFT_Z2Z) else last_size

    def get_output_array(self, a, order="C"):
        """A new array for what the plan makes of ``a``."""
        return empty(*self._result(a), order=order)


def __getattr__(name: str):
    raise missing("cupy.cuda.cufft", name)
