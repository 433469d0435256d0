"""Fourier transforms. Single precision in gives single precision out; integers give double."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import numpy as np

from cupy._core._creation import created
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray
from cupy._core._refused import checked
from cupy._core._row import row
from cupy.cuda.cufft import get_current_plan
from cupy.fft import _plans, config
from gpuless import missing, not_covered


def _lying(result: np.ndarray, last: int | None, order: str = "C") -> np.ndarray:
    """``result`` as cuFFT leaves it: made with axis ``last`` as the last one, or in ``order``."""
    if last is None:
        return np.asarray(result, order=order)
    return np.ascontiguousarray(result.swapaxes(last, -1)).swapaxes(last, -1)


def _taken(a: np.ndarray, real: bool) -> np.ndarray:
    """``a`` in the type that is transformed: no half precision, and no complex numbers where real
    ones are."""
    if real and a.dtype.kind == "c":
        a = a.astype(a.real.dtype)  # with a ComplexWarning
    return a.astype(np.float32) if a.dtype == np.float16 else a


def _not_empty(a: np.ndarray, axis: int) -> np.ndarray:
    """``a``, or a zero for nothing: NumPy's ``irfft`` reads a number that is not there."""
    return a if a.shape[axis] else np.zeros_like(a, shape=[*a.shape[:axis], 1, *a.shape[axis:][1:]])


def _of_one_axis(function: Callable) -> Callable:
    real = function.__name__ in ("rfft", "ihfft")
    inverse = function.__name__ in ("irfft", "hfft")

    @functools.wraps(function)
    def transform(a, n=None, axis=-1, norm=None):
        if n and inverse:
            a = _not_empty(a, axis)
        result = function(_taken(a, real), n, axis, norm)
        if a.dtype == np.float16 and result.dtype == np.float32:
            result = result.astype(np.float16)
        return _lying(result, None if function is np.fft.ihfft else axis)

    return transform


def _of_axes(function: Callable) -> Callable:
    real = "r" in function.__name__
    forward = real and not function.__name__.startswith("i")
    default = (-2, -1) if function.__name__.endswith("2") else None

    @functools.wraps(function)
    def transform(a, s=None, axes=default, norm=None):
        if any(length is not None and length < 0 for length in s or ()):
            raise ValueError("in s, -1 is the whole axis to NumPy alone: give the length")
        alone = axes is not None and len(axes) == 1
        if axes is None:
            axes = range(-(a.ndim if s is None else len(s)), 0)
        if forward and len({axis % a.ndim for axis in axes}) < len(axes):
            raise not_covered(f"{function.__name__} along one axis twice")
        if real and not forward and s and s[-1] and len(axes):
            a = _not_empty(a, axes[-1])
        result = function(_taken(a, forward) if len(axes) else a, s, axes, norm)
        if alone and a.dtype == np.float16 and result.dtype == np.float32:
            result = result.astype(np.float16)
        turn = [axis % a.ndim for axis in axes]
        if not turn:
            return result
        low, high = min(turn), max(turn)
        in_turn = [*sorted(turn[:-1]), turn[-1]] if real else sorted(turn)
        at_once = 1 < len(turn) <= 3 and in_turn == [*range(low, high + 1)] and config._nd_planning
        as_it_is = a.flags.forc or a.dtype.char in ("fd" if forward else "FD")
        in_f = (a if as_it_is else np.empty_like(a)).flags.f_contiguous
        if at_once and (low == 0 or high == a.ndim - 1) and not (real and in_f):
            if not result.size:
                raise ValueError("Invalid number of FFT data points (0) specified.")
            return _lying(result, None, "F" if in_f else "C")
        # Axis after axis, each made the last one; of real numbers its own last axis goes first.
        return _lying(result, turn[-2] if forward and len(turn) > 1 else turn[-1])

    return transform


def _planned(function: Callable) -> Callable:
    name = function.__name__
    of_one = name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    transform = row((_of_one_axis if of_one else _of_axes)(function), name=name, order="S")
    # From complex to complex, one plan serves both directions.
    kind = name if "r" in name or "h" in name else name.removeprefix("i")

    def planned(a, *args, **kwargs):
        if not isinstance(a, ndarray):
            raise TypeError("The input array a must be a cupy.ndarray")
        if len(args) > 3 or "out" in kwargs:  # NumPy's has one
            raise TypeError(f"{name}() takes only a, {'n, axis' if of_one else 's, axes'} and norm")
        if not of_one and a.ndim > 1:
            args, kwargs = _uncut(name, a, args, kwargs)
        args = tuple(map(_listed, args))
        kwargs = {key: _listed(value) for key, value in kwargs.items()}
        given = get_current_plan() is not None and _fits(function, a, args, kwargs)
        result = transform(a, *args, **kwargs)
        if given:
            return result
        norm_free = {key: value for key, value in kwargs.items() if key != "norm"}
        config.get_plan_cache().touch((kind, result.shape, result.dtype.char, args, str(norm_free)))
        return result

    return named(planned, name)


def _uncut(name: str, a: ndarray, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """CuPy cuts nothing where the lengths, in a tuple, are the shape of the array, whichever axes
    they are for; and some views become arrays of Fortran's order on the way to real numbers."""
    real, inverse = "r" in name, name.startswith("irfft")
    lengths = args[0] if args else kwargs.get("s")
    axes = args[1] if len(args) > 1 else kwargs.get("axes", (-2, -1) if name[-1] == "2" else None)
    if real and a.dtype.char not in ("FD" if inverse else "fd") and not a.flags.forc:
        in_order = _plans.sorted_axes(a.ndim, lengths, axes, _plans.kind(name))
        if _plans.possible(in_order, a.ndim) and len(in_order) > 1:
            if np.empty_like(a._array).flags.f_contiguous:
                raise not_covered(f"{name} of this view; copy it first")
    if not isinstance(lengths, tuple) or lengths != a.shape:
        return args, kwargs
    axes = [axis % a.ndim for axis in (range(a.ndim) if axes is None else axes)]
    if len(axes) != a.ndim:
        return args, kwargs
    turned = axes != [*range(a.ndim)]
    wanted = dict(zip(axes, lengths, strict=True))
    if inverse:
        wanted[axes[-1]] = lengths[-1] // 2 + 1
    if all(wanted.get(axis) == length for axis, length in enumerate(a.shape)):
        return args, kwargs
    if inverse and (turned or (a.flags.f_contiguous and not a.flags.c_contiguous)):
        raise not_covered(f"{name} of lengths that are the shape; give them in a list")
    if turned:  # it transforms all there is
        return ((None, *args[1:]), kwargs) if args else (args, kwargs | {"s": None})
    return args, kwargs


def _listed(value):
    """Lengths or axes, which may stand in a list or an array of NumPy's."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(value) if isinstance(value, list) else value


def _fits(function: Callable, a: ndarray, args: tuple, kwargs: dict) -> bool:
    """True: the plan of the ``with`` block is that of this call; ValueError where it is not."""
    call = inspect.signature(function).bind(a, *args, **kwargs)
    call.apply_defaults()
    kind, one = _plans.kind(function.__name__), "axis" in call.arguments
    if one:
        s, axes = (call.arguments["n"],), (call.arguments["axis"],)
    else:
        s, axes = call.arguments["s"], call.arguments["axes"]
    return _plans.check(a, s, axes, kind, one=one)


fft = _planned(np.fft.fft)
ifft = _planned(np.fft.ifft)
fft2 = _planned(np.fft.fft2)
ifft2 = _planned(np.fft.ifft2)
fftn = _planned(np.fft.fftn)
ifftn = _planned(np.fft.ifftn)
rfft = _planned(np.fft.rfft)
irfft = _planned(np.fft.irfft)
rfft2 = _planned(np.fft.rfft2)
irfft2 = _planned(np.fft.irfft2)
rfftn = _planned(np.fft.rfftn)
irfftn = _planned(np.fft.irfftn)
hfft = _planned(np.fft.hfft)
ihfft = _planned(np.fft.ihfft)
fftshift = row(np.fft.fftshift, "a")
ifftshift = row(np.fft.ifftshift, "a")
fftfreq = created(np.fft.fftfreq)
rfftfreq = created(np.fft.rfftfreq)

globals().update(checked("fft", globals(), np.fft))

__all__ = """config fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft
irfft2 irfftn rfft rfft2 rfftfreq rfftn""".split()


def __getattr__(name: str):
    raise missing("cupy.fft", name)
