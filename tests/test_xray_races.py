"""Races that the x-ray must find, each in its lines, and right kernels that it must not blame."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

from gpuless.xray.machine.build import can_compile

pytestmark = pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")


def look(text, *args, threads=64, blocks=2, parameters="const float *x, float *y", head="", **more):
    """The x-ray of a kernel whose body begins in line 3."""
    code = f"""{head} extern "C" __global__ void k({parameters}) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
{text}
}}"""
    options = {name: more.pop(name) for name in ("enable_cooperative_groups",) if name in more}
    kernel = cp.RawKernel(code, "k", **options)
    if not args:
        args = (cp.arange(1024, dtype="f4"), cp.zeros(1024, "f4"))
    return helpers.xray(kernel, (blocks,), (threads,), args, **more)


def lines(found):
    """Array and the two lines of every race that does harm."""
    return {
        (r.array, *sorted((r.first.line, r.second.line)))
        for r in found.races
        if r.kind == "race" and not r.harmless
    }


SUM = """__shared__ float part[64];
part[t] = x[i];
{first}
for (int s = 32; s; s /= 2) {{
if (t < s) part[t] += part[t + s];
{second}
}}
if (t == 0) y[blockIdx.x] = part[0];"""
BARRIER = "__syncthreads();"

# A name: the body, and the races in it as (array, line, line).
RACING = {
    "everybody adds to one element": ("y[0] += x[i];", {("y", 3, 3)}),
    "an output that two threads share": ("y[i / 2] += x[i];", {("y", 3, 3)}),
    "a histogram": ("y[(int)x[i] % 7] += 1;", {("y", 3, 3)}),
    "a stencil in place": ("if (t > 0) y[i] = 1 + y[i - 1];", {("y", 3, 3)}),
    "the first barrier of a sum": (SUM.format(first="", second=BARRIER), {("part", 4, 7)}),
    "the second barrier of a sum": (SUM.format(first=BARRIER, second=""), {("part", 7, 7)}),
    "a plain store against an atomic one": (
        "if (t == 0) y[0] = 5; else atomicAdd(&y[0], 1.f);",
        {("y", 3, 3)},
    ),
    "a tile read a place too far": (
        "__shared__ float s[65]; if (t == 0) s[64] = 0;\ns[t] = x[i];\ny[i] = s[t + 1];",
        {("s", 3, 5), ("s", 4, 5)},
    ),
    "a double buffer that is one": (
        "__shared__ float s[64]; s[t] = x[i]; __syncthreads();\n"
        "for (int k = 0; k < 3; k++) {\nfloat v = s[(t + 1) % 64];\ns[t] = v;\n"
        "__syncthreads();\n}\n"
        "y[i] = s[t];",
        {("s", 5, 6)},
    ),
    "a sum of a warp without __syncwarp": (
        "__shared__ volatile float unused[1]; __shared__ float s[64];\ns[t] = x[i];\n"
        "__syncthreads();\nif (t < 32) {\ns[t] += s[t + 32];\nif (t < 16)\ns[t] += s[t + 16]; }\n"
        "__syncthreads(); y[i] = s[0];",
        {("s", 7, 9)},
    ),
    "one block reads what another writes": (
        "if (blockIdx.x == 0) y[t] = x[t];\nif (blockIdx.x == 1) y[t + 64] = y[t];",
        {("y", 3, 4)},
    ),
    "a last block that does not wait for its threads": (
        "y[i] = x[i]; __threadfence(); __shared__ bool last;\n"
        "if (t == 0) last = atomicAdd(&y[1000], 1.f) == gridDim.x - 1;\n__syncthreads();\n"
        "if (last && t == 0) { float s = 0; for (int k = 0; k < 128; k++) s += y[k]; y[900] = s; }",
        {("y", 3, 6)},
    ),
    "a flag without a fence": (
        "if (blockIdx.x == 0) { y[t] = x[t]; __syncthreads(); "
        "if (t == 0) atomicAdd(&y[500], 1.f); }\n"
        "else { if (t == 0) while (atomicAdd(&y[500], 0.f) == 0);\n__syncthreads();\n"
        "y[t + 64] = y[t]; }",
        {("y", 3, 6)},
    ),
}


@pytest.mark.parametrize("name", RACING)
def test_a_race_is_found_in_its_lines(name):
    text, races = RACING[name]
    assert lines(look(text)) == races


def test_what_every_thread_reads_is_read_by_each():
    """GCC's IPA-SRA would let the caller of the kernel read it, once."""
    source = (
        'extern "C" __global__ void k(const float *b, float *c) {\nc[threadIdx.x] = b[0] + 1; }'
    )
    x = cp.zeros(64, "f4")
    found = helpers.xray(cp.RawKernel(source, "k"), (1,), (64,), (x, x))
    assert found.total("requests", kind="load") == 2
    assert [race.count for race in found.races] == [63]


RIGHT = {
    "one element each": "y[i] = x[i];",
    "atomics": "atomicAdd(&y[0], x[i]); atomicMax((int *)&y[1], t);",
    "a sum": SUM.format(first=BARRIER, second=BARRIER),
    "reading what others read": "y[i] = x[0] + x[i] + x[i / 2];",
    "a double buffer": (
        "__shared__ float s[2][64]; s[0][t] = x[i]; __syncthreads();\n"
        "for (int k = 0; k < 4; k++) { s[(k + 1) % 2][t] = s[k % 2][(t + 1) % 64];\n"
        "__syncthreads(); }\ny[i] = s[0][t];"
    ),
    "a warp that meets": (
        "__shared__ float s[64];\ns[t] = x[i]; __syncwarp();\n"
        "float v = s[t ^ 1]; __syncwarp(); s[t] = v; __syncwarp(); y[i] = s[t ^ 2];"
    ),
    "shuffles": "float v = x[i]; for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
    "if (t % 32 == 0) y[i] = v;",
    "the last block, with a fence behind the barrier": (
        "__shared__ bool last; y[i] = x[i]; __syncthreads();\n"
        "if (t == 0) { __threadfence(); last = atomicAdd(&y[1000], 1.f) == 1; }\n"
        "__syncthreads();\n"
        "if (last && t == 0) { float s = 0; for (int k = 0; k < 128; k++) s += y[k]; y[900] = s; }"
    ),
    "bytes side by side": "((char *)y)[i] = t;",
    "the last block": (
        "y[i] = x[i]; __threadfence(); __shared__ bool last; __syncthreads();\n"
        "if (t == 0) last = atomicAdd(&y[1000], 1.f) == gridDim.x - 1;\n__syncthreads();\n"
        "if (last && t == 0) { float s = 0; for (int k = 0; k < 128; k++) s += y[k]; y[900] = s; }"
    ),
    "a flag behind a fence": (
        "if (blockIdx.x == 0) { y[t] = x[t]; __threadfence(); __syncthreads();\n"
        "if (t == 0) atomicAdd(&y[500], 1.f); }\n"
        "else { if (t == 0) { while (atomicAdd(&y[500], 0.f) == 0); __threadfence(); }\n"
        "__syncthreads(); y[t + 64] = y[t]; }"
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_is_not_blamed(name):
    assert look(RIGHT[name]).races == ()


def test_a_grid_barrier_orders_blocks():
    head = "#include <cooperative_groups.h>\n"
    text = "y[i] = x[i]; {}\ny[i + 128] = y[(i + 64) % 128];"
    sync = "cooperative_groups::this_grid().sync();"
    options = {"head": head, "enable_cooperative_groups": True}
    assert look(text.format(sync), **options).races == ()
    assert lines(look(text.format(""), **options)) == {("y", 4, 5)}


def test_a_race_names_threads_blocks_array_and_index():
    (race,) = look("y[t / 2 + 5] = t;\n", blocks=1, threads=4).races
    assert (race.array, race.index, race.shared) == ("y", 5, False)
    assert (race.first.thread, race.second.thread) == ((0, 0, 0), (1, 0, 0))
    assert race.first.block == race.second.block == (0, 0, 0)
    text = str(race)
    assert "y[5]" in text and "line 3" in text and "`y[t / 2 + 5] = t;`" in text
    assert "no barrier lies between. Let a __syncthreads() stand between them" in text


def test_between_blocks_both_are_named():
    (race,) = look("if (t == 3) y[7] = blockIdx.x;", blocks=3).races
    assert race.first.thread == race.second.thread == (3, 0, 0)
    assert race.first.block != race.second.block
    assert "no barrier holds between blocks. Let one thread write each element" in str(race)
    (race,) = look("y[i] = t; if (t == 0) y[i + 40] = y[31 - i];", blocks=2, threads=16).races
    assert race.first.block != race.second.block
    assert "no barrier holds between blocks. Write to a second array, use" in str(race)


def test_writing_what_is_there_already_is_harmless():
    (race,) = look("if (x[i] > 3) y[0] = 1;").races
    assert race.harmless and "same value" in str(race)
    (race,) = look("if (x[i] > 3) y[0] = t;").races
    assert not race.harmless


def test_shared_memory_read_before_it_is_written():
    found = look(
        "__shared__ float s[64];\nif (t) s[t] = 1; __syncthreads();\ny[i] = s[t];", blocks=1
    )
    (race,) = found.races
    assert (race.kind, race.array, race.index) == ("unwritten", "s", 0)
    assert race.second.line == 5 and "before anybody has written it" in str(race)


def test_a_barrier_that_some_threads_skip_is_an_error_that_names_it():
    with pytest.raises(RuntimeError, match=r"barrier divergence.* line 3"):
        look("if (t < 10) __syncthreads();")


def test_a_product_by_tiles_needs_both_barriers():
    code = """extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[8][8], tb[8][8];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
    float sum = 0;
    for (int first = 0; first < n; first += 8) {
        ta[y][x] = a[row * n + first + x];
        tb[y][x] = b[(first + y) * n + col];
        FIRST
        for (int k = 0; k < 8; k++)
            sum += ta[y][k] * tb[k][x];
        SECOND
    }
    c[row * n + col] = sum;
}"""
    a = cp.arange(16 * 16, dtype="f4").reshape(16, 16)
    for first, second in ((1, 1), (0, 1), (1, 0)):
        text = code.replace("FIRST", BARRIER * first).replace("SECOND", BARRIER * second)
        args = (a, a + 1, cp.zeros_like(a), np.int32(16))
        found = helpers.xray(cp.RawKernel(text, "tiled"), (2, 2), (8, 8), args)
        races = {r[:3] for r in lines(found)} - {("ta", 10, 10), ("tb", 10, 10)}
        assert races == (set() if first and second else {("ta", 6, 10), ("tb", 7, 10)})


def test_an_element_of_a_shared_array_is_named_by_all_its_indices():
    text = """__shared__ float s[4][W + 1];
s[t / 16][t % 16] = x[i];
y[i] = s[3 - t / 16][t % 16];"""
    (race,) = look(text, head="#define W 16\n", blocks=1).races
    assert race.shape == (4, 17)
    index = next(t.thread[0] for t in (race.first, race.second) if t.kind == "store")
    assert race.element == f"s[{index // 16}][{index % 16}]" and race.element in str(race)


@pytest.mark.parametrize(
    ("kind", "text", "index"),
    [
        ("int", "s[t / 2] = t;\n((char *)s)[4 * t + 1] = t;", {0}),
        ("int", "if (t < 2) s[t + 4] = t;\nif (t == 40) ((char *)s)[17] = 3;", {4}),
        ("float2", "if (t % 40 == 0) s[9].y = t;", {9}),
        ("P", "if (t % 40 == 0) s[9].b[3] = t;", {9}),
        ("float", "if (t % 40 == 0) ((float4 *)s)[9] = make_float4(t, t, t, t);", {36}),
    ],
)
def test_an_element_of_a_shared_array_is_one_of_its_type(kind, text, index):
    head = "struct P { char a; float b[7]; };\n"
    seen = look(f"__shared__ __align__(16) {kind} s[64];\n{text}", head=head, blocks=1)
    assert {r.index for r in seen.races if r.kind == "race"} == index


def test_all_who_added_to_a_sum_are_remembered():
    """The reader's own atomic function is the last one, and says nothing of the others."""
    text = "atomicAdd(&y[0], x[i]);\n{fence}if (i == 127) y[1] = y[0] / 128;"
    for blocks, threads in ((4, 64), (128, 1), (1, 128)):
        found = look(text.format(fence=""), blocks=blocks, threads=threads)
        assert lines(found) == {("y", 3, 4)}
    found = look(text.format(fence=BARRIER), blocks=1, threads=128)
    assert found.races == ()


FLAG = """#include <cuda/atomic>
extern "C" __global__ void k(int *d, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*flag);
    if (blockIdx.x == 0) { d[0] = 42; a.store(1, cuda::memory_order_release); }
    else { while (a.load(cuda::memory_order_acquire) == 0); out[0] = d[0]; }
}"""


@pytest.mark.parametrize(
    "before, after, races",
    [
        ("", "", 0),
        ("a.store(", "a.exchange(", 0),
        ("_release", "_relaxed", 1),
        ("a.store(1, cuda::memory_order_release)", "*flag = 1", 2),  # of the flag, too
    ],
)
def test_a_flag_that_is_stored(before, after, races):
    args = [cp.zeros(1, "i") for _ in range(3)]
    kernel = cp.RawKernel(FLAG.replace(before, after), "k")
    found = helpers.xray(kernel, (2,), (1,), args)
    assert len({race.array for race in found.races}) == races


@pytest.mark.parametrize("value, harmless", [("t", False), ("3", True)])
def test_a_struct_that_all_write_is_compared_whole(value, harmless):
    text = "struct P { float a[5]; } v;\nfor (int k = 0; k < 5; k++) v.a[k] = VALUE;\n*(P *)y = v;"
    (race,) = look(text.replace("VALUE", value), blocks=1, threads=64).races
    assert race.harmless is harmless


def test_a_store_behind_an_atomic_function_does_harm_to_others():
    text = "atomicAdd(&y[0], 1.f);\nif (t == 63) y[0] = 7;"
    (race,) = look(text, blocks=1, threads=64).races
    assert not race.harmless


# ---- what a later access of its thread or block must not hide ------------------------------------

HIDDEN = {
    "a sum that the first block sets to 0": (
        "if (i == 0) y[0] = 0;\n__syncthreads();\natomicAdd(&y[0], x[i]);",
        {("y", 3, 5)},
    ),
    "a fence in a barrier's place": (
        "__shared__ int n; if (t == 0)\nn = 0;\n__threadfence_block();\natomicAdd(&n, 1);\n"
        "__syncthreads(); y[i] = n;",
        {("n", 4, 6)},
    ),
    "a barrier of the warp in the block's place": (
        "__shared__ int n; if (t == 0)\nn = 0;\n__syncwarp();\natomicAdd(&n, 1);\n"
        "__syncthreads(); y[i] = n;",
        {("n", 4, 6)},
    ),
    "the last block reads a sum behind its own barrier": (
        "atomicAdd(&y[0], x[i]);\n__syncthreads();\nif (i == 127) y[1] = y[0] / 128;",
        {("y", 3, 5)},
    ),
    "all set what the last thread then writes": (
        "y[0] = 0;\nif (i == 127)\ny[0] = x[i];",
        {("y", 3, 5)},
    ),
    "all set what the last thread then adds to": (
        "__shared__ int n;\nn = 0;\nif (t == 63)\natomicAdd(&n, 1);\n__syncthreads(); y[i] = n;",
        {("n", 4, 6)},
    ),
    "all set what a thread of the last block writes behind its barrier": (
        "if (t > 32) y[0] = 7;\n__syncthreads();\nif (i == 64) y[0] = x[i];",
        {("y", 3, 5)},
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_race_that_an_access_in_order_would_hide(name):
    text, races = HIDDEN[name]
    assert lines(look(text)) == races


def test_each_of_those_behind_a_barrier_of_all():
    head = "#include <cooperative_groups.h>\n"
    text = """auto grid = cooperative_groups::this_grid(); __shared__ int n; if (t == 0) n = 0;
if (i == 0) y[0] = 0;
grid.sync(); atomicAdd(&y[0], x[i]); atomicAdd(&n, 1);
grid.sync(); if (i == 127) y[1] = y[0] / n;
grid.sync(); if (i == 127) y[0] = 0; grid.sync(); y[i + 2] = y[0] + y[1];"""
    assert look(text, head=head, enable_cooperative_groups=True).races == ()


@pytest.mark.parametrize(
    "text, kinds",
    [
        ("atomicAdd(&n[t % 8], 1);", {"unwritten"}),
        ("if (t % 8) n[t % 8] = 0; __syncthreads(); atomicMax(&n[t % 8], t);", {"unwritten"}),
        ("if (t < 8) atomicCAS(&n[t], 0, 1);", {"unwritten"}),
        ("if (t < 8) n[t] = 0; __syncthreads(); atomicAdd(&n[t % 8], 1);", set()),
        ("if (t < 8) atomicExch(&n[t], 0); __syncthreads(); atomicAdd(&n[t % 8], 1);", set()),
    ],
)
def test_an_atomic_function_reads_what_somebody_must_have_written(text, kinds):
    seen = look(f"__shared__ int n[8];\n{text}\n__syncthreads(); y[i] = n[t % 8];", blocks=1)
    assert {r.kind for r in seen.races if not r.harmless} <= kinds
    assert ("unwritten" in {r.kind for r in seen.races}) == bool(kinds)


def test_the_last_block_may_set_the_count_back():
    """As in CUDA's guide. Who reads what others add to has them all behind a barrier alone."""
    text = """__shared__ bool last; unsigned *count = (unsigned *)(y + 1000);
if (t == 0) { y[blockIdx.x] = x[i]; __threadfence(); last = atomicAdd(count, 1) == gridDim.x - 1; }
__syncthreads();
if (last && t == 0) { __threadfence(); y[100] = y[0] + y[1]; *count = 0; }"""
    assert not look(text, blocks=3, threads=64).races
    text = "atomicAdd(&y[0], x[i]);\n__threadfence();\nif (i == 127) y[1] = y[0] / 128;"
    assert lines(look(text, blocks=1, threads=128)) == {("y", 3, 5)}


WRITTEN = """int *n = (int *)y; unsigned *count = (unsigned *)(y + 1000); int b = blockIdx.x;
if (t == 0 && b == 0) { y[0] = x[i]; __threadfence(); atomicAdd(count, 1); }
if (t == 0 && b == 1) { while (!atomicAdd(count, 0)); }
"""

# Threads of block 1 that read what block 0 has written, and whether each is behind it.
ONE_LOOKS = {
    "who has looked itself": ("if (i == 64) y[500] = y[0];", False),
    "another of the warp": ("if (i == 65) y[500] = y[0];", True),
    "another warp": ("if (i == 104) y[500] = y[0];", True),
    "another behind a barrier": ("__syncthreads();\nif (i == 104) y[500] = y[0];", False),
    "another of the warp behind its barrier": (
        "if (t < 32) __syncwarp();\nif (i == 65) y[500] = y[0];",
        False,
    ),
    "another warp behind a flag of the block": (
        "if (i == 64) { __threadfence_block(); atomicExch_block(n + 900, 1); }\n"
        "if (i == 104) { while (!atomicAdd_block(n + 900, 0)); y[500] = y[0]; }",
        False,
    ),
    "another block behind its flag": (
        "if (i == 64) { __threadfence(); atomicExch(n + 900, 1); }\n"
        "if (i == 130) { while (!atomicAdd(n + 900, 0)); y[500] = y[0]; }",
        False,
    ),
    "another block behind a flag of who has not looked": (
        "if (i == 104) { __threadfence(); atomicExch(n + 900, 1); }\n"
        "if (i == 130) { while (!atomicAdd(n + 900, 0)); y[500] = y[0]; }",
        True,
    ),
}


@pytest.mark.parametrize("name", ONE_LOOKS)
def test_what_one_thread_has_looked_for_is_not_behind_others(name):
    text, racing = ONE_LOOKS[name]
    seen = look(WRITTEN + text + "\n__syncthreads();", blocks=3)
    assert {race.array for race in seen.races} == ({"y"} if racing else set())


def test_a_third_reader_of_whom_the_writer_has_not_heard():
    text = """unsigned *count = (unsigned *)(y + 1000); float v = 0;
if (blockIdx.x < 3 && t == 0) { v = y[0];
if (blockIdx.x < 2) { __threadfence(); atomicAdd(count, 1); } }
if (blockIdx.x == 3 && t == 0) { atomicAdd(count, 1); __threadfence();
y[0] = x[3]; } y[500 + i] = v;"""
    assert lines(look(text, blocks=4)) == {("y", 4, 7)}
    assert look(text.replace("x < 2", "x < 3"), blocks=4).races == ()


@pytest.mark.parametrize(
    "change",
    ["atomicCAS(n, 0, 1)", "atomicExch(n, 1)", "atomicMax(n, 1)", "atomicInc((unsigned *)n, 9)"],
)
def test_a_store_that_an_atomic_function_may_see_is_never_harmless(change):
    """It tells its thread whether it came first: here two may take what one alone is to have."""
    text = f"int *n = (int *)y;\nif (t == 0) n[0] = 1;\nelse if ({change} == 0) y[1 + t] = 1;"
    assert lines(look(text, blocks=1)) == {("y", 4, 5)}


@pytest.mark.parametrize(
    "lanes, races",
    [
        ("t >= 16", {("y", 3, 5)}),
        ("t != 20", {("y", 3, 5)}),
        ("t == 31 || t < 12", {("y", 3, 5)}),
        ("t < 32", set()),
    ],
)
def test_a_barrier_of_some_lanes_leaves_the_others_reading(lanes, races):
    text = f"""float v = y[0]; unsigned mask = __ballot_sync(~0u, {lanes});
if ({lanes}) {{ __syncwarp(mask);
if (t == 31) y[0] = v + 1; }}
y[i + 1] = v;"""
    assert lines(look(text, blocks=1, threads=32)) == races


def test_an_element_kernel_is_looked_at_before_it_has_changed_anything():
    """Run once, a maximum by hand finds nothing more to write."""
    largest = cp.ElementwiseKernel("int32 x", "raw int32 y", "if (x > y[0]) y[0] = x", "largest")
    found = helpers.xray(largest, cp.arange(64, dtype="i4"), cp.zeros(1, "i4"))
    assert found.races and [a.requests for a in found.accesses if a.kind == "store"] == [2]
    higher = cp.ElementwiseKernel("int32 x", "int32 y", "if (x > y) y = x", "higher")
    found = helpers.xray(higher, cp.arange(64, dtype="i4"), cp.zeros(64, "i4"))
    assert not found.races and [a.lanes for a in found.accesses if a.kind == "store"] == [63]
