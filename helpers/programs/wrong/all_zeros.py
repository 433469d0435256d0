"""Fewer threads than elements."""

import cupy as cp

n = 1000
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
fill((n // 256,), (256,), (x, cp.int32(n)))
print(x[-3:], "zeros:", int((x == 0).sum()))

# %% mended
fill((-(-n // 256),), (256,), (x, cp.int32(n)))
print(x[-3:], "zeros:", int((x == 0).sum()))
