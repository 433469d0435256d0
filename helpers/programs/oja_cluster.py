"""Chapter 47's kernel for one cluster: up to 256 neurons, their weights in registers, one launch.

The chapter shows how its blocks send states into each other's shared memory, and how a warp sums
eight rows; `source` puts the two texts into the kernel.
"""

NAMES = r"""// needs compute capability 9.0
#include <cooperative_groups.h>
#define COLS ((N + 31) / 32)
#define ROWS 8
#define BLOCKS ((N + 31) / 32)
#define UNROLLED(k, n) _Pragma("unroll") for (int k = 0; k < (n); k++)
#define TAG_BIT (1ull << 62)
typedef unsigned long long word;
__device__ word tag(int t) { return t / 2 % 2 == 0 ? TAG_BIT : 0; }
__device__ double element(const double* W, int row, int col) {
    return row < N && col < N ? W[(long long)row * N + col] : 0.0;
}
"""
KERNEL = r"""
// Wait for step t's state; true if a word was lost (a bound: no GPU must hang).
__device__ bool look(const volatile word* from, int t, double* x) {
    const int lane = threadIdx.x % 32;
    word bits[COLS];
    bool ready, lost = false;
    int tries = 0;
    do {
        lost = ++tries > 400000;
        ready = true;
        UNROLLED(k, COLS) bits[k] = from[lane + 32 * k];
        UNROLLED(k, COLS)
            ready &= lane + 32 * k >= N || (bits[k] & TAG_BIT) == tag(t);
        ready |= lost;
    } while (!__all_sync(0xffffffff, ready));
    UNROLLED(k, COLS) x[k] = __longlong_as_double(bits[k] & ~TAG_BIT);
    return lost;
}
extern "C" __global__ __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(128, 1)
void one_cluster(double* W, double* x_out, const double* win, const double* u,
                 int steps, double keep, double gain, double eta, int* lost) {
    __shared__ word slot[2][32 * COLS];
    Cluster cluster = cooperative_groups::this_cluster();
    const int lane = threadIdx.x % 32;
    const int first = 8 * (threadIdx.x / 32 + 4 * blockIdx.x);
    const int row = first + lane % 8;  // four lanes look after the same row
    // As if step 0, zeros, had been published.
    for (int k = threadIdx.x; k < 64 * COLS; k += 128)
        slot[k / (32 * COLS)][k % (32 * COLS)] = k < 32 * COLS ? TAG_BIT : 0;
    double v[8][COLS], x[COLS], xi = 0.0, c = 1.0;
    double drive = steps > 0 ? u[0] : 0.0, my_win = row < N ? win[row] : 0.0;
    UNROLLED(k, COLS)
        UNROLLED(r, 8) v[r][k] = element(W, first + r, lane + 32 * k);
    word* there[2];
    find(cluster, &slot[0][0], row, there);
    cluster.sync();
    // A warp without rows stays out: nobody would wait for it.
    for (int t = 0; t <= steps && first < N; t++) {
        if (look(&slot[t % 2][0], t, x)) *lost = 1;
        double p[8], xx = 0.0;
        UNROLLED(r, 8) p[r] = 0.0;
        UNROLLED(k, COLS) {
            UNROLLED(r, 8) p[r] += v[r][k] * x[k];
            xx += x[k] * x[k];
        }
        sum_rows(p, lane);
        UNROLLED(b, 5) xx += __shfl_xor_sync(0xffffffff, xx, 1 << b);
        double push = eta * xi, c_new = c * (1.0 - push * xi);
        if (t < steps) {
            double sum = c_new * p[0] + push * xx;
            xi = keep * xi + gain * tanh(sum + my_win * drive);
            send(there, t + 1, xi);
            if (t + 1 < steps) drive = u[t + 1];
        }
        UNROLLED(r, 8) {
            double b = __shfl_sync(0xffffffff, push / c_new, r);
            UNROLLED(k, COLS) v[r][k] += b * x[k];
        }
        c = c_new;
    }
    cluster.sync();  // nobody leaves while another may write into its memory
    if (lane < 8 && row < N) x_out[row] = xi;
    UNROLLED(r, 8) {
        double scale = __shfl_sync(0xffffffff, c, r);
        UNROLLED(k, COLS)
            if (first + r < N && lane + 32 * k < N)
                W[(long long)(first + r) * N + lane + 32 * k] = scale * v[r][k];
    }
}
"""


def source(n, shown):
    """Return CUDA C of the kernel `one_cluster` for n neurons, 1 to 256.

    `shown` is CUDA C of the type Cluster and the functions find, send and sum_rows. ValueError for
    another n: a cluster of more than eight blocks is not portable.
    """
    if not 1 <= n <= 256:
        raise ValueError(f"one cluster of eight blocks has room for 256 neurons, not {n}")
    return f"#define N {n}\n{NAMES}{shown}{KERNEL}"
