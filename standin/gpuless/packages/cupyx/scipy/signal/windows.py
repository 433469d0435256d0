"""``cupyx.scipy.signal.windows`` on the CPU."""

from __future__ import annotations

from cupy._core._refused import checked as _checked
from scipy.signal import windows as _library

from cupyx.scipy._faces import serve as _serve
from cupyx.scipy._unable import check_window as _check_window
from cupyx.scipy._unable import is_parzen as _is_parzen
from cupyx.scipy.signal._waveforms import parzen_of as _parzen_of
from gpuless import missing as _missing

globals().update(_serve(_library, arrays=False))
parzen = _parzen_of(parzen)  # noqa: F821
_get_window = get_window  # noqa: F821


def get_window(window, Nx, fftbins=True):
    """SciPy's, of CuPy's windows."""
    _check_window(window)
    if _is_parzen(window):
        return parzen(Nx, not fftbins)
    return _get_window(window, Nx, bool(fftbins))


globals().update(_checked("windows", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
