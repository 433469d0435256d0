"""An array of the GPU's in the hands of a library for NumPy's."""

import cupy as cp
import numpy as np

x = cp.arange(3.0)

# %% wrong
np.asarray(x)

# %% mended
print(x.get())
