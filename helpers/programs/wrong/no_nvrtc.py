"""CuPy without the compiler of kernels."""

import cupy as cp

# %% wrong
cp.cuda.nvrtc.getVersion()
