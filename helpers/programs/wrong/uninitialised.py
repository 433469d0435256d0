"""A sum that begins with whatever the memory held."""

import cupy as cp

cp.cuda.set_allocator(None)  # the pool hands out memory that others have written
n = 256
add = cp.RawKernel(
    r"""
extern "C" __global__ void add(const float *x, float *sum, int n) {
    for (int k = 0; k < n; k++) *sum += x[k];
}""",
    "add",
    options=("-lineinfo",),
)
x = cp.ones(n, "float32")

# %% wrong
total = cp.empty(1, "float32")
add((1,), (1,), (x, total, cp.int32(n)))
cp.cuda.Device().synchronize()
