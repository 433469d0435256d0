"""How a function of SciPy's becomes the function of that name in ``cupyx.scipy``.

What is served of a module is one table: the names that CuPy has (``names.toml``), as far as SciPy
has a function of that name that can be called on arrays alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import ModuleType

import numpy as np
from cupy._core._creation import asarray
from cupy._core._dispatch import named, unsupported
from cupy._core._ndarray import ndarray
from cupy._core._run import routine
from cupy.cuda import stream

from cupyx.scipy._unable import UNABLE
from cupyx.scipy._warned import DIFFERS, tell
from gpuless import not_covered, public

# Small descriptions of a neighbourhood that CuPy also takes from the host, and copies.
FROM_HOST = ("structure", "footprint", "domain")
# One number for each axis, which ndimage takes from the host as well.
_OF_AXES = {"sigma", "size", "zoom", "shift", "offset", "order", "origin"}
# They call a function of the reader's on arrays: CuPy's with a kernel, SciPy's with NumPy arrays.
CALLING = """generic_filter generic_filter1d generic_gradient_magnitude generic_laplace
labeled_comprehension""".split()
# These make arrays out of numbers.
WITHOUT = """block_diag dft fiedler_companion generate_binary_structure hadamard
helmert hilbert leslie next_fast_len fftfreq rfftfreq tri get_workers set_workers""".split()
# The host has to know what they count, so that they wait for the device.
WAITING = ("label",)
# Parameters that SciPy's functions have and CuPy's have not: all of them, or those of one name.
_NO_PARAMETERS = {"workers", "orthogonalize", "xp", "device"}
_NO_PARAMETERS_OF = {
    name: set(names.split())
    for name, names in {
        "chirp": "complex",
        "choose_conv_method": "measure",
        "gaussian_filter1d": "radius",
        "lombscargle": "weights floating_mean",
        "lu": "p_indices",
    }.items()
}
# Parameters whose numbers SciPy makes arrays of, and CuPy does not, or whose lists, below.
_CONVOLVING = "convolve convolve2d correlate correlate2d fftconvolve oaconvolve"
_NO_NUMBERS = {
    "c": "hankel toeplitz",
    "r": "hankel toeplitz",
    "in1": _CONVOLVING,
    "in2": _CONVOLVING,
}
_NO_LISTS = {
    parameter: names.split()
    for parameter, names in {
        "a": "lfilter lfilter_zi lfiltic order_filter residue residuez",
        "b": "lfilter lfilter_zi lfiltic residue residuez",
        "c": "hankel toeplitz",
        "cj": "cspline1d_eval qspline1d_eval",
        "freq": "firwin2",
        "gain": "firwin2",
        "domain": "order_filter",
        "f": "leslie",
        "h": "minimum_phase",
        "hcol": "sepfir2d",
        "hrow": "sepfir2d",
        "Iin": "spline_filter",
        "im": "wiener",
        "k": "lambertw",
        "n": "spherical_yn",
        "in1": _CONVOLVING,
        "in2": _CONVOLVING,
        "input": "medfilt2d sepfir2d symiirorder1 symiirorder2",
        "mask": "binary_closing binary_dilation binary_erosion binary_opening binary_propagation",
        "p": "unique_roots zpk2ss zpk2tf",
        "q": "zeta",
        "r": "hankel toeplitz",
        "s": "leslie",
        "signal": "cspline1d cspline2d qspline1d qspline2d",
        "sos": "sos2zpk sosfilt sosfilt_zi",
        "volume": "medfilt",
        "weights": "convolve convolve1d correlate correlate1d",
        "x": "hilbert lfilter lfiltic sosfilt spectrogram upfirdn zeta",
        "y": "lfiltic",
        "z": "lambertw spherical_yn zpk2ss zpk2tf",
        "zi": "sosfilt",
    }.items()
}
# CuPy's parameters, in their order, of functions of which SciPy takes some by name alone.
_IN_ORDER = {
    name: names.split()
    for name, names in {
        "firls": "numtaps bands desired weight fs",
        "firwin": "numtaps cutoff width window pass_zero scale fs",
        "firwin2": "numtaps freq gain nfreqs window nyq antisymmetric fs",
        "kaiser_bessel_derived": "M beta sym",
        "lanczos": "M sym",
        "minimum_phase": "h method n_fft half",
    }.items()
}
# NumPy arrays that functions of CuPy's signal copy to the device themselves.
_HOSTED = {
    name: parameters.split()
    for names, parameters in {
        "butter cheby1 cheby2 ellip iirfilter": "Wn",
        "buttord cheb1ord cheb2ord ellipord iirdesign": "wp ws",
        "firwin": "cutoff",
        "firls": "bands desired weight",
        "csd coherence periodogram spectrogram stft welch": "x y window",
        "istft": "Zxx window",
        "check_COLA check_NOLA": "window",
        "bilinear lp2bp lp2bs lp2hp lp2lp normalize tf2ss": "a b den num",
        "bilinear_zpk lp2bp_zpk lp2bs_zpk lp2hp_zpk lp2lp_zpk zpk2ss": "z p",
        "freqs freqs_zpk freqz": "worN",
        "freqz_sos": "sos worN",
        "freqz_zpk": "z p worN",
        "findfreqs": "num den",
        "bode dbode dfreqresp freqresp group_delay": "system w",
        "cont2discrete": "system",
        "dlsim": "system u x0",
        "dstep dimpulse": "system t",
        "impulse lsim step": "system T",
        "abcd_normalize ss2tf ss2zpk": "A B C D",
        "invres invresz": "r p k",
        "max_len_seq": "state taps",
        "czt zoom_fft": "x fn",
        "detrend": "data",
        "general_cosine": "a",
        "sos2tf sos2zpk": "sos",
    }.items()
    for name in names.split()
}
# Functions whose results do not depend on the type of NumPy's integers among their parameters.
_OF_INTS = """affine_transform cheb1ap cheb2ap cheby1 cheby2 fourier_ellipsoid fourier_gaussian
fourier_shift fourier_uniform gaussian_filter gaussian_filter1d gaussian_gradient_magnitude
gaussian_laplace resample rotate shift symiirorder1 zoom""".split()
# Functions whose results lie in C's order, whatever their arguments do.
_IN_C = """chirp coherence csd gauss_spline gaussian_filter gausspulse lfilter resample_poly sosfilt
uniform_filter""".split()
# CuPy's names of the first parameter, where SciPy has another.
_FIRST = {"expm": "a", "distance_transform_edt": "image"}


def serve(
    library: ModuleType,
    *,
    arrays: bool,
    instead: dict[str, Callable] | None = None,
    order: str = "K",
) -> dict[str, Callable]:
    """{name: function} of what the stand-in has of the module of ``cupyx.scipy`` that is like
    SciPy's ``library``; with ``arrays`` the first argument must be a device array. ``instead``:
    functions of NumPy arrays in the place of SciPy's. ``order``: see ``run``."""
    wanted = public(f"cupyx.{library.__name__}") - set(CALLING)
    found = {name: getattr(library, name, None) for name in wanted} | (instead or {})
    return {
        name: _face(function, name, arrays, order)
        for name, function in found.items()
        if callable(function) and not inspect.isclass(function)
    }


def _face(function: Callable, name: str, arrays: bool, order: str) -> Callable:
    try:
        parameters = list(inspect.signature(function).parameters)
    except ValueError:  # a ufunc
        parameters = []

    refused = (_NO_PARAMETERS | _NO_PARAMETERS_OF.get(name, set())).intersection(parameters)
    no_lists = [p for p in parameters if name in _NO_LISTS.get(p, ())]
    no_numbers = [p for p in parameters if name in _NO_NUMBERS.get(p, "").split()]
    of_axes = _OF_AXES if getattr(function, "__module__", "").startswith("scipy.nd") else ()
    hosted = _HOSTED.get(name, ())
    in_order = _IN_ORDER.get(name, parameters)
    own_first, unable, differs = _FIRST.get(name), UNABLE.get(name), DIFFERS.get(name)
    order = "C" if name in _IN_C else order

    def call(*args, **kwargs):
        if own_first in kwargs:
            args = (kwargs.pop(own_first), *args)
        if in_order is not parameters and len(args) <= len(in_order):
            names = in_order[: len(args)]
            if twice := kwargs.keys() & set(names):
                raise TypeError(f"{name}() got several values for {twice.pop()!r}")
            args, kwargs = (), dict(zip(names, args, strict=True)) | kwargs
            if "nyq" in in_order:  # which CuPy has and does not look at
                kwargs.pop("nyq", None)
        args = tuple(map(_renamed, args))
        kwargs = {key: _renamed(value) for key, value in kwargs.items()}
        if hosted:
            taken = zip(parameters, args, strict=False)
            more = args[len(parameters) :]
            args = (*(_copied(v) if p in hosted else v for p, v in taken), *more)
            kwargs = {key: _copied(v) if key in hosted else v for key, v in kwargs.items()}
        if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
            if name == "block_diag":  # of which one parameter has all arguments
                args = tuple(map(_copied, args))
            else:
                args = tuple(
                    _listed(v, p in of_axes) for p, v in zip(parameters, args, strict=False)
                )
            kwargs = {key: _listed(value, key in of_axes) for key, value in kwargs.items()}
        given = dict(zip(parameters, args, strict=False)) | kwargs
        for parameter in refused.intersection(given):
            raise TypeError(f"{name}() got an unexpected argument {parameter!r}")
        first = args[0] if args else next(iter(given.values()), None)
        if arrays and name not in WITHOUT and not isinstance(first, ndarray):
            raise unsupported(first)
        if name in _OF_INTS:  # of eight bits, say, in which SciPy's function computes
            args = tuple(int(v) if isinstance(v, np.integer) else v for v in args)
            kwargs = {k: int(v) if isinstance(v, np.integer) else v for k, v in kwargs.items()}
        for parameter in no_lists:
            if isinstance(given.get(parameter), (list, tuple, range)):
                raise unsupported(given[parameter])
        for parameter in no_numbers:
            if isinstance(given.get(parameter), (int, float, complex)):
                raise unsupported(given[parameter])
        if unable is not None and (why := unable(given)):
            raise NotImplementedError(f"{name}() in CuPy: {why}")
        if differs is not None and (found := differs(first, given)):
            tell(*([found] if isinstance(found, str) else []))
        if stream.transfers_matter():
            if name in WAITING:
                stream.refuse_while_capturing()
            if stream.capturing() and isinstance(given.get("output"), ndarray):
                raise not_covered(f"{function.__module__}.{name} with an output in a capture")
        small = {key: given[key] for key in FROM_HOST if isinstance(given.get(key), np.ndarray)}
        if small:
            place = {parameters.index(key): value for key, value in small.items()}
            args = tuple(None if k in place else arg for k, arg in enumerate(args))
            kwargs = {key: value for key, value in kwargs.items() if key not in small}
            return routine(_with(function, parameters, place), *args, new_order=order, **kwargs)
        flat = name == "detrend" and given.get("type") in ("constant", "c")
        return routine(function, *args, new_order="C" if flat else order, **kwargs)

    return named(call, name, "of SciPy, on the device")


def _copied(value):
    """A NumPy array, or those of a system, on the device."""
    if type(value) is tuple:
        return tuple(map(_copied, value))
    return asarray(value) if isinstance(value, np.ndarray) else value


def _renamed(value):
    """A window that CuPy has by a name more than SciPy."""
    return "hann" if isinstance(value, str) and value == "hanning" else value


def _listed(value, of_axes: bool):
    return value.tolist() if of_axes and isinstance(value, np.ndarray) else value


def _with(function: Callable, parameters: list[str], place: dict) -> Callable:
    """``function``, whose parameters at the positions in ``place`` have these values."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        kept = dict(zip(parameters, args, strict=False)) | kwargs
        return function(**kept | {parameters[k]: value for k, value in place.items()})

    return call
