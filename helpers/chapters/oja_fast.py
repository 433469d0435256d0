"""Generated from notebooks/45_oja_fast.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp


from helpers.chapters.oja_reservoir import GAIN, KEEP, make_reservoir
from helpers.chapters.oja_reservoir import (
    oja_matrix,
    run_cupy,
    run_numpy,
    to_device,
)


def relative_error(result, reference):
    return float(np.linalg.norm(result - reference) / np.linalg.norm(reference))


def agrees(run, n=33, steps=41, eta=1e-3):
    """Does run(W, win, u, eta) give NumPy's W and x to 1e-10? W changes in place, x is returned."""
    case = make_reservoir(n, steps, seed=n)
    W_right, x_right = run_numpy(*case, eta, KEEP, GAIN)
    W, win, u = to_device(case)
    x = run(W, win, u, eta)
    errors = relative_error(W.get(), W_right), relative_error(x.get(), x_right)
    return max(errors) < 1e-10


def run_source(W, win, u, eta):
    W[...], x = run_cupy(W, win, u, eta, KEEP, GAIN)
    return x


from helpers import measure, pick


def time_in_graph(launch):
    """Seconds for one of many launches that the device finds in its own queue."""
    launch()  # compiled now
    count = pick(gpu=100, cpu=3)
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        for _ in range(count):
            launch()
        graph = stream.end_capture()
    return measure(graph.launch).median / count


nothing = cp.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
shrink = cp.ElementwiseKernel("", "float64 w", "w *= 0.999", "shrink")


row_code = r"""
// One warp learns the row w from the state x and returns the product of the new row with x.
__device__ double learn_and_multiply(double* __restrict__ w,
                                     const double* __restrict__ x,
                                     int n, double fade, double push) {
    double sum = 0;
    #pragma unroll 8
    for (int j = threadIdx.x % 32; j < n; j += 32) {
        double xj = x[j];
        double v = fade * @load@ + push * xj;
        @store@
        sum += v * xj;
    }
    @add_up@
    return sum;
}
"""


def fill(code, **pieces):
    """Put each piece into the hole @name@ of the code."""
    for name, piece in pieces.items():
        if f"@{name}@" not in code:
            raise KeyError(f"the code has no hole @{name}@")
        code = code.replace(f"@{name}@", piece)
    return code


add_up = r"""for (int bit = 16; bit > 0; bit /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, bit);"""
whole_row = fill(row_code, load="w[j]", store="w[j] = v;", add_up=add_up)


one_pass_code = r"""
extern "C" __global__ @bounds@ void one_pass(
        double* __restrict__ W, const double* __restrict__ x,
        double* __restrict__ x_next, const double* __restrict__ win,
        const double* __restrict__ u, int t, int n,
        double keep, double gain, double eta) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;  // whole warps leave: all 32 lanes have the same row
    double xi = x[row], push = eta * xi;
    double* w = W + (long long)row * n;
    double sum = learn_and_multiply(w, x, n, @fade@, push);
    if (threadIdx.x % 32 == 0)
        x_next[row] = keep * xi + gain * tanh(sum + win[row] * u[t]);
}
"""


oja_fade = "1 - push * xi"
one_pass_source = whole_row + fill(one_pass_code, bounds="", fade=oja_fade)
one_pass = cp.RawKernel(one_pass_source, "one_pass")


def doubles(*numbers):
    return tuple(np.float64(number) for number in numbers)


def step(W, x, x_next, win, u, t, eta, kernel=one_pass):
    n, threads = len(W), 64 if len(W) < 500 else 256
    numbers = np.int32(t), np.int32(n), *doubles(KEEP, GAIN, eta)
    kernel((-(-n * 32 // threads),), (threads,), (W, x, x_next, win, u, *numbers))


busy = cp.RawKernel(
    r"""
    extern "C" __global__ void busy(long long cycles) {
        long long start = clock64();
        while (clock64() - start < cycles) {}
    }""",
    "busy",
)
cycles = np.int64(pick(gpu=1_000_000, cpu=100))


def record_steps(n, eta, portion, kernel=one_pass):
    held = [cp.zeros(shape) for shape in ((n, n), n, n, n, portion)]
    W, x, x_next, win, u = held
    step(W, x, x_next, win, u, 0, eta, kernel)  # compiled now, not while capturing
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        for t in range(portion):
            step(W, x, x_next, win, u, t, eta, kernel)
            x, x_next = x_next, x
        graph = stream.end_capture()
    return graph, held


load_first = r"""
__device__ double learn_and_multiply(double* __restrict__ w,
                                     const double* __restrict__ x,
                                     int n, double fade, double push) {
    double sum = 0;
    for (int first = threadIdx.x % 32; first < n; first += 8 * 32) {
        double wj[8], xj[8];
        @load_eight@
        @use_eight@
    }
    @add_up@
    return sum;
}
"""


load_eight = r"""#pragma unroll
        for (int k = 0, j = first; k < 8; k++, j += 32)
            wj[k] = j < n ? w[j] : 0.0, xj[k] = j < n ? x[j] : 0.0;"""
use_eight = r"""#pragma unroll
        for (int k = 0, j = first; k < 8; k++, j += 32) {
            double v = fade * wj[k] + push * xj[k];
            if (j < n) w[j] = v;
            sum += v * xj[k];
        }"""
eight = {"load_eight": load_eight, "use_eight": use_eight}
loads_first = fill(load_first, add_up=add_up, **eight)


allowed_more = "__launch_bounds__(256, 2)"
eight_code = fill(one_pass_code, bounds=allowed_more, fade=oja_fade)
eight_pass = cp.RawKernel(loads_first + eight_code, "one_pass")


def in_rounds(make_jobs):
    """Seconds of a step, {name: one for each round}; make_jobs() gives {name: (job, steps)}."""
    kept, took = [], {}
    for _ in range(pick(gpu=5, cpu=2)):
        kept.append(make_jobs())  # with arrays of their own, which live to the end
        for name, (job, steps) in kept[-1].items():
            t = measure(job, n_repeat=1, min_seconds=0.01)
            took.setdefault(name, []).append(t.median / steps)
    return {name: np.array(seconds) for name, seconds in took.items()}


def spread(seconds):
    """Microseconds in words: the median of the rounds, and the smallest and the largest."""
    middle, low, high = (1e6 * f(seconds) for f in (np.median, np.min, np.max))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def verdict(new, old):
    """Was `new` faster than `old` in every round, slower in every round, or neither?"""
    ratio = new / old
    word = f"undecided, faster in {(ratio < 1).sum()} of {len(ratio)} rounds"
    if (ratio < 1).all() or (ratio > 1).all():
        word = f"{'faster' if ratio[0] < 1 else 'slower'} in every round"
    return f"{word}: {ratio.min():.3f} to {ratio.max():.3f} of the time"


def clock_and_node():
    """The clock of an SM in MHz, from a kernel that waits for cycles; seconds of an empty node."""
    t = measure(lambda: busy((1,), (32,), (cycles,)), min_seconds=0.01)
    node = time_in_graph(lambda: nothing((1,), (32,), ()))
    return cycles / t.median / 1e6, node
