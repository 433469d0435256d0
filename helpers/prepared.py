"""What is done to matrices before a product: one transposed, or both split into float16 parts."""

import cupy as cp
import numpy as np

TURN = r"""
extern "C" __global__ void turn(const float* A, float* At, int M, int K) {
    __shared__ float tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int row = blockIdx.y * 32, k = blockIdx.x * 32;
    for (int i = y; i < 32; i += 8)
        if (row + i < M && k + x < K) tile[i][x] = A[(row + i) * K + k + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (k + i < K && row + x < M) At[(k + i) * M + row + x] = tile[x][i];
}"""
LARGEST = r"""
// The bits of |x| if x is finite, else 0: of floats without a sign they are ordered like integers.
__device__ unsigned int size_of(float x) {
    unsigned int bits = __float_as_uint(x) & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0;
}
extern "C" __global__ void largest(const float* A, const float* B, unsigned int* out,
                                   long long size_a, long long size_b) {
    unsigned int most[2] = {0, 0};
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    #pragma unroll 4
    for (long long n = i; n < size_a; n += all) most[0] = max(most[0], size_of(A[n]));
    #pragma unroll 4
    for (long long n = i; n < size_b; n += all) most[1] = max(most[1], size_of(B[n]));
    for (int m = 0; m < 2; m++) {
        for (int bit = 16; bit > 0; bit /= 2)
            most[m] = max(most[m], __shfl_xor_sync(0xffffffff, most[m], bit));
        if (threadIdx.x % 32 == 0) atomicMax(&out[m], most[m]);
    }
}"""
PACK = r"""
#include <cuda_fp16.h>
// `back` becomes one over the scale: the power of two that brings the largest below 32768.
extern "C" __global__ void pack(const float* from, unsigned int* to, const unsigned int* largest,
                                float* back, int rows, int cols, int K, int down) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, step = down ? cols : 1;
    int exponent = min(max(268 - (int)(*largest >> 23), 1), 253);
    float scale = __uint_as_float(exponent << 23);
    if (x == 0 && blockIdx.y == 0) *back = 1 / scale;
    for (int y = blockIdx.y; y < rows && x < cols; y += gridDim.y) {
        int pair = down ? y : x, k = 2 * pair, word = pair / 16 * 32 + pair % 16;
        const float* first = from + (down ? x : y * K) + k * step;
        float one = k < K ? first[0] * scale : 0;
        float two = k + 1 < K ? first[step] * scale : 0;
        __half2 high = __floats2half2_rn(one, two);
        float2 kept = __half22float2(high);
        __half2 low = __floats2half2_rn(one - kept.x, two - kept.y);
        unsigned int* place = to + (down ? x : 2 * y * cols) + word * step;
        place[0] = *(unsigned int*)&high, place[16 * step] = *(unsigned int*)&low;
    }
}"""
turn_kernel = cp.RawKernel(TURN, "turn")
largest_kernel = cp.RawKernel(LARGEST, "largest")
pack_kernel = cp.RawKernel(PACK, "pack", options=("-std=c++17",))


def turned(A, B):
    """Return A (M, K), float32, as a (K, M) array of rows, and B as it is."""
    (M, K), At = A.shape, cp.empty(A.shape[::-1], A.dtype)
    turn_kernel((-(-K // 32), -(-M // 32)), (256,), (A, At, np.int32(M), np.int32(K)))
    return At, B


def packed(A, B):
    """Split A (M, K) and B (K, N), float32, into float16 parts, two neighbours along K in a word.

    Both are scaled first by a power of two, such that the largest finite number is at least 16384
    and below 32768. Of 32 numbers along K come 16 words of high parts, float16(x), then 16 of low
    ones, float16(x - high); zeros fill up to a multiple of 32. Returns the words, uint32, (M, k)
    and (k, N) with k = 32 ceil(K / 32), and an array of one over each scale, float32.
    """
    (M, K), N = A.shape, B.shape[1]
    bits, back, pairs = cp.zeros(2, np.uint32), cp.empty(2, np.float32), -(-K // 32) * 16
    sizes = np.int64(A.size), np.int64(B.size)
    blocks = 8 * cp.cuda.Device().attributes["MultiProcessorCount"]
    largest_kernel((blocks,), (256,), (A, B, bits, *sizes))
    words = cp.empty((M, 2 * pairs), np.uint32), cp.empty((2 * pairs, N), np.uint32)
    for down, (rows, cols) in enumerate(((M, pairs), (pairs, N))):
        grid = -(-cols // 256), min(rows, 65535)
        sizes = np.int32(rows), np.int32(cols), np.int32(K), np.int32(down)
        arguments = (A, B)[down], words[down], bits[down:], back[down:], *sizes
        pack_kernel(grid, (256,), arguments)
    return *words, back
