// The two loops of an LSTM's training step, a kernel each: forward, and back. A block reads its share
// of the recurrent weights w_h into shared memory once, and keeps it for all steps of the window.
//
// All arrays have the units first, the series of the batch side by side:
//     h, c   (UNITS, steps + 1, BATCH), of which step 0 is the state before the window
//     gates  (4 UNITS, steps, BATCH): in, forget, fresh, out; backward() leaves dz there
// Macros: UNITS and BATCH, multiples of 64; ONE_NUMBER, whether a single number comes in at a step.
// Before it comes helpers.tiles.TILES: UNROLLED, copy, close_group and await_groups.

#define SERIES 64  // of a block; the blocks with the same series are a group
#define GROUP (UNITS / 16)  // blocks: so many share the units
#define CHUNK 64   // rows that are multiplied at a time
#define STAGES 4   // chunks in shared memory: one is in use, the others are on their way

__device__ void load(float* v, const float* from) {
    const float4 p = *(const float4*)from;
    v[0] = p.x, v[1] = p.y, v[2] = p.z, v[3] = p.w;
}
// Past L1, which does not see what other blocks have written.
__device__ void load_new(float* v, const float* from) {
    const float4 p = __ldcg((const float4*)from);
    v[0] = p.x, v[1] = p.y, v[2] = p.z, v[3] = p.w;
}
__device__ void store(float* to, const float* v) { *(float4*)to = {v[0], v[1], v[2], v[3]}; }
__device__ float sigmoid(float x) { return __fdividef(1, 1 + __expf(-x)); }
__device__ float bend(float x) { return 2 * sigmoid(2 * x) - 1; }  // tanh

// Blocks meet at a counter that only goes up, in two halves: what was stored before arrive() is seen
// after wait_for(), and in between there is time for something else.
__device__ void arrive(unsigned int* count) {
    __syncthreads();
    if (threadIdx.x == 0) __threadfence(), atomicAdd(count, 1u);
}
__device__ void wait_for(const unsigned int* count, unsigned int target) {
    if (threadIdx.x == 0) {
        while (*(const volatile unsigned int*)count < target) {}
        __threadfence();
    }
    __syncthreads();
}

// sum[8][8] += a^T w. Of a (ROWS, SERIES) the rows are `stride` apart in global memory, and come in
// chunks; w (ROWS, COLUMNS) is on the chip. The threads are divided into WAYS, each with a part of
// every chunk's rows. In a way, a thread has series 4 p ... 4 p + 3 and the same 32 further on, with
// p = place % 8, and columns 4 q ... 4 q + 3 and the same COLUMNS / 2 further on, with q = place / 8.
template <int ROWS, int COLUMNS, int WAYS>
__device__ void multiply(const float* a, size_t stride, const float* w, float* chunks,
                         float (*sum)[8]) {
    const int way = threadIdx.x / (THREADS / WAYS), place = threadIdx.x % (THREADS / WAYS);
    const int row = threadIdx.x / 16, column = threadIdx.x % 16 * 4;
    auto bring = [&](int c) {  // a group of copies for each chunk, be it empty
        if (c < ROWS / CHUNK) UNROLLED(i, CHUNK / 16) {
            const int k = row + 16 * i;
            const float* from = a + (c * CHUNK + k) * stride + column;
            copy<4>(chunks + (c % STAGES * CHUNK + k) * SERIES + column, from, from, true);
        }
        close_group();
    };
    UNROLLED(c, STAGES - 1) bring(c);
    for (int c = 0; c < ROWS / CHUNK; c++) {
        await_groups<STAGES - 2>();  // and nobody is still at the chunk before
        bring(c + STAGES - 1);
        const int first = way * (CHUNK / WAYS);
        const float* x = chunks + (c % STAGES * CHUNK + first) * SERIES + place % 8 * 4;
        const float* y = w + (c * CHUNK + first) * COLUMNS + place / 8 * 4;
        UNROLLED(k, CHUNK / WAYS) {
            float xs[8], ys[8];
            load(xs, x + k * SERIES), load(xs + 4, x + k * SERIES + 32);
            load(ys, y + k * COLUMNS), load(ys + 4, y + k * COLUMNS + COLUMNS / 2);
            UNROLLED(i, 8) UNROLLED(j, 8) sum[i][j] += xs[i] * ys[j];
        }
    }
    __syncthreads();
}

// A block has 16 units of 64 series. Their 64 columns of w_h are on the chip; so is, in registers,
// the memory c of the cells: a thread looks after one unit in 4 series.
//     entered  (2, 4 UNITS), for ONE_NUMBER; otherwise what enters is in gates
//     counts   one for each group of blocks, zero at first
extern "C" __global__ __launch_bounds__(THREADS, 1)
void forward(const float* w_h, const float* entered, const float* b, const float* x, float* h,
             float* c, float* gates, unsigned int* counts, int steps) {
    extern __shared__ __align__(16) float shared[];
    float *w = shared, *chunks = w + UNITS * 64;
    const int t = threadIdx.x, way = t / 64, place = t % 64;
    const int group = blockIdx.x / GROUP, unit_0 = blockIdx.x % GROUP * 16;
    for (int i = t; i < UNITS * 64; i += THREADS) {  // column: unit * 4 + gate
        const int k = i / 64, gate = i % 64 / 16, u = i % 16;
        w[k * 64 + u * 4 + gate] = w_h[(size_t)k * 4 * UNITS + gate * UNITS + unit_0 + u];
    }
    const int unit = unit_0 + place / 8 + way / 2 * 8;
    const int series = group * SERIES + way % 2 * 32 + place % 8 * 4;
    const size_t row = (size_t)steps * BATCH, long_row = row + BATCH;
    float bias[4], memory[4] = {};
    UNROLLED(q, 4) bias[q] = b[q * UNITS + unit];
#if ONE_NUMBER
    float slope[4];
    UNROLLED(q, 4) {
        slope[q] = entered[q * UNITS + unit];
        bias[q] += entered[(q + 4) * UNITS + unit];
    }
#endif
    for (int s = 0; s < steps; s++) {
        float z[4][4];  // [gate][series]; asked for before the long product
#if ONE_NUMBER
        float number[4];
        load(number, x + s * BATCH + series);
        UNROLLED(q, 4) UNROLLED(i, 4) z[q][i] = number[i] * slope[q] + bias[q];
#else
        UNROLLED(q, 4) {
            load(z[q], gates + (unit + q * UNITS) * row + s * BATCH + series);
            UNROLLED(i, 4) z[q][i] += bias[q];
        }
#endif
        if (s > 0) {
            float sum[8][8] = {};
            const float* before = h + s * BATCH + group * SERIES;
            multiply<UNITS, 64, 4>(before, long_row, w, chunks, sum);
            float* parts = chunks;  // [quarter of the cells][way][series][place][gate]
            UNROLLED(to, 4) UNROLLED(i, 4)
                store(parts + (((to * 4 + way) * 4 + i) * 64 + place) * 4,
                      &sum[to % 2 * 4 + i][to / 2 * 4]);
            __syncthreads();
            UNROLLED(from, 4) UNROLLED(i, 4) {  // each way finishes a quarter
                float part[4];
                load(part, parts + (((way * 4 + from) * 4 + i) * 64 + place) * 4);
                UNROLLED(q, 4) z[q][i] += part[q];
            }
        }
        float shown[4];
        UNROLLED(i, 4) {
            z[0][i] = sigmoid(z[0][i]), z[1][i] = sigmoid(z[1][i]);
            z[2][i] = bend(z[2][i]), z[3][i] = sigmoid(z[3][i]);
            memory[i] = z[1][i] * memory[i] + z[0][i] * z[2][i];
            shown[i] = z[3][i] * bend(memory[i]);
        }
        store(h + unit * long_row + (s + 1) * BATCH + series, shown);
        arrive(counts + group);
        store(c + unit * long_row + (s + 1) * BATCH + series, memory);
        UNROLLED(q, 4) store(gates + (unit + q * UNITS) * row + s * BATCH + series, z[q]);
        wait_for(counts + group, (s + 1) * GROUP);
    }
}

// A block of 16 units would need all 4 UNITS rows of dz: four times as much as forward. So a pair of
// blocks has 32 units, each block half of the rows; each finishes 16 units, and gets the other's
// share of their sums.
//     dy     (steps, BATCH), the gradient by what is read out with w_out (UNITS)
//     sums   (2, 4 UNITS) += sums of dz over steps and series, weighted with x, and plain
//     swap   (blocks, THREADS, 4)
//     counts one for each group of blocks, then one for each pair, zero at first
extern "C" __global__ __launch_bounds__(THREADS, 1)
void backward(const float* w_h, const float* w_out, const float* x, const float* dy,
              const float* c, float* gates, float* sums, float* swap, unsigned int* counts,
              int steps) {
    extern __shared__ __align__(16) float shared[];
    float *w = shared, *chunks = w + 2 * UNITS * 32;
    const int t = threadIdx.x, way = t / 32, place = t % 32;
    const int group = blockIdx.x / GROUP, pair = blockIdx.x / 2, half = blockIdx.x % 2;
    const int unit_0 = blockIdx.x % GROUP / 2 * 32, gate_0 = half * 2 * UNITS;
    for (int i = t; i < 2 * UNITS * 32; i += THREADS) {
        const int n = i % (2 * UNITS), u = i / (2 * UNITS);
        w[n * 32 + u] = w_h[(size_t)(unit_0 + u) * 4 * UNITS + gate_0 + n];
    }
    const int unit = unit_0 + half * 16 + t / 16, series = group * SERIES + t % 16 * 4;
    const size_t row = (size_t)steps * BATCH, long_row = row + BATCH;
    const float w_mine = w_out[unit];
    float dc[4] = {}, weighted[4] = {}, plain[4] = {};
    for (int s = steps - 1; s >= 0; s--) {
        float *cell = gates + unit * row + s * BATCH + series, g[4][4];  // [gate][series]
        float error[4], read[4], before[4], after[4], dh[4];
        load(error, dy + s * BATCH + series), load(read, x + s * BATCH + series);
        load(before, c + unit * long_row + s * BATCH + series);
        load(after, c + unit * long_row + (s + 1) * BATCH + series);
        UNROLLED(q, 4) load_new(g[q], cell + q * UNITS * row);
        UNROLLED(i, 4) dh[i] = error[i] * w_mine;
        if (s < steps - 1) {
            float sum[8][8] = {};
            const float* dz = gates + gate_0 * row + (s + 1) * BATCH + group * SERIES;
            multiply<2 * UNITS, 32, 8>(dz, row, w, chunks, sum);
            float* parts = chunks;  // [way][unit][series]
            UNROLLED(j, 8) {
                const int u = place / 8 * 4 + j % 4 + j / 4 * 16;
                float* to = parts + (way * 32 + u) * SERIES + place % 8 * 4;
                const float low[4] = {sum[0][j], sum[1][j], sum[2][j], sum[3][j]};
                const float high[4] = {sum[4][j], sum[5][j], sum[6][j], sum[7][j]};
                store(to, low), store(to + 32, high);
            }
            __syncthreads();
            float given[4] = {}, theirs[4];
            UNROLLED(v, 8) {
                const float* from = parts + (v * 32 + t / 16) * SERIES + t % 16 * 4;
                float keep[4], give[4];
                load(keep, from + half * 16 * SERIES), load(give, from + (1 - half) * 16 * SERIES);
                UNROLLED(i, 4) dh[i] += keep[i], given[i] += give[i];
            }
            store(swap + ((blockIdx.x ^ 1) * THREADS + t) * 4, given);
            unsigned int* met = counts + BATCH / SERIES + pair;
            arrive(met), wait_for(met, (steps - 1 - s) * 2);
            load_new(theirs, swap + (blockIdx.x * THREADS + t) * 4);
            UNROLLED(i, 4) dh[i] += theirs[i];
        }
        UNROLLED(i, 4) {
            const float in = g[0][i], forget = g[1][i], fresh = g[2][i], out = g[3][i];
            const float bent = bend(after[i]);
            dc[i] += dh[i] * out * (1 - bent * bent);
            g[0][i] = dc[i] * fresh * in * (1 - in);
            g[1][i] = dc[i] * before[i] * forget * (1 - forget);
            g[2][i] = dc[i] * in * (1 - fresh * fresh);
            g[3][i] = dh[i] * bent * out * (1 - out);
            dc[i] *= forget;
            UNROLLED(q, 4) weighted[q] += g[q][i] * read[i], plain[q] += g[q][i];
        }
        UNROLLED(q, 4) store(cell + q * UNITS * row, g[q]);
        arrive(counts + group), wait_for(counts + group, (steps - s) * GROUP);
    }
    UNROLLED(q, 4) {
        atomicAdd(sums + q * UNITS + unit, weighted[q]);
        atomicAdd(sums + (q + 4) * UNITS + unit, plain[q]);
    }
}
