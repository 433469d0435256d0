"""``cupyx.scipy.fft`` on the CPU: CuPy's Fourier transforms, each with a ``plan``, and SciPy's
others."""

from __future__ import annotations

import inspect as _inspect

import numpy as _np
from cupy import fft as _fft
from cupy._core import _convolutions as _lengths
from cupy._core._creation import asarray as _asarray
from cupy._core._dispatch import named as _named
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._refused import checked as _checked
from cupy.fft import _plans, fftfreq, fftshift, ifftshift, rfftfreq  # noqa: F401
from cupy.fft._plans import get_fft_plan  # noqa: F401
from scipy import fft as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing

_served = _serve(_library, arrays=True)
_KINDS = "fft ifft rfft irfft hfft ihfft".split()


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}


def _planned(name: str):
    """``cupy.fft``'s transform of that name, which holds its array to the plan that is given, if
    one is."""
    hermitian = name.removeprefix("i") in ("hfft2", "hfftn")
    inner = name.replace("ihfft", "rfft").replace("hfft", "irfft") if hermitian else name
    transform = getattr(_fft, inner)
    signature = _inspect.signature(getattr(_library, name))
    signature = signature.replace(
        parameters=[p for p in signature.parameters.values() if p.name != "workers"]
    )

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values, plan = given.arguments, given.arguments["plan"]
        x, norm = values["x"], values["norm"]
        if plan is not None and "h" in name:
            raise NotImplementedError(f"{name} plan is currently not yet supported")
        if not isinstance(x, _ndarray):
            raise _unsupported(x)
        one = "axis" in values
        s, axes = ((values["n"],), (values["axis"],)) if one else (values["s"], values["axes"])
        s, axes = (
            (v,) if isinstance(v, int) else tuple(v) if isinstance(v, list) else v
            for v in (s, axes)
        )
        _plans.check(x, s, axes, _plans.kind(name), plan, one=one)
        if x.dtype == _np.float16 and axes and len(axes) == 1:  # cupy.fft makes a half again
            x = x.astype(_np.float32)
        if not hermitian:
            if not one and isinstance(values["s"], list):  # which CuPy tells from a tuple
                s = values["s"]
            made = transform(x, s[0], axes[0], norm) if one else transform(x, s, axes, norm)
            if values["overwrite_x"] and "h" not in name:
                return _plans.overwritten(
                    x, made, _plans.kind(name), s if s != (None,) else None, axes
                )
            return made
        norm = _SWAPPED.get(norm, norm)  # the other direction, of the conjugate
        if name.startswith("i"):
            return transform(x, s, axes, norm).conj()
        return transform(x.conj(), s, axes, norm)

    return _named(call, name, "of the device's arrays")


def _kept(name: str):
    """The transform of that name, which leaves its array as it is, as CuPy's do."""

    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.arguments.pop("overwrite_x", None)
        return _served[name](*given.args, **given.kwargs)

    return _named(call, name, "of SciPy, on the device")


globals().update(_served)
for _name in "dct dctn dst dstn idct idctn idst idstn".split():
    globals()[_name] = _kept(_name)
for _name in [kind + more for kind in _KINDS for more in ("", "2", "n")]:
    globals()[_name] = _planned(_name)


def next_fast_len(target, real=False):
    """The least number from ``target`` on that has no other prime factors than 2, 3, 5 and 7."""
    return _lengths.next_fast_len(target)


# What ``scipy.fft.set_backend(cupyx.scipy.fft)`` asks for.
__ua_domain__ = "numpy.scipy.fft"


def __ua_convert__(dispatchables, coerce):
    """The arrays of a call to SciPy's, on the device if SciPy may bring them there."""
    values = []
    for one in dispatchables:
        value = one.value
        if coerce and one.coercible and one.type is _np.ndarray:
            value = _asarray(value)
        if one.type is _np.ndarray and not isinstance(value, _ndarray):
            return NotImplemented
        values.append(value)
    return values


def __ua_function__(method, args, kwargs):
    """What this module makes of a call to SciPy's function."""
    function = globals().get(method.__name__)
    return NotImplemented if function is None else function(*args, **kwargs)


globals().update(_checked("scipy.fft", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
