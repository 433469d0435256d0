"""What reductions share: their axes, their outputs, and types of which CuPy has no kernel."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._dispatch import check_number, named
from cupy._core._ndarray import ndarray

MANY = 1 << 14  # so many numbers of single precision may be added one after the other


def normalized(axis, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction goes over."""
    return np.lib.array_utils.normalize_axis_tuple(range(ndim) if axis is None else axis, ndim)


def check_ddof(ddof) -> None:
    """TypeError for a device array, which is of another type than the kernel's number."""
    check_number(ddof)
    if isinstance(ddof, np.ndarray):
        raise TypeError(f"Type is mismatched. ddof {ddof.dtype}")


def one_by_one(a: np.ndarray, axis) -> bool:
    """Whether NumPy adds ``MANY`` numbers along the axes one after the other: it adds pairwise only
    those that lie side by side in memory."""
    if a.size <= MANY:
        return False
    axes = normalized(axis, a.ndim)
    pairwise, step = 1, 0
    for stride, i in sorted((abs(a.strides[i]), i) for i in range(a.ndim) if a.shape[i] > 1):
        if i not in axes or step not in (0, stride):
            break
        pairwise, step = pairwise * a.shape[i], stride * a.shape[i]
    return math.prod(a.shape[i] for i in axes) > MANY * pairwise


def in_parts(function: Callable) -> Callable:
    """``function``, a sum, mean or variance over axes, as exact as a GPU's, whose threads add
    parts: where NumPy would add too many numbers ``one_by_one``, in double precision."""

    @functools.wraps(function)
    def call(a, axis=None, dtype=None, out=None, *args, **kwargs):
        kind = (a.dtype if dtype is None else np.dtype(dtype)).char
        fits = kind in "efF" and (out is None or out.dtype.kind in "fc")
        if not (fits and one_by_one(a, axis)):
            return function(a, axis, dtype, out, *args, **kwargs)
        wide = "d"
        if kind == "F":  # a variance of which is real
            a, wide = a.astype("D"), None
        made = np.asarray(function(a, axis, wide, None, *args, **kwargs))
        made = made.astype("e" if kind == "e" else "F" if made.dtype == "D" else "f")
        return made if out is None else into(out, made)

    return call


def into(out: np.ndarray, made) -> np.ndarray:
    """``out`` with ``made`` written into it; ValueError unless it has that shape."""
    if out.shape != np.shape(made):
        raise ValueError("Out shape is mismatched")
    np.copyto(out, cast(np.asarray(made), out.dtype), "unsafe")
    return out


def refuse_real(a, dtype, kinds: str = "c") -> None:
    """TypeError for a sum of complex numbers in a type of none of these kinds."""
    if dtype is not None and np.iscomplexobj(a) and np.dtype(dtype).kind not in kinds:
        raise TypeError(f"no kernel adds complex numbers in {np.dtype(dtype)}")


def variance(row: Callable) -> Callable:
    """``row``, which fills an ``out`` of the type that the result has without it; ``nanvar`` fills
    a wider one, too."""

    def var(*args, **kwargs):
        out = args[3] if len(args) > 3 else kwargs.get("out")
        if not (isinstance(out, ndarray) and args and isinstance(args[0], ndarray)):
            return row(*args, **kwargs)
        kind = args[0].dtype
        if row.__name__ == "nanvar" and kind.kind in "fc" and out.dtype.kind == "f":
            if np.can_cast(kind.char.lower(), out.dtype):
                return row(*args, **kwargs)
        return into_own(*args, **kwargs)

    def into_own(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        made = row(a, axis, dtype, None, ddof, keepdims)
        if out.dtype != made.dtype:
            raise NotImplementedError("an out of another type, in which CuPy would add")
        if out.shape != made.shape:
            raise ValueError("Out shape is mismatched")
        out[...] = made
        return out.astype(made.dtype if dtype is None else dtype, copy=False)

    return named(var, row.__name__)
