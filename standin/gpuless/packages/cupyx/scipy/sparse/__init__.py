"""``cupyx.scipy.sparse`` on the CPU: CuPy's matrices, SciPy's arithmetic."""

from __future__ import annotations

import warnings as _warnings

import cupy as _cupy
import numpy as _np
import scipy.sparse as _library
from cupy._core._dispatch import named as _named
from cupy._core._refused import checked as _checked

from cupyx.scipy.sparse import _base
from cupyx.scipy.sparse._base import (  # noqa: F401
    SparseEfficiencyWarning,
    SparseWarning,
    _spbase,
    issparse,
    isspmatrix,
    sparray,
    spmatrix,
)
from cupyx.scipy.sparse._formats import (  # noqa: F401
    coo_array,
    coo_matrix,
    csc_array,
    csc_matrix,
    csr_array,
    csr_matrix,
    dia_array,
    dia_matrix,
)
from gpuless import missing as _missing

_OF_MATRICES = ("find", "tril", "triu")


def _face(name: str):
    """SciPy's function of that name, which takes and gives what lies on the device."""
    function = getattr(_library, name)

    def call(*args, **kwargs):
        if name in _OF_MATRICES:
            given = args[0] if args else kwargs.get("A")
            if not (isinstance(given, _cupy.ndarray) or issparse(given)):
                raise TypeError("A must be cupy.ndarray or cupyx.scipy.sparse")
        form = kwargs.get("format")
        if form is not None and form not in _base.PARTS:
            raise NotImplementedError(f"no {name} as {form!r}")
        if name in ("diags", "diags_array") and args:
            args = (_placed(args[0]), *args[1:])
        given = None if name == "eye_array" else kwargs.pop("format", None)
        with _warnings.catch_warnings(action="ignore", category=FutureWarning):  # of integers
            found = _base.on_device(function(*_base.on_host(args), **_base.on_host(kwargs)))
        if name in ("diags_array", "eye_array") and form in (None, "dia"):
            return found.tocsr()
        return found.asformat(given) if given is not None else found

    return _named(call, name, "of SciPy, on the device")


def _placed(value):
    """An array of the host's, or such in a list, on the device."""
    if isinstance(value, (list, tuple)):
        return [_placed(one) for one in value]
    return _cupy.asarray(value) if isinstance(value, _np.ndarray) else value


for _name in """diags block_diag diags_array eye_array find tril
triu""".split():
    globals()[_name] = _face(_name)


def spdiags(data, diags, m, n, format=None):
    """A matrix by its diagonals: as such in the memory of ``data``, which may change afterwards."""
    return dia_matrix((data, diags), shape=(m, n)).asformat(format)


def eye(m, n=None, k=0, dtype="d", format=None):
    """Ones on the diagonal ``k`` of a matrix of ``m`` rows and ``n``, or ``m``, columns."""
    m, n = int(m), int(m if n is None else n)
    return spdiags(_cupy.ones((1, max(0, min(m + k, n))), dtype), k, m, n, format)


def identity(n, dtype="d", format=None):
    """Ones on the diagonal of ``n`` rows and columns."""
    return eye(n, n, dtype=dtype, format=format)


def kron(A, B, format=None):
    """The Kronecker product, as coordinates: of no blocks, which would also hold zeros."""
    A, B = (one if issparse(one) else _coordinates(A, B)(one) for one in (A, B))
    made = _library.kron(_base.on_host(A), _base.on_host(B), "coo")
    return _base.on_device(made).asformat(format)


def _coordinates(*given) -> type:
    """Of matrices; of arrays where an array is among what is given."""
    return coo_array if any(isinstance(one, sparray) for one in given) else coo_matrix


def kronsum(A, B, format=None):
    """``kron(eye(n), A) + kron(B, eye(m))`` of square ``A`` of ``m`` rows and ``B`` of ``n``."""
    _library.kronsum(_base.on_host(A), _base.on_host(B), format)  # its errors
    A, B = map(_coordinates(A, B), (A, B))
    dtype = _upcast(A.dtype, B.dtype)
    parts = (
        kron(eye(B.shape[0], dtype=dtype), A, format),
        kron(B, eye(A.shape[0], dtype=dtype), format),
    )
    return (parts[0] + parts[1]).asformat(format)


def hstack(blocks, format=None, dtype=None):
    """The matrices side by side."""
    return bmat([list(blocks)], format, dtype)


def vstack(blocks, format=None, dtype=None):
    """The matrices one below the other."""
    return bmat([[one] for one in blocks], format, dtype)


def bmat(blocks, format=None, dtype=None):
    """A matrix of rows of matrices, of which None stands for zeros: of one column of matrices by
    rows such a one, of one row of some by columns such a one, of others coordinates, one block
    after the other, unless a format is asked for."""
    grid = [[row[k] for k in range(len(blocks[0]))] for row in blocks]
    given = [one for row in grid for one in row if one is not None]
    if not grid:
        raise IndexError("no blocks")
    if not given:
        return coo_matrix((0, 0), dtype=dtype)
    forms = {getattr(one, "format", None) for one in given}
    by_rows = len(grid[0]) == 1 and format in (None, "csr") and forms == {"csr"}
    by_columns = len(grid) == 1 and format in (None, "csc") and forms == {"csc"}
    if by_rows or by_columns:
        made = _library.bmat(_base.on_host(grid), format="csr" if by_rows else "csc")
        return _base.on_device(made).astype(made.dtype if dtype is None else dtype, copy=False)
    for given_row, row in zip(blocks, grid, strict=True):
        for k, one in enumerate(row):
            if one is not None:  # CuPy, too, leaves them in the lists that are given
                given_row[k] = row[k] = coo_matrix(one)
    _library.bmat(_base.on_host(grid))  # its errors
    heights = [next((one.shape[0] for one in row if one is not None), 0) for row in grid]
    widths = [
        next((row[k].shape[1] for row in grid if row[k] is not None), 0)
        for k in range(len(grid[0]))
    ]
    parts = []
    for i, row in enumerate(grid):
        for k, one in enumerate(row):
            if one is not None:
                parts.append((one.data, one.row + sum(heights[:i]), one.col + sum(widths[:k])))
    dtype = _upcast(*(part[0].dtype for part in parts)) if dtype is None else dtype
    data, rows, columns = map(_cupy.concatenate, zip(*parts, strict=True))
    shape = (sum(heights), sum(widths))
    made = _coordinates(*given)((data, (rows, columns)), shape=shape, dtype=dtype)
    return made.asformat(format)


def _upcast(*dtypes) -> _np.dtype:
    """The type of numbers of what is joined: of booleans, too, float32."""
    together = _np.result_type(*dtypes)
    return _np.dtype(next(one for one in "fdFD" if _np.can_cast(together, one)))


def block_array(blocks, *, format=None, dtype=None):
    """As ``bmat``; an array."""
    made = bmat(blocks, format, dtype)
    if isinstance(made, sparray):
        return made
    return csr_array(made).asformat(format or made.format)


def random(
    m, n, density=0.01, format="coo", dtype=None, random_state=None, data_rvs=None
):  # fmt: skip
    """A matrix of shape ``(m, n)`` with ``int(density * m * n)`` elements at random places.

    ``dtype`` float64 (the default) or float32, ``random_state`` of ``cupy.random`` or a seed,
    ``data_rvs(k)`` the values of ``k`` elements; ValueError for a density outside 0 to 1.
    """
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    dtype = _np.dtype(dtype)
    if dtype.char not in "fd":
        raise NotImplementedError(f"type {dtype} not supported")
    if random_state is None:
        random_state = _cupy.random
    elif isinstance(random_state, (int, _np.integer)):
        random_state = _cupy.random.RandomState(random_state)
    count = int(density * m * n)
    places = random_state.choice(m * n, size=count, replace=False)
    values = (data_rvs or random_state.rand)(count).astype(dtype)
    columns = places // m
    found = coo_matrix((values, (places - columns * m, columns)), shape=(m, n))
    return found.asformat(format)


def rand(m, n, density=0.01, format="coo", dtype=None, random_state=None):
    """As ``random``, with values between 0 and 1."""
    return random(m, n, density, format, dtype, random_state)


def _asks(name: str):
    def ask(x) -> bool:
        return isinstance(x, globals()[f"{name}_matrix"])

    return _named(ask, f"isspmatrix_{name}", "for matrices of the device's")


for _name in _base.PARTS:
    globals()[f"isspmatrix_{_name}"] = _asks(_name)

globals().update(_checked("sparse", globals(), _library))


def __getattr__(name: str):
    if name in ("linalg", "csgraph"):  # which CuPy does not import with this module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: import it first")
    raise _missing(__name__, name)
