"""Which lanes of a warp are together in a branch: __activemask, coalesced and other groups."""

import cupy as cp
import numpy as np
import pytest
from marks import long_but

RNG = np.random.default_rng(40)
HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
"""


def run(body, *arrays, parameters, grid=1, block=32, before=""):
    source = f'{before}extern "C" __global__ void k({parameters}) {{\n{body}\n}}'
    cp.RawKernel(source, "k")((grid,), (block,), arrays)


def mask_of(lanes):
    return int(sum(1 << int(lane) for lane in lanes))


def test_lanes_of_each_branch():
    """Both sides of a branch, with another one inside, in a block whose last warp is not full."""
    out = cp.zeros((45, 2), "u4")
    body = """
    int t = threadIdx.x;
    if (t % 3 == 0) {
        out[2 * t] = __activemask();
        if (t % 2 == 0) out[2 * t + 1] = __activemask();
    } else {
        out[2 * t] = __activemask();
    }"""
    run(body, out, parameters="unsigned *out", block=45)
    t = np.arange(45)
    expected = np.zeros((45, 2), "u4")
    for i in t:
        warp = t[t // 32 == i // 32]
        side = warp[(warp % 3 == 0) == (i % 3 == 0)]
        expected[i, 0] = mask_of(side % 32)
        if i % 6 == 0:
            expected[i, 1] = mask_of(side[side % 2 == 0] % 32)
    np.testing.assert_array_equal(out.get(), expected)


def test_lanes_that_have_left_and_lanes_that_wait():
    """A lane that has returned, or waits at the block's barrier, is not there."""
    out = cp.zeros(64, "u4")
    body = """
    int t = threadIdx.x;
    if (t == 5 || t == 40) return;
    if (t % 2) __syncwarp(t < 32 ? 0xaaaaaa8a : 0xaaaaaaaa);
    else out[t] = __activemask();
    out[t] += 0;"""
    run(body, out, parameters="unsigned *out", block=64)
    expected = np.zeros(64, "u4")
    expected[0:32:2] = mask_of(range(0, 32, 2))
    expected[32:64:2] = mask_of(lane for lane in range(0, 32, 2) if lane != 8)
    expected[40] = 0
    np.testing.assert_array_equal(out.get(), expected)


def test_loops_of_different_lengths():
    """In its last round of the loop a lane sees those that go on as well."""
    out = cp.zeros(32, "u4")
    body = "for (int i = 0; i <= (int)threadIdx.x % 4; ++i) out[threadIdx.x] = __activemask();"
    run(body, out, parameters="unsigned *out")
    lanes = np.arange(32)
    expected = [mask_of(lanes[lanes % 4 >= lane % 4]) for lane in lanes]
    assert out.get().tolist() == expected


def test_lanes_that_skip_a_branch_wait_for_those_in_it():
    """One after another two branches, and a loop whose turns begin together."""
    out = cp.zeros((3, 32), "u4")
    body = """
    int t = threadIdx.x;
    if (t % 3 == 1) {
        out[t] = __activemask();
    }
    if (t > 20) {
        out[32 + t] = __activemask();
    }
    for (int i = 0; i < 3; ++i) {
        unsigned here = __activemask();
        if (t % 2) here &= __popc(__activemask()) == 16 ? ~0u : 0;
        out[64 + t] = here;
    }"""
    run(body, out, parameters="unsigned *out")
    lanes, got = np.arange(32), out.get()
    assert got[0].tolist() == [mask_of(lanes[lanes % 3 == 1]) * (i % 3 == 1) for i in lanes]
    assert got[1].tolist() == [mask_of(lanes[lanes > 20]) * (i > 20) for i in lanes]
    assert (got[2] == 0xFFFFFFFF).all()


AGGREGATED = """
__device__ int take(int *counter) {
    unsigned mask = __activemask();
    int lane = threadIdx.x % 32, leader = __ffs(mask) - 1, first;
    if (lane == leader) first = atomicAdd(counter, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    return first + __popc(mask & ((1u << lane) - 1));
}
"""
COALESCED = """
__device__ int take(int *counter) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first;
    if (group.thread_rank() == 0) first = atomicAdd(counter, group.size());
    return group.shfl(first, 0) + group.thread_rank();
}
"""


@pytest.mark.parametrize("take", [AGGREGATED, HEAD + COALESCED], ids=["mask", "coalesced"])
@pytest.mark.parametrize("block", long_but([70], [32, 70]))
def test_a_filter_with_one_atomic_a_warp(take, block):
    x, calls = RNG.standard_normal(5 * block).astype("f4"), cp.zeros(2, "i4")
    kept = cp.zeros(x.size, "f4")
    body = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0.25f) kept[take(counter)] = x[i];"""
    run(body, cp.asarray(x), kept, calls, parameters="const float *x, float *kept, int *counter",
        grid=5, block=block, before=take)  # fmt: skip
    wanted = x[x > 0.25]
    assert calls.get()[0] == wanted.size
    np.testing.assert_array_equal(np.sort(kept.get()[: wanted.size]), np.sort(wanted))
    assert not kept.get()[wanted.size :].any()


def test_what_a_coalesced_group_offers():
    """Lanes 1, 4, 7, ...: ranks, shuffles by rank, votes, matches, a sum and both scans."""
    x = RNG.integers(1, 50, 32).astype("i4")
    out = cp.zeros((32, 12), "i4")
    body = """
    int t = threadIdx.x;
    if (t % 3 == 1) {
        auto g = cg::coalesced_threads();
        int v = x[t], *o = out + 12 * t, same;
        o[0] = g.thread_rank(); o[1] = g.size();
        o[2] = g.shfl(v, 2); o[3] = g.shfl_up(v, 2); o[4] = g.shfl_down(v, 3);
        o[5] = g.ballot(v % 2); o[6] = g.any(v == 1000) + 2 * g.all(v < 1000);
        o[7] = g.match_any(v % 3); o[8] = g.match_all(7, same) + (same << 16);
        o[9] = cg::reduce(g, v, cg::plus<int>());
        o[10] = cg::inclusive_scan(g, v); o[11] = cg::exclusive_scan(g, v, cg::plus<int>());
        g.sync();
    }"""
    run(body, cp.asarray(x), out, parameters="const int *x, int *out", before=HEAD)
    lanes = np.arange(1, 32, 3)
    v, n = x[lanes], lanes.size
    expected = np.zeros((32, 12), "i4")
    for rank, lane in enumerate(lanes):
        expected[lane] = [
            rank, n, v[2], v[rank - 2] if rank >= 2 else v[rank],
            v[rank + 3] if rank + 3 < n else v[rank], mask_of(np.flatnonzero(v % 2)), 2,
            mask_of(np.flatnonzero(v % 3 == v[rank] % 3)), (1 << n) - 1 + (1 << 16),
            v.sum(), v[: rank + 1].sum(), v[:rank].sum(),
        ]  # fmt: skip
    np.testing.assert_array_equal(out.get(), expected)


def test_partitions():
    out = cp.zeros((45, 10), "i4")
    body = """
    int t = threadIdx.x, *o = out + 10 * t;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_group eight = cg::tiled_partition(block, 8);
    o[0] = eight.size(); o[1] = eight.thread_rank();
    if (t < 32) {
        auto label = cg::labeled_partition(warp, t % 5);
        o[2] = label.size(); o[3] = label.thread_rank();
        auto half = cg::binary_partition(cg::coalesced_threads(), t < 11);
        o[4] = half.size(); o[5] = half.thread_rank();
        auto flag = cg::labeled_partition(warp, t < 11), whole = cg::binary_partition(warp, t < 99);
        o[6] = 10 * label.meta_group_rank() + label.meta_group_size();
        o[7] = 10 * half.meta_group_rank() + half.meta_group_size();
        o[8] = 10 * flag.meta_group_rank() + flag.meta_group_size();
        o[9] = 10 * whole.meta_group_rank() + whole.meta_group_size();
    }"""
    run(body, out, parameters="int *out", block=45, before=HEAD)
    got = out.get()
    t = np.arange(45)
    np.testing.assert_array_equal(got[:, 0], np.where(t < 40, 8, 5))
    np.testing.assert_array_equal(got[:, 1], t % 8)
    t = t[:32]
    np.testing.assert_array_equal(got[:32, 2], np.bincount(t % 5)[t % 5])
    np.testing.assert_array_equal(got[:32, 3], t // 5)
    np.testing.assert_array_equal(got[:32, 4], np.where(t < 11, 11, 21))
    np.testing.assert_array_equal(got[:32, 5], np.where(t < 11, t, t - 11))
    np.testing.assert_array_equal(got[:32, 6], 10 * (t % 5) + 5)
    for column in (7, 8):
        np.testing.assert_array_equal(got[:32, column], 10 * (t < 11) + 2)
    assert (got[:32, 9] == 1).all()


def test_a_group_whose_kind_is_a_parameter():
    """thread_group takes a block, a tile or a part of one."""
    before = (
        HEAD
        + """
__device__ int sum(cg::thread_group g, int *s, int value) {
    int rank = g.thread_rank();
    for (int live = g.size() / 2; live > 0; live /= 2) {
        s[rank] = value;
        g.sync();
        if (rank < live) value += s[rank + live];
        g.sync();
    }
    return value;
}
"""
    )
    x, out = RNG.integers(0, 99, 64).astype("i4"), cp.zeros((2, 64), "i4")
    body = """
    __shared__ int s[64];
    int t = threadIdx.x;
    auto block = cg::this_thread_block();
    out[t] = sum(block, s, x[t]);
    out[64 + t] = sum(cg::tiled_partition<16>(block), s + t / 16 * 16, x[t]);"""
    run(body, cp.asarray(x), out, parameters="const int *x, int *out", block=64, before=before)
    assert out.get()[0, 0] == x.sum()
    np.testing.assert_array_equal(out.get()[1, ::16], x.reshape(4, 16).sum(1))
