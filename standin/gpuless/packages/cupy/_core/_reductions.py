"""What reductions share: their axes, their outputs, and types of which CuPy has no kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._dispatch import named
from cupy._core._ndarray import ndarray


def normalized(axis, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction goes over."""
    return np.lib.array_utils.normalize_axis_tuple(range(ndim) if axis is None else axis, ndim)


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
    """``row``, which fills an ``out`` and returns numbers of the type that they have without it."""

    def var(*args, **kwargs):
        out = args[3] if len(args) > 3 else kwargs.get("out")
        if not (isinstance(out, ndarray) and args and isinstance(args[0], ndarray)):
            return row(*args, **kwargs)
        if row.__name__ == "nanvar" and args[0].dtype.kind in "fc":
            return row(*args, **kwargs)
        return into_own(*args, **kwargs)

    def into_own(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        if out.dtype.kind in "biu":
            raise NotImplementedError("an out of integers, where CuPy rounds 1 / n to 0")
        made = row(a, axis, dtype, None, ddof, keepdims)
        if out.shape != made.shape:
            raise ValueError("Out shape is mismatched")
        out[...] = made
        return out.astype(made.dtype if dtype is None else dtype, copy=False)

    return named(var, row.__name__)
