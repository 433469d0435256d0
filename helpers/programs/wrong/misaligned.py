"""Four numbers at once, from an address that is no multiple of 16 bytes."""

import cupy as cp

fill = cp.RawKernel(
    r"""
extern "C" __global__ void fill(float4 *x) {
    x[threadIdx.x] = make_float4(1, 1, 1, 1);
}""",
    "fill",
)
x = cp.zeros(64, "float32")

# %% wrong
fill((1,), (3,), (x[1:],))
cp.cuda.Device().synchronize()

# %% mended
fill((1,), (3,), (x[4:],))
print(x.sum())
