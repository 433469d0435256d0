"""``cupyx.scipy.signal`` on the CPU."""

from __future__ import annotations

import inspect as _inspect
import operator as _operator
import warnings as _warnings

import cupy as _cupy
import numpy as _np
from cupy import fft as _fft
from cupy._core import _convolutions as _methods
from cupy._core._dispatch import named as _named
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._refused import checked as _checked
from scipy import signal as _library

from cupyx.scipy._faces import serve as _serve
from cupyx.scipy.signal import _designs, _frequencies, _history, _peaks, _smoothing, _waveforms
from gpuless import missing as _missing
from gpuless import not_covered as _not_covered

globals().update(_serve(_library, arrays=False, instead=_smoothing.INSTEAD))
chirp = _waveforms.chirp_of(chirp)  # noqa: F821
gausspulse = _waveforms.gausspulse_of(gausspulse)  # noqa: F821
lfilter = _history.lfilter_of(lfilter)  # noqa: F821
lfilter_zi, lfiltic, sosfilt_zi = _history.lfilter_zi, _history.lfiltic, _history.sosfilt_zi
sosfilt = _history.sosfilt_of(sosfilt)  # noqa: F821
argrelextrema, argrelmax, argrelmin = _peaks.argrelextrema, _peaks.argrelmax, _peaks.argrelmin
find_peaks, peak_prominences = _peaks.find_peaks, _peaks.peak_prominences
peak_widths = _peaks.peak_widths
sawtooth = _waveforms.sawtooth_of(sawtooth)  # noqa: F821
square = _waveforms.square_of(square)  # noqa: F821
unit_impulse = _waveforms.unit_impulse
_buttap, _ellipap = buttap, ellipap  # noqa: F821
_decimate = decimate  # noqa: F821
_gauss_spline, _group_delay = gauss_spline, group_delay  # noqa: F821
_lombscargle = lombscargle  # noqa: F821
_sepfir2d = sepfir2d  # noqa: F821
_unique_roots = unique_roots  # noqa: F821
_wiener = wiener  # noqa: F821


def hilbert2(x, N=None):
    """The analytic signal along both axes: of an even length by CuPy's weights, which are not those
    of a new SciPy."""
    if not isinstance(x, _ndarray):
        raise _unsupported(x)
    x = _cupy.atleast_2d(x)
    if x.ndim > 2:
        raise ValueError("x must be 2-D.")
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    lengths = x.shape if N is None else (N, N) if isinstance(N, int) else tuple(N)
    if len(lengths) != 2 or min(lengths) <= 0:
        raise ValueError("N must be one positive integer or two")
    spectrum = _fft.fft2(x, lengths, axes=(0, 1))
    weights = []
    for n in lengths:
        one = _np.zeros(n)
        one[1 : (n + 1) // 2] = 2
        one[[0, n // 2] if n % 2 == 0 else 0] = 1
        weights.append(one)
    weights = _cupy.asarray(_np.outer(*weights), spectrum.dtype)
    return _fft.ifft2(spectrum * weights, axes=(0, 1))


def _wide(function):
    """``resample_poly``: CuPy's own filter makes double precision of what it changes."""

    def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
        if isinstance(x, _ndarray) and x.dtype.char in "efF" and int(up) != int(down):
            taps = window.dtype if isinstance(window, _ndarray) else float
            x = x.astype(_np.promote_types(x.dtype, taps), copy=False)
        return function(x, up, down, axis, window, padtype, cval)

    return _named(resample_poly, "resample_poly", "of SciPy, on the device")


resample_poly = _wide(resample_poly)  # noqa: F821


def wiener(im, mysize=None, noise=None):
    """SciPy's, in double precision, as in CuPy: the square of a pixel fits in no byte."""
    if not isinstance(im, _ndarray):
        raise _unsupported(im)
    return _wiener(im.astype(_np.promote_types(im.dtype, float)), mysize, noise)


def _of_complex(name: str):
    """``resample``, of complex numbers with the window turned as CuPy has it, and in their type."""
    function = globals()[name]

    def call(x, num, t=None, axis=0, window=None, domain="time"):
        n = _np.shape(x)[axis]
        if callable(window):
            window = window(_fft.fftfreq(n))
        if window is None or not (isinstance(x, _ndarray) and x.dtype.kind == "c"):
            return function(x, num, t, axis, window, domain)
        if not hasattr(window, "shape"):
            window = _fft.ifftshift(windows.get_window(window, n))
        if domain == "freq" and window.shape == (n,):  # CuPy weighs the spectrum where it lies
            x *= window.reshape(_np.where(_np.arange(x.ndim) == axis % x.ndim, n, 1).tolist())
            return function(x, num, t, axis, None, domain)
        return function(x, num, t, axis, window.astype(x.dtype), domain)

    return _named(call, name, "of SciPy, on the device")


resample = _of_complex("resample")


def _median_in_double(name: str):
    """The function of that name: divided by the bias of a median, which lies on the device as
    float64, a spectrum has that precision."""
    function = globals()[name]
    signature = _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        found = function(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        if given.get("average") != "median" or not _in_pieces(given):
            return found
        frequencies, power = found
        if power.dtype.kind == "c":  # SciPy has the median of each part
            raise _not_covered(f"cupyx.scipy.signal.{name} with medians of complex numbers")
        return frequencies, power.astype(_np.promote_types(power.dtype, float), copy=False)

    return _named(call, name, "of SciPy, on the device")


def _in_pieces(given: dict) -> bool:
    """Whether there is a second segment, so that there is a median."""
    n = max(_np.shape(given[key])[given.get("axis", -1)] for key in "xy" if key in given)
    window = given.get("window", "hann")
    length = given.get("nperseg") or (256 if isinstance(window, (str, tuple)) else len(window))
    length = min(length, n)
    overlap = given.get("noverlap")
    overlap = length // 2 if overlap is None else overlap
    return n - overlap >= 2 * (length - overlap)


for _name in ("csd", "welch"):
    globals()[_name] = _median_in_double(_name)


def _all_at_once(detrend, axis):
    """``detrend``, a function of the reader's, as CuPy calls it: with all the segments. SciPy's has
    one after the other, so that it is refused where that is not the same."""

    def laid(parts):
        if axis == -1:
            return detrend(parts)
        return _cupy.rollaxis(detrend(_cupy.rollaxis(parts, -1, axis)), axis, parts.ndim)

    def call(part):
        part = _cupy.asarray(part)
        alone = laid(part[..., None, :])[..., 0, :]
        others = part[..., ::-1] * 2 + 1, part * part  # two, lest a line goes through them all
        among = laid(_cupy.stack([part, *others], -2))[..., 0, :]
        near = 1e-4 * float(abs(part).max())
        if not _cupy.allclose(alone, among, atol=near, equal_nan=True):
            raise _not_covered("cupyx.scipy.signal: a detrend that mixes segments")
        return alone.get()

    return call


def _reading(detrend):
    """``detrend``, which is refused where it writes in its segments: CuPy's share the memory of the
    signal."""

    def call(parts):
        before = parts.copy()
        made = detrend(parts)
        if not _cupy.array_equal(parts, before, equal_nan=parts.dtype.kind in "fc"):
            raise _not_covered("cupyx.scipy.signal: a detrend that writes in its segments")
        return made

    return call


def _of_segments(name: str):
    """The function of that name, whose window scales in double precision, as CuPy's, and which
    gives a function for detrend arrays of the device."""
    function, signature = globals()[name], _inspect.signature(getattr(_library, name))

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        if callable(detrend := given.get("detrend")):
            detrend = _reading(detrend)
            if name in ("spectrogram", "stft"):
                given["detrend"] = lambda parts: detrend(_cupy.asarray(parts)).get()
            else:
                given["detrend"] = _all_at_once(detrend, given.get("axis", -1))
        for key in ("x", "y") if name != "spectrogram" else ():
            if key in given:
                given[key] = _cupy.asarray(given[key])
        turned = any(_cupy.iscomplexobj(given.get(key)) for key in "xy")
        if (
            turned
            and given.get("return_onesided", True)
            and name in ("csd", "periodogram", "welch")
        ):
            text = "Input data is complex, switching to return_onesided=False"  # as the others do
            _warnings.warn(text, stacklevel=2)
        if "window" in given and name != "stft":
            given["window"] = _doubled(given["window"])
        return function(**given)

    return _named(call, name, "of SciPy, on the device")


for _name in "coherence csd periodogram spectrogram stft welch".split():
    globals()[_name] = _of_segments(_name)


def _of_something(name: str):
    """The function of that name; of nothing it is nothing, in the type of the first array."""
    function = globals()[name]

    def call(in1, in2, *args, **kwargs):
        both = isinstance(in1, _ndarray) and isinstance(in2, _ndarray)
        if both and in1.ndim == in2.ndim and not (in1.size and in2.size):
            return _cupy.empty(0, in1.dtype)
        return function(in1, in2, *args, **kwargs)

    return _named(call, name, "of SciPy, on the device")


for _name in "convolve convolve2d correlate correlate2d fftconvolve oaconvolve".split():
    globals()[_name] = _of_something(_name)


def _in_double_precision(name: str):
    """The function of that name, which makes double precision of its coefficients in CuPy."""
    function = globals()[name]

    def call(*args, **kwargs):
        return function(*map(_doubled, args), **{k: _doubled(v) for k, v in kwargs.items()})

    return _named(call, name, "of SciPy, on the device")


def _doubled(value):
    if isinstance(value, _ndarray) and value.dtype.char in "efF":
        return value.astype(_np.promote_types(value.dtype, float))
    return tuple(map(_doubled, value)) if isinstance(value, tuple) else value


for _name in "dfreqresp findfreqs lp2bp lp2bs zpk2tf".split():
    globals()[_name] = _in_double_precision(_name)
_zpk2tf = zpk2tf  # noqa: F821


def zpk2tf(z, p, k):
    """SciPy's; of poles that are integers the coefficients are doubles."""
    whole = isinstance(p, _ndarray) and p.dtype.kind in "iub"
    return _zpk2tf(z, p.astype(float) if whole else p, k)


globals().update(_frequencies.of(globals()))
firwin = _designs.firwin_of(firwin)  # noqa: F821
minimum_phase = _designs.minimum_phase_of(minimum_phase)  # noqa: F821
place_poles = _designs.place_poles_of(place_poles)  # noqa: F821
globals().update(_designs.group_of(globals()))


def _rounded(name: str):
    """The function of that name. Of a section of first order, the coefficient that is 0 is in CuPy
    what is left of a product, by which ``sosfiltfilt`` counts one more."""
    function = globals()[name]

    def call(*args, **kwargs):
        found = function(*args, **kwargs)
        if not isinstance(found, _ndarray) or found.ndim != 2 or found.shape[1] != 6:
            return found
        for k in (1, 4):
            alone = (found[:, k] != 0) & (found[:, k + 1] == 0)
            found[:, k + 1] = _cupy.where(alone, found[:, k] * 1.7e-17, found[:, k + 1])
        return found

    return _named(call, name, "of SciPy, on the device")


for _name in "butter cheby1 cheby2 ellip iirdesign iirfilter tf2sos zpk2sos".split():
    globals()[_name] = _rounded(_name)


def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    """Every ``q``-th number of what a filter leaves, which is CuPy's."""
    x = _cupy.asarray(x)
    if not (isinstance(ftype, str) and ftype == "iir"):
        return _decimate(x, q, n, ftype, axis, zero_phase)
    q, n = _operator.index(q), 8 if n is None else _operator.index(n)
    sections = cheby1(n, 0.05, 0.8 / q, output="sos")  # noqa: F821
    sections = sections.astype(x.dtype if x.dtype.char in "fdFD" else float)
    found = (sosfiltfilt if zero_phase else sosfilt)(sections, x, axis)  # noqa: F821
    return _cupy.ascontiguousarray(_cupy.moveaxis(_cupy.moveaxis(found, axis, 0)[::q], 0, axis))


def group_delay(system, w=512, *args, **kwargs):
    """SciPy's, of denominators that CuPy does not conjugate."""
    if isinstance(system, tuple) and isinstance(system[-1], _ndarray):
        system = (*system[:-1], system[-1].conj())
    w = _cupy.atleast_1d(w) if isinstance(w, _ndarray) else w  # a frequency, not a count
    return _group_delay(system, w, *args, **kwargs)


def gauss_spline(x, n):
    """SciPy's, in the type of ``x``."""
    x = _cupy.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("gauss_spline() takes no complex numbers")
    if x.dtype in (_np.uint32, _np.uint64):  # of which CuPy's kernel has the negative
        raise _not_covered(f"cupyx.scipy.signal.gauss_spline of {x.dtype}")
    numbers = x.astype(float) if x.dtype.kind in "iu" else x  # of which none wraps around
    return _gauss_spline(numbers, int(n)).astype(x.dtype, copy=False)


def lombscargle(x, y, freqs, precenter=False, normalize=False):
    """The periodogram of values at uneven times, NaN at frequency 0; normalized by what they were
    before their mean was taken off."""
    x, y, freqs = (_cupy.asarray(v, float) for v in (x, y, freqs))
    if not all(v.flags.c_contiguous for v in (x, freqs, *([] if precenter else [y]))):
        raise _not_covered("cupyx.scipy.signal.lombscargle of every so many numbers; copy them")
    found = _lombscargle(x, y - y.mean() if precenter else y, freqs)
    found = found.reshape(freqs.shape)  # SciPy makes a number of one
    found = _cupy.where(freqs == 0, _cupy.nan, found)
    if x.size == 1:
        raise _not_covered("cupyx.scipy.signal.lombscargle of one value")
    if not normalize:
        return found
    power = _cupy.dot(y, y)
    return _cupy.where(power == 0, 0.0, found * (2 / power))


def vectorstrength(events, period):
    """How well events agree with each period, and their mean phase: in the type of both."""
    events, period = _cupy.asarray(events), _cupy.asarray(period)
    if events.ndim > 1 or period.ndim > 1:
        raise ValueError("events and periods have no more than one dimension")
    if (period <= 0).any():
        raise ValueError("periods must be positive")
    turns = _cupy.dot(2j * _np.pi / _cupy.atleast_2d(period).T, _cupy.atleast_2d(events))
    mean = _cupy.exp(turns).mean(axis=1)
    mean = mean if period.ndim else mean[0]
    return _cupy.abs(mean), _cupy.angle(mean)


def _plain(name: str):
    """The function of that name, of numbers, of which it makes a number."""
    function, library = globals()[name], getattr(_library, name)

    def call(*args, **kwargs):
        of_arrays = any(isinstance(v, _ndarray) for v in (*args, *kwargs.values()))
        return (function if of_arrays else library)(*args, **kwargs)

    return _named(call, name, "of SciPy, on the device")


for _name in ("kaiser_atten", "kaiser_beta", "kaiserord"):
    globals()[_name] = _plain(_name)


def _with_new_edges(name: str):
    """The function of that name, of whose edges SciPy may return those that it was given."""
    function = globals()[name]

    def call(*args, **kwargs):
        order, edges = function(*args, **kwargs)
        return order, edges.copy()

    return _named(call, name, "of SciPy, on the device")


for _name in ("cheb1ord", "ellipord"):
    globals()[_name] = _with_new_edges(_name)


def buttap(N):
    """SciPy's, whose gain is an integer."""
    z, p, _ = _buttap(N)
    return z, p, 1


def ellipap(N, rp, rs):
    """SciPy's, whose gain lies on the device."""
    z, p, k = _ellipap(N, rp, rs)
    return z, p, _cupy.asarray(k) if N > 1 else k


def sepfir2d(input, hrow, hcol):
    """An image filtered along its rows and its columns, by CuPy's names of the parameters."""
    return _sepfir2d(input, hrow, hcol)


def unique_roots(p, tol=1e-3, rtype="min"):
    """SciPy's, of roots that are nearer to each other than ``tol``, and not as far as it."""
    if (
        tol <= 0
        and getattr(p, "ndim", 0) == 1
        and rtype in ("max", "maximum", "min", "minimum", "avg", "mean")
    ):
        return _cupy.empty(0), _cupy.empty(0)
    return _unique_roots(p, _np.nextafter(float(tol), 0), rtype)


def sweep_poly(t, poly, phi=0):
    """A wave whose frequency is a polynomial of the time, of an array's or ``poly1d``'s numbers."""
    if isinstance(poly, _cupy.poly1d):
        poly = poly.coeffs
    integral = _cupy.zeros(poly.shape[0] + 1)
    integral[:-1] = poly / _cupy.arange(1, poly.shape[0] + 1)[::-1]
    made = _cupy.cos(2 * _np.pi * _cupy.polyval(integral, t) + phi * (_np.pi / 180))
    _waveforms.into_radians(phi)
    return made


def choose_conv_method(in1, in2, mode="full"):
    """How CuPy convolves these: floats and complex numbers by Fourier transforms."""
    for array in (in1, in2):
        if not isinstance(array, _ndarray):
            raise _unsupported(array)
    return _methods.convolution_method(in1, in2)


def _by_cupys_method(name: str):
    """The function of that name, by the method that CuPy chooses where it is left to do so."""
    function = globals()[name]

    def call(in1, in2, mode="full", method="auto"):
        both = isinstance(in1, _ndarray) and isinstance(in2, _ndarray)
        if both and method == "auto" and in1.ndim == in2.ndim > 0 and in1.size and in2.size:
            if mode not in ("full", "same", "valid"):
                raise ValueError('acceptable modes are "valid", "same", or "full"')
            method = choose_conv_method(in1, in2)
        return function(in1, in2, mode, method)

    return _named(call, name, "of SciPy, on the device")


for _name in ("convolve", "correlate"):
    globals()[_name] = _by_cupys_method(_name)
from cupyx.scipy.signal import windows  # noqa: E402

get_window = windows.get_window

globals().update(_checked("signal", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
