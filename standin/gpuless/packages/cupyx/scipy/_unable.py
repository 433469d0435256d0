"""What CuPy's functions refuse to do, while SciPy's of the same name do it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from cupy._core._ndarray import ndarray


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
    if given["input"].ndim not in (2, 3):
        return "Only 2D and 3D distance transforms are supported."


def _upfirdn(given: dict) -> str | None:
    if given.get("mode") not in (None, "constant") or given.get("cval", 0) != 0:
        return "mode and cval of upfirdn are not implemented."


def _maxima(given: dict) -> str | None:
    if given.get("mode") == "raise":
        return "CuPy `take` doesn't support `mode='raise'`."


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


def _edges(given: dict) -> str | None:
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


def _check_of(names: str, check: Callable) -> dict[str, Callable]:
    return dict.fromkeys(names.split(), check)


# {name: a function of the arguments given, that raises, or returns why CuPy refuses them, or None}
UNABLE = {
    **_check_of("dct idct dst idst dctn idctn dstn idstn", _kinds),
    **_check_of("binary_erosion binary_dilation binary_opening binary_closing", _iterations),
    **_check_of("distance_transform_edt", _distances),
    **_check_of("sum sum_labels mean variance standard_deviation center_of_mass", _labels),
    **_check_of("upfirdn", _upfirdn),
    **_check_of("argrelextrema argrelmax argrelmin", _maxima),
    **_check_of("zpk2tf", _zeros),
    **_check_of("iirfilter", _bessel),
    **_check_of("sph_harm_y", _derivatives),
    **_check_of("spherical_yn", _complex),
    **_check_of("correlate1d convolve1d uniform_filter uniform_filter1d", _edges),
    **_check_of("gaussian_filter gaussian_filter1d prewitt sobel laplace", _edges),
}
