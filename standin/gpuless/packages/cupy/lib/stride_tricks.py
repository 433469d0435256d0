"""Views that look at the same elements more than once."""

from __future__ import annotations

import numpy as np

from cupy._core import _alignment
from cupy._core._ndarray import ndarray, wrap
from cupy._core._reductions import normalized


def as_strided(x: ndarray, shape=None, strides=None) -> ndarray:
    """A view of ``x`` with this ``shape`` and these ``strides`` (bytes).

    A GPU reads whatever lies there; here a view that leaves the memory of ``x`` is a ValueError.
    """
    shape = x.shape if shape is None else tuple(shape)
    strides = x.strides if strides is None else tuple(strides)
    view = np.lib.stride_tricks.as_strided(x._array, shape, strides)
    first, last = np.lib.array_utils.byte_bounds(view)
    held = x._memory
    if view.size and not held.ptr <= first <= last <= held.ptr + held.size:
        raise ValueError(f"shape {shape} and strides {strides} leave the memory of the array")
    return wrap(_alignment.note(view), held)  # CuPy's has no base


def sliding_window_view(
    x: ndarray, window_shape, axis=None, *, subok=False, writeable=False
) -> ndarray:
    """All windows of ``window_shape`` along ``axis``, as a view."""
    if writeable:
        raise NotImplementedError("Writeable views are not supported.")
    if subok:
        raise NotImplementedError
    if axis is not None:  # in CuPy the windows' sides belong to the axes in their order
        axis = sorted(normalized(axis, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x._array, window_shape, axis, writeable=True)
    return wrap(view, x._memory)
