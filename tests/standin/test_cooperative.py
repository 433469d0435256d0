"""Cooperative groups, and barriers that span the whole grid."""

import cupy as cp
import numpy as np
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException
from marks import long_but

RNG = np.random.default_rng(22)
HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""


def kernel(body, parameters, cooperative=True):
    source = f'{HEAD}extern "C" __global__ void k({parameters}) {{\n{body}\n}}'
    return cp.RawKernel(source, "k", enable_cooperative_groups=cooperative)


DIFFUSE = """
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < steps; ++step) {
        double left = i > 0 && i < n ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
        grid.sync();
        if (i < n) x[i] = 0.5 * x[i] + 0.3 * left + 0.2 * right;
        grid.sync();
    }"""


@pytest.mark.parametrize("blocks, threads, n", [(1, 5, 5), (3, 40, 111), (7, 33, 231)])
def test_steps_of_a_whole_grid(blocks, threads, n):
    x = RNG.random(n)
    device = cp.asarray(x)
    kernel(DIFFUSE, "double *x, int n, int steps")((blocks,), (threads,), (device, n, 6))
    for _ in range(6):
        padded = np.pad(x, 1)
        x = 0.5 * x + 0.3 * padded[:-2] + 0.2 * padded[2:]
    np.testing.assert_allclose(device.get(), x, rtol=1e-14)


def test_without_the_barrier_the_result_is_wrong():
    x = RNG.random(111)
    good, bad = cp.asarray(x), cp.asarray(x)
    parameters = "double *x, int n, int steps"
    kernel(DIFFUSE, parameters)((3,), (40,), (good, 111, 6))
    kernel(DIFFUSE.replace("grid.sync();", "cg::this_thread_block().sync();"), parameters)(
        (3,), (40,), (bad, 111, 6)
    )
    assert not np.allclose(good.get(), bad.get())


def test_each_block_keeps_its_own_shared_memory():
    """While other blocks run, a block's shared memory, static and dynamic, is put aside."""
    body = """
    __shared__ int s[40];
    extern __shared__ int d[];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, i = grid.thread_rank();
    s[t] = i;
    d[t] = -2 * i;
    for (int k = 0; k < 3; ++k) grid.sync();
    out[i] = s[39 - t] + d[39 - t];"""
    out = cp.zeros(240, "i4")
    kernel(body, "int *out")((3, 2), (40,), (out,), shared_mem=160)
    np.testing.assert_array_equal(out.get(), -np.arange(240).reshape(6, 40)[:, ::-1].ravel())


def test_ranks_and_sizes():
    body = """
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    long long *o = out + 8 * grid.thread_rank();
    o[0] = grid.thread_rank(); o[1] = grid.size(); o[2] = block.thread_rank(); o[3] = block.size();
    o[4] = tile.thread_rank(); o[5] = tile.size(); o[6] = tile.meta_group_rank();
    o[7] = 100 * block.group_index().y + 10 * block.thread_index().z + grid.is_valid();"""
    out = cp.zeros((2 * 3 * 24, 8), "i8")
    kernel(body, "long long *out")((2, 3), (4, 3, 2), (out,))
    rank, local = np.arange(144), np.arange(144) % 24
    expected = [rank, 144 + 0 * rank, local, 24 + 0 * rank, local % 8, 8 + 0 * rank, local // 8]
    expected.append(100 * (rank // 48) + 10 * (local // 12) + 1)
    np.testing.assert_array_equal(out.get(), np.stack(expected, axis=1))


def test_a_tile_of_a_tile_is_counted_in_that():
    body = """
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<4> small = cg::tiled_partition<4>(warp);
    auto other = cg::tiled_partition<8>(block);
    int *o = out + 5 * threadIdx.x;
    o[0] = small.meta_group_rank(), o[1] = small.meta_group_size(), o[2] = small.thread_rank();
    o[3] = other.meta_group_rank(), o[4] = other.meta_group_size();"""
    out, t = cp.zeros((70, 5), "i4"), np.arange(70)
    kernel(body, "int *out", cooperative=False)((1,), (70,), (out,))
    expected = [t % 32 // 4, 8 + 0 * t, t % 4, t // 8, 9 + 0 * t]
    np.testing.assert_array_equal(out.get(), np.stack(expected, axis=1))


@pytest.mark.parametrize(
    "text",
    [
        "cg::thread_block b; b.sync();",
        "cg::grid_group g; out[0] = g.size();",
        "auto t = cg::tiled_partition<8>(cg::tiled_partition<4>(cg::this_thread_block()));",
        "auto t = cg::tiled_partition<4>(cg::coalesced_threads());",
        "out[0] = __globaltimer();",
    ],
)
def test_groups_that_cuda_does_not_make(text, only_the_standin):
    k = kernel(text, "int *out", cooperative=False)
    assert not nvrtc.compile(k.code).accepted
    with pytest.raises(CompileException):
        k.compile()


@pytest.mark.parametrize("size", long_but([4], [32, 16, 4, 1]))
def test_tiles(size):
    body = f"""
    auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());
    int t = threadIdx.x;
    float v = x[t];
    for (int gap = tile.size() / 2; gap > 0; gap /= 2) v += tile.shfl_down(v, gap);
    out[t] = tile.shfl(v, 0);
    out[96 + t] = cg::reduce(tile, x[t], cg::greater<float>());
    out[192 + t] = tile.shfl_xor(x[t], {size} / 2) + tile.shfl_up(x[t], 1);
    out[288 + t] = tile.ballot(x[t] > 0.5f) + 0.5f * tile.any(x[t] > 0.9f);
    out[288 + t] += 0.25f * tile.all(x[t] > 0.1f);
    tile.sync();"""
    x, out = RNG.random(96).astype("f4"), cp.zeros((4, 96), "f4")
    kernel(body, "const float *x, float *out", cooperative=False)((1,), (96,), (cp.asarray(x), out))
    tiles, lane = x.reshape(-1, size), np.arange(size)
    bits = ((tiles > 0.5) * 2.0**lane).sum(axis=1)
    votes = bits + 0.5 * (tiles > 0.9).any(axis=1) + 0.25 * (tiles > 0.1).all(axis=1)
    shifted = tiles[:, lane ^ (size // 2)] + tiles[:, np.maximum(lane - 1, 0)]
    got = out.get().reshape(4, -1, size)
    np.testing.assert_allclose(got[0], np.repeat(tiles.sum(axis=1)[:, None], size, 1), rtol=1e-5)
    np.testing.assert_array_equal(got[1], np.repeat(tiles.max(axis=1)[:, None], size, 1))
    np.testing.assert_allclose(got[2], shifted, rtol=1e-6)
    np.testing.assert_array_equal(got[3], np.repeat(votes.astype("f4")[:, None], size, 1))


def test_a_grid_barrier_needs_a_cooperative_launch():
    parameters = "double *x, int n, int steps"
    plain = kernel(DIFFUSE, parameters, cooperative=False)
    with pytest.raises(RuntimeError, match="line .*enable_cooperative_groups=True"):
        plain((1,), (8,), (cp.zeros(8), 8, 1))
    kernel(DIFFUSE, parameters)((1,), (8,), (cp.zeros(8), 8, 1))


def test_a_grid_barrier_that_some_threads_skip():
    body = "if (cg::this_grid().thread_rank() != 13)\ncg::this_grid().sync();"
    with pytest.raises(
        RuntimeError, match="wait at the grid's barrier.*have returned|wait at the grid"
    ):
        kernel(body, "")((3,), (8,), ())


def test_too_many_blocks_for_a_cooperative_launch():
    """As CuPy does: a grid of one axis is shortened with a warning, another one is refused."""
    properties = cp.cuda.runtime.getDeviceProperties(0)
    most = properties["multiProcessorCount"] * (properties["maxThreadsPerMultiProcessor"] // 512)
    k = kernel("if (threadIdx.x == 0) atomicAdd(c, 1);", "int *c")
    cell = cp.zeros(1, "i4")
    with pytest.warns(UserWarning, match=f"will be reduced from {most + 1} to {most}, as"):
        k((most + 1,), (512,), (cell,))
    assert cell.get()[0] == most
    with pytest.raises(ValueError, match=rf"\({most} \* 2 \* 1\) exceeds the limit \({most}\)"):
        k((most, 2), (512,), (cell,))


SPIN = {
    "volatile": "while (*(volatile unsigned *)counter < goal);",
    "atomic": "while (atomicAdd(counter, 0) < goal) {}",
    "nanosleep": "for (;;) { if (*(volatile unsigned *)counter >= goal) break; __nanosleep(9); }",
    "do": "do { __threadfence(); } while (*(volatile unsigned *)counter < goal);",
}


@pytest.mark.parametrize("spin", SPIN)
def test_a_barrier_written_by_hand(spin):
    """One thread of each block counts itself in and waits for the others."""
    source = f"""
extern "C" __global__ void k(unsigned *counter, long long *x, int steps) {{
    __shared__ long long seen;
    for (int step = 1; step <= steps; ++step) {{
        if (threadIdx.x == 0) x[blockIdx.x] += step * (blockIdx.x + 1);
        __syncthreads();
        if (threadIdx.x == 0) {{
            unsigned goal = gridDim.x * (2 * step - 1);
            __threadfence();
            atomicAdd(counter, 1u);
            {SPIN[spin]}
            seen = x[(blockIdx.x + 1) % gridDim.x];
            goal += gridDim.x;
            __threadfence();
            atomicAdd(counter, 1u);
            {SPIN[spin]}
            x[blockIdx.x] += seen;
        }}
        __syncthreads();
    }}
}}"""
    counter, x = cp.zeros(1, "u4"), cp.zeros(5, "i8")
    cp.RawKernel(source, "k")((5,), (33,), (counter, x, 7))
    expected = np.zeros(5, "i8")
    for step in range(1, 8):
        expected += step * np.arange(1, 6)
        expected = expected + np.roll(expected, -1)
    np.testing.assert_array_equal(x.get(), expected)
    assert counter.get()[0] == 5 * 2 * 7


WITHOUT_ITS_HEADER = {
    "reduce.h": "x[0] = cg::reduce(tile, x[1], cg::plus<float>());",
    "scan.h": "x[0] = cg::inclusive_scan(tile, x[1]);",
    "memcpy_async.h": "cg::memcpy_async(cg::this_thread_block(), x, x + 8, 4);",
}


@pytest.mark.parametrize("header", WITHOUT_ITS_HEADER)
def test_what_a_header_of_its_own_brings_is_not_there_without(header):
    tile = "auto tile = cg::tiled_partition<32>(cg::this_thread_block());"
    body = f"{tile} {WITHOUT_ITS_HEADER[header]}"
    source = f'extern "C" __global__ void k(float *x) {{ {body} }}'
    start = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    with pytest.raises(cp.cuda.compiler.CompileException, match="is not a member of|has no member"):
        cp.RawKernel(start + source, "k").compile()
    cp.RawKernel(f"#include <cooperative_groups/{header}>\n" + start + source, "k").compile()


def test_the_left_one_is_the_second_operand():
    """As in CUDA's headers, which shows where an operation takes the nearest number there is."""
    scan = "#include <cooperative_groups/scan.h>\n"
    body = """
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    auto nearest = [](int own, int left) { return own ? own : left; };
    int i = threadIdx.x;
    x[8 + i] = cg::inclusive_scan(tile, x[i], nearest);
    x[16 + i] = cg::exclusive_scan(tile, x[i], nearest);
    if (i < 5) x[24 + i] = cg::reduce(cg::coalesced_threads(), x[i], nearest);"""
    x = cp.zeros(32, "i")
    x[:8] = cp.array([1, 0, 0, 4, 0, 6, 0, 0])
    k = kernel(body, "int *x", cooperative=False)
    cp.RawKernel(scan + k.code, "k")((1,), (8,), (x,))
    assert x[8:16].tolist() == [1, 1, 1, 4, 4, 6, 6, 6]
    assert x[16:24].tolist() == [0, 1, 1, 1, 4, 4, 6, 6]
    assert x[24:29].tolist() == [4] * 5
