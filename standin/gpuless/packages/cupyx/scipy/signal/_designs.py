"""Designs of filters, and what is made of their coefficients, in CuPy's steps where SciPy has
others."""

from __future__ import annotations

import numpy as np
from cupy._core._creation import asarray
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._run import routine
from scipy import signal
from scipy.fft import fft, ifft

from cupyx.scipy._warned import tell


def _homomorphic(h, n_fft: int, half: bool):
    """CuPy's window counts the middle of the cepstrum once more than SciPy's."""
    spectrum = np.abs(fft(h, n_fft))
    spectrum += 1e-7 * spectrum[spectrum > 0].min()
    cepstrum = ifft(np.log(spectrum) * (0.5 if half else 1)).real
    window = np.zeros(n_fft)
    window[0], window[1 : n_fft // 2], window[n_fft // 2] = 1, 2, 1 + n_fft % 2
    cepstrum *= window  # in its own precision
    return ifft(np.exp(fft(cepstrum))).real


def minimum_phase_of(library):
    def minimum_phase(h, method="homomorphic", n_fft=None, half=True):
        found = library(h, method, n_fft, half=half)  # it refuses what CuPy does
        if method == "hilbert":
            return found
        if n_fft is None:
            n_fft = 2 ** int(np.ceil(np.log2(2 * (h.size - 1) / 0.01)))
        return routine(_homomorphic, h, int(n_fft), half)[: found.size]

    return minimum_phase


def firwin_of(library):
    def firwin(numtaps, cutoff, *args, **kwargs):
        """SciPy's, whose ``pass_zero`` is a bool or a word."""
        args = tuple(bool(v) if k == 2 and isinstance(v, int) else v for k, v in enumerate(args))
        if isinstance(kwargs.get("pass_zero"), int):
            kwargs["pass_zero"] = bool(kwargs["pass_zero"])
        return library(numtaps, cutoff, *args, **kwargs)

    return named(firwin, "firwin", "of SciPy, on the device")


def tf2zpk(b, a):
    """Zeros, poles and gain, in the type of either polynomial."""

    def roots(b, a):
        b, a = signal.normalize(b, a)
        b, a = (b + 0.0) / a[0], (a + 0.0) / a[0]
        return np.roots(b / b[0]), np.roots(a), b[0]

    return routine(roots, *(asarray(c) if isinstance(c, np.ndarray) else c for c in (b, a)))


def group_of(library: dict) -> dict:
    """{name: function} of what is made of zeros and poles that SciPy finds in double precision."""

    def tf2sos(b, a, pairing=None, *, analog=False):
        return library["zpk2sos"](*tf2zpk(b, a), pairing=pairing, analog=analog)

    def ss2zpk(A, B, C, D, input=0):
        return tf2zpk(*library["ss2tf"](A, B, C, D, input=input))

    return {f.__name__: f for f in (tf2sos, tf2zpk, ss2zpk)}


def place_poles_of(library):
    def place_poles(A, B, poles, method="YT", rtol=1e-3, maxiter=30):
        """SciPy's, with its arrays on the device, and what NumPy finds where CuPy asks it."""
        if not isinstance(poles, ndarray):
            raise TypeError("place_poles() takes an array of the device for its poles")
        found = library(A, B, poles, method, rtol, maxiter)
        if method == "YT" and 1 < B.shape[1] < len(poles) and (poles.imag == 0).sum() > 1:
            tell(
                "CuPy's place_poles() takes another column out of its matrix for several real "
                "poles: its gains are others, and it may not converge. Say method='KNV0'."
            )
        for key, value in vars(found).items():
            if isinstance(value, (np.ndarray, np.generic)):
                setattr(found, key, asarray(value))
        placed = np.linalg.eig((A - B @ found.gain_matrix).get())[0]
        found.computed_poles = found.computed_poles.astype(placed.dtype)
        found.requested_poles = placed
        return found

    return place_poles
