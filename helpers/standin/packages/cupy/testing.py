"""Assertions that take device arrays as well as NumPy's."""

from __future__ import annotations

import numpy as np

from cupy._core._creation import asnumpy


def _compare(name: str):
    function = getattr(np.testing, name)

    def check(x, y, *args, **kwargs) -> None:
        function(asnumpy(x), asnumpy(y), *args, **kwargs)

    check.__name__ = name
    check.__doc__ = f"As :func:`numpy.testing.{name}`, for device or host arrays."
    return check


assert_allclose = _compare("assert_allclose")
assert_array_equal = _compare("assert_array_equal")
assert_array_almost_equal = _compare("assert_array_almost_equal")
assert_array_less = _compare("assert_array_less")


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True) -> None:
    """Each array of one list equals that of the other."""
    if len(xlist) != len(ylist):
        raise AssertionError(f"List size is different: {len(xlist)} and {len(ylist)}")
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)
