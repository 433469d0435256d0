"""Splines, and filters along the axes of an image, as CuPy has them, on NumPy's arrays."""

from __future__ import annotations

import math

import numpy as np
from scipy import ndimage, signal

from gpuless import not_covered


def sepfir2d(input, hrow, hcol):
    """An image filtered along its columns and its rows. SciPy's own writes beyond the memory of an
    image that is smaller than the filter."""
    if any(v.ndim != 1 or v.size % 2 == 0 for v in (hrow, hcol)):
        raise ValueError("hrow and hcol must be 1 dimensional and odd length")
    small = input.dtype.itemsize <= 2 or input.dtype in (np.float32, np.complex64)
    if input.dtype.kind == "c":
        dtype = np.complex64 if small else np.complex128
    else:
        dtype = np.float32 if small else np.float64
    input, hrow, hcol = (v.astype(dtype, copy=False) for v in (input, hrow, hcol))
    for axis, weights in enumerate((hcol, hrow)):
        input = ndimage.correlate1d(input, weights[::-1].conj(), axis)
    return input


_APART = "Sum to find symmetric boundary conditions did not converge."


def _square(precision, dtype, least: dict) -> float:
    """The square of the precision; CuPy's own of a type is in ``least``, or far from it."""
    if precision <= 0 or precision > 1:
        if dtype.kind not in "fc":
            raise ValueError(f"data type {dtype!r} not compatible with finfo")
        precision = least.get(dtype.char, 10 ** -np.finfo(dtype).iexp)
    return precision * precision


def _after(c, past, x, *before):
    """``y[n] = c * x[n] + past[0] * y[n - 1] + ...``; the outputs before, the last one first."""
    a = np.concatenate((np.ones(1, x.dtype), [-v for v in past])).astype(x.dtype)
    before = [v.astype(x.dtype) for v in before]
    state = [
        -sum(a[k + j + 1] * v for j, v in enumerate(before[: a.size - 1 - k]))
        for k in range(len(before))
    ]
    b = np.array([c], x.dtype)
    return signal.lfilter(b, a, x, zi=np.concatenate(state, -1))[0] if x.shape[-1] else x


def _one_pole(x, c0, z1, square):
    """``symiirorder1`` along the last axis."""
    n = x.shape[-1]
    powers = z1 ** np.arange(1, n + 1, dtype=x.dtype)
    known = np.flatnonzero(np.abs(powers * powers.conj()) <= square)
    if not known.size or known[0] + 1 >= n:
        raise ValueError(_APART)
    first = np.cumsum(powers * x, -1)[..., known[0] : known[0] + 1] + x[..., :1]
    if np.isnan(first).any():
        raise ValueError(_APART)
    there = np.concatenate((first, _after(1, [z1], x[..., 1:], first)), -1)
    last = (-c0 / (z1 - 1) * there[..., -1:]).astype(x.dtype)
    back = _after(c0, [z1], there[..., -2::-1], last)
    return np.concatenate((back[..., ::-1], last), -1)


def symiirorder1(input, c0, z1, precision=-1.0):
    """A smoothing filter of first order, there and back, of a signal that goes on mirrored."""
    if input.ndim != 1:
        raise ValueError("operands could not be broadcast together")
    if input.dtype == np.float16:
        raise TypeError("CuPy's kernel does not compile for float16")
    if abs(z1) >= 1:
        raise ValueError("|z1| must be less than 1.0")
    dtype = input.dtype
    own = {dtype.char: float(np.finfo(dtype).resolution)} if dtype.kind in "fc" else {}
    square = _square(precision, dtype, own)
    return _one_pole(input, dtype.type(c0), dtype.type(z1), square)


_BLOCK = 128


def _sum_until(terms, x, square, n, width, begin=0.0):
    """The sum of products of ``x`` and ``terms`` of a place, up to one so small that its square is
    below this; CuPy forgets in each block of 128 what was before it."""
    for start in range(0, n + 1, _BLOCK):
        part = x[..., start : start + _BLOCK]
        factors = terms(np.arange(start, start + _BLOCK))
        small = np.flatnonzero((factors * factors <= square)[: width(part)])
        if small.size and small[0] + 1 + start < width(x):
            sums = np.cumsum(factors[: part.shape[-1]] * part, -1) + begin
            if not np.isnan(found := sums[..., small[0] : small[0] + 1]).any():
                return found
    raise ValueError(_APART)


def _two_poles(x, r, omega, square):
    """``symiirorder2`` along the last of one or two axes."""
    n, dtype, cosine = x.shape[-1], x.dtype, np.cos(omega)
    rr = r * r
    c, past = 1 - 2 * r * cosine + rr, np.array([2 * r * cosine, -rr]).astype(dtype)
    even = omega in (0, np.pi)
    turns = (lambda k: 1 - 2 * (k % 2)) if omega else (lambda k: 1)

    def there(k):
        if even:
            return c * r**k * (k + 1) * turns(k)
        return c * r**k * np.sin(omega * (k + 1)) / np.sin(omega)

    def back(k):
        k = np.abs(k)
        if even:
            scale, slope = (1 + rr) / (1 - rr) ** 3 * c * c, (1 - rr) / (1 + rr) * turns(k)
            return scale * rr ** (k / 2) * (1 + slope * k)
        scale = c * c * (1 + rr) / (1 - rr) / (1 - 2 * rr * np.cos(2 * omega) + rr * rr)
        slope = (1 - rr) / (1 + rr) / np.tan(omega)
        return scale * rr ** (k / 2) * (np.cos(omega * k) + slope * np.sin(omega * k))

    def length(v):
        return v.shape[-1]

    h0, h1 = there(np.arange(2))
    begin = h0 * x[..., 1:2] + h1 * x[..., :1]
    first = _sum_until(lambda k: there(k + 1), x, square, n, length, h0 * x[..., :1])
    second = _sum_until(lambda k: there(k + 2), x, square, n, length, begin)
    y = _after(c, past, x[..., 2:], second, first)
    y = np.concatenate((first, second, y), -1)
    turned = x[..., ::-1]
    last = _sum_until(lambda k: back(k) + back(k + 1), turned, square, n, length)
    before = _sum_until(lambda k: back(k - 1) + back(k + 2), turned, square, n, lambda v: v.size)
    if not before.size:
        raise ValueError("Out shape is mismatched")
    ends = (v.astype(dtype).astype(y.dtype) for v in (before, last))
    found = _after(dtype.type(c), past, y[..., -3::-1], *ends)
    return np.concatenate((found[..., ::-1], before, last), -1)


def symiirorder2(input, r, omega, precision=-1.0):
    """The same of second order, with poles at ``r`` and ``omega``."""
    if r >= 1:
        raise ValueError("r must be less than 1.0")
    square = _square(precision, input.dtype, {"d": 1e-11, "f": 1e-6})
    if input.dtype.char not in "fd":
        raise not_covered(f"cupyx.scipy.signal.symiirorder2 of {input.dtype}")
    rows = input if input.ndim == 1 else input.reshape(-1, input.shape[-1])
    return _two_poles(rows, r, omega, square).reshape(input.shape)


def _along_both(function, image):
    for axis in (-1, 0):
        turned = np.moveaxis(image, axis, -1)
        image = np.moveaxis(function(turned), -1, axis)
    return np.ascontiguousarray(image)


def _splines(image, r, scale, precision):
    if image.ndim == 1:
        raise ValueError("CuPy has splines of two dimensions here, not of one")
    if image.dtype.kind not in "fc":
        raise ValueError(f"data type {image.dtype!r} not compatible with finfo")
    if image.dtype == np.float16:
        raise not_covered("cupyx.scipy.signal: splines of float16")
    square = _square(precision, image.dtype, {"d": 1e-6, "f": 1e-3})
    return _along_both(lambda x: _one_pole(x, -r * scale, r, square), image)


def cspline2d(signal, lamb=0.0, precision=-1.0):
    """The coefficients of cubic splines, smoothed by ``lamb``."""
    if lamb <= 1 / 144:
        return _splines(signal, -2 + math.sqrt(3), 6, precision)
    root = 24 * lamb * math.sqrt(3 + 144 * lamb)
    xi = 1 - 96 * lamb + root
    omega = math.atan(math.sqrt((144 * lamb - 1) / xi))
    r = (24 * lamb - 1 - math.sqrt(xi)) / (24 * lamb) * math.sqrt((48 * lamb + root) / xi)
    return _along_both(lambda x: symiirorder2(x, r, omega, precision), signal)


def qspline2d(signal, lamb=0.0, precision=-1.0):
    """The coefficients of quadratic splines."""
    if lamb > 0:
        raise ValueError("lambda must be negative or zero")
    return _splines(signal, -3 + 2 * math.sqrt(2), 8, precision)


def spline_filter(Iin, lmbda=5.0):
    """Its splines, filtered; complex ones are single precision on the way."""
    if Iin.dtype.char not in "fdFD":
        raise TypeError("Invalid data type for Iin")
    weights = np.array([1, 4, 1], np.float32) / np.float32(6)
    if Iin.dtype.kind == "c":
        image = Iin.astype(np.complex64)
        parts = (sepfir2d(cspline2d(v, lmbda), weights, weights) for v in (image.real, image.imag))
        real, imaginary = parts
        return (real + 1j * imaginary).astype(Iin.dtype)
    return sepfir2d(cspline2d(Iin, lmbda), weights, weights).astype(Iin.dtype)


INSTEAD = {
    "cspline2d": cspline2d,
    "qspline2d": qspline2d,
    "sepfir2d": sepfir2d,
    "spline_filter": spline_filter,
    "symiirorder1": symiirorder1,
    "symiirorder2": symiirorder2,
}
