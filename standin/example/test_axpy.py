import cupy as cp
import numpy as np
from axpy import axpy


def test_axpy():
    x, y = np.random.default_rng(0).random((2, 1000), np.float32)
    found = cp.asarray(y)
    axpy(3, cp.asarray(x), found)
    np.testing.assert_allclose(found.get(), 3 * x + y, rtol=1e-6)
