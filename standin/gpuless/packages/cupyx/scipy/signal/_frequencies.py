"""Responses to frequencies, in the types that CuPy's steps make of them."""

from __future__ import annotations

import operator

import numpy as np
from cupy._core._creation import asarray
from cupy._core._ndarray import ndarray
from cupy._core._run import routine
from numpy.polynomial.polynomial import polyval
from scipy.fft import next_fast_len


def _doubled(value):
    if isinstance(value, ndarray) and value.dtype.char in "efF":
        return value.astype(np.promote_types(value.dtype, float))
    return value


def _is_count(frequencies) -> bool:
    if isinstance(frequencies, ndarray):
        frequencies = None if frequencies.ndim else frequencies.item()
        if frequencies is None:
            return False
    try:
        return frequencies is None or operator.index(frequencies) is not None
    except TypeError:
        return False


def _dtype(value) -> np.dtype:
    dtype = value.dtype if isinstance(value, ndarray) else np.asarray(value).dtype
    return dtype if dtype.kind in "fc" else np.dtype(float)


def _single(*arrays) -> bool:
    """Whether each has roots, and in single precision."""
    return all(isinstance(v, ndarray) and v.dtype.char in "fF" and v.size > 1 for v in arrays)


def _responded(b, a, w, fs):
    """The response to frequencies in single precision, of which the powers are, too."""
    w = 2 * np.pi * w / fs
    turned = np.exp(-1j * w)
    above, below = (polyval(turned, np.atleast_1d(c), tensor=False) for c in (b, a))
    return w * fs / (2 * np.pi), above / below


def of(library: dict) -> dict:
    """{name: function} of those in SciPy's ``library`` whose results have other types."""

    def freqz(
        b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False
    ):  # fmt: skip
        b, a = (asarray(c) if isinstance(c, np.ndarray) else c for c in (b, a))
        if isinstance(worN, ndarray) and worN.dtype.kind == "c":
            worN = worN.real
        if isinstance(worN, ndarray) and worN.ndim and worN.dtype.char in "ef" and plot is None:
            return routine(_responded, b, a, worN, fs)
        numbers = _doubled(b), _doubled(a), _doubled(worN)
        w, h = library["freqz"](*numbers, whole, plot, fs, include_nyquist)
        made = np.result_type(_dtype(b), _dtype(a), np.complex64)
        if _is_count(worN):
            count = 512 if worN is None else worN
            size = b.size if isinstance(b, ndarray) else np.size(b)
            poles = a.size if isinstance(a, ndarray) else np.size(a)
            by_fft = poles == 1 and count >= size and next_fast_len(int(count)) == count
            return w, h.astype(np.result_type(_dtype(b), np.complex64) if by_fft else complex)
        kind = np.result_type(_dtype(worN), np.float32)
        return w.real.astype(np.finfo(kind).dtype), h.astype(np.result_type(kind, made))

    def findfreqs(num, den, N, kind="ba"):
        found = library["findfreqs"](_doubled(num), _doubled(den), N, kind)
        return found.astype(np.float32) if kind == "ba" and _single(num, den) else found

    def freqs(b, a, worN=200, plot=None):
        w, h = library["freqs"](_doubled(b), _doubled(a), worN, plot)
        if _is_count(worN) and _single(b, a):
            w = w.astype(np.float32)
        return w, h.astype(np.result_type(_dtype(w), _dtype(b), _dtype(a), np.complex64))

    def lp2hp(b, a, wo=1.0):
        if np.ndim(wo) == 0 and wo == 1:
            return library["lp2hp"](b, a, wo)
        above, below = library["lp2hp"](_doubled(b), _doubled(a), wo)
        longer = getattr(b, "size", 1) > getattr(a, "size", 1)  # what is filled up keeps its type
        return above, below.astype(_dtype(a)) if longer and _dtype(a).char in "ef" else below

    def of_system(name: str):
        def respond(system, w=None, n=10000 if name == "freqresp" else 100):
            found = library[name](system, w, n)
            plain = isinstance(system, tuple) and len(system) == 2 and _single(*system)
            if not plain or found[0].dtype != np.float32:
                return found
            return tuple(
                v.astype(np.complex64 if v.dtype.kind == "c" else np.float32, copy=False)
                for v in found
            )

        return respond

    def of_steps(name: str):
        def respond(*args, **kwargs):
            at = 3 if name == "freqz_zpk" else 1
            worN = args[at] if len(args) > at else kwargs.get("worN")
            if not (isinstance(worN, ndarray) and worN.dtype.char in "ef"):
                args = tuple(map(_doubled, args))
                kwargs = {key: _doubled(value) for key, value in kwargs.items()}
            return library[name](*args, **kwargs)

        return respond

    library = dict(library)
    made = {f.__name__: f for f in (freqz, findfreqs, freqs, lp2hp)}
    made |= {name: of_system(name) for name in ("bode", "freqresp")}
    return made | {name: of_steps(name) for name in ("freqz_sos", "freqz_zpk", "sosfreqz")}
