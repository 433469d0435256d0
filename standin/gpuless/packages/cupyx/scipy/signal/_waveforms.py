"""Waves and a window as CuPy's kernels make them: in the type of the times, where there are any."""

from __future__ import annotations

import numpy as np
from cupy._core._creation import asarray, zeros
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._run import routine
from scipy import signal

from gpuless import not_covered


def _chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True):
    """Of float32; double precision is where a kernel has it for a moment."""
    signal.chirp(t.ravel()[:0], f0, t1, f1, method, phi, vertex_zero)  # it refuses what CuPy does
    f0, t1, f1, phi = map(np.float32, (f0, t1, f1, phi * (np.pi / 180)))
    circle, wide = np.float64(2 * np.pi), t.astype(float)
    if method in ("linear", "lin", "li"):
        beta = np.float64((f1 - f0) / t1)
        phase = circle * ((f0 * t).astype(float) + 0.5 * beta * wide * wide)
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / (t1 * t1)
        left = t1 - t
        if vertex_zero:
            phase = circle * (f0 * t + beta * (t * t * t) / 3)
        else:
            phase = circle * (f1 * t + beta * (left * left * left - t1 * t1 * t1) / 3)
    elif method in ("logarithmic", "log", "lo"):
        if f0 == f1:
            phase = circle * f0 * wide
        else:
            beta = t1 / np.log(f1 / f0)
            phase = circle * beta * f0 * (np.power(f1 / f0, t / t1).astype(float) - 1)
    elif f0 == f1:
        phase = circle * f0 * wide
    else:
        singular = -f1 * t1 / (f0 - f1)
        phase = circle * (-singular * f0) * np.log(np.abs(1 - t / singular))
    return np.cos(phase.astype(np.float32) + phi)


def _of_its_type(dtype, *numbers) -> None:
    """TypeError for a number on the device that is not of the times' type: a kernel has one."""
    for number in numbers:
        if isinstance(number, ndarray) and number.dtype != dtype:
            raise TypeError(f"Type is mismatched. {number.dtype} {dtype} T")


def chirp_of(library):
    def chirp(t, *args, **kwargs):
        t = asarray(t)
        if t.dtype.kind in "bc":
            raise TypeError(f"CuPy's kernels of chirp do not compile for {t.dtype}")
        t = t.astype(float) if t.dtype.kind in "iu" else t  # the cube of a byte wraps around
        _of_its_type(t.dtype, *args, *kwargs.values())
        if t.dtype == np.float16:
            raise not_covered("cupyx.scipy.signal.chirp of float16")
        if t.dtype == np.float32:
            made = routine(_chirp, t, *args, **kwargs)
        else:
            made = library(t, *args, **kwargs)
        into_radians(args[4] if len(args) > 4 else kwargs.get("phi"))
        return made

    return named(chirp, "chirp", "of SciPy, on the device")


def into_radians(phi) -> None:
    """As CuPy leaves a phase that is an array of the device's."""
    if isinstance(phi, ndarray):
        phi *= np.pi / 180


def gausspulse_of(library):
    def gausspulse(t, *args, **kwargs):
        if isinstance(t, str):
            found = library(t, *args, **kwargs)
            on_device = any(isinstance(v, ndarray) for v in (*args, *kwargs.values()))
            return found.get()[()] if isinstance(found, ndarray) and not on_device else found
        t = asarray(t)
        if t.dtype.char not in "fd":  # CuPy has the width of a pulse as an integer, too
            raise not_covered(f"cupyx.scipy.signal.gausspulse of {t.dtype}")
        _of_its_type(t.dtype, *args[:1], kwargs.get("fc"))
        made = library(t, *args, **kwargs)
        if isinstance(made, tuple):
            return tuple(one.astype(t.dtype, copy=False) for one in made)
        return made.astype(t.dtype, copy=False)

    return named(gausspulse, "gausspulse", "of SciPy, on the device")


def _of_one_type(library, name, t, share):
    """``square`` or ``sawtooth``, whose kernel has one type for the times and the share of a period
    that is high or rises: a number is a float64."""
    t, share = asarray(t), asarray(share)
    if t.dtype != share.dtype:
        raise TypeError(f"Type is mismatched. w {share.dtype} {t.dtype} T")
    if t.dtype != float:
        raise not_covered(f"cupyx.scipy.signal.{name} of {t.dtype}")
    return library(t, share)


def sawtooth_of(library):
    def sawtooth(t, width=1.0):
        return _of_one_type(library, "sawtooth", t, width)

    return named(sawtooth, "sawtooth", "of SciPy, on the device")


def square_of(library):
    def square(t, duty=0.5):
        return _of_one_type(library, "square", t, duty)

    return named(square, "square", "of SciPy, on the device")


def unit_impulse(shape, idx=None, dtype=float):
    """An impulse at ``idx``: one place, or one index for each axis, none of them negative."""
    found = zeros(shape, dtype)
    if found.dtype.kind == "b":
        raise TypeError("CuPy's unit_impulse() has no kernel for bool")
    if isinstance(idx, np.ndarray) and idx.size > 1:
        raise ValueError("CuPy's unit_impulse() takes no NumPy array for idx; give a tuple")
    if isinstance(idx, str) and idx == "mid":
        idx = tuple(n // 2 for n in found.shape)
    elif not hasattr(idx, "__iter__"):
        idx = (0 if idx is None else idx,) * found.ndim
    found.ravel()[np.ravel_multi_index(idx, found.shape)] = 1
    return found


def _parzen(size):
    start, slope, odd = -0.5 * (size - 1), 2 / size, size % 2
    s1, s2 = np.floor(-0.25 * (size - 1)), np.floor(0.25 * (size - 1))
    if not odd:
        s1, s2 = s1 + 0.5, s2 + 0.5
    first = s1 - start + odd
    second = s2 - start + 1 - first
    i = np.arange(size)
    middle = np.abs(i - first - s2) * slope
    last = s1 - (i - (second + first - (1 - odd)))
    return np.select(
        [i < first, i < first + second],
        [
            2 * (1 - np.abs(i + start) * slope) ** 3,
            1 - 6 * middle**2 + 6 * middle**3,
        ],
        2 * (1 - np.abs(last) * slope) ** 3,
    )


def parzen_of(library):
    def parzen(M, sym=True):
        """CuPy's, which is lopsided of some lengths: of 5, 9, 13 and so on."""
        if M != int(M) or M <= 1:
            return library(M, sym)
        return routine(lambda: _parzen(M) if sym else _parzen(M + 1)[:-1])

    return named(parzen, "parzen", "of SciPy, on the device")
