"""CUDA C that brings tiles of matrices to shared memory, and stores what a block has computed.

Text for kernels that a `helpers.products.Product` launches: they use its macros THREADS, EDGES and
VEC. From compute capability 8.0 on copies are asynchronous (ASYNC 1); before, and on the stand-in,
an ordinary load and store take their place.

TILES     UNROLLED(i, n), a loop that is written out; close_group() and await_groups<PENDING>(); and
          Tiles<T, LINES, LENGTH, ROOM, DOWN, TURN>, which brings one tile after the other
QUADS     store_quads(sum, C, row, col, M, N) of a thread's TM x TN sums, in quarters of 4 x 4
PAIRS     store_pairs(sum, C, row, col, M, N) of a warp's fragments of tensor cores
"""

TILES = r"""
#define UNROLLED(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#ifndef ASYNC
#define ASYNC (__CUDA_ARCH__ >= 800)
#endif
// COUNT numbers from global to shared memory; zeros if they are not inside.
template <int COUNT, class T>
__device__ void copy(T* to, const T* from, const T* safe, bool inside) {
    constexpr int BYTES = COUNT * sizeof(T);
    if (!EDGES) inside = true;
    if (!inside) from = safe;  // may be read, but is not
#if ASYNC
    unsigned int place = __cvta_generic_to_shared(to);
    int size = inside ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(place), "l"(from), "r"(size) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :: "r"(place), "l"(from), "n"(BYTES), "r"(size) : "memory");
#else
    if (BYTES == 16) *(float4*)to = inside ? *(const float4*)from : make_float4(0, 0, 0, 0);
    else *to = inside ? *from : T{};
#endif
}
// The copies that a thread has asked for since the last one are a group.
__device__ void close_group() {
#if ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all groups but the youngest PENDING are here, in the whole block.
template <int PENDING> __device__ void await_groups() {
#if ASYNC
    asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
#endif
    __syncthreads();
}
// Brings tiles of LINES x LENGTH numbers of a matrix (lines of n) to shared memory, where a line
// has ROOM numbers; each thread its share, 16 bytes a copy where it can. DOWN: the next tile lies
// below, else beside. TURN: it is transposed on the way, one number a copy.
template <class T, int LINES, int LENGTH, int ROOM, bool DOWN, bool TURN>
struct Tiles {
    static constexpr int WIDE = TURN ? 1 : VEC, AT_ONCE = THREADS * WIDE / LENGTH;
    static_assert(THREADS * WIDE % LENGTH == 0 && LINES % AT_ONCE == 0, "uneven shares");
    int line = threadIdx.x / (LENGTH / WIDE), place = threadIdx.x % (LENGTH / WIDE) * WIDE;
    const T *safe, *from;
    int stride, lines_left, left;
    __device__ Tiles(const T* matrix, int line0, int place0, int lines, int n)
        : safe(matrix), from(matrix + (line0 + line) * n + place0 + place), stride(n),
          lines_left(lines - line0 - line), left(n - place0 - place) {}
    __device__ void bring(T* tile) {
        tile += TURN ? place * ROOM + line : line * ROOM + place;
        UNROLLED(i, LINES / AT_ONCE)
            copy<WIDE>(tile + i * AT_ONCE * (TURN ? 1 : ROOM), from + i * AT_ONCE * stride,
                       safe, i * AT_ONCE < lines_left && 0 < left);
        if (DOWN) from += LINES * stride, lines_left -= LINES;
        else from += LENGTH, left -= LENGTH;
    }
};
"""
QUADS = r"""
// Rows 0 ... 3 and 16 further down, columns 0 ... 3 and 32 further right, from row0, col0 on. One
// by one: stores of a float4 would tie the sums to four registers in a row.
__device__ void store_quads(float (&sum)[TM][TN], float* C, int row0, int col0, int M, int N) {
    UNROLLED(i, TM) UNROLLED(j, TN) {
        int row = row0 + i % 4 + i / 4 * 16, col = col0 + j % 4 + j / 4 * 32;
        if (!EDGES || (row < M && col < N)) C[row * N + col] = sum[i][j];
    }
}
"""
PAIRS = r"""
// Two neighbours in each of rows 0 and 8 of a fragment, of 16 x 8 each, from row, col on.
template <int ROWS, int COLS, class R>
__device__ void store_pairs(R (&sum)[ROWS][COLS][4], R* C, int row0, int col0, int M, int N) {
    struct alignas(2 * sizeof(R)) Pair { R first, second; };
    UNROLLED(i, 2 * ROWS) UNROLLED(j, COLS) {
        int row = row0 + 8 * i, col = col0 + 8 * j, inside = row < M ? N - col : 0;
        R *to = C + row * N + col, *pair = &sum[i / 2][j][i % 2 * 2];
        if (VEC > 1 && (!EDGES || inside > 0)) *(Pair*)to = {pair[0], pair[1]};
        if (VEC == 1 && inside > 0) to[0] = pair[0];
        if (VEC == 1 && inside > 1) to[1] = pair[1];
    }
}
"""
