"""An array of NumPy's for a kernel."""

import cupy as cp
import numpy as np

fill = cp.RawKernel('extern "C" __global__ void fill(float *x) { x[threadIdx.x] = 1; }', "fill")
x = np.zeros(256, "float32")

# %% wrong
fill((1,), (256,), (x,))

# %% mended
on_gpu = cp.asarray(x)
fill((1,), (256,), (on_gpu,))
print(on_gpu.get().sum())
