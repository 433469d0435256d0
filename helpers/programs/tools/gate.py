"""z = silu(x) y, the gate inside many language models, and its gradients: two CUDA kernels.

silu(x) = x s(x) with s(x) = 1 / (1 + exp(-x)), so
dz/dx = s (1 + x (1 - s)) y    and    dz/dy = x s.
"""

import functools

import cupy as cp
import numpy as np

SOURCE = r"""
struct alignas(WIDE * sizeof(Number)) Pack { Number v[WIDE]; };

extern "C" __global__ void forward(const Pack* x, const Pack* y, Pack* z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pack a = x[i], b = y[i], c;
    for (int k = 0; k < WIDE; k++) c.v[k] = a.v[k] * b.v[k] / (1 + exp(-a.v[k]));
    z[i] = c;
}
extern "C" __global__ void backward(const Pack* x, const Pack* y, const Pack* dz, Pack* dx,
                                    Pack* dy, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pack a = x[i], b = y[i], d = dz[i], da, db;
    for (int k = 0; k < WIDE; k++) {
        Number s = 1 / (1 + exp(-a.v[k]));
        da.v[k] = d.v[k] * b.v[k] * s * (1 + a.v[k] * (1 - s));
        db.v[k] = d.v[k] * a.v[k] * s;
    }
    dx[i] = da, dy[i] = db;
}"""


@functools.cache
def compiled(name, dtype, wide):
    number = {"float32": "float", "float64": "double"}[dtype]
    # No macro is called T: the compiler's own headers have templates of a T.
    return cp.RawKernel(SOURCE, name, options=(f"-DNumber={number}", f"-DWIDE={wide}"))


def launch(name, *arrays):
    """Run `name`: forward (x, y, z) or backward (x, y, dz, dx, dy).

    CuPy's arrays of one shape, C-contiguous, all float32 or all float64; the
    last one or two are written. They are read in packs of 16 bytes where all
    begin at a multiple of that and the length allows it.
    """
    first, wide = arrays[0], 16 // arrays[0].itemsize
    if first.size % wide or any(array.data.ptr % 16 for array in arrays):
        wide = 1
    if n := first.size // wide:
        kernel = compiled(name, str(first.dtype), wide)
        kernel((-(-n // 256),), (256,), (*arrays, np.int64(n)))
