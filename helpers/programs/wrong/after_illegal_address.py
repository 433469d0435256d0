"""What the same process says of every call that follows an illegal address."""

import cupy as cp

step = cp.RawKernel(
    r"""
extern "C" __global__ void step(float *x) {
    x[threadIdx.x * 1000000] = 1;
}""",
    "step",
)

# %% wrong
try:
    step((1,), (256,), (cp.zeros(256, "float32"),))
    cp.cuda.Device().synchronize()
except Exception as error:
    print("The kernel:", type(error).__name__)
print(cp.ones(3).sum())  # nothing is wrong with this line
