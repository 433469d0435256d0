"""Asynchronous copies under the x-ray: what they fill is there, and what they read is free to be
written, when the thread that asked for them has waited, and no sooner."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

from gpuless.xray.machine.build import can_compile

pytestmark = [
    pytest.mark.long,  # the kernels are compiled for the x-ray, one by one
    pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64"),
]
PIPELINE = "#include <cuda_pipeline.h>"
GROUPS = (
    "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n"
    "namespace cg = cooperative_groups;"
)


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


PTX = """unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + i));"""
# How a block brings 64 floats to s: (head, the copy, its wait).
COPIES = {
    "pipeline": (
        PIPELINE,
        "__pipeline_memcpy_async(&s[t], &x[i], 4); __pipeline_commit();",
        "__pipeline_wait_prior(0);",
    ),
    "wait_all": ("", PTX, 'asm volatile("cp.async.wait_all;");'),
    "wait_group": (
        "",
        PTX + 'asm volatile("cp.async.commit_group;");',
        'asm volatile("cp.async.wait_group 0;" ::: "memory");',
    ),
    "groups": (
        GROUPS,
        "auto b = cg::this_thread_block(); cg::memcpy_async(b, s, x + i - t, 256);",
        "cg::wait(b);",
    ),
}
COPIED = "__shared__ __align__(16) float s[64];\nCOPY\nWAIT __syncthreads();\ny[i] = s[63 - t];"


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_that_is_waited_for_is_right_and_counted(way):
    head, copy, wait = COPIES[way]
    seen = look(COPIED.replace("COPY", copy).replace("WAIT", wait), head=head)
    assert seen.races == ()
    fetched = [a for a in seen.accesses if a.kind == "copy" and a.array == "x"]
    (delivered,) = (a for a in seen.accesses if a.kind == "copy" and a.shared)
    assert sum(a.sectors for a in fetched) == 2 * 64 * 4 // 32
    assert delivered.bytes == 2 * 64 * 4
    assert not seen.total("requests", kind="load")
    right = kernel(COPIED.replace("COPY", copy).replace("WAIT", wait), head=head)
    x, y = cp.arange(128, dtype="f4"), cp.zeros(128, "f4")
    right((2,), (64,), (x, y))
    np.testing.assert_array_equal(y.get().reshape(2, 64), x.get().reshape(2, 64)[:, ::-1])


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_that_is_not_waited_for_is_found(way):
    head, copy, _ = COPIES[way]
    forgotten = COPIED.replace("COPY", copy).replace("WAIT", "")
    seen = look(forgotten, head=head)
    assert {r.kind for r in seen.races} == {"unwaited"}
    race = seen.races[0]
    assert (race.array, race.first.kind, race.second.kind) == ("s", "copy", "load")
    assert "touched before the copy that fills it is waited for" in str(race)
    # Without an x-ray: what was to come is not there.
    with pytest.raises(
        RuntimeError, match="which an asynchronous copy is to fill: the thread that"
    ):
        args = (cp.arange(128, dtype="f4"), cp.zeros(128, "f4"))
        kernel(forgotten, head=head)((2,), (64,), args)


def test_a_group_that_was_not_committed_is_not_waited_for():
    text = COPIED.replace("COPY", "__pipeline_memcpy_async(&s[t], &x[i], 4);")
    text = text.replace("WAIT", "__pipeline_wait_prior(0);")
    assert {r[0] for r in found(text, head=PIPELINE)} == {"unwaited"}


def test_a_copy_that_was_waited_for_still_needs_a_barrier():
    text = COPIED.replace("COPY", COPIES["pipeline"][1]).replace("__syncthreads();", "")
    text = text.replace("WAIT", COPIES["pipeline"][2])
    assert {r[:2] for r in found(text, head=PIPELINE)} == {("race", "s")}


STAGES = """__shared__ float s[2][64]; float v = 0;
__pipeline_memcpy_async(&s[0][t], &x[i], 4); __pipeline_commit();
for (int k = 0; k < 4; k++) {
if (k < 3) __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[i + 128 * (k + 1)], 4);
__pipeline_commit(); __pipeline_wait_prior(AHEAD); __syncthreads();
v += s[k % 2][63 - t];
BARRIER
}
y[i] = v;"""


@pytest.mark.parametrize(
    ("ahead", "barrier", "kinds"),
    [
        (1, "__syncthreads();", set()),
        (0, "__syncthreads();", set()),
        (2, "__syncthreads();", {"unwaited"}),
        (1, "", {"race", "unwaited"}),
    ],
)
def test_two_stages(ahead, barrier, kinds):
    text = STAGES.replace("AHEAD", str(ahead)).replace("BARRIER", barrier)
    assert {r[0] for r in found(text, head=PIPELINE)} == kinds
    if not kinds:
        x, y = cp.arange(512, dtype="f4"), cp.zeros(128, "f4")
        kernel(text, head=PIPELINE)((2,), (64,), (x, y))
        blocks = x.get().reshape(4, 2, 64).sum(0)[:, ::-1]
        np.testing.assert_array_equal(y.get().reshape(2, 64), blocks)


def test_a_wait_that_comes_too_late_gives_old_values_without_an_xray_too():
    """The buffer was written before, so nothing stops the kernel: its result is wrong."""
    text = """__shared__ float s[64];
s[t] = -1; __syncthreads();
__pipeline_memcpy_async(&s[t], &x[i], 4); __pipeline_commit();
__syncthreads(); y[i] = s[t]; __pipeline_wait_prior(0);"""
    x, y = cp.arange(64, dtype="f4"), cp.zeros(64, "f4")
    kernel(text, head=PIPELINE)((1,), (64,), (x, y))
    assert (y.get() == -1).all()


@pytest.mark.parametrize("way", ["pipeline", "wait_all"])
def test_an_asynchronous_copy_beside_an_array_is_stopped_where_it_is_asked_for(way):
    head, copy, wait = COPIES[way]
    text = COPIED.replace("COPY", copy.replace("s[t]", "s[t + 1]")).replace("WAIT", wait)
    with pytest.raises(RuntimeError, match=r"thread \(63, 0, 0\), line [56].* writes outside"):
        look(text, head=head)


# ---- what a copy reads ---------------------------------------------------------------------------

OVERWRITTEN = (
    "what this asynchronous copy reads was overwritten before the thread waited for the copy"
)
WRITES = {
    "its thread": "x[i] = -1;",
    "a part of it": "((char *)x)[4 * i + 2] = 77;",
    "an atomic function": "atomicAdd(&x[i], 9.f);",
    "memset": "memset(x + i, 1, 4);",
    "another thread behind a barrier": "__syncthreads(); x[i ^ 1] = -1;",
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("writes", WRITES)
def test_a_write_to_what_a_copy_still_reads(writes, way):
    head, copy, wait = COPIES[way]
    text = COPIED.replace("COPY", copy).replace("WAIT", "WRITE\n" + wait)
    more = {"head": head, "parameters": "float *x, float *y"}
    both = text.replace("WRITE", WRITES[writes])
    seen = look(both, **more).races
    races = {(r.kind, r.array, r.first.kind, r.second.line) for r in seen if r.kind != "race"}
    line = head.count("\n") + 6 + (way != "pipeline" and way != "groups")
    assert races == {("unwaited", "x", "copy", line)}
    text = next(str(r) for r in seen if r.kind != "race")
    assert "is overwritten before the copy that reads it is waited for: thread" in text
    assert "copies from it in line" in text
    # Without an x-ray, the values are what is seen.
    with pytest.raises(RuntimeError, match=rf"line {line - 1}.*: {OVERWRITTEN}"):
        args = (cp.arange(128, dtype="f4"), cp.zeros(128, "f4"))
        kernel(both, **more)((2,), (64,), args)


def test_a_write_behind_the_wait_needs_a_barrier_if_it_is_another_threads():
    copy, wait = COPIES["pipeline"][1:]
    text = COPIED.replace("COPY", copy).replace("WAIT", wait + " WRITE")
    more = {"head": PIPELINE, "parameters": "float *x, float *y"}
    for write, races in {
        "x[i] = -1;": set(),
        "__syncthreads(); x[i ^ 1] = -1;": set(),
        "x[i ^ 1] = -1;": {("race", "x", 4, 5)},
    }.items():
        assert found(text.replace("WRITE", write), **more) == races


def test_a_write_of_the_same_value_and_one_through_a_cast():
    text = COPIED.replace("COPY", COPIES["pipeline"][1]).replace(
        "WAIT", "WRITE __pipeline_wait_prior(0);"
    )
    same = text.replace("WRITE", "x[i] = i;")
    assert found(same, head=PIPELINE, parameters="float *x, float *y") == {("unwaited", "x", 4, 5)}
    cast = text.replace("WRITE", "((float *)x)[i] = 3;")
    assert found(cast, head=PIPELINE) == {("unwaited", "x", 4, 5)}


def test_a_copy_in_each_turn_of_a_loop_reads_what_was_written_in_the_last():
    copy, wait = COPIES["pipeline"][1:]
    text = f"""__shared__ float s[64];
for (int k = 0; k < 3; k++) {{
{copy} {wait} __syncthreads();
y[i] += s[63 - t]; __syncthreads();
x[i] = y[i]; }}"""
    assert not look(text, head=PIPELINE, parameters="float *x, float *y").races


def test_two_copies_to_one_place_are_no_writes_of_the_same_value():
    """What they bring is not there yet, so that nobody knows whether it is the same."""
    text = """__shared__ float s[96]; auto b = cg::this_thread_block();
cg::memcpy_async(b, s, x, 256);
cg::memcpy_async(b, s + 32, x + 64, 256);
cg::wait(b); y[i] = s[t];"""
    assert ("race", "s", 4, 5) in found(text, head=GROUPS)
