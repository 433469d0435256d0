"""The four jobs with Numba-CUDA: kernels as in CUDA C, a thread at a time, in Python's words."""

import math

import numba
import numba_cuda
import numpy as np
from numba import cuda, float32

CANNOT = (
    "It has no words for tensor cores, nor for a load of four numbers at once; without the "
    "functions of another package its matrix products stay on the plain cores."
)


def versions():
    return {"Numba": numba.__version__, "numba-cuda": numba_cuda.__version__}


put = cuda.to_device


def get(array):
    return array.copy_to_host()


def wait(result):
    cuda.synchronize()


@cuda.jit
def add_twice_kernel(x, y, z):
    i = cuda.grid(1)
    if i < z.size:
        z[i] = x[i] + float32(2) * y[i]


def add_twice(x, y, out):
    add_twice_kernel[-(-out.size // 256), 256](x, y, out)
    return out


@cuda.jit
def stencil_kernel(x, w, out):
    """A thread goes down eight rows of its column, and loads three numbers of each once."""
    column, first = cuda.grid(1), cuda.blockIdx.y * 8
    rows, columns = x.shape
    if column >= columns:
        return
    one_more = two_more = float32(0)  # sums that want one row more, or two
    for row in range(first - 1, first + 9):
        a = b = c = float32(0)
        if row >= 0 and row < rows:
            a = x[row, column - 1] if column > 0 else float32(0)
            b = x[row, column]
            c = x[row, column + 1] if column + 1 < columns else float32(0)
        done = one_more + w[2, 0] * a + w[2, 1] * b + w[2, 2] * c
        one_more = two_more + w[1, 0] * a + w[1, 1] * b + w[1, 2] * c
        two_more = w[0, 0] * a + w[0, 1] * b + w[0, 2] * c
        if row > first and row <= rows:
            out[row - 1, column] = done


def stencil(x, weights, out):
    rows, columns = x.shape
    stencil_kernel[(-(-columns // 128), -(-rows // 8)), 128](x, weights, out)
    return out


@cuda.jit(device=True)
def largest(x):
    for k in range(5):
        x = max(x, cuda.shfl_xor_sync(0xFFFFFFFF, x, 16 >> k))
    return x


@cuda.jit(device=True)
def total(x):
    for k in range(5):
        x += cuda.shfl_xor_sync(0xFFFFFFFF, x, 16 >> k)
    return x


@cuda.jit(fastmath=True)
def softmax_kernel(x, out):
    """A block of 512 threads has a row, and keeps it in registers, eight numbers a thread."""
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    columns = x.shape[1]
    warps = cuda.shared.array(32, float32)
    mine = cuda.local.array(8, float32)
    for k in range(8):  # all loads first: none waits for another
        at = t + k * 512
        mine[k] = x[row, at] if at < columns else float32(-np.inf)
    top = mine[0]
    for k in range(1, 8):
        top = max(top, mine[k])
    top = largest(top)
    if t % 32 == 0:
        warps[t // 32] = top
    cuda.syncthreads()
    for k in range(16):
        top = max(top, warps[k])
    cuda.syncthreads()  # nobody needs `warps` any more
    sum_ = float32(0)
    for k in range(8):
        mine[k] = math.exp(mine[k] - top)
        sum_ += mine[k]
    sum_ = total(sum_)
    if t % 32 == 0:
        warps[t // 32] = sum_
    cuda.syncthreads()
    sum_ = float32(0)
    for k in range(16):
        sum_ += warps[k]
    scale = float32(1) / sum_
    for k in range(8):
        at = t + k * 512
        if at < columns:
            out[row, at] = mine[k] * scale


def softmax(x, out):
    if x.shape[1] > 8 * 512:
        raise ValueError(f"a row of {x.shape[1]} numbers does not fit into a block's registers")
    softmax_kernel[x.shape[0], 512](x, out)
    return out


@cuda.jit(fastmath=True)
def dense_kernel(a, b, bias, out):
    """A block makes 64 by 64 numbers, a thread 4 by 4 of them."""
    tile_a = cuda.shared.array((16, 64), float32)
    tile_b = cuda.shared.array((16, 64), float32)
    sums = cuda.local.array((4, 4), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row0, column0 = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    for k0 in range(0, a.shape[1], 16):
        for e in range(4):
            row, k = row0 + y + 16 * e, k0 + x
            inside = row < a.shape[0] and k < a.shape[1]
            tile_a[x, y + 16 * e] = float32(a[row, k]) if inside else float32(0)
            k, column = k0 + y, column0 + x + 16 * e
            inside = k < b.shape[0] and column < b.shape[1]
            tile_b[y, x + 16 * e] = float32(b[k, column]) if inside else float32(0)
        cuda.syncthreads()
        for k in range(16):
            for i in range(4):
                for j in range(4):
                    sums[i, j] += tile_a[k, y + 16 * i] * tile_b[k, x + 16 * j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            row, column = row0 + y + 16 * i, column0 + x + 16 * j
            if row < out.shape[0] and column < out.shape[1]:
                out[row, column] = max(sums[i, j] + float32(bias[column]), float32(0))


def dense(a, b, bias, out):
    m, n = out.shape
    dense_kernel[(-(-n // 64), -(-m // 64)), (16, 16)](a, b, bias, out)
    return out
