"""What CuPy's functions refuse to do, while SciPy's of the same name do it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from cupy._core._ndarray import ndarray
from cupy.cuda import stream

from gpuless import not_covered


def _kinds(given: dict) -> str | None:
    if given.get("type", 2) in (1, 4):
        return "Only the transforms of the types II and III have been implemented."


def _iterations(given: dict) -> str | None:
    if given.get("iterations", 1) == 1 or given.get("brute_force"):
        return None
    structure = given.get("structure")
    if structure is not None:
        structure = structure._array if isinstance(structure, ndarray) else np.asarray(structure)
        moved = np.broadcast_to(given.get("origin", 0), structure.ndim)
        if not structure[tuple(n // 2 + by for n, by in zip(structure.shape, moved, strict=True))]:
            return None
    return "only brute_force iteration has been implemented"


def _distances(given: dict) -> str | None:
    image = given["input"]
    if image.ndim not in (2, 3):
        return "Only 2D and 3D distance transforms are supported."
    if not stream.capturing():
        stream.catch_up()
        if image._array.all():
            return "an image without a 0 gives distances to no place of it, others than SciPy's."


def _upfirdn(given: dict) -> str | None:
    if given.get("mode") not in (None, "constant") or given.get("cval", 0) != 0:
        return "mode and cval of upfirdn are not implemented."


def is_parzen(window) -> bool:
    name = window[0] if isinstance(window, tuple) and len(window) == 1 else window
    return isinstance(name, str) and name in ("parzen", "parz", "par")


def _window(given: dict) -> None:
    if is_parzen(given.get("window")):
        raise not_covered("the window called 'parzen' outside of get_window")


def _padded(given: dict) -> None:
    _window(given)
    if given.get("padtype", "constant") != "constant" or given.get("cval") is not None:
        raise ValueError("padtype and cval arguments are not supported by upfirdn")


def _maxima(given: dict) -> str | None:
    if given.get("mode") == "raise":
        return "CuPy `take` doesn't support `mode='raise'`."


def _no_complex(given: dict) -> str | None:
    if getattr(given.get("data"), "dtype", np.dtype(float)).kind == "c":
        return "complex numbers"
    return _maxima(given)


def _summed(given: dict) -> str | None:
    """CuPy sums in the type of the smaller array, and cuts off what no integer holds."""
    _modes(given)
    large, small = given.get("in1"), given.get("in2")  # others are ndimage's
    if not (isinstance(large, ndarray) and isinstance(small, ndarray)):
        return None
    plain = given.get("boundary", "fill") == "fill" and given.get("fillvalue", 0) == 0
    if small.size > large.size and (plain or given.get("mode") == "valid"):
        large, small = small, large
    whole = small.dtype.kind in "iu" and large.dtype.kind in "fc"
    if whole and given.get("method") != "fft" and not np.can_cast(small.dtype, large.dtype):
        return f"a sum in {small.dtype} of {large.dtype}; give both of them one dtype."


def _flat(given: dict) -> None:
    if np.ndim(given["input"]) != 2:
        raise ValueError("input must be 2d")


def _power(given: dict) -> None:
    if "p" not in given:
        raise TypeError("minkowski() missing 1 required positional argument: 'p'")


def _orders(given: dict) -> None:
    for value in (given["n"], given["x"]):
        if not isinstance(value, ndarray):
            raise TypeError(f"polygamma() takes arrays of the device, not {type(value)}")
    if given["n"].dtype.kind == "c":
        raise TypeError("polygamma() takes no complex orders")


def _two_of_them(given: dict) -> None:
    if "q" not in given:
        raise TypeError("zeta() takes two arguments")
    for value in (given["x"], given["q"]):
        if getattr(value, "dtype", np.dtype(float)).kind == "c" or isinstance(value, complex):
            raise TypeError("zeta() takes no complex numbers")


def _zeros(given: dict) -> str | None:
    if np.ndim(given["z"]) > 1:
        return "zpk2tf: z.ndim is more than 1."


def _bessel(given: dict) -> str | None:
    if given.get("ftype") == "bessel":
        return "'bessel' is not implemented in iirfilter."


def _derivatives(given: dict) -> str | None:
    if given.get("diff_n", 0) != 0:
        return "Derivatives not implemented."


def _complex(given: dict) -> str | None:
    if getattr(given["z"], "dtype", np.dtype(float)).kind == "c" or isinstance(given["z"], complex):
        return "complex numbers"


def _modes(given: dict) -> None:
    modes = given.get("mode", "reflect")
    if "input" in given and "grid-constant" in ([modes] if isinstance(modes, str) else modes):
        raise RuntimeError("boundary mode not supported (actual: grid-constant)")


def _edges(given: dict) -> str | None:
    _modes(given)
    if np.isfinite(given.get("cval", 0)):
        return None
    output, modes = given.get("output"), given.get("mode", "reflect")
    output = given["input"] if output is None else output
    dtype = output.dtype if isinstance(output, ndarray) else np.dtype(output)
    if dtype.kind in "iu" and "constant" in ([modes] if isinstance(modes, str) else modes):
        return "Non-finite cval is not supported for outputs with integer dtype."


def _labels(given: dict) -> None:
    index = given.get("index")
    if not (index is None or isinstance(index, (ndarray, int, np.integer))):
        raise TypeError("index must be cupy.ndarray or a scalar int")
    if given["input"].dtype.kind == "c":
        raise TypeError("complex numbers are not supported")


def _first_label(few: int, given: dict) -> str | None:
    """Where CuPy sorts, for more than a few labels, it takes 0 to be found where label 0 is."""
    labels, index = given.get("labels"), given.get("index")
    if not isinstance(labels, ndarray):
        return None
    if isinstance(index, ndarray) and not index.ndim:
        raise TypeError("len() of unsized object")
    if np.ndim(index) == 0 or len(index) <= few:
        return None
    labels = labels._array
    if not labels.size:
        return None
    least, most = labels.min(), labels.max()
    plain = np.can_cast(labels.dtype, np.int64) and 0 <= least and most <= labels.size
    if plain and least > 0:
        return None
    index = index._array if isinstance(index, ndarray) else np.asarray(index)
    if (index == least).any():
        return f"label {least}, one of more than {few}, gives 0; look at it alone."


def _counted(given: dict) -> str | None:
    dtype = given["input"].dtype
    if dtype.kind == "c" or dtype == np.int8:  # of which CuPy does not count the negative ones
        return f"{dtype} is not supported"


def _structure(given: dict) -> None:
    _modes(given)
    small = given.get("size"), given.get("footprint")
    if given.get("structure") is not None and small == (None, None):
        raise ValueError("must specify either weights array or sizes")


def _overlap(given: dict) -> str | None:
    source, output = given["input"], given.get("output")
    spline = given.get("order", 3) > 1 and given.get("prefilter", True)  # which is a new array
    if isinstance(output, ndarray) and source.flags.c_contiguous and not spline:
        if np.may_share_memory(source._array, output._array):
            return "the kernel reads the input while it writes the output, and they overlap."


def _check_of(names: str, check: Callable) -> dict[str, Callable]:
    return dict.fromkeys(names.split(), check)


# {name: a function of the arguments given, that raises, or returns why CuPy refuses them, or None}
UNABLE = {
    **_check_of("dct idct dst idst dctn idctn dstn idstn", _kinds),
    **_check_of("binary_erosion binary_dilation binary_opening binary_closing", _iterations),
    **_check_of("distance_transform_edt", _distances),
    **_check_of("sum sum_labels mean variance standard_deviation center_of_mass", _labels),
    **_check_of("minimum maximum", functools.partial(_first_label, 30)),
    **_check_of("median minimum_position maximum_position", functools.partial(_first_label, 15)),
    **_check_of("histogram", _counted),
    **_check_of("grey_erosion grey_dilation grey_opening grey_closing", _structure),
    **_check_of("morphological_gradient morphological_laplace", _structure),
    **_check_of("white_tophat black_tophat", _structure),
    **_check_of("upfirdn", _upfirdn),
    **_check_of("resample_poly", _padded),
    **_check_of("check_COLA check_NOLA coherence csd firwin firwin2 istft", _window),
    **_check_of("periodogram resample spectrogram stft welch", _window),
    **_check_of("argrelextrema", _maxima),
    **_check_of("argrelmax argrelmin", _no_complex),
    **_check_of("convolve2d correlate2d convolve correlate", _summed),
    **_check_of("medfilt2d", _flat),
    **_check_of("minkowski", _power),
    **_check_of("polygamma", _orders),
    **_check_of("zeta", _two_of_them),
    **_check_of("zpk2tf", _zeros),
    **_check_of("iirfilter", _bessel),
    **_check_of("sph_harm_y", _derivatives),
    **_check_of("spherical_yn", _complex),
    **_check_of("correlate1d convolve1d uniform_filter uniform_filter1d", _edges),
    **_check_of("affine_transform map_coordinates rotate shift zoom", _overlap),
    **_check_of("gaussian_filter gaussian_filter1d prewitt sobel laplace", _edges),
    **_check_of("gaussian_laplace gaussian_gradient_magnitude", _modes),
    **_check_of("minimum_filter minimum_filter1d maximum_filter maximum_filter1d", _modes),
    **_check_of("median_filter percentile_filter rank_filter", _modes),
}
