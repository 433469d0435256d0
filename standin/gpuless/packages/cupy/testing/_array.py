"""NumPy's assertions, for device arrays as well as NumPy's."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from cupy._core._creation import asnumpy
from cupy._core._dispatch import named


def _on_host(function: Callable) -> Callable:
    signature = inspect.signature(function)
    arrays = list(signature.parameters)[:2]

    def check(*args, **kwargs) -> None:
        given = signature.bind(*args, **kwargs).arguments
        function(**given | {name: asnumpy(given[name]) for name in arrays})

    return named(check, function.__name__, "for device or host arrays")


assert_allclose = _on_host(np.testing.assert_allclose)
assert_array_almost_equal = _on_host(np.testing.assert_array_almost_equal)
assert_array_almost_equal_nulp = _on_host(np.testing.assert_array_almost_equal_nulp)
assert_array_less = _on_host(np.testing.assert_array_less)
assert_array_max_ulp = _on_host(np.testing.assert_array_max_ulp)
_assert_array_equal = _on_host(np.testing.assert_array_equal)


def assert_array_equal(
    actual, desired, err_msg="", verbose=True, *, strict=False, strides_check=False
) -> None:
    """As NumPy's ``assert_array_equal``, for device or host arrays.

    With ``strides_check`` the strides have to be equal, too.
    """
    _assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
    if strides_check and actual.strides != desired.strides:
        values = f"\n x: {actual.strides}\n y: {desired.strides}" if verbose else ""
        raise AssertionError(f"Strides are not equal: {err_msg}{values}")


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True) -> None:
    """``assert_array_equal`` of each pair from two lists, or two tuples, of arrays."""
    if type(xlist) is not type(ylist) or not isinstance(xlist, list | tuple):
        raise AssertionError(
            f"Two lists or two tuples are expected, not {type(xlist)} and {type(ylist)}"
        )
    if len(xlist) != len(ylist):
        raise AssertionError(f"List size is different: {len(xlist)} and {len(ylist)}")
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg, verbose)
