// What a training step needs before and after loops.cu's kernels, with the units first as there.

__device__ float warp_sum(float v) {
    for (int far = 16; far > 0; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
    return v;
}

// y = w h + b for 64 columns of h a block, (UNITS, n) with `stride` from row to row; four threads
// share the units of a column. dy = 2 (y - t) / n; error += (y - t)^2 / n; db += dy.
extern "C" __global__ void read_out(const float* h, size_t stride, const float* w, const float* b,
                                    const float* t, float* dy, float* error, float* db, int n) {
    __shared__ float parts[4][64];
    const int column = threadIdx.x % 64, part = threadIdx.x / 64, i = blockIdx.x * 64 + column;
    float y = 0;
    #pragma unroll 16
    for (int k = part * (UNITS / 4); k < (part + 1) * (UNITS / 4); k++) y += h[k * stride + i] * w[k];
    parts[part][column] = y;
    __syncthreads();
    if (part > 0) return;
    for (int k = 1; k < 4; k++) y += parts[k][column];
    const float apart = y + *b - t[i], d = 2 * apart / n;
    dy[i] = d;
    const float square = warp_sum(apart * apart / n), slope = warp_sum(d);
    if (column % 32 == 0) atomicAdd(error, square), atomicAdd(db, slope);
}

// sums[0][r] = sum of m[r][i] x[i], sums[1][r] = sum of m[r][i]; a block of 256 a row of n.
extern "C" __global__ void row_sums(const float* m, size_t stride, const float* x, float* sums,
                                    int n) {
    __shared__ float parts[2][8];
    float weighted = 0, plain = 0;
    for (int i = threadIdx.x * 4; i < n; i += 256 * 4) {
        const float4 v = *(const float4*)(m + blockIdx.x * stride + i), y = *(const float4*)(x + i);
        weighted += v.x * y.x + v.y * y.y + v.z * y.z + v.w * y.w;
        plain += v.x + v.y + v.z + v.w;
    }
    weighted = warp_sum(weighted), plain = warp_sum(plain);
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) parts[0][warp] = weighted, parts[1][warp] = plain;
    __syncthreads();
    if (threadIdx.x < 2) {
        float sum = 0;
        for (int k = 0; k < 8; k++) sum += parts[threadIdx.x][k];
        sums[threadIdx.x * gridDim.x + blockIdx.x] = sum;
    }
}
