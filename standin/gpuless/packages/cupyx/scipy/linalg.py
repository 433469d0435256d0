"""``cupyx.scipy.linalg`` on the CPU: SciPy's functions, but of one matrix where CuPy takes one."""

from __future__ import annotations

import cmath as _cmath
import functools as _functools
import inspect as _inspect
import operator as _operator
import warnings as _warnings

import numpy as _np
from cupy._core import _routines, _ufuncs
from cupy._core._creation import asarray as _asarray
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._ndarray import place as _place
from cupy._core._refused import checked as _checked
from cupy._core._run import routine as _routine
from cupy.linalg import LinAlgError as _LinAlgError
from scipy import linalg as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing
from gpuless import not_covered as _not_covered

_served = _serve(_library, arrays=True)

# How many dimensions their arrays have; SciPy takes stacks of them.
_FLAT = "circulant hankel toeplitz".split()  # all elements are one row
_ROWS = "companion convolution_matrix fiedler fiedler_companion leslie".split()
_MATRICES = "block_diag expm khatri_rao lu lu_factor".split()


def _plain(name: str):
    """The function of that name, of rows or matrices but of no stacks of them."""
    function, takes = _served[name], _inspect.signature(getattr(_library, name))
    if name == "expm":
        takes = takes.replace(parameters=[v.replace(name="a") for v in takes.parameters.values()])

    @_functools.wraps(function)
    def call(*args, **kwargs):
        takes.bind(*args, **kwargs)
        arrays = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, _ndarray)]
        if not arrays and name != "fiedler_companion" and name not in _FLAT:
            return function(*args, **kwargs)  # which refuses
        if name == "khatri_rao" and len(arrays) < 2:
            raise TypeError("khatri_rao() takes two device arrays")
        if name in _FLAT:
            args = tuple(arg.ravel() if isinstance(arg, _ndarray) else arg for arg in args)
            kwargs = {k: v.ravel() if isinstance(v, _ndarray) else v for k, v in kwargs.items()}
        elif name in _ROWS and any(array.ndim != 1 for array in arrays):
            raise ValueError(f"{name} takes arrays of one dimension")
        elif name in _MATRICES and any(array.ndim > 2 for array in arrays):
            raise _LinAlgError(f"{name} takes matrices, and no stacks of them")
        if name == "fiedler_companion" and arrays[0].size < 3:
            (a,) = arrays
            return a[:0].copy() if a.size < 2 else (-a[1] / a[0])[None, None]
        if name in ("expm", "fiedler_companion") and arrays[0].size:
            if arrays[0].dtype.kind in "biu":
                args, kwargs = (arrays[0].astype(float),), {}
        if name in ("hankel", "toeplitz") and len(arrays) > 1 and not arrays[1].size:
            raise _not_covered(f"cupyx.scipy.linalg.{name} with an empty r")
        if name == "khatri_rao" and all(array.shape[1] == 0 for array in arrays):
            raise ValueError("cannot reshape an array without columns")
        if name == "expm" and arrays[0].ndim and not arrays[0].size:
            return _place(_np.zeros((0, 0), arrays[0].dtype))
        if name == "expm" and (found := _beyond(*arrays)) is not None:
            return found
        if name == "expm" and arrays[0].dtype.char == "e":
            raise TypeError("array type float16 is unsupported in linalg")
        if name in ("lu", "lu_factor"):
            args, kwargs, overwrites = _in_place(function, *args, **kwargs)
            _check_type(arrays[0])
            _filled(*arrays)
            if arrays[0].ndim != 2:
                raise _LinAlgError(f"{name} takes a matrix")
        found = function(*args, **kwargs)
        if name == "lu":
            _as_factored(arrays[0], overwrites, found[-1])
            found = (found[0].real.copy(), *found[1:]) if len(found) == 3 else found
        if name == "khatri_rao":
            found = found.astype(_np.result_type(*arrays), "C", copy=False)
        if name == "fiedler" and arrays[0].dtype.kind == "c" and arrays[0].size > 1:
            found = found.astype(arrays[0].dtype)
        if name in _FLAT and arrays and not arrays[0].size:  # of nothing, CuPy's have a column
            found = found.reshape(0, max(arrays[-1].size, 1))
        return found

    return call


def _beyond(a):
    """NaN everywhere where one is; an OverflowError where the mean of the diagonal has no
    exponential."""
    if a.ndim != 2:
        raise _LinAlgError("expm takes a matrix")
    mean = complex(a.diagonal().sum().item()) / len(a)
    if abs(mean) < _np.inf:
        _cmath.exp(mean)
    nothing = a.dtype.kind in "fc" and bool(_ufuncs.isnan(a).any())
    return _place(_np.full(a.shape, _np.nan, a.dtype)) if nothing else None


def _in_place(function, *args, **kwargs) -> tuple[tuple, dict, bool]:
    """The arguments of ``lu`` or ``lu_factor``, and whether these overwrite ``a``: what lies in
    Fortran's order. SciPy's ``lu`` does not, since in CuPy its results are other arrays."""
    name = function.__name__
    given = _inspect.signature(getattr(_library, name)).bind(*args, **kwargs)
    overwrites = given.arguments.pop("overwrite_a", False)
    overwrites = overwrites and given.arguments["a"].flags.f_contiguous
    if name == "lu_factor":
        given.arguments["overwrite_a"] = overwrites
    return given.args, given.kwargs, overwrites


def _as_factored(a, overwrites: bool, upper) -> None:
    """What CuPy's ``lu`` does beside its results."""
    if overwrites:
        a[...] = _served["lu_factor"](a)[0]
    elif not upper.diagonal().all():
        text = "A number of the diagonal is exactly zero. Singular matrix."
        _warnings.warn(text, RuntimeWarning, stacklevel=4)


def _filled(*arrays) -> None:
    if not all(array.size for array in arrays):
        raise ValueError("NVIDIA's library refuses matrices without elements")


def _check_type(a) -> None:
    if a.dtype.char not in "fdFD":
        raise NotImplementedError("Only float32, float64, complex64 and complex128 are supported.")


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """As SciPy's, of one matrix, in its type."""
    lu, piv = lu_and_piv
    for array in (lu, piv, b):
        if not isinstance(array, _ndarray):
            raise _unsupported(array)
    if lu.ndim != 2 or lu.shape[0] != lu.shape[1]:
        raise _LinAlgError("lu has to be one square matrix")
    _check_type(lu)
    if lu.shape[0] != b.shape[0]:
        raise ValueError("incompatible dimensions.")
    _filled(lu, b)
    solved = _routine(_solved, lu, piv, b, trans, check_finite, new_order="S")
    return _overwritten(b, solved) if overwrite_b else solved


def _overwritten(b, solved):
    """What was ``solved``, in ``b`` where CuPy solves in its memory."""
    if b.dtype != solved.dtype or not b.flags.f_contiguous:
        return solved
    b[...] = solved
    return b


def _solved(lu, piv, b, trans, check_finite):
    solved = _library.lu_solve((lu, piv), b.astype(lu.dtype), trans, check_finite=check_finite)
    return _np.asfortranarray(solved.astype(lu.dtype, copy=False))


def solve_triangular(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=False
):
    """As SciPy's, in the type of ``a``. ``b`` has the stack's shape: of one dimension less than
    ``a``, it has one right side for each matrix."""
    for array in (a, b):
        if not isinstance(array, _ndarray):
            raise _unsupported(array)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected one square matrix or a batch of square matrices")
    if a.shape[:-2] != b.shape[: a.ndim - 2]:
        raise ValueError("incompatible batch count")
    if b.ndim not in (a.ndim - 1, a.ndim) or a.shape[-2] != b.shape[a.ndim - 2]:
        raise ValueError("incompatible dimensions")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise TypeError("trans has to be 0, 1, 2, 'N', 'T' or 'C'")
    _filled(a, b)
    unit_diagonal = bool(unit_diagonal)
    how = {"trans": trans, "lower": lower, "unit_diagonal": unit_diagonal}
    solved = _routine(_triangular, a, b, new_order="S", check_finite=check_finite, **how)
    if not overwrite_b or a.ndim == 2:
        return _overwritten(b, solved) if overwrite_b else solved
    columns = b.shape[-1] if b.ndim == a.ndim else 1
    turned = b.reshape(-1, a.shape[-1], columns).transpose(0, 2, 1)
    there = turned.flags.c_contiguous and turned.data.ptr == b.data.ptr
    if there and b.dtype == solved.dtype:  # CuPy copies a stack that lies otherwise
        b[...] = solved
        return b.reshape(b.shape)
    return solved


def _triangular(a, b, **how):
    dtype = a.dtype if a.dtype.char in "fd" else _np.promote_types(a.dtype, "f")
    a, wide = a.astype(dtype), b.astype(dtype)
    if a.ndim == 2:
        return _np.asfortranarray(_library.solve_triangular(a, wide, **how))
    columns = b.shape[-1] if b.ndim == a.ndim else 1
    a = a.reshape(-1, *a.shape[-2:])
    sides = wide.reshape(len(a), a.shape[-1], columns)
    solved = [_library.solve_triangular(*pair, **how).T for pair in zip(a, sides, strict=True)]
    return _np.array(solved, dtype).transpose(0, 2, 1).reshape(b.shape)


def kron(a, b):
    """The products of two matrices' elements, in blocks."""
    text = "`cupyx.scipy.linalg.kron` is deprecated. Use `cupy.kron` instead."
    _warnings.warn(text, DeprecationWarning, stacklevel=2)
    blocks = _routines.outer(a, b).reshape(a.shape + b.shape)
    for _ in range(2):
        blocks = _routines.concatenate(blocks, axis=1)
    return blocks


def hadamard(n, dtype=int):
    """SciPy's, of a number that is an integer: it is the length of an array."""
    if n >= 1 and 2 ** (int(n).bit_length() - 1) == n:
        _operator.index(n)
    return _served["hadamard"](n, float if dtype is None else dtype)


def dft(n, scale=None):
    """SciPy's matrix of the Fourier transform, of at least one row."""
    if n < 1:
        raise ZeroDivisionError("complex division by zero")
    return _served["dft"](n, scale)


def hilbert(n):
    """SciPy's, and of no rows one column."""
    return _served["hilbert"](n) if n > 0 else _place(_np.empty((0, 1)))


def bandwidth(a):
    """How many diagonals below and above have another number than 0; of a host's array, too."""
    a = _asarray(a)
    if not a.size:
        return 0, 0
    if a.dtype.kind == "c":
        raise TypeError("CuPy's kernel for bandwidth() takes no complex numbers")
    if a.ndim != 2:
        raise _LinAlgError("bandwidth takes a matrix")
    rows, columns = (found.get() for found in a.nonzero())
    far = (rows - columns).tolist() + [0]
    return max(far), -min(far)


globals().update({_name: _face for _name, _face in _served.items() if _name not in globals()})
for _name in set(_FLAT + _ROWS + _MATRICES) & _served.keys():
    globals()[_name] = _plain(_name)

globals().update(_checked("scipy.linalg", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
