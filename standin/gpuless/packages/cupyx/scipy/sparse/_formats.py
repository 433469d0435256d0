"""The formats, each as a matrix and as an array: from what they are made."""

from __future__ import annotations

import cupy
import numpy as np
import scipy.sparse
from cupy._core import _alignment

from cupyx.scipy.sparse import _base, _layouts
from gpuless import not_covered


class _made(_base._spbase):
    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=50):
        self.maxprint = maxprint
        if dtype is not None and np.dtype(dtype).char not in _base._DTYPES:
            raise ValueError(_base.BAD_DTYPE)
        source = None
        given = _base.issparse(arg1) or scipy.sparse.issparse(arg1)
        if self.format == "coo" and given and arg1.ndim == 2:
            source, copy = arg1.tocoo(), copy and arg1.format == "coo"  # of rows never a copy
            arg1 = cupy.asarray(source.data), tuple(map(cupy.asarray, (source.row, source.col)))
            shape = source.shape if shape is None else shape
        _check(self, arg1, shape)
        if _is_shape(arg1) and self.format != "dia":
            shape = None
        if self.format == "csc" and isinstance(arg1, tuple) and len(arg1) == 2:
            if isinstance(arg1[0], cupy.ndarray):  # by way of coordinates, which loses an order
                kind = coo_array if isinstance(self, _base.sparray) else coo_matrix
                arg1, shape = kind(arg1, shape=shape, dtype=dtype), None
        if self.format == "dia" and scipy.sparse.issparse(arg1):
            shape = dtype = None  # it has both
        elif self.format == "dia":
            data, offsets = arg1
            arg1 = cupy.atleast_2d(cupy.asarray(data)), cupy.atleast_1d(cupy.asarray(offsets))
        given = _parts(arg1, self.format)
        if given is not None and dtype is None and given[0].dtype.char not in _base._DTYPES:
            raise ValueError(_base.BAD_DTYPE)
        make = getattr(scipy.sparse, type(self).__name__)
        if shape is not None:
            shape = tuple(int(n) if isinstance(n, cupy.ndarray) else n for n in shape)
        plain = _plain(arg1.asformat(self.format) if _base.issparse(arg1) else arg1)
        if isinstance(arg1, tuple) and len(arg1) == 3 and len(plain[2]):
            used = max(int(plain[2][-1]), 0)  # the shape is that of what the pointers reach
            plain = (plain[0][:used], plain[1][:used], plain[2]) if used < len(plain[1]) else plain
        found = make(plain, shape=shape, dtype=dtype, copy=False)
        if found.ndim != 2:
            raise not_covered("cupyx.scipy.sparse of one dimension")
        if self.format == "coo" and isinstance(self, _base.sparray):
            if isinstance(arg1, cupy.ndarray):  # places as `nonzero` gives them
                self.row, self.col = (p.copy() if copy else p for p in arg1.nonzero())
        if found.dtype.char not in _base._DTYPES:
            raise ValueError(_base.BAD_DTYPE)
        if not copy and given is not None:  # those arrays themselves, where they are as SciPy's
            for name, array in zip(_base.PARTS[self.format], given, strict=True):
                part = getattr(found, name)
                if array.dtype == part.dtype:  # CuPy, too, leaves off what indptr does not reach
                    whole = len(array) == len(part)
                    object.__setattr__(self, name, array if whole else array[: len(part)])
        for name in _base.PARTS[self.format]:
            if name not in vars(self):
                self._hold_part(name, getattr(found, name))
        self._shape = tuple(int(n) for n in found.shape)
        if source is not None:
            self.has_canonical_format = source.has_canonical_format
        elif self.format == "coo" and not (isinstance(arg1, tuple) and len(found.data)):
            self.has_canonical_format = bool(found.has_canonical_format)


def _parts(arg1, form: str):
    """The device arrays that ``arg1`` hands over, in the order of the format's parts, or None."""
    if _base.issparse(arg1) and arg1.format == form:
        return [getattr(arg1, name) for name in _base.PARTS[form]]
    if not isinstance(arg1, tuple) or not all(isinstance(one, cupy.ndarray) for one in arg1[:1]):
        return None
    if form == "coo" and len(arg1) == 2 and isinstance(arg1[1], (tuple, list, cupy.ndarray)):
        return [arg1[0], *arg1[1]]
    return list(arg1) if len(arg1) == len(_base.PARTS[form]) and form != "coo" else None


def _plain(value):
    if _base.issparse(value):
        return value._here()
    if isinstance(value, cupy.ndarray):
        _alignment.check(value)
        return np.atleast_2d(value._host()) if value.ndim < 2 else value._host()
    if isinstance(value, (tuple, list)):
        return type(value)(
            one._host() if isinstance(one, cupy.ndarray) else _plain(one) for one in value
        )
    return value


def _is_shape(value) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(np.ndim(n) == 0 and int(n) == n for n in value if not isinstance(n, tuple))
        and not any(isinstance(n, (tuple, list, cupy.ndarray)) for n in value)
    )


def _check(self, arg1, shape) -> None:
    """CuPy's refusals."""
    form = self.format
    if form == "dia" and _base.issparse(arg1):
        raise ValueError("unrecognized form for dia_matrix constructor")
    if _base.issparse(arg1) or scipy.sparse.issparse(arg1):
        return
    if form == "dia":
        if not isinstance(arg1, tuple):
            raise ValueError("unrecognized form for dia_matrix constructor")
        if shape is None:
            raise ValueError("expected a shape argument")
        return
    wrong = TypeError("invalid input format") if form == "coo" else ValueError(
        "Unsupported initializer format"
    )  # fmt: skip
    if isinstance(arg1, cupy.ndarray):
        if arg1.ndim > 2:
            kind = TypeError if form == "coo" else ValueError
            raise kind("expected dimension <= 2 array or matrix")
        if arg1.ndim == 0 and isinstance(self, _base.sparray):
            kind = ValueError if form == "csc" else TypeError
            raise kind(f"{type(self).__name__} does not support scalar (0-D) input")
        if arg1.ndim == 1 and isinstance(self, _base.sparray):
            if form == "csc":
                raise ValueError(f"{type(self).__name__} does not support 1D input")
            raise not_covered("cupyx.scipy.sparse of one dimension")
        if form != "coo" and shape and arg1.ndim == 2 and tuple(shape) != arg1.shape:
            raise ValueError(f"an array of shape {arg1.shape} makes no matrix of {tuple(shape)}")
        return
    if not isinstance(arg1, tuple):
        raise wrong
    if _is_shape(arg1):
        if min(arg1) < 0:
            raise ValueError("'shape' elements cannot be negative")
        return
    if len(arg1) == 2:
        _check_coordinates(*arg1, shape)
    elif len(arg1) == 3 and form != "coo":
        if not all(isinstance(one, cupy.ndarray) and one.ndim == 1 for one in arg1):
            raise ValueError("data, indices, and indptr must be 1-D cupy arrays")
        if shape is not None and len(shape) != 2:
            raise ValueError(f"shape must be a 2-tuple, not {shape}")
        if len(arg1[0]) != len(arg1[1]):
            raise ValueError("indices and data should have the same size")
        major = None if shape is None else shape[1 if form == "csc" else 0]
        if major is not None and len(arg1[2]) != major + 1:
            raise ValueError(f"index pointer size ({len(arg1[2])}) should be ({major + 1})")
    else:
        raise wrong


def _check_coordinates(data, coords, shape) -> None:
    if isinstance(coords, cupy.ndarray) and coords.ndim != 2:
        raise TypeError("invalid input format")
    try:
        arrays = (data, *coords)
    except TypeError:
        raise TypeError("invalid input format") from None
    if len(arrays) == 2:
        raise not_covered("cupyx.scipy.sparse of one dimension")
    if len(arrays) != 3:
        raise ValueError("invalid number of coordinate arrays")
    if not all(isinstance(one, cupy.ndarray) and one.ndim == 1 for one in arrays):
        raise ValueError("row, column, and data arrays must be 1-D")
    if len({len(one) for one in arrays}) > 1:
        raise ValueError("row, column, and data array must all be the same length")
    if shape is None and not len(data):
        raise ValueError("cannot infer dimensions from zero sized index arrays")
    if len(data) and shape is not None:
        for name, array, size in zip(("row", "column"), arrays[1:], shape, strict=True):
            if int(array.max()) >= size:
                raise ValueError(f"{name} index exceeds matrix dimensions")
    if len(data):
        for name, array in zip(("row", "column"), arrays[1:], strict=True):
            if int(array.min()) < 0:
                raise ValueError(f"negative {name} index found")


class csr_matrix(_base.spmatrix, _layouts.compressed, _made):
    """A matrix by rows: ``csr_matrix(a)`` of a device array or another matrix, ``(shape)``,
    ``(data, (row, col))`` or ``(data, indices, indptr)``. Errors as CuPy's.
    """

    format = "csr"


class csc_matrix(_base.spmatrix, _layouts.compressed, _made):
    """A matrix by columns, made of what ``csr_matrix`` is made of."""

    format = "csc"


class coo_matrix(_base.spmatrix, _layouts.coordinates, _made):
    """A matrix as a list of coordinates and values, made of an array, a matrix, a shape or
    ``(data, (row, col))``.
    """

    format = "coo"


class dia_matrix(_base.spmatrix, _made):
    """A matrix by diagonals, ``(data, offsets)`` with a ``shape``, or SciPy's; of no other matrix
    of the device's, as in CuPy."""

    format = "dia"

    def todia(self, copy=False):
        return self.copy() if copy else self


class csr_array(_layouts.compressed, _made, _base.sparray):
    """As ``csr_matrix``; ``*`` is by element."""

    format = "csr"


class csc_array(_layouts.compressed, _made, _base.sparray):
    """As ``csc_matrix``; ``*`` is by element."""

    format = "csc"


class coo_array(_layouts.coordinates, _made, _base.sparray):
    """As ``coo_matrix``; ``*`` is by element."""

    format = "coo"


class dia_array(_made, _base.sparray):
    """As ``dia_matrix``; ``*`` is by element."""

    format = "dia"
    todia = dia_matrix.todia
