"""Where some of SciPy's filters answer otherwise than the kernels of CuPy that they stand for, the
reader is warned: around NaN and infinities in an image, and of recursive filters that are sharp.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cupy._core._ndarray import ndarray
from cupy.cuda import stream
from scipy.linalg import hankel, toeplitz
from scipy.signal import lti

from cupyx.scipy import _blocks

_OURS = str(Path(__file__).parents[2])
_TEXT = (
    "an array or its coordinates hold NaN or infinities: SciPy's function, which stands for CuPy's "
    "here, may answer otherwise than the kernel of a GPU, near them or far from them. Replace them "
    "first, as with cupy.nan_to_num, or look at the result on a GPU."
)


def odd(value, *, infinities: bool = True) -> bool:
    """Whether ``value`` is a device array that holds NaN or, with ``infinities``, one of these.
    What a graph will hold nobody knows while it is captured."""
    if not isinstance(value, ndarray) or value.dtype.kind not in "fc" or stream.capturing():
        return False
    stream.catch_up()
    if infinities:
        return not np.isfinite(value._array).all()
    return bool(np.isnan(value._array).any())


_LOST = (
    "CuPy filters blocks side by side and joins them by numbers that grow with a filter as sharp "
    "as this one: of its result {} is rounding. The stand-in's is right. Use sosfilt, and double "
    "precision."
)


def tell(text: str = _TEXT) -> None:
    """Warn, at the line that called the stand-in, so that Python shows it once for each line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def _any(first, given: dict) -> bool:
    return odd(first)


def _ordered(first, given: dict) -> bool:
    return odd(first, infinities=False)  # whose order all agree on


def _summed(first, given: dict) -> bool:
    """A product of complex numbers makes NaN of an infinity; SciPy filters both parts. CuPy leaves
    out weights of 0, as SciPy does in ``correlate`` and ``convolve`` of ``ndimage``."""
    if "in1" in given:  # signal's, with any weights
        return odd(first) or odd(given.get("in2"))
    if odd(given.get("weights"), infinities=False):  # which SciPy leaves out
        return True
    kinds = {array.dtype.kind for array in given.values() if isinstance(array, ndarray)}
    return "c" in kinds and odd(first)


def _recursive(lost: Callable, first, given: dict) -> bool | str:
    if "a" in given and odd(given.get("x")) and isinstance(first, ndarray):
        if not first._array.all():
            return True
    return sharp(lost, **{name: value for name, value in given.items() if name != "zi"})


def sharp(lost: Callable, *args, **given) -> str:
    """What is said of a filter of which CuPy loses the digits, or nothing."""
    if stream.capturing():
        return ""
    stream.catch_up()
    args = [getattr(value, "_array", value) for value in args]
    given = {name: getattr(value, "_array", value) for name, value in given.items()}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = lost(*args, **given)
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        NotImplementedError,
        TypeError,
        ValueError,
    ):
        return ""  # the filter itself says why
    return _LOST.format("all" if part > 1 else f"about {part:.0e}") if part > 3e-5 else ""


_FIT = (
    "these bands and weights hardly determine a filter of this length: of its coefficients about "
    "{:.0e} is rounding, in CuPy another than here. Take fewer taps, or narrower gaps."
)


def _fitted(first, given: dict) -> bool | str:
    """``firls``, where the matrix of its equations is nearly singular."""
    if stream.capturing():
        return False
    stream.catch_up()
    arrays = [getattr(given.get(k), "_array", given.get(k)) for k in ("bands", "weight")]
    try:
        count = int(given["numtaps"])
        bands = np.asarray(arrays[0], float).reshape(-1, 2) / (0.5 * (given.get("fs") or 2))
        weight = np.ones(len(bands)) if arrays[1] is None else np.asarray(arrays[1], float).ravel()
        q = np.sinc(bands * np.arange(count)[:, None, None]) * bands
        q = np.diff(q, axis=2)[:, :, 0] @ weight
        half = (count + 1) // 2
        lost = np.finfo(float).eps * np.linalg.cond(
            toeplitz(q[:half]) + hankel(q[:half], q[half - 1 :])
        )
    except (TypeError, ValueError, np.linalg.LinAlgError):  # which firls() refuses
        return False
    return _FIT.format(min(lost, 1)) if lost > 1e-7 else False


_UNDAMPED = (
    "the times are chosen by the damping of the poles, and one of them has hardly any: CuPy may "
    "choose others. Give them."
)


def _endless(first, given: dict) -> bool | str:
    """``impulse`` and ``step`` that choose their times from a pole on the imaginary axis."""
    if given.get("T") is not None or not isinstance(given["system"], tuple) or stream.capturing():
        return False
    stream.catch_up()
    system = [getattr(value, "_array", value) for value in given["system"]]
    try:
        with warnings.catch_warnings(action="ignore"):
            poles = np.linalg.eigvals(lti(*system).to_ss().A)
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return False
    still = np.abs(poles.real).min(initial=np.inf) < 1e-9 * np.abs(poles).max(initial=1e-300)
    return _UNDAMPED if still else False


def _smoothed(first, given: dict) -> bool:
    plain = not np.any(given.get("order", 0)) and not {"truncate", "radius"}.intersection(given)
    return _summed(first, given) if plain else odd(first)  # where no weight is 0


def _between(first, given: dict) -> bool:
    order = given.get("order", 3)  # of 1 it sums up as CuPy does, with no weights of 0
    picks = order == 0 or (order == 1 and first.dtype.kind != "c")
    return (odd(first) and not picks) or odd(given.get("coordinates")) or odd(given.get("matrix"))


def _labelled(first, given: dict) -> bool:
    return np.ndim(given.get("index")) > 0 and odd(first, infinities=False)


def _check_of(names: str, check: Callable) -> dict[str, Callable]:
    return dict.fromkeys(names.split(), check)


# {name: a function of the first argument and of all by name: whether CuPy may answer otherwise}
DIFFERS = {
    **_check_of("gaussian_gradient_magnitude gaussian_laplace", _any),
    **_check_of("decimate resample_poly", _any),
    "upfirdn": lambda first, given: odd(given.get("x")),  # of which zeros beside h are products
    **_check_of("savgol_filter sepfir2d spline_filter spline_filter1d", _any),
    **_check_of("minimum_filter minimum_filter1d maximum_filter maximum_filter1d", _ordered),
    **_check_of("median_filter percentile_filter rank_filter", _ordered),
    **_check_of("grey_erosion grey_dilation grey_opening grey_closing", _ordered),
    **_check_of("morphological_gradient morphological_laplace", _ordered),
    **_check_of("white_tophat black_tophat medfilt medfilt2d order_filter", _ordered),
    **_check_of("convolve convolve1d convolve2d correlate correlate1d correlate2d", _summed),
    **_check_of("firls", _fitted),
    **_check_of("impulse step", _endless),
    "deconvolve": lambda first, given: sharp(_blocks.lost_in_division, *given.values()),
    "filtfilt": functools.partial(_recursive, _blocks.lost_both_ways),
    "lfilter": functools.partial(_recursive, _blocks.lost),
    "sosfilt": functools.partial(_recursive, _blocks.lost_in_sections),
    "sosfiltfilt": functools.partial(_recursive, _blocks.lost_in_sections_both_ways),
    **_check_of("laplace prewitt sobel uniform_filter uniform_filter1d", _summed),
    **_check_of("fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform", _summed),
    **_check_of("gaussian_filter gaussian_filter1d", _smoothed),
    **_check_of("affine_transform map_coordinates rotate shift zoom", _between),
    **_check_of("minimum maximum median", _labelled),
}
