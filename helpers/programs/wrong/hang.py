"""A barrier that some threads of the block never reach."""

import cupy as cp

n = 100
shift = r"""
extern "C" __global__ void shift(float *x, int n) {
    __shared__ float s[128];
    int i = threadIdx.x;
    GUARDED
}"""
x = cp.arange(n, dtype="float32")

# %% wrong
guarded = "if (i < n) { s[i] = x[i]; __syncthreads(); x[i] = s[n - 1 - i]; }"
cp.RawKernel(shift.replace("GUARDED", guarded), "shift")((1,), (128,), (x, cp.int32(n)))
print(x[:3])

# %% mended
guarded = "if (i < n) s[i] = x[i]; __syncthreads(); if (i < n) x[i] = s[n - 1 - i];"
cp.RawKernel(shift.replace("GUARDED", guarded), "shift")((1,), (128,), (x, cp.int32(n)))
print(x[:3])
