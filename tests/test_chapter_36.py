"""Chapter 36's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from marks import long_but

from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("36_work_together")


def kernel(chapter, name, *changes):
    """Return source that makes the solution's kernel `name` anew, with text exchanged."""
    text = chapter.names[f"{name}_source"]
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    before = {"partition": "all_parts + ", "segments": "warp_sum + "}.get(name, "")
    options = ", options" if name == "partition" else ""
    handle = {"tree": "tree", "count_bytes": "count_bytes", "block_scan": "block_scan"}
    handle = handle.get(KERNELS.get(name, name), f"{name}_kernel")
    return f'{handle} = cp.RawKernel({before}r"""{text}""", "{KERNELS.get(name, name)}"{options})\n'


KERNELS = {"bytes": "count_bytes"}


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.long
def test_solutions_pass(chapter):
    for number in range(1, 11):
        assert "correct" in chapter.judged(number, ""), number


@pytest.mark.long
def test_stubs_do_not_pass(chapter):
    for number in range(1, 11):
        stub = chapter.cells[f"exercise-{number}"]
        if number == 1 and not can_xray():
            continue
        assert "correct" not in chapter.judged(number, stub), number


BARRIER = "    __syncthreads();\n"
LOOP_BARRIER = "        __syncthreads();\n"
STEP = "        if (t < half) s[t] += s[t + half];\n"
FIRST = "s[t] = i < n ? x[i] : 0;\n    __syncthreads();"
TREE = {
    "no barrier": (
        [(FIRST, "s[t] = i < n ? x[i] : 0;"), (STEP + LOOP_BARRIER, STEP)],
        "race|written",
    ),
    "before the loop only": ([(STEP + LOOP_BARRIER, STEP)], "race|expected"),
    "in the loop only": ([(FIRST, "s[t] = i < n ? x[i] : 0;")], "race|written"),
    "in the branch": (
        [(STEP + LOOP_BARRIER, "if (t < half) { s[t] += s[t + half]; __syncthreads(); }\n")],
        "barrier",
    ),
    "a warp's barrier": ([(STEP + LOOP_BARRIER, STEP + "__syncwarp();\n")], "race|expected"),
    "volatile": (
        [("__shared__ float", "__shared__ volatile float"), (STEP + LOOP_BARRIER, STEP)],
        "race|expected",
    ),
    "a fence": ([(STEP + LOOP_BARRIER, STEP + "__threadfence();\n")], "race|expected"),
    "not in the last warp": (
        [(STEP + LOOP_BARRIER, STEP + "if (half > 32) __syncthreads();\n")],
        "race|expected",
    ),
    "no bounds": ([("i < n ? x[i] : 0", "x[i]")], "bounds|outside|reads|nan|expected"),
    "half of the numbers": ([("half = 128", "half = 64")], "expected"),
    "the first block's": ([("blockIdx.x * 256 + t", "t")], "expected"),
    "16 bits": (
        [("int t = threadIdx.x, i =", "short t = threadIdx.x, i =")],
        "reads|expected|outside",
    ),
}


@needs_xray
@pytest.mark.parametrize("name", long_but(list(TREE)[:3], TREE))
def test_trees_that_are_wrong(chapter, name):
    changes, says = TREE[name]
    refused(chapter.judged(1, kernel(chapter, "tree", *changes)), says)


IN_NUMPY = """
def {f}(*a):
    a = [v.get() if hasattr(v, "get") else v for v in a]
    r = {f}_in_numpy(*a)
    return tuple(map(cp.asarray, r)) if isinstance(r, tuple) else cp.asarray(r)
"""


@pytest.mark.parametrize(
    ("number", "function"),
    [(1, "block_sums"), (2, "largest"), (3, "recurrence"), (4, "partition"), (7, "segmented_sum")],
)
def test_numpy_inside(chapter, number, function):
    answer = IN_NUMPY.format(f=function)
    refused(chapter.judged(number, answer), "leave the device|kernel")


ARRAYS = {
    1: "def block_sums(x):\n    return cp.pad(x, (0, -x.size % 256)).reshape(-1, 256).sum(1)\n",
    2: """def largest(x):
    p = cp.pad(x, (0, -x.size % 32), constant_values=-cp.inf).reshape(-1, 32)
    return p.max(1), (p.argmax(1) + 32 * cp.arange(len(p))).astype(cp.int32)
""",
    3: """def recurrence(a, b):
    y = b.copy()
    for i in range(1, b.shape[1]):
        y[:, i] += a[:, i] * y[:, i - 1]
    return y
""",
    4: """def partition(x):
    return cp.concatenate([x[x > 0], x[x <= 0][::-1]]), (x > 0).sum(keepdims=True).astype(cp.int32)
""",
    8: "def largest_k(x, k):\n    return cp.sort(x)[::-1][:k]\n",
    9: """def runs(x):
    starts = cp.flatnonzero(cp.concatenate([cp.ones(1, bool), x[1:] != x[:-1]]))
    ends = cp.concatenate([starts[1:], cp.array([x.size])])
    return x[starts], (ends - starts).astype(cp.int32)
""",
    10: "def radix_sort(x):\n    return cp.sort(x)\n",
}


@pytest.mark.parametrize("number", ARRAYS)
def test_array_functions_in_place_of_a_kernel(chapter, number):
    refused(chapter.judged(number, ARRAYS[number]), "kernel|arrays were made")


def test_the_oracle_itself_and_nothing(chapter):
    for number, name in ((1, "block_sums"), (2, "largest"), (3, "recurrence"), (4, "partition")):
        itself = f"{name} = {name}_in_numpy\n"
        refused(chapter.judged(number, itself), "wrong")
        none = f"def {name}(*a):\n    return None\n"
        assert chapter.judged(number, none).endswith("not done yet")


TIE = "other > v || (other == v && other_k < k)"
LARGEST = {
    "no tie": ([(TIE, "other > v")], "expected"),
    "the last of equals": ([(TIE, "other > v || (other == v && other_k > k)")], "expected"),
    "half of the lanes named": (
        [("other_k = __shfl_down_sync(0xffffffff", "other_k = __shfl_down_sync(0xffff")],
        "mask",
    ),
    "index in the warp": ([("where[i / 32] = k;", "where[i / 32] = k % 32;")], "expected"),
    "zero past the end": ([("float v = x[k];", "float v = i < n ? x[k] : 0;")], "expected"),
    "no bounds": ([("int k = min(i, n - 1);", "int k = i;")], "outside|reads|expected"),
    "16 bits": ([("int k = min(i, n - 1);", "short k = min(i, n - 1);")], "expected|reads"),
    "the first block's": (
        [("int i = blockIdx.x * blockDim.x + threadIdx.x", "int i = threadIdx.x")],
        "expected|race",
    ),
    "half a warp": ([("step = 16", "step = 8")], "expected"),
    "the value first": (
        [
            (
                "        int other_k = __shfl_down_sync(0xffffffff, k, step);\n",
                "        int other_k = k + step;\n",
            )
        ],
        "expected",
    ),
}


@pytest.mark.parametrize("name", long_but(list(LARGEST)[:3], LARGEST))
def test_largest_that_are_wrong(chapter, name):
    changes, says = LARGEST[name]
    refused(chapter.judged(2, kernel(chapter, "largest", *changes)), says)


def test_largest_by_steps_that_grow_is_right(chapter):
    """Lane 0 then meets its neighbours in order, and needs no rule for equals."""
    grow = [("step = 16; step > 0; step /= 2", "step = 1; step < 32; step *= 2")]
    for tie in ([], [(TIE, "other > v")]):
        answer = kernel(chapter, "largest", *grow, *tie)
        assert "correct" in chapter.judged(2, answer)


def test_largest_in_two_launches_is_one_too_many(chapter):
    answer = """once = largest
def largest(x):
    once(x)
    return once(x)
"""
    refused(chapter.judged(2, answer), "made|2 kernels")


RECURRENCE = {
    "sums": ([("B += A * left_B;", "B += left_B;")], "expected"),
    "A first": (
        [("B += A * left_B;\n                A *= left_A;", "A *= left_A;\n B += A * left_B;")],
        "expected",
    ),
    "A stays": ([("A *= left_A;", "")], "expected"),
    "carry": ([("B += A * last;", "B += last;")], "expected"),
    "no carry": ([("B += A * last;", "")], "expected"),
    "left past the edge": ([("if (lane >= step) {", "{")], "expected"),
    "order of the pair": ([("B += A * left_B;", "B = left_A * B + left_B;")], "expected"),
    "last but one lane": ([("B, 31)", "B, 30)")], "expected"),
    "a barrier": ([("B += A * last;", "__syncthreads(); B += A * last;")], "diverge"),
    "row 0": (
        [
            (
                "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;",
                "int row = threadIdx.x / 32;",
            )
        ],
        "race|expected|nan",
    ),
    "32 at most": ([("i - lane < n; i += 32", "i - lane < 1; i += 32")], "expected|nan"),
    "no rows' bound": ([("if (row >= rows) return;", "")], "outside|reads|writes|bounds"),
    "half": ([("step < 32; step *= 2", "step < 16; step *= 2")], "expected"),
}


@pytest.mark.parametrize("name", long_but(list(RECURRENCE)[:3], RECURRENCE))
def test_recurrences_that_are_wrong(chapter, name):
    changes, says = RECURRENCE[name]
    refused(chapter.judged(3, kernel(chapter, "recurrence", *changes)), says)


OTHERS = "int others = place(0, row) + k - (before + at[row]);"
PARTITION = {
    "in order": ([("y[n - 1 - first - k]", "y[n - (many - total) - first + k]")], "expected"),
    "in order in the tile": (
        [
            ("kept[TILE - 1 - others] =", "kept[total + others] ="),
            ("kept[TILE - 1 - k]", "kept[many - 1 - k]"),
        ],
        "expected",
    ),
    "past the end": ([("min(TILE, n - tile * TILE)", "TILE")], "outside|wrote|writes|expected"),
    "one tile": ([("first = tile * TILE - earlier", "first = 0")], "race|expected"),
    "zero is kept": (
        [("else kept[TILE - 1 - others]", "if (v[row][k] < 0) kept[TILE - 1 - others]")],
        "written|expected|reads",
    ),
    "any order": ([(OTHERS, "int others = 0;")], "race|written|expected"),
    "no count": ([("*count = earlier + total;", ";")], "expected"),
    "no barrier": ([("        }\n    __syncthreads();", "        }\n")], "race|written|expected"),
    "does not look back": ([("earlier = sum;", "earlier = 0;")], "race|expected"),
    "count of the first tile": ([("tile == gridDim.x - 1", "tile == 0")], "expected"),
    "rows mixed": (
        [("place(0, row) + k", "32 * threadIdx.x + 4 * row + k")],
        "outside|written|expected|race",
    ),
}


@needs_xray
@pytest.mark.parametrize("name", long_but(list(PARTITION)[:3], PARTITION))
def test_partitions_that_are_wrong(chapter, name):
    changes, says = PARTITION[name]
    refused(chapter.judged(4, kernel(chapter, "partition", *changes)), says)


ATOMICS = r'''
partition_kernel = cp.RawKernel(r"""
extern "C" __global__ void partition(
        const float* x, float* y, int n, int* count, unsigned long long* state) {
    for (int i = blockIdx.x * 8192 + threadIdx.x; i < min(n, (blockIdx.x + 1) * 8192); i += 256)
        if (x[i] > 0) y[atomicAdd(count, 1)] = x[i];
        else y[n - 1 - (int)atomicAdd(state, 1ull)] = x[i];
}""", "partition")
'''


def test_a_partition_without_order_is_refused_in_another_order_of_threads(chapter):
    refused(chapter.judged(4, ATOMICS), "run again|expected")


BYTES = {
    "no barrier before": (
        [("own[t] = 0;\n    __syncthreads();", "own[t] = 0;")],
        "race|bin|written",
    ),
    "no barrier behind": ([("    __syncthreads();\n    if (own", "    if (own")], "race|bin"),
    "not cleared": ([("own[t] = 0;", "")], "written"),
    "no atomic": ([("atomicAdd(own + x[i], 1u)", "own[x[i]]++")], "race"),
    "first block": ([("i = blockIdx.x * blockDim.x + t", "i = t")], "bin"),
    "read and stored": ([("atomicAdd(bins + t, own[t])", "bins[t] += own[t]")], "race|bin"),
    "8 bits": ([("atomicAdd(bins + t, own[t])", "atomicAdd(bins + t, own[t] & 255)")], "bin"),
    "no loop": ([("for (; i < n; i += gridDim.x * blockDim.x)", "if (i < n)")], "bin"),
    "stored": ([("if (own[t]) atomicAdd(bins + t, own[t]);", "bins[t] = own[t];")], "bin|race"),
    "signed": ([("const unsigned char*", "const signed char*")], "outside|reads|writes|byte"),
    "128 bins": (
        [
            ("own[256]", "own[128]"),
            ("own[t] = 0;", "if (t < 128) own[t] = 0;"),
            ("if (own[t])", "if (t < 128)"),
        ],
        "outside|byte",
    ),
    "250 bins": (
        [
            ("own[256]", "own[250]"),
            ("own[t] = 0;", "if (t < 250) own[t] = 0;"),
            ("if (own[t])", "if (t < 250)"),
        ],
        "outside|byte",
    ),
    "still in memory": ([("atomicAdd(own + x[i], 1u)", "atomicAdd(bins + x[i], 1u)")], "touched"),
    "no bounds": ([("i < n;", "i < n + 1;")], "outside|bin|reads"),
}


@needs_xray
@pytest.mark.parametrize("name", long_but(list(BYTES)[:3], BYTES))
def test_byte_counts_that_are_wrong(chapter, name):
    changes, says = BYTES[name]
    refused(chapter.judged(5, kernel(chapter, "bytes", *changes)), says)


SEGMENTS = {
    "keys ignored": ([("lane >= step && left_k == k", "lane >= step")], "expected"),
    "ends of warps forgotten": ([("lane == 31 || ", "")], "expected"),
    "beginnings": ([("lane == 31 || next", "lane == 0 || next")], "expected"),
    "left past the edge": ([("lane >= step && left_k", "left_k")], "expected"),
    "stored": ([("atomicAdd(sums + k, v)", "sums[k] = v")], "race|expected"),
    "past the end": ([("k >= 0 && ", "")], "outside|writes|before"),
}


@needs_xray
@pytest.mark.parametrize("name", SEGMENTS)
def test_segmented_sums_that_are_wrong(chapter, name):
    changes, says = SEGMENTS[name]
    refused(chapter.judged(7, kernel(chapter, "segments", *changes)), says)


UP = "        if (k < 256) s[k] += s[k - step];\n        __syncthreads();\n    }\n    for"
BLOCK_SCANS = {
    "no barrier": ([(UP, UP.replace("        __syncthreads();\n", ""))], "race|element"),
    "only up": ([("step = 64; step > 0", "step = 0; step > 0")], "element"),
    "of those before": ([("y[i] = s[t];", "y[i] = t ? s[t - 1] : 0;")], "element"),
    "no bounds": ([("if (i < n) y[i]", "y[i]")], "outside"),
    "starts too late": ([("step = 64", "step = 32")], "element"),
}


@needs_xray
@pytest.mark.parametrize("name", BLOCK_SCANS)
def test_block_scans_that_are_wrong(chapter, name):
    changes, says = BLOCK_SCANS[name]
    refused(chapter.judged(6, kernel(chapter, "block_scan", *changes)), says)


CELLS = {8: "41a637ae", 9: "9361e0fb", 10: "71954a65"}
OTHERS_WRONG = {
    "a bin too high": (8, "above >= k) - 1", "above >= k)"),
    "rising": (8, "[::-1][:k]", "[-k:]"),
    "what was never written": (8, "few[: int(many[0])]", "few"),
    "no end": (9, "cp.full(m + 1, n,", "cp.full(m + 1, 0,"),
    "a place too far": (9, "(int)number[i] - 1", "(int)number[i]"),
    "no first run": (9, "i == 0 || x", "i > 0 && x"),
    "31 bits": (10, "range(32)", "range(31)"),
    "not stable": (10, "all + i - before", "n - 1 - (i - before)"),
}


@pytest.mark.parametrize("name", long_but(list(OTHERS_WRONG)[::3], OTHERS_WRONG))
def test_other_answers_that_are_wrong(chapter, name):
    number, right, wrong = OTHERS_WRONG[name]
    answer = chapter.cells[CELLS[number]].partition("helpers.check")[0]
    assert answer.count(right) == 1
    refused(chapter.judged(number, answer.replace(right, wrong)), "expected|outside")
