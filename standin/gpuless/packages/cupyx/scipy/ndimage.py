"""``cupyx.scipy.ndimage`` on the CPU."""

from __future__ import annotations

import functools as _functools
import inspect as _inspect
import math as _math
from warnings import warn as _warn

import numpy as _np
from cupy import arange as _arange
from cupy import asarray as _asarray
from cupy import ascontiguousarray as _ascontiguousarray
from cupy import atleast_1d as _atleast_1d
from cupy import broadcast_arrays as _broadcast_arrays
from cupy import empty as _empty
from cupy import isin as _isin
from cupy import ogrid as _ogrid
from cupy import pad as _pad
from cupy import sqrt as _sqrt
from cupy import stack as _stack
from cupy import where as _where
from cupy._core._dispatch import PerformanceWarning as _PerformanceWarning
from cupy._core._dispatch import named as _named
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._ndarray import place as _place
from cupy._core._refused import checked as _checked
from cupy._core._run import routine as _routine
from cupy._core._ufuncs import rint as _rint
from numpy.lib.array_utils import normalize_axis_index as _normalize_axis_index
from numpy.lib.array_utils import normalize_axis_tuple as _normalize_axis_tuple
from scipy import ndimage as _library

from cupyx.scipy._between import INSTEAD as _PLACES
from cupyx.scipy._faces import CALLING as _CALLING
from cupyx.scipy._faces import serve as _serve
from cupyx.scipy._neighbours import sorts as _sorts
from cupyx.scipy._neighbours import sums as _sums
from cupyx.scipy._spectra import INSTEAD as _SPECTRA
from cupyx.scipy._unable import constant as _constant
from cupyx.scipy._warned import odd as _odd
from cupyx.scipy._warned import tell as _tell
from gpuless import missing as _missing
from gpuless import not_covered as _not_covered


def _of_weights(name: str):
    """SciPy's function of that name, of NumPy arrays; where an image holds NaN or infinities, it
    leaves out weights of 0, as CuPy's kernel and SciPy's function of more axes do."""
    plain, wide = getattr(_library, name), getattr(_library, name.removesuffix("1d"))

    @_functools.wraps(plain)
    def call(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        if not weights.any() and weights.size:  # CuPy adds nothing
            return plain(_np.zeros_like(input), weights, axis, output, mode, 0, origin)
        simple = input.dtype.kind == "f" and weights.ndim == 1 and weights.dtype.kind != "c"
        if not simple or weights.all() or _np.isfinite(input).all():
            return plain(input, weights, axis, output, mode, cval, origin)
        shape, origins = [1] * input.ndim, [0] * input.ndim
        shape[axis], origins[axis] = weights.size, origin
        return wide(input, weights.reshape(shape), output, mode, cval, origins)

    return call


_INSTEAD = {name: _of_weights(name) for name in ("convolve1d", "correlate1d")}
globals().update(
    _serve(_library, arrays=True, instead=_sums(_INSTEAD) | _sorts() | _PLACES | _SPECTRA)
)

_BETWEEN = "affine_transform map_coordinates rotate shift zoom".split()  # elements
_MODES = """constant grid-constant nearest mirror reflect grid-mirror wrap grid-wrap""".split()


def _check_between(dtype, given: dict) -> None:
    mode, cval = given["mode"], given["cval"]
    if mode == "opencv":
        raise _not_covered("mode='opencv' of cupyx.scipy.ndimage")
    if not isinstance(given["order"], (int, _np.integer)):
        raise ValueError(f"order is a whole number, not {given['order']}")
    if not 0 <= given["order"] <= 5:
        raise ValueError("spline order is not supported")
    if mode not in _MODES:
        raise ValueError(f"boundary mode ({mode}) is not supported")
    if not isinstance(given.get("coordinates", given["input"]), _ndarray):
        raise TypeError("coordinates are a device array")
    if "coordinates" in given and given["coordinates"].dtype.kind not in "fiu":
        raise ValueError("coordinates should have floating point dtype")
    if not given["input"].size and (given["order"] or 0) > 1 and given["prefilter"]:
        raise ZeroDivisionError("integer division or modulo by zero")
    if mode == "constant" and dtype.kind in "iu" and not _np.isfinite(cval):
        raise NotImplementedError("CuPy has no cval like this for an output of integers")
    if mode in ("constant", "grid-constant") and "zoom" not in given:  # which drops it
        if cval is None:
            raise TypeError("CuPy's kernel does not compile with None for cval; give a number.")
        _constant(cval)
    if given["input"].dtype.kind == "c" and dtype.kind != "c":
        raise RuntimeError("CuPy has no kernel from complex numbers to an output of real ones")


def _rounded(name: str):
    """The function of that name, with CuPy's types: of integers it has no more digits than those of
    ``float32``, and gives the nearest one, of two the even one."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        output, source = given.arguments["output"], given.arguments["input"]
        if isinstance(output, _np.ndarray) or not isinstance(source, _ndarray):
            return function(*args, **kwargs)
        dtype = source.dtype if output is None else output
        dtype = dtype.dtype if isinstance(dtype, _ndarray) else _np.dtype(dtype)
        _check_between(dtype, given.arguments)
        if dtype.kind == "b" and given.arguments["order"] > 1:
            raise _not_covered(f"cupyx.scipy.ndimage.{name} with booleans as its output")
        given.arguments["output"] = dtype if output is None else output
        if source.dtype.kind in "iu":
            given.arguments["input"] = source.astype(_np.float32)
            if name == "affine_transform" and source.dtype.itemsize > 2:  # by its coordinates
                given.arguments["input"] = given.arguments["input"].astype(_np.float64)
        if dtype.kind in "fb" or dtype.kind == source.dtype.kind == "c":
            return function(*given.args, **given.kwargs)
        real = given.arguments["input"] if dtype.kind in "iu" else _np.empty(0, dtype).real
        given.arguments["output"] = _np.promote_types(real.dtype, _np.float32)
        found = function(*given.args, **given.kwargs)
        found = _rint(found) if dtype.kind in "iu" else found
        if not isinstance(output, _ndarray):
            return found.astype(dtype)
        if output.shape != found.shape:
            raise RuntimeError("output shape not correct")
        output[...] = found
        return output

    return _named(call, name, "of SciPy, on the device")


globals().update({_name: _rounded(_name) for _name in _BETWEEN})


def _turned_as_cupys(call):
    """``rotate`` by CuPy's matrix, whose zeros are 6e-17 at a right angle, so that an edge of the
    result lies outside the image, and by SciPy's ``affine_transform``."""
    signature = _inspect.signature(_library.rotate)

    def rotate(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        angle, axes, reshape = map(given.arguments.pop, ("angle", "axes", "reshape"))
        image = given.arguments["input"]
        if not isinstance(image, _ndarray):
            return call(*args, **kwargs)  # which refuses
        first, second = sorted(axis + image.ndim if axis < 0 else axis for axis in axes)
        if first < 0 or second >= image.ndim or first == second:
            raise ValueError("invalid rotation plane specified")
        plane, dtype = [first, second], _np.promote_types(image.real.dtype, _np.float32)
        sin, cos = _math.sin(_np.deg2rad(angle)), _math.cos(_np.deg2rad(angle))
        turn = _np.array([[cos, sin], [-sin, cos]], dtype)
        shape = _np.array(image.shape)
        before = after = shape[plane]
        if reshape:
            rows, columns = before
            corners = turn @ [[0, 0, rows, rows], [0, columns, 0, columns]]
            after = shape[plane] = (_np.ptp(corners, axis=1) + 0.5).astype(int)
        matrix, offset = _np.identity(image.ndim, dtype), _np.zeros(image.ndim, dtype)
        matrix[_np.ix_(plane, plane)] = turn
        offset[plane] = (before - 1) / 2 - turn @ ((after - 1) / 2)
        moved = {"matrix": _place(matrix), "offset": offset.tolist()}
        return affine_transform(  # noqa: F821
            **given.arguments, **moved, output_shape=tuple(shape.tolist())
        )

    return _named(rotate, "rotate", "of CuPy's angles, on the device")


rotate = _turned_as_cupys(rotate)  # noqa: F821


def _in_a_row(name: str):
    """The function of that name: an array of one axis is a row for it, since SciPy's own way with
    one writes integers of 64 bits into an output of floats."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values = given.arguments
        source, output = values["input"], values["output"]
        if isinstance(values.get("axes"), (int, _np.integer)):  # which SciPy's forgets
            values["axes"] = (int(values["axes"]),)
            return function(*given.args, **given.kwargs)
        if not isinstance(source, _ndarray) or source.ndim != 1 or values.get("axes") is not None:
            return function(*args, **kwargs)
        for key in ("input", "footprint", "output"):
            if isinstance(values[key], (_ndarray, _np.ndarray, list, tuple)):
                alone = isinstance(values[key], (list, tuple))
                values[key] = [values[key]] if alone else values[key][None]
        if values["size"] is not None:
            values["size"] = (1, *_np.ravel(values["size"]).tolist())
        values["origin"] = (0, *_np.ravel(values["origin"]).tolist())
        made = function(*given.args, **given.kwargs)
        return output if isinstance(output, _ndarray) else made[0]

    return _named(call, name, "of SciPy, on the device")


for _name in "median_filter percentile_filter rank_filter".split():
    globals()[_name] = _in_a_row(_name)


def _splined(name: str):
    """The function of that name, which CuPy cuts to the output's type once, at the end."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        source, output = given.arguments["input"], given.arguments["output"]
        if not isinstance(source, _ndarray) or isinstance(output, _np.ndarray):
            return function(*args, **kwargs)
        if "axis" in given.arguments:
            _normalize_axis_index(given.arguments["axis"], source.ndim)  # AxisError
        if not source.size and given.arguments["order"] > 1:
            raise ZeroDivisionError("integer division or modulo by zero")
        into = source if output is None else output
        dtype = into.dtype if isinstance(into, _ndarray) else _np.dtype(into)
        wide = _np.promote_types(dtype, _np.float32)
        if source.dtype == _np.float16 or (wide.kind == "c" and source.dtype.kind != "c"):
            given.arguments["input"] = source.astype(wide)
        if isinstance(output, _ndarray) and dtype == wide:
            return function(*given.args, **given.kwargs)
        if source.dtype.kind == "c":
            if isinstance(output, _ndarray) and dtype.kind != "c":
                raise ValueError("output must have complex dtype for complex inputs")
            wide = _np.promote_types(wide, _np.complex64)
        given.arguments["output"] = wide
        made = function(*given.args, **given.kwargs)
        if not isinstance(output, _ndarray):
            made = made if made.ndim else made.reshape(1)
            return made.astype(dtype)  # of complex numbers with a warning, as CuPy
        output[...] = made
        return output

    return _named(call, name, "of SciPy, on the device")


spline_filter = _splined("spline_filter")
spline_filter1d = _splined("spline_filter1d")


def _into(made, out):
    """``out`` with what was ``made``, which is that where it is None."""
    if out is None:
        return made
    if out.shape != made.shape:
        raise RuntimeError("an array to write into has the wrong shape")
    wide = made.dtype.kind == "i" and out.dtype.kind in "iu"
    if not (wide and out.dtype.itemsize >= made.dtype.itemsize) and out.dtype != made.dtype:
        raise RuntimeError(f"an array to write into is of {made.dtype}")
    out[...] = made
    return out


def _distances(call):
    def short(found):
        if isinstance(found, tuple):
            return tuple(map(short, found))
        small = isinstance(found, _ndarray) and found.dtype == _np.int32 and found.ndim == 3
        return found.astype(_np.int16) if small and max(found.shape) <= 32768 else found

    def distance_transform_edt(
        image,
        sampling=None,
        return_distances=True,
        return_indices=False,
        distances=None,
        indices=None,
        *,
        block_params=None,
        float64_distances=True,
    ):
        if block_params is not None:
            raise _not_covered("cupyx.scipy.ndimage.distance_transform_edt with block_params")
        if isinstance(sampling, _ndarray):
            raise TypeError("distance_transform_edt() takes no device array as its sampling")
        if indices is not None and (len(set(image.shape)) > 1 or len(image) % 32):
            raise RuntimeError("CuPy pads to equal multiples of 32, and takes indices of no other")
        scale = None
        if sampling is not None:
            spaces = [sampling] if _np.isscalar(sampling) else list(sampling)
            sampling = list(map(float, spaces))
            if len(set(sampling)) == 1:  # by which CuPy multiplies the distances
                scale, sampling = sampling[0], None
            elif min(sampling, default=1) <= 0:
                raise _not_covered(f"{__name__}.distance_transform_edt with a sampling below 0")
        found = short(call(image, sampling, return_distances, return_indices))
        if return_distances:
            first, *rest = found if isinstance(found, tuple) else (found,)
            first = first if float64_distances else first.astype(_np.float32)
            first = first if scale is None else first * scale
            found = (first, *rest) if rest else first
        for wanted, out in ((return_distances, distances), (return_indices, indices)):
            if out is not None and not wanted:
                raise RuntimeError("an array is given for what is not to be returned")
        if distances is None and indices is None:
            return found
        made = iter(found if isinstance(found, tuple) else (found,))
        wanted = ((return_distances, distances), (return_indices, indices))
        found = tuple(_into(next(made), out) for wants, out in wanted if wants)
        return found if len(found) > 1 else found[0]

    return _named(distance_transform_edt, "distance_transform_edt", "of SciPy, on the device")


distance_transform_edt = _distances(distance_transform_edt)  # noqa: F821


def _shaped(name: str):
    """The function of that name, whose ``structure`` may be a shape: CuPy's has all its pixels."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        if isinstance(given.get("mask"), _ndarray):  # SciPy's of several turns cuts fractions
            given["mask"] = given["mask"].astype(bool, copy=False)
        shape, axes = given.get("structure"), given.get("axes")
        if not isinstance(shape, (int, list, tuple)) or not isinstance(given["input"], _ndarray):
            return function(**given)
        ndim = given["input"].ndim if axes is None else _np.size(axes)
        shape = (shape,) * ndim if isinstance(shape, int) else tuple(shape)
        if len(shape) != ndim or not all(isinstance(n, (int, _np.integer)) for n in shape):
            raise RuntimeError("structure is a shape, one number for each axis, or a device array")
        given["structure"] = _place(_np.ones(shape, bool))
        return function(**given)

    return _named(call, name, "of SciPy, on the device")


_SHAPED = "binary_closing binary_dilation binary_erosion binary_opening binary_propagation"
for _name in _SHAPED.split():
    globals()[_name] = _shaped(_name)


def _sized(name: str):
    """The function of that name, whose ``footprint`` is a size where it is a tuple; CuPy's take no
    lists, which ``grey_dilation`` alone makes arrays of."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        for key in ("footprint", "structure"):
            value = given.get(key)
            hosted = key == "structure" and isinstance(value, _np.ndarray)
            if not hosted and not isinstance(value, (list, tuple)):
                continue
            simple = name in ("grey_erosion", "maximum_filter", "minimum_filter")
            if isinstance(value, list) or key == "structure" or not simple or given.get("size"):
                raise TypeError(f"{name}() takes a device array as its {key}")
            given["size"] = given.pop(key)
        return function(**given)

    return _named(call, name, "of SciPy, on the device")


_SIZED = """black_tophat grey_closing grey_erosion grey_opening maximum_filter minimum_filter
morphological_gradient morphological_laplace white_tophat"""
for _name in _SIZED.split():
    globals()[_name] = _sized(_name)


def _filled(call):
    """``binary_fill_holes``: with CuPy a hole is a region of zeros with a label of its own."""

    def binary_fill_holes(input, structure=None, output=None, origin=0, *, axes=None):
        if not isinstance(input, _ndarray):
            return call(input, structure, output, origin)
        if not isinstance(origin, int):
            iter(origin)  # which CuPy does
        if _np.any(origin):
            _warn("with an origin, CuPy fills holes by the slower of two ways", stacklevel=2)
        if _np.any(origin) or axes is not None:
            if isinstance(structure, (int, list, tuple)):
                raise TypeError("binary_fill_holes() takes a device array as its structure")
            return call(input, structure, output, origin, axes=axes)
        zeros = ~_pad(input.astype(bool), 1)
        found = label(zeros, structure)[0] > 1  # noqa: F821
        found = (found | ~zeros)[(slice(1, -1),) * input.ndim]
        if not isinstance(output, _ndarray):
            return _ascontiguousarray(found)
        output[...] = found
        return output

    return _named(binary_fill_holes, "binary_fill_holes", "of SciPy, on the device")


binary_fill_holes = _filled(binary_fill_holes)  # noqa: F821


def _histograms(call):
    """``histogram``, one after the other for the labels of an ``index``."""

    def histogram(input, min, max, bins, labels=None, index=None):
        if not _np.ndim(index):
            return call(input, min, max, bins, labels, index)
        places = index.tolist() if isinstance(index, _ndarray) else list(index)
        if not places:
            raise ValueError("an index without labels")
        return [call(input, min, max, bins, labels, place) for place in places]

    return _named(histogram, "histogram", "of SciPy, on the device")


histogram = _histograms(histogram)  # noqa: F821


def _values(call):
    """``value_indices``, whose places may be numbers of as few bits as they need."""

    def value_indices(arr, *, ignore_value=None, adaptive_index_dtype=False):
        if isinstance(arr, _ndarray) and arr.dtype.kind in "iu" and arr.size:
            if int(arr.min()) < 0:
                raise ValueError("value_indices() counts by bincount, which takes no such values")
            if arr.dtype.char in "qQ":  # of which SciPy finds none
                arr = arr.astype(arr.dtype.kind + "8")
        found = call(arr)
        dtype = _np.min_scalar_type(-(max(arr.shape) + 1)) if adaptive_index_dtype else _np.int64
        return {
            int(key): tuple(place.astype(dtype, copy=False) for place in places)
            for key, places in found.items()
            if key != ignore_value
        }

    return _named(value_indices, "value_indices", "of SciPy, on the device")


value_indices = _values(value_indices)  # noqa: F821


def _turned_in_double(call):
    """``affine_transform``, whose coordinates may be double ones: those of a double image."""
    signature = _inspect.signature(_library.affine_transform)

    def affine_transform(*args, texture_memory=False, float64_coords=False, **kwargs):
        if texture_memory:
            raise _not_covered("cupyx.scipy.ndimage.affine_transform with texture_memory")
        given = signature.bind(*args, **kwargs).arguments
        if not isinstance(given["matrix"], _ndarray):
            raise TypeError("affine_transform() takes a device array as its matrix")
        output, shape = given.get("output"), given.get("output_shape")
        if isinstance(shape, list):
            raise TypeError("affine_transform() takes a tuple as its output_shape")
        if isinstance(output, _ndarray) and shape is None and output.shape != given["input"].shape:
            raise RuntimeError("output shape not correct")
        if float64_coords:
            given["output"] = given["input"].dtype if output is None else output
            given["input"] = given["input"].astype(_np.promote_types(given["input"].dtype, "d"))
        return call(**given)

    return _named(affine_transform, "affine_transform", "of SciPy, on the device")


affine_transform = _turned_in_double(affine_transform)  # noqa: F821


_ADDED = "i4 u4 u8 f2 f4 f8".split()  # the types of which CuPy has a kernel that adds


def _adds(input, labels, index, *, sums: bool) -> bool:
    """Whether a kernel of CuPy's adds the pixels up, each for the first of equal labels in
    ``index`` only: of the types that it can add and, of ``sums``, unless many are of few labels."""
    if labels is None or not isinstance(index, _ndarray) or index.size < 2:
        return False
    many = sums and max(input.size, labels.size) >= 262144 and index.size <= 4
    return not many and input.dtype in _ADDED


def _only_first(found, index, nothing: float):
    """``found``, with ``nothing`` for a label of ``index`` that has been there before."""
    again = _np.ones(index.size, bool)
    again[_np.unique(index, return_index=True)[1]] = False
    again = again.reshape(index.shape + (1,) * (found.ndim - index.ndim))
    return _np.where(again, nothing, found)


def _by_labels(name: str):
    """The function of that name, with nothing for a label that is twice in ``index``, where CuPy's
    kernel adds. Without an ``index``, CuPy's ``sum`` takes labels below 0, too."""
    call, adds = globals()[name], name in ("sum", "sum_labels")

    def measure(input, labels=None, index=None):
        if isinstance(input, _ndarray) and input.dtype not in _ADDED:
            _warn(f"no kernel of CuPy's adds {input.dtype}", _PerformanceWarning, stacklevel=2)
        if isinstance(index, _ndarray) and not index.ndim and labels is not None:
            if input.dtype not in _ADDED:
                raise IndexError("too many indices for array")
            return measure(input, labels, index.reshape(1)).reshape(())
        if adds and index is None and isinstance(labels, _ndarray):
            labels = labels != 0
        found = call(input, labels, index)
        if adds and labels is not None and isinstance(index, _ndarray) and not index.size:
            return found.astype(_np.int64)
        if not _adds(input, labels, index, sums=adds):
            return found
        return _routine(_only_first, found, index, 0.0 if adds else _np.nan)

    return _named(measure, name, "of SciPy, on the device")


for _name in "mean standard_deviation sum sum_labels variance".split():
    globals()[_name] = _by_labels(_name)


def center_of_mass(input, labels=None, index=None):
    """The places, weighted with the numbers of an image; of half precision by the sum in it."""
    if isinstance(labels, _ndarray) and labels.shape != input.shape:
        raise _not_covered("cupyx.scipy.ndimage.center_of_mass with labels of another shape")
    if labels is not None and _np.ndim(index) > 1:
        raise NotImplementedError("center_of_mass() in CuPy: an index of more than one axis")
    whole = sum_labels(input, labels, index)  # noqa: F821
    along = _ogrid[tuple(map(slice, input.shape))]
    found = [
        sum_labels(input * place.astype(float), labels, index) / whole  # noqa: F821
        for place in along
    ]
    return tuple(found) if not found[0].ndim else list(_stack(found, axis=-1))


def _medians(call):
    """``median``; of few labels, one that is nowhere has 0, and a label alone has to be there."""

    def median(input, labels=None, index=None):
        known = isinstance(labels, _ndarray)
        if known and not _np.ndim(index):
            if not (labels > 0 if index is None else labels == index).any():
                raise ValueError("a median of no pixels")
        found = call(input, labels, index)
        if known and _np.ndim(index) and found.size <= 15:
            index = index if isinstance(index, _ndarray) else _place(_np.asarray(index))
            there = _isin(index, labels)
            found = _where(there, found, 0).astype(found.dtype if there.any() else input.dtype)
        return found

    return _named(median, "median", "of SciPy, on the device")


median = _medians(median)  # noqa: F821


def _of_hosts(name: str):
    """The function of that name, whose ``index`` may be a NumPy array."""
    function = globals()[name]

    def call(input, labels=None, index=None):
        if isinstance(index, _np.ndarray) and index.ndim:
            index = _place(index)
        return function(input, labels, index)

    return _named(call, name, "of SciPy, on the device")


def _on_host(found):
    """Places are numbers of the host, where a label's pixels are looked up."""
    if isinstance(found, (tuple, list)):
        return type(found)(map(_on_host, found))
    return found.get()[()] if isinstance(found, _ndarray) and not found.ndim else found


def _ranks(values, backwards: bool):
    """Which number of ``values`` comes where, of equal ones the first or the last one first."""
    numbers = values.ravel()
    order = _np.argsort(numbers[::-1] if backwards else numbers, kind="stable")
    ranks = _np.empty_like(order)
    ranks[numbers.size - 1 - order if backwards else order] = _np.arange(numbers.size)
    return ranks.reshape(values.shape)


def _places(call, greatest: bool):
    """``call``, of equal numbers with the place of the first one; SciPy gives any. Of the greatest
    it is the last one where CuPy sorts: for more than fifteen labels."""

    def place(input, labels=None, index=None):
        if isinstance(input, _ndarray):
            if _odd(input, infinities=False):  # which a rank hides
                _tell()
            many = getattr(index, "ndim", isinstance(index, (list, tuple)))
            sorts = bool(many) and len(index) > 15
            input = _routine(_ranks, input, greatest and not sorts)
        return _on_host(call(input, labels, index))

    return _named(place, call.__name__, "of SciPy, on the device")


minimum_position = _places(minimum_position, False)  # noqa: F821
maximum_position = _places(maximum_position, True)  # noqa: F821


for _name in "maximum maximum_position median minimum minimum_position".split():
    globals()[_name] = _of_hosts(_name)


def extrema(input, labels=None, index=None):
    """The least and greatest numbers, and where they are."""
    given = input, labels, index
    places = minimum_position(*given), maximum_position(*given)
    return minimum(*given), maximum(*given), *places  # noqa: F821


def _objects(call):
    def find_objects(input, max_label=0):
        if isinstance(input, _ndarray) and input.dtype.kind == "b":
            input = input.astype(_np.int8)
        if isinstance(input, _ndarray) and input.dtype.kind in "iu":
            if not input.ndim:
                raise ValueError("CuPy's kernel takes no array without axes")
            block = 512 // (8 * input.ndim)  # the boxes that one block of memory holds
            if max_label > 0 and input.size and int(input.max()) > -(-max_label // block) * block:
                raise IndexError("CuPy writes boxes of labels beyond max_label into other memory")
        return call(input, max_label)

    return _named(find_objects, "find_objects", "of SciPy, on the device")


find_objects = _objects(find_objects)  # noqa: F821


def _labels(call):
    """``label``, which counts along the rows, however an ``output`` lies."""

    def label(input, structure=None, output=None):
        if isinstance(input, _ndarray) and input.dtype == _np.float16:
            input = input != 0
        if not isinstance(output, _ndarray) or not isinstance(input, _ndarray):
            return call(input, structure, output)
        if output.shape != input.shape:
            raise ValueError("output shape not correct")
        found, count = call(input, structure, output.dtype)
        output[...] = found
        return count

    return _named(label, "label", "of SciPy, on the device")


label = _labels(label)  # noqa: F821


def _by_axes(derivative, input, output, mode, cval, arguments, keywords, axes, *, squares):
    """The sum of what the reader's function ``derivative`` writes for each axis."""
    if not isinstance(input, _ndarray):
        raise TypeError(f"CuPy takes a device array, not {type(input)}")
    axes = _normalize_axis_tuple(range(input.ndim) if axes is None else axes, input.ndim)
    modes = [mode] * len(axes) if isinstance(mode, str) else list(mode)
    if len(modes) != len(axes):
        raise RuntimeError("mode must have length equal to input rank")
    if not isinstance(output, _ndarray):
        output = _empty(input.shape, input.dtype if output is None else output)
    elif output.shape != input.shape:
        raise RuntimeError("output shape not correct")
    if not axes:
        if squares and input.ndim:
            raise IndexError("axes are none")
        output[...] = input
        return output
    for axis, edge in zip(axes, modes, strict=True):
        part = output if axis == axes[0] else _empty(input.shape, output.dtype)
        derivative(input, axis, part, edge, cval, *arguments, **keywords or {})
        if squares:
            part *= part
        if part is not output:
            output += part
    return _sqrt(output, output, casting="unsafe") if squares else output


def generic_laplace(
    input,
    derivative2,
    output=None,
    mode="reflect",
    cval=0.0,
    extra_arguments=(),
    extra_keywords=None,
    *,
    axes=None,
):
    """The sum of a reader's second derivatives."""
    given = input, output, mode, cval, extra_arguments, extra_keywords, axes
    return _by_axes(derivative2, *given, squares=False)


def generic_gradient_magnitude(
    input,
    derivative,
    output=None,
    mode="reflect",
    cval=0.0,
    extra_arguments=(),
    extra_keywords=None,
    *,
    axes=None,
):
    """The root of the sum of a reader's squared derivatives."""
    given = input, output, mode, cval, extra_arguments, extra_keywords, axes
    return _by_axes(derivative, *given, squares=True)


def labeled_comprehension(input, labels, index, func, out_dtype, default, pass_positions=False):
    """What a reader's function makes of the pixels with each label of ``index``."""
    input = _asarray(input)
    places = _arange(input.size).reshape(input.shape)

    def of(pixels):
        given = (input, places) if pass_positions else (input,)
        return func(*(values.ravel() if pixels is None else values[pixels] for values in given))

    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return of(None)
    if not isinstance(labels, _ndarray):
        raise TypeError(f"CuPy takes a device array as its labels, not {type(labels)}")
    if labels.shape != input.shape:
        input, labels, places = _broadcast_arrays(input, labels, places)
    if index is None:
        return of(labels > 0)
    alone, index = _np.isscalar(index), _atleast_1d(index)
    if index.ndim > 1 or not index.size:
        raise ValueError("an index of labels in one row")
    if (index.astype(labels.dtype).astype(index.dtype) != index).any():
        raise ValueError(f"Cannot convert index values from {index.dtype} to {labels.dtype}")
    found = [default] * index.size
    for k in index.argsort().tolist():  # from the least label on, as CuPy
        pixels = labels == index[k].astype(labels.dtype)
        if pixels.any():
            found[k] = of(pixels)
    if out_dtype is object:
        return found[0] if alone else found
    output = _empty(index.shape, out_dtype)
    for k, made in enumerate(found):
        output[k] = _np.nan if made is None and output.dtype.kind in "fc" else made
    return output[0] if alone else output


def _refused(name: str):
    """A function that libraries import and that is refused once it is called."""

    def call(*args, **kwargs):
        raise _not_covered(f"{__name__}.{name}")

    return _named(call, name, "which calls a function of the reader's")


globals().update({name: _refused(name) for name in _CALLING if name not in globals()})
globals().update(_checked("ndimage", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
