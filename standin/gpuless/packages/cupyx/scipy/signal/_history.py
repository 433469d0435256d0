"""Filters that go on from where others stopped: CuPy's state is the last inputs and outputs, in the
order of time, and not SciPy's sums of them."""

from __future__ import annotations

import numpy as np
from cupy._core._creation import asarray, empty
from cupy._core._dispatch import unsupported
from cupy._core._ndarray import ndarray
from cupy._core._routines import concatenate, flip
from cupy._core._run import routine
from scipy import signal

from cupyx.scipy import _blocks
from cupyx.scipy._unable import NOTHING
from cupyx.scipy._warned import sharp, tell
from gpuless import not_covered


def _sums(b, a, inputs, outputs):
    """SciPy's state after these last inputs and outputs, which lie along the last axis."""
    size = max(len(b), len(a))
    b, a = (np.pad(c / a[0], (0, size - len(c))) for c in (b, a))
    state = np.zeros((*inputs.shape[:-1], size - 1), np.result_type(b, a, inputs, outputs))
    for c, past in ((b, inputs), (-a, outputs)):
        for k in range(1, size):
            for back in range(1, min(size - k, past.shape[-1]) + 1):
                state[..., k - 1] += c[k + back - 1] * past[..., -back]
    return state


def _filtered(b, a, x, axis, zi):
    """What is filtered, and the state after it."""
    before, after = len(b) - 1, len(a) - 1
    x, zi = np.moveaxis(x, axis, -1), np.moveaxis(np.atleast_1d(zi), axis, -1)
    if x.shape[-1] < max(before, after) or zi.shape[-1] < max(before, after):
        raise not_covered("cupyx.scipy.signal: a filter that is longer than the signal, with zi")
    inputs, outputs = zi[..., :before], zi[..., zi.shape[-1] - after :]
    state = _sums(b, a, inputs, outputs)
    state = np.broadcast_to(state, (*x.shape[:-1], state.shape[-1]))
    y, _ = signal.lfilter(b, a, x, -1, state)
    y = y.astype(np.result_type(x, b, a), copy=False)
    state = np.empty(zi.shape, y.dtype)
    state[..., :before] = x[..., x.shape[-1] - before :]
    state[..., zi.shape[-1] - after :] = y[..., x.shape[-1] - after :]
    return np.moveaxis(y, -1, axis), np.moveaxis(state, -1, axis)


def lfilter_of(library):
    def lfilter(b, a, x, axis=-1, zi=None):
        """SciPy's, with CuPy's state: the last inputs, then the last outputs."""
        if zi is None:
            return library(b, a, x, axis)
        for array in (b, a, x, zi):
            if not isinstance(array, ndarray):
                raise unsupported(array)
        if not x.size:
            raise ValueError(NOTHING)
        found = routine(_filtered, b, a, x, axis, zi, new_order="C")
        _tell_of(_blocks.lost_after, b, a, x, axis, zi, found[0])
        return found

    return lfilter


def _tell_of(lost, *args) -> None:
    if text := sharp(lost, *args):
        tell(text)


def lfiltic(b, a, y, x=None):
    """CuPy's state after the outputs ``y`` and the inputs ``x``, the last of which come first."""
    if y is None and x is None:
        return None
    state, axis = empty(0), (x if y is None else y).ndim - 1
    for past, size in ((y, a.size - 1), (x, b.size - 1)):
        if past is not None and size > 0:
            padded = concatenate((past, asarray(np.zeros(max(size - past.shape[axis], 0)))), -1)
            state = concatenate((flip(padded[..., :size], -1), state), -1)
    return state


def _steady(a, output):
    """The last outputs of a filter that has become steady; 0 for one on which nothing depends, and
    where CuPy looks for the least ones, because none are: a coefficient is 0, and it never does."""
    if not a.sum() and not a.all():
        output = 0.0
    used = np.flatnonzero(np.abs(a) > 1e-15 * np.abs(a).max()).max(initial=0)
    return np.where(np.arange(len(a) - 1, 0, -1) <= used, np.nan_to_num(output, posinf=np.inf), 0.0)


def lfilter_zi(b, a):
    """CuPy's state of a filter that has become steady, of ones."""

    def state(b, a):
        return np.concatenate([np.ones(len(b) - 1), _steady(a, b.sum() / a.sum())])

    if a.dtype.kind == "c" or b.dtype.kind == "c":
        raise not_covered("cupyx.scipy.signal.lfilter_zi of complex numbers")
    if a.ndim != 1 or b.ndim != 1:
        raise not_covered("cupyx.scipy.signal.lfilter_zi of more than one filter")
    zi = routine(state, b, a)
    _tell_of(_blocks.lost_in_state, b, a, zi)
    return zi


def sosfilt_zi(sos):
    """CuPy's state of sections that have become steady: the last two inputs and outputs."""

    def states(sos):
        made, x = np.zeros((len(sos), 4), sos.dtype), 1.0
        for state, section in zip(made, sos, strict=True):
            b, a = section[:3], section[3:]
            state[:2], x = x, x * b.sum() / a.sum()
            state[2:] = _steady(a, x)
        return made

    if not sos.size or not sos.flags.c_contiguous or sos.shape[1:] != (6,):
        raise ValueError("CuPy's kernel reads the memory of C-contiguous sections of six numbers")
    zi = routine(states, sos)
    _tell_of(_blocks.lost_in_states, sos, zi)
    return zi


def sosfilt_of(library):
    def sosfilt(sos, x, axis=-1, zi=None):
        """SciPy's, with CuPy's state: the last two inputs and outputs of each section."""
        if isinstance(sos, ndarray) and sos.ndim != 2:
            raise ValueError("sos has to have sections of six coefficients")
        if zi is None:
            return library(sos, x, axis)

        def filtered(sos, x, axis, zi):
            states = []
            for section, state in zip(sos, zi, strict=True):
                x, state = _filtered(section[:3], section[3:], x, axis, state)  # noqa: PLW2901
                states.append(np.moveaxis(np.atleast_1d(state), axis, -1))
            states = np.stack(states)
            if states.ndim > 2:  # CuPy counts the axes without that of the sections
                states = np.moveaxis(states, -1, axis % x.ndim)
            return x, np.ascontiguousarray(states)

        for array in (sos, x, zi):
            if not isinstance(array, ndarray):
                raise unsupported(array)
        if not x.size:
            raise ValueError(NOTHING)
        state = zi.shape[1:]
        if not state or state[axis if len(state) == x.ndim else -1] != 4:
            raise ValueError(f"zi has four numbers for each section, not SciPy's two: {zi.shape}")
        found = routine(filtered, sos, x, axis, zi, new_order="C")
        _tell_of(_blocks.lost_in_sections_after, sos, x, axis, zi, found[0])
        return found

    return sosfilt
