"""What the x-ray must not pass over: volatile, memcpy, malloc, wide accesses.

Requests of wide accesses are those of NVRTC's PTX. What orders memory is CUDA's memory model: a
volatile access is a relaxed one, and orders nothing without fences on both sides.
"""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import pytest

from gpuless.xray.machine.build import can_compile

pytestmark = [
    pytest.mark.long,  # the kernels are compiled for the x-ray, one by one
    pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64"),
]


def kernel(text, head="", parameters="const float *x, float *y"):
    return cp.RawKernel(
        f"""{head}
extern "C" __global__ void k({parameters}) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
{text}
}}""",
        "k",
    )


def look(text, *args, threads=64, blocks=2, **more):
    """The x-ray of a kernel whose body begins two lines behind the last one of ``head``."""
    args = args or (cp.arange(4096, dtype="f4"), cp.zeros(4096, "f4"))
    return helpers.xray(kernel(text, **more), (blocks,), (threads,), args)


def found(text, **more):
    """Kind, array and lines of each finding that does harm; the body begins in line 3."""
    before = more.get("head", "").count("\n") + 1
    return {
        (r.kind, r.array, *sorted({r.first.line - before, r.second.line - before}))
        for r in look(text, **more).races
        if not r.harmless
    }


# ---- volatile -----------------------------------------------------------------------------------


VOLATILE = {
    "across warps": (
        "__shared__ volatile float s[64];\ns[t] = x[i];\ny[i] = s[63 - t];",
        {("race", "s", 4, 5)},
    ),
    "a sum": ("volatile float *v = y;\nv[0] = v[0] + x[t];", {("race", "y", 4)}),
    "a sum in a loop": (
        "volatile float *v = y;\nfor (int k = 0; k < 3; k++)\nv[0] = v[0] + x[t];",
        {("race", "y", 5)},
    ),
    "a warp that is thought to stay together": (
        "__shared__ volatile float s[64];\ns[t] = x[i];\n__syncthreads();\n"
        "if (t < 32) for (int d = 32; d; d /= 2)\ns[t] += s[t + d];\n"
        "__syncthreads(); y[i] = s[0];",
        {("race", "s", 7)},
    ),
    "against an atomic function": (
        "volatile float *v = y;\nif (t == 0) atomicAdd(y, 1.f);\nif (t == 40) y[9] = v[0];",
        {("race", "y", 4, 5)},
    ),
    "a word of shared memory that nobody has written": (
        "__shared__ volatile float s[64];\nif (t > 0) s[t] = 1;\n__syncthreads();\ny[i] = s[t];",
        {("unwritten", "s", 6)},
    ),
}


@pytest.mark.parametrize("name", VOLATILE)
def test_volatile_orders_nothing(name):
    text, races = VOLATILE[name]
    assert found(text, blocks=1) == races


def test_the_check_of_an_exercise_refuses_a_volatile_sum(capsys):
    racing = kernel("volatile float *v = y; if (i < 51) v[0] = v[0] + x[i];")

    def summed(x):
        y = cp.zeros(1, "f4")
        racing((2,), (32,), (x, y))
        return y

    def case(rng):
        return (rng.integers(0, 8, 51).astype("f4"),)

    assert not helpers.check("0.0", summed, lambda x: x.sum(keepdims=True), case, contiguous=True)
    assert "right, but by luck" in capsys.readouterr().out


# Blocks meet; @ and # are where fences belong. `count` is the last element of y.
MEETING = """unsigned *count = (unsigned *)(y + 4095);
y[i] = x[i]; __syncthreads();
if (t == 0) { @ atomicAdd(count, 1u);
WAIT # } __syncthreads();
y[i + 1024] = y[127 - i];"""
WAITS = {
    "while": "while (*(volatile unsigned *)count < gridDim.x);",
    "sleeping": "while (*(volatile unsigned *)count < gridDim.x) __nanosleep(20);",
    "do": "unsigned n; do n = *(volatile unsigned *)count; while (n < gridDim.x);",
    "atomic": "while (atomicAdd(count, 0u) < gridDim.x);",
}
FENCE = "__threadfence();"


@pytest.mark.parametrize("way", WAITS)
def test_a_word_that_a_spin_reads_is_no_race_and_orders_what_fences_stand_around(way):
    text = MEETING.replace("WAIT", WAITS[way])
    assert not found(text.replace("@", FENCE).replace("#", FENCE))
    assert found(text.replace("@", "").replace("#", FENCE)) == {("race", "y", 4, 7)}
    without = found(text.replace("@", FENCE).replace("#", ""))
    # Behind an atomic function CUDA's own samples have no second fence.
    assert without == (set() if way == "atomic" else {("race", "y", 4, 7)})


TWICE = """__syncthreads();
if (t == 0) { int old = READ; __threadfence();
if (atomicAdd(&arrived, 1) == 1) { atomicExch(&arrived, 0); __threadfence(); SET; }
else while (*(volatile int *)&phase == old);
__threadfence(); } __syncthreads();
"""


@pytest.mark.parametrize(
    "read, set_to, races",
    [
        ("atomicAdd(&phase, 0)", "atomicExch(&phase, old + 1)", set()),
        ("*(volatile int *)&phase", "*(volatile int *)&phase = old + 1", set()),
        ("phase", "*(volatile int *)&phase = old + 1", {"phase"}),
    ],
)
def test_a_barrier_by_hand_may_be_used_twice(read, set_to, races):
    meet = TWICE.replace("READ", read).replace("SET", set_to)
    text = f"y[i] = x[i];\n{meet}y[i + 128] = y[127 - i];\n{meet}y[i] = y[255 - i];"
    assert {name for _, name, *_ in found(text, head="__device__ int arrived, phase;")} == races


def test_what_is_read_before_the_loop_that_waits_for_another_value_is_told_of():
    read = "y[i] = x[i];\n" + TWICE.replace("SET", "*(volatile int *)&phase = old + 1")
    read = read.replace("READ; __threadfence();", "*(volatile int *)&phase;")  # not in order
    assert {name for _, name, *_ in found(read, head="__device__ int arrived, phase;")} == {"phase"}


# Two warps (blocks, ...) set one flag in turn; W waits, @ is where fences belong.
TURNS = {
    "a slot": """__shared__ volatile int f; __shared__ float d; if (t == 0) f = d = 0;
__syncthreads();
for (int k = 0; t % 32 == 0 && k < 3; k++) {
while (f != t / 32) W; @
d += t; @
f = 1 - t / 32; }""",
    "two turns of one warp": """__shared__ float d; if (t == 0) d = 0;
__syncthreads();
volatile int *f = (volatile int *)y; int own[4] = {0, 1, 1, 0};
for (int k = 0; t % 32 == 0 && k < 4; k++) if (own[k] == t / 32) {
while (*f != k) W; @
d += t + 1; @
*f = k + 1; }""",
    "a ring": """volatile int *f = (volatile int *)y;
for (int k = 0; k < 2; k++) { if (t == 0) { while (*f % 4 != blockIdx.x) W; @ } __syncthreads();
y[64 + t] += 1; __syncthreads();
if (t == 0) { @ *f = *f + 1; } }""",
    "a ticket lock": """volatile int *f = (volatile int *)y;
if (t % 32 == 0) { int mine = atomicAdd((int *)y + 1, 1); while (*f != mine) W; @
y[64] += x[i]; @
*f = mine + 1; }""",
}


@pytest.mark.parametrize("way", ["", "__nanosleep(20)"])
@pytest.mark.parametrize("name", TURNS)
def test_a_flag_may_be_set_in_turn_and_orders_what_fences_stand_around(name, way):
    text = TURNS[name].replace("W;", f"{way};")
    more = {"blocks": 1 if "__shared__" in text else 4}
    assert not found(text.replace("@", FENCE), **more)
    data = {array for _, array, *_ in found(text.replace("@", ""), **more)}
    assert data == ({"d"} if "__shared__" in text else {"y"})
    one = text.replace("@", FENCE, 1).replace("@", "")
    assert found(one, **more) == found(text.replace("@", ""), **more)


OUT_OF_TURN = """__shared__ volatile int f; if (t == 0) f = 0;
__syncthreads();
if (t == 0) { SET }
else if (t % 32 == 0) { WAIT
f = t; }"""


@pytest.mark.parametrize(
    ("sets", "wait", "races"),
    [
        ("f = 1;", "while (f != t / 32);", set()),
        ("f = 1;", "", {(5, 7), (7, 7)}),  # nobody waits
        ("f = 1;", "int v = f;", {(5, 6), (5, 7), (7, 7)}),  # a look is no wait
        ("f = 1;", "while (f == 0);", {(7, 7)}),  # both wait for the same store
        ("f = 1;", "while (f == 7);", {(5, 7), (7, 7)}),  # for nothing
        ("f = 1; f = 2;", "while (f == 0);", {(5, 7), (7, 7)}),  # for the first of two
    ],
)
def test_a_flag_that_is_set_out_of_turn_is_a_race(sets, wait, races):
    text = OUT_OF_TURN.replace("SET", sets).replace("WAIT", wait)
    if not races:
        text = text.replace("f = t;", "f = f + 1;")
    seen = found(text, threads=96, blocks=1)
    assert {(min(lines), max(lines)) for _, _, *lines in seen} == races


def test_words_that_carry_their_data_need_no_fence():
    text = """unsigned long long *slot = (unsigned long long *)y + 1024;
if (t < 32) ((volatile unsigned long long *)slot)[i] = 1ull << 62 | i;
unsigned long long w[2]; bool ready;
do { ready = true;
#pragma unroll
for (int k = 0; k < 2; k++)
w[k] = ((volatile unsigned long long *)slot)[64 * k + t % 32];
ready = w[0] >> 62 && w[1] >> 62;
} while (!__all_sync(~0u, ready));
y[i] = w[0] + w[1];"""
    assert not found(text)


LOOK_BACK = """volatile int *state = (volatile int *)(y + 3000);
volatile float *own = y + 2000, *all = y + 2500; __shared__ float before;
if (t == 0) {
own[blockIdx.x] = x[i]; __threadfence(); state[blockIdx.x] = 1;
float sum = 0;
for (int k = blockIdx.x - 1; k >= 0; k--) {
int seen; do { seen = state[k]; } while (seen == 0);
@ if (seen == 2) { sum += all[k]; break; }
sum += own[k]; }
all[blockIdx.x] = sum + x[i]; __threadfence(); state[blockIdx.x] = 2; before = sum; }
__syncthreads(); y[i] = before;"""


def test_a_block_may_look_back_at_one_word_after_another():
    assert not found(LOOK_BACK.replace("@", FENCE), blocks=5)
    assert found(LOOK_BACK.replace("@", ""), blocks=5)


@pytest.mark.parametrize("fences, races", [(True, set()), (False, {("race", "d", 6, 9)})])
def test_warps_of_a_block_may_hand_over_by_a_flag(fences, races):
    text = """__shared__ volatile int flag; __shared__ float d[32];
if (t == 0) flag = 0;
__syncthreads();
if (t >= 32) { d[t - 32] = x[i];
    __syncwarp(); if (t == 32) { @ flag = 1; } }
else { if (t == 0) { while (flag == 0); @ } __syncwarp();
    y[i] = d[t]; }"""
    assert found(text.replace("@", "__threadfence_block();" * fences)) == races


@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
@pytest.mark.parametrize(
    ("flag", "sets", "kind"),
    [
        ("volatile int flag", "flag = 1;", "unwritten"),
        ("int flag", "*(volatile int *)&flag = 1;", "race"),
        ("int flag", "atomicExch(&flag, 1);", "race"),
    ],
)
def test_a_flag_needs_a_barrier_behind_its_first_value(flag, sets, kind, barrier):
    text = f"""__shared__ {flag}; __shared__ float s[32]; if (t == 0) flag = 0; {barrier}
if (t < 32) {{ s[t] = x[t]; __threadfence_block(); __syncwarp(); if (t == 0) {{ {sets} }} }} else {{
while (*(volatile int *)&flag != 1);
__threadfence_block(); y[t] = s[t - 32]; }}"""
    seen = {(r.kind, r.array) for r in look(text, blocks=1).races}
    assert seen == (set() if barrier else {(kind, "flag")})


def test_a_lock_needs_its_fences():
    text = """int *lock = (int *)(y + 4095);
if (t % 32 == 0) { while (atomicCAS(lock, 0, 1)); @
    y[0] += x[t];
    @ atomicExch(lock, 0); }"""
    assert not found(text.replace("@", FENCE))
    assert found(text.replace("@", "")) == {("race", "y", 5)}


def test_a_fence_for_the_block_alone_is_none_for_others():
    text = MEETING.replace("WAIT", WAITS["while"])
    fence = "__threadfence_block();"
    assert found(text.replace("@", fence).replace("#", FENCE)) == {("race", "y", 4, 7)}


# ---- memcpy, memset, malloc ---------------------------------------------------------------------


def test_memset_and_memcpy_are_seen():
    text = """__shared__ float s[64];
if (t == 0) memset(s, 0, sizeof s);
{}
y[i] = s[63 - t];
memcpy(&y[2048 + i], &x[i], 4);"""
    seen = look(text.replace("{}", "__syncthreads();"))
    assert seen.races == ()
    (copied,) = (a for a in seen.accesses if a.array == "x")
    assert (copied.requests, copied.bytes, copied.sectors) == (4, 512, 16)
    assert found(text.replace("{}", "")) == {("race", "s", 4, 6)}


GROUP_COPY = """auto b = cooperative_groups::this_thread_block();
cooperative_groups::memcpy_async(b, y + i - t, s, 256); b.sync();"""


@pytest.mark.parametrize(
    "copy",
    ["memcpy(&y[i], &s[63 - t], 4);", "if (t == 0) memcpy(&y[i], s, 256);", GROUP_COPY],
    ids=["each", "one", "group"],
)
def test_a_copy_of_shared_memory_sees_what_was_written(copy):
    head = "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>"
    text = f"__shared__ float s[64]; s[t] = x[i];\n__syncthreads();\n{copy}"
    assert not look(text, head=head).races
    for right, wrong, kind in (
        ("__syncthreads();", "", "race"),
        ("s[t] = x[i]", "if (t % 2) s[t] = x[i]", "unwritten"),
    ):
        seen = found(text.replace(right, wrong), head=head)
        assert {race[:2] for race in seen} == {(kind, "s")}


@pytest.mark.parametrize(
    ("text", "races"),
    [
        ("memcpy(&y[0], &x[i], 4);", {("race", "y", 3)}),
        (
            "__shared__ float s[64];\nmemcpy(&s[t], &x[i], 4);\ny[i] = s[63 - t];",
            {("race", "s", 4, 5)},
        ),
    ],
)
def test_races_by_memcpy(text, races):
    assert found(text) == races


@pytest.mark.parametrize(
    ("barrier", "races"),
    [("__syncthreads();", set()), ("", {("race", "memory from malloc", 6, 8)})],
)
def test_memory_from_malloc_that_threads_share(barrier, races):
    text = f"""__shared__ float *p; if (t == 0) p = (float *)malloc(256);
__syncthreads();
p[t] = x[i];
{barrier}
y[i] = p[63 - t];
__syncthreads(); if (t == 0) free(p);"""
    seen = look(text)
    harm = {(r.kind, r.array, r.first.line, r.second.line) for r in seen.races}
    assert {(k, a, *sorted(lines)) for k, a, *lines in harm} == races
    if races:
        assert 0 <= seen.races[0].index < 64  # of what malloc gave
    assert {a.requests for a in seen.accesses if a.memory == "malloc"} == {4}


def test_memory_from_malloc_of_each_thread():
    """Lanes run one after another, and each would get what the one before has freed."""
    text = """float *p = (float *)malloc(16);
for (int k = 0; k < 4; k++) p[k] = x[k];
y[i] = p[t % 4];
free(p);"""
    seen = look(text)
    assert not seen.races
    own = [a for a in seen.accesses if a.memory == "malloc"]
    assert {(a.kind, a.sectors, a.distinct) for a in own} == {
        (kind, 32 * requests, 4 * 32 * requests) for kind, requests in (("store", 16), ("load", 4))
    }


# ---- wide accesses, constant memory --------------------------------------------------------------

STRUCTS = {
    "five": "struct five { float a, b, c, d; int e; };",
    "doubles": "struct doubles { double a, b; };",
    "pair": "struct pair { float a, b; };",
    "four": "struct four { float a, b, c, d; };",
    "aligned": "struct alignas(8) aligned { float a, b; };",
}


@pytest.mark.parametrize(
    ("kind", "requests", "sectors"),
    [
        ("float3", 3, 36),
        ("five", 5, 100),
        ("doubles", 2, 32),
        ("pair", 2, 16),
        ("four", 4, 64),
        ("uchar3", 3, 9),
        ("longlong4", 2, 64),
        ("double4", 2, 64),
        ("float2", 1, 8),
        ("float4", 1, 16),
        ("double2", 1, 16),
        ("aligned", 1, 8),
    ],
)
def test_an_access_wider_than_its_type_is_aligned_is_several(kind, requests, sectors):
    text = f"""__shared__ {kind} s[32];
{kind} v = x[t];
s[t] = v;
__syncthreads();
y[t] = s[31 - t];"""
    bytes_ = cp.zeros(32 * 32, "u1")
    more = {"head": STRUCTS.get(kind, ""), "parameters": f"const {kind} *x, {kind} *y"}
    seen = look(text, bytes_, bytes_.copy(), threads=32, blocks=1, **more)
    assert {a.requests for a in seen.accesses} == {requests}
    assert {a.sectors for a in seen.accesses if not a.shared} == {sectors}
    assert len(seen.accesses) == 4


def test_a_float4_of_an_array_of_doubles_is_one_access():
    text = "((double2 *)y)[i] = ((const double2 *)x)[i];"
    args = cp.zeros(256), cp.zeros(256)
    seen = look(text, *args, blocks=1, parameters="const double *x, double *y")
    assert {a.requests for a in seen.accesses} == {2}


def test_a_wide_access_in_some_lanes_leaves_the_loop_in_step():
    """The pieces of one access are no turns of the loop around it."""
    text = """float s = 0;
for (int k = 0; k < 4; k++) {
if (t % 2) { float3 v = ((const float3 *)x)[32 * k + t]; s += v.x + v.y * v.z; }
s += x[k];
}
y[i] = s;"""
    seen = look(text, threads=32, blocks=1)
    one = next(a for a in seen.accesses if a.line == 7)
    assert (one.requests, one.lanes) == (4, 128)


def test_constant_memory_is_told_apart():
    seen = look("y[i] = c[3] + c[t / 16] + x[i];", head="__constant__ float c[64];")
    constant = {a.text: a for a in seen.accesses if a.memory == "constant"}
    assert {t: (a.requests, a.passes, a.sectors) for t, a in constant.items()} == {
        "c[3]": (4, 4, 0),
        "c[t / 16]": (4, 8, 0),  # two addresses of a warp: one after the other
    }
    assert seen.total("requests", kind="load") == 4  # those of x
    assert "load c[3], constant" in str(seen)


def test_a_write_through_a_pointer_whose_const_is_cast_away():
    x = cp.arange(64, dtype="f4")
    seen = look("((float *)x)[i ^ 1] = x[i] + 1;", x, cp.zeros(64, "f4"), blocks=1)
    assert {(r.kind, r.array, r.harmless) for r in seen.races} == {("race", "x", False)}
    assert (x == cp.arange(64)).all()  # as before the x-ray
    assert look("((float *)x)[i] = x[i] + 1;", x, x[:1], blocks=1).races == ()


@pytest.mark.parametrize("blocks", [1, 2])
def test_who_has_read_what_is_written_past_its_const_later(blocks):
    x = cp.arange(128, dtype="f4")
    text = "y[i] = x[i]; if (i == gridDim.x * 64 - 1) ((float *)x)[3] = 7;"
    (race,) = look(text, x, cp.zeros(128, "f4"), blocks=blocks).races
    assert (race.array, race.index, race.harmless) == ("x", 3, False)
    assert {race.first.kind, race.second.kind} == {"load", "store"} and x[3] == 3
    below = "if (t < 32) y[t] = x[t]; else y[(int)t - 64 - 32] = 3;"  # y lies behind x
    both = cp.arange(128, dtype="f4")
    assert {r.array for r in look(below, both[:64], both[64:], blocks=1).races} == {"x"}


# ---- lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", ["", "__shared__ float s[64]; s[t] = i; __syncthreads();"])
def test_what_a_function_of_cuda_does_is_in_the_line_of_its_call(shared):
    """With a __shared__ variable the library has code in two places, which are counted apart."""
    text = f"""{shared}
float a = __ldg(x + i);
atomicAdd(&y[i], a);
y[i + 128] = {"s[63 - t]" if shared else "1"};
asm volatile("cp.async.wait_all;"); atomicExch(&y[i + 256], a);"""
    seen = look(text)
    lines = {(a.kind, a.array, a.line - 4, a.text) for a in seen.accesses if a.array != "s"}
    assert lines == {
        ("load", "x", 1, "__ldg(x + i)"),
        ("atomic", "y", 2, "y[i]"),
        ("store", "y", 3, "y[i + 128]"),
        ("atomic", "y", 4, "y[i + 256]"),
    }
