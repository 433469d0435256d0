"""Generated from notebooks/57_training_kernels.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

pool = r"""
// One pooled value of the image at p: returns which of four sums won.
__device__ int convolve_and_pool(const float* p, const float* filter,
                                 float& best) {
    int which = 4;
    best = 0;
    UNROLLED(q, 4) {
        float z = filter[9];
        UNROLLED(e, 9)
            z += filter[e] * p[30 * (q / 2 + e / 3) + q % 2 + e % 3];
        if (z > best) best = z, which = q;  // of equal ones the first
    }
    return which;
}
"""


sums = r"""
// A lane hands half of its 2 * HALF sums to the partner BIT away.
template <int HALF, int BIT = HALF> __device__ void hand_over(float* p) {
    const bool up = threadIdx.x & BIT;
    UNROLLED(r, HALF) {
        const float keep = up ? p[r + HALF] : p[r];
        const float give = up ? p[r] : p[r + HALF];
        p[r] = keep + __shfl_xor_sync(ALL, give, BIT);
    }
}
// Sixteen sums over the 32 lanes of a warp: lane l gets that of value l % 16.
__device__ float sum_16(float* p) {
    hand_over<8>(p), hand_over<4>(p), hand_over<2>(p), hand_over<1>(p);
    return p[0] + __shfl_xor_sync(ALL, p[0], 16);
}
"""


adam = r"""
struct Adam { const float* old; float* fresh; float2 rate; };  // w, m, v
__device__ Adam adam_of(const Net& net, int half) {
    float* fresh = net.state + (1 - half) * 3 * TOTAL;
    const float* old = net.state + half * 3 * TOTAL;
    return {old, fresh, ((const float2*)net.rate)[half]};
}
__device__ float move(const Adam& a, float& m, float& v, float g) {
    m = 0.9f * m + 0.1f * g;
    v = 0.999f * v + 0.001f * g * g;
    return a.rate.x * m / (sqrtf(v) * a.rate.y + 1e-8f);
}
// Weight e of filter c after the step before this one: (w, m, v).
__device__ float3 new_filter(const Net& net, int half, int c, int e) {
    const Adam a = adam_of(net, 1 - half);
    const float* old = a.old + FILTERS + e * 10 + c;
    float g = 0, w = *old, m = old[TOTAL], v = old[2 * TOTAL];
    UNROLLED(k, 7) g += net.parts[(c * 7 + k) * 10 + e];
    w -= move(a, m, v, g);
    return {w, m, v};
}
"""


head = r"""
// One warp, one image. Lane l has the hidden units l, l + 32, ...
__device__ void head(const float* h, const float* bias, const float* second,
                     int digit, float* hidden, float* delta, float* dh,
                     float* loss) {
    const int lane = threadIdx.x % 32, c = lane % 16;
    float a[4], w[4][CLASSES], z[16] = {};
    UNROLLED(i, 4) {
        const int j = lane + 32 * i;
        a[i] = j < HIDDEN ? fmaxf(h[j] + bias[j], 0) : 0;
        UNROLLED(k, CLASSES) w[i][k] = j < HIDDEN ? second[k * 101 + j] : 0;
    }
    UNROLLED(i, 4) UNROLLED(k, CLASSES) z[k] += a[i] * w[i][k];
    float logit = sum_16(z);
    logit = c < CLASSES ? logit + second[c * 101 + HIDDEN] : -1e30f;
    const float d = softmax_error(logit, c, digit, loss);
    if (lane < CLASSES) delta[lane] = d;
    UNROLLED(k, CLASSES) z[k] = __shfl_sync(ALL, d, k);
    UNROLLED(i, 4) {
        const int j = lane + 32 * i;
        float back = 0;
        UNROLLED(k, CLASSES) back += z[k] * w[i][k];
        if (j < HIDDEN) hidden[j] = a[i], dh[j] = a[i] > 0 ? back : 0;
    }
}
"""


weight_gradient = r"""
#define LEARNERS 352  // threads: 7 x 25 pieces, two lanes each, in whole warps
struct Piece { int k, q, half; bool on; };  // first input, output; lane
__device__ Piece piece_of(int t) {
    const int item = t / 32 * 16 + t % 16;
    const bool on = item < 175;
    return {on ? item / 25 * 4 : 0, on ? item % 25 * 4 : 0, t % 32 / 16, on};
}
__device__ void weight_gradient(Piece p, const float* x, const float* dh,
                                float* g) {
    UNROLLED(i, 16) g[i] = 0;
    for (int b = p.half; b < BATCH; b += 2) {
        const float4 d = four(dh + b * HIDDEN + p.q);
        const float4 y = four(x + b * SLICE + p.k);
        const float ys[4] = {y.x, y.y, y.z, y.w};
        UNROLLED(i, 4) {
            g[4 * i] += ys[i] * d.x, g[4 * i + 1] += ys[i] * d.y;
            g[4 * i + 2] += ys[i] * d.z, g[4 * i + 3] += ys[i] * d.w;
        }
    }
    hand_over<8, 16>(g);  // two inputs by four outputs are left
}
"""
