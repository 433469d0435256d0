"""What CuPy's kernels make of one or two sparse matrices by elements: which are stored, and where.

SciPy stores others: it drops what becomes 0, or keeps what CuPy drops.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse


def rows_of(a) -> np.ndarray:
    """The row (of columns, the column) of every element of SciPy's compressed matrix ``a``."""
    return np.repeat(np.arange(len(a.indptr) - 1), np.diff(a.indptr))


def tidy(a):
    """SciPy's matrix in rows, sorted and without duplicates, as CuPy puts it first; or in columns
    where it is so already."""
    a = a if a.format in ("csr", "csc") else a.tocsr()
    a.sum_duplicates()  # in a copy, see _spbase._here
    return a


def common_shape(a, b) -> tuple[int, int]:
    """The shape in which a single row or column is repeated; ValueError where none fits."""
    refuse_empty(a, b)
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ValueError("inconsistent shape") from None


def refuse_empty(*matrices) -> None:
    """CuPy's kernels divide by the lengths."""
    if any(0 in one.shape for one in matrices):
        raise ZeroDivisionError("CuPy takes no sparse matrix without rows or columns here")


def _listed(a, shape: tuple[int, int]):
    """The places of the elements of ``a`` in ``shape``, counted by rows and in order, and them."""
    a = tidy(a.tocsr())
    m, n = shape
    row, column, data = rows_of(a), a.indices.astype(np.int64), a.data
    if a.shape[1] < n:
        row, data, column = row.repeat(n), data.repeat(n), np.tile(np.arange(n), len(row))
    if a.shape[0] < m:
        column, data, row = np.tile(column, m), np.tile(data, m), np.arange(m).repeat(len(row))
    return row * n + column, data


def _made(a, b, places: np.ndarray, data: np.ndarray, shape: tuple[int, int]):
    """A matrix in rows with these elements, or an array if ``a`` is one."""
    array = isinstance(a, scipy.sparse.sparray)
    make = scipy.sparse.csr_array if array else scipy.sparse.csr_matrix
    kind = np.promote_types(*(one.tocsr().indices.dtype for one in (a, b)))
    row, column = np.divmod(places, shape[1])
    pointers = np.searchsorted(row, np.arange(shape[0] + 1))
    return make((data, column.astype(kind), pointers.astype(kind)), shape=shape)


def either(a, b, operation, dtype=None):
    """``operation`` of the elements in all places where ``a`` or ``b`` has one, the other one's
    being 0; what comes out as 0 is not stored."""
    places, data = _union(a, b, operation, dtype, common_shape(a, b))
    return _made(a, b, places[data != 0], data[data != 0], common_shape(a, b))


def total(a, b, operation):
    """The sum or difference in all places where ``a`` or ``b`` has an element."""
    if a.shape != b.shape:
        raise ValueError("inconsistent shapes")
    if 0 in a.shape:
        return operation(a, b).tocsr()
    return _made(a, b, *_union(a, b, operation, None, a.shape), a.shape)


def _union(a, b, operation, dtype, shape: tuple[int, int]):
    (mine, left), (others, right) = _listed(a, shape), _listed(b, shape)
    both = np.sort(np.concatenate([mine, others]), kind="stable")  # of two in order that is quick
    places = both[np.r_[True, both[1:] != both[:-1]][: len(both)]]
    given = np.promote_types(left.dtype, right.dtype)
    one, other = np.zeros((2, len(places)), given)
    one[np.searchsorted(places, mine)] = left
    other[np.searchsorted(places, others)] = right
    with np.errstate(all="ignore"):
        return places, np.asarray(operation(one, other)).astype(dtype or given)


def product(a, b):
    """The products where both have an element, stored even where they are 0."""
    shape = common_shape(a, b)
    fewer = min(
        a, b, key=lambda one: one.nnz * (shape[0] // one.shape[0]) * (shape[1] // one.shape[1])
    )
    if not fewer.nnz and fewer.shape[0] < shape[0] and fewer.shape[1] == shape[1]:
        raise ZeroDivisionError("CuPy repeats no row that is without elements")
    (mine, left), (others, right) = _listed(a, shape), _listed(b, shape)
    places, at, where = np.intersect1d(mine, others, assume_unique=True, return_indices=True)
    with np.errstate(all="ignore"):
        return _made(a, b, places, times(left[at], right[where], np.multiply), shape)


def times(a, b, multiply):
    """``multiply(a, b)`` of arrays or SciPy's matrices; where one is complex and the other real,
    both parts by the real one, as C++ does it: an infinite part makes no NaN of the other."""
    complex_ = [one.dtype.kind == "c" for one in (a, b)]
    if complex_[0] == complex_[1]:
        return multiply(a, b)
    real, imag = (
        multiply(*(getattr(x, side) if c else x for x, c in zip((a, b), complex_, strict=True)))
        for side in ("real", "imag")
    )
    made = real.astype(np.result_type(a.dtype, b.dtype))
    if scipy.sparse.issparse(made):
        made.data.imag = imag.data
    else:
        made.imag = imag
    return made


def first_extreme(a, largest: bool) -> np.ndarray:
    """For every row of the tidy ``a`` (of columns, every column) the place that CuPy's kernel
    finds: that of the first largest element, if it is more than what it begins with, which is the
    first element of a full line and else the first place that stores none; 0 where one is NaN."""
    sign = 1 if largest else -1
    count, length = np.diff(a.indptr), a.shape[a.format == "csr"]
    line, data = rows_of(a), sign * a.data.astype(float)
    before = np.arange(len(a.indices)) - a.indptr[line]  # elements of its line before each
    found = np.bincount(line, a.indices == before, len(count)).astype(np.int64)
    begin = np.zeros(len(count))
    full = count == length
    found[full], begin[full] = 0, data[a.indptr[:-1][full]]
    best = begin.copy()
    np.fmax.at(best, line, data)
    hits = np.flatnonzero((data == best[line]) & (best > begin)[line])
    lines, at = np.unique(line[hits], return_index=True)
    found[lines] = a.indices[hits[at]]
    found[line[np.isnan(data)]] = 0
    return found


def place_of_extreme(a, largest: bool) -> int:
    """Where in all of ``a``, coordinates in order, CuPy finds the largest or smallest element."""
    at = int(a.data.argmax() if largest else a.data.argmin())
    best, size = a.data[at], int(np.prod(a.shape))
    place = int(a.row[at]) * a.shape[1] + int(a.col[at])
    if best > 0 if largest else best < 0:
        return place
    if a.nnz == size:
        return at
    places = a.row.astype(np.int64) * a.shape[1] + a.col
    gaps = np.flatnonzero(places != np.arange(len(places)))
    gap = int(gaps[0]) if len(gaps) else len(places)
    return min(gap, at) if best == 0 else gap


def set_in_disorder(a) -> None:
    """Let SciPy's ``a``, with duplicates or unsorted indices, set elements as CuPy does: where a
    place has several, the one in the place that their positions add up to."""

    def positions(i, j):
        major, minor = a._swap(a.shape)
        i, j = np.where(i < 0, i + major, i), np.where(j < 0, j + minor, j)
        there = rows_of(a) * minor + a.indices
        known, which = np.unique(there, return_inverse=True)
        sums = np.bincount(which, np.arange(len(there)), len(known)).astype(np.int64)
        wanted = i.astype(np.int64) * minor + j
        at = np.searchsorted(known, wanted)
        at[at == len(known)] = 0
        has = known[at] == wanted if len(known) else np.zeros(len(wanted), bool)
        return i, j, has, sums[at[has]]

    def prepared(i, j):
        return positions(*(np.array(one, ndmin=1).ravel() for one in (i, j)))

    def zero_many(i, j):
        *_, at = prepared(i, j)
        np.put(a.data, at, 0, mode="wrap")

    def set_many(i, j, x):
        i, j, has, at = prepared(i, j)
        x = np.broadcast_to(np.asarray(x, a.dtype).ravel(), i.shape)
        if at.size:
            np.put(a.data, at, x[has], mode="wrap")
        new = {(i, j): x for i, j, x in zip(i[~has], j[~has], x[~has], strict=True)}
        if not new:
            return
        text = f"Changing the sparsity structure of a {a.format}_matrix is expensive."
        warnings.warn(text, scipy.sparse.SparseEfficiencyWarning, stacklevel=6)
        lines = [
            list(zip(a.indices[p:q], a.data[p:q], strict=True))
            for p, q in zip(a.indptr[:-1], a.indptr[1:], strict=True)
        ]
        for line, place in sorted(new):  # before the first that is not less, as a merge does
            row = lines[line]
            start = next((k for k, (one, _) in enumerate(row) if one >= place), len(row))
            row.insert(start, (place, new[line, place]))
        flat = [pair for row in lines for pair in row]
        a.data = np.array([x for _, x in flat], a.dtype)
        a.indices = np.array([j for j, _ in flat], a.indices.dtype)
        a.indptr = np.r_[0, np.cumsum([len(row) for row in lines])].astype(a.indptr.dtype)

    a._set_many, a._zero_many = set_many, zero_many
