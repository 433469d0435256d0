"""What the x-ray counts: against numbers counted by hand, and against those of a GPU's counters."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

from gpuless.xray.look import look
from gpuless.xray.machine.build import can_compile
from gpuless.xray.make import make

pytestmark = pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")

PRODUCT = r"""
extern "C" __global__ void product(const REAL *a, const REAL *b, REAL *c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (SWAP) { int other = col; col = row; row = other; }
    if (row < n && col < n) {
        REAL sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}"""


def product(n, block, dtype="float", swap=0, **options):
    kernel = cp.RawKernel(PRODUCT, "product", (f"-DREAL={dtype}", f"-DSWAP={swap}"))
    a, b, c = (cp.ones((n, n), "f4" if dtype == "float" else "f8") for _ in range(3))
    grid = (-(-n // block[0]), -(-n // block[1]))
    return helpers.xray(kernel, grid, block, (a, b, c, np.int32(n)), **options)


def body(text, *args, threads=32, blocks=1, parameters="const float *x, float *y", **options):
    """The x-ray of a kernel with this body; t is the number of a thread in its block."""
    code = f"""extern "C" __global__ void k({parameters}) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    {text}
}}"""
    return helpers.xray(cp.RawKernel(code, "k"), (blocks,), (threads,), args, **options)


def one(found, kind, array=None):
    """The only access of a kind (to an array)."""
    (access,) = [a for a in found.accesses if a.kind == kind and array in (None, a.array)]
    return access


@pytest.mark.parametrize(
    ("dtype", "block", "swap", "passes"),
    [
        ("float", (16, 16), 0, 3),
        ("float", (32, 8), 0, 2),
        ("double", (16, 16), 0, 4),
        ("double", (16, 16), 1, 34),
    ],
)
def test_passes_of_l1_are_those_that_the_gpus_counters_show(dtype, block, swap, passes):
    found = product(64, block, dtype, swap)
    pairs = one(found, "load", "a").requests
    assert found.total("passes", kind="load") == passes * pairs


@pytest.mark.parametrize(
    ("n", "swap", "requests", "sectors", "stores", "stored"),
    [
        (256, 0, 1048576, 2097152, 2048, 8192),  # a GPU's counters, in millions: 1.05, 2.1
        (256, 1, 1048576, 8912896, 2048, 32768),
        (250, 0, 1000000, 2350000, 2000, 10805),  # with edges; 1.00 and 2.35
    ],
)
def test_the_naive_product(n, swap, requests, sectors, stores, stored):
    found = product(n, (16, 16), swap=swap)
    assert found.total("requests", kind="load") == requests
    assert found.total("sectors", kind="load") == pytest.approx(sectors, rel=2e-3)
    assert found.total("requests", kind="store") == stores
    assert found.total("sectors", kind="store") == stored
    assert found.unavoidable_read == pytest.approx(2 * 4 * n * n, rel=1e-3)
    assert not found.races


@pytest.mark.parametrize(
    ("stride", "sectors"), [(1, 512), (2, 1024), (4, 2048), (8, 4096), (32, 4096)]
)
def test_strides(stride, sectors):
    x, y = cp.zeros(4096 * 32, "f4"), cp.zeros(4096, "f4")
    found = body(f"y[i] = x[{stride} * i];", x, y, threads=256, blocks=16)
    load, store = one(found, "load"), one(found, "store")
    assert (load.requests, load.sectors) == (128, sectors)
    assert (store.requests, store.sectors) == (128, 512)
    assert load.used == pytest.approx(512 / sectors)
    assert load.bytes == 4 * 4096


def test_one_element_off_touches_a_fifth_sector():
    x, y = cp.zeros(4097, "f4"), cp.zeros(4096, "f4")
    load = one(body("y[i] = x[i + 1];", x, y, threads=256, blocks=16), "load")
    assert (load.requests, load.sectors) == (128, 640)


def test_an_array_that_is_a_slice_keeps_its_alignment():
    x, y = cp.zeros(4097, "f4"), cp.zeros(4096, "f4")
    load = one(body("y[i] = x[i];", x[1:], y, threads=256, blocks=16), "load")
    assert (load.requests, load.sectors) == (128, 640)
    assert load.array == "x"


@pytest.mark.parametrize(
    ("value", "requests"),
    [("x[t] * x[t + 32]", 2), ("x[t] / x[t + 32]", 2), ("exp(x[t])", 1), ("-conj(x[t])", 1)],
)
def test_both_parts_of_a_complex_number_are_read_at_once(value, requests):
    code = f"""#include <cupy/complex.cuh>
    extern "C" __global__ void k(const complex<float> *x, complex<float> *y) {{
        int t = threadIdx.x;
        y[t] = {value};
    }}"""
    given = cp.ones(64, "F"), cp.zeros(32, "F")
    found = one(helpers.xray(cp.RawKernel(code, "k"), (1,), (32,), given), "load", "x")
    assert (found.requests, found.sectors, found.line) == (requests, 8 * requests, 4)


def test_a_float4_is_one_access():
    x = cp.zeros(4 * 16384, "f4")
    found = body(
        "y[i] = x[i];",
        x,
        cp.zeros_like(x),
        threads=256,
        blocks=64,
        parameters="const float4 *x, float4 *y",
    )
    for access in found.accesses:
        assert (access.requests, access.sectors, access.item_bytes) == (512, 8192, 16)


TRANSPOSE = r"""
extern "C" __global__ void transpose(const float *x, float *y, int n) {
    __shared__ float tile[32][32 + PAD];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * n + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    y[row * n + col] = tile[threadIdx.x][threadIdx.y];
}"""


@pytest.mark.parametrize(("pad", "passes"), [(0, 65536), (1, 2048)])
def test_a_transpose_by_tiles(pad, passes):
    x = cp.zeros((256, 256), "f4")
    kernel = cp.RawKernel(TRANSPOSE, "transpose", (f"-DPAD={pad}",))
    found = helpers.xray(kernel, (8, 8), (32, 32), (x, cp.zeros_like(x), np.int32(256)))
    assert (one(found, "load", "x").requests, one(found, "load", "x").sectors) == (2048, 8192)
    assert one(found, "store", "y").sectors == 8192
    assert (one(found, "store", "tile").requests, one(found, "store", "tile").passes) == (
        2048,
        2048,
    )
    assert (one(found, "load", "tile").requests, one(found, "load", "tile").passes) == (
        2048,
        passes,
    )
    assert one(found, "load", "tile").ways == passes / 2048


REDUCTION = r"""
extern "C" __global__ void reduce(const float *x, float *y) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    LOOP {
        if (WHO) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
}"""


@pytest.mark.parametrize(
    ("loop", "who", "loads", "stores"),
    [
        ("for (int s = 128; s; s /= 2)", "t < s", 400, 320),
        ("for (int s = 1; s < 256; s *= 2)", "t % (2 * s) == 0", 1520, 880),
    ],
)
def test_a_reduction(loop, who, loads, stores):
    code = REDUCTION.replace("LOOP", loop).replace("WHO", who)
    x, y = cp.ones(4096, "f4"), cp.zeros(16, "f4")
    found = helpers.xray(cp.RawKernel(code, "reduce"), (16,), (256,), (x, y))
    assert found.total("requests", kind="load", shared=True) == loads
    assert found.total("requests", kind="store", shared=True) == stores
    assert found.total("passes", shared=True) == loads + stores
    assert one(found, "store", "y").requests == one(found, "store", "y").sectors == 16
    assert not found.races


@pytest.mark.parametrize(
    ("kind", "index", "passes"),
    [
        ("float", "t", 1),
        ("float", "0", 1),  # one word for all
        ("float", "2 * t", 2),
        ("float", "3 * t", 1),
        ("float", "32 * t", 32),
        ("float", "t / 2 * 32", 16),
        ("double", "t", 2),  # half a warp at a time
        ("double", "t / 2", 1),  # neighbours ask for the same
        ("double", "2 * t", 4),
        ("float4", "t", 4),  # a quarter at a time
        ("float4", "0", 2),
    ],
)
def test_passes_of_shared_memory(kind, index, passes):
    field = ".x" if kind == "float4" else ""
    text = f"""__shared__ {kind} s[1024];
    for (int j = t; j < 1024; j += 32) s[j] = {kind}();
    __syncthreads();
    {kind} v = s[{index}]; y[t] = (float)v{field};"""
    if kind == "float4":
        text = text.replace(f"(float)v{field}", "v.x + v.y + v.z + v.w")
    found = body(text, cp.zeros(32, "f4"), parameters="float *y")
    load = one(found, "load", "s")
    assert (load.requests, load.lanes, load.passes) == (1, 32, passes)


def test_lanes_that_leave_a_loop_early():
    x, y = cp.ones(64, "f4"), cp.zeros(64, "f4")
    found = body("float s = 0; for (int k = 0; k < t; k++) s += x[k]; y[t] = s;", x, y)
    load, store = one(found, "load"), one(found, "store")
    assert (load.requests, load.lanes) == (31, 31 * 32 // 2)  # turn k: the lanes above k
    assert (store.requests, store.lanes) == (1, 32)  # together again


def test_turns_that_some_lanes_skip():
    x, y = cp.ones(320, "f4"), cp.zeros(32, "f4")
    text = """float s = 0;
    for (int k = 0; k < 10; k++) {
        if ((k + t) % 2) continue;
        s += x[32 * k + t];
    }
    y[t] = s;"""
    load = one(body(text, x, y), "load")
    assert (load.requests, load.lanes, load.sectors) == (10, 160, 40)


def test_branches_that_split_a_warp():
    x, y = cp.ones(128, "f4"), cp.zeros(96, "f4")
    found = body("if (t % 2) y[t] = x[t]; else y[t] = 2;", x, y, threads=96)
    (branch,) = found.branches
    assert (branch.line, branch.splits, branch.passages) == (3, 3, 3)
    assert (one(found, "load").requests, one(found, "load").lanes) == (3, 48)
    assert not body("if (t < 32) y[t] = x[t]; else y[t] = 2;", x, y, threads=96).branches


@pytest.mark.parametrize(
    "barrier",
    [
        "__syncthreads();",
        "if (__syncthreads_or(t == 3)) s[t] += 1;",
        "cooperative_groups::this_thread_block().sync();",
    ],
)
def test_a_branch_right_behind_a_barrier(barrier):
    header = "#include <cooperative_groups.h>\n" if "group" in barrier else ""
    code = f"""{header}#line 1
extern "C" __global__ void k(const float *x, float *y, int n) {{
    __shared__ float s[32];
    int t = threadIdx.x, i = 32 * blockIdx.x + t;
    if (i < n) s[t] = x[i]; else s[t] = 0;
    {barrier}
    if (i < n) y[i] = s[31 - t] + t;
}}"""
    x, y = cp.ones(128, "f4"), cp.zeros(128, "f4")
    found = helpers.xray(cp.RawKernel(code, "k"), (4,), (32,), (x, y, np.int32(100)))
    assert [(b.line, b.splits, b.passages) for b in found.branches][-1] == (6, 1, 4)
    turns = """__shared__ float s[32];
for (int k = 0; k < 3; k++) {
    s[t] = x[t];
    __syncthreads();
    if (t > k) y[t] += s[t - 1];
    __syncthreads();
}"""
    found = body(turns, x, y)
    assert [(b.line, b.splits, b.passages) for b in found.branches] == [(7, 3, 3)]
    assert (one(found, "store", "y").requests, one(found, "store", "y").lanes) == (3, 90)


@pytest.mark.parametrize(
    "value",
    [
        "fmaxf(x[t], t - 16)",
        "fminf(fmaxf(t, 3), 9)",
        "__saturatef(t - 16)",
        "__clz(t)",
        "(unsigned char)(20.5f * t * x[t])",
        "atomicInc((unsigned *)y + 32 + t / 4, 3)",
        "atomicCAS((int *)y + 32 + t / 4, t & 1, 5)",
        "__half2float(__hmax(__float2half(0.3f * t), __float2half(3)))",
    ],
)
def test_what_cuda_s_functions_do_inside_is_no_branch_of_the_kernel(value):
    header = "#include <cuda_fp16.h>\n" if "half" in value else ""
    code = f"""{header}extern "C" __global__ void k(const float *x, float *y) {{
    int t = threadIdx.x;
    y[t] = {value};
}}"""
    x, y = cp.ones(64, "f4"), cp.zeros(64, "f4")
    assert not helpers.xray(cp.RawKernel(code, "k"), (1,), (32,), (x, y)).branches


@pytest.mark.parametrize("condition", ["fmaxf(t - 16, x[t]) > 3", "isnan(sqrtf(t - 16.5f))"])
def test_a_condition_that_calls_cuda_s_functions_is_a_branch(condition):
    x, y = cp.ones(64, "f4"), cp.zeros(96, "f4")
    found = body(f"if ({condition}) y[t] = 1; else y[t + 64] = 2;", x, y)
    assert [(b.line, b.splits, b.passages) for b in found.branches] == [(3, 1, 1)]


def test_a_branch_right_behind_a_call():
    code = """__device__ __noinline__ float thrice(const float *x, int i) {
    if (i < 4) return 2;
    return 3 * x[i];
}
extern "C" __global__ void k(const float *x, float *y) {
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        float v = thrice(x, t + k);
        if (v > 60) y[t] += 1;
        if (t % 2 && thrice(x, t) < 30) y[t + 32] += 1;
        y[t + 64] += 1;
    }
}"""
    x, y = cp.arange(64, dtype="f4"), cp.zeros(96, "f4")
    found = helpers.xray(cp.RawKernel(code, "k"), (1,), (32,), (x, y))
    counts = {b.line: (b.splits, b.passages) for b in found.branches}
    assert counts[2][0] == 6 and counts[9] == (3, 3)
    assert counts[10][0] == 6  # at the one condition, and at the other
    stores = [(a.requests, a.lanes) for a in found.accesses if a.kind == "store"]
    assert stores == [(3, 11 + 12 + 13), (3, 15), (3, 96)]


def test_an_early_return():
    x, y = cp.ones(64, "f4"), cp.zeros(64, "f4")
    found = body("if (t >= 40) return; y[t] = x[t];", x, y, threads=64)
    assert (one(found, "load").requests, one(found, "load").lanes) == (2, 40)
    assert [(b.splits, b.passages) for b in found.branches] == [(1, 2)]


def test_loads_and_stores_of_atomic_variables_take_no_turns():
    code = """#include <cuda/atomic>
extern "C" __global__ void k(int *flag, int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> all(*flag), own(y[threadIdx.x]), last(y[32]);
    own.store(all.load());
    last.store(1, cuda::memory_order_relaxed);
    last.fetch_add(1);
}"""
    flag, y = cp.zeros(8, "i4"), cp.zeros(40, "i4")
    found = helpers.xray(cp.RawKernel(code, "k"), (1,), (32,), (flag, y))
    assert [(a.kind, a.requests, a.sectors, a.turns) for a in found.accesses] == [
        ("load", 1, 1, 0),
        ("store", 1, 4, 0),
        ("store", 1, 1, 0),
        ("atomic", 1, 32, 32),
    ]
    assert (found.unavoidable_read, found.unavoidable_written) == (32, 5 * 32)


def test_atomics_on_one_address():
    y = cp.zeros(8, "i4")
    found = body("atomicAdd(&y[t / 8], 1);", y, threads=64, parameters="int *y")
    atomic = one(found, "atomic")
    assert (atomic.requests, atomic.lanes, atomic.turns) == (2, 64, 16)
    assert atomic.sectors == 16  # eight turns, each touching the sector, in each of two warps
    assert not found.races


def test_the_sectors_that_nobody_can_avoid_are_counted_once():
    x, y = cp.ones(64, "f4"), cp.zeros(32, "f4")
    found = body("y[t] = x[t] + x[t + 1] + x[0]; y[t] += 1;", x, y)
    assert found.unavoidable_read == 5 * 32  # elements 0 to 32; y is read after it was written
    assert found.unavoidable_written == 4 * 32


def test_a_variable_of_the_module_is_seen_as_it_is():
    code = """__constant__ int shift; __device__ int calls;
    extern "C" __global__ void k(const float *x, float *y) {
        y[threadIdx.x] = x[threadIdx.x + shift]; if (threadIdx.x == 0) calls++; }"""
    module = cp.RawModule(code=code)
    pointers = [module.get_global(name) for name in ("shift", "calls")]
    shift, calls = (cp.ndarray((1,), "i4", pointer) for pointer in pointers)
    shift[0], calls[0] = 8, 3
    found = helpers.xray(
        module.get_function("k"), (1,), (32,), (cp.ones(64, "f4"), cp.ones(32, "f4"))
    )
    assert one(found, "load", "x").addresses[0] == 32
    assert calls[0] == 3
    assert one(found, "load", "shift").requests == 1


def test_dynamic_shared_memory():
    code = """extern "C" __global__ void k(float *y) {
        extern __shared__ float part[];
        part[2 * threadIdx.x] = 1; __syncthreads(); y[threadIdx.x] = part[2 * threadIdx.x]; }"""
    found = helpers.xray(cp.RawKernel(code, "k"), (1,), (32,), (cp.ones(32, "f4"),), shared_mem=256)
    store = one(found, "store", "dynamic shared memory")
    assert store.shared and store.passes == 2


def test_an_elementwise_kernel():
    text = "int k = p[i];\nz = x + y[k]"
    gather = cp.ElementwiseKernel("T x, raw int32 p, raw T y", "T z", text, "gather")
    x = cp.arange(1024, dtype="f4")
    found = helpers.xray(gather, x, (x * 8 % 1024).astype("i4"), x.copy())
    by_array = {a.array: a for a in found.accesses}
    assert found.block == (128, 1, 1) and found.grid == (8, 1, 1)
    assert {a.requests for a in found.accesses} == {32}
    assert (by_array["x"].sectors, by_array["p"].sectors, by_array["z"].sectors) == (128, 128, 128)
    assert by_array["y"].sectors == 1024  # every eighth element: a sector each
    assert by_array["y"].line == 2 and by_array["y"].code == "z = x + y[k]"
    assert (by_array["y"].text, by_array["p"].text) == ("y[k]", "p[i]")


def test_an_elementwise_kernel_on_a_transposed_array():
    copy = cp.ElementwiseKernel("T x", "T z", "z = x", "copy")
    x = cp.zeros((32, 32), "f4")
    found = helpers.xray(copy, x.T, block_size=64)
    assert one(found, "load").sectors == 1024 and one(found, "store").sectors == 128
    assert found.block == (64, 1, 1)


def test_a_reduction_kernel():
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
    x = cp.arange(1000, dtype="f4").reshape(10, 100)
    found = helpers.xray(norm, x, axis=1)
    load = one(found, "load", "x")
    assert load.lanes == 1000 and load.bytes == 4000
    assert load.code.endswith("static_cast<_type_reduce>(x * x);")
    assert one(found, "store", "y").lanes == 10
    assert not found.races


COPY = cp.RawKernel(
    """extern "C" __global__ void copy(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += x[i];
}""",
    "copy",
)


@pytest.mark.parametrize("how", [{"blocks": 10}, {"blocks": None, "accesses": 96 * 10}])
def test_many_blocks_are_sampled_and_it_is_said(how):
    args = (cp.zeros(3200, "f4"), cp.zeros(3200, "f4"))
    asked = make(COPY, (100,), (32,), args, shared_mem=0, keywords={}, **how)
    found = look(asked)
    assert (found.blocks, found.grid_blocks) == (10, 100)
    assert one(found, "load", "x").requests == 10
    assert found.whole("requests", kind="store") == 100
    assert "10 of 100 blocks" in str(found)


def test_a_sample_has_the_first_and_the_last_block():
    code = """extern "C" __global__ void ends(int *y) {
        if (blockIdx.x == 0 || blockIdx.x == gridDim.x - 1) y[blockIdx.x] = 1;
    }"""
    ends = cp.RawKernel(code, "ends")
    found = helpers.xray(ends, (100,), (1,), (cp.zeros(100, "i4"),), blocks=3)
    assert (found.blocks, one(found, "store").requests) == (3, 2)


@pytest.mark.long
def test_the_least_time_of_the_naive_product():
    n = 4096
    kernel = cp.RawKernel(PRODUCT, "product", ("-DREAL=float", "-DSWAP=0"))
    a, b, c = (cp.zeros((n, n), "f4") for _ in range(3))
    args = (a, b, c, np.int32(n))
    found = helpers.xray(kernel, (256, 256), (16, 16), args, blocks=2)
    least = found.least_seconds(bytes_per_second=3e12, passes_per_second=132 * 1.98e9)
    assert least["passes"] == pytest.approx(3 * n**3 / 32 / (132 * 1.98e9), rel=1e-3)  # 24.7 ms
    assert least["memory"] == pytest.approx(3 * 4 * n * n / 3e12, rel=0.01)


def test_ceilings_are_a_gpus():
    if not helpers.on_gpu:
        with pytest.raises(RuntimeError, match="there is none"):
            helpers.ceilings()


def test_conditions_are_tested_in_the_order_of_the_source():
    """Each of the 8 warps of a block reads `last`, as on a GPU; then one thread goes on."""
    text = """__shared__ bool last; y[i] = x[i]; __threadfence(); __syncthreads();
    if (t == 0) last = atomicAdd(&y[1024], 1.f) == gridDim.x - 1;
    __syncthreads();
    if (last && t == 0) { float s = 0; for (int k = 0; k < 1024; k++) s += y[k]; y[1025] = s; }"""
    args = cp.ones(1024, "f4"), cp.zeros(1026, "f4")
    found = body(text, *args, threads=256, blocks=4)
    assert one(found, "load", "last").requests == 4 * 8
    assert found.total("requests", kind="load") == 32 + 1024


def test_branches_that_do_alike_are_counted_each():
    """GCC would make one load of two, or one end of two branches."""
    text = """extern "C" __global__ void k(const float *x, float *y) {
int t = threadIdx.x; float v;
if (t % 2)
v = x[t] * 2;
else
v = x[t] + 1;
if (t % 4) { y[t] = v;
y[t + 64] = 3; } else { y[t + 128] = v;
y[t + 64] = 3; }
}"""
    args = cp.zeros(64, "f4"), cp.zeros(256, "f4")
    seen = helpers.xray(cp.RawKernel(text, "k"), (1,), (64,), args)
    lanes = {a.line: (a.requests, a.lanes) for a in seen.accesses if a.text != "y[t + 128]"}
    assert lanes == {4: (2, 32), 6: (2, 32), 7: (2, 48), 8: (2, 48), 9: (2, 16)}
