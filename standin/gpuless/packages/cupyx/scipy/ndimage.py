"""``cupyx.scipy.ndimage`` on the CPU."""

from __future__ import annotations

import inspect as _inspect

import numpy as _np
from cupy._core._dispatch import named as _named
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._ufuncs import rint as _rint
from scipy import ndimage as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing
from gpuless import not_covered as _not_covered

globals().update(_serve(_library, arrays=True))

_BETWEEN = "affine_transform map_coordinates rotate shift zoom".split()  # elements
_SUMS = """convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d
gaussian_gradient_magnitude gaussian_laplace laplace prewitt sobel uniform_filter
uniform_filter1d""".split()


def _rounded(name: str):
    """The function of that name, with CuPy's rules for results that are no whole numbers.

    Between integers it takes the nearest one, of two the even one, where SciPy goes away from 0.
    NotImplementedError for booleans, of which CuPy's kernels make True and SciPy mostly False.
    """
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        output, source = given.arguments["output"], given.arguments["input"]
        picks = name in _BETWEEN and not given.arguments["order"]
        of_host = isinstance(output, _np.ndarray) or not isinstance(source, _ndarray)
        if picks or of_host:
            return function(*args, **kwargs)
        if isinstance(output, _ndarray):
            dtype = output.dtype
        else:
            dtype = source.dtype if output is None else _np.dtype(output)
        if dtype.kind == "b":
            raise _not_covered(f"cupyx.scipy.ndimage.{name} with booleans as its output")
        if name in _SUMS or dtype.kind not in "iu":
            return function(*args, **kwargs)
        given.arguments["output"] = _np.float64
        found = _rint(function(*given.args, **given.kwargs))
        if not isinstance(output, _ndarray):
            return found.astype(dtype)
        output[...] = found
        return output

    return _named(call, name, "of SciPy, on the device")


for _name in _BETWEEN + _SUMS:
    globals()[_name] = _rounded(_name)


def _on_host(found):
    """Places are numbers of the host, where a label's pixels are looked up."""
    if isinstance(found, (tuple, list)):
        return type(found)(map(_on_host, found))
    return found.get()[()] if isinstance(found, _ndarray) and not found.ndim else found


def _places(name: str):
    """The function of that name, whose results are places, or are so from the third one on."""
    function = globals()[name]

    def call(*args, **kwargs):
        found = function(*args, **kwargs)
        return (*found[:2], *_on_host(found[2:])) if name == "extrema" else _on_host(found)

    return _named(call, name, "of SciPy, on the device")


for _name in ("minimum_position", "maximum_position", "extrema"):
    globals()[_name] = _places(_name)


def __getattr__(name: str):
    raise _missing(__name__, name)
