"""Threads that wait for each other: barriers, shuffles, votes, and what goes wrong with them."""

import ctypes
import signal
import threading
import time

import cupy as cp
import numpy as np
import pytest

from gpuless.engine import kernels

RNG = np.random.default_rng(21)


def run(body, *arrays, parameters, grid=(1,), block=(32,), before="", options=(), **keywords):
    source = f'{before}extern "C" __global__ void k({parameters}) {{\n{body}\n}}'
    cp.RawKernel(source, "k", options)(grid, block, arrays, **keywords)


# ---- barriers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3, 32, 33, 100, 1024])
def test_neighbours_through_shared_memory(threads):
    """Each thread reads what the next one wrote, in shared memory of both kinds, block by block."""
    x = cp.asarray(RNG.random(3 * threads))
    out = cp.zeros(3 * threads)
    body = """
    __shared__ double s[1024];
    extern __shared__ double d[];
    int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    s[t] = x[i];
    d[n - 1 - t] = 2 * x[i];
    __syncthreads();
    out[i] = s[(t + 1) % n] + d[n - 1 - (t + 2) % n];"""
    run(body, x, out, parameters="const double *x, double *out", grid=(3,), block=(threads,),
        shared_mem=8 * threads)  # fmt: skip
    rows = x.get().reshape(3, threads)
    expected = np.roll(rows, -1, axis=1) + 2 * np.roll(rows, -2, axis=1)
    np.testing.assert_array_equal(out.get().reshape(3, threads), expected)


@pytest.mark.parametrize("shape", [(7, 5, 3), (16, 16, 1), (1, 1, 64)])
def test_tree_sum(shape):
    threads = int(np.prod(shape))
    x, out = RNG.integers(-50, 50, threads), cp.zeros(1, "i8")
    body = """
    extern __shared__ long long s[];
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int n = blockDim.x * blockDim.y * blockDim.z;
    s[t] = x[t];
    for (int live = n; live > 1;) {
        int half = (live + 1) / 2;
        __syncthreads();
        if (t + half < live) s[t] += s[t + half];
        live = half;
    }
    if (t == 0) out[0] = s[0];"""
    run(body, cp.asarray(x), out, parameters="const long long *x, long long *out", block=shape,
        shared_mem=8 * threads)  # fmt: skip
    assert out.get()[0] == x.sum()


def test_barriers_inside_device_functions_and_loops():
    """A prefix sum by doubling; the barrier sits in a template function called from a loop."""
    before = """
template <typename T> __device__ T step(T *s, int t, int gap) {
    T left = t >= gap ? s[t - gap] : T(0);
    __syncthreads();
    s[t] += left;
    __syncthreads();
    return s[t];
}
"""
    x, out = RNG.integers(0, 9, 77).astype("i4"), cp.zeros(77, "i4")
    body = """
    __shared__ int s[77];
    int t = threadIdx.x, sum = s[t] = x[t];
    __syncthreads();
    for (int gap = 1; gap < blockDim.x; gap *= 2) sum = step(s, t, gap);
    out[t] = sum;"""
    run(body, cp.asarray(x), out, parameters="const int *x, int *out", block=(77,), before=before)
    np.testing.assert_array_equal(out.get(), np.cumsum(x))


def test_counting_barriers():
    out = cp.zeros((3, 45), "i4")
    body = """
    int t = threadIdx.x;
    out[t] = __syncthreads_count(t % 3 == 0);
    out[45 + t] = __syncthreads_and(t < 45) + 2 * __syncthreads_and(t < 44);
    out[90 + t] = __syncthreads_or(t == 44) + 2 * __syncthreads_or(t == 45);"""
    run(body, out, parameters="int *out", block=(45,))
    np.testing.assert_array_equal(out.get(), np.repeat([[15], [1], [1]], 45, axis=1))


# ---- shuffles ------------------------------------------------------------------------------------

SHUFFLES = {
    "__shfl_sync(m, x[t], t + 3, width)": lambda lane, width: (
        lane // width * width + (lane + 3) % width
    ),
    "__shfl_up_sync(m, x[t], 3, width)": lambda lane, width: (
        lane - 3 if lane % width >= 3 else lane
    ),
    "__shfl_down_sync(m, x[t], 3, width)": lambda lane, width: (
        lane + 3 if lane % width + 3 < width else lane
    ),
    "__shfl_xor_sync(m, x[t], 5, width)": lambda lane, width: (
        lane ^ 5 if (lane ^ 5) // width <= lane // width else lane
    ),
}


@pytest.mark.parametrize("width", [32, 16, 8, 4])
@pytest.mark.parametrize(
    "dtype, ctype", [("f8", "double"), ("f4", "float"), ("i4", "int"), ("u8", "unsigned long long")]
)
@pytest.mark.parametrize("call", SHUFFLES)
def test_shuffles(call, dtype, ctype, width):
    x = RNG.integers(1, 1000, 64).astype(dtype)
    out = cp.zeros(64, dtype)
    body = f"int t = threadIdx.x; const unsigned m = 0xffffffff; out[t] = {call};"
    run(body, cp.asarray(x), out, np.int32(width), block=(64,),
        parameters=f"const {ctype} *x, {ctype} *out, int width")  # fmt: skip
    source = [32 * (t // 32) + SHUFFLES[call](t % 32, width) for t in range(64)]
    np.testing.assert_array_equal(out.get(), x[source])


def test_warps_take_different_ways():
    """Half of each warp shuffles with its own mask while the other half does something else."""
    x, out = RNG.random(64).astype("f4"), cp.zeros(64, "f4")
    body = """
    int t = threadIdx.x;
    if (t % 32 < 16) {
        float v = x[t];
        for (int gap = 8; gap; gap /= 2) v += __shfl_down_sync(0x0000ffff, v, gap, 16);
        out[t] = v;
    } else {
        out[t] = __shfl_xor_sync(0xffff0000, x[t], 1);
        out[t] += __shfl_sync(0xffff0000, x[t], 20);
    }"""
    run(body, cp.asarray(x), out, parameters="const float *x, float *out", block=(64,))
    rows, got = x.reshape(2, 32), out.get().reshape(2, 32)
    np.testing.assert_allclose(got[:, 0], rows[:, :16].sum(axis=1), rtol=1e-6)
    other = rows[:, 16:][:, np.arange(16) ^ 1] + rows[:, 20:21]
    np.testing.assert_allclose(got[:, 16:], other, rtol=1e-6)


def test_lanes_that_returned_are_not_waited_for():
    """CUDA: only the lanes that are still there must make the call. What they read is undefined."""
    out = cp.zeros(40, "f4")
    body = """
    int t = threadIdx.x;
    if (t >= 35) return;
    out[t] = __shfl_down_sync(0xffffffff, (float)t, 1);"""
    run(body, out, parameters="float *out", block=(40,))
    got = out.get()
    np.testing.assert_array_equal(got[:31], np.arange(1, 32))
    np.testing.assert_array_equal(got[32:34], [33, 34])
    assert np.isnan(got[34]) and not got[35:].any()


def test_block_sum_by_warps():
    x, out = RNG.random(1000).astype("f4"), cp.zeros(4, "f4")
    before = """
__inline__ __device__ float warp_sum(float v) {
    for (int gap = 16; gap > 0; gap >>= 1) v += __shfl_down_sync(0xffffffff, v, gap);
    return v;
}
"""
    body = """
    __shared__ float partial[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = warp_sum(i < n ? x[i] : 0.0f);
    if (t % warpSize == 0) partial[t / warpSize] = v;
    __syncthreads();
    v = t < blockDim.x / warpSize ? partial[t % 32] : 0.0f;
    if (t < 32) v = warp_sum(v);
    if (t == 0) out[blockIdx.x] = v;"""
    run(body, cp.asarray(x), out, np.int32(1000), before=before, grid=(4,), block=(256,),
        parameters="const float *x, float *out, int n")  # fmt: skip
    padded = np.zeros(1024)
    padded[:1000] = x
    np.testing.assert_allclose(out.get(), padded.reshape(4, 256).sum(axis=1), rtol=1e-5)


# ---- votes and warp-wide reductions ------------------------------------------------------------


def test_votes():
    x, out = RNG.integers(0, 2, 64).astype("i4"), cp.zeros((5, 64), "u4")
    body = """
    int t = threadIdx.x;
    out[t] = __ballot_sync(0xffffffff, x[t]);
    out[64 + t] = __any_sync(0xffffffff, t == 40);
    out[128 + t] = __all_sync(0xffffffff, t < 32);
    out[192 + t] = __popc(__ballot_sync(0xffffffff, x[t]) & ((1u << t % 32) - 1));
    out[256 + t] = __activemask();"""
    run(body, cp.asarray(x), out, parameters="const int *x, unsigned *out", block=(64,))
    rows = x.reshape(2, 32).astype("u8")
    ballots = (rows << np.arange(32, dtype="u8")).sum(axis=1)
    before = np.cumsum(rows, axis=1) - rows
    got = out.get().reshape(5, 2, 32)
    np.testing.assert_array_equal(got[0], np.repeat(ballots[:, None], 32, axis=1))
    np.testing.assert_array_equal(got[1], np.repeat([[0], [1]], 32, axis=1))
    np.testing.assert_array_equal(got[2], np.repeat([[1], [0]], 32, axis=1))
    np.testing.assert_array_equal(got[3], before)
    assert (got[4] == 0xFFFFFFFF).all()


def test_match():
    x, out = RNG.integers(0, 4, 32).astype("i4"), cp.zeros((3, 32), "u4")
    body = """
    int t = threadIdx.x, all;
    out[t] = __match_any_sync(0xffffffff, x[t]);
    out[32 + t] = __match_all_sync(0xffffffff, x[t], &all) + all;
    out[64 + t] = __match_all_sync(0xffffffff, 3.5, &all) - all;"""
    run(body, cp.asarray(x), out, parameters="const int *x, unsigned *out")
    same = ((x[:, None] == x) << np.arange(32, dtype="u8")).sum(axis=1)
    np.testing.assert_array_equal(out.get()[0], same)
    assert (out.get()[1] == 0).all() and (out.get()[2] == 0xFFFFFFFE).all()


@pytest.mark.parametrize("name", ["add", "min", "max", "and", "or", "xor"])
def test_warp_reductions(name):
    x, out = RNG.integers(0, 2**32, 32, dtype="u4"), cp.zeros(32, "u4")
    body = f"out[threadIdx.x] = __reduce_{name}_sync(0xffffffff, x[threadIdx.x]);"
    run(body, cp.asarray(x), out, parameters="const unsigned *x, unsigned *out",
        options=("-arch=sm_80",))  # fmt: skip
    reduce = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
              "or": np.bitwise_or, "xor": np.bitwise_xor}[name].reduce  # fmt: skip
    assert (out.get() == np.uint32(int(reduce(x.astype("u8"))) % 2**32)).all()


@pytest.mark.parametrize("name, expected", [("add", -24), ("min", -17), ("max", 14)])
def test_signed_warp_reductions(name, expected):
    out = cp.zeros(32, "i4")
    body = f"""
    int t = threadIdx.x, value = t == 23 ? 0 : t * 7 % 32 - 17;
    if (t < 24) out[t] = __reduce_{name}_sync(0x00ffffff, value);"""
    run(body, out, parameters="int *out", options=("-arch=sm_80",))
    values = [(t * 7 % 32) - 17 for t in range(23)] + [0]
    assert {"add": sum, "min": min, "max": max}[name](values) == out.get()[0]
    assert (out.get()[:24] == out.get()[0]).all()


def test_order_in_a_warp_after_syncwarp():
    out = cp.zeros(32, "i4")
    body = """
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t * t;
    __syncwarp();
    int left = s[(t + 31) % 32];
    __syncwarp();
    s[t] = left;
    __syncwarp();
    out[t] = s[(t + 31) % 32];"""
    run(body, out, parameters="int *out")
    np.testing.assert_array_equal(out.get(), np.roll(np.arange(32) ** 2, 2))


# ---- what a GPU would hang on -------------------------------------------------------------------

DIVERGENT = [
    (
        "if (threadIdx.x < 20) __syncthreads();",
        r"thread \(0, 0, 0\): barrier divergence: in block \(1, 0, 0\) 20 threads wait at "
        r"__syncthreads\(\), 12 threads have returned; thread \(0, 0, 0\) waits in line 2\..*"
        "put the condition .* around the work",
    ),
    (
        "if (threadIdx.x > 20) return;\n__syncthreads();",
        r"21 threads wait at __syncthreads\(\), 11 threads have returned; .* in line 3",
    ),
    (
        "if (threadIdx.x > 20)\n__syncthreads();\nelse\n__syncthreads();",
        "at the barrier in line 3 while others of its block wait at the one in line 5",
    ),
    (
        "if (threadIdx.x < 3) __shfl_sync(0xffffffff, 1, 0); else __syncthreads();",
        r"29 threads wait at __syncthreads\(\), 3 threads wait at a warp primitive",
    ),
    (
        "if (threadIdx.x < 3) __shfl_sync(0xff, 1, 0);\n"
        "else if (threadIdx.x < 8) __shfl_sync(0xfe, 1, 0);\n__syncthreads();",
        "8 threads wait at a warp primitive.*same mask",
    ),
    ("if (threadIdx.x == 7) __syncwarp(1);", "line 2: lane 7 .* mask 0x00000001 does not name it"),
]


@pytest.mark.parametrize("body, message", DIVERGENT)
def test_divergence_is_an_error(body, message):
    guarded = f"if (blockIdx.x == 1) {{ {body} }}"
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"kernel 'k', block \(1, 0, 0\), .*" + message):
            run(guarded, parameters="", grid=(3,))


def test_a_spin_that_cannot_end_is_stopped(monkeypatch):
    """Blocks too many to run at once wait for each other: nobody comes."""
    body = "if (threadIdx.x == 0) { atomicAdd(c, 1); while (atomicAdd(c, 0) < 2) ; }"
    cell = cp.zeros(1, "i4")
    run(body, cell, parameters="int *c", grid=(2,), block=(64,))  # both blocks run at once: it ends
    assert cell.get()[0] == 2
    monkeypatch.setattr(kernels, "RESIDENT_LIMIT", 64)
    monkeypatch.setattr(kernels, "SPIN_LIMIT", 0.2)
    with pytest.raises(RuntimeError, match="threads have gone round a loop for 0.2 s"):
        run(body, cp.zeros(1, "i4"), parameters="int *c", grid=(2,), block=(64,))


def test_interrupt():
    """Ctrl-C ends a kernel that does not end by itself."""
    x = cp.zeros(2, "i4")
    seen = (ctypes.c_int * 2).from_address(x.data.ptr)

    def press():
        while not seen[1]:  # until the kernel runs
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it
    threading.Thread(target=press, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run("for (int i = 0; i >= 0; i = (i + 1) & 1023) x[i & 1] = i;", x,
                parameters="volatile int *x")  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    run("__syncthreads();", parameters="")


def test_two_python_threads():
    """Launches from two Python threads take turns."""
    source = """extern "C" __global__ void k(int *x, int n) {
    __shared__ int s[64];
    for (int i = 0; i < n; ++i) {
        s[threadIdx.x] = i;
        __syncthreads();
        x[threadIdx.x] += s[63 - threadIdx.x];
        __syncthreads();
    }
}"""
    k = cp.RawKernel(source, "k")
    arrays = [cp.zeros(64, "i4") for _ in range(2)]

    def work(x):
        for _ in range(5):
            k((1,), (64,), (x, 40))

    threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x in arrays:
        assert (x.get() == 5 * sum(range(40))).all()
