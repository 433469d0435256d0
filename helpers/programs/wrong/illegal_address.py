"""Threads that write where the array has no place."""

import cupy as cp

step = cp.RawKernel(
    r"""
extern "C" __global__ void step(float *x, int stride) {
    x[threadIdx.x * stride] = 1;
}""",
    "step",
)
x = cp.zeros(256, "float32")

# %% wrong
step((1,), (256,), (x, cp.int32(1_000_000)))
cp.cuda.Device().synchronize()

# %% mended
step((1,), (256,), (x, cp.int32(1)))
print(x.sum())
