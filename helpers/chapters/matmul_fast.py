"""Generated from notebooks/15_matmul_fast.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import functools
from collections import namedtuple

import numpy as np
import cupy as cp


attributes = cp.cuda.Device().attributes
n_sms = attributes["MultiProcessorCount"]
clock_hertz = attributes["ClockRate"] * 1e3 or np.inf  # the stand-in has no clock
# The stand-in imitates the tensor cores of compute capability 9.0.
capability = int(cp.cuda.Device().compute_capability) or 90
fma_a_clock = (
    2 if capability in (60, 70, 72, 75, 80) else 4
)  # of a warp, in each SM


def fill(code, **pieces):
    """Put each piece into the hole @name@ of the code."""
    for name, piece in pieces.items():
        if f"@{name}@" not in code:
            raise KeyError(f"the code has no hole @{name}@")
        code = code.replace(f"@{name}@", piece.strip())
    return code


def constants(values):
    """The dict `values` as lines of CUDA C."""
    lines = [f"constexpr int {name} = {int(x)};" for name, x in values.items()]
    return "\n".join(lines) + "\n"


signature = r"""
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS)
void matmul(const @T@* __restrict__ A, const @T@* __restrict__ B, @R@* __restrict__ C,
            int M, int N, int K@more@) {"""
f32_signature = fill(signature, T="float", R="float", more="")


one_each = (
    f32_signature
    + r"""
    int row = blockIdx.y * 32 + @row@;
    int col = blockIdx.x * 32 + @col@;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}"""
)


square_of_threads = {"BM": 32, "BN": 32, "THREADS": 1024, "BLOCKS": 2}


Rung = namedtuple("Rung", "source tile dtype prepare", defaults=(np.float32, None))
rungs = {}  # name -> Rung


def add_rung(name, source, tile, *more):
    rungs[name] = Rung(source, {"BLOCKS": 1} | tile, *more)
    compiled.cache_clear()


@functools.cache
def compiled(name, edges, vec):
    """The rung's kernel for matrices that do or do not end inside a tile."""
    rung = rungs[name]
    text = constants(rung.tile | {"EDGES": edges, "VEC": vec}) + rung.source
    kernel = cp.RawKernel(text, "matmul", options=("-std=c++17",))
    if (size := rung.tile.get("SHARED", 0)) > 48 * 1024:
        kernel.max_dynamic_shared_size_bytes = size
    return kernel


def fitting(A, B, dtype):
    """A and B stored by rows, or an error that says what does not fit."""
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"shapes {A.shape} and {B.shape} make no product")
    if A.dtype != dtype or B.dtype != dtype:
        raise TypeError(
            f"{A.dtype} and {B.dtype}: this rung is for {np.dtype(dtype)}"
        )
    if max(A.size, B.size, A.shape[0] * B.shape[1]) >= 2**31 - 2**24:
        raise ValueError(
            "the kernels count in int: fewer than 2**31 numbers, please"
        )
    return cp.ascontiguousarray(A), cp.ascontiguousarray(B)


def product(name, A, B, C=None):
    """A @ B by the rung of this name, A (M, K) and B (K, N); into C if one is given."""
    rung = rungs[name]
    A, B = fitting(A, B, rung.dtype)
    (M, K), N = A.shape, B.shape[1]
    C = cp.empty((M, N), rung.dtype) if C is None else C
    if not (C.flags.c_contiguous and C.shape == (M, N) and C.dtype == rung.dtype):
        raise ValueError(
            "C must be an array of rows, of the product's shape and type"
        )
    if not C.size or not K:
        C.fill(0)
    else:
        A, B, *more = rung.prepare(A, B) if rung.prepare else (A, B)
        launch(name, A, B, C, B.shape[0], *more)
    return C


def launch(name, A, B, C, K, *more):
    """The kernel alone: A and B as it wants them, of K columns and rows."""
    tile, (M, N) = rungs[name].tile, C.shape
    bm, bn, bk = (tile.get(side, 1) for side in ("BM", "BN", "BK"))
    vec = 16 // A.itemsize
    wide = not (
        A.shape[1] % vec or N % vec or any(x.data.ptr % 16 for x in (A, B, C))
    )
    kernel = compiled(name, bool(M % bm or N % bn or K % bk), vec if wide else 1)
    grid, threads = (-(-N // bn), -(-M // bm)), (tile["THREADS"],)
    arguments = A, B, C, np.int32(M), np.int32(N), np.int32(K), *more
    kernel(grid, threads, arguments, shared_mem=tile.get("SHARED", 0))


def relative_error(C, A, B):
    """|C - A B| / |A B|, with A B in float64; on the host, so mind the sizes."""
    exact = A.get().astype(np.float64) @ B.get().astype(np.float64)
    return float(np.linalg.norm(C.get() - exact) / np.linalg.norm(exact))


def draw(M, K, N, dtype=np.float32, seed=15):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((M, K)), rng.standard_normal((K, N))
    return cp.asarray(A.astype(dtype)), cp.asarray(B.astype(dtype))


SHAPES = (1, 1, 1), (67, 43, 135), (64, 32, 128), (128, 32, 128), (130, 36, 20)


def agrees(name, limit=1e-6, shapes=SHAPES):
    """Is the rung right for these shapes (M, K, N), and for a transposed A?"""
    errors = []
    for M, K, N in shapes:
        A, B = draw(M, K, N, rungs[name].dtype)
        C = product(name, A, B, cp.full((M, N), np.nan, A.dtype))
        errors.append(relative_error(C, A, B))
    A = cp.asarray(np.ascontiguousarray(A.get().T)).T
    errors.append(relative_error(product(name, A, B), A, B))
    return max(errors) < limit


along_rows = fill(one_each, row="threadIdx.x / 32", col="threadIdx.x % 32")
along_columns = fill(one_each, row="threadIdx.x % 32", col="threadIdx.x / 32")
add_rung("naive", along_columns, square_of_threads)
add_rung("coalesced", along_rows, square_of_threads)


tile_source = (
    f32_signature
    + r"""
    __shared__ float As[32][32], Bs[32][32];
    int y = threadIdx.x / 32, x = threadIdx.x % 32;
    int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0;
        Bs[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0;
        __syncthreads();  // now both tiles are there
        for (int k = 0; k < 32; k++) sum += As[y][k] * Bs[k][x];
        __syncthreads();  // now nobody needs them any more
    }
    if (row < M && col < N) C[row * N + col] = sum;
}"""
)
add_rung("tile", tile_source, square_of_threads | {"BK": 32})


column_tile = {
    "BM": 64,
    "BN": 64,
    "BK": 8,
    "TM": 8,
    "TN": 1,
    "THREADS": 512,
    "BLOCKS": 2,
}
square_tile = {
    "BM": 128,
    "BN": 128,
    "BK": 8,
    "TM": 8,
    "TN": 8,
    "THREADS": 256,
    "BLOCKS": 2,
}
warp_tile = square_tile | {"WARPS_X": 2}


many_each = (
    f32_signature
    + r"""
    __shared__ float As[BM][BK], Bs[BK][BN];
    int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int y = t / (BN / TN) * TM, x = t % (BN / TN) * TN;  // my corner of the tile
    float sum[TM][TN] = {}, a[TM], b[TN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        @bring@
        __syncthreads();
        for (int k = 0; k < BK; k++) {
            for (int i = 0; i < TM; i++) a[i] = As[y + i][k];
            for (int j = 0; j < TN; j++) b[j] = Bs[k][x + j];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            if (row0 + y + i < M && col0 + x + j < N)
                C[(row0 + y + i) * N + col0 + x + j] = sum[i][j];
}"""
)


bring = """for (int i = t; i < BM * BK; i += THREADS) {
            int row = row0 + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = row < M && k < K ? A[row * K + k] : 0;
        }
        for (int i = t; i < BK * BN; i += THREADS) {
            int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0;
        }"""
many_source = fill(many_each, bring=bring)


add_rung("column", many_source, column_tile)
add_rung("square", many_source, square_tile)


fours = r"""
// Four neighbours of one row, of which `inside` lie in the matrix; zeros for the others.
__device__ float4 four(const float* p, int inside) {
    if (VEC == 4 && (!EDGES || inside > 0)) return *(const float4*)p;
    return make_float4(inside > 0 ? p[0] : 0, inside > 1 ? p[1] : 0,
                       inside > 2 ? p[2] : 0, inside > 3 ? p[3] : 0);
}
"""


vector_source = (
    fours
    + f32_signature
    + r"""
    __shared__ float4 As4[BK][BM / 4], Bs4[BK][BN / 4];
    float (*As)[BM] = (float (*)[BM])As4;  // the same memory as single numbers
    int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int a_row = t / (BK / 4), a_k = t % (BK / 4) * 4;  // whom I bring from A
    int b_k = t / (BN / 4), b_col = t % (BN / 4) * 4;  // and from B
    int rows = M - row0 - a_row, cols = N - col0 - b_col;
    const float *from_a = A + (row0 + a_row) * K + a_k;
    const float *from_b = B + b_k * N + col0 + b_col;
    int y = t / (BN / 8) * 8, x = t % (BN / 8) * 8;
    float sum[8][8] = {}, a[8], b[8];
    for (int k0 = 0; k0 < K; k0 += BK, from_a += BK, from_b += BK * N) {
        float4 v = four(from_a, rows > 0 ? K - k0 - a_k : 0);
        As[a_k][a_row] = v.x, As[a_k + 1][a_row] = v.y;
        As[a_k + 2][a_row] = v.z, As[a_k + 3][a_row] = v.w;
        Bs4[b_k][b_col / 4] = four(from_b, k0 + b_k < K ? cols : 0);
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < BK; k++) {
            *(float4*)&a[0] = As4[k][y / 4], *(float4*)&a[4] = As4[k][y / 4 + 1];
            *(float4*)&b[0] = Bs4[k][x / 4], *(float4*)&b[4] = Bs4[k][x / 4 + 1];
            #pragma unroll
            for (int i = 0; i < 8; i++)
                #pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    @store@
}"""
)


store_fours = """for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += VEC) {
            int row = row0 + y + i, col = col0 + x + j;
            if (EDGES && (row >= M || col >= N)) continue;
            if (VEC == 4) *(float4*)&C[row * N + col] = *(float4*)&sum[i][j];
            else C[row * N + col] = sum[i][j];
        }"""
add_rung("vector", fill(vector_source, store=store_fours), square_tile)


copy_code = r"""
#define UNROLLED(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#ifndef ASYNC
#define ASYNC (__CUDA_ARCH__ >= 800)
#endif
// COUNT numbers from global to shared memory; zeros if the place is outside of the matrix.
template <int COUNT> __device__ void copy(T* to, const T* from, const T* safe, bool inside) {
    constexpr int BYTES = COUNT * sizeof(T);
    if (!EDGES) inside = true;
    if (!inside) from = safe;  // an address that may be read; nothing is read from it
#if ASYNC
    unsigned int place = __cvta_generic_to_shared(to);
    if (BYTES == 16 && !EDGES)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(place), "l"(from) : "memory");
    else if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(place), "l"(from), "r"(inside ? 16 : 0) : "memory");
    else if (!EDGES)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :: "r"(place), "l"(from), "n"(BYTES) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :: "r"(place), "l"(from), "n"(BYTES), "r"(inside ? BYTES : 0) : "memory");
#else
    if (BYTES == 16) *(float4*)to = inside ? *(const float4*)from : make_float4(0, 0, 0, 0);
    else *to = inside ? *from : T{};
#endif
}
"""


wait_code = r"""
__device__ void close_group() {
#if ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all groups of copies but the youngest PENDING have arrived, here and in the whole block.
template <int PENDING> __device__ void await_groups() {
#if ASYNC
    asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
#endif
    __syncthreads();
}
"""


bring_b = """
    int b_k = t / (BN / VEC), b_col = t % (BN / VEC) * VEC;
    const T* from_b = B + b_k * N + col0 + b_col;
    int cols_left = N - col0 - b_col, b_left = K - b_k;
    auto load_b = [&](int stage) {
        T* to = Bs + stage * B_SIZE + b_k * B_LINE + b_col;
        constexpr int STRIDE = THREADS * VEC / BN;
        UNROLLED(i, BK / STRIDE)
            copy<VEC>(to + i * STRIDE * B_LINE, from_b + i * STRIDE * N, B,
                      0 < cols_left && i * STRIDE < b_left);
        from_b += BK * N, b_left -= BK;
    };
"""


bring_a_turned = """
    int a_row = t / BK, a_k = t % BK;
    const T* from_a = A + (row0 + a_row) * K + a_k;
    int rows_left = M - row0 - a_row, a_left = K - a_k;
    auto load_a = [&](int stage) {
        T* to = As + stage * A_SIZE + a_k * A_LINE + a_row;
        constexpr int STRIDE = THREADS / BK;
        UNROLLED(i, BM / STRIDE)
            copy<1>(to + i * STRIDE, from_a + i * STRIDE * K, A,
                    i * STRIDE < rows_left && 0 < a_left);
        from_a += BK, a_left -= BK;
    };
"""


outer_frame = (
    r"""
typedef float T;
constexpr int A_LINE = BM + 4, B_LINE = BN, A_SIZE = BK * A_LINE, B_SIZE = BK * B_LINE;
"""
    + copy_code
    + wait_code
    + f32_signature
    + r"""
    extern __shared__ float4 shared[];
    float *As = (float*)shared, *Bs = As + STAGES * A_SIZE;  // [STAGES][BK][A_LINE] and [...]
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int y = warp / WARPS_X * (4 * TM) + lane / 8 * 4;  // rows y ... y+3, y+16 ... y+19, ...
    int x = warp % WARPS_X * (8 * TN) + lane % 8 * 4;  // columns x ... x+3, x+32 ... x+35, ...
    @bring_a@
    @bring_b@
    auto load = [&](int stage) { load_a(stage); load_b(stage); };
    float sum[TM][TN] = {}, a[2][TM], b[2][TN];
    @fetch@
    @multiply@
    int tiles = (K + BK - 1) / BK;
    @loop@
    UNROLLED(i, TM)
        @store@
}"""
)


fetch_fours = """
    const float *as, *bs;  // where I read, in the stage that is in use
    auto use = [&](int stage) { as = As + stage * A_SIZE + y, bs = Bs + stage * B_SIZE + x; };
    auto fetch = [&](int buffer, int k) {
        UNROLLED(i, TM / 4) *(float4*)&a[buffer][4 * i] = *(const float4*)&as[k * A_LINE + 16 * i];
        UNROLLED(j, TN / 4) *(float4*)&b[buffer][4 * j] = *(const float4*)&bs[k * B_LINE + 32 * j];
    };
"""


outer_product = """
    auto multiply = [&](int buffer, int step) {
        UNROLLED(j, TN)
            UNROLLED(n, TM) {
                int i = @order@;
                sum[i][j] += a[buffer][i] * b[buffer][j];
            }
    };
"""


loop_at_once = """
    for (int tile = 0; tile < tiles; tile++) {
        load(0);
        close_group();
        await_groups<0>();
        use(0);
        UNROLLED(k, STEPS) { fetch(0, k * STEP); multiply(0, k); }
        __syncthreads();
    }
"""


store_vectors = """
        UNROLLED(j, TN / VEC) {
            int row = row0 + y + i % 4 + i / 4 * 16;
            int col = col0 + x + j * VEC % 4 + j * VEC / 4 * 32;
            if (EDGES && (row >= M || col >= N)) continue;
            if (VEC == 4) *(float4*)&C[row * N + col] = *(float4*)&sum[i][j * VEC];
            else C[row * N + col] = sum[i][j];
        }
"""


def check_copies(tile, line_a, vec_a):
    """Each thread brings whole rows' shares: a wrong tile is refused before it is compiled."""
    at_once = tile["THREADS"]
    for line, lines, vec in (
        (line_a, tile["BM"], vec_a),
        (tile["BN"], tile["BK"], 4),
    ):
        for step in (at_once, at_once * vec):
            if step % line or lines % (step // line):
                raise ValueError(f"{at_once} threads cannot share lines of {line}")


def stages_for(wanted, size, blocks=1):
    """As many stages of `size` bytes as wanted, or as `blocks` blocks an SM have room for."""
    of_sm = attributes["MaxSharedMemoryPerMultiprocessor"] // blocks
    room = min(attributes["MaxSharedMemoryPerBlockOptin"], of_sm - 1024)
    return min(
        wanted, max(room // size, 2)
    )  # CUDA keeps 1,024 bytes of each block's


BK, most = (16, 3) if capability >= 80 else (8, 2)
note = "// BK 16: needs compute capability 8.0\n" if BK == 16 else ""


def outer_tile(warps_y, warps_x, tm=8, tn=8, bk=BK, stages=most, blocks=2):
    """Constants of a rung whose threads compute tm x tn numbers each, 32 threads a warp."""
    bm, bn, threads = warps_y * 4 * tm, warps_x * 8 * tn, 32 * warps_y * warps_x
    size = 4 * bk * (bm + 4 + bn)
    tile = {"BM": bm, "BN": bn, "BK": bk, "TM": tm, "TN": tn, "WARPS_X": warps_x}
    tile |= {"STAGES": stages_for(stages, size, blocks), "STEP": 1, "STEPS": bk}
    tile |= {"BLOCKS": blocks, "THREADS": threads}
    check_copies(tile, bk, 1)
    return tile | {"SHARED": tile["STAGES"] * size}


fixed = {"bring_a": bring_a_turned, "bring_b": bring_b, "fetch": fetch_fours}
in_order = fill(outer_product, order="n")
snake = fill(outer_product, order="j % 2 ? TM - 1 - n : n")


def outer_source(loop, multiply=in_order, store=store_vectors, **others):
    pieces = fixed | others | {"loop": loop, "multiply": multiply, "store": store}
    return note + fill(outer_frame, **pieces)


add_rung("warps", outer_source(loop_at_once), outer_tile(4, 2, stages=1))


loop_ahead = """
    UNROLLED(tile, STAGES - 1) { if (tile < tiles) load(tile); close_group(); }
    for (int tile = 0, stage = 0; tile < tiles; tile++) {
        await_groups<STAGES - 2>();
        int last = stage ? stage - 1 : STAGES - 1;  // everyone is done with that one
        if (tile + STAGES - 1 < tiles) load(last);
        close_group();
        use(stage);
        UNROLLED(k, STEPS) { fetch(0, k * STEP); multiply(0, k); }
        stage = stage + 1 < STAGES ? stage + 1 : 0;
    }
"""


add_rung("copies ahead", outer_source(loop_ahead), outer_tile(4, 2))


loop_two_ahead = """
    static_assert(STEPS % 2 == 0, "the two buffers take turns");
    UNROLLED(tile, STAGES - 1) { if (tile < tiles) load(tile); close_group(); }
    await_groups<STAGES - 2>();
    use(0); fetch(0, 0);
    #pragma unroll 1
    for (int tile = 0, stage = 0; tile < tiles; tile++) {
        UNROLLED(k, STEPS) {
            if (k == STEPS - 1) {
                await_groups<STAGES - 2>();
                stage = stage + 1 < STAGES ? stage + 1 : 0;
                if (tile + 1 < tiles) use(stage);
            }
            fetch((k + 1) % 2, (k + 1) % STEPS * STEP);
            if (k == 0 && tile + STAGES - 1 < tiles) load(stage ? stage - 1 : STAGES - 1);
            if (k == 0) close_group();
            multiply(k % 2, k);
        }
    }
"""


two_ahead = outer_source(loop_two_ahead)
add_rung("registers ahead", two_ahead, outer_tile(4, 2))


store_singles = """
        UNROLLED(j, TN) {
            int row = row0 + y + i % 4 + i / 4 * 16, col = col0 + x + j % 4 + j / 4 * 32;
            if (!EDGES || (row < M && col < N)) C[row * N + col] = sum[i][j];
        }
"""


final_source = outer_source(loop_two_ahead, snake, store_singles)
singles = outer_source(loop_two_ahead, store=store_singles)
add_rung("single stores", singles, outer_tile(4, 2))
add_rung("snake", final_source, outer_tile(4, 2))
add_rung("snake, small", final_source, outer_tile(2, 2, blocks=4))


turn_code = r"""
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
turn = cp.RawKernel(turn_code, "turn")


def turned(A, B):
    """A as an array of columns: (K, M)."""
    (M, K), At = A.shape, cp.empty(A.shape[::-1], A.dtype)
    turn((-(-K // 32), -(-M // 32)), (256,), (A, At, np.int32(M), np.int32(K)))
    return At, B


bring_a_straight = """
    int a_k = t / (BM / VEC), a_row = t % (BM / VEC) * VEC;
    const T* from_a = A + a_k * M + row0 + a_row;
    int rows_left = M - row0 - a_row, a_left = K - a_k;
    auto load_a = [&](int stage) {
        T* to = As + stage * A_SIZE + a_k * A_LINE + a_row;
        constexpr int STRIDE = THREADS * VEC / BM;
        UNROLLED(i, BK / STRIDE)
            copy<VEC>(to + i * STRIDE * A_LINE, from_a + i * STRIDE * M, A,
                      0 < rows_left && i * STRIDE < a_left);
        from_a += BK * M, a_left -= BK;
    };
"""
turned_pieces = {"bring_a": bring_a_straight, "store": store_singles}
turned_source = outer_source(loop_two_ahead, snake, **turned_pieces)
turned_tile = outer_tile(4, 1, tm=8, tn=16, bk=8)
add_rung("turned", turned_source, turned_tile, np.float32, turned)


mma_f64 = r"""
// sum += a b on tensor cores; a (16, 4), b (4, 8), sum (16, 8).  needs compute capability 9.0
__device__ void mma(double* sum, const double* a, const double* b) {
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
"""


mma_f64_small = r"""
// The same as two products of (8, 4) and (4, 8).  needs compute capability 8.0
__device__ void mma(double* sum, const double* a, const double* b) {
    #pragma unroll
    for (int half = 0; half < 2; half++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                     "{%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(sum[2 * half]), "+d"(sum[2 * half + 1])
                     : "d"(a[half]), "d"(b[0]));
}
"""


bring_a_rows = """
    int a_row = t / (BK / VEC), a_k = t % (BK / VEC) * VEC;
    const T* from_a = A + (row0 + a_row) * K + a_k;
    int rows_left = M - row0 - a_row, a_left = K - a_k;
    auto load_a = [&](int stage) {
        T* to = As + stage * A_SIZE + a_row * A_LINE + a_k;
        constexpr int STRIDE = THREADS * VEC / BK;
        UNROLLED(i, BM / STRIDE)
            copy<VEC>(to + i * STRIDE * A_LINE, from_a + i * STRIDE * K, A,
                      i * STRIDE < rows_left && 0 < a_left);
        from_a += BK, a_left -= BK;
    };
"""


tensor_frame = (
    r"""
@header@
constexpr int A_LINE = BK + PAD_A, B_LINE = BN + PAD_B, A_SIZE = BM * A_LINE, B_SIZE = BK * B_LINE;
constexpr int ROWS = BM / WARPS_Y / 16, COLS = BN / WARPS_X / 8;  // products of a warp
"""
    + copy_code
    + wait_code
    + r"""
@mma@
"""
    + signature
    + r"""
    extern __shared__ float4 shared[];
    T *As = (T*)shared, *Bs = As + STAGES * A_SIZE;  // [STAGES][BM][A_LINE], [STAGES][BK][B_LINE]
    int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, q = t % 4;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int y = warp / WARPS_X * (16 * ROWS) + g, x = warp % WARPS_X * (8 * COLS);
    @bring_a@
    @bring_b@
    auto load = [&](int stage) { load_a(stage); load_b(stage); };
    R sum[ROWS][COLS][4] = {};
    @fetch@
    @multiply@
    int tiles = (K + BK - 1) / BK;
    @loop@
    @unscale@
    UNROLLED(i, ROWS * 2) UNROLLED(j, COLS) {
        int row = row0 + y + i * 8, col = col0 + x + j * 8 + q * 2;
        store(C + row * N + col, sum[i / 2][j] + i % 2 * 2, row < M ? N - col : 0);
    }
}"""
)


store_pair = r"""
// Two neighbours of one row, of which `inside` lie in the matrix.
__device__ void store(R* to, const R* pair, int inside) {
    struct alignas(2 * sizeof(R)) Pair { R first, second; };
    if (VEC > 1 && (!EDGES || inside > 0)) *(Pair*)to = {pair[0], pair[1]};
    if (VEC == 1 && inside > 0) to[0] = pair[0];
    if (VEC == 1 && inside > 1) to[1] = pair[1];
}
"""


use_fragments = """
    const T *as, *bs;
    auto use = [&](int stage) {
        as = As + stage * A_SIZE + y * A_LINE + q;
        bs = Bs + stage * B_SIZE + q * B_LINE + x + g;
    };
"""
fetch_f64 = """
    T a[2][ROWS][2], b[2][COLS][1];
    @use@
    auto fetch = [&](int buffer, int k) {
        UNROLLED(i, ROWS * 2) a[buffer][i / 2][i % 2] = as[i * 8 * A_LINE + k];
        UNROLLED(j, COLS) b[buffer][j][0] = bs[k * B_LINE + j * 8];
    };
"""


multiply_f64 = """
    auto multiply = [&](int buffer, int step) {
        UNROLLED(i, ROWS)
            UNROLLED(n, COLS) {
                int j = i % 2 ? COLS - 1 - n : n;
                mma(sum[i][j], a[buffer][i], b[buffer][j]);
            }
    };
"""


def tensor_tile(
    bm, bn, bk, warps, step, pads, itemsize, parts=1, wanted=3, blocks=1
):
    """Constants of a rung on tensor cores; `warps` and `pads` are pairs, `step` is k at a time."""
    tile = {"BM": bm, "BN": bn, "BK": bk, "WARPS_Y": warps[0], "WARPS_X": warps[1]}
    size = (bm * (bk + pads[0]) + bk * (bn + pads[1])) * itemsize
    tile |= {
        "STAGES": stages_for(wanted, size, blocks),
        "STEP": step,
        "BLOCKS": blocks,
    }
    tile |= {"STEPS": bk // parts // step, "PAD_A": pads[0], "PAD_B": pads[1]}
    tile |= {"THREADS": 32 * warps[0] * warps[1]}
    check_copies(tile, bk, 16 // itemsize)
    return tile | {"SHARED": tile["STAGES"] * size}


def tensor_source(
    mma, fetch, multiply, T, R, loop=loop_two_ahead, more="", unscale=""
):
    pieces = {"header": f"typedef {T} T;\ntypedef {R} R;", "mma": mma + store_pair}
    pieces |= {"fetch": fill(fetch, use=use_fragments), "multiply": multiply}
    pieces |= {"loop": loop, "more": more, "T": "T", "R": "R", "unscale": unscale}
    return fill(tensor_frame, bring_a=bring_a_rows, bring_b=bring_b, **pieces)


f64_pieces = mma_f64 if capability >= 90 else mma_f64_small, fetch_f64, multiply_f64
plain = tensor_source(*f64_pieces, "double", "double", loop_ahead)
ahead = tensor_source(*f64_pieces, "double", "double")
small_f64 = tensor_tile(64, 64, 16, (2, 2), 4, (4, 4), 8, blocks=3)
large_f64 = tensor_tile(128, 64, 16, (2, 2), 4, (4, 4), 8, blocks=2)
has_f64 = capability >= 80
if has_f64:
    add_rung("float64, plain", plain, small_f64, np.float64)
    add_rung("float64, ahead", ahead, large_f64, np.float64)


scale_code = r"""
// The power of two that brings numbers of which the largest has these bits below 32768.
__device__ float scale_for(unsigned int bits) {
    return __uint_as_float(min(max(268 - (int)(bits >> 23), 1), 253) << 23);
}
"""


pack_code = (
    "#include <cuda_fp16.h>\n"
    + scale_code
    + r"""
extern "C" __global__ void pack(const float* from, unsigned int* to, const unsigned int* largest,
                                int rows, int cols, int K, int down) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, step = down ? cols : 1;
    float scale = scale_for(*largest);
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
)
pack_kernel = cp.RawKernel(pack_code, "pack", options=("-std=c++17",))


mma_f16 = r"""
// sum = a b + start; a (16, 16), b (16, 8), two float16 a register.  needs compute capability 8.0
__device__ void mma(float* sum, const unsigned int* a, const unsigned int* b, const float* start) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "f"(start[0]), "f"(start[1]), "f"(start[2]), "f"(start[3]));
}
"""


mma_f16_small = r"""
// The same as two products of (16, 8) and (8, 8), one after the other.  needs compute capability 7.5
__device__ void mma(float* sum, const unsigned int* a, const unsigned int* b, const float* start) {
    for (int half = 0; half < 2; half++, start = sum)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
            : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]),
              "f"(start[0]), "f"(start[1]), "f"(start[2]), "f"(start[3]));
}
"""


fetch_f16 = """
    T a[2][2][ROWS * 4], b[2][2][COLS * 2];  // [buffer][high or low]
    @use@
    auto fetch = [&](int buffer, int k) {
        UNROLLED(low, 2) UNROLLED(i, ROWS * 4)
            a[buffer][low][i] = as[(i / 4 * 2 + i % 2) * 8 * A_LINE + i % 4 / 2 * 4 + k + low * 16];
        UNROLLED(low, 2) UNROLLED(j, COLS * 2)
            b[buffer][low][j] = bs[(k + low * 16 + j % 2 * 4) * B_LINE + j / 2 * 8];
    };
"""


multiply_split = """
    @sums@
    auto multiply = [&](int buffer, int step) {
        @products@
    };
"""
f16_parts = {
    "A_high": "a[buffer][0]",
    "A_low": "a[buffer][1]",
    "B_high": "b[buffer][0]",
    "B_low": "b[buffer][1]",
}


for_all = "\n        UNROLLED(i, ROWS) UNROLLED(j, COLS) "
one_product = (
    for_all + "mma(sum[i][j], @A_high@ + 4 * i, @B_high@ + 2 * j, sum[i][j]);"
)
three_products = "".join(
    for_all + f"mma(sum[i][j], @{a}@ + 4 * i, @{b}@ + 2 * j, sum[i][j]);"
    for a, b in (("A_low", "B_high"), ("A_high", "B_low"), ("A_high", "B_high"))
)
short_sums = (
    three_products.replace("sum[", "part[").replace(
        "part[i][j]);", "step ? part[i][j] : zeros);", 1
    )
    + "\n        if (step == STEPS - 1)"
    + for_all
    + "UNROLLED(n, 4) sum[i][j][n] += part[i][j][n];"
)


unscale = (  # the smaller factor first: the larger one alone might make a sum infinite
    "const float one = 1 / scale_for(largest[0]), two = 1 / scale_for(largest[1]);"
    + for_all
    + "UNROLLED(n, 4) sum[i][j][n] *= min(one, two), sum[i][j][n] *= max(one, two);"
)


def products_of(products, parts, setup=""):
    """The piece `multiply`, and the second set of sums where the products need one."""
    text, sums = products, "float part[ROWS][COLS][4], zeros[4] = {};"
    for name, number in parts.items():
        text = text.replace(f"@{name}@", number)
    sums = sums if "part[i]" in text else ""
    return fill(multiply_split, sums=sums + setup, products=text)


def split_source(products, mma=mma_f16 if capability >= 80 else mma_f16_small):
    multiply = products_of(products, f16_parts)
    pieces = scale_code + mma, fetch_f16, multiply, "unsigned int", "float"
    more = ", const unsigned int* largest"
    return tensor_source(*pieces, more=more, unscale=unscale)


largest_code = r"""
// The bits of |x| if x is finite, else 0.
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
largest_kernel = cp.RawKernel(largest_code, "largest")


def packed(A, B):
    """Both in words of two float16 numbers, (M, k) and (k, N), and the bits of their largest."""
    (M, K), N = A.shape, B.shape[1]
    bits, pairs = cp.zeros(2, np.uint32), -(-K // 32) * 16
    sizes = np.int64(A.size), np.int64(B.size)
    largest_kernel((8 * n_sms,), (256,), (A, B, bits, *sizes))
    words = cp.empty((M, 2 * pairs), np.uint32), cp.empty((2 * pairs, N), np.uint32)
    for down, (rows, cols) in enumerate(((M, pairs), (pairs, N))):
        grid, from_to = (
            (-(-cols // 256), min(rows, 65535)),
            ((A, B)[down], words[down]),
        )
        sizes = np.int32(rows), np.int32(cols), np.int32(K), np.int32(down)
        pack_kernel(grid, (256,), (*from_to, bits[down:], *sizes))
    return *words, bits


wide_enough = (
    attributes["MaxSharedMemoryPerBlockOptin"] >= 71680
)  # for two stages of 128
split_tile = tensor_tile(
    128, 128 if wide_enough else 64, 32, (4, 2), 8, (4, 8), 4, parts=2
)
for name, products in (
    ("one float16 product", one_product),
    ("three, one sum", three_products),
    ("three, short sums", short_sums),
):
    add_rung(name, split_source(products), split_tile, np.float32, packed)


split_tf32 = r"""
// x = high + low, both TF32: float32 of which 10 bits of fraction count.  needs compute capability 8.0
__device__ void split(float x, unsigned int& high, unsigned int& low) {
    high = __float_as_uint(x) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));  // exact
}
__device__ void mma(float* sum, const unsigned int* a, const unsigned int* b, const float* start) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "f"(start[0]), "f"(start[1]), "f"(start[2]), "f"(start[3]));
}
"""
fetch_tf32 = """
    T a[2][ROWS * 4], b[2][COLS * 2];
    @use@
    auto fetch = [&](int buffer, int k) {
        UNROLLED(i, ROWS * 4)
            a[buffer][i] = as[(i / 4 * 2 + i % 2) * 8 * A_LINE + i % 4 / 2 * 4 + k];
        UNROLLED(j, COLS * 2) b[buffer][j] = bs[(k + j % 2 * 4) * B_LINE + j / 2 * 8];
    };
"""


split_here = """
    unsigned int ah[ROWS * 4], al[ROWS * 4], bh[COLS * 2], bl[COLS * 2];"""
split_first = """UNROLLED(i, ROWS * 4) split(a[buffer][i], ah[i], al[i]);
        UNROLLED(j, COLS * 2) split(b[buffer][j], bh[j], bl[j]);"""
tf32_parts = {"A_high": "ah", "A_low": "al", "B_high": "bh", "B_low": "bl"}


def tf32_source(products):
    multiply = products_of(split_first + products, tf32_parts, split_here)
    return tensor_source(split_tf32, fetch_tf32, multiply, "float", "float")


tf32_tile = tensor_tile(128, 128, 32, (4, 2), 8, (4, 8), 4)
if capability >= 80:
    add_rung("TF32, one product", tf32_source(one_product), tf32_tile)
    add_rung("TF32, three, one sum", tf32_source(three_products), tf32_tile)
    add_rung("TF32, short sums", tf32_source(short_sums), tf32_tile)
