"""Three threads that say where they are."""

import cupy as cp

where = cp.RawKernel(
    r"""
extern "C" __global__ void where(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 200 == 99) printf("block %d, thread %d: x[%d] = %g\n",
                              blockIdx.x, threadIdx.x, i, i < n ? x[i] : -1.0f);
}""",
    "where",
)

# %% wrong
where((2,), (256,), (cp.arange(300, dtype="float32"), cp.int32(300)))
cp.cuda.Device().synchronize()  # what kernels print comes when the host waits
