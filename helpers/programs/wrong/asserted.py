"""A kernel that says what it takes for granted."""

import cupy as cp

halve = cp.RawKernel(
    r"""
#undef NDEBUG
extern "C" __global__ void halve(const int *x, int *y) {
    int i = threadIdx.x;
    assert(x[i] % 2 == 0);
    y[i] = x[i] / 2;
}""",
    "halve",
)
x = cp.arange(0, 12, 2)
x[4] = 7
x, y = x.astype("int32"), cp.zeros(6, "int32")

# %% wrong
halve((1,), (6,), (x, y))
cp.cuda.Device().synchronize()
