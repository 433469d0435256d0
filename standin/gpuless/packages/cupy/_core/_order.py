"""Sorting, and sets, where CuPy's rules are others than NumPy's."""

from __future__ import annotations

import math

import numpy as np


def check_kind(kind) -> None:
    if kind is not None and kind != "stable":
        raise ValueError("kind can only be None or 'stable'")


def sort(a, axis=-1, kind=None):
    check_kind(kind)
    return np.sort(a, axis, kind="stable")


def sorts_instead(a, kth, axis: int, least: int) -> bool:
    """Whether CuPy sorts all of an array that it is to partition: by the sizes in its own code."""
    length = a.shape[axis]
    highest = max((k + length if k < 0 else k for k in np.ravel(kth)), default=0)
    most, parts = max(32, 1 << int(highest).bit_length()), 512
    while parts and length // parts < most + 128:
        parts //= 2
    parts *= a.size // max(length, 1)
    return length < 32 or parts < least or most >= 1024


def _check(kth, length: int) -> None:
    if isinstance(kth, np.integer):  # CuPy takes all but Python's numbers for a list
        raise TypeError(f"{type(kth).__name__!r} object is not iterable")
    for one in np.ravel(kth):
        if not -length <= one < length:
            raise ValueError(f"kth(={one}) out of bounds {length}")


def partition(a, kth, axis=-1):
    a, axis = (a.ravel(), -1) if axis is None else (a, axis)
    made = np.partition(a, kth, axis)
    _check(kth, a.shape[axis])
    return np.sort(a, axis, kind="stable") if sorts_instead(a, kth, axis, 33) else made


def argpartition(a, kth, axis=-1):
    a, axis = (a.ravel(), -1) if axis is None else (a, axis)
    made = np.argpartition(a, kth, axis)
    _check(kth, a.shape[axis])
    return np.argsort(a, axis, kind="stable") if sorts_instead(a, kth, axis, 1) else made


def argsort(a, axis=-1, kind=None):
    check_kind(kind)
    return np.argsort(a, axis, kind="stable")


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True
):
    """By an axis, CuPy sorts with differences of its own: a NaN or a difference that does not fit
    the type counts as no less."""
    if axis is None:
        return np.unique(ar, return_index, return_inverse, return_counts, None, equal_nan=equal_nan)
    if ar.dtype.kind == "b":
        raise TypeError("cupy boolean subtract, the `-` operator, is deprecated")
    turned = np.moveaxis(ar, axis, 0)
    rows = turned.reshape(len(turned), math.prod(turned.shape[1:]))
    keys = rows.astype(np.intp) if rows.dtype.kind == "u" else rows
    if not rows.size or _all_differences_fit(keys):
        return np.unique(ar, return_index, return_inverse, return_counts, axis)
    order = _order_of_rows(keys, np.arange(len(rows)))
    rows = rows[order]
    first = np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)]
    found = [np.moveaxis(rows[first].reshape(-1, *turned.shape[1:]), 0, axis)]
    if return_index:
        found.append(order[first])
    if return_inverse:
        inverse = np.empty(len(rows), np.intp)
        inverse[order] = np.cumsum(first) - 1
        found.append(inverse)
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(first), len(rows))))
    return found[0] if len(found) == 1 else tuple(found)


def _all_differences_fit(keys) -> bool:
    if keys.dtype.kind in "fc":
        return not np.isnan(keys - keys).any()  # nor an infinity
    return int(keys.max()) - int(keys.min()) <= np.iinfo(keys.dtype).max


def _order_of_rows(keys, rows):
    """CuPy's quicksort: around the first of the rows, those less than it before it."""
    if len(rows) < 2:
        return rows
    middle, others = rows[0], rows[1:]
    difference = keys[others] - keys[middle]
    there = difference != 0
    first = np.take_along_axis(difference, there.argmax(axis=1)[:, None], 1)[:, 0]
    less = (first < 0) & there.any(axis=1)
    if keys.dtype.kind == "c":
        less |= np.isnan(first)
    parts = (_order_of_rows(keys, others[less]), [middle], _order_of_rows(keys, others[~less]))
    return np.concatenate(parts)


def unique_values(x):
    return np.unique(x, equal_nan=False)  # sorted, which NumPy's unique_values need not be


def lexsort(keys):
    if np.ndim(keys) > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")
    return np.lexsort(keys)
