"""Source that is no CUDA C."""

import cupy as cp

x = cp.zeros(256, "float32")

# %% wrong
source = 'extern "C" __global__ void fill(float *x) { x[i] = 1; }'
cp.RawKernel(source, "fill")((1,), (256,), (x,))

# %% mended
source = 'extern "C" __global__ void fill(float *x) { x[threadIdx.x] = 1; }'
cp.RawKernel(source, "fill")((1,), (256,), (x,))
print(x.sum())
