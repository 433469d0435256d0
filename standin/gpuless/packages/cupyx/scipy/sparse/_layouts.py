"""What some ways of storing a matrix allow besides: compressed rows or columns, and coordinates."""

from __future__ import annotations

import math
import operator
import warnings

import cupy
import numpy as np
from cupy._core._dispatch import named
from cupy._core._ndarray import place

from cupyx.scipy.sparse import _pairs
from cupyx.scipy.sparse._base import (
    _give,
    _in_place,
    _method,
    _shared,
    issparse,
    on_device,
    on_host,
    sparray,
)


def _flag(name: str) -> property:
    """What SciPy finds, until it is said."""

    def get(self) -> bool:
        said = vars(self).get(f"_{name}") if self.data.size else True
        return bool(getattr(self._here(gaps=True), name)) if said is None else said

    def say(self, value) -> None:
        setattr(self, f"_{name}", bool(value))

    return property(get, say)


class compressed:
    """What rows or columns that are stored one behind the other allow besides."""

    def __getitem__(self, key):
        key = _key(key)
        if isinstance(key, tuple) and len(key) == 2:
            row, column = map(np.ndim, key)
            one = [isinstance(k, (int, np.integer)) for k in key]
            if one[0] and column == 2:
                raise IndexError("index results in >2 dimensions")
            if one[1] and row == 2 and np.size(key[0]) > 1:  # of columns CuPy gives others
                raise ValueError("Out shape is mismatched")
            if one[0] and isinstance(key[1], slice) and -self.shape[0] <= key[0] < self.shape[0]:
                if not isinstance(self, sparray):  # of a row CuPy sorts nothing
                    at = key[0] % self.shape[0]
                    key = slice(at, at + 1), key[1]
        return on_device(self._here()[key])

    def __setitem__(self, key, value) -> None:
        here = self._here()
        if not here.has_canonical_format:
            _pairs.set_in_disorder(here)
        key = _key(key)
        if issparse(value) and not value.nnz and not _one_element(key):
            here = here.copy()  # for its errors: CuPy sets nothing to what stores nothing
            if 0 in value.shape and 0 not in np.shape(here[key]):
                raise ValueError("shape mismatch in assignment")
            here[key] = on_host(value)
            return
        if not issparse(value):
            _check_assigned(key, np.shape(value), self.shape)
        here[key] = value if isinstance(value, np.ndarray) else on_host(value)
        if len(here.data) == len(self.data):
            self.data[...] = place(here.data)  # seen by all who share it
        else:
            self._hold(here)

    has_sorted_indices = _flag("has_sorted_indices")
    has_canonical_format = _flag("has_canonical_format")


def _one_element(key) -> bool:
    return isinstance(key, tuple) and all(
        hasattr(one, "__index__") and np.ndim(one) == 0 for one in key
    )


def _check_assigned(key, given: tuple, shape: tuple) -> None:
    """ValueError where CuPy makes more of a dense value than there is to set: of a vector, a matrix
    for one column."""
    row, column = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
    if (
        isinstance(column, (int, np.integer))
        and np.ndim(row) == 1
        and np.asarray(row).dtype != bool
    ):
        count = len(row)  # a vector of them, no column
        if math.prod(np.broadcast_shapes(given, (count,))) != count:
            raise ValueError(f"cannot reshape an array of shape {given} into shape {(count,)}")
    if len(shape) != 2 or not all(isinstance(k, (int, np.integer, slice)) for k in (row, column)):
        return
    rows, columns = (
        len(range(*k.indices(n))) if isinstance(k, slice) else 1
        for k, n in zip((row, column), shape, strict=True)
    )
    whole = np.broadcast_shapes(given, (rows, columns))
    if slice in map(type, (row, column)) and math.prod(whole) != rows * columns:
        raise ValueError(f"cannot reshape array of shape {whole} into shape {(rows, columns)}")


def _key(key):
    if key is None or isinstance(key, tuple) and any(one is None for one in key):
        raise IndexError("invalid index")
    if isinstance(key, tuple):
        return tuple(map(_key, key))
    return key if isinstance(key, np.ndarray) else on_host(key)  # an array of the host's, too


def _extreme(name: str):
    """A reduction; NotImplementedError along an axis for dtypes for which CuPy has no kernel, or
    of which it loses the imaginary part."""
    method, of_places = _method(name), name.startswith("arg")

    def reduce(self, axis=None, out=None, **kwargs):
        if kwargs.keys() - (set() if of_places else {"explicit"}):
            raise TypeError(f"{name}() got an unexpected keyword argument in {list(kwargs)}")
        if kwargs.get("explicit"):
            text = f"explicit of cupyx.scipy.sparse.{type(self).__name__}.{name} is experimental."
            warnings.warn(f"{text} The interface can change in the future.", FutureWarning, 2)
        if isinstance(axis, tuple):
            raise TypeError("Tuples are not accepted for the 'axis' parameter.")
        if out is not None:
            raise ValueError("Sparse matrices do not support an 'out' parameter.")
        if axis is not None and self.dtype.kind in ("bc" if of_places else "c"):
            raise NotImplementedError(f"{name} of {self.dtype} along an axis")
        if self.dtype == bool and axis in (0, -2):
            self = self.tocsc()
        found = method(self, axis, **kwargs)  # its errors, too
        return _places(self, axis, name == "argmax") if of_places else found

    return named(reduce, name, "of SciPy's matrix, on the device")


def _places(self, axis, largest: bool):
    """Where the largest or smallest elements are, as CuPy's kernels find them."""
    if axis is None:
        if not self.nnz:
            return 0
        there = self.tocoo(copy=True)
        there.sum_duplicates()
        return cupy.asarray(_pairs.place_of_extreme(there._here(), largest), np.int64)
    columns = axis in (0, -2)
    lines = self.tocsc() if columns else self.tocsr()
    found = _pairs.first_extreme(_pairs.tidy(lines._here()), largest)
    if not isinstance(self, sparray):
        found = found[None, :] if columns else found[:, None]
    return place(found)


_give(compressed, _extreme, "max min argmax argmin")
_give(compressed, _in_place, "eliminate_zeros sum_duplicates")
_sum_up = compressed.sum_duplicates


def _sum_up_compressed(self) -> None:
    """Add up duplicates and sort, in place."""
    if self.has_canonical_format:
        return
    if self.format == "csc" and self.dtype == bool:
        self._take(self.tocoo(copy=True).tocsc())
    else:
        _sum_up(self)


def _sort_indices(self) -> None:
    """Sort the indices of every row or column, in their own memory; TypeError for booleans, which
    cuSPARSE does not sort."""
    if self.has_sorted_indices:
        return
    if self.dtype == bool:
        raise TypeError("dtype is not supported: bool")
    here = self._here()
    here.sort_indices()
    self.data[...], self.indices[...] = place(here.data), place(here.indices)
    self.has_sorted_indices = True


def _prune(self) -> None:
    """Leave off what the pointers do not reach."""
    count = self._here().nnz
    for name in ("data", "indices"):
        if len(getattr(self, name)) > count:
            setattr(self, name, getattr(self, name)[:count].copy())


def _sorted_indices(self):
    made = self.copy()
    made.sort_indices()
    return made


compressed.sum_duplicates, compressed.sort_indices = _sum_up_compressed, _sort_indices
compressed.prune = _prune
compressed.sorted_indices = _sorted_indices
_drop_zeros = compressed.eliminate_zeros


def _eliminate_zeros(self) -> None:
    """Drop the elements that are 0, in place; a warning where cuSPARSE loses others, too."""
    if self.dtype == bool:
        raise ValueError("unsupported dtype")
    data = self.data._host()
    if not (data.real > 0)[data != 0].all():
        text = (
            "eliminate_zeros: on a GPU, cuSPARSE makes zeros of the elements that are less than 0, "
            "and may of NaN and imaginary ones. That of a coo_matrix, `a = a.tocoo()`, keeps them."
        )
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    _drop_zeros(self)


compressed.eliminate_zeros = _eliminate_zeros


class coordinates:
    """What a list of coordinates allows besides."""

    has_canonical_format = False  # whether it is known that none comes twice

    def __getitem__(self, key):
        """Of an array what its rows have, as coordinates."""
        if not isinstance(self, sparray):
            raise TypeError(f"{type(self).__name__!r} object is not subscriptable")
        found = self.tocsr()[key]
        if issparse(found):
            return found.tocoo()
        return type(self)(found) if found.ndim else found

    @property
    def coords(self) -> tuple:
        return self.row, self.col


_give(coordinates, _in_place, "eliminate_zeros")


def _sum_duplicates(self) -> None:
    """Add up the values of equal coordinates, in place."""
    if not self.has_canonical_format:
        here = self._here()
        here.sum_duplicates()
        self._hold(here)
        self.has_canonical_format = True


coordinates.sum_duplicates = _sum_duplicates


def _setdiag(self, values, k=0) -> None:
    """Set the elements ``[i, i + k]``, in place, to a number or to an array's or list's items."""
    m, n = self.shape
    if self.format != "coo":
        if isinstance(k, cupy.ndarray):
            raise TypeError("'ndarray' object cannot be interpreted as an integer")
        operator.index(k)
    if (k > 0 and k >= n) or (k < 0 and -k >= m):
        raise ValueError("k exceeds matrix dimensions")
    values = cupy.asarray(values, dtype=self.dtype)
    if values.ndim > 1:
        raise ValueError("values must be 0-d or 1-d")
    if self.format == "coo" and not values.size:
        return
    if self.format == "csr" and 0 in self.shape:
        raise ValueError("k exceeds matrix dimensions")
    row, column = max(0, -k), max(0, k)
    count = min(m - row, n - column, values.size if values.ndim else m)
    there = self.tocoo(copy=True)
    places = cupy.arange(count, dtype=there.row.dtype)
    values = cupy.broadcast_to(values[:count] if values.ndim else values, count)
    if self.format == "csr":  # what they are, and what they are more
        more = values - self.diagonal(k)[:count]
        made = _shared("coo", self, self.shape, (more, places + row, places + column))
        self._take(self + made)
    else:
        gone = (there.col - there.row == k) & (cupy.minimum(there.row, there.col) < count)
        parts = (there.data, values), (there.row, places + row), (there.col, places + column)
        joined = (cupy.concatenate([old[~gone], new]) for old, new in parts)
        self._take(_shared("coo", self, self.shape, tuple(joined)).asformat(self.format))


compressed.setdiag = coordinates.setdiag = _setdiag
