"""A block of more threads than a block may have."""

import cupy as cp

n = 2048
fill = cp.RawKernel(
    r"""
extern "C" __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}""",
    "fill",
)
x = cp.zeros(n, "float32")

# %% wrong
fill((1,), (n,), (x, cp.int32(n)))

# %% mended
fill((-(-n // 256),), (256,), (x, cp.int32(n)))
print(x.sum())
