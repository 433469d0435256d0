"""An array of one GPU in a sum on another."""

import cupy as cp

with cp.cuda.Device(1):
    x = cp.arange(3.0)

# %% wrong
with cp.cuda.Device(0):
    print(x + 1)

# %% mended
with cp.cuda.Device(0):
    print(cp.asarray(x) + 1)
