"""``cupyx.scipy.fftpack`` on the CPU: SciPy's older transforms, with a ``plan``."""

from __future__ import annotations

import inspect as _inspect

from cupy import fft as _fft
from cupy._core._dispatch import named as _named
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._refused import checked as _checked
from cupy._core._run import routine as _routine
from cupy.fft import _plans
from cupy.fft._plans import get_fft_plan  # noqa: F401
from scipy import fftpack as _library

from gpuless import missing as _missing


def _planned(name: str, plans: bool = True):
    """The transform of that name, with CuPy's ``plan`` as its last argument: ``cupy.fft``'s, but of
    real numbers SciPy's, which packs them in its own way."""
    function = getattr(_library, name)
    signature = _inspect.signature(function)
    if plans:
        parameter = _inspect.Parameter(
            "plan", _inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None
        )
        signature = signature.replace(parameters=[*signature.parameters.values(), parameter])

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values = given.arguments
        plan, x = values.pop("plan", None), values["x"]
        if not isinstance(x, _ndarray):
            raise _unsupported(x)
        one = "axis" in values
        s, axes = ((values["n"],), (values["axis"],)) if one else (values["shape"], values["axes"])
        _plans.check(x, s, axes, _plans.kind(name), plan, one=one)
        if name.startswith(("rfft", "irfft")):
            return _routine(function, **values | {"overwrite_x": False})  # nor does CuPy
        made = getattr(_fft, name)(x, s[0] if one else s, axes[0] if one else axes)
        return _plans.overwritten(x, made, "C2C", s, axes) if values["overwrite_x"] else made

    call.__signature__ = signature
    return _named(call, name, "of SciPy, on the device")


for _name in "fft ifft fft2 ifft2 fftn ifftn rfft".split():
    globals()[_name] = _planned(_name)
irfft = _planned("irfft", plans=False)

globals().update(_checked("fftpack", globals()))


def __getattr__(name: str):
    raise _missing(__name__, name)
