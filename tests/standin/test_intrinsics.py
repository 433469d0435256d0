"""Intrinsics that round another way or work on parts of a word, atomic_ref, special registers."""

from fractions import Fraction

import cupy as cp
import numpy as np
import pytest

X = [1.0, 3.0, -7.5, 1e-10, -1e30, 3.4e38, 1.1754943e-38, 6e-42, -0.0, 0.1, 16777217.0]
WAYS = {"rd": -1, "ru": 1, "rz": 0}


def rounded(exact, way, dtype):
    """An exact number as the float below, above, or nearer to zero; beyond the range its end."""
    if way == "rz":
        way = "rd" if exact > 0 else "ru"
    top = np.finfo(dtype).max
    if abs(exact) > Fraction(float(top)):
        outward = (exact > 0) == (way == "ru")
        return dtype(np.copysign(np.inf if outward else top, float(exact > 0) - 0.5))
    near = dtype(float(exact)) if dtype is np.float64 else np.float32(0)
    if dtype is np.float32:  # twice rounded, so at most a neighbour of the right one
        near = np.float32(float(exact))
    down = dtype(-np.inf) if way == "rd" else dtype(np.inf)
    for one in (np.nextafter(near, -down), near, np.nextafter(near, down)):
        inside = Fraction(float(one)) <= exact if way == "rd" else Fraction(float(one)) >= exact
        if inside:
            return one
    raise AssertionError


def run(body, arrays, size):
    names = "abcdefghjk"[: len(arrays)]
    kinds = {"f4": "float", "f8": "double", "i4": "int", "u4": "unsigned", "i8": "long long",
             "u8": "unsigned long long"}  # fmt: skip
    given = ", ".join(f"{kinds[a.dtype.str[1:]]} *{n}" for a, n in zip(arrays, names, strict=True))
    source = f'extern "C" __global__ void k({given}) {{ int i = threadIdx.x; {body} }}'
    cp.RawKernel(source, "k")((1,), (size,), tuple(arrays))


@pytest.mark.parametrize("dtype, prefix, fma", [("f4", "f", "fmaf"), ("f8", "d", "fma")])
@pytest.mark.parametrize("way", WAYS)
def test_directed_rounding(dtype, prefix, fma, way):
    kind = np.dtype(dtype).type
    values = np.array(X, dtype)
    a, b = (v.ravel() for v in np.meshgrid(values, values[::-1] * kind(0.7)))
    c = np.roll(a, 5)
    ways = {
        "add": lambda x, y, z: x + y, "sub": lambda x, y, z: x - y, "mul": lambda x, y, z: x * y,
        "div": lambda x, y, z: x / y if y else None, "rcp": lambda x, y, z: 1 / x if x else None,
        fma: lambda x, y, z: x * y + z,
    }  # fmt: skip
    calls = {"rcp": "(a[i])", fma: "(a[i], b[i], c[i])"}
    outs = [cp.zeros(a.size, dtype) for _ in ways]
    body = ""
    for out, name in zip("defghj", ways, strict=True):
        call = f"__{'' if name == fma else prefix}{name}_{way}{calls.get(name, '(a[i], b[i])')}"
        body += f"{out}[i] = {call};"
    run(body, [cp.asarray(v) for v in (a, b, c)] + outs, a.size)
    for out, (name, function) in zip(outs, ways.items(), strict=True):
        for x, y, z, got in zip(a, b, c, out.get(), strict=True):
            exact = function(*(Fraction(float(v)) for v in (x, y, z)))
            if exact:  # the sign of a nought has rules of its own
                assert got == rounded(exact, way, kind), (name, x, y, z)


@pytest.mark.parametrize("way", WAYS)
def test_directed_roots_and_conversions(way):
    x = np.array([2.0, 3.0, 0.5, 1e-30, 7e20, 4.0])
    outs = [cp.zeros(x.size, t) for t in ("f4", "f8", "f4", "f4", "f8")]
    large = np.array([2**53 + 1, -(2**62) - 1, 3, 16777217, -16777219, 2**63 - 1])
    body = f"""c[i] = __fsqrt_{way}((float)a[i]); d[i] = __dsqrt_{way}(a[i]);
    e[i] = __double2float_{way}(a[i] / 3); f[i] = __ll2float_{way}(b[i]);
    g[i] = __ll2double_{way}(b[i]);"""
    run(body, [cp.asarray(x), cp.asarray(large), *outs], x.size)
    singles, doubles, thirds, floats, wide = (o.get() for o in outs)
    for value, single, double in zip(x, singles, doubles, strict=True):
        for got, of in ((single, np.float32(value)), (double, value)):
            below = got if way != "ru" else np.nextafter(got, type(got)(0))
            exact = Fraction(float(of))
            above = np.nextafter(below, type(got)(np.inf))
            if Fraction(float(got)) ** 2 != exact:
                assert Fraction(float(below)) ** 2 < exact < Fraction(float(above)) ** 2
    for i, value in enumerate(large):
        assert floats[i] == rounded(Fraction(int(value)), way, np.float32)
        assert wide[i] == rounded(Fraction(int(value)), way, np.float64)
    for value, got in zip(x / 3, thirds, strict=True):
        assert got == rounded(Fraction(float(value)), way, np.float32)


def lanes(x, n, signed):
    bits = 32 // n
    parts = [(x >> bits * i) & ((1 << bits) - 1) for i in range(n)]
    return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in parts]


def clip(x, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(x, low), high)


BINARY = {
    "add": (0, lambda a, b, w: a + b), "sub": (0, lambda a, b, w: a - b),
    "addss": (1, lambda a, b, w: clip(a + b, w, 1)),
    "addus": (0, lambda a, b, w: clip(a + b, w, 0)),
    "subss": (1, lambda a, b, w: clip(a - b, w, 1)),
    "subus": (0, lambda a, b, w: clip(a - b, w, 0)),
    "avgu": (0, lambda a, b, w: (a + b + 1) // 2), "haddu": (0, lambda a, b, w: (a + b) // 2),
    "maxs": (1, lambda a, b, w: max(a, b)), "maxu": (0, lambda a, b, w: max(a, b)),
    "mins": (1, lambda a, b, w: min(a, b)), "minu": (0, lambda a, b, w: min(a, b)),
    "absdiffs": (1, lambda a, b, w: abs(a - b)), "absdiffu": (0, lambda a, b, w: abs(a - b)),
    "cmpeq": (0, lambda a, b, w: -(a == b)), "cmpne": (0, lambda a, b, w: -(a != b)),
    "cmpgts": (1, lambda a, b, w: -(a > b)), "cmpgtu": (0, lambda a, b, w: -(a > b)),
    "cmpges": (1, lambda a, b, w: -(a >= b)), "cmpgeu": (0, lambda a, b, w: -(a >= b)),
    "cmplts": (1, lambda a, b, w: -(a < b)), "cmpleu": (0, lambda a, b, w: -(a <= b)),
    "setles": (1, lambda a, b, w: a <= b), "setltu": (0, lambda a, b, w: a < b),
}  # fmt: skip
UNARY = {
    "abs": lambda a, w: abs(a), "neg": lambda a, w: -a,
    "absss": lambda a, w: clip(abs(a), w, 1), "negss": lambda a, w: clip(-a, w, 1),
}  # fmt: skip


@pytest.mark.parametrize("n", [2, 4])
def test_integers_side_by_side(n):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2**32, 200, dtype=np.uint32)
    b = np.where(rng.random(200) < 0.3, a, rng.integers(0, 2**32, 200, dtype=np.uint32))
    a[:3], b[:3] = [0x80008080, 0x7FFF7F7F, 0x80], [0x80007F7F, 0x00018001, 0]
    calls = [
        *(f"__v{name}{n}(a[i], b[i])" for name in BINARY),
        *(f"__v{name}{n}(a[i])" for name in UNARY),
    ]
    calls += [f"__vsads{n}(a[i], b[i])", f"__vsadu{n}(a[i], b[i])"]
    out = cp.zeros(200 * len(calls), "u4")
    body = "".join(f"c[{k} * 200 + i] = {call};" for k, call in enumerate(calls))
    run(body, [cp.asarray(a), cp.asarray(b.astype("u4")), out], 200)
    bits = 32 // n

    def joined(parts):
        return sum((int(p) & ((1 << bits) - 1)) << bits * i for i, p in enumerate(parts))

    expected = []
    for signed, function in BINARY.values():
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            pairs = zip(lanes(x, n, signed), lanes(y, n, signed), strict=True)
            expected.append(joined(function(p, q, bits) for p, q in pairs))
    for function in UNARY.values():
        expected += [joined(function(p, bits) for p in lanes(x, n, 1)) for x in a.tolist()]
    for signed in (1, 0):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            pairs = zip(lanes(x, n, signed), lanes(y, n, signed), strict=True)
            expected.append(sum(abs(p - q) for p, q in pairs))
    np.testing.assert_array_equal(out.get(), np.array(expected, "u4"))


def test_tests_of_numbers():
    x = cp.array([1, np.nan, np.inf, -np.inf, -0.0], np.float32)
    out = cp.zeros((4, 5), "i4")
    body = "b[i] = __isnanf(a[i]); b[5 + i] = __isinff(a[i]) != 0; b[10 + i] = __finitef(a[i]);"
    run(body + "b[15 + i] = __signbitf(a[i]) != 0;", [x, out], 5)
    expected = [[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 0, 0, 1, 1]]
    assert out.get().tolist() == expected


def test_of_a_distance_five_bits_count():
    source = """extern "C" __global__ void k(int *out, int by) {
        int i = threadIdx.x;
        out[i] = __shfl_down_sync(~0u, i, by);
        out[32 + i] = __shfl_up_sync(~0u, i, by);
        out[64 + i] = __shfl_xor_sync(~0u, i, by);
        out[96 + i] = __uni_sync(~0u, i < by) + 2 * __uni_sync(~0u, i == by);
    }"""
    lanes = np.arange(32)
    for by in (1, 33, -31, 32, -1):
        out, small = cp.zeros((4, 32), "i4"), by & 31
        cp.RawKernel(source, "k")((1,), (32,), (out, np.int32(by)))
        down, up = lanes + small, lanes - small
        down[down > 31], up[up < 0] = lanes[down > 31], lanes[up < 0]
        uniform = (0 if 0 < by < 32 else 1) + (0 if 0 <= by < 32 else 2)
        wanted = [down, up, lanes ^ small, np.full(32, uniform)]
        np.testing.assert_array_equal(out.get(), wanted)


def test_kinds_of_memory():
    source = """__device__ int global;
    __constant__ int constant;
    extern "C" __global__ void k(int *out) {
        __shared__ int fixed;
        extern __shared__ int given[];
        int local = 0;
        const void *all[] = {out, &global, &fixed, given, &local, &constant};
        for (int i = 0; i < 6; ++i)
            out[i] = __isGlobal(all[i]) | __isShared(all[i]) << 1 | __isLocal(all[i]) << 2;
    }"""
    out = cp.zeros(6, "i4")
    cp.RawKernel(source, "k")((1,), (1,), (out,), shared_mem=4)
    assert out.get().tolist() == [1, 1, 2, 2, 4, 0]


def test_registers_and_words_of_cuda():
    source = r"""
    extern "C" __global__ void k(unsigned *out, unsigned long long *times) {
        __shared__ alignas(16) float4 s[64];
        clock_t before = clock();
        int i = threadIdx.x, other = 63 - i;
        s[i] = make_float4(i, 0, 0, 0);
        asm volatile("bar.sync 0;" ::: "memory");
        unsigned lane, warp, sm, below, above;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        asm("mov.u32 %0, %%warpid;" : "=r"(warp));
        asm("mov.u32 %0, %%smid;" : "=r"(sm));
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        asm("mov.u32 %0, %%lanemask_gt;" : "=r"(above));
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(times[2 * i]));
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(times[2 * i + 1]));
        out[i] = s[other].x == other && lane == i % 32 && warp == i / 32 && sm < 1000
                 && (below | above | 1u << lane) == ~0u && __popc(below) == lane;
        times[2 * i] += clock() - before < 0;
    }"""
    out, times = cp.zeros(64, "u4"), cp.zeros(128, "u8")
    cp.RawKernel(source, "k")((1,), (64,), (out, times))
    assert out.get().all() and times.get().all()


def test_one_thread_of_a_group():
    source = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int *out) {
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<8>(block);
        cg::invoke_one(block, [&] { atomicAdd(out, 1); });
        cg::invoke_one(tile, [&](int add) { atomicAdd(out + 1, add); }, 3);
        auto add = [&] { return atomicAdd(out + 34, 1); };
        out[2 + threadIdx.x] = cg::invoke_one_broadcast(tile, add);
    }"""
    out = cp.zeros(35, "i4")
    cp.RawKernel(source, "k")((1,), (32,), (out,))
    ones, eights, *each, last = out.get().tolist()
    assert (ones, eights, last) == (1, 12, 4)
    assert each == [k // 8 for k in range(32)]


SCAN = r"""
#include <cuda/atomic>
// A block's sum, and how much of it is known: 0 nothing, 1 its own, 2 all before it as well.
using State = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
extern "C" __global__ void scan(const unsigned *x, unsigned *y, unsigned long long *state,
                                unsigned *next) {
    __shared__ unsigned sums[64], before, tile;
    if (threadIdx.x == 0)
        tile = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*next).fetch_add(
            1, cuda::memory_order_relaxed);
    __syncthreads();
    unsigned i = tile * 64 + threadIdx.x;
    sums[threadIdx.x] = x[i];
    __syncthreads();
    for (int gap = 1; gap < 64; gap *= 2) {
        unsigned left = threadIdx.x >= gap ? sums[threadIdx.x - gap] : 0;
        __syncthreads();
        sums[threadIdx.x] += left;
        __syncthreads();
    }
    if (threadIdx.x == 63) {
        unsigned total = sums[63], sum = 0;
        State(state[tile]).store(1ull << 32 | total, cuda::memory_order_release);
        for (int look = (int)tile - 1; look >= 0; --look) {
            unsigned long long seen;
            do seen = State(state[look]).load(cuda::memory_order_acquire);
            while (!(seen >> 32));
            sum += (unsigned)seen;
            if (seen >> 32 == 2) break;
        }
        State(state[tile]).store(2ull << 32 | (sum + total), cuda::std::memory_order_release);
        before = sum;
    }
    __syncthreads();
    y[i] = before + sums[threadIdx.x];
}"""


def test_a_scan_that_looks_back():
    x = np.random.default_rng(3).integers(0, 1000, 37 * 64, dtype=np.uint32)
    for _ in range(2):
        y, state, following = cp.zeros(x.size, "u4"), cp.zeros(37, "u8"), cp.zeros(1, "u4")
        cp.RawKernel(SCAN, "scan")((37,), (64,), (cp.asarray(x), y, state, following))
        np.testing.assert_array_equal(y.get(), np.cumsum(x, dtype=np.uint32))


def test_operations_of_atomic_ref():
    source = r"""
    #include <cuda/atomic>
    extern "C" __global__ void k(int *a, unsigned *seen) {
        cuda::atomic_ref<int, cuda::thread_scope_block> r(a[0]);
        int old = r.fetch_add(5), expected = 6, wrong = 0;
        seen[0] = old; seen[1] = r.fetch_max(100); seen[2] = r.exchange(6);
        seen[3] = r.compare_exchange_strong(wrong, 1); seen[4] = wrong;
        seen[5] = r.compare_exchange_weak(expected, 12, cuda::memory_order_acq_rel);
        seen[6] = r.fetch_and(10) + r.fetch_or(1) + r.fetch_xor(3) + r.fetch_sub(1);
        seen[6] += r.fetch_min(-4);
        seen[7] = r++; seen[8] = ++r; seen[9] = r += 7; seen[10] = r;
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        r = 42;
    }"""
    a, seen = cp.array([1], "i4"), cp.zeros(11, "u4")
    cp.RawKernel(source, "k")((1,), (1,), (a, seen))
    assert seen.get().astype("i4").tolist() == [
        1,
        6,
        100,
        0,
        6,
        1,
        12 + 8 + 9 + 10 + 9,
        -4,
        -2,
        5,
        5,
    ]
    assert a[0] == 42
    # libcu++ compares bits, by an atom.cas of .b32 or .b64.
    source = """#include <cuda/atomic>
    extern "C" __global__ void k(float *a, int *seen) {
        cuda::atomic_ref<float> nan(a[0]), zero(a[1]);
        float expected = nan.load(), other = -0.0f;
        seen[0] = nan.compare_exchange_weak(expected, 5.0f);
        seen[1] = zero.compare_exchange_strong(other, 6.0f);
    }"""
    a, seen = cp.array([np.nan, 0], "f4"), cp.zeros(2, "i4")
    cp.RawKernel(source, "k")((1,), (1,), (a, seen))
    assert a.tolist() == [5, 0] and seen.tolist() == [1, 0]
    source = "#include <cuda/atomic>\n__device__ cuda::std::array<int, 2> x;"
    with pytest.raises(
        NotImplementedError, match=r"^k\.cu\(2\): .* libcu\+\+ .* beyond `atomic` and `atomic_ref`"
    ):
        cp.RawKernel(source, "k").compile()


ATOMIC_VARIABLES = """#include <cuda/atomic>
namespace ours { struct Pair { int a, b; }; }
__device__ ours::Pair pair, pairs[2];
__device__ cuda::atomic<int, cuda::thread_scope_device> n{3}, m(4);
__device__ cuda::std::atomic<unsigned> bits;
extern "C" __global__ void k(int *y) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    mine.fetch_add(threadIdx.x, cuda::memory_order_relaxed);
    __syncthreads();
    n += 2;
    if (threadIdx.x == 0) {
        y[0] = mine; y[1] = m--; y[2] = m.exchange(9);
        y[3] = bits |= 6; y[4] = bits & 2;
    }
    pair.a = 1;
}"""


def test_atomic_variables():
    module, y = cp.RawModule(code=ATOMIC_VARIABLES), cp.zeros(5, "i4")
    module.get_function("k")((1,), (40,), (y,))
    assert y.get().tolist() == [780, 4, 3, 6, 2]
    for name, value in {"n": 83, "m": 9, "bits": 6, "pair": 1, "pairs": 0}.items():
        assert cp.ndarray(1, "i4", module.get_global(name))[0] == value
