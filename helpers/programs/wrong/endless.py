"""A thread that waits for what no other thread will write."""

import cupy as cp

wait = cp.RawKernel(
    r"""
extern "C" __global__ void wait(volatile int *flag) {
    while (*flag == 0) {}
}""",
    "wait",
)

# %% wrong
wait((1,), (1,), (cp.zeros(1, "int32"),))
cp.cuda.Device().synchronize()

# %% mended
wait((1,), (1,), (cp.ones(1, "int32"),))
cp.cuda.Device().synchronize()
print("done")
