"""What other libraries take from this module of CuPy's."""

from __future__ import annotations

from math import prod as prod

from numpy.lib.array_utils import normalize_axis_index as _normalize_axis_index


def _normalize_axis_indices(axes, ndim: int, sort_axes: bool = True) -> tuple[int, ...]:
    """Axes from 0 on, of None all; ValueError for one that is named twice."""
    axes = range(ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    found = [_normalize_axis_index(axis, ndim) for axis in axes]
    if len({*found}) < len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found) if sort_axes else found)
