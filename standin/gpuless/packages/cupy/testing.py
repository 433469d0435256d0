"""Assertions that take device arrays as well as NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core._creation import asnumpy
from cupy._core._dispatch import named
from gpuless import missing


def _compare(function: Callable) -> Callable:
    def check(x, y, *args, **kwargs) -> None:
        function(asnumpy(x), asnumpy(y), *args, **kwargs)

    return named(check, function.__name__, "for device or host arrays")


assert_allclose = _compare(np.testing.assert_allclose)
assert_array_equal = _compare(np.testing.assert_array_equal)
assert_array_almost_equal = _compare(np.testing.assert_array_almost_equal)
assert_array_less = _compare(np.testing.assert_array_less)


def __getattr__(name: str):
    raise missing("cupy.testing", name)
