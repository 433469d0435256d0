"""``cupyx.scipy.signal`` on the CPU."""

from __future__ import annotations

import cupy as _cupy
import numpy as _np
from cupy import fft as _fft
from cupy._core._dispatch import named as _named
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from scipy import signal as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing

globals().update(_serve(_library, arrays=False))


def hilbert2(x, N=None):
    """The analytic signal along both axes: of an even length by CuPy's weights, which are not those
    of a new SciPy."""
    if not isinstance(x, _ndarray):
        raise _unsupported(x)
    x = _cupy.atleast_2d(x)
    if x.ndim > 2:
        raise ValueError("x must be 2-D.")
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    lengths = x.shape if N is None else (N, N) if isinstance(N, int) else tuple(N)
    if len(lengths) != 2 or min(lengths) <= 0:
        raise ValueError("N must be one positive integer or two")
    spectrum = _fft.fft2(x, lengths, axes=(0, 1))
    weights = []
    for n in lengths:
        one = _np.zeros(n)
        one[1 : (n + 1) // 2] = 2
        one[[0, n // 2] if n % 2 == 0 else 0] = 1
        weights.append(one)
    weights = _cupy.asarray(_np.outer(*weights), spectrum.dtype)
    return _fft.ifft2(spectrum * weights, axes=(0, 1))


def _wide(name: str):
    """The function of that name, of which CuPy's filter makes double precision."""
    function = globals()[name]

    def call(x, *args, **kwargs):
        if isinstance(x, _ndarray) and x.dtype.char in "fF":
            x = x.astype(_np.promote_types(x.dtype, float))
        return function(x, *args, **kwargs)

    return _named(call, name, "of SciPy, on the device")


resample_poly = _wide("resample_poly")


def _of_something(name: str):
    """The function of that name; of nothing it is nothing, in the type of the first array."""
    function = globals()[name]

    def call(in1, in2, *args, **kwargs):
        both = isinstance(in1, _ndarray) and isinstance(in2, _ndarray)
        if both and in1.ndim == in2.ndim and not (in1.size and in2.size):
            return _cupy.empty(0, in1.dtype)
        return function(in1, in2, *args, **kwargs)

    return _named(call, name, "of SciPy, on the device")


for _name in "convolve correlate fftconvolve oaconvolve".split():
    globals()[_name] = _of_something(_name)
from cupyx.scipy.signal import windows  # noqa: E402, F401


def __getattr__(name: str):
    raise _missing(__name__, name)
