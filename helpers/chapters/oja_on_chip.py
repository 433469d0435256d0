"""Generated from notebooks/47_oja_on_chip.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp


from helpers.chapters.oja_fast import agrees, doubles, fill, relative_error
from helpers.chapters.oja_fast import eight_pass, record_steps, run_source
from helpers.chapters.oja_reservoir import GAIN, KEEP, make_reservoir
from helpers.chapters.oja_reservoir import oja_matrix, run_numpy, to_device


element = r"""
__device__ double element(const double* W, int row, int col) {
    return row < N && col < N ? W[(long long)row * N + col] : 0.0;
}
"""


sums = r"""
#define GROUP (ROWS == 16 ? 16 : 8)  // rows that are summed together
// GROUP sums a lane -> lane l has the sum of row l % GROUP over all lanes, in p[0].
__device__ void sum_rows(double* p, int lane) {
    #pragma unroll
    for (int done = 1; done < GROUP; done *= 2) {
        const int half = GROUP / 2 / done;
        UNROLLED(r, half) {
            double mine = lane & half ? p[r + half] : p[r];
            double give = lane & half ? p[r] : p[r + half];
            p[r] = mine + __shfl_xor_sync(0xffffffff, give, half);
        }
    }
    #pragma unroll
    for (int bit = GROUP; bit < 32; bit *= 2)
        p[0] += __shfl_xor_sync(0xffffffff, p[0], bit);
}
"""


cluster_names = r"""// needs compute capability 9.0
#include <cooperative_groups.h>
#define COLS ((N + 31) / 32)
#define ROWS 8
#define BLOCKS ((N + 31) / 32)
#define UNROLLED(k, n) _Pragma("unroll") for (int k = 0; k < (n); k++)
#define TAG_BIT (1ull << 62)
typedef unsigned long long word;
__device__ word tag(int t) { return t / 2 % 2 == 0 ? TAG_BIT : 0; }
"""


cluster_code = r"""
extern "C" __global__ __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(128, 1)
void one_cluster(double* W, double* x_out, const double* win, const double* u,
                 int steps, double keep, double gain, double eta, int* lost) {
    @begin@
    cluster.sync();
    // A warp without rows stays out: nobody would wait for it.
    for (int t = 0; t <= steps && first < N; t++) {
        @look@
        @compute@
        @send@
        @learn_rows@
    }
    cluster.sync();  // nobody leaves while another may write into its memory
    @end@
}
"""


begin = r"""__shared__ word slot[2][32 * COLS];
    auto cluster = cooperative_groups::this_cluster();
    const int lane = threadIdx.x % 32, first = 8 * (threadIdx.x / 32 + 4 * blockIdx.x);
    const int row = first + lane % 8;  // four lanes look after the same row
    for (int k = threadIdx.x; k < 64 * COLS; k += 128)
        slot[k / (32 * COLS)][k % (32 * COLS)] = k < 32 * COLS ? TAG_BIT : 0;
    double v[8][COLS], x[COLS], xi = 0.0, c = 1.0, drive = steps > 0 ? u[0] : 0.0;
    double my_win = row < N ? win[row] : 0.0;
    UNROLLED(k, COLS)
        UNROLLED(r, 8) v[r][k] = element(W, first + r, lane + 32 * k);
    word* there[2];
    UNROLLED(k, 2) {
        int to = lane / 8 + 4 * k;
        bool mine = to < BLOCKS && row < N;
        there[k] = mine ? cluster.map_shared_rank(&slot[0][0], to) + row : nullptr;
    }"""


look = r"""const volatile word* from = &slot[t % 2][0];
        word bits[COLS];
        bool ready;
        int tries = 0;
        do {
            ready = ++tries > 400000;  // a bound: a lost word must not hang the GPU
            if (ready) *lost = 1;
            bool all = true;
            UNROLLED(k, COLS) bits[k] = from[lane + 32 * k];
            UNROLLED(k, COLS)
                all &= lane + 32 * k >= N || (bits[k] & TAG_BIT) == tag(t);
            ready |= all;
        } while (!__all_sync(0xffffffff, ready));
        UNROLLED(k, COLS) x[k] = __longlong_as_double(bits[k] & ~TAG_BIT);"""


compute = r"""double p[8], xx = 0.0;
        UNROLLED(r, 8) p[r] = 0.0;
        UNROLLED(k, COLS) {
            UNROLLED(r, 8) p[r] += v[r][k] * x[k];
            xx += x[k] * x[k];
        }
        sum_rows(p, lane);
        UNROLLED(b, 5) xx += __shfl_xor_sync(0xffffffff, xx, 1 << b);
        double push = eta * xi, c_new = c * (1.0 - push * xi);"""


send = r"""if (t < steps) {
            double sum = c_new * p[0] + push * xx;
            xi = keep * xi + gain * tanh(sum + my_win * drive);
            word sent = (__double_as_longlong(xi) & ~TAG_BIT) | tag(t + 1);
            UNROLLED(k, 2)
                if (there[k]) *(volatile word*)(there[k] + (t + 1) % 2 * 32 * COLS) = sent;
            if (t + 1 < steps) drive = u[t + 1];
        }
        c = c_new;"""

learn_rows = r"""UNROLLED(r, 8) {
            double b = __shfl_sync(0xffffffff, push / c, r);
            UNROLLED(k, COLS) v[r][k] += b * x[k];
        }"""


end = r"""if (lane < 8 && row < N) x_out[row] = xi;
    UNROLLED(r, 8) {
        double scale = __shfl_sync(0xffffffff, c, r);
        UNROLLED(k, COLS)
            if (first + r < N && lane + 32 * k < N)
                W[(long long)(first + r) * N + lane + 32 * k] = scale * v[r][k];
    }"""


def cluster_source(n):
    """CUDA C of the kernel for n neurons, up to 256."""
    pieces = {"begin": begin, "look": look, "compute": compute, "send": send}
    body = fill(cluster_code, learn_rows=learn_rows, end=end, **pieces)
    return f"#define N {n}\n" + cluster_names + element + sums + body
