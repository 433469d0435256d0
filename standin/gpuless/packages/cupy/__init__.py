"""``cupy`` as the CPU stand-in serves it: CuPy's names and rules, NumPy's arithmetic.

``is_standin`` is True, ``is_available()`` False, and ``__version__`` ends in ``+standin``.
What is covered and what is not: ``gpuless.COVERED`` and ``NOT_COVERED``.
"""

# ruff: noqa: F401, I001  (a package is what it imports)
# fmt: off

from __future__ import annotations

import numpy as _np
from cupy import _core, cuda, exceptions, fft, lib, linalg, random, testing
from cupy._util import clear_memo, memoize
from cupy._core._creation import (
    arange, array, asanyarray, asarray, ascontiguousarray, asfortranarray, asnumpy, bartlett,
    blackman, copy, diag_indices, empty, empty_like, eye, from_dlpack, frombuffer, fromfile,
    fromfunction, fromiter, fromstring, full, full_like, genfromtxt, hamming, hanning, identity,
    indices, kaiser, linspace, load, loadtxt, logspace, mask_indices, meshgrid, mgrid, ogrid, ones,
    ones_like, ravel_multi_index, save, savetxt, savez, savez_compressed, tri, tril_indices,
    triu_indices, unravel_index, zeros, zeros_like,
)
from cupy._core._functions import (
    allclose, apply_along_axis, apply_over_axes, asarray_chkfinite, asfarray, astype, broadcast,
    c_, copyto, fill_diagonal, isclose, piecewise, place, put, put_along_axis, putmask, r_,
    require, select,
)
from cupy._core._routines import (
    all, alltrue, amax, amin, angle, any, append, argmax, argmin, argpartition,
    argsort, argwhere, around, array2string, array_equal, array_equiv, array_repr, array_split,
    array_str, atleast_1d, atleast_2d, atleast_3d, average, bincount, broadcast_arrays,
    broadcast_shapes, broadcast_to, byte_bounds, can_cast, choose, clip, column_stack,
    common_type, compress, concat, concatenate, convolve, corrcoef, correlate, count_nonzero,
    cov, cross, cumprod, cumproduct, cumsum, cumulative_prod, cumulative_sum, delete, diag,
    diag_indices_from, diagflat, diagonal, diff, digitize, dot, dsplit, dstack, ediff1d, einsum,
    expand_dims, extract, flatnonzero, flip, fliplr, flipud, gradient, histogram,
    histogram2d, histogramdd, hsplit, hstack, imag, in1d, inner, interp, intersect1d,
    iscomplex, iscomplexobj, isfortran, isin, isneginf, isposinf, isreal, isrealobj,
    isscalar, ix_, kron, lexsort, matmul, matrix_transpose, max, may_share_memory, mean, median,
    min, min_scalar_type, moveaxis, msort, nan_to_num, nanargmax, nanargmin, nancumprod,
    nancumsum, nanmax, nanmean, nanmedian, nanmin, nanprod, nanstd, nansum, nanvar, ndim,
    nonzero, outer, packbits, pad, partition, percentile, permute_dims, prod, product,
    promote_types, ptp, quantile, ravel, real, real_if_close, repeat, reshape, resize,
    result_type, roll, rollaxis, rot90, round, round_, row_stack, searchsorted, setdiff1d,
    setxor1d, shape, shares_memory, size, sometrue, sort, sort_complex, split, squeeze,
    stack, std, sum, swapaxes, take, take_along_axis, tensordot, tile, trace, transpose,
    trapezoid, trapz, tril, tril_indices_from, trim_zeros, triu, triu_indices_from, typename,
    union1d, unique, unique_all, unique_counts, unique_inverse, unique_values, unpackbits,
    unwrap, vander, var, vdot, vsplit, vstack, where,
)
from cupy._core._ufuncs import (
    abs, absolute, acos, acosh, add, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh,
    asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_count, bitwise_invert,
    bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor, cbrt, ceil,
    conj, conjugate, copysign, cos, cosh, deg2rad, degrees, divide, divmod, equal, exp, exp2,
    expm1, fabs, fix, float_power, floor, floor_divide, fmax, fmin, fmod, frexp, gcd, greater,
    greater_equal, heaviside, hypot, i0, invert, isfinite, isinf, isnan, lcm, ldexp, left_shift,
    less, less_equal, log, log10, log1p, log2, logaddexp, logaddexp2, logical_and, logical_not,
    logical_or, logical_xor, maximum, minimum, mod, modf, multiply, negative, nextafter,
    not_equal, positive, pow, power, rad2deg, radians, reciprocal, remainder, right_shift, rint,
    sign, signbit, sin, sinc, sinh, sqrt, square, subtract, tan, tanh, true_divide, trunc,
)
from cupy._core._indexing import flatiter
from cupy._core._ndarray import ndarray
from cupy._core._ufunc import ufunc
from cupy.cuda.memory import get_default_memory_pool, get_default_pinned_memory_pool
from cupy.exceptions import (
    AxisError, ComplexWarning, ModuleDeprecationWarning, RankWarning, TooHardError,
    VisibleDeprecationWarning,
)
from gpuless import missing as _missing
# NumPy's own in CuPy too: types, constants and helpers.
from numpy import (
    base_repr, binary_repr, bool, bool_, byte, cdouble, complex128, complex64, complexfloating,
    csingle, double, dtype, e, euler_gamma, finfo, float16, float32, float64, floating,
    format_float_positional, format_float_scientific, generic, get_printoptions, half, iinfo,
    index_exp, inexact, inf, int16, int32, int64, int8, int_, intc, integer, intp, isdtype,
    issubdtype, iterable, long, longlong, mintypecode, nan, ndindex, newaxis, number, pi,
    printoptions, s_, set_printoptions, short, signedinteger, single, ubyte, uint, uint16,
    uint32, uint64, uint8, uintc, uintp, ulong, ulonglong, unsignedinteger, ushort,
)
# fmt: on

__version__ = "14.2.0+standin"
is_standin = True
disable_experimental_feature_warning = False

# Names that NumPy has given up and CuPy keeps.
NAN = NaN = nan
Inf = Infinity = PINF = infty = inf
NINF = -inf
PZERO, NZERO = 0.0, -0.0
float_, complex_, cfloat, singlecomplex = float64, complex128, complex128, complex64


def is_available() -> bool:
    """False: there is no GPU."""
    return False


def get_array_module(*args):
    """This module if any argument is a device array, else NumPy."""
    import sys

    sparse = sys.modules.get("cupyx.scipy.sparse")
    fused = sys.modules.get("cupy._core._fusion_steps")
    kinds = (ndarray, *((sparse.spmatrix, sparse.sparray) if sparse else ()))
    kinds += (fused._ArrayProxy,) if fused else ()
    for arg in args:  # `any` is CuPy's in this module
        if isinstance(arg, kinds):
            return sys.modules[__name__]
    return _np


def show_config(*, _full: bool = False) -> None:
    """Print what is in use."""
    import platform

    print(f"CuPy Version          : {__version__} (CPU stand-in, no GPU)")
    print(f"NumPy Version         : {_np.__version__}")
    print(f"OS                    : {platform.platform()}")
    print(f"Python Version        : {platform.python_version()}")
    print(f"Logical devices       : {cuda.runtime.getDeviceCount()}")


# Imported when they are first asked for: kernels bring the compiler with them.
_LATER = {
    "ElementwiseKernel": "elementwise",
    "ReductionKernel": "reduction",
    "RawKernel": "raw",
    "RawModule": "raw",
    "fuse": "fusion",
    "vectorize": "vectorize",
}
_LATER |= dict.fromkeys(
    "poly poly1d polyadd polyfit polymul polysub polyval roots".split(), "_polynomials"
)


def __getattr__(name: str):
    import importlib

    if name in ("cublas", "polynomial"):  # `from cupy import ...` asks here before it looks for it
        return importlib.import_module(f"cupy.{name}")
    if name not in _LATER:
        raise _missing("cupy", name)
    home = importlib.import_module(f"cupy._core.{_LATER[name]}")
    if name == "fuse":
        home.install(globals())
    globals()[name] = getattr(home, name)
    return globals()[name]
