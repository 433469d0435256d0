"""What may stand between the brackets of an array, and what NumPy makes of it."""

from __future__ import annotations

import operator

import numpy as np

from cupy._core import _ndarray
from cupy._core._dispatch import check_device
from cupy._core._protocols import as_device
from cupy.cuda import stream


def resolve(index, shape: tuple, assigned: bool = False) -> tuple[tuple, bool]:
    """NumPy's form of an index, and whether it makes a copy (index arrays) or a view."""
    entries = list(index) if isinstance(index, tuple) else [index]
    advanced, axes = False, 0
    for position, entry in enumerate(entries):
        entry, used = _entry(entry, assigned)
        entries[position] = entry
        axes += used
        advanced |= isinstance(entry, np.ndarray)
    if axes > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {axes} were "
            "indexed"
        )
    ellipses = sum(entry is Ellipsis for entry in entries)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not ellipses:
        entries.append(Ellipsis)
    axis = 0
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            axis += len(shape) - axes
        elif isinstance(entry, slice):
            axis += 1
        elif isinstance(entry, np.ndarray) and entry.dtype.kind == "b":
            axis += entry.ndim
        elif isinstance(entry, np.ndarray):
            entries[position] = _wrapped(entry, shape[axis])
            axis += 1
        elif entry is not None:
            size = shape[axis]
            if not -size <= entry < size:
                raise IndexError(f"Index {entry} is out of bounds for axis {axis} with size {size}")
            axis += 1
    return tuple(entries), advanced


def _wrapped(index: np.ndarray, size: int) -> np.ndarray:
    """Indices modulo ``size``: on a device an index out of range wraps around."""
    if index.size == 0 or (index.min() >= 0 and index.max() < size):
        return index
    if size == 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return index % size


def _entry(entry, assigned: bool):
    """One entry of an index for NumPy, and the number of axes it takes."""
    if entry is None or entry is Ellipsis:
        return entry, 0
    if isinstance(entry, slice):
        return entry, 1
    entry = as_device(entry)
    if isinstance(entry, _ndarray.ndarray):
        check_device(entry)
        array = entry._array
    elif isinstance(entry, (bool, np.bool_)):
        array = np.asarray(entry)
    elif isinstance(entry, (list, np.ndarray)):
        array = np.asarray(entry)
        if isinstance(entry, list) and array.size == 0:
            array = array.astype(np.intp)
    else:
        try:
            return operator.index(entry), 1
        except TypeError:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                "integer or boolean arrays are valid indices"
            ) from None
    if array.dtype.kind not in "biu":
        raise IndexError(
            "arrays used as indices must be of integer or boolean type. "
            f"(actual: {array.dtype.type})"
        )
    if array.dtype.kind == "b":
        if not assigned:
            stream.refuse_while_capturing()  # the size of the result has to be known
        return array, array.ndim
    return array, 1
