"""Memory of the CPU's, handed to CuPy as if it were a GPU's."""

import cupy as cp
import numpy as np

x = np.arange(3.0)

# %% wrong
cp.from_dlpack(x)

# %% mended
print(cp.asarray(x))
