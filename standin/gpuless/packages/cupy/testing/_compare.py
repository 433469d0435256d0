"""Decorators that call a test twice, with CuPy and with NumPy, and compare what it returns.

The test takes the module as its argument ``xp`` (or what ``name`` says), and returns an array, a
number or several of them. Arguments that all the decorators share:

    name            the parameter that is CuPy, then NumPy
    sp_name         one that is ``cupyx.scipy.sparse``, then ``scipy.sparse``
    scipy_name      one that is ``cupyx.scipy``, then ``scipy``
    type_check      the dtypes have to be equal
    accept_error    errors (a class, several, or True for all) that both may raise; others, or an
                    error of one alone, are an AssertionError
"""

from __future__ import annotations

import importlib
import traceback
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import cupy
from cupy._core._creation import asnumpy
from cupy.testing import _array
from cupy.testing._loops import FLOATS, SIGNED, UNSIGNED, hiding, skips

# Of each parameter's name: what it is at first, and then.
_LIBRARIES = (("cupy", "numpy"), ("cupyx.scipy.sparse", "scipy.sparse"), ("cupyx.scipy", "scipy"))
# Both libraries' errors have to be the same to whoever catches these.
_CAUGHT = (AttributeError, IndexError, TypeError, ValueError, NotImplementedError)
_CAUGHT += (Exception, DeprecationWarning, cupy.exceptions.AxisError, np.linalg.LinAlgError)


def numpy_cupy_allclose(
    rtol=1e-7,
    atol=0,
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
    contiguous_check=True,
) -> Callable:
    """The results are equal up to ``atol + rtol * abs(NumPy's)``.

    ``rtol`` and ``atol`` may be dictionaries: by the dtype's type, such as ``numpy.float32``, or
    "default". Unless ``contiguous_check`` is false, what NumPy has contiguous is so in CuPy, too.
    TypeError for other keys, and for dictionaries without ``type_check``.
    """
    tables = [one for one in (rtol, atol) if isinstance(one, dict)]
    for key in (key for table in tables for key in table):
        if key != "default" and type(key) is not type:
            raise TypeError(f"a tolerance is for a type, such as numpy.float32, not for {key!r}")
    if tables and not type_check:
        raise TypeError("Without type_check rtol and atol must be numbers")

    def check(x, y) -> None:
        limits = (_tolerance(x.dtype.type, one) for one in (rtol, atol))
        _array.assert_allclose(x, y, *limits, err_msg=err_msg, verbose=verbose)

    names = (name, sp_name, scipy_name)
    return _compared(check, names, type_check, accept_error, contiguous_check)


def _tolerance(kind: type, given) -> float:
    if not isinstance(given, dict):
        return given
    found = given.get(kind, given.get("default"))
    if found is None:
        raise TypeError(f"Can not find tolerance for {kind}")
    return found


def numpy_cupy_array_almost_equal(
    decimal=6,
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
) -> Callable:
    """The results differ by less than ``1.5 * 10**-decimal``."""

    def check(x, y) -> None:
        _array.assert_array_almost_equal(x, y, decimal, err_msg, verbose)

    return _compared(check, (name, sp_name, scipy_name), type_check, accept_error)


def numpy_cupy_array_almost_equal_nulp(
    nulp=1, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
) -> Callable:
    """The results differ by at most ``nulp`` times the distance to the next number."""

    def check(x, y) -> None:
        _array.assert_array_almost_equal_nulp(x, y, nulp)

    return _compared(check, (name, sp_name, scipy_name), type_check, accept_error)


def numpy_cupy_array_max_ulp(
    maxulp=1,
    dtype=None,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
) -> Callable:
    """The results, as ``dtype``, are at most ``maxulp`` numbers apart."""

    def check(x, y) -> None:
        _array.assert_array_max_ulp(x, y, maxulp, dtype)

    return _compared(check, (name, sp_name, scipy_name), type_check, accept_error)


def numpy_cupy_array_equal(
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
    strides_check=False,
) -> Callable:
    """The results are equal, and with ``strides_check`` so are their strides."""

    def check(x, y) -> None:
        _array.assert_array_equal(x, y, err_msg, verbose, strides_check=strides_check)

    return _compared(check, (name, sp_name, scipy_name), type_check, accept_error)


def numpy_cupy_array_list_equal(
    err_msg="", verbose=True, name="xp", sp_name=None, scipy_name=None
) -> Callable:
    """Deprecated: ``numpy_cupy_array_equal`` compares lists as well."""
    _deprecate("numpy_cupy_array_list_equal is deprecated. Use numpy_cupy_array_equal instead.")
    return numpy_cupy_array_equal(
        err_msg, verbose, name, type_check=False, sp_name=sp_name, scipy_name=scipy_name
    )


def numpy_cupy_array_less(
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
) -> Callable:
    """CuPy's result is less than NumPy's."""

    def check(x, y) -> None:
        _array.assert_array_less(x, y, err_msg, verbose)

    return _compared(check, (name, sp_name, scipy_name), type_check, accept_error)


def numpy_cupy_equal(name="xp", sp_name=None, scipy_name=None) -> Callable:
    """The results, of any kind that ``!=`` compares, are equal."""

    def judge(ours, theirs, args, kwargs) -> None:
        if ours != theirs:
            raise AssertionError(f"Results are not equal:\ncupy: {ours}\nnumpy: {theirs}")

    return _twice(judge, (name, sp_name, scipy_name), False)


def numpy_cupy_raises(name="xp", sp_name=None, scipy_name=None, accept_error=Exception) -> Callable:
    """Deprecated: both raise an error, the same to whoever catches it."""
    _deprecate("cupy.testing.numpy_cupy_raises is deprecated.")

    def judge(ours, theirs, args, kwargs) -> None:
        raise AssertionError("Both cupy and numpy are expected to raise errors, but not")

    return _twice(judge, (name, sp_name, scipy_name), accept_error)


def _deprecate(message: str) -> None:
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def _twice(judge: Callable, names: tuple, accept_error) -> Callable:
    """A decorator: call the test with CuPy and with NumPy, and then ``judge(ours, theirs, kwargs,
    again)`` what they return, unless both raise what is accepted. ``again`` calls it with CuPy."""
    wanted = [(name, pair) for name, pair in zip(names, _LIBRARIES, strict=True) if name]

    def decorator(test: Callable) -> Callable:
        @hiding(test, *(name for name, _ in wanted))
        def both(*args, **kwargs) -> None:
            device, host = (
                {name: importlib.import_module(pair[side]) for name, pair in wanted}
                for side in (0, 1)
            )
            ours, our_error = _outcome(test, args, {**kwargs, **device})
            theirs, their_error = _outcome(test, args, {**kwargs, **host})
            if our_error is not None or their_error is not None:
                _check_errors(our_error, their_error, accept_error)
            else:
                judge(ours, theirs, kwargs, lambda kwargs: test(*args, **{**kwargs, **device}))

        return both

    return decorator


def _outcome(test: Callable, args, kwargs) -> tuple[object, BaseException | None]:
    """What a test returns and what it raises."""
    try:
        return test(*args, **kwargs), None
    except (Exception, *skips()) as error:
        if error.__traceback__.tb_next is None:  # the call is wrong, and the test has not begun
            raise
        return None, error


def _check_errors(ours: BaseException | None, theirs: BaseException | None, accepted) -> None:
    """Raise AssertionError unless the errors of CuPy and NumPy go together and are accepted; a skip
    is raised again."""
    if isinstance(ours, skips()) and isinstance(theirs, skips()):
        if type(ours) is not type(theirs) or ours.args != theirs.args:
            raise AssertionError("Both numpy and cupy were skipped, but for different causes.")
        raise theirs
    accepted = Exception if accepted is True else accepted or ()
    texts = {"cupy": ours, "numpy": theirs}
    if ours is None:
        what, texts = "Only numpy raises error", {"numpy": theirs}
    elif theirs is None:
        what, texts = "Only cupy raises error", {"cupy": ours}
    elif any(isinstance(ours, one) != isinstance(theirs, one) for one in _CAUGHT):
        what = "Different types of errors occurred"
    elif not (isinstance(ours, accepted) and isinstance(theirs, accepted)):
        what = "Both cupy and numpy raise exceptions"
    else:
        return
    told = (f"\n\n{who}\n{''.join(traceback.format_exception(e))}" for who, e in texts.items())
    raised = theirs if ours is None else ours
    raise AssertionError(what + "".join(told)).with_traceback(raised.__traceback__) from None


def _compared(
    check: Callable, names: tuple, type_check: bool, accept_error, contiguous_check: bool = False
) -> Callable:
    """A decorator: ``check(ours, theirs)`` each array that the test returns."""

    def judge(ours, theirs, kwargs, again) -> None:
        pairs = list(_pairs(ours, theirs, sparse=names[1] is not None))
        for x, y in pairs:
            if type_check and x.dtype != y.dtype:
                raise AssertionError(
                    f"ndarrays of different dtypes are returned.\ncupy: {x.dtype}\nnumpy: {y.dtype}"
                )
            assert x.shape == y.shape, f"shapes are {x.shape} in cupy, {y.shape} in numpy"
        if contiguous_check:
            _check_contiguity(_several(ours), _several(theirs))
        if _mixes_signs(kwargs) and any(x.dtype in UNSIGNED for x, _ in pairs):
            pairs = _less_negative(pairs, _several(again(_with_signs(kwargs))))
        for x, y in pairs:
            check(x, y)

    return _twice(judge, names, accept_error)


def _check_contiguity(ours: tuple, theirs: tuple) -> None:
    """AssertionError where one of NumPy's arrays is contiguous and CuPy's is not."""
    for x, y in zip(ours, theirs, strict=True):
        if isinstance(y, np.ndarray):
            for flag in ("c_contiguous", "f_contiguous"):
                if getattr(y.flags, flag) and not getattr(x.flags, flag):
                    raise AssertionError(f"{flag} is false in cupy, true in numpy")


def _mixes_signs(kwargs: dict) -> bool:
    """Whether a negative number may have become an unsigned one, which is undefined: a GPU gives
    another than a CPU."""
    kinds = {value for value in kwargs.values() if isinstance(value, type)}
    return bool(kinds & {*UNSIGNED}) and bool(kinds & {*FLOATS, np.float16, *SIGNED})


def _with_signs(kwargs: dict) -> dict:
    pairs = dict(zip(UNSIGNED, SIGNED, strict=True))
    kinds = {key: value for key, value in kwargs.items() if isinstance(value, type)}
    return kwargs | {key: pairs.get(kind, kind) for key, kind in kinds.items()}


def _less_negative(pairs: list[tuple], signed: tuple) -> list[tuple]:
    """The pairs, the unsigned without elements that are negative in the ``signed`` results."""
    kept = []
    for (x, y), sign in zip(pairs, signed, strict=True):
        if x.dtype in UNSIGNED:
            keep = asnumpy(sign) >= 0
            x, y = asnumpy(x)[keep], np.asarray(y)[keep]
        kept.append((x, y))
    return kept


def _several(result) -> tuple:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _pairs(ours, theirs, sparse: bool) -> Iterator[tuple]:
    """The arrays, of CuPy and of NumPy, that are to be compared; AssertionError where the results
    are of different kinds."""
    assert ours is not None and theirs is not None, "the test returns None"
    ours, theirs = _several(ours), _several(theirs)
    assert len(ours) == len(theirs), f"cupy gives {len(ours)} results, numpy {len(theirs)}"
    for x, y in zip(ours, theirs, strict=True):
        if sparse and hasattr(x, "toarray") and hasattr(y, "toarray"):
            assert x.format == y.format
            yield x.toarray(), y.toarray()
        elif isinstance(y, np.poly1d) and not isinstance(x, np.poly1d) and hasattr(x, "coeffs"):
            assert x.variable == y.variable
            yield x.coeffs, y.coeffs
        elif isinstance(x, cupy.ndarray) and isinstance(y, np.ndarray | np.generic):
            yield x, y
        elif isinstance(x, np.generic) and isinstance(y, np.generic):
            yield x, y
        elif np.isscalar(x) and np.isscalar(y):
            yield cupy.array(x), np.array(y)
        else:
            raise AssertionError(
                "numpy and cupy returns different type of return value:\n"
                f"cupy: {type(x)}\nnumpy: {type(y)}"
            )
