"""Functions on device arrays that are more than a row of the table."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np

from cupy._core import _alignment, _ufuncs
from cupy._core._casts import cast
from cupy._core._creation import array, asarray, empty
from cupy._core._dispatch import SCALARS, check_number, named, submit, unsupported
from cupy._core._indexing import check_copy, number_of, wrapped
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to, expand_dims, moveaxis
from cupy._core._run import routine, run, unwrap, unwrap_call
from cupy._core._special import fit
from cupy._core._ufunc import broadcast as common_shape
from cupy._core._ufunc import mask_of


def copyto(dst, src, casting="same_kind", where=None) -> None:
    """Copy ``src``, a device array or a scalar, into ``dst``, broadcasting."""
    given = src
    if isinstance(src, np.ndarray):
        if src.size != 1:
            raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
        src = src.squeeze()[()]
    if type(src) in (bool, int, float, complex):
        source = np.empty((), dst.dtype)
        np.copyto(source, src, casting)  # with NumPy's errors
    elif not np.can_cast(src if np.isscalar(src) else src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {given!r} to {dst.dtype} in {casting} casting mode")
    elif isinstance(src, ndarray):
        source = src._array
        while source.ndim > dst.ndim and source.shape[0] == 1:
            source = source[0]
    elif isinstance(src, SCALARS):
        source = np.asarray(src)
    else:
        raise unsupported(src)
    mask = True if where is None else mask_of(where)
    target = dst._array
    if _alignment.odd:
        _alignment.check_copy(target, source, dst, src)
    if isinstance(src, ndarray) and src._memory is dst._memory and where is None:
        _check_memory(target, source)
    if common_shape([target.shape, source.shape, np.shape(mask)]) != target.shape:
        raise ValueError(f"could not broadcast {source.shape} into {target.shape}")
    submit(lambda: np.copyto(target, cast(source, target.dtype), "unsafe", where=mask))


def _check_memory(target: np.ndarray, source: np.ndarray) -> None:
    """ValueError where CuPy copies the memory of arrays that overlap."""
    same = source.dtype == target.dtype and source.size == target.size
    flags, others = target.flags, source.flags
    if same and (flags.c_contiguous and others.c_contiguous or flags.fnc and others.fnc):
        check_copy(target, source)


def isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False) -> ndarray:
    """Where two arrays are equal to within a tolerance."""
    a, b = asarray(a), asarray(b)
    inexact = "c" in a.dtype.kind + b.dtype.kind
    function = _ufuncs.is_close_complex if inexact else _ufuncs.is_close
    return function(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False) -> ndarray:
    return isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan).all()


def put(a, ind, v, mode="wrap") -> None:
    """``a.flat[ind] = v``; indices out of range wrap around by default."""
    if not isinstance(mode, str) or mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode not understood")
    target = a._array
    _alignment.check(a, ind, v)
    index, value = np.asarray(_plain(ind)), np.asarray(_plain(v))
    if mode == "wrap" and target.size and index.dtype.kind in "iu":
        index = wrapped(index, target.size)
    fit(target.dtype, v)
    if value.dtype.kind == "c" and target.dtype.kind != "c" and index.size:
        raise TypeError("no kernel makes real numbers of complex ones")
    if not isinstance(v, ndarray):  # the host makes it a number of the array's type
        value = np.array(_plain(v), target.dtype)
    submit(lambda: np.put(target, index, cast(value, target.dtype).astype(target.dtype), mode))


def _plain(value):
    return value if isinstance(value, np.ndarray) else unwrap(value, [])


def _writes(function: Callable, at: int | None = None) -> Callable:
    """NumPy's ``function``, which writes to its first argument; numbers that it takes as argument
    ``at`` behind that become integers by a GPU's rule."""

    def change(array, *args, **kwargs) -> None:
        if not isinstance(array, ndarray):
            raise unsupported(array)
        values, options, sources = unwrap_call(args, kwargs)
        _alignment.check(array, *sources)
        target = array._array
        if function is np.putmask and len(values) > 1:
            if isinstance(values[1], (list, tuple)) or not isinstance(values[0], np.ndarray):
                raise TypeError("`mask` and `values` should be of type cupy.ndarray")
            if values[0].shape != target.shape:
                raise ValueError("mask and data must be the same size")
        if function is np.place and len(values) > 1:
            if np.asarray(values[1]).dtype.char not in "?bBhHiIlLqQefdFD":
                raise ValueError(f"Unsupported dtype {np.asarray(values[1]).dtype}")
        if at is not None:
            numbers = values[at] if len(values) > at else None
            if function is np.place and np.iscomplexobj(numbers) > np.iscomplexobj(target):
                raise TypeError("no kernel makes real numbers of complex ones")
            if isinstance(numbers, np.generic):  # the host makes it a number of the array's type
                values = (*values[:at], numbers.astype(target.dtype), *values[at + 1 :])
            elif isinstance(numbers, np.ndarray):
                numbers = cast(np.asarray(numbers), target.dtype).astype(target.dtype)
                values = (*values[:at], numbers, *values[at + 1 :])
        submit(lambda: function(target, *values, **options))

    return named(change, function.__name__)


fill_diagonal = _writes(np.fill_diagonal, 0)
place = _writes(np.place, 1)
put_along_axis = _writes(np.put_along_axis, 1)
putmask = _writes(np.putmask)


def apply_along_axis(func1d, axis, arr, *args, **kwargs) -> ndarray:
    """``func1d`` of every 1-D slice of ``arr`` along ``axis``, each a view of it."""
    axis = np.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    lines, found = moveaxis(arr, axis, -1), None
    for at in np.ndindex(lines.shape[:-1]):
        made = asarray(func1d(lines[(*at, ...)], *args, **kwargs))
        if found is None:
            found, turns = empty(lines.shape[:-1] + made.shape, made.dtype), made.ndim
        found[at] = made
    if found is None:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    for _ in range(turns):
        found = moveaxis(found, -1, axis)
    return found


def apply_over_axes(func, a, axes) -> ndarray:
    """``func(a, axis)`` for one axis after the other; each result keeps the dimensions of ``a``."""
    result = asarray(a)
    if isinstance(axes, ndarray):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    for axis in axes if np.ndim(axes) else (axes,):
        axis = np.lib.array_utils.normalize_axis_index(operator.index(axis), a.ndim)
        reduced = func(result, axis)
        if reduced.ndim == result.ndim - 1:
            reduced = expand_dims(reduced, axis)
        if reduced.ndim != result.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        result = reduced
    return result


def asarray_chkfinite(a, dtype=None, order=None) -> ndarray:
    """``a`` on the device; ValueError where it has an infinity or NaN."""
    result = asarray(a, dtype, order)
    if not np.isfinite(result._host()).all():
        raise ValueError("array must not contain Infs or NaNs")
    return result


def astype(x, dtype, /, *, copy=True) -> ndarray:
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a CuPy array. It is a {type(x)} instead.")
    return x.astype(dtype, copy=copy)


def asfarray(a, dtype=float) -> ndarray:
    """``a`` on the device, in a floating-point type."""
    return asarray(a, dtype if np.issubdtype(dtype, np.inexact) else float)


def piecewise(x: ndarray, condlist, funclist) -> ndarray:
    """The values of ``funclist`` where the conditions of ``condlist`` hold; of the others the last.

    NotImplementedError for callables, as in CuPy.
    """
    if any(callable(value) for value in funclist):
        raise NotImplementedError("Callable functions are not supported currently")
    conditions = [condlist] if np.isscalar(condlist) else condlist
    conditions = [conditions[i] for i in range(len(conditions))]
    for value in (*conditions, *funclist):
        check_number(value)
    if len(funclist) - len(conditions) not in (0, 1):
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    funclist = [number_of(value, x.dtype) for value in funclist]
    default = funclist[-1] if len(funclist) > len(conditions) else 0

    def fill(x, conditions, values, default):
        result = np.full(x.shape, default, x.dtype)
        for condition, value in zip(conditions, values, strict=False):
            np.copyto(result, value, casting="unsafe", where=condition)
        return result

    return routine(fill, x, conditions, list(funclist), default)


def select(condlist, choicelist, default=0) -> ndarray:
    """Of the arrays of ``choicelist`` the first whose condition holds, else the number ``default``.

    The result has the type of the choices. TypeError unless these are device arrays and their type
    can hold ``default``, ValueError unless the conditions are boolean.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not np.isscalar(default):
        raise TypeError("default only accepts scalar values")
    for i, (condition, choice) in enumerate(zip(condlist, choicelist, strict=True)):
        if not isinstance(choice, ndarray):
            raise TypeError("choicelist only accepts lists of cupy ndarrays")
        if condition.dtype != bool:
            raise ValueError(f"invalid entry {i} in condlist: should be boolean ndarray")
    if not choicelist:
        raise ValueError("select with an empty condition list is not possible")
    base = empty((), np.result_type(*(choice.dtype for choice in choicelist)))
    copyto(base, default)  # an error where it does not fit
    return routine(np.select, list(condlist), list(choicelist), base)


class _Concatenator:
    """``cupy.r_`` and ``cupy.c_``: arrays and numbers between brackets, joined."""

    def __init__(self, joiner):
        self._joiner = joiner

    def __getitem__(self, key):
        entries = key if isinstance(key, tuple) else (key,)
        if any(isinstance(entry, (slice, str)) for entry in entries):
            raise NotImplementedError("slices and directives in cupy.r_ and cupy.c_")
        values, _, sources = unwrap_call(entries, {})
        return run(lambda: self._joiner[values], sources, "C")

    def __len__(self) -> int:
        return 0


r_, c_ = _Concatenator(np.r_), _Concatenator(np.c_)


class broadcast:
    """Arrays broadcast against each other: ``values``, their ``shape``, ``nd`` and ``size``."""

    def __init__(self, *arrays):
        shapes = [np.shape(a._array if isinstance(a, ndarray) else a) for a in arrays]
        self.shape = common_shape(shapes)
        self.nd, self.size = len(self.shape), math.prod(self.shape)
        self.values = tuple(
            broadcast_to(a, self.shape) if isinstance(a, ndarray) and a.shape != self.shape else a
            for a in arrays
        )


def require(a, dtype=None, requirements=None) -> ndarray:
    """``a`` on the device, in the order and with memory of its own as ``requirements`` say."""
    possible = {"C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F"}
    possible |= {"FORTRAN": "F", "O": "O", "OWNDATA": "O"}
    try:
        wanted = {possible[text.upper()] for text in requirements or ()}
    except KeyError as error:
        raise ValueError(f"Incorrect flag {error} in requirements") from None
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    if order != "A" and not isinstance(a, ndarray):  # the longer names are none of an order's
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}_CONTIGUOUS')")
    try:
        if not wanted:
            return asarray(a, dtype)
        return array(a, dtype, copy=True if "O" in wanted else None, order=order)
    except TypeError:
        raise ValueError(f'Incorrect dtype "{dtype}" provided') from None
