"""More registers in a block than a multiprocessor has."""

import cupy as cp

SOURCE = r"""
extern "C" __global__ BOUNDS void many(const float *in, float *out, int rounds) {
    float a[96];
    #pragma unroll
    for (int k = 0; k < 96; k++) a[k] = in[k];
    for (int r = 0; r < rounds; r++) {
        #pragma unroll
        for (int k = 0; k < 96; k++) a[k] = a[k] * a[(k + 7) % 96] + in[r];
    }
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 96; k++) sum += a[k];
    out[threadIdx.x] = sum;
}"""
x, out = cp.ones(96, "float32"), cp.zeros(1024, "float32")

# %% wrong
many = cp.RawKernel(SOURCE.replace("BOUNDS", ""), "many")
many((1,), (1024,), (x, out, cp.int32(3)))

# %% mended
bounds = "__launch_bounds__(1024)"
many = cp.RawKernel(SOURCE.replace("BOUNDS", bounds), "many")
many((1,), (1024,), (x, out, cp.int32(0)))
print(out[0])
