"""CUDA's words for a kernel that was cut off, which only a card with a screen does."""

import cupy as cp

# %% wrong
print(cp.cuda.runtime.CUDARuntimeError(702))
