"""Assertions that take device arrays as well as NumPy's."""

from __future__ import annotations

import numpy as np

from cupy._core._creation import asnumpy
from cupy._core._dispatch import named


def _compare(name: str):
    function = getattr(np.testing, name)

    def check(x, y, *args, **kwargs) -> None:
        function(asnumpy(x), asnumpy(y), *args, **kwargs)

    return named(check, name, "for device or host arrays")


assert_allclose = _compare("assert_allclose")
assert_array_equal = _compare("assert_array_equal")
assert_array_almost_equal = _compare("assert_array_almost_equal")
assert_array_less = _compare("assert_array_less")
