"""``cupyx.scipy.sparse`` on the CPU: CuPy's matrices, SciPy's arithmetic."""

from __future__ import annotations

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
        found = _base.on_device(function(*_base.on_host(args), **_base.on_host(kwargs)))
        if name in ("diags_array", "eye_array") and kwargs.get("format") is None:
            return found.tocsr()
        return found

    return _named(call, name, "of SciPy, on the device")


for _name in """eye identity spdiags diags block_diag diags_array eye_array find tril
triu""".split():
    globals()[_name] = _face(_name)


def kron(A, B, format=None):
    """The Kronecker product, as coordinates: of no blocks, which would also hold zeros."""
    made = _library.kron(_base.on_host(A), _base.on_host(B), "coo")
    return _base.on_device(made).asformat(format)


def kronsum(A, B, format=None):
    """``kron(eye(n), A) + kron(B, eye(m))`` of square ``A`` of ``m`` rows and ``B`` of ``n``."""
    _library.kronsum(_base.on_host(A), _base.on_host(B), format)  # its errors
    A, B = (one if issparse(one) else coo_matrix(one) for one in (A, B))
    dtype = _np.promote_types(A.dtype, B.dtype)
    parts = (
        kron(eye(B.shape[0], dtype=dtype), A, format),  # noqa: F821  (made above)
        kron(B, eye(A.shape[0], dtype=dtype), format),  # noqa: F821
    )
    return (parts[0] + parts[1]).asformat(format)


def _stacked(name: str, rows, format, dtype):
    """SciPy's; of one column of matrices by rows, or one row of some by columns, as they are, of
    others coordinates, unless a format is asked for."""
    blocks = [row if isinstance(row, (list, tuple)) else [row] for row in rows]
    given = blocks[0] if name == "hstack" else rows
    found = getattr(_library, name)(_base.on_host(given), format=format, dtype=dtype)
    if format is None:
        forms = {getattr(one, "format", None) for row in blocks for one in row if one is not None}
        by_rows = len(blocks[0]) == 1 and forms == {"csr"}
        by_columns = len(blocks) == 1 and forms == {"csc"}
        found = found.asformat("csr" if by_rows else "csc" if by_columns else "coo")
    return _base.on_device(found)


def hstack(blocks, format=None, dtype=None):
    """The matrices side by side."""
    return _stacked("hstack", [list(blocks)], format, dtype)


def vstack(blocks, format=None, dtype=None):
    """The matrices one below the other."""
    return _stacked("vstack", list(blocks), format, dtype)


def bmat(blocks, format=None, dtype=None):
    """A matrix of rows of matrices, of which None stands for zeros."""
    return _stacked("bmat", blocks, format, dtype)


def block_array(blocks, *, format=None, dtype=None):
    """As ``bmat``; an array."""
    return _stacked("block_array", blocks, format, dtype)


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
