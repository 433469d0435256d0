"""Chapter 36's exercises refuse answers that are right and share no work, or launch for show."""

import pytest
from chapter_cells import Chapter
from test_chapter_36 import ARRAYS, kernel, refused

from helpers.xray import can_xray

pytestmark = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("36_work_together")


TREE_BY_ONE = '''
tree = cp.RawKernel(r"""
extern "C" __global__ void tree(const float* x, int n, float* y) {
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = blockIdx.x * 256; i < min(n, (blockIdx.x + 1) * 256); i++) sum += x[i];
    y[blockIdx.x] = sum;
}""", "tree")
'''
PARTITION_BY_ONE = '''
partition_kernel = cp.RawKernel(r"""
extern "C" __global__ void partition(
        const float* x, float* y, int n, int* count, unsigned long long* state) {
    if (blockIdx.x || threadIdx.x) return;
    int front = 0, back = n;
    for (int i = 0; i < n; i++)
        if (x[i] > 0) y[front++] = x[i];
        else y[--back] = x[i];
    atomicAdd(state + gridDim.x, 1ull);
    *count = front;
}""", "partition")
'''
SCAN_BY_ONE = '''
block_scan = cp.RawKernel(r"""
extern "C" __global__ void block_scan(const float* x, int n, float* y) {
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = blockIdx.x * 256; i < min(n, (blockIdx.x + 1) * 256); i++)
        y[i] = sum += x[i];
}""", "block_scan")
'''
EACH = '''
segments_kernel = cp.RawKernel(r"""
extern "C" __global__ void segments(
        const float* x, const int* key, int n, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sums + key[i], x[i]);
}""", "segments")
'''


def test_one_thread_for_a_block(chapter):
    refused(chapter.judged(1, TREE_BY_ONE), "few threads")
    refused(chapter.judged(4, PARTITION_BY_ONE), "few threads")
    refused(chapter.judged(6, SCAN_BY_ONE), "few threads")


def test_a_tile_without_a_ticket(chapter):
    own = kernel(chapter, "partition", ("ticket = atomicAdd(state + gridDim.x, 1ull)",
                                        "ticket = blockIdx.x"))  # fmt: skip
    refused(chapter.judged(4, own), "ticket")


def test_one_block_for_all_bytes(chapter):
    for first, step in (("t", "blockDim.x"), ("0", "1")):
        only = "blockIdx.x ? n : " if first == "t" else "blockIdx.x || t ? n : "
        answer = kernel(
            chapter,
            "bytes",
            ("i = blockIdx.x * blockDim.x + t", f"i = {only}{first}"),
            ("i += gridDim.x * blockDim.x", f"i += {step}"),
        )
        refused(chapter.judged(5, answer), "by 3 blocks|few threads")


def test_an_atomic_for_each_number(chapter):
    refused(chapter.judged(7, EACH), r"\d+ atomics")


def test_keys_of_16_bits(chapter):
    for kind in ("short", "unsigned short"):
        narrow = kernel(chapter, "segments", ("    int k = ", f"    {kind} k = "))
        refused(chapter.judged(7, narrow), "expected|outside|wrote|writes")


@pytest.mark.parametrize(("number", "name"), [(8, "largest_k"), (9, "runs"), (10, "radix_sort")])
def test_kernels_for_show(chapter, number, name):
    show = f"arrays_alone = {name}\ndef {name}(x, *k):\n    scan(x.astype(np.float32))\n"
    show += "    for _ in range(3 * (len(k) == 0)):\n        scan(x.astype(np.float32))\n"
    answer = ARRAYS[number] + show + "    return arrays_alone(x, *k)\n"
    refused(chapter.judged(number, answer), "for show")


def test_fewer_launches_are_right(chapter):
    once = """def runs(x):
    n, mark = np.int32(x.size), cp.empty_like(x)
    begins((-(-x.size // 256),), (256,), (x, mark, n))
    starts = cp.flatnonzero(mark)
    return x[starts], cp.diff(starts, append=n).astype(np.int32)
"""
    assert "correct" in chapter.judged(9, once)
    by_four = '''
digit = cp.RawKernel(r"""
extern "C" __global__ void digit(const unsigned* x, int* of, int n, int bit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) of[i] = x[i] >> bit & 15;
}""", "digit")


def radix_sort(x):
    for bit in range(0, 32, 4):
        of = cp.empty(x.size, np.int32)
        digit((-(-x.size // 256),), (256,), (x, of, np.int32(x.size), np.int32(bit)))
        hot = (of == cp.arange(16, dtype=np.int32)[:, None]).ravel()
        places = (cp.cumsum(hot) - 1).reshape(16, -1)
        y = cp.empty_like(x)
        y[places[of, cp.arange(x.size)]] = x
        x = y
    return x
'''
    assert "correct" in chapter.judged(10, by_four)
