"""Chapter 36's exercises take right answers that go another way than the solutions."""

import pytest
from chapter_cells import Chapter
from marks import long_but
from test_chapter_36 import kernel

chapter = Chapter.fixture("36_work_together")


# Exchanges of text in the solution's kernel.
AROUND = "    for (int row = 0; row < ROWS; row++)\n        for (int k = 0; k < 4; k++) {\n"
CHANGED = {
    "36.1: the barrier leads each step": (
        1,
        "tree",
        ("0;\n    __syncthreads();\n", "0;\n"),
        ("        if (t < half)", "        __syncthreads();\n        if (t < half)"),
        ("half];\n        __syncthreads();\n", "half];\n"),
    ),
    "36.2: minus infinity past the end": (
        2,
        "largest",
        ("float v = x[k];", "float v = i < n ? x[i] : -3.4e38f;"),
    ),
    "36.3: the first lane takes what came before": (
        3,
        "recurrence",
        ("        for (int step", "        if (lane == 0) B += A * last;\n        for (int step"),
        ("        B += A * last;\n        if (i < n)", "        if (i < n)"),
    ),
    "36.4: others go straight to y": (
        4,
        "partition",
        (AROUND, "    __syncthreads();\n" + AROUND),
        (
            "else kept[TILE - 1 - others] = v[row][k];",
            "else if (place(tile, row) + k < n)"
            " y[n - 1 - (tile * TILE - earlier) - others] = v[row][k];",
        ),
        ("k < many - total", "k < 0 * first * many"),
    ),
    "36.4: others behind the kept": (
        4,
        "partition",
        ("kept[TILE - 1 - others] =", "kept[total + others] ="),
        ("kept[TILE - 1 - k]", "kept[total + k]"),
    ),
    "36.5: two sets of bins": (
        5,
        "bytes",
        ("own[256];", "own[256], two[256];"),
        ("own[t] = 0;", "own[t] = two[t] = 0;"),
        ("atomicAdd(own + x[i], 1u)", "atomicAdd((t % 2 ? own : two) + x[i], 1u)"),
        (
            "if (own[t]) atomicAdd(bins + t, own[t]);",
            "if (own[t] + two[t]) atomicAdd(bins + t, own[t] + two[t]);",
        ),
    ),
}


@pytest.mark.parametrize("name", long_but(list(CHANGED)[2:4], CHANGED))
def test_small_changes(chapter, name):
    number, source, *changes = CHANGED[name]
    answer = kernel(chapter, source, *changes)
    assert "correct on" in chapter.judged(number, answer)


# Kernels that are other ones: what stands before the source, the handle, the source.
ANEW = {
    "36.1: shuffles": (
        1,
        "warp_sum + ",
        "tree",
        """
extern "C" __global__ void tree(const float* x, int n, float* y) {
    __shared__ float s[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = warp_sum(i < n ? x[i] : 0.0f);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t > 0) return;
    for (int k = 1; k < 8; k++) v += s[k];
    y[blockIdx.x] = v;
}""",
    ),
    "36.2: a vote": (
        2,
        "",
        "largest",
        """
extern "C" __global__ void largest(const float* x, int n, float* top, int* where) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[min(i, n - 1)], most = v;
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    unsigned these = __ballot_sync(0xffffffff, v == most);
    if (i % 32 == 0 && i < n) { top[i / 32] = most; where[i / 32] = i + __ffs(these) - 1; }
}""",
    ),
    "36.3: shared memory": (
        3,
        "",
        "recurrence",
        """
extern "C" __global__ void recurrence(
        const float* a, const float* b, float* y, int rows, int n) {
    __shared__ float A[128], B[128];
    int t = threadIdx.x, lane = t % 32, row = (blockIdx.x * blockDim.x + t) / 32;
    if (row >= rows) return;
    float last = 0;
    for (int i = lane; i - lane < n; i += 32) {
        A[t] = i < n ? a[row * n + i] : 1;
        B[t] = i < n ? b[row * n + i] : 0;
        __syncwarp();
        if (lane == 0)
            for (int k = t; k < t + 32; k++) last = B[k] += A[k] * last;
        __syncwarp();
        if (i < n) y[row * n + i] = B[t];
        __syncwarp();
    }
}""",
    ),
    "36.5: no atomic in the block": (
        5,
        "",
        "count_bytes",
        """
extern "C" __global__ void count_bytes(const unsigned char* x, int n, unsigned* bins) {
    unsigned found = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) found += x[i] == threadIdx.x;
    atomicAdd(bins + threadIdx.x, found);
}""",
    ),
    "36.6: shuffles": (
        6,
        "warp_scan + ",
        "block_scan",
        """
extern "C" __global__ void block_scan(const float* x, int n, float* y) {
    __shared__ float s[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = warp_scan(i < n ? x[i] : 0.0f);
    if (t % 32 == 31) s[t / 32] = v;
    __syncthreads();
    for (int k = 0; k < t / 32; k++) v += s[k];
    if (i < n) y[i] = v;
}""",
    ),
    "36.7: from the right": (
        7,
        "",
        "segments",
        """
extern "C" __global__ void segments(const float* x, const int* key, int n, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float v = i < n ? x[i] : 0;
    int k = i < n ? key[i] : -1;
    for (int step = 1; step < 32; step *= 2) {
        float right = __shfl_down_sync(0xffffffff, v, step);
        int right_k = __shfl_down_sync(0xffffffff, k, step);
        if (lane + step < 32 && right_k == k) v += right;
    }
    int left = __shfl_up_sync(0xffffffff, k, 1);
    if (k >= 0 && (lane == 0 || left != k)) atomicAdd(sums + k, v);
}""",
    ),
}


@pytest.mark.parametrize("name", long_but(list(ANEW)[1:2], ANEW))
def test_other_kernels(chapter, name):
    number, before, kernel_name, source = ANEW[name]
    handle = (
        kernel_name if f"{kernel_name}_kernel" not in chapter.names else f"{kernel_name}_kernel"
    )
    answer = f'{handle} = cp.RawKernel({before}r"""{source}""", "{kernel_name}")\n'
    assert "correct on" in chapter.judged(number, answer)


FUNCTIONS = {
    "36.8: the host finds the edge": (
        8,
        """
def largest_k(x, k):
    below = (counters["own bins"](x).get()[::-1].cumsum() < k).sum()
    few, many = compact(cp.where(x >= np.float32((255 - int(below)) / 256), x, np.float32(0)))
    return cp.sort(few[: int(many[0])])[-k:][::-1]
""",
    ),
    "36.9: compact moves the places": (
        9,
        '''
marks = cp.RawKernel(r"""
extern "C" __global__ void marks(const float* x, float* place, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) place[i] = i == 0 || x[i] != x[i - 1] ? i + 1 : 0;
}""", "marks")
def runs(x):
    place, n = cp.empty_like(x), x.size
    marks((-(-n // 256),), (256,), (x, place, np.int32(n)))
    starts, many = compact(place)
    starts = starts[: int(many[0])].astype(np.int32) - 1
    return x[starts], cp.diff(cp.concatenate([starts, cp.array([n], np.int32)]))
''',
    ),
    "36.10: the ones are counted": (
        10,
        '''
move = cp.RawKernel(r"""
extern "C" __global__ void move(
        const unsigned* x, unsigned* y, const float* ones, int n, int bit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int upto = ones[i], all = ones[n - 1];
    y[x[i] >> bit & 1 ? n - all + upto - 1 : i - upto] = x[i];
}""", "move")
def radix_sort(x):
    for bit in range(32):
        y, ones = cp.empty_like(x), scan((x >> np.uint32(bit) & np.uint32(1)).astype(np.float32))
        move((-(-x.size // 256),), (256,), (x, y, ones, np.int32(x.size), np.int32(bit)))
        x = y
    return x
''',
    ),
}


@pytest.mark.parametrize("name", long_but(list(FUNCTIONS)[:1], FUNCTIONS))
def test_other_functions(chapter, name):
    number, answer = FUNCTIONS[name]
    assert "correct on" in chapter.judged(number, answer)
