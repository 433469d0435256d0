"""The windows of a signal, of whose angles CuPy's kernels compute in single precision."""

from __future__ import annotations

import numpy as np

from cupy._core._dispatch import check_number


def bartlett(M):
    def made(places):
        half = np.float32((M - 1) / 2)
        return np.where(places < half, places / half, 2.0 - (places / half).astype(float))

    return _window(M, made)


def blackman(M):
    def made(places):
        step = _step(M)
        first, second = np.cos(places * step), np.cos(np.float32(2) * step * places)
        return 0.42 - 0.5 * first.astype(float) + 0.08 * second.astype(float)

    return _window(M, made)


def hamming(M):
    return _window(M, lambda places: 0.54 - 0.46 * np.cos(places * _step(M)).astype(float))


def hanning(M):
    return _window(M, lambda places: 0.5 - 0.5 * np.cos(places * _step(M)).astype(float))


def kaiser(M, beta):
    check_number(beta)
    if isinstance(beta, np.ndarray) and beta.dtype != np.float32:
        raise TypeError(f"Type is mismatched. beta {beta.dtype} float32")

    def made(places):
        half, width = np.float32((M - 1) / 2), np.float32(beta)
        off = (places - half) / half
        return _i0(width * np.sqrt(1 - off * off)).astype(float) / _i0(width)

    return _window(M, made)


def _window(M, made):
    if M == 1:
        return np.ones(1)
    if M <= 0:
        return np.array([])
    return np.asarray(made(np.arange(M, dtype=np.float32)), float)


def _step(M) -> np.float32:
    return np.float32(np.pi * 2 / (M - 1))


def _i0(x):
    return np.i0(np.asarray(x, float)).astype(np.float32)
