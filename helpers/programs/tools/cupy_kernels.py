"""The four jobs with kernels that CuPy writes around an expression of yours."""

import cupy as cp

CANNOT = (
    "It cannot let threads work together beyond one sum a row: no shared memory, no barrier, and "
    "so no matrix product."
)


def versions():
    return {"CuPy": cp.__version__}


put, get = cp.asarray, cp.asnumpy


def wait(result):
    cp.cuda.Device().synchronize()


add_twice_kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x + 2 * y", "add_twice")


def add_twice(x, y, out):
    return add_twice_kernel(x, y, out, block_size=512)


stencil_kernel = cp.ElementwiseKernel(
    "raw T x, raw T w, int32 rows, int32 columns",
    "T out",
    """
    int row = i / columns, column = i % columns;
    T sum = 0;
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) {
            int r = row + m - 1, c = column + n - 1;
            if (r >= 0 && r < rows && c >= 0 && c < columns)
                sum += w[3 * m + n] * x[i + (m - 1) * columns + n - 1];
        }
    out = sum
    """,
    "stencil",
)


def stencil(x, weights, out):
    return stencil_kernel(x, weights, *x.shape, out)


sum_of_powers = cp.ReductionKernel(
    "T x, T top", "T y", "exp(x - top)", "a + b", "y = a", "0", "sum_of_powers"
)


share_kernel = cp.ElementwiseKernel(
    "T x, T top, T total", "T y", "y = exp(x - top) / total", "share"
)


def softmax(x, out):
    top = x.max(axis=1, keepdims=True)
    total = sum_of_powers(x, top, axis=1, keepdims=True)
    return share_kernel(x, top, total, out)


@cp.fuse()
def add_bias(product, bias):
    return cp.maximum(product + bias, 0)


def dense(a, b, bias, out):
    return add_bias(cp.matmul(a, b, out=out), bias)  # the product is cuBLAS's
