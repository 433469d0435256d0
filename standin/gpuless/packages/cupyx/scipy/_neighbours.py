"""Filters of ``ndimage``, on NumPy arrays, that add or sort the neighbours of a pixel as CuPy's
kernels do, where SciPy's show that they do otherwise.

CuPy adds in ``float32`` for an image of it, of halves or of small integers, and fuses each product
with its sum. What is cut to integers, or written as doubles, has the last bit of that.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from cupy._core._casts import cast
from numpy.lib.array_utils import normalize_axis_tuple
from scipy import ndimage

from gpuless import not_covered

_HALF = np.dtype(np.float16)
_RANKS = "median_filter percentile_filter rank_filter"
_SORTS = """black_tophat grey_closing grey_dilation grey_erosion grey_opening maximum_filter
maximum_filter1d minimum_filter minimum_filter1d morphological_gradient morphological_laplace
white_tophat"""
_DIFFERENCES = "black_tophat morphological_gradient morphological_laplace white_tophat"


def _type_of(image: np.ndarray, output) -> np.dtype:
    if output is None:
        return image.dtype
    return output.dtype if isinstance(output, np.ndarray) else np.dtype(output)


def _written(made: np.ndarray, output, dtype: np.dtype) -> np.ndarray:
    if not isinstance(output, np.ndarray):
        return made.astype(dtype, copy=False)
    if output.shape != made.shape:
        raise RuntimeError("output shape not correct")
    output[...] = made
    return output


def _apart(function: Callable) -> Callable:
    """``function``, which has read all of an image before it writes over it, as CuPy's kernels."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        image, output = given.arguments["input"], given.arguments.get("output")
        if isinstance(output, np.ndarray) and np.may_share_memory(image, output):
            given.arguments["input"] = image.copy()
        return function(*given.args, **given.kwargs)

    return call


def _cut(sums: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``sums`` as ``dtype``; of a number below 0 an unsigned type gets the negative of its size."""
    if dtype.kind == "b":
        return sums != 0
    if dtype.kind != "u":
        return cast(sums, dtype).astype(dtype, copy=False)
    sizes = cast(np.where(sums >= 0, sums, -sums), dtype).astype(dtype)
    return np.where(sums >= 0, sizes, np.negative(sizes))


# --- Sums ---


def _sum_type(image: np.ndarray, weights: np.ndarray) -> np.dtype:
    if weights.dtype.kind in "iub":
        return np.dtype(float)
    return np.promote_types(image.dtype, np.float32)


def _shows(image: np.ndarray, output, weights: np.ndarray | None = None) -> bool:
    """Whether the result shows how it was added."""
    dtype = _type_of(image, output)
    if "c" in (image.dtype.kind, dtype.kind, getattr(weights, "dtype", dtype).kind):
        return False
    if dtype.kind in "iub" or _HALF in (image.dtype, dtype):
        return True
    whole = weights is not None and weights.dtype.kind in "iub"
    return dtype.itemsize == 8 and np.promote_types(image.dtype, "f4") == "f4" and not whole


def _places(length: int, before: int, after: int, mode: str) -> np.ndarray:
    """Which pixel stands where along an axis with its edges; -1 for the constant."""
    at = np.arange(-before, length + after)
    if mode == "constant":
        return np.where((at < 0) | (at >= length), -1, at)
    if mode == "nearest":
        return at.clip(0, length - 1)
    if mode in ("wrap", "grid-wrap"):
        return at % length
    if mode == "mirror":
        period = max(2 * length - 2, 1)
        return np.minimum(at % period, period - at % period) if length > 1 else 0 * at
    return np.minimum(at % (2 * length), 2 * length - 1 - at % (2 * length))


def _fused(sums: np.ndarray, parts: Sequence[np.ndarray], weight: float) -> np.ndarray:
    """``sums + pixels * weight`` of doubles, rounded once; ``parts`` are the pixels and two halves
    of their digits, the lower of which may be None."""
    pixels, high, low = parts
    splitter = 134217729.0 * weight
    weight_high = splitter - (splitter - weight)
    weight_low = weight - weight_high
    product = pixels * weight
    rest = (high * weight_high - product) + high * weight_low
    if low is not None:
        rest = rest + low * weight_high + low * weight_low
    made = sums + product
    back = made - sums
    rest += (sums - (made - back)) + (product - back)
    return np.where(np.isfinite(rest), made + rest, made)


def _sum(image, weights, output, modes, cval, origins) -> np.ndarray:
    """The weighted sums of each pixel's neighbours, with weights and one origin for each axis."""
    dtype, wide = _type_of(image, output), _sum_type(image, weights)
    edged = image.astype(wide).astype(float)
    for axis, (size, mode, origin) in enumerate(zip(weights.shape, modes, origins, strict=True)):
        if size > 1 or origin:
            before = size // 2 + origin
            at = _places(image.shape[axis], before, size - 1 - before, mode)
            edged = np.take(edged, at, axis)
            if (at < 0).any():
                edged[(slice(None),) * axis + (at < 0,)] = wide.type(cval)
    parts = [edged]
    doubles = wide.itemsize == 8
    if doubles:
        big = 134217729.0 * edged
        high = big - (big - edged)
        low = edged - high
        parts += [high, low if low.any() else None]
    sums = np.zeros(image.shape, wide)
    rows = max(1, 32768 * len(image) // max(image.size, 1))  # as many as a cache holds
    for start in range(0, len(image), rows):
        block = sums[start : start + rows]
        for place in np.ndindex(weights.shape):
            weight = float(wide.type(weights[place]))
            if not weight:
                continue
            first, *others = zip(place, block.shape, strict=True)
            where = (slice(start + first[0], start + sum(first)),)
            where += tuple(slice(k, k + n) for k, n in others)
            if doubles:
                pixels = [part if part is None else part[where] for part in parts]
                block[...] = _fused(block, pixels, weight)
            else:  # whose products a double holds
                block[...] = block + edged[where] * weight
    return _written(_cut(sums, dtype), output, dtype)


def _correlate(plain: Callable, *, turned: bool) -> Callable:
    """``correlate`` or, with its weights ``turned``, ``convolve``; ``plain`` is SciPy's."""

    @functools.wraps(plain)
    def call(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
        if not input.ndim:
            raise IndexError("a filter without axes")
        if not _shows(input, output, weights) or not input.size * input.ndim * weights.size:
            return plain(input, weights, output, mode, cval, origin, axes=axes)
        plain(np.zeros((1,) * input.ndim), weights, None, mode, cval, origin, axes=axes)  # checks
        along = normalize_axis_tuple(range(input.ndim) if axes is None else axes, input.ndim)
        origins, shape = [0] * input.ndim, [1] * input.ndim
        if turned:
            weights = weights[(slice(None, None, -1),) * weights.ndim]
        for axis, size in zip(sorted(along), weights.shape, strict=True):
            shape[axis] = size
        bys = np.broadcast_to(origin, len(along)).tolist()
        # Of all axes, origins and weights are in order, whatever the order in ``axes``.
        for axis, by in zip(sorted(along) if len(along) == input.ndim else along, bys, strict=True):
            origins[axis] = -by - (shape[axis] % 2 == 0) if turned else by
        return _sum(input, weights.reshape(shape), output, [mode] * input.ndim, cval, origins)

    return call


def _correlate1d(plain: Callable, *, turned: bool) -> Callable:
    @functools.wraps(plain)
    def call(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        if not _shows(input, output, weights) or not input.ndim or not input.size:
            return plain(input, weights, axis, output, mode, cval, origin)
        plain(np.zeros((1,) * input.ndim), weights, axis, None, mode, cval, origin)  # checks
        shape, origins = [1] * input.ndim, [0] * input.ndim
        shape[axis], origins[axis] = weights.size, origin
        if turned:
            weights, origins[axis] = weights[::-1], -origin - (weights.size % 2 == 0)
        return _sum(input, weights.reshape(shape), output, [mode] * input.ndim, cval, origins)

    return call


def _each(axes, ndim: int, *columns) -> zip:
    """The axes, each with its own of the ``columns``, a sequence or one for all of them."""
    axes = normalize_axis_tuple(range(ndim) if axes is None else axes, ndim)
    rows = [
        list(column)
        if np.iterable(column) and not isinstance(column, str)
        else [column] * len(axes)
        for column in columns
    ]
    if any(len(row) != len(axes) for row in rows):
        raise RuntimeError("sequence argument must have length equal to input rank")
    return zip(axes, *rows, strict=True)


def _real(image: np.ndarray, output) -> None:
    if image.dtype.kind == "c" and _type_of(image, output).kind != "c":
        raise RuntimeError("output must have complex dtype")


def _copied(image: np.ndarray, output) -> np.ndarray:
    dtype = _type_of(image, output)
    return _written(cast(image, dtype).astype(dtype), output, dtype)


def sums(instead: dict[str, Callable]) -> dict[str, Callable]:
    """{name: function} of what is made of weighted sums; ``instead`` has some for SciPy's."""
    correlate1d = _apart(_correlate1d(instead["correlate1d"], turned=False))

    def mean(image, size, axis, output, mode, cval, origin, wide):
        """By its weights; SciPy's running sum loses digits behind a large number."""
        if size < 1:
            raise RuntimeError("incorrect filter size")
        return correlate1d(image, np.full(size, 1 / size, wide), axis, output, mode, cval, origin)

    @functools.wraps(ndimage.uniform_filter1d)
    def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        wide = np.promote_types(input.dtype, np.float32)
        return mean(input, size, axis, output, mode, cval, origin, wide)

    @functools.wraps(ndimage.uniform_filter)
    def uniform_filter(
        input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
    ):
        _real(input, output)
        made, into, wide = input, output, np.promote_types(input.dtype, np.float32)
        for axis, count, edge, by in _each(axes, input.ndim, size, mode, origin):
            if count > 1:
                made = into = mean(made, int(count), axis, into, edge, cval, by, wide)
        return _copied(input, output) if made is input else made

    def smoothed(image, sigma, axis, order, output, mode, cval, reach, wide):
        impulse = np.zeros(2 * reach + 1)
        impulse[reach] = 1  # of which SciPy's filter makes its weights
        weights = ndimage.gaussian_filter1d(
            impulse, sigma, order=order, mode="constant", radius=reach
        )[::-1]
        return correlate1d(
            image, weights.astype(wide) if order else weights, axis, output, mode, cval
        )

    @_apart
    @functools.wraps(ndimage.gaussian_filter1d)
    def gaussian_filter1d(
        input,
        sigma,
        axis=-1,
        order=0,
        output=None,
        mode="reflect",
        cval=0.0,
        truncate=4.0,
        *,
        radius=None,
    ):
        if not _shows(input, output):
            return ndimage.gaussian_filter1d(
                input, sigma, axis, order, output, mode, cval, truncate, radius=radius
            )
        reach = int(float(truncate) * float(sigma) + 0.5) if radius is None else radius
        wide = np.promote_types(input.dtype, np.float32)
        return smoothed(input, sigma, axis, order, output, mode, cval, reach, wide)

    @_apart
    @functools.wraps(ndimage.gaussian_filter)
    def gaussian_filter(
        input,
        sigma,
        order=0,
        output=None,
        mode="reflect",
        cval=0.0,
        truncate=4.0,
        *,
        radius=None,
        axes=None,
    ):
        """CuPy leaves an axis alone of which it would weigh one pixel, whatever the ``order``."""
        _real(input, output)
        if not input.ndim and isinstance(output, np.ndarray):
            raise IndexError("too many indices for an output without axes")
        made, into, shows = input, output, _shows(input, output)
        wide = np.promote_types(input.dtype, np.float32)
        for axis, width, degree, edge, reach in _each(axes, input.ndim, sigma, order, mode, radius):
            reach = int(truncate * width + 0.5) if reach is None else reach
            if width <= 1e-15 or reach <= 0:
                continue
            given = made, width, axis, degree, into, edge, cval
            if shows:
                made = smoothed(*given, reach, wide)
            else:
                made = ndimage.gaussian_filter1d(*given, radius=reach)
            into = made
        return _copied(input, output) if made is input else made

    @functools.wraps(ndimage.laplace)
    def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
        _real(input, output)

        def second(input, axis, output, mode, cval):
            return correlate1d(input, np.array([1.0, -2.0, 1.0]), axis, output, mode, cval)

        return ndimage.generic_laplace(input, second, output, mode, cval, axes=axes)

    def gaussian_of(degree: int, sigma, kwargs: dict) -> Callable:
        def derivative(input, axis, output, mode, cval):
            order = [0] * input.ndim
            order[axis] = degree
            return gaussian_filter(input, sigma, order, output, mode, cval, **kwargs)

        return derivative

    @functools.wraps(ndimage.gaussian_laplace)
    def gaussian_laplace(
        input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs
    ):
        widths = [0] * input.ndim
        for axis, width in _each(axes, input.ndim, sigma):
            widths[axis] = width
        second = gaussian_of(2, widths, kwargs)
        return ndimage.generic_laplace(input, second, output, mode, cval, axes=axes)

    @functools.wraps(ndimage.gaussian_gradient_magnitude)
    def gaussian_gradient_magnitude(
        input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs
    ):
        if axes is not None and not np.size(axes):
            raise IndexError("axes are none")
        first = gaussian_of(1, sigma, kwargs)
        return ndimage.generic_gradient_magnitude(input, first, output, mode, cval, axes=axes)

    def derived(plain: Callable, smooth: list[float]) -> Callable:
        """In CuPy's order of axes, which edges and cut sums show."""

        @functools.wraps(plain)
        def call(input, axis=-1, output=None, mode="reflect", cval=0.0):
            _real(input, output)
            axis, made = range(input.ndim)[axis], input
            for i in range(input.ndim):
                taps = np.array([-1.0, 0.0, 1.0] if i == axis else smooth)
                made = output = correlate1d(made, taps, i, output, mode, cval)
            return made

        return call

    return {
        "convolve": _apart(_correlate(ndimage.convolve, turned=True)),
        "convolve1d": _apart(_correlate1d(instead["convolve1d"], turned=True)),
        "correlate": _apart(_correlate(ndimage.correlate, turned=False)),
        "correlate1d": correlate1d,
        "gaussian_filter": gaussian_filter,
        "gaussian_filter1d": gaussian_filter1d,
        "gaussian_gradient_magnitude": gaussian_gradient_magnitude,
        "gaussian_laplace": gaussian_laplace,
        "laplace": laplace,
        "prewitt": derived(ndimage.prewitt, [1.0, 1.0, 1.0]),
        "sobel": derived(ndimage.sobel, [1.0, 2.0, 1.0]),
        "uniform_filter": uniform_filter,
        "uniform_filter1d": uniform_filter1d,
    }


# --- What sorts ---


def _sorted(plain: Callable, *, ranks: bool) -> Callable:
    """``plain`` for halves, which a ``float32`` holds, and for booleans, which are bytes to it."""
    signature, name = inspect.signature(plain), plain.__name__

    @functools.wraps(plain)
    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        values = given.arguments
        if name.startswith("morph") and not isinstance(values.get("output"), np.ndarray):
            values["output"] = None
        image, output = values["input"], values.get("output")
        dtype, cval = _type_of(image, output), values.get("cval", 0)
        footprint, structured = values.get("footprint"), values.get("structure") is not None
        alike = ranks or structured or not (footprint is None or np.all(footprint))
        if structured and footprint is None and values.get("size") is not None:
            warnings.warn("ignoring size because structure is set", stacklevel=2)
        if dtype.kind == "b" and image.dtype.kind != "b":
            if name in _DIFFERENCES:
                raise TypeError(f"a difference of {image.dtype} is no boolean")
            if not alike and image.ndim > 1 and image.dtype.kind != "u" and (image < 0).any():
                raise not_covered(f"cupyx.scipy.ndimage.{name} of negative numbers into booleans")
        if cval and alike and image.dtype.kind in "biu":  # an edge is of the image's type
            values["cval"] = float(_cut(np.float64(cval), image.dtype))
        if dtype.kind != "b" and _HALF not in (image.dtype, dtype):
            return plain(*given.args, **given.kwargs)
        if image.dtype == _HALF:
            values["input"] = image.astype(np.float32)
        wide = image.dtype if dtype.kind == "b" else dtype
        wide = np.dtype(np.float32) if wide == _HALF else wide
        if output is image and wide == values["input"].dtype:  # which some functions read again
            values["output"] = values["input"]
        else:
            values["output"] = (
                np.empty(output.shape, wide) if isinstance(output, np.ndarray) else wide
            )
        made = plain(*given.args, **given.kwargs)
        return _written(made.view(np.uint8) != 0 if made.dtype == bool else made, output, dtype)

    return call


def sorts() -> dict[str, Callable]:
    found = {name: _sorted(getattr(ndimage, name), ranks=False) for name in _SORTS.split()}
    found |= {name: _apart(call) for name, call in found.items() if name not in _DIFFERENCES}
    return found | {name: _sorted(getattr(ndimage, name), ranks=True) for name in _RANKS.split()}
