"""A sum in float32, added up in two orders."""

import cupy as cp

x = 1 / cp.arange(1, 100_001, dtype="float32")
add = cp.RawKernel(
    r"""
extern "C" __global__ void add(const float *x, float *sum, int n, int from_the_end) {
    float mine = 0;
    for (int k = 0; k < n; k++) mine += x[from_the_end ? n - 1 - k : k];
    *sum = mine;
}""",
    "add",
)

# %% wrong
for from_the_end in (0, 1):
    total = cp.zeros(1, "float32")
    add((1,), (1,), (x, total, cp.int32(x.size), cp.int32(from_the_end)))
    print(float(total[0]))

# %% mended
print(f"{float(x.sum(dtype='float64')):.6f}")
