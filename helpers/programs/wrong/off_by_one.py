"""One thread too many: `<=` where `<` was meant."""

import cupy as cp

cp.cuda.set_allocator(None)  # without the pool, each array's end is an allocation's end
n = 1000
fill = cp.RawKernel(
    r"""
extern "C" __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = 1;
}""",
    "fill",
    options=("-lineinfo",),
)

# %% wrong
x = cp.zeros(n, "float32")
fill((4,), (256,), (x, cp.int32(n)))
print(x.sum())
