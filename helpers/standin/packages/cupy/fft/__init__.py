"""Fourier transforms. Single precision in gives single precision out; integers give double."""

from __future__ import annotations

import numpy as np

from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray, place
from cupy._core._routines import _wrapped
from cupy.fft import config

_TRANSFORMS = """fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft
ihfft""".split()


def _planned(name: str):
    function = _wrapped(name, getattr(np.fft, name), 1)
    # From complex to complex, one plan serves both directions.
    kind = name if "r" in name or "h" in name else name.removeprefix("i")

    def transform(a, *args, **kwargs):
        if not isinstance(a, ndarray):
            raise TypeError("The input array a must be a cupy.ndarray")
        result = function(a, *args, **kwargs)
        norm_free = {key: value for key, value in kwargs.items() if key != "norm"}
        config.get_plan_cache().touch((kind, result.shape, result.dtype.char, args, str(norm_free)))
        return result

    return named(transform, name)


for _name in _TRANSFORMS:
    globals()[_name] = _planned(_name)
for _name in ("fftshift", "ifftshift"):
    globals()[_name] = _wrapped(_name, getattr(np.fft, _name), 1)


def fftfreq(n, d=1.0):
    """Frequencies of the ``n`` outputs of ``fft`` for samples ``d`` apart."""
    return place(np.fft.fftfreq(n, d))


def rfftfreq(n, d=1.0):
    """Frequencies of the outputs of ``rfft`` for ``n`` samples ``d`` apart."""
    return place(np.fft.rfftfreq(n, d))


__all__ = [*_TRANSFORMS, "config", "fftfreq", "fftshift", "ifftshift", "rfftfreq"]
