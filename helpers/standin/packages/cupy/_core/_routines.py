"""NumPy's functions on device arrays, by name and by kind of first argument."""

from __future__ import annotations

import inspect

import numpy as np

from cupy._core import _dispatch
from cupy._core._creation import array, full  # noqa: F401  (operators look `full` up here)
from cupy._core._dispatch import SCALARS, named, submit, unsupported
from cupy._core._ndarray import ndarray
from cupy.cuda import stream

# The first argument is a device array.
ARRAY = """all amax amin any argmax argmin argpartition argsort argwhere array_split average
broadcast_to clip common_type compress corrcoef count_nonzero cov cumprod cumsum cumulative_prod
cumulative_sum diagonal diff dsplit ediff1d expand_dims extract flatnonzero flip
fliplr flipud gradient histogram histogram2d histogramdd hsplit lexsort matrix_transpose max mean
median min moveaxis nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
nanprod nanstd nansum nanvar nonzero packbits pad partition percentile permute_dims prod ptp
quantile ravel real_if_close repeat reshape roll rollaxis rot90 searchsorted sort
sort_complex split squeeze std sum swapaxes take take_along_axis tile trace transpose trapezoid
tril_indices_from trim_zeros triu_indices_from unique unique_all unique_counts unique_inverse
unique_values unpackbits unwrap var vsplit bincount digitize interp fix i0 sinc poly polyfit
roots""".split()
# Both leading arguments are.
ARRAYS = """dot vdot inner outer tensordot kron matmul cross convolve correlate in1d isin
intersect1d setdiff1d setxor1d union1d array_equal array_equiv polyadd polysub polymul polyval
choose""".split()
# A sequence of arrays comes first, or arrays and scalars mixed.
MIXED = """concatenate concat stack vstack hstack dstack column_stack atleast_1d atleast_2d
atleast_3d broadcast_arrays where isclose allclose einsum select ix_ angle real imag iscomplex
isreal isneginf isposinf block insert diag diagflat tril triu vander around round append delete
resize nan_to_num""".split()
# The answer is a host value.
HOST = """ndim shape size result_type can_cast min_scalar_type promote_types broadcast_shapes
isscalar iscomplexobj isrealobj isfortran may_share_memory shares_memory array2string array_repr
array_str typename""".split()
# How many elements the result has is known only after the work is done.
WAITS = """argwhere nonzero flatnonzero unique unique_all unique_counts unique_inverse
unique_values extract compress bincount histogram intersect1d setdiff1d setxor1d union1d delete
trim_zeros""".split()
_NO_KEYWORDS = {"where", "initial", "subok", "like", "device", "sorted", "overwrite_input"}
_KEEPS = {"quantile", "percentile", "median", "nanmedian"}  # of these CuPy has `overwrite_input`
ALIASES = {"row_stack": "vstack", "round_": "around", "product": "prod", "trapz": "trapezoid"}


def _wrapped(name: str, function, arrays: int):
    """A NumPy function whose first ``arrays`` arguments must be device arrays."""
    try:
        parameters = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
    except ValueError:
        parameters = []
    out_at = parameters.index("out") if "out" in parameters[1:] else None
    waits = name in WAITS

    def wrapped(*args, **kwargs):
        for keyword in _NO_KEYWORDS.intersection(kwargs):
            if not (keyword == "overwrite_input" and name in _KEEPS):
                raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")
        for arg in args[:arrays]:
            if not isinstance(arg, ndarray):
                raise unsupported(arg)
        if waits:
            stream.refuse_while_capturing()
        if out_at is not None and len(args) > out_at:
            kwargs["out"], args = args[out_at], (*args[:out_at], *args[out_at + 1 :])
            if len(args) > out_at:
                kwargs.update(zip(parameters[out_at + 1 :], args[out_at:], strict=False))
                args = args[:out_at]
        return _dispatch.routine(function, *args, **kwargs)

    return named(wrapped, name)


def _array(function):
    return lambda *args, **kwargs: np.asarray(function(*args, **kwargs))


def _stable(function):
    return lambda a, axis=-1, kind=None: function(a, axis=axis, kind="stable")


def _wrapping(function):
    return lambda a, indices, axis=None, out=None: function(a, indices, axis, out, "wrap")


def _typed(function):
    def search(a, axis=None, dtype=None, out=None, keepdims=False):
        found = function(a, axis, keepdims=keepdims)
        found = found if dtype is None else np.asarray(found).astype(dtype)
        return found if out is None else np.copyto(out, found)

    return search


_SPECIAL = {
    "real": _array(np.real),
    "imag": _array(np.imag),
    "argmax": _typed(np.argmax),
    "argmin": _typed(np.argmin),
    "allclose": _array(np.allclose),
    "array_equal": _array(np.array_equal),
    "array_equiv": _array(np.array_equiv),
    "count_nonzero": _array(np.count_nonzero),
    "sort": _stable(np.sort),
    "argsort": _stable(np.argsort),
    "take": _wrapping(np.take),
}

for _names, _count in ((ARRAY, 1), (ARRAYS, 2), (MIXED, 0)):
    for _name in _names:
        if hasattr(np, _name):
            globals()[_name] = _wrapped(_name, _SPECIAL.get(_name, getattr(np, _name)), _count)
for _name, _target in ALIASES.items():
    globals()[_name] = globals()[_target]


def _host(name: str):
    function = getattr(np, name)

    def host(*args, **kwargs):
        def plain(value):
            return value._array if isinstance(value, ndarray) else value

        return function(*map(plain, args), **{key: plain(v) for key, v in kwargs.items()})

    return named(host, name, "which answers with a host value")


for _name in HOST:
    globals()[_name] = _host(_name)


def copyto(dst, src, casting="same_kind", where=True) -> None:
    """Copy ``src``, a device array or a scalar, into ``dst``, broadcasting."""
    if isinstance(src, ndarray):
        source = src._array
        fits = np.can_cast(source.dtype, dst.dtype, casting)
    elif isinstance(src, SCALARS) or (isinstance(src, np.ndarray) and not src.ndim):
        source = np.asarray(src)
        weak = isinstance(src, (int, float, complex)) and not isinstance(src, np.generic)
        given = np.result_type(dst.dtype, src) if weak else source.dtype
        fits = np.can_cast(given, dst.dtype, casting)
        if weak and source.dtype.kind == "i":
            source = np.asarray(src, dst.dtype)  # OverflowError where it does not fit
    else:
        raise unsupported(src)
    if not fits:
        raise TypeError(
            f"Cannot cast {type(src)} from {source.dtype} to {dst.dtype} in {casting} casting mode"
        )
    mask = where._array if isinstance(where, ndarray) else where is None or bool(where)
    target = dst._array
    submit(lambda: np.copyto(target, source, casting="unsafe", where=mask))


def put(a, ind, v, mode="wrap") -> None:
    """``a.flat[ind] = v``; indices out of range wrap around by default."""
    index, value = np.asarray(_plain(ind)), np.asarray(_plain(v))
    target = a._array
    submit(lambda: np.put(target, index, value.astype(target.dtype), mode=mode))


def _changes_first(name: str):
    function = getattr(np, name)

    def change(array, *args, **kwargs) -> None:
        values, options, _ = _dispatch.unwrap_call(args, kwargs)
        target = array._array
        submit(lambda: function(target, *values, **options))

    return named(change, name)


for _name in ("place", "put_along_axis", "putmask", "fill_diagonal"):
    globals()[_name] = _changes_first(_name)


def _plain(value):
    return value if isinstance(value, np.ndarray) else _dispatch.unwrap(value, [])


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """``func1d`` of every 1-D slice of ``arr`` along ``axis``, each a device array."""
    moved = arr.transpose([i for i in range(arr.ndim) if i != axis % arr.ndim] + [axis % arr.ndim])
    rows = moved.reshape(-1, arr.shape[axis])
    results = [array(func1d(row, *args, **kwargs)) for row in rows]
    stacked = globals()["stack"](results).reshape(*moved.shape[:-1], *results[0].shape)
    if not results[0].ndim:
        return stacked
    return globals()["moveaxis"](stacked, -1, axis) if results[0].ndim == 1 else stacked
