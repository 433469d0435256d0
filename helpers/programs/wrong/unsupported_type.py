"""An array of NumPy's among CuPy's."""

import cupy as cp
import numpy as np

x, y = cp.arange(3.0), np.arange(3.0)

# %% wrong
x + y

# %% mended
print(x + cp.asarray(y))
