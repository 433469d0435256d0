"""Fourier transforms. Single precision in gives single precision out; integers give double."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from cupy._core._creation import created
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._row import row
from cupy.cuda.cufft import get_current_plan
from cupy.fft import _plans, config
from gpuless import missing


def _planned(function: Callable) -> Callable:
    name = function.__name__
    transform = row(function)
    # From complex to complex, one plan serves both directions.
    kind = name if "r" in name or "h" in name else name.removeprefix("i")

    def planned(a, *args, **kwargs):
        if not isinstance(a, ndarray):
            raise TypeError("The input array a must be a cupy.ndarray")
        given = get_current_plan() is not None and _fits(function, a, args, kwargs)
        result = transform(a, *args, **kwargs)
        if given:
            return result
        norm_free = {key: value for key, value in kwargs.items() if key != "norm"}
        config.get_plan_cache().touch((kind, result.shape, result.dtype.char, args, str(norm_free)))
        return result

    return named(planned, name)


def _fits(function: Callable, a: ndarray, args: tuple, kwargs: dict) -> bool:
    """True: the plan of the ``with`` block is that of this call; ValueError where it is not."""
    call = inspect.signature(function).bind(a, *args, **kwargs)
    call.apply_defaults()
    kind, one = _plans.kind(function.__name__), "axis" in call.arguments
    if one:
        s, axes = (call.arguments["n"],), (call.arguments["axis"],)
    else:
        s, axes = call.arguments["s"], call.arguments["axes"]
    return _plans.check(a, s, axes, kind, one=one)


fft = _planned(np.fft.fft)
ifft = _planned(np.fft.ifft)
fft2 = _planned(np.fft.fft2)
ifft2 = _planned(np.fft.ifft2)
fftn = _planned(np.fft.fftn)
ifftn = _planned(np.fft.ifftn)
rfft = _planned(np.fft.rfft)
irfft = _planned(np.fft.irfft)
rfft2 = _planned(np.fft.rfft2)
irfft2 = _planned(np.fft.irfft2)
rfftn = _planned(np.fft.rfftn)
irfftn = _planned(np.fft.irfftn)
hfft = _planned(np.fft.hfft)
ihfft = _planned(np.fft.ihfft)
fftshift = row(np.fft.fftshift)
ifftshift = row(np.fft.ifftshift)
fftfreq = created(np.fft.fftfreq)
rfftfreq = created(np.fft.rfftfreq)

__all__ = """config fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft
irfft2 irfftn rfft rfft2 rfftfreq rfftn""".split()


def __getattr__(name: str):
    raise missing("cupy.fft", name)
