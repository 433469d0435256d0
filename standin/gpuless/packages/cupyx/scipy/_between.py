"""Between the pixels of an image: where CuPy's kernels look, in their precision, and what SciPy's
``map_coordinates`` finds there.

A place is made in the precision of the image, of single precision at least, and a product and the
sum that it goes into are rounded once, as NVRTC makes them.
"""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
from scipy import ndimage

from cupyx.scipy._warned import tell

_PAD = 12  # rows around an image for a spline whose edge has no formula
_AT_ONCE = 1 << 18  # pixels, so that their coordinates take little memory


def _real(image: np.ndarray) -> np.dtype:
    return np.promote_types(image.real.dtype, np.float32)


def _sum(factor, numbers, addend):
    """``factor * numbers + addend``, rounded once but for rare cases, to the type of ``factor``;
    the numbers are whole or halves."""
    wide = np.float64 if factor.dtype == np.float32 else np.longdouble
    return (np.asarray(factor, wide) * numbers + addend).astype(factor.dtype)


def _scaled(factor, numbers, padding: int, ready: bool):
    """``factor * numbers + padding``. With ``ready``, a product of the first axis that is only
    added to: it is rounded with each of the sums, when half a pixel is added to choose one and when
    that is taken off again."""
    if not ready:
        return _sum(factor, numbers, padding)
    chosen = np.floor(_sum(factor, numbers, 0.5)).astype(np.float64)
    return chosen + _sum(factor, numbers, -chosen)


def _padding(order: int, mode: str, prefilter: bool) -> int:
    return _PAD if prefilter and order > 1 and mode in ("nearest", "grid-constant") else 0


def _product(order: int, mode: str, padding: int) -> bool:
    """Whether a kernel does nothing with a coordinate but add to it."""
    return order in (2, 4) and mode not in ("constant", "wrap") and not padding


def _around(places: np.ndarray, last: int) -> np.ndarray:
    """The places of mode "wrap", where the last pixel lies on the first."""
    last = places.dtype.type(last)
    if not last:
        return places
    below = places + last * (np.trunc(-places / last) + 1)
    beyond = places - last * np.trunc(places / last)
    return np.where(places < 0, below, np.where(places > last, beyond, places))


def _check_inside(pixels, size: int) -> None:
    """Warn where CuPy's kernel reads another row, or what lies behind the image."""
    if ((pixels < 0) | (pixels >= size)).any():
        tell(
            "with mode='wrap', CuPy's kernel reads beyond an axis where a coordinate is just below "
            "0 or the axis has one pixel: on a GPU it finds another row, or what lies behind the "
            "image. Take mode='grid-wrap'."
        )


def _as_scipys(places: np.ndarray, size: int, real: np.dtype, order: int, mode: str):
    """Where SciPy's function finds on an axis what CuPy's does at ``places``: CuPy chooses pixels
    in the precision of the image, and weighs them by the coordinates as they are."""
    kept = places.astype(real)
    half = real.type(0.5 if order in (0, 2, 4) else 0)
    if mode == "wrap":
        kept = _around(kept, size - 1)
        if size == 1 and not order:
            _check_inside(np.floor(kept + half), 1)
    elif order == 1 or (order and places.dtype.itemsize <= real.itemsize):
        return places
    found = np.floor(kept + half).astype(np.float64)
    if order:
        found += places - np.floor(places + half)
    if mode == "constant":
        found = size - 1 - np.abs(size - 1 - found)
        found = np.where((places < 0) | (places > size - 1), -1, found)
    return found


def _extended(at, size: int, mode: str):
    """The pixels of an axis that stand for those at ``at``; -1 where ``cval`` does."""
    at = at.astype(np.int64)
    if mode in ("reflect", "grid-mirror"):
        at = np.where(at < 0, -1 - at, at) % (2 * size)
        return np.minimum(at, 2 * size - 1 - at)
    if mode == "mirror":
        at = np.abs(at) % max(2 * size - 2, 1)
        return np.minimum(at, 2 * size - 2 - at)
    if mode == "grid-wrap":
        return at % size
    if mode == "grid-constant":
        return np.where((at < 0) | (at >= size), -1, at)
    return np.clip(at, 0, size - 1)


def _linear(image, places, made, real, fused, mode, cval) -> None:
    """Into ``made``: what is between two pixels on each axis, summed up one after the other in
    CuPy's types, which decides at half a whole number, and without those whose weight is 0;
    with ``fused``, a product is rounded with the sum only."""
    dtype, taps, lost = made.dtype, [], False
    for axis, size in zip(places, image.shape, strict=True):
        low = np.floor(axis.astype(real))
        if mode == "wrap":
            kept = _around(axis.astype(real), size - 1)
            at = np.floor(kept), np.floor(kept + real.type(1))
            _check_inside(np.where(axis == low, at[0], at), size)
        else:
            at = low, low + 1
        low = low.astype(axis.dtype)
        at = [_extended(each, size, mode) for each in at]
        taps.append(list(zip(at, (low + 1 - axis, axis - low), strict=True)))
        if mode == "constant":
            lost = lost | (axis < 0) | (axis > size - 1)
    wide = np.float64 if fused and dtype in (np.float16, np.float32) else dtype
    for corner in itertools.product(*taps):
        at, weights = zip(*corner, strict=True)
        pixels = image[at].astype(wide)
        if mode == "grid-constant":
            pixels[functools.reduce(np.logical_or, [each < 0 for each in at])] = cval
        weight = functools.reduce(np.multiply, weights).astype(dtype)
        np.copyto(made, pixels * weight + made, "same_kind", where=weight != 0)
    if mode == "constant":
        np.copyto(made, dtype.type(cval), where=lost)


def _look(image, places, shape, output, order, mode, cval, prefilter, ready=False):
    """The pixels of an image, padded for a spline, at places for each axis of an output of a shape,
    which are broadcast to it; with ``ready`` they are those that SciPy takes."""
    real, padding = _real(image), _padding(order, mode, prefilter)
    dtype = image.dtype if output is None else output
    output = made = output if isinstance(output, np.ndarray) else np.empty(shape, dtype)
    if made.shape != tuple(shape):
        raise RuntimeError("output shape not correct")
    if np.may_share_memory(image, made):  # an image with gaps, of which CuPy takes a copy first
        image = image.copy()
    if np.float16 in (image.dtype, made.dtype) and order != 1:  # which SciPy has not
        image = image.astype(np.promote_types(image.dtype, "f"), copy=False)
        made = made.astype(np.promote_types(made.dtype, "f"), copy=False)
    if prefilter and order > 1:
        with_cval = {"mode": "constant", "constant_values": cval}
        image = np.pad(image, padding, **(with_cval if mode != "nearest" else {"mode": "edge"}))
        dtype = np.promote_types(image.dtype, np.float64)
        image = ndimage.spline_filter(image, order, dtype, "mirror" if mode == "wrap" else mode)
    if order == 1:
        image, made[...] = image.astype(made.dtype, copy=False), 0
    elif not ready:
        places = [
            _as_scipys(axis, size, real, order, mode)
            for axis, size in zip(places, image.shape, strict=True)
        ]
    if mode == "wrap" and order != 1:
        mode = "mirror" if order > 1 else "nearest"
    # Not where either cval or a pixel is weighed, and then added.
    fused = mode != "grid-constant" and made.dtype.kind != "c"
    rows = max(_AT_ONCE // max(made[:1].size, 1), 1)
    for first in range(0, len(made), rows):
        part = made[first : first + rows]
        at = [axis[first : first + rows] if len(axis) > 1 else axis for axis in places]
        if order == 1:
            if made.dtype.kind == "c":
                _linear(image.real, at, part.real, real, fused, mode, complex(cval).real)
                _linear(image.imag, at, part.imag, real, fused, mode, complex(cval).imag)
            else:
                _linear(image, at, part, real, fused, mode, cval)
            continue
        at = np.array([np.broadcast_to(axis, part.shape) for axis in at], np.float64)
        ndimage.map_coordinates(image, at, part, order, mode, cval, prefilter=False)
    if made is not output:
        output[...] = made
    return output


def _along(axes) -> list[np.ndarray]:
    """Places along each axis on their own, to be broadcast."""
    return [
        axis.reshape([-1 if i == j else 1 for j in range(len(axes))]) for i, axis in enumerate(axes)
    ]


def _numbers(value, ndim: int, name: str) -> list:
    value = list(value) if np.iterable(value) and not isinstance(value, str) else [value] * ndim
    if len(value) != ndim:
        raise RuntimeError(f"{name} must have length equal to input rank")
    return [float(number) for number in value]


@functools.wraps(ndimage.shift)
def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    real, padding = _real(input), _padding(order, mode, prefilter)
    moves = np.array(_numbers(shift, input.ndim, "shift"), real)
    places = [
        np.arange(n).astype(real) - by + real.type(padding)
        for n, by in zip(input.shape, moves, strict=True)
    ]
    return _look(input, _along(places), input.shape, output, order, mode, cval, prefilter)


@functools.wraps(ndimage.zoom)
def zoom(
    input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False
):
    real, padding = _real(input), _padding(order, mode, prefilter)
    factors = _numbers(zoom, input.ndim, "zoom")
    shape = [round(n * by) for n, by in zip(input.shape, factors, strict=True)]
    if grid_mode and mode in ("constant", "wrap"):
        warnings.warn(f"With grid_mode, mode='grid-{mode}' goes better.", stacklevel=2)
    ready = _product(order, mode, padding) and not grid_mode
    places = []
    for axis, (n, made) in enumerate(zip(input.shape, shape, strict=True)):
        if grid_mode and made:
            factor = real.type(n / made)
            places.append(_sum(factor, np.arange(made) + 0.5, -0.5) + real.type(padding))
        else:
            factor = real.type((n - 1) / (made - 1) if made > 1 else 0)
            places.append(_scaled(factor, np.arange(made), padding, ready and not axis))
    if not padding:
        cval = 0  # CuPy's kernel knows of no other
    places = _along(places)
    return _look(input, places, tuple(shape), output, order, mode, cval, prefilter, ready)


@functools.wraps(ndimage.affine_transform)
def affine_transform(
    input,
    matrix,
    offset=0.0,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    real, padding, ndim = _real(input), _padding(order, mode, prefilter), input.ndim
    offset = _numbers(offset, ndim, "offset")
    if matrix.ndim not in (1, 2) or not len(matrix):
        raise RuntimeError("no proper affine matrix provided")
    if matrix.ndim == 2 and (len(matrix) == matrix.shape[1] - 1 or len(matrix) == ndim + 1):
        offset, matrix = matrix[:ndim, -1], matrix[:ndim, :-1]
    if matrix.shape not in ((ndim,), (ndim, ndim)):
        raise RuntimeError("improper affine shape")
    shape = input.shape if output_shape is None else output_shape
    matrix, offset = matrix.astype(real), np.asarray(offset, real)
    grid = _along([np.arange(n) for n in shape])
    ready = _product(order, mode, padding) and matrix.ndim == 1
    if matrix.ndim == 1:
        moved = [axis.astype(real) - by for axis, by in zip(grid, -offset / matrix, strict=True)]
        places = [_scaled(matrix[i], moved[i], padding, ready and not i) for i in range(ndim)]
    else:
        places = [np.zeros([1] * ndim, real)] * ndim
        for i in range(ndim):
            for j in range(ndim):
                if matrix[i, j]:
                    places[i] = _sum(matrix[i, j], grid[j], places[i])
            places[i] = places[i] + (offset[i] + real.type(padding))
    return _look(input, places, shape, output, order, mode, cval, prefilter, ready)


@functools.wraps(ndimage.map_coordinates)
def map_coordinates(
    input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    padding, dtype = _padding(order, mode, prefilter), coordinates.dtype
    if len(coordinates) != input.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    if dtype.kind == "f" or order > 1:
        coordinates = coordinates.astype(np.promote_types(dtype, np.float32))
    places = coordinates + coordinates.dtype.type(padding)
    shape = coordinates.shape[1:]
    return _look(input, list(places), shape, output, order, mode, cval, prefilter)


INSTEAD = {made.__name__: made for made in (affine_transform, map_coordinates, shift, zoom)}
