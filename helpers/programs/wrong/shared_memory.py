"""More dynamic shared memory than a kernel has without asking."""

import cupy as cp

tile = cp.RawKernel(
    r"""
extern "C" __global__ void tile(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[255 - threadIdx.x];
}""",
    "tile",
)
x = cp.arange(256, dtype="float32")

# %% wrong
tile((1,), (256,), (x,), shared_mem=60_000)

# %% mended
tile.max_dynamic_shared_size_bytes = 60_000
tile((1,), (256,), (x,), shared_mem=60_000)
print(x[0])
