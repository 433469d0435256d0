"""CuPy where no driver is, or one that is too old."""

import cupy as cp

# %% wrong
cp.zeros(3)
