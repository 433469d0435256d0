"""Which plan a transform takes, and whether one that is given fits it: CuPy's own rules."""

from __future__ import annotations

import math

import numpy as np

import cupy.cuda.cufft as cufft  # not from cupy.cuda: that would ask it for a name
from cupy._core._ndarray import ndarray

_TYPES = {
    ("C2C", "F"): cufft.CUFFT_C2C,
    ("R2C", "f"): cufft.CUFFT_R2C,
    ("C2R", "F"): cufft.CUFFT_C2R,
    ("C2C", "D"): cufft.CUFFT_Z2Z,
    ("R2C", "d"): cufft.CUFFT_D2Z,
    ("C2R", "D"): cufft.CUFFT_Z2D,
}
_TWO = "Use the cuFFT plan either as a context manager or as an argument."


def overwritten(x: ndarray, made: ndarray, what: str, s, axes: tuple | None) -> ndarray:
    """``made`` of ``x``, whose memory the caller has given away: in it where CuPy's transform of
    that kind takes place there. From one to real numbers, and where only the first of several axes
    is transformed there, ``x`` is left as garbage: NaN."""
    if x.dtype.kind != "c" or what == "R2C" or made is x:
        return made
    given = tuple(range(-len(s or x.shape), 0)) if axes is None else axes
    taken = x.shape if s == x.shape else _taken_shape(x.shape, s, given, what)
    if any(length > n for length, n in zip(taken, x.shape, strict=True)):
        return made
    place = x if taken == x.shape else x[tuple(map(slice, taken))]
    in_f = x.flags.f_contiguous
    in_order = sorted_axes(x.ndim, s, axes, what)
    several = len(in_order) > 1 and possible(in_order, x.ndim) and not (in_f and what == "C2R")
    if several:
        there = x.flags.forc and (place.flags.f_contiguous if in_f else place.flags.c_contiguous)
    else:
        last = given[0] % x.ndim == x.ndim - 1
        there = last and place is x and x.flags.c_contiguous and x.base is None
    if not there:
        return made
    if what == "C2C" and (several or len(given) == 1):
        place[...] = made
        return place
    place.fill(np.nan)
    return made


def kind(name: str) -> str:
    """'C2C', 'R2C' or 'C2R' of the function of that name."""
    base = name.rstrip("2n")
    return {"rfft": "R2C", "ihfft": "R2C", "irfft": "C2R", "hfft": "C2R"}.get(base, "C2C")


def get_fft_plan(a, shape=None, axes=None, value_type="C2C"):
    """A plan for the transform of ``a``, which lies in one piece, over up to three axes.

    Args:
        a: the device array.
        shape: int or tuple of ints, the lengths of the transformed axes; None for those of ``a``.
        axes: int or tuple of ints: all axes, or several neighbours with the first or the last
            among them.
        value_type: 'C2C', 'R2C' or 'C2R'.

    Returns:
        A ``cupy.cuda.cufft.Plan1d`` or ``PlanNd``: give it to a function as ``plan``, or call
        functions in a ``with`` block of it.
    """
    if not a.flags.forc:
        raise ValueError("Input array a must be contiguous")
    order = "C" if a.flags.c_contiguous else "F"
    shape = (shape,) if isinstance(shape, int) else shape
    axes = (axes,) if isinstance(axes, int) else axes
    if shape is not None and axes is not None and len(shape) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if axes is None:
        axes = tuple(range(-(a.ndim if shape is None else len(shape)), 0))
    elif len(axes) == 1 and not -a.ndim <= axes[0] < a.ndim:
        raise ValueError(
            f"The chosen axis ({axes[0]}) exceeds the number of dimensions of a ({a.ndim})"
        )
    elif len(axes) > 3:
        raise ValueError("Only up to three axes is supported")
    taken = _taken_shape(a.shape, shape, axes, value_type)
    fft_type = _type(a.dtype, value_type)
    if len(axes) > 1:
        if value_type != "C2C" and a.flags.f_contiguous:
            raise ValueError("C2R/R2C PlanNd for F-order arrays is not supported")
        size = _out_size(taken, shape, axes[-1], value_type)
        return _several(taken, fft_type, value_type, axes, order, size)
    length = taken[axes[0]]
    size = _out_size(taken, shape, axes[0], value_type) if value_type == "C2R" else length
    return cufft.Plan1d(size, fft_type, math.prod(taken) // length)


def check(a, s, axes, value_type: str, plan=None, *, one: bool) -> bool:
    """Whether a plan, given or of a ``with`` block, is taken; RuntimeError for two of them,
    ValueError where it does not fit.

    ``one`` says that the function is for one axis: then ``s`` and ``axes`` hold a single item each.
    """
    current = cufft.get_current_plan()
    if current is None and plan is None:
        return False
    if current is not None and plan is not None and (value_type == "C2C" or not one):
        raise RuntimeError(_TWO)
    if one:
        rows = True
    elif value_type == "C2C" or current is not None:
        taken = current or plan
        rows = not isinstance(taken, cufft.PlanNd)
    else:  # CuPy chooses before it looks at a plan that is given
        in_order = sorted_axes(a.ndim, s, axes, value_type)
        rows = len(in_order) < 2 or not possible(in_order, a.ndim) or a.flags.f_contiguous
    if rows:
        if value_type != "C2C" and current is None:
            return True  # CuPy takes its own there, whatever is given
        _check_rows(a, s, axes, value_type, current or plan)
    else:
        _check_several(a, s, axes, value_type, current or plan)
    return True


def _check_rows(a, s, axes, value_type: str, plan) -> None:
    axes = tuple(range(-(a.ndim if s is None else len(s)), 0)) if axes is None else tuple(axes)
    shape = list(_taken_shape(a.shape, s, axes, value_type))
    last = [] if value_type == "C2C" else [(axes[-1], value_type)]
    others = [(axis, "C2C") for axis in (axes[:-1] if last else axes)]
    for axis, step in last + others if value_type == "R2C" else others + last:
        length = shape[axis]
        size = _out_size(shape, s, axis, step) if step == "C2R" else length
        if not isinstance(plan, cufft.Plan1d):
            raise ValueError("expected plan to have type cufft.Plan1d")
        if _type(a.dtype, step) != plan.fft_type:
            raise ValueError("cuFFT plan dtype mismatch.")
        if size != plan.nx:
            raise ValueError("Target array size does not match the plan.", size, plan.nx)
        if math.prod(shape) // length != plan.batch:
            raise ValueError("Batch size does not match the plan.")
        shape[axis] = length // 2 + 1 if step == "R2C" else size


def _check_several(a, s, axes, value_type: str, plan) -> None:
    if not isinstance(plan, cufft.PlanNd):
        raise ValueError("expected plan to have type cufft.PlanNd")
    order = "F" if a.flags.f_contiguous else "C"
    in_order = sorted_axes(a.ndim, s, axes, value_type)
    given = tuple(range(a.ndim - len(in_order), a.ndim)) if axes is None else tuple(axes)
    shape = _taken_shape(a.shape, s, given, value_type)
    size = _out_size(shape, s, in_order[-1], value_type)
    if order != plan.order:
        raise ValueError(f"array orders mismatch (plan: {plan.order}, input: {order})")
    expected = [shape[axis] for axis in in_order]
    if order == "F":
        expected.reverse()
    elif value_type == "C2R":
        expected[-1] = size
    if tuple(expected) != plan.shape:
        raise ValueError(
            f"The cuFFT plan and a.shape do not match: plan.shape = {plan.shape}, "
            f"expected_shape={tuple(expected)}, a.shape = {shape}"
        )
    if _type(a.dtype, value_type) != plan.fft_type:
        raise ValueError("cuFFT plan dtype mismatch.")
    if value_type != "C2C" and in_order[-1] != plan.last_axis:
        raise ValueError("The last axis for R2C/C2R mismatch")
    if value_type != "C2C" and size != plan.last_size:
        raise ValueError("The size along the last R2C/C2R axis mismatch")


def _several(shape, fft_type: int, value_type: str, axes, order: str, size) -> cufft.PlanNd:
    ndim = len(shape)
    in_order = sorted_axes(ndim, None, axes, value_type)
    if not possible(in_order, ndim):
        raise ValueError(
            "An n-dimensional cuFFT plan could not be created. The axes must be contiguous and "
            "non-repeating. Between one and three axes can be transformed and either the first or "
            "last axis must be included in axes."
        )
    source = [shape[axis] for axis in in_order]
    if order == "F":
        source.reverse()
    result = list(source)
    if size is not None:
        result[-1] = size
    planned = result if value_type == "C2R" else source
    if min(planned) < 1:
        raise ValueError("Invalid number of FFT data points specified.")
    batch = math.prod(shape) // math.prod(source)
    first = 0 in in_order and batch > 1  # the batch lies along the last axes
    apart = (order == "C") == first and batch > 1
    steps = (batch, 1, batch, 1) if apart else (1, math.prod(source), 1, math.prod(result))
    if batch == 1:
        steps = (1, 1, 1, 1)
    istride, idist, ostride, odist = steps
    return cufft.PlanNd(
        planned, source, istride, idist, result, ostride, odist, fft_type, batch, order,
        in_order[-1], size,
    )  # fmt: skip


def sorted_axes(ndim: int, s, axes, value_type: str) -> tuple[int, ...]:
    """The axes from the first to the last; of real numbers the last one given stays the last."""
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if axes is None:
        return tuple(range(ndim - (ndim if s is None else len(s)), ndim))
    if any(not -ndim <= axis < ndim for axis in axes):
        raise ValueError("The specified axes exceed the array dimensions.")
    places = [axis % ndim for axis in axes]
    if value_type == "C2C":
        return tuple(sorted(places))
    return (*sorted(places[:-1]), *places[-1:])


def possible(axes: tuple[int, ...], ndim: int) -> bool:
    neighbours = all(b - a == 1 for a, b in zip(axes, axes[1:], strict=False))
    return 0 < len(axes) <= 3 and neighbours and (0 in axes or ndim - 1 in axes)


def _taken_shape(shape, s, axes, value_type: str) -> tuple[int, ...]:
    """The shape of what is transformed, cut or padded to the lengths ``s``."""
    taken = list(shape)
    for length, axis in zip(s or (), axes, strict=False):
        if length is not None:
            halved = value_type == "C2R" and axis == axes[-1]
            taken[axis] = length // 2 + 1 if halved else length
    return tuple(taken)


def _out_size(shape, s, last: int, value_type: str) -> int | None:
    if value_type == "C2R":
        return 2 * (shape[last] - 1) if s is None or s[-1] is None else s[-1]
    return shape[last] // 2 + 1 if value_type == "R2C" else None


def _type(dtype: np.dtype, value_type: str) -> int:
    single = np.dtype(dtype).char in "efF"
    if value_type == "R2C":
        return _TYPES[value_type, "f" if single else "d"]
    if value_type not in ("C2C", "C2R"):
        raise ValueError
    return _TYPES[value_type, "F" if single else "D"]
