"""A machine without the NVIDIA driver."""

import ctypes

# %% wrong
ctypes.CDLL("libcuda.so.1")
