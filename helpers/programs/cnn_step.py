"""What chapter 57's two kernels stand on: the arrays, a struct of them for C, and the small jobs.

The kernels themselves are the chapter's. The network is chapter 50's: 10 filters of 3 x 3, ReLU,
pooling, 100 hidden units, 10 classes. A *slice* is two pooled rows of one channel: 28 of the 1,960
inputs of the first dense layer. There are 70.
"""

import functools
from types import SimpleNamespace

import cupy as cp
import numpy as np

from helpers import timing
from helpers.chapters.cnn_mnist import Network, build_cnn

ROOM = 8  # images in a batch, at most
TOTAL = 197_212  # parameters: 1961 x 100, 10 x 10, 10 x 101, and two to fill up
RATES = 2**16  # steps for which Adam's factors are in a table; later ones have the last

ADAM = {"rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "t": 0}

COMMON = r"""
#define HIDDEN 100
#define CLASSES 10
#define ROOM 8         // images in a batch, at most
#define SLICES 70
#define SLICE 28       // inputs of the first dense layer in a slice
#define BIAS_1 196000  // where the parameters begin; the 1960 x 100 weights are first
#define FILTERS 196100
#define DENSE_2 196200
#define TOTAL 197212
#define RATES 65536
#define SMALL_BLOCKS 12  // of 96 parameters each: the biases of layer 1, and layer 2
#define ALL 0xffffffff   // all lanes of a warp
#define UNROLLED(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#ifdef STAMPS
#define STAMP(kernel, k) \
    if (threadIdx.x == 0) net.stamps[((kernel) * 82 + blockIdx.x) * 4 + (k)] = clock64()
#else
#define STAMP(kernel, k)
#endif
__device__ float4 four(const float* p) { return *(const float4*)p; }
"""

FETCH = r"""
// Copy a part of the batch of step s: threads rank, rank + total, ... take four pixels each.
__device__ void fetch(const Net& net, int s, int half, int rank, int total) {
    for (int i = rank; i < BATCH * 196; i += total) {
        int b = i / 196, row = i % 196 / 7, q = i % 7;
        int image = net.order[s % net.steps * BATCH + b];
        float4 p = four(net.images + image * 784LL + row * 28 + 4 * q);
        float* to = net.batch + (half * ROOM + b) * 900 + (row + 1) * 30 + 4 * q + 1;
        to[0] = p.x, to[1] = p.y, to[2] = p.z, to[3] = p.w;
        if (i % 196 == 0) net.digits[half * ROOM + b] = net.labels[image];
    }
}
extern "C" __global__ void fetch_first(Net net, int half) {
    int rank = blockIdx.x * blockDim.x + threadIdx.x;
    fetch(net, net.step[half], half, rank, gridDim.x * blockDim.x);
}
"""

SOFTMAX = r"""
// Lane c has the logit of class c, in both halves of the warp: the error's gradient by it.
__device__ float softmax_error(float logit, int c, int digit, float* loss) {
    float top = logit;
    for (int bit = 8; bit > 0; bit /= 2) top = fmaxf(top, __shfl_xor_sync(ALL, top, bit));
    float power = expf(logit - top), sum = power;
    for (int bit = 8; bit > 0; bit /= 2) sum += __shfl_xor_sync(ALL, sum, bit);
    if (loss && threadIdx.x % 32 == digit)
        atomicAdd(loss, (logf(sum) + top - logit) / BATCH);
    return (power / sum - (c == digit)) / BATCH;
}
"""

FOURS = r"""
struct Four { float4 p, m, v; };  // four neighbouring weights and their moments
__device__ Four four_of(const Adam& a, int i) {
    return {four(a.old + i), four(a.old + TOTAL + i), four(a.old + 2 * TOTAL + i)};
}
__device__ void learn_four(const Adam& a, int i, Four s, const float* g) {
    s.p.x -= move(a, s.m.x, s.v.x, g[0]), s.p.y -= move(a, s.m.y, s.v.y, g[1]);
    s.p.z -= move(a, s.m.z, s.v.z, g[2]), s.p.w -= move(a, s.m.w, s.v.w, g[3]);
    *(float4*)(a.fresh + i) = s.p;
    *(float4*)(a.fresh + TOTAL + i) = s.m, *(float4*)(a.fresh + 2 * TOTAL + i) = s.v;
}
"""

INPUT_GRADIENT = r"""
// dx = dh W1^T for the slice: four lanes, 8 apart, share the hidden units of four images' sums.
// Lanes that read at once read other rows of w, which lie in other banks.
__device__ void input_gradient(const float* w, const float* dh, float* dx) {
    const int lane = threadIdx.x % 32, part = lane / 8;
    const int item = threadIdx.x / 32 * 8 + lane % 8, k = item % SLICE;
    const int b = item / SLICE;  // 0 or 1; its images are b, b + 2, b + 4, b + 6
    if (threadIdx.x >= 224) return;  // whole warps
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
"""

FILTERS = r"""
// The nine pixels that this thread's winner saw, and a 1 for the bias; or zeros.
__device__ void see(const Net& net, int half, int slice, float* seen) {
    const int t = threadIdx.x, b = t / SLICE, k = t % SLICE;
    const int won = b < BATCH ? net.which[slice * ROOM * SLICE + t] : 4;
    const int y = slice % 7 * 4 + k / 14 * 2 + won / 2, x = k % 14 * 2 + won % 2;
    const float* pixel = net.batch + (half * ROOM + b) * 900 + y * 30 + x;
    UNROLLED(e, 9) seen[e] = won < 4 ? pixel[e / 3 * 30 + e % 3] : 0;
    seen[9] = won < 4;
}
__device__ void filter_gradient(const float* seen, const float* dx,
                                float* total) {
    __shared__ float part[7][16];
    const int t = threadIdx.x;
    if (t < 224) {
        float g[16] = {};
        UNROLLED(e, 10) g[e] = seen[9] ? dx[t] * seen[e] : 0;
        const float sum = sum_16(g);
        if (t % 32 < 16) part[t / 32][t % 32] = sum;
    }
    __syncthreads();
    if (t < 10) {
        float sum = 0;
        UNROLLED(v, 7) sum += part[v][t];
        total[t] = sum;
    }
}
"""

SMALL = r"""
__device__ void learn(const Adam& a, int i, float g) {
    float m = a.old[TOTAL + i], v = a.old[2 * TOTAL + i];
    a.fresh[i] = a.old[i] - move(a, m, v, g);
    a.fresh[TOTAL + i] = m, a.fresh[2 * TOTAL + i] = v;
}
// The first layer's biases and the second layer, 96 parameters a block of 384 threads: four lanes
// share a parameter's images. They also clear the h of the next step.
__device__ void learn_small(const Net& net, const Adam& a, int half, int block,
                            const float* hidden, const float* delta, const float* dh) {
    const int i = block * 96 + threadIdx.x / 4, c = (i - HIDDEN) / 101;
    const int j = i < HIDDEN ? i : (i - HIDDEN) % 101;
    float g = 0;
    for (int b = threadIdx.x % 4; b < BATCH; b += 4) {
        if (i < HIDDEN) g += dh[b * HIDDEN + j];
        else if (c < CLASSES)
            g += delta[b * CLASSES + c] * (j < HIDDEN ? hidden[b * HIDDEN + j] : 1);
    }
    g += __shfl_xor_sync(ALL, g, 1);
    g += __shfl_xor_sync(ALL, g, 2);
    if (threadIdx.x % 4 == 0 && c < CLASSES)
        learn(a, i < HIDDEN ? BIAS_1 + i : DENSE_2 + i - HIDDEN, g);
    float* next = net.h + (1 - half) * ROOM * HIDDEN;
    for (int k = block * 384 + threadIdx.x; k < ROOM * HIDDEN; k += SMALL_BLOCKS * 384) next[k] = 0;
}
// The filters after the step before this one, and their moments: (3, 10, 10).
extern "C" __global__ void last_filters(Net net, int half, float* out) {
    const int e = threadIdx.x / 10, c = threadIdx.x % 10;
    const float3 f = new_filter(net, half, c, e);
    out[threadIdx.x] = f.x, out[100 + threadIdx.x] = f.y, out[200 + threadIdx.x] = f.z;
}
// The next step's number, and Adam's two factors for it, go to the other place.
__device__ void count_step(const Net& net, int half, int s) {
    net.step[1 - half] = s + 1;
    ((float2*)net.rate)[1 - half] = ((const float2*)net.rates)[min(s + 1, RATES - 1)];
}
"""


def arrays_of(n, steps):
    """Return {name: (its type in C, its shape)} of all arrays, for n images and so many steps."""
    return {
        "images": ("float", (n, 784)),
        "labels": ("int", (n,)),
        "order": ("int", (n,)),  # which image comes when
        "rates": ("float", (RATES, 2)),  # Adam's factors of each step
        "step": ("int", (2,)),  # from here on: what the two halves of the steps have in turn
        "rate": ("float", (2, 2)),
        "state": ("float", (2, 3, TOTAL)),  # weights, and Adam's moments m and v
        "batch": ("float", (2, ROOM, 30, 30)),  # with a border of zeros
        "digits": ("int", (2, ROOM)),
        "h": ("float", (2, ROOM, 100)),  # before bias and ReLU; to here
        "x": ("float", (70, ROOM, 28)),  # pooled
        "which": ("unsigned char", (70, ROOM, 28)),  # which of four won; 4 is none
        "parts": ("float", (70, 10)),  # shares of the filters' gradients
        "loss": ("float", (steps,)),  # of each step of an epoch
        "stamps": ("long long", (2, 82, 4)),
    }


def struct_in_c(arrays):
    """Return the C text of a struct of pointers to the arrays, and the number of steps."""
    fields = "".join(f"    {kind}* {name};\n" for name, (kind, _) in arrays.items())
    return f"struct Net {{\n{fields}    int steps;\n}};\n"


def struct_in_python(held, steps):
    """Return the same struct as a NumPy scalar, which CuPy passes by value."""
    kind = [(name, np.uint64) for name in held] + [("steps", np.int32)]
    kind = np.dtype(kind, align=True)
    pointers = [array.data.ptr for array in held.values()]
    # Plain bytes: CuPy would list the fields anew at every launch.
    return np.array((*pointers, steps), kind).view(f"V{kind.itemsize}")


def check_fits(manager, n_batch):
    """Raise ValueError or TypeError where the kernels are not for this manager and batch."""
    if manager.x_train.shape[1:] != (1, 28, 28):
        raise ValueError(f"images are {manager.x_train.shape}, not (N, 1, 28, 28)")
    layers = [layer for layer in manager.layers if layer.wb is not None]
    if [layer.wb.shape for layer in layers] != [(10, 10), (1961, 100), (101, 10)]:
        raise ValueError("the kernels are for chapter 50's network, and this is another one")
    if manager.xp is not cp or manager.dtype != np.float32:
        raise ValueError("the manager must be one with xp=cp and dtype=np.float32")
    if isinstance(n_batch, bool) or not isinstance(n_batch, int | np.integer):
        raise TypeError(f"n_batch is {n_batch!r}: a whole number is needed")
    if not 1 <= n_batch <= min(ROOM, len(manager.x_train)):
        raise ValueError(f"n_batch is {n_batch}: not 1 to {ROOM}, or more than there are images")
    for layer in layers:
        for name, value in ADAM.items():
            if getattr(layer.opt, name) != value:
                found = getattr(layer.opt, name)
                raise ValueError(f"Adam's {name} is {found}: the kernels begin with {value}")


def factors(rate=ADAM["rate"]):
    """Return Adam's two factors of each step, (RATES, 2) float32: s = 0 is the first step."""
    t = np.arange(1.0, RATES + 1)
    both = rate / (1 - ADAM["beta1"] ** t), (1 - ADAM["beta2"] ** t) ** -0.5
    return np.stack(both, axis=1).astype(np.float32)


def load(manager, n_batch, pieces, options=("--use_fast_math",)):
    """Compile `pieces`, and bring the network and the data of `manager` onto the device.

    Returns a holder: `held` {name: array}, `struct`, `kernel(name)`, `steps` of an epoch,
    `launched` (0), `graph` (None), `manager`, `n_batch`. ValueError or TypeError: see check_fits.
    """
    check_fits(manager, n_batch)
    steps = len(manager.x_train) // n_batch
    arrays = arrays_of(len(manager.x_train), steps)
    types = {"float": "f4", "int": "i4", "unsigned char": "u1", "long long": "i8"}
    held = {name: cp.zeros(shape, types[kind]) for name, (kind, shape) in arrays.items()}
    conv, dense_1, dense_2 = (manager.layers[i].wb for i in (0, 3, 5))
    held["state"][:, 0, : TOTAL - 2] = cp.concatenate(
        [dense_1.ravel(), conv.ravel(), dense_2.T.ravel()]
    )
    held["images"][...] = manager.x_train.reshape(-1, 784)
    held["labels"][...] = manager.t_train.argmax(axis=1)
    held["rates"][...] = cp.asarray(factors())
    code = f"#define BATCH {n_batch}\n" + COMMON + struct_in_c(arrays) + "".join(pieces)
    net = SimpleNamespace(
        held=held,
        struct=struct_in_python(held, steps),
        kernel=functools.cache(cp.RawModule(code=code, options=options).get_function),
        steps=steps,
        launched=0,
        graph=None,
        manager=manager,
        n_batch=n_batch,
    )
    set_rates(net, held["rates"])
    begin(net, np.arange(len(manager.x_train)))
    return net


def set_rates(net, rates):
    """Take the table `rates` (RATES, 2) for the steps to come; before the first step only."""
    if net.launched:
        raise ValueError(f"{net.launched} steps have been taken with other rates")
    net.held["rates"][...] = rates
    net.held["rate"][...] = net.held["rates"][0]


def begin(net, order):
    """Begin an epoch: set the order of the images, forget the losses, fetch the first batch."""
    net.held["order"][...] = cp.asarray(order, dtype=cp.int32)
    net.held["loss"][...] = 0
    half = net.launched % 2
    net.kernel("fetch_first")((7,), (256,), (net.struct, np.int32(half)))


def store(net):
    """Put weights, and what Adam knows, into the manager's layers: they can train on from there."""
    half = net.launched % 2
    filters = cp.empty((3, 10, 10), cp.float32)
    net.kernel("last_filters")((1,), (100,), (net.struct, np.int32(half), filters))
    conv, dense_1, dense_2 = (net.manager.layers[i] for i in (0, 3, 5))
    for k, name in enumerate(("wb", "m", "v")):
        arrays = [
            layer.wb if name == "wb" else getattr(layer.opt, name)
            for layer in (conv, dense_1, dense_2)
        ]
        flat = net.held["state"][half, k]
        arrays[0][...] = filters[k]
        arrays[1][...] = flat[:196100].reshape(1961, 100)
        arrays[2][...] = flat[196200:197210].reshape(10, 101).T
    for layer in (conv, dense_1, dense_2):
        layer.opt.t = net.launched


def accuracy(net):
    """Return which share of the test images the network reads as labelled, in percent."""
    store(net)
    return 100 * net.manager.accuracy(net.manager.x_test, net.manager.t_test)


def time_epoch(net, run):
    """Train for an epoch in a new order by `run(net, n_steps)`; return the seconds of its steps."""
    begin(net, net.manager.rng.permutation(len(net.manager.x_train)))
    once = {"clock": "host", "n_warmup": 0, "n_repeat": 1, "min_seconds": 0}
    return timing.measure(lambda: run(net, net.steps), **once).median


def record(function, stream):
    """Return what function() launches on `stream` as a graph; all must be compiled already."""
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        try:
            function()
        except BaseException:
            try:
                stream.end_capture()
            except cp.cuda.runtime.CUDARuntimeError:
                pass  # the capture is over either way; the first error is the one to see
            raise
        return stream.end_capture()


def exact_step(manager, n_batch):
    """Return chapter 50's network in float64 on the CPU, after a way forth and back.

    And {layer: the gradient by its input}; the last entry, 7, are the labels. The weights are the
    manager's, the images its first.
    """
    exact = build_cnn(Network((1, 28, 28), dtype=np.float64))
    for layer, other in zip(exact.layers, manager.layers, strict=True):
        if layer.wb is not None:
            layer.wb[...] = other.wb.get()
    exact.forward(manager.x_train[:n_batch].get().astype(np.float64))
    grads = {7: manager.t_train[:n_batch].get()}
    for number in range(6, -1, -1):
        grads[number] = exact.layers[number].backward(grads[number + 1])
    return exact, grads
