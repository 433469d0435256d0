"""The four jobs with CuPy's array functions: each call runs a kernel written by others."""

import cupy as cp

CANNOT = (
    "It cannot keep a result on the chip between two calls, so each operation reads and writes its "
    "arrays again."
)


def versions():
    return {"CuPy": cp.__version__}


put, get = cp.asarray, cp.asnumpy


def wait(result):
    cp.cuda.Device().synchronize()


def add_twice(x, y, out):
    cp.multiply(y, 2, out=out)
    return cp.add(x, out, out=out)


def stencil(x, weights, out):
    from cupyx.scipy import ndimage

    return ndimage.correlate(x, weights, output=out, mode="constant")


def softmax(x, out):
    cp.subtract(x, x.max(axis=1, keepdims=True), out=out)
    cp.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)
    return out


def dense(a, b, bias, out):
    cp.matmul(a, b, out=out)
    out += bias
    return cp.maximum(out, 0, out=out)
