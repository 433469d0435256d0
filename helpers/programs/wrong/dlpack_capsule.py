"""A capsule of memory of the CPU's, as older programs hand it on."""

import cupy as cp
import numpy as np

# %% wrong
cp.fromDlpack(np.arange(3.0).__dlpack__())
