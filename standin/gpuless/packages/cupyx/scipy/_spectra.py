"""The filters of ``ndimage`` that weigh a spectrum: CuPy's weights, in the precision of the output,
which show where a spectrum is of single precision."""

from __future__ import annotations

import functools

import numpy as np
from cupy._core._loops import sinc
from scipy import ndimage, special

_TYPES = [np.complex64, np.complex128, np.float32, np.float64]


def _copied(input, output, types) -> np.ndarray:
    """The output, with what the input holds."""
    if output is None:
        output = input.dtype.type if input.dtype in types else types[-1]
    if type(output) is type:
        if output not in types:
            raise RuntimeError("output type not supported")
        output = np.empty(input.shape, output)
    elif output.shape != input.shape:
        raise RuntimeError("output shape not correct")
    np.copyto(output, input, "unsafe")
    return output


def _along(output, numbers, n: int, axis: int, name: str):
    """(The frequencies along an axis, what they are multiplied with after that, its number) for
    each axis; a spectrum of real numbers has none below 0 along one of them."""
    ndim = output.ndim
    if output.dtype.kind in "biu" and ndim and name == "size":
        raise TypeError(f"weights are no numbers of {output.dtype}")
    axis = np.lib.array_utils.normalize_axis_index(axis, ndim)
    numbers = list(numbers) if np.iterable(numbers) else [numbers] * ndim
    if len(numbers) != ndim:
        raise RuntimeError(f"{name} must have length equal to input rank")
    for i, (size, number) in enumerate(zip(output.shape, numbers, strict=True)):
        shape = [1] * ndim
        shape[i] = size
        half = i == axis and n > 0
        found = np.arange(size, dtype=output.real.dtype) if half else np.fft.fftfreq(size)
        yield found.reshape(shape), n if half else None, number


@functools.wraps(ndimage.fourier_gaussian)
def fourier_gaussian(input, sigma, n=-1, axis=-1, output=None):
    output = _copied(input, output, _TYPES)
    for at, length, number in _along(output, sigma, n, axis, "sigma"):
        at = (at / length if length else at).astype(output.real.dtype)
        output *= np.exp(at * at * (4 * np.pi * np.pi * (number * number / -2)))
    return output


@functools.wraps(ndimage.fourier_uniform)
def fourier_uniform(input, size, n=-1, axis=-1, output=None):
    output = _copied(input, output, _TYPES)
    for at, length, number in _along(output, size, n, axis, "size"):
        at = (at / length if length else at).astype(output.real.dtype)
        output *= sinc(at * number)[0]
    return output


@functools.wraps(ndimage.fourier_shift)
def fourier_shift(input, shift, n=-1, axis=-1, output=None):
    output = _copied(input, output, _TYPES[:2])
    for at, length, number in _along(output, shift, n, axis, "shift"):
        if number != 0:
            at = at.astype(output.dtype) if length else at
            output *= np.exp(at * (-2j * np.pi * number / (length or 1)))
    return output


@functools.wraps(ndimage.fourier_ellipsoid)
def fourier_ellipsoid(input, size, n=-1, axis=-1, output=None):
    if input.ndim == 1:
        return fourier_uniform(input, size, n, axis, output)
    if input.ndim > 3:
        raise NotImplementedError("Only 1d, 2d and 3d inputs are supported")
    output, radius = _copied(input, output, _TYPES), 0
    for at, length, number in _along(output, size, n, axis, "size"):
        at = (at * (np.pi * number / (length or 1))).astype(output.real.dtype)
        radius = radius + at * at
    radius = np.sqrt(radius)
    if input.ndim == 2:
        weights = 2 * special.j1(radius) / radius
    else:
        weights = 3 * (np.sin(radius) - radius * np.cos(radius)) / radius**3
    weights[(0,) * input.ndim] = 1
    output[...] = weights
    output *= input
    return output


INSTEAD = {
    made.__name__: made
    for made in (fourier_ellipsoid, fourier_gaussian, fourier_shift, fourier_uniform)
}
