"""Scopes of atomic functions and fences: what is atomic between the threads of a block alone.

The rule is that of CUDA's memory model: two atomic operations at one word race, as plain ones do,
unless the scope of each includes the thread of the other.
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


def found(text, head="", blocks=2):
    """(array, kinds) of each finding; 64 threads a block."""
    source = f"""#include <cuda/atomic>
#define REF(scope) cuda::atomic_ref<int, cuda::thread_scope_##scope>
{head}
extern "C" __global__ void k(int *y) {{
    int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t;
    y[i + 512] = 0;
{text}
}}"""
    seen = helpers.xray(cp.RawKernel(source, "k"), (blocks,), (64,), (cp.zeros(1024, "i4"),))
    assert not any(r.harmless for r in seen.races)
    return {(r.array, *sorted((r.first.kind, r.second.kind))) for r in seen.races}


ATOMIC = ("y", "atomic", "atomic")


@pytest.mark.parametrize(
    ("text", "races"),
    [
        ("REF(block)(y[0]).fetch_add(1);", {ATOMIC}),
        ("REF(block)(y[b]).fetch_add(1);", set()),
        ("REF(device)(y[0]).fetch_add(1);", set()),
        ("REF(system)(y[0]).fetch_add(1);", set()),
        ("REF(thread)(y[b]).fetch_add(1);", {ATOMIC}),
        ("REF(thread)(y[i]).fetch_add(1);", set()),
        ("atomicAdd_block(y, 1);", {ATOMIC}),
        ("atomicAdd_block(y + b, 1);", set()),
        ("atomicAdd_system(y, 1);", set()),
        ("atomicCAS_block(y, 0, 1);", {ATOMIC}),
        ("atomicCAS(y, 0, 1);", set()),
        ("__shared__ int s; if (!t) s = 0;\n__syncthreads(); atomicMax_block(&s, t);", set()),
        # Of two scopes the narrower one counts, whoever comes first.
        ("if (b) atomicAdd(y, 1); else atomicAdd_block(y, 1);", {ATOMIC}),
        ("if (b) atomicAdd_block(y, 1); else atomicAdd(y, 1);", {ATOMIC}),
        ("if (!b) atomicAdd_block(y, 1);\natomicAdd(y, 1);", {ATOMIC}),
        ("if (!b && t < 32) atomicAdd_block(y, 1);\nif (b || t >= 32) atomicAdd(y, 1);", {ATOMIC}),
        ("if (!b) atomicAdd_block(y, 1);", set()),
    ],
)  # fmt: skip
def test_an_atomic_function_is_one_between_the_threads_of_its_scope(text, races):
    assert found(text) == races


@pytest.mark.parametrize(
    "scope, races", [("block", {("n", "atomic", "atomic")}), ("device", set())]
)
def test_an_atomic_variable(scope, races):
    head = f"__device__ cuda::atomic<int, cuda::thread_scope_{scope}> n;"
    assert found("y[i] = n++;", head) == races
    inside = f"__shared__ cuda::atomic<int, cuda::thread_scope_{scope}> n;\nif (!t) n = 0;"
    assert not found(inside + "\n__syncthreads(); y[i] = n++;", blocks=1)


DATA = ("y", "load", "store")
BETWEEN_BLOCKS = """REF(SCOPE) flag(y[900]);
if (!t && !b) { y[1] = 5; flag.store(1, cuda::memory_order_release); }
if (!t && b) { while (!flag.load(cuda::memory_order_acquire)); y[2] = y[1]; }"""
IN_A_BLOCK = """REF(SCOPE) flag(y[900 + b]); int *mine = y + 64 * b;
if (t == 0) { mine[1] = 5; flag.store(1, cuda::memory_order_release); }
if (t == 40) { while (!flag.load(cuda::memory_order_acquire)); mine[2] = mine[1]; }"""


@pytest.mark.parametrize(
    ("text", "scope", "races"),
    [
        (BETWEEN_BLOCKS, "device", set()),
        (BETWEEN_BLOCKS, "block", {ATOMIC, DATA}),
        (IN_A_BLOCK, "device", set()),
        (IN_A_BLOCK, "block", set()),
        (IN_A_BLOCK, "thread", {ATOMIC, DATA}),
    ],
)
def test_a_flag_orders_what_its_scope_reaches(text, scope, races):
    assert found(text.replace("SCOPE", scope)) == races


TO_ANOTHER = """REF(device) flag(y[900]), other(y[901]);
if (!t && !b) { y[1] = 5; SET }
if (!t && b) { WAIT y[2] = y[1]; }"""
RELAXED = "while (!flag.load(cuda::memory_order_relaxed)); "
VOLATILE = "while (!*(volatile int *)(y + 900)); "


@pytest.mark.parametrize(
    ("sets", "waits", "races"),
    [
        ("flag.exchange(1, cuda::memory_order_release);", "", set()),
        ("flag.exchange(1, cuda::memory_order_acquire);", "", {DATA}),
        ("flag.exchange(1);", "", set()),
        # An order is no fence: it holds at its own word, and in one direction.
        ("other.store(1); flag.store(1, cuda::memory_order_relaxed);", "", {DATA}),
        ("other.load(); flag.store(1, cuda::memory_order_relaxed);", "", {DATA}),
        ("flag.store(1); y[1] = 6;", "", {DATA}),
        ("flag.store(1);", RELAXED + "other.store(1);", {DATA}),
        ("flag.store(1);", RELAXED + "other.load();", {DATA}),
        ("flag.store(1);", "while (!flag.fetch_add(0, cuda::memory_order_release));", {DATA}),
        ("flag.store(1);", "while (!flag.fetch_add(0, cuda::memory_order_acquire));", set()),
        ("flag.store(1);", VOLATILE + "__threadfence();", set()),
        ("flag.store(1);", VOLATILE + "__threadfence_block();", {DATA}),
        ("flag.store(1);", VOLATILE + "__threadfence_block(); __threadfence();", set()),
    ],
)  # fmt: skip
def test_an_order_holds_at_its_own_word(sets, waits, races):
    waits = waits or "while (!flag.load(cuda::memory_order_acquire));"
    assert found(TO_ANOTHER.replace("SET", sets).replace("WAIT", waits)) == races


@pytest.mark.parametrize("scope, races", [("device", set()), ("block", {DATA}), ("thread", {DATA})])
def test_a_fence_has_a_scope_too(scope, races):
    text = """REF(device) flag(y[900]);
if (!t && !b) { y[1] = 5; FENCE flag.store(1, cuda::memory_order_relaxed); }
if (!t && b) { while (!flag.load(cuda::memory_order_relaxed)); FENCE y[2] = y[1]; }"""
    fence = f"cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_{scope});"
    assert found(text.replace("FENCE", fence)) == races


LOCK = """REF(device) lock(y[900]);
if (!t) { while (lock.exchange(1, cuda::memory_order_acquire)); y[0] += 1; UNLOCK }"""


@pytest.mark.parametrize(
    ("unlock", "races"),
    [
        ("lock.store(0, cuda::memory_order_release);", False),
        ("lock.exchange(0, cuda::memory_order_release);", False),
        ("lock.store(0);", False),
        ("__threadfence(); lock.store(0, cuda::memory_order_relaxed);", False),
        ("lock.store(0, cuda::memory_order_relaxed);", True),
        ("lock.exchange(0, cuda::memory_order_acquire);", True),  # orders what comes behind it
    ],
)
def test_a_lock_is_given_back_by_a_release(unlock, races):
    assert bool(found(LOCK.replace("UNLOCK", unlock))) == races


@pytest.mark.parametrize(
    ("text", "races"),
    [
        ("y[1] = 5; __threadfence(); atomicExch(flag, 1);", False),
        ("__threadfence(); y[1] = 5; atomicExch(flag, 1);", True),
        ("y[2] = 5; __threadfence(); y[1] = 5; atomicExch(flag, 1);", True),
        ("__threadfence(); y[1] = 5; __threadfence(); atomicExch(flag, 1);", False),
    ],
)
def test_a_fence_orders_what_stands_before_it(text, races):
    both = f"""int *flag = &y[900];
if (!t && !b) {{ {text} }}
if (!t && b) {{ while (!atomicAdd(flag, 0)); __threadfence(); y[3] = y[1]; }}"""
    assert found(both) == ({DATA} if races else set())


@pytest.mark.parametrize(
    ("between", "races"),
    [
        ("__syncwarp(); if (!t) FENCE", False),
        ("FENCE __syncwarp();", False),  # a fence of each, as before __syncthreads()
        ("__syncwarp(); if (!t) FENCE __syncwarp();", False),
        ("if (!t) FENCE __syncwarp();", True),  # it orders what its own thread did
    ],
)
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_fence_before_a_barrier_of_the_warp_orders_nothing_of_other_lanes(blocks, between, races):
    me, other, fence = "!b && t < 32", "b && t < 32", "__threadfence();"
    if blocks == 1:
        me, other, fence = "t < 32", "t >= 32", "__threadfence_block();"
    text = f"""int *flag = &y[900];
if ({me}) {{ y[t] = 5; {between} if (!t) atomicExch(flag, 1); }}
if ({other}) {{ while (!atomicAdd(flag, 0)); FENCE y[t + 200] = y[t % 32]; }}"""
    assert found(text.replace("FENCE", fence), blocks=blocks) == ({DATA} if races else set())


@pytest.mark.parametrize(
    ("order", "races"),
    [("acq_rel", False), ("seq_cst", False), ("release", True), ("acquire", True)],
)
def test_the_last_block_needs_both_halves_of_the_order(order, races):
    text = f"""__shared__ bool last; y[i] = i; __syncthreads();
if (!t) last = REF(device)(y[900]).fetch_add(1, cuda::memory_order_{order}) == 1;
__syncthreads(); if (last) y[i + 256] = y[127 - i];"""
    assert found(text) == ({DATA} if races else set())


def test_who_only_reads_an_atomic_variable_races_with_no_reader_and_releases_nothing():
    assert not found("int v = REF(device)(y[700]).load() + y[700];\nif (v) y[i] = v;")
    assert found("if (b) y[i] = REF(device)(y[700]).load(); else if (!t) y[700] = 1;") == {
        ("y", "atomic", "store")
    }
    relay = """REF(device) flag(y[900]), other(y[901]);
if (!t && !b) { y[1] = 5; __threadfence(); HAND_OVER }
if (t || !b) return;
while (!other.load(cuda::memory_order_relaxed)); TAKE __threadfence(); y[2] = y[1];"""
    at_once = relay.replace("TAKE", "").replace("HAND_OVER", "other.store(1);")
    assert not found(at_once)
    # A look at the word that the other thread looks at, too, hands nothing over.
    looked = relay.replace("TAKE", "flag.load();")
    looked = looked.replace(
        "y[1] = 5; __threadfence(); HAND_OVER", "other.store(1); y[1] = 5; HAND"
    )
    assert found(looked.replace("HAND", "__threadfence(); flag.load();")) == {DATA}
