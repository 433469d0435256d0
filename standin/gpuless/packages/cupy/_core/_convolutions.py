"""Convolutions, on NumPy's arrays: as in CuPy those of floats and complex numbers are products of
Fourier transforms, so that one NaN makes all of the result NaN."""

from __future__ import annotations

import functools

import numpy as np

_MODES = "acceptable mode flags are `valid`, `same`, or `full`."


def convolution_method(in1, in2) -> str:
    """How CuPy convolves arrays of these types."""
    if in1.ndim != 1 or in2.ndim != 1:
        raise NotImplementedError("Only 1d inputs are supported currently")
    return "direct" if in1.dtype.kind in "bui" or in2.dtype.kind in "bui" else "fft"


@functools.cache
def next_fast_len(target: int) -> int:
    """The least number from ``target`` on that has no other prime factors than 2, 3, 5 and 7."""
    while (rest := target) > 0:
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return target
        target += 1
    if target:
        raise ValueError(f"no length: {target}")
    return 0


def _transforms(*arrays: np.ndarray) -> tuple:
    """The two transforms for these arrays, and the arrays in a type that is transformed."""
    kinds = {array.dtype.kind for array in arrays}
    there, back = (np.fft.fft, np.fft.ifft) if "c" in kinds else (np.fft.rfft, np.fft.irfft)
    taken = [a.astype(np.float32) if a.dtype == np.float16 else a for a in arrays]
    return there, back, taken


def by_fft(a: np.ndarray, v: np.ndarray, mode: str = "full") -> np.ndarray:
    """The convolution along the last axis."""
    dtype = np.result_type(a, v)
    n, m = a.shape[-1], v.shape[-1]
    there, back, (a, v) = _transforms(a, v)
    size = next_fast_len(n + m - 1)
    product = back(there(a, size) * there(v, size), size)
    longest, least = max(n, m), min(n, m)
    if mode == "full":
        start, end = 0, n + m - 1
    elif mode == "same":
        start = (least - 1) // 2 + (1 - least % 2 if n < m else 0)
        end = start + longest
    elif mode == "valid":
        start, end = least - 1, longest
    else:
        raise ValueError(_MODES)
    return product[..., start:end].astype(dtype)


def _direct(a, v, mode: str):
    """Sums of products, among them those with the zeros beside ``a``: an infinity there is NaN."""
    turned = 0
    if a.size < v.size:
        a, v, turned = v, a, 1 - a.size % 2
    before = (v.size - 1) // 2 + turned
    zeros = {"full": v.size - 1, "same": (v.size - 1 - before, before), "valid": 0}
    if mode not in zeros:
        raise ValueError(_MODES)
    return np.convolve(np.pad(a, zeros[mode]), v, "valid")


def convolve(a, v, mode="full"):
    for name, array in (("a", a), ("v", v)):
        if array.size == 0:
            raise ValueError(f"{name} cannot be empty")
    if v.ndim > 1:
        raise ValueError("v cannot be multidimensional array")
    if v.size > a.size:
        a, v = v, a
    a, v = a.ravel(), v.ravel()
    return (_direct if convolution_method(a, v) == "direct" else by_fft)(a, v, mode)


def correlate(a, v, mode="valid"):
    if a.size == 0 or v.size == 0:
        raise ValueError("Array arguments cannot be empty")
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    turned = v.conj()[::-1]
    return (_direct if convolution_method(a, v) == "direct" else by_fft)(a, turned, mode)


def polymul(a1, a2):
    a1, a2 = (np.trim_zeros(a, "f") if a.any() else np.zeros(1, a.dtype) for a in (a1, a2))
    return convolve(a1, a2)


def from_roots(roots):
    """The coefficients, from products of two halves of what is left."""
    size = 2 ** (roots.size - 1).bit_length()
    factors = np.zeros((size, 2), roots.dtype)
    factors[:, 0] = 1
    factors[: roots.size, 1] = -roots
    while len(factors) > 1:
        half = len(factors) // 2
        factors = by_fft(factors[:half], factors[half:])
    return factors[0, : roots.size + 1]


def power(x, n):
    """The coefficients of the polynomial with those of ``x``, to the power of ``n`` > 0."""
    if n == 1:
        return x
    if convolution_method(x, x) == "direct":
        square = np.convolve(x, x)
        return power(square, n // 2) if n % 2 == 0 else np.convolve(x, power(square, (n - 1) // 2))
    there, back, [taken] = _transforms(x)
    length = (x.size - 1) * n + 1
    size = next_fast_len(length)
    return back(there(taken, size) ** n, size)[:length]
