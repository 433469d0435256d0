"""Generated from notebooks/85_lstm_kernels.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import cupy as cp

from helpers import gemm as own_gemm
from helpers import flat_adam, lstm_checks, torch_lstm
from helpers.chapters.autograd import Adam
from helpers.chapters.cnn_mnist import relative_error
from helpers.chapters.lstm_sine import (
    SineLSTM,
    Walk,
    cell_backward,
    cell_forward,
)
from helpers.chapters.lstm_sine import flatten, gradients, sine, train_step
from helpers.chapters.lstm_sine import window_at_once


def zeros(*shape):
    return cp.zeros(shape, np.float32)


def holder(model, x, t, rate=1e-3):
    """The arrays of a step for x, t (n_steps, n_batch); the state is zeros."""
    s = SimpleNamespace(x=x.copy(), t=t.copy(), rate=rate)
    s.steps, s.batch = x.shape
    s.n, rows = model.l2.w_h.shape[0], x.size
    s.p, cut = flatten(model)
    s.g, s.m, s.v = zeros(3, s.p.size)
    s.w, s.dw = (dict(zip(lstm_checks.NAMES, cut(flat))) for flat in (s.p, s.g))
    s.L, s.dL = (flat[: 2 * s.n].reshape(2, s.n) for flat in (s.p, s.g))
    s.x_and_1 = cp.stack([s.x.ravel(), cp.ones(rows, np.float32)])
    s.gates, s.dh = (
        zeros(s.steps, s.batch, 4 * s.n),
        zeros(s.steps, s.batch, s.n),
    )
    s.dz, s.d_rows = s.gates.reshape(rows, -1), s.dh.reshape(rows, -1)
    s.H, s.C = zeros(2, s.steps + 1, s.batch, s.n)  # the first: before step 0
    s.a, s.dy, s.dc = zeros(rows, s.n), zeros(rows, 1), zeros(s.batch, s.n)
    s.sums, s.entered = zeros(2, 2, 4 * s.n)
    s.out_sums, s.error = zeros(2, s.n), zeros(1)
    s.count = cp.zeros(1, np.int64), *cp.zeros((2, 1), np.float64)
    return s


column_sums_code = r"""
// sums[0][k] += sum over rows of x[row] m[row][k]; sums[1][k] without x
extern "C" __global__ void column_sums(const float* m, const float* x,
                                       float* sums, int n_rows, int n) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    float weighted = 0, plain = 0;
    #pragma unroll 8
    for (int row = blockIdx.y; row < n_rows; row += gridDim.y) {
        float v = m[(size_t)row * n + k];
        weighted += v * x[row];
        plain += v;
    }
    atomicAdd(sums + k, weighted);
    atomicAdd(sums + n + k, plain);
}
"""


read_out_code = r"""
// y = h w + b; dy = 2 (y - t) / n_rows; error += (y - t)^2 / n_rows; db += dy
extern "C" __global__ void read_out(
    const float* h, const float* w, const float* b, const float* t,
    float* dy, float* error, float* db, int n_rows, int n) {
    __shared__ float squares[8], slopes[8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x * 8 + warp;
    float y = 0;
    if (row < n_rows)
        for (int k = lane; k < n; k += 32) y += h[(size_t)row * n + k] * w[k];
    for (int far = 16; far > 0; far /= 2)
        y += __shfl_xor_sync(0xffffffff, y, far);
    if (lane == 0) {
        float apart = row < n_rows ? y + *b - t[row] : 0;
        float d = 2 * apart / n_rows;
        if (row < n_rows) dy[row] = d;
        squares[warp] = apart * apart / n_rows, slopes[warp] = d;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float square = 0, slope = 0;
        for (int k = 0; k < 8; k++) square += squares[k], slope += slopes[k];
        atomicAdd(error, square);
        atomicAdd(db, slope);
    }
}
"""
module = cp.RawModule(code=column_sums_code + read_out_code)
sums_kernel, read_out_kernel = map(
    module.get_function, ("column_sums", "read_out")
)


def clear(s):
    for array in (s.g, s.sums, s.out_sums, s.dc, s.error):
        array.fill(0)


def enter(s):
    gemm(s.x_and_1.T, s.L, s.a)
    gemm(s.a, s.w["l2.w_x"], s.dz)


def forward(s):
    for t in range(s.steps):
        if t:
            gemm(s.H[t], s.w["l2.w_h"], s.gates[t], add=True)
        state = s.C[t + 1], s.H[t + 1], s.gates[t]
        cell_forward(s.C[t], s.w["l2.b"], s.n, *state)


def read_out(s):
    made = s.dy, s.error, s.dw["l3.b"], np.int32(s.x.size), np.int32(s.n)
    given = s.H[1:], s.w["l3.w"], s.w["l3.b"], s.t
    read_out_kernel(((s.x.size + 7) // 8,), (256,), (*given, *made))


def column_sums(matrix, x, sums):
    n_rows, n = matrix.shape
    grid = (n + 127) // 128, min(n_rows, 128)
    sizes = np.int32(n_rows), np.int32(n)
    sums_kernel(grid, (128,), (matrix, x, sums, *sizes))


def backward(s):
    gemm(s.dy, s.w["l3.w"].T, s.d_rows)
    for t in reversed(range(s.steps)):
        if t + 1 < s.steps:
            gemm(s.gates[t + 1], s.w["l2.w_h"].T, s.dh[t], add=True)
        state = s.C[t], s.C[t + 1], s.dh[t]
        cell_backward(*state, s.n, s.dc, s.gates[t])


def for_all(s):
    before, after = (h.reshape(s.a.shape) for h in (s.H[:-1], s.H[1:]))
    gemm(before.T, s.dz, s.dw["l2.w_h"])
    column_sums(after, s.dy, s.out_sums)
    s.dw["l3.w"][...] = s.out_sums[0, :, None]
    column_sums(s.dz, s.x, s.sums)
    s.dw["l2.b"][...] = s.sums[1]


def leave(s):
    gemm(s.a.T, s.dz, s.dw["l2.w_x"])
    gemm(s.dz, s.w["l2.w_x"].T, s.d_rows)  # dh is used up by now
    column_sums(s.d_rows, s.x, s.dL)


def learn(s):
    flat_adam.update(s.g, s.count, s.p, s.m, s.v, s.rate)


GENERAL = [clear, enter, forward, read_out, backward, for_all, leave, learn]


def run(s, functions):
    with gemm.stream:
        for function in functions:
            function(s)
