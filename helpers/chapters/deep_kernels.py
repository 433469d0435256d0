"""Generated from notebooks/65_deep_kernels.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp


sigmoid = r"""
__device__ double activate(double z) {
    double e = exp(-5 * fabs(z)), r = 1 / (1 + e);
    return z < 0 ? e * r : r;
}
__device__ float activate(float z) {
    return __fdividef(1.0f, 1.0f + __expf(-5 * z));
}
"""


pieces = r"""
#define N 64                 // units of a layer
#define LAYER ((N + 1) * N)  // its weights, and a row of biases

struct Weights { real2 row[8], bias; };

__device__ void fetch(Weights& w, const real* layer, int row, int col) {
    #pragma unroll
    for (int j = 0; j < 8; j++)
        w.row[j] = *(const real2*)(layer + (row + j) * N + col);
    w.bias = *(const real2*)(layer + N * N + col);
}

__device__ real finish(const real (*p)[N], int unit) {
    return activate((p[0][unit] + p[1][unit]) + (p[2][unit] + p[3][unit]));
}

// x: 8 inputs. Returns the sum of one of two outputs over a warp's 16 inputs.
__device__ real multiply(const Weights& w, const real* x, bool bias, int half) {
    real a = bias ? w.bias.x : 0, b = bias ? w.bias.y : 0, a2 = 0, b2 = 0;
    #pragma unroll
    for (int j = 0; j < 8; j += 2) {
        const real2 u = *(const real2*)(x + j);
        a += u.x * w.row[j].x;       b += u.x * w.row[j].y;
        a2 += u.y * w.row[j + 1].x;  b2 += u.y * w.row[j + 1].y;
    }
    a += a2; b += b2;
    return (half ? b : a) + __shfl_xor_sync(0xffffffff, half ? a : b, 16);
}

__device__ void input_layer(const real* x, int n_in, const real* first,
                            real (*part)[N]) {
    int unit = threadIdx.x % N, group = threadIdx.x / N;
    real sum = group ? 0 : first[n_in * N + unit];  // the bias, once
    #pragma unroll 8
    for (int i = group; i < n_in; i += 4) sum += x[i] * first[i * N + unit];
    part[group][unit] = sum;
}
"""


forward_source = r"""
extern "C" __global__ __launch_bounds__(256, 1)
void forward(const real* __restrict__ images, int n_in,
             const real* __restrict__ first, const real* __restrict__ layers,
             const real* __restrict__ last, real* __restrict__ X,
             real* __restrict__ y, int depth, int batch, int stride) {
    __shared__ __align__(16) real part[2][4][N], mine[8][16], total[4];
    const int lane = threadIdx.x % 32, half = lane / 16;
    const int warp = threadIdx.x / 32;
    const int from = warp % 4 * 16, to = warp / 4 * 32;  // the warp's
    const int row = from + 8 * half, col = to + 2 * (lane % 16);  // the lane's
    const int unit = from + lane % 16;  // which it helps to finish
    const bool writes = to == 0 && half == 0, bias = from == 0 && half == 0;
    real* out = X + blockIdx.x * N + unit;
    Weights next[AHEAD];
    #pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (k < depth) fetch(next[k], layers + (size_t)k * stride, row, col);
    input_layer(images + (size_t)blockIdx.x * n_in, n_in, first, part[0]);
    __syncthreads();
    for (int start = 0; start < depth; start += AHEAD)
        #pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int d = start + k;
            if (d >= depth) continue;
            const real v = finish(part[d % 2], unit);  // 1. finish
            mine[warp][lane % 16] = v;
            if (writes) *out = v;
            out += batch * N;
            __syncwarp();
            const real* x = &mine[warp][8 * half];
            const real sum = multiply(next[k], x, bias, half);  // 2. multiply
            part[(d + 1) % 2][warp % 4][col + half] = sum;  // 3. hand over
            if (d + AHEAD < (FETCHES ? depth : 0))
                fetch(next[k], layers + (size_t)(d + AHEAD) * stride, row, col);
            __syncthreads();  // 4. wait
        }
    real v = finish(part[depth % 2], unit);
    if (writes) *out = v;
    v *= last[unit];
    for (int bit = 8; bit > 0; bit /= 2) v += __shfl_xor_sync(~0u, v, bit);
    if (writes && lane == 0) total[warp] = v;
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = activate(total[0] + total[1] + total[2] + total[3]
                                 + last[N]);
}
"""


TYPES = {"double": np.float64, "float": np.float32}  # C's names and NumPy's


def on_device(arrays, real="double"):
    return tuple(cp.asarray(a.astype(TYPES[real])) for a in arrays)


def forward_kernel(real="double", ahead=5, activation=sigmoid, fetches=1):
    options = f"-Dreal={real}", f"-Dreal2={real}2", f"-DAHEAD={ahead}"
    options += (f"-DFETCHES={fetches}",)
    source = activation + pieces + forward_source
    return cp.RawKernel(source, "forward", options)


def launch_forward(kernel, network, x, X, y, stride=65 * 64):
    first, layers, last = network
    sizes = np.int32(len(layers)), np.int32(len(x)), np.int32(stride)
    arguments = x, np.int32(x.shape[1]), first, layers, last, X, y, *sizes
    kernel((len(x),), (256,), arguments)


forward_f64, forward_f32 = forward_kernel(), forward_kernel("float", 10)
