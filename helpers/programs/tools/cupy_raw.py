"""The four jobs as CUDA C: every load, every barrier and every tile is yours."""

import functools

import cupy as cp
import numpy as np

CANNOT = (
    "It cannot be written without CUDA C, and CuPy sees neither types nor shapes inside it: what "
    "does not fit is yours to refuse."
)


def versions():
    return {"CuPy": cp.__version__}


put, get = cp.asarray, cp.asnumpy


def wait(result):
    cp.cuda.Device().synchronize()


# Neighbours that one instruction moves: four float32, where addresses and lengths allow it.
pack = r"""
struct alignas(4 * WIDE) Pack { float v[WIDE]; };
"""


@functools.cache
def compiled(name, source, **constants):
    options = [f"-D{key}={value}" for key, value in constants.items()]
    return cp.RawKernel(source, name, options=("-std=c++17", *options))


add_twice_source = (
    pack
    + r"""
extern "C" __global__ void add_twice(const Pack* x, const Pack* y, Pack* z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pack a = x[i], b = y[i];
    for (int k = 0; k < WIDE; k++) a.v[k] += 2 * b.v[k];
    z[i] = a;
}"""
)


def add_twice(x, y, out):
    wide = 1 if x.size % 4 else 4
    n = x.size // wide
    kernel = compiled("add_twice", add_twice_source, WIDE=wide)
    kernel((-(-n // 256),), (256,), (x, y, out, np.int64(n)))
    return out


stencil_source = (
    pack
    + r"""
// Six neighbours of a row: one to the left, four of mine, one to the right; zeros outside.
__device__ void load(float* to, const float* x, int row, int column, int rows, int columns) {
    for (int k = 0; k < WIDE + 2; k++) to[k] = 0;
    if (row < 0 || row >= rows) return;
    const float* from = x + (long long)row * columns + column;
    Pack mine = *(const Pack*)from;
    for (int k = 0; k < WIDE; k++) to[k + 1] = mine.v[k];
    if (column > 0) to[0] = from[-1];
    if (column + WIDE < columns) to[WIDE + 1] = from[WIDE];
}
extern "C" __global__ void stencil(const float* x, const float* weights, float* out, int rows,
                                   int columns) {
    int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDE, first = blockIdx.y * ROWS;
    if (column >= columns) return;
    float w[9], window[3][WIDE + 2];
    for (int k = 0; k < 9; k++) w[k] = weights[k];
    load(window[0], x, first - 1, column, rows, columns);
    load(window[1], x, first, column, rows, columns);
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {  // down the rows: each is loaded once
        if (first + r >= rows) return;
        load(window[(r + 2) % 3], x, first + r + 1, column, rows, columns);
        Pack sum = {};
        for (int m = 0; m < 3; m++)
            for (int n = 0; n < 3; n++)
                for (int k = 0; k < WIDE; k++)
                    sum.v[k] += w[3 * m + n] * window[(r + m) % 3][k + n];
        *(Pack*)(out + (long long)(first + r) * columns + column) = sum;
    }
}"""
)


def stencil(x, weights, out):
    rows, columns = x.shape
    wide = 1 if columns % 4 else 4
    kernel = compiled("stencil", stencil_source, WIDE=wide, ROWS=4)
    grid = -(-columns // (wide * 128)), -(-rows // 4)
    kernel(grid, (128,), (x, weights, out, np.int32(rows), np.int32(columns)))
    return out


softmax_source = (
    "#include <math_constants.h>"
    + pack
    + r"""
// The largest, or the sum, of one number from each thread of the block.
template <bool MAX> __device__ float together(float mine) {
    __shared__ float warps[32];
    for (int other = 16; other > 0; other /= 2) {
        float its = __shfl_xor_sync(0xffffffff, mine, other);
        mine = MAX ? fmaxf(mine, its) : mine + its;
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = warps[0];
    for (int k = 1; k < blockDim.x / 32; k++) mine = MAX ? fmaxf(mine, warps[k]) : mine + warps[k];
    __syncthreads();  // nobody needs `warps` any more
    return mine;
}
// A block has a row, and keeps it in registers.
extern "C" __global__ void __launch_bounds__(512) softmax(const Pack* x, Pack* out, int packs) {
    x += (long long)blockIdx.x * packs, out += (long long)blockIdx.x * packs;
    Pack mine[EACH];
    float top = -CUDART_INF_F, total = 0;
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + e * blockDim.x;
        for (int k = 0; k < WIDE; k++) mine[e].v[k] = -CUDART_INF_F;
        if (at < packs) mine[e] = x[at];
        for (int k = 0; k < WIDE; k++) top = fmaxf(top, mine[e].v[k]);
    }
    top = together<true>(top);
    #pragma unroll
    for (int e = 0; e < EACH; e++)
        for (int k = 0; k < WIDE; k++) total += mine[e].v[k] = __expf(mine[e].v[k] - top);
    float scale = 1 / together<false>(total);
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + e * blockDim.x;
        for (int k = 0; k < WIDE; k++) mine[e].v[k] *= scale;
        if (at < packs) out[at] = mine[e];
    }
}"""
)


def softmax(x, out):
    rows, columns = x.shape
    wide = 1 if columns % 4 else 4
    packs = columns // wide
    kernel = compiled("softmax", softmax_source, WIDE=wide, EACH=-(-packs // 512))
    kernel((rows,), (512,), (x, out, np.int32(packs)))
    return out


dense_source = r"""
#include <cuda_fp16.h>
typedef unsigned int Two;  // two float16
constexpr int TILE = 128, DEEP = 32, LINE_A = DEEP / 2 + 4, LINE_B = TILE + 8;  // of `Two`
union Eight { uint4 all; half one[8]; Two two[4]; };

// sum += a b with a (16, 16), b (16, 8), on the tensor cores.  needs compute capability 8.0
__device__ void mma(float* sum, const Two* a, const Two* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// Eight neighbours of a row of a matrix; zeros outside.
__device__ Eight eight(const half* from, int row, int column, int rows, int columns) {
    const half* at = from + (long long)row * columns + column;
    Eight found;
    if (row < rows && column + 8 <= columns && columns % 8 == 0) {
        found.all = *(const uint4*)at;
        return found;
    }
    for (int k = 0; k < 8; k++)
        found.one[k] = row < rows && column + k < columns ? at[k] : __float2half(0.0f);
    return found;
}
extern "C" __global__ void __launch_bounds__(256) dense(
    const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    __shared__ uint4 as4[2][TILE * LINE_A / 4], bs4[2][DEEP / 2 * LINE_B / 4];
    int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, q = t % 4;
    int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    int y = warp / 4 * 64 + g, x = warp % 4 * 32;  // my warp has 64 by 32 numbers
    Eight next_a[2], next_b[2];
    auto fetch = [&](int k0) {
        for (int e = 0; e < 2; e++) {
            next_a[e] = eight(A, row0 + t / 4 + e * 64, k0 + t % 4 * 8, M, K);
            next_b[e] = eight(B, k0 + t / 16 * 2 + e, column0 + t % 16 * 8, K, N);
        }
    };
    auto keep = [&](int stage) {  // of B in pairs from two rows, as the tensor cores want them
        Two *as = (Two*)as4[stage], *bs = (Two*)bs4[stage] + t / 16 * LINE_B + t % 16 * 8;
        for (int e = 0; e < 2; e++)
            *(uint4*)&as[(t / 4 + e * 64) * LINE_A + t % 4 * 4] = next_a[e].all;
        Eight pairs[2];
        for (int k = 0; k < 8; k++)
            for (int e = 0; e < 2; e++) pairs[k / 4].one[k % 4 * 2 + e] = next_b[e].one[k];
        for (int e = 0; e < 2; e++) *(uint4*)&bs[e * 4] = pairs[e].all;
    };
    float sum[4][4][4] = {};
    fetch(0);
    keep(0);
    __syncthreads();
    for (int k0 = 0, stage = 0; k0 < K; k0 += DEEP, stage ^= 1) {
        const Two *as = (Two*)as4[stage], *bs = (Two*)bs4[stage];
        if (k0 + DEEP < K) fetch(k0 + DEEP);  // on its way while the tensor cores work
        #pragma unroll
        for (int k = 0; k < DEEP / 2; k += 8) {
            Two a[4][4], b[4][2];
            for (int i = 0; i < 4; i++)
                for (int r = 0; r < 4; r++)
                    a[i][r] = as[(y + i * 16 + r % 2 * 8) * LINE_A + k + r / 2 * 4 + q];
            for (int j = 0; j < 4; j++)
                for (int r = 0; r < 2; r++)
                    b[j][r] = bs[(k + r * 4 + q) * LINE_B + x + j * 8 + g];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) mma(sum[i][j], a[i], b[j]);
        }
        if (k0 + DEEP < K) keep(stage ^ 1);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int r = 0; r < 4; r++) {
                int row = row0 + y + i * 16 + r / 2 * 8;
                int column = column0 + x + j * 8 + q * 2 + r % 2;
                if (row < M && column < N)
                    C[(long long)row * N + column] =
                        __float2half(fmaxf(sum[i][j][r] + __half2float(bias[column]), 0.0f));
            }
}"""


def dense(a, b, bias, out):
    (m, k), n = a.shape, b.shape[1]
    kernel = compiled("dense", dense_source)
    sizes = np.int32(m), np.int32(n), np.int32(k)
    kernel((-(-n // 128), -(-m // 128)), (256,), (a, b, bias, out, *sizes))
    return out
