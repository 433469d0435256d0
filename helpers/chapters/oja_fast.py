"""Generated from notebooks/45_oja_fast.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp

from helpers.chapters.oja_reservoir import GAIN, KEEP, make_reservoir
from helpers.chapters.oja_reservoir import run_cupy, run_numpy, to_device


def relative_error(result, reference):
    return float(np.linalg.norm(result - reference) / np.linalg.norm(reference))


def agrees(run, n=33, steps=41, eta=1e-3):
    """Does run(W, win, u, eta) give NumPy's W and x to 1e-10?"""
    case = make_reservoir(n, steps, seed=n)
    W_right, x_right = run_numpy(*case, eta, KEEP, GAIN)
    W, win, u = to_device(case)
    x = run(W, win, u, eta)
    errors = relative_error(W.get(), W_right), relative_error(x.get(), x_right)
    return max(errors) < 1e-10


def run_source(W, win, u, eta):
    W[...], x = run_cupy(W, win, u, eta, KEEP, GAIN)
    return x


one_pass_code = r"""
extern "C" __global__ void one_pass(
        real* __restrict__ W, const real* __restrict__ x,
        real* __restrict__ x_next, const real* __restrict__ win,
        const real* __restrict__ u, int t, int n,
        real keep, real gain, real eta) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= n) return;  // whole warps leave: all 32 lanes have the same row
    real* w = W + (long long)row * n;
    real xi = x[row], push = eta * xi, fade = 1 - push * xi, sum = 0;
    #pragma unroll 8
    for (int j = lane; j < n; j += 32) {
        real v = fade * w[j] + push * x[j];  // learn ...
        w[j] = v;
        sum += v * x[j];                     // ... and multiply
    }
    for (int bit = 16; bit > 0; bit /= 2)    // add up the 32 lanes' parts
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    if (lane == 0)
        x_next[row] = keep * xi + gain * tanh(sum + win[row] * u[t]);
}
"""
one_pass = cp.RawKernel(one_pass_code, "one_pass", ("-Dreal=double",))


def step(W, x, x_next, win, u, t, eta, kernel=one_pass):
    n, threads = len(W), 64 if len(W) < 500 else 256
    real = W.dtype.type
    numbers = np.int32(t), np.int32(n), real(KEEP), real(GAIN), real(eta)
    blocks = -(-n * 32 // threads)  # a warp to a row, rounded up
    kernel((blocks,), (threads,), (W, x, x_next, win, u, *numbers))


def record_steps(n, eta, portion, one_step=step):
    held = [cp.zeros(shape) for shape in ((n, n), n, n, n, portion)]
    W, x, x_next, win, u = held
    one_step(W, x, x_next, win, u, 0, eta)  # compiled now
    x_next[...] = 0
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        for t in range(portion):
            one_step(W, x, x_next, win, u, t, eta)
            x, x_next = x_next, x
        graph = stream.end_capture()
    return graph, held
