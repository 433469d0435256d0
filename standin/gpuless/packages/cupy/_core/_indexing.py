"""What may stand between the brackets of an array, and what NumPy makes of it."""

from __future__ import annotations

import operator

import numpy as np

from cupy._core import _alignment
from cupy._core._casts import cast
from cupy._core._dispatch import SCALARS, check_device, extends, submit
from cupy._core._ndarray import ndarray
from cupy._core._protocols import as_device
from cupy._core._run import run
from cupy.cuda import _ownership, stream


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
            entries[position] = _within(entry, shape[axis])
            axis += 1
        elif entry is not None:
            size = shape[axis]
            if not -size <= entry < size:
                raise IndexError(f"Index {entry} is out of bounds for axis {axis} with size {size}")
            axis += 1
    return tuple(entries), advanced


def wrapped(index: np.ndarray, size: int) -> np.ndarray:
    """``index`` modulo ``size``: on a device an index out of range wraps around. NumPy's own
    ``wrap`` takes off one ``size`` after the other."""
    return (index if index.dtype.char in "LQ" else index.astype(np.intp)) % size


def _within(index: np.ndarray, size: int) -> np.ndarray:
    """Indices ``wrapped``, where one is out of range."""
    if index.size == 0 or (index.min() >= 0 and index.max() < size):
        return index
    if size == 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return wrapped(index, size)


def _entry(entry, assigned: bool):
    """One entry of an index for NumPy, and the number of axes it takes."""
    if entry is None or entry is Ellipsis:
        return entry, 0
    if isinstance(entry, slice):
        ends = entry.start, entry.stop, entry.step
        if ndarray in map(type, ends):
            entry = slice(*(int(e) if type(e) is ndarray else e for e in ends))
        return entry, 1
    if isinstance(entry, str):
        raise ValueError(f"Unsupported dtype {np.asarray(entry).dtype}")
    entry = as_device(entry)
    if isinstance(entry, ndarray):
        check_device(entry)
        stream.catch_up()
        _alignment.check(entry)
        array = entry._array
    elif isinstance(entry, (bool, np.bool_)):
        array = np.asarray(entry)
    elif isinstance(entry, (list, tuple, range, np.ndarray)):
        stream.refuse_while_capturing("H2D transfers")
        array = np.asarray(entry)
        if isinstance(entry, (list, tuple)) and array.size == 0:
            array = array.astype(np.intp)
    else:
        if not isinstance(entry, (int, np.integer)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                "integer or boolean arrays are valid indices"
            )
        return operator.index(entry), 1
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


def check_copy(target: np.ndarray, source: np.ndarray) -> None:
    """ValueError where the memory of two arrays, which CuPy copies as it lies, overlaps."""
    ends = (array.__array_interface__["data"][0] for array in (target, source))
    _ownership.check_apart(*ends, source.nbytes)


def _check_memory(target: np.ndarray, source: np.ndarray) -> None:
    """``check_copy`` where an assignment of ``source`` is such a copy."""
    while source.ndim and source.shape[0] == 1:
        source = source[0]
    alike = source.shape == target.shape and source.strides == target.strides
    if alike and target.flags.c_contiguous:
        check_copy(target, source)


def number_of(value, dtype: np.dtype):
    """A number of Python's as one of ``dtype``, with CuPy's errors where it is none."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return np.asarray(value, dtype=dtype)[()]
    return value


@extends(ndarray)
class Elements:
    """Reading and writing parts of an array."""

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, index, /):
        entries, advanced = resolve(index, self.shape)
        if not advanced:
            return self._view(self._array[entries])
        _alignment.check(self)
        if stream.capturing():  # the index array is read when the graph runs
            return run(lambda: self._array[resolve(index, self.shape)[0]], order="C")
        return run(lambda: self._array[entries], order="C")

    def __setitem__(self, index, value) -> None:
        entries, advanced = resolve(index, self.shape, assigned=True)
        own = False  # whether what is read is a part of what is written
        late = advanced and stream.capturing()  # the index array is read when the graph runs
        target = self._array
        value = as_device(value)
        if isinstance(value, ndarray):
            check_device(value)
            source = value._array
            while source.ndim > target.ndim and source.shape[0] == 1:
                source = source[0]
            if value._memory is self._memory and source.dtype == target.dtype:
                own = advanced
                if not advanced:
                    _check_memory(target[entries], source)
            if _alignment.odd:
                if not advanced and target[entries].flags.c_contiguous:
                    _alignment.check_copy(target[entries], source, self, value)
                else:
                    _alignment.check(self, value)
        else:
            plain = isinstance(value, (*SCALARS, np.ndarray))
            source = np.asarray(value) if plain else np.asarray(value, dtype=self.dtype)
            if source.ndim and not advanced:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            if not source.ndim:
                source = np.asarray(number_of(value, self.dtype))
            cleared = not advanced and target[entries].flags.c_contiguous
            if cleared and not source and value is not None:  # CuPy makes 0.0 of -0.0, too
                source = np.zeros((), self.dtype)
            elif _alignment.odd:
                _alignment.check(self if advanced else self[index])

        def work() -> None:
            where = resolve(index, self.shape, assigned=True)[0] if late else entries
            before = source.tobytes() if own else b""
            target[where] = cast(source, target.dtype).astype(target.dtype, copy=False)
            if own and source.tobytes() != before:
                raise ValueError(
                    "the assignment writes into the part of the array that it reads, and a GPU may "
                    "read what it has just written; take a copy first, as in a[i] = a[1:].copy()"
                )

        submit(work)

    def _scatter(self, function, index, value) -> None:
        """``function``, one of CuPy's ufuncs, in place at ``index``."""
        entries, advanced = resolve(index, self.shape, assigned=True)
        if not advanced:  # no element comes twice
            view = self[index]
            function(view, value, view)
            return
        function = function._function
        kinds = [entry.dtype.kind for entry in entries if isinstance(entry, np.ndarray)]
        atomic = kinds != ["b"]  # no two threads meet under one mask
        types = _SCATTERS.get(function, "?bBhHiIlLqQefdFD") + ("" if atomic else "?bBhHe")
        if self.dtype.char not in types:
            raise TypeError(
                f"{function.__name__}.at and cupyx.scatter functions are not for {self.dtype}"
            )
        _alignment.check(self, value)
        value = value._array if isinstance(value, ndarray) else number_of(value, self.dtype)

        numbers_first = {np.maximum: np.fmax, np.minimum: np.fmin}  # as atomicMax and atomicMin
        at = numbers_first.get(function, function).at

        def work() -> None:
            source = cast(np.asarray(value), self.dtype).astype(self.dtype)
            where = resolve(index, self.shape, assigned=True)[0]
            if atomic and function in numbers_first and self.dtype.char == "d":
                # CuPy's atomicMax of doubles calls fmaxf: both numbers are rounded to float.
                source = source.astype("f")
                self._array[where] = self._array[where].astype("f")
            at(self._array, where, source)

        submit(work)

    flat = property(lambda self: flatiter(self))


# The types for which a GPU has the atomic function.
_SCATTERS = {
    np.add: "iIlLqQefd",
    np.subtract: "iI",
    np.maximum: "iIlLqQfd",
    np.minimum: "iIlLqQfd",
    **dict.fromkeys((np.bitwise_and, np.bitwise_or, np.bitwise_xor), "iIlLqQ"),
}


class flatiter:
    """``ndarray.flat``: elements in C order; indices as for a one-dimensional array."""

    def __init__(self, array):
        self._base = array
        self._next = 0

    base = property(lambda self: self._base)

    def __len__(self) -> int:
        return self._base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self._next == self._base.size:
            raise StopIteration
        self._next += 1
        return self[self._next - 1]

    def __getitem__(self, index):
        _check_flat(index)
        if not isinstance(index, int):
            _alignment.check(self._base)
        return self._base.ravel()[index].copy()

    def __setitem__(self, index, value) -> None:
        _check_flat(index)
        target, dtype = self._base._array, self._base.dtype
        where = np.arange(target.size)[index]
        _alignment.check(self._base, value)
        if isinstance(value, ndarray):
            source = value._array
            if not where.ndim and source.ndim:
                raise ValueError("Out shape is mismatched")
        else:
            source = np.asarray(number_of(value, dtype))
            if source.ndim:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        submit(lambda: np.put(target, where, cast(source, dtype).astype(dtype)))

    def copy(self):
        return self._base.flatten()

    @property
    def __array_ufunc__(self):
        return None


def _check_flat(index) -> None:
    whole = isinstance(index, int) and not isinstance(index, bool)
    if not (whole or index is Ellipsis or isinstance(index, slice)):
        raise IndexError("unsupported iterator index")
