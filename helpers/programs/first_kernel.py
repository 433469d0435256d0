"""What the page "Ten minutes to a first kernel" runs, in parts that share their names.

helpers/press/first_page.py shows each part with what it prints.
"""

# %% run
import cupy as cp
import numpy as np

x = cp.arange(10, dtype=cp.float32)


def run(source):
    kernel = cp.RawKernel(source, "mine")
    y = cp.zeros_like(x)
    # 3 blocks of 4 threads
    kernel((3,), (4,), (x, y, np.int32(10)))
    print(y)


run(r"""
extern "C" __global__
void mine(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}""")

# %% break
run(r"""
extern "C" __global__
void mine(float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}""")

# %% outside
run(r"""
extern "C" __global__
void mine(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}""")

# %% mend
run(r"""
extern "C" __global__
void mine(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i] + 1;
}""")
