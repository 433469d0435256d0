// Any number of training steps of chapter 50's network in one launch. 70 blocks stay, each with a
// slice: two pooled rows of a channel, 28 inputs of the first dense layer. Nothing is added by an
// atomic function, so every sum has one order, and two runs are equal to the last bit.
//
// Before it come BATCH, THREADS, cnn_step's macros and the struct Net, and chapter 57's pieces.

// Mail: a float, and above it the step that it is for, plus 1. The GPU writes the 64 bits in one
// piece, so that whoever sees the number of the step has the value too: no fence, no barrier.
typedef unsigned long long word;
__device__ void post(word* to, int s, float value) {
    *(volatile word*)to = (word)(s + 1) << 32 | __float_as_uint(value);
}
// A warp waits for its words of step s; a lane has n of them, `apart` from each other. All are asked
// for before one is looked at: one after another, each would be a trip of its own.
template <int MOST>
__device__ void await(const word* from, int apart, int n, int s, float* value) {
    const word tag = s + 1;
    bool ready;
    do {
        word w[MOST];
        UNROLLED(k, MOST) w[k] = k < n ? ((const volatile word*)from)[k * apart] : tag << 32;
        ready = true;
        UNROLLED(k, MOST) ready &= w[k] >> 32 == tag;
        UNROLLED(k, MOST) value[k] = __uint_as_float((unsigned int)w[k]);
    } while (!__all_sync(ALL, ready));
}

#define WARPS (THREADS / 32)
#define OWN 16                             // sums of h that a block looks after
#define SUMS (BATCH * HIDDEN)              // there are so many
#define OWNERS ((SUMS + OWN - 1) / OWN)    // and so many blocks do
#define FILTER_WARPS ((BATCH * SLICE + 31) / 32)
#define SMALL 1110                         // biases of layer 1, and layer 2: 16 a block
#define ROUNDS ((LEARNERS + THREADS - 1) / THREADS)  // pieces of W1 for a thread
// A box is used again in the next step. Nobody posts a share of step s + 1 before it has all sums of
// step s, and these are there only when every owner has read all shares of s: so whoever overwrites a
// share knows that it has been read. The same holds for sums and filters; and for the small
// parameters because each block collects them before it posts its share.
struct Mail {
    word shares[OWNERS][SLICES][OWN], sums[SUMS], small[SMALL], filters[SLICES][10];
};

// The slice's share of x W1: a group of 8 lanes takes 4 images by 4 units, and posts 16 sums.
__device__ void post_share(const float (*x)[ROOM + 4], const float* w, Mail* mail, int s) {
    const int part = threadIdx.x % 8, groups = (BATCH + 3) / 4;
    for (int base = threadIdx.x / 32 * 4; base < 25 * groups; base += WARPS * 4) {
        int item = base + threadIdx.x % 32 / 8;
        const bool on = item < 25 * groups;
        if (!on) item = 0;  // stays with its warp, and posts nothing
        const int q = item % 25 * 4, b = item / 25 * 4;
        float sum[16] = {};
        UNROLLED(r, 4) {
            const int k = part + 8 * r;
            if (k < SLICE) {
                const float4 v = four(w + k * HIDDEN + q), y = four(&x[k][b]);
                const float ys[4] = {y.x, y.y, y.z, y.w};
                UNROLLED(i, 4) {
                    sum[4 * i] += ys[i] * v.x, sum[4 * i + 1] += ys[i] * v.y;
                    sum[4 * i + 2] += ys[i] * v.z, sum[4 * i + 3] += ys[i] * v.w;
                }
            }
        }
        hand_over<8, 4>(sum), hand_over<4, 2>(sum), hand_over<2, 1>(sum);
        // Two are left: units q + part % 2 * 2 and the next, of image b + part / 2.
        const int to = (b + part / 2) * HIDDEN + q + part % 2 * 2;
        if (on && to < SUMS) {
            word* box = &mail->shares[to / OWN][blockIdx.x][to % OWN];
            post(box, s, sum[0]), post(box + 1, s, sum[1]);
        }
    }
}

// The sums that this block looks after, over all slices, always in the same order.
__device__ void add_shares(Mail* mail, float (*part)[OWN], int s) {
    const int lane = threadIdx.x % 32, first = threadIdx.x / OWN, rows = THREADS / OWN;
    const bool owner = blockIdx.x < OWNERS;
    if (owner) {
        float share[(SLICES + rows - 1) / rows], sum = 0;
        const int o = min(lane % OWN, SUMS - 1 - (int)blockIdx.x * OWN);
        const word* from = &mail->shares[blockIdx.x][first][o];
        const int n = (SLICES - first + rows - 1) / rows;
        await<(SLICES + rows - 1) / rows>(from, rows * OWN, n, s, share);
        UNROLLED(k, (SLICES + rows - 1) / rows) sum += k < n ? share[k] : 0;
        sum += __shfl_xor_sync(ALL, sum, 16);
        if (lane < OWN) part[threadIdx.x / 32][lane] = sum;
    }
    __syncthreads();
    if (owner && threadIdx.x < OWN && blockIdx.x * OWN + threadIdx.x < SUMS) {
        float sum = 0;
        UNROLLED(v, WARPS) sum += part[v][threadIdx.x];
        post(mail->sums + blockIdx.x * OWN + threadIdx.x, s, sum);
    }
}

// The six image rows of the slice, of each image of step s, by the warps from `first` on. The two
// borders stay 0 from the beginning.
__device__ void fetch_rows(const Net& net, int s, int first, float* image, int* digits) {
    const int lane = threadIdx.x % 32;
    for (int b = threadIdx.x / 32 - first; b < BATCH; b += WARPS - first) {
        const int chosen = net.order[s % net.steps * BATCH + b];
        float4 p[2] = {};  // four pixels each; both are asked for before one is stored
        UNROLLED(r, 2) {
            const int i = lane + 32 * r, y = blockIdx.x % 7 * 4 - 1 + i / 7;
            if (i < 42 && y >= 0 && y < 28)
                p[r] = four(net.images + chosen * 784LL + y * 28 + i % 7 * 4);
        }
        if (lane == 0) digits[b] = net.labels[chosen];
        UNROLLED(r, 2) {
            const int i = lane + 32 * r;
            float* to = image + b * 180 + i / 7 * 30 + i % 7 * 4 + 1;
            if (i < 42) to[0] = p[r].x, to[1] = p[r].y, to[2] = p[r].z, to[3] = p[r].w;
        }
    }
}

// dx = dh W1^T for the slice: four lanes, 8 apart, share the hidden units of four images' sums.
__device__ void input_gradient(const float* w, const float* dh, float* dx) {
    const int part = threadIdx.x % 32 / 8;
    for (int base = threadIdx.x / 32 * 8; base < 2 * SLICE; base += WARPS * 8) {
        const int item = base + threadIdx.x % 8, k = item % SLICE;
        const int b = item / SLICE;  // 0 or 1; its images are b, b + 2, b + 4, b + 6
        float sum[4] = {};
        for (int q = part; q < 25; q += 4) {
            const float4 v = four(w + k * HIDDEN + 4 * q);
            UNROLLED(i, 4) {
                const float4 d = four(dh + (b + 2 * i) * HIDDEN + 4 * q);
                sum[i] += d.x * v.x + d.y * v.y + d.z * v.z + d.w * v.w;
            }
        }
        hand_over<2, 8>(sum), hand_over<1, 16>(sum);
        dx[(b + 2 * (part % 2 * 2 + part / 2)) * SLICE + k] = sum[0];
    }
}

// A thread has the same 2 x 4 weights in each step, and keeps their moments in registers.
struct Moments { float4 m, v; };
__device__ int weight_of(Piece p, int i) { return (p.k + 2 * p.half + i) * HIDDEN + p.q; }
__device__ void learn_here(const Adam& a, float* w, Moments& s, const float* g) {
    float4 p = four(w);
    p.x -= move(a, s.m.x, s.v.x, g[0]), p.y -= move(a, s.m.y, s.v.y, g[1]);
    p.z -= move(a, s.m.z, s.v.z, g[2]), p.w -= move(a, s.m.w, s.v.w, g[3]);
    *(float4*)w = p;
}
// Where small parameter i stands among all; nowhere if there is none.
__device__ int small_at(int i) {
    return i < HIDDEN ? BIAS_1 + i : i < SMALL ? DENSE_2 + i - HIDDEN : -1;
}
__device__ float small_gradient(int i, const float* hidden, const float* delta, const float* dh) {
    const int j = i < HIDDEN ? i : (i - HIDDEN) % 101, c = (i - HIDDEN) / 101;
    float g = 0;
    UNROLLED(b, BATCH)
        g += i < HIDDEN ? dh[b * HIDDEN + j]
                        : delta[b * CLASSES + c] * (j < HIDDEN ? hidden[b * HIDDEN + j] : 1);
    return g;
}

extern "C" __global__ __launch_bounds__(THREADS, 1)
void epoch(Net net, Mail* mail, int begin, int n_steps) {
    __shared__ __align__(16) float w[SLICE * HIDDEN], images[2][ROOM * 180];
    __shared__ __align__(16) float x[SLICE][ROOM + 4], pooled[ROOM * SLICE], dx[ROOM * SLICE];
    __shared__ __align__(16) float h[SUMS], hidden[SUMS], dh[ROOM * HIDDEN];
    __shared__ float small[SMALL], delta[BATCH * CLASSES], part[WARPS][OWN], filter[10];
    __shared__ int digits[2][BATCH];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32, slice = blockIdx.x;
    const int last = WARPS - 1, number = slice * 16 + lane;  // of a small parameter
    float *const weights = net.state, *const m_1 = weights + TOTAL, *const m_2 = m_1 + TOTAL;

    Moments moments[ROUNDS][2] = {};
    UNROLLED(r, ROUNDS) UNROLLED(i, 2) {
        const Piece piece = piece_of(t + r * THREADS);
        const int at = slice * SLICE * HIDDEN + weight_of(piece, i);
        if (piece.on) moments[r][i] = {four(m_1 + at), four(m_2 + at)};
    }
    // The last warp has the slice's filter, and the one before it has 16 small parameters.
    int own = warp == last && lane < 10 ? FILTERS + lane * 10 + slice / 7 : -1;
    if (warp == last - 1 && lane < 16) own = small_at(number);
    float p = 0, m = 0, v = 0;
    if (own >= 0) p = weights[own], m = m_1[own], v = m_2[own];
    if (own >= 0 && warp == last) filter[lane] = p;
    if (own >= 0 && warp < last) post(mail->small + number, begin, p);
    for (int i = t; i < SLICE * 25; i += THREADS)
        ((float4*)w)[i] = four(weights + slice * SLICE * HIDDEN + 4 * i);
    for (int i = t; i < 2 * ROOM * 180; i += THREADS) ((float*)images)[i] = 0;
    for (int i = t; i < SLICE * (ROOM + 4); i += THREADS) ((float*)x)[i] = 0;
    for (int i = t; i < ROOM * SLICE; i += THREADS) pooled[i] = 0;
    for (int i = t; i < ROOM * HIDDEN; i += THREADS) dh[i] = 0;
    __syncthreads();
    fetch_rows(net, begin, 0, images[begin % 2], digits[begin % 2]);
    __syncthreads();

    for (int s = begin; s < begin + n_steps; s++) {
        const Adam a = {nullptr, nullptr, ((const float2*)net.rates)[min(s, RATES - 1)]};
        const float* image = images[s % 2];
        const float* corner = image + t / SLICE * 180 + t % SLICE / 14 * 60 + t % 14 * 2;
        int won = 4;  // none
        if (t < BATCH * SLICE) {
            float best;
            won = convolve_and_pool(corner, filter, best);
            x[t % SLICE][t / SLICE] = pooled[t] = best;
        }
        if (warp >= FILTER_WARPS) {  // nothing to pool: collect the small parameters
            const int rest = THREADS - 32 * FILTER_WARPS;
            for (int from = t - 32 * FILTER_WARPS; from - lane < SMALL; from += 4 * rest) {
                const int n = (SMALL - from + rest - 1) / rest;
                float fresh[4];
                await<4>(mail->small + from, rest, n, s, fresh);
                UNROLLED(k, 4) if (k < n) small[from + k * rest] = fresh[k];
            }
        }
        __syncthreads();
        post_share(x, w, mail, s);
        add_shares(mail, part, s);
        if (warp < BATCH) {
            float sum[4], *mine = h + warp * HIDDEN;
            const int n = lane < HIDDEN % 32 ? 4 : 3;
            await<4>(mail->sums + warp * HIDDEN + lane, 32, n, s, sum);
            UNROLLED(i, 4) if (i < n) mine[lane + 32 * i] = sum[i];
            __syncwarp();
            head(mine, small, small + HIDDEN, digits[s % 2][warp], hidden + warp * HIDDEN,
                 delta + warp * CLASSES, dh + warp * HIDDEN,
                 slice == SLICES - 1 ? net.loss + s % net.steps : nullptr);
        } else
            fetch_rows(net, s + 1, BATCH, images[(s + 1) % 2], digits[(s + 1) % 2]);
        __syncthreads();
        input_gradient(w, dh, dx);
        __syncthreads();
        if (warp < FILTER_WARPS) {
            float g[16] = {};
            if (won < 4) {
                const float* pixel = corner + won / 2 * 30 + won % 2;
                UNROLLED(e, 9) g[e] = dx[t] * pixel[e / 3 * 30 + e % 3];
                g[9] = dx[t];
            }
            const float sum = sum_16(g);
            if (lane < 16) part[warp][lane] = sum;
        }
        __syncthreads();
        if (warp == last) {  // first, as other blocks wait for it; seven have the same filter
            float g = 0, share[7];
            UNROLLED(k, FILTER_WARPS) g += part[k][lane % 16];
            if (lane < 10) post(mail->filters[slice] + lane, s, g);
            const word* from = mail->filters[slice / 7 * 7] + lane;
            await<7>(from, 10, lane < 10 ? 7 : 0, s, share);
            g = 0;
            UNROLLED(k, 7) g += share[k];
            if (lane < 10) filter[lane] = p -= move(a, m, v, g);
        }
        if (warp == last - 1 && own >= 0) {
            p -= move(a, m, v, small_gradient(number, hidden, delta, dh));
            post(mail->small + number, s + 1, p);
        }
        UNROLLED(r, ROUNDS)
            if (t + r * THREADS < LEARNERS) {
                const Piece piece = piece_of(t + r * THREADS);
                float g[16];
                weight_gradient(piece, pooled, dh, g);
                if (piece.on) UNROLLED(i, 2)
                    learn_here(a, w + weight_of(piece, i), moments[r][i], g + 4 * i);
            }
        __syncthreads();
    }

    for (int i = t; i < SLICE * 25; i += THREADS)
        ((float4*)(weights + slice * SLICE * HIDDEN))[i] = four(w + 4 * i);
    UNROLLED(r, ROUNDS) UNROLLED(i, 2) {
        const Piece piece = piece_of(t + r * THREADS);
        const int at = slice * SLICE * HIDDEN + weight_of(piece, i);
        if (piece.on)
            *(float4*)(m_1 + at) = moments[r][i].m, *(float4*)(m_2 + at) = moments[r][i].v;
    }
    if (own >= 0) weights[own] = p, m_1[own] = m, m_2[own] = v;
}
