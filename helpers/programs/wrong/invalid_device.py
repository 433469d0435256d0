"""A GPU that is not there."""

import cupy as cp

# %% wrong
cp.cuda.Device(99).use()

# %% mended
print(cp.cuda.runtime.getDeviceCount() > 0)
