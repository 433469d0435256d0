"""float64 where the kernel reads float32."""

import cupy as cp

double = cp.RawKernel(
    r"""
extern "C" __global__ void twice(float *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] *= 2;
}""",
    "twice",
)

# %% wrong
x = cp.array([1.0, 2.0, 3.0, 4.0])
double((1,), (4,), (x, 4))
print(x)

# %% mended
x = cp.array([1.0, 2.0, 3.0, 4.0], dtype="float32")
double((1,), (4,), (x, cp.int32(4)))
print(x)
