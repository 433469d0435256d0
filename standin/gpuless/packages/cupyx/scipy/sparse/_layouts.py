"""What some ways of storing a matrix allow besides: compressed rows or columns, and coordinates."""

from __future__ import annotations

import operator
import warnings

import cupy
import numpy as np
from cupy._core._dispatch import named

from cupyx.scipy.sparse._base import _give, _in_place, _method, on_device, on_host


def _flag(name: str) -> property:
    """What SciPy finds, until it is said."""

    def get(self) -> bool:
        said = vars(self).get(f"_{name}")
        return bool(getattr(self._here(), name)) if said is None else said

    def say(self, value) -> None:
        setattr(self, f"_{name}", bool(value))

    return property(get, say)


class compressed:
    """What rows or columns that are stored one behind the other allow besides."""

    def __getitem__(self, key):
        return on_device(self._here()[_key(key)])

    def __setitem__(self, key, value) -> None:
        here = self._here()
        here[_key(key)] = on_host(value)
        self._hold(here)

    has_sorted_indices = _flag("has_sorted_indices")
    has_canonical_format = _flag("has_canonical_format")


def _key(key):
    if isinstance(key, tuple):
        return tuple(map(on_host, key))
    return on_host(key)


def _extreme(name: str):
    """A reduction; NotImplementedError along an axis for dtypes for which CuPy has no kernel, or
    of which it loses the imaginary part."""
    method = _method(name)

    def reduce(self, axis=None, *args, **kwargs):
        if isinstance(axis, tuple):
            raise TypeError("Tuples are not accepted for the 'axis' parameter.")
        if (args[0] if args else kwargs.get("out")) is not None:
            raise ValueError("Sparse matrices do not support an 'out' parameter.")
        if axis is not None and self.dtype.kind in ("bc" if name.startswith("arg") else "c"):
            raise NotImplementedError(f"{name} of {self.dtype} along an axis")
        found = method(self, axis, *args, **kwargs)
        if axis is None and name.startswith("arg"):
            return cupy.asarray(found, np.int64) if self.nnz else 0
        return found

    return named(reduce, name, "of SciPy's matrix, on the device")


_give(compressed, _method, "sorted_indices")
_give(compressed, _extreme, "max min argmax argmin")
_give(compressed, _in_place, "eliminate_zeros sum_duplicates sort_indices prune")
_drop_zeros = compressed.eliminate_zeros


def _eliminate_zeros(self) -> None:
    """Drop the elements that are 0, in place; a warning where cuSPARSE loses others, too."""
    if self.dtype == bool:
        raise ValueError("unsupported dtype")
    if (self.data._host().real < 0).any():
        text = (
            "eliminate_zeros: on a GPU, cuSPARSE makes zeros of the elements that are less than 0. "
            "That of a coo_matrix, `a = a.tocoo()`, keeps them."
        )
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    _drop_zeros(self)


compressed.eliminate_zeros = _eliminate_zeros


class coordinates:
    """What a list of coordinates allows besides."""

    has_canonical_format = False  # whether it is known that none comes twice

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
    rows, columns = self.shape
    if self.format != "coo":
        if isinstance(k, cupy.ndarray):
            raise TypeError("'ndarray' object cannot be interpreted as an integer")
        operator.index(k)
    if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
        raise ValueError("k exceeds matrix dimensions")
    values = cupy.asarray(values, dtype=self.dtype)
    if values.ndim > 1:
        raise ValueError("values must be 0-d or 1-d")
    if values.size:
        here = self._here()
        here.setdiag(values._host(), k)
        self._hold(here)


compressed.setdiag = coordinates.setdiag = _setdiag
