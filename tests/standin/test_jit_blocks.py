"""``cupyx.jit``: blocks, shared memory, warps, atomics, cooperative groups, launches."""

import warnings

import cupy as cp
import numpy as np
import pytest
from jit_lines import line_of

from gpuless.engine.errors import KernelError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from cupyx import jit

pytestmark = pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental")


def test_a_transposition_in_shared_memory():
    @jit.rawkernel()
    def kernel(a, b):
        tile = jit.shared_memory(np.float32, 8 * 9, alignment=16)
        x, y = jit.threadIdx.x, jit.threadIdx.y
        tile[y * 9 + x] = a[jit.blockIdx.y * 8 + y, jit.blockIdx.x * 8 + x]
        jit.syncthreads()
        b[jit.blockIdx.x * 8 + y, jit.blockIdx.y * 8 + x] = tile[x * 9 + y]

    a = np.random.default_rng(2).random((16, 24), "f")
    b = cp.zeros((24, 16), "f")
    kernel[(3, 2), (8, 8)](cp.asarray(a), b)
    np.testing.assert_array_equal(b.get(), a.T)


def test_shared_memory_of_the_launch():
    @jit.rawkernel()
    def kernel(a):
        kept = jit.shared_memory(cp.int64, None)
        i = jit.threadIdx.x
        kept[i] = a[i]
        jit.syncthreads()
        rest = kept + 1
        a[i] = rest[6 - i] if i < 7 else kept[0]

    a = cp.arange(8)
    kernel((1,), (8,), (a,), shared_mem=64)
    assert a.get().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    with pytest.raises(KernelError, match="its dynamic shared memory"):
        kernel((1,), (8,), (a,), shared_mem=56)


def test_each_function_has_its_own_shared_memory():
    @jit.rawkernel(device=True)
    def turned(x, i):
        kept = jit.shared_memory(np.int64, 5)
        kept[i] = x
        jit.syncthreads()
        return kept[4 - i]

    @jit.rawkernel()
    def kernel(a):
        kept = jit.shared_memory(np.int64, 5)
        i = jit.threadIdx.x
        kept[i] = a[i] * 10
        other = turned(a[i], i)
        a[i] = other + kept[4 - i]

    a = cp.arange(5)
    kernel[1, 5](a)
    assert a.get().tolist() == [11 * (4 - i) for i in range(5)]


def test_faults_in_shared_memory_and_at_barriers_have_the_line():
    @jit.rawkernel()
    def writes(a):
        kept = jit.shared_memory(np.int32, 4)
        kept[jit.threadIdx.x] = 1  # here: shared

    with pytest.raises(KernelError, match=f"line {line_of('shared')}: writes outside the 16 bytes"):
        writes[1, 5](cp.zeros(1))

    @jit.rawkernel()
    def skips(a):
        if jit.threadIdx.x < 3:
            jit.syncthreads()  # here: barrier

    with pytest.raises(KernelError, match=f"barrier divergence.*line {line_of('barrier')}"):
        skips[1, 5](cp.zeros(1))


@pytest.mark.parametrize(
    "name, oracle",
    [("add", np.add), ("sub", np.subtract), ("min", np.minimum), ("max", np.maximum),
     ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)],
)  # fmt: skip
def test_atomics(name, oracle):
    atomic = getattr(jit, f"atomic_{name}")

    @jit.rawkernel()
    def kernel(bins, index, values):
        i = jit.grid(1)
        atomic(bins, index[i], values[i])

    rng = np.random.default_rng(5)
    index, values = rng.integers(0, 3, 40), rng.integers(0, 1000, 40).astype("i4")
    bins = np.array([12, 555, 9], "i4")
    found = cp.asarray(bins)
    kernel[5, 8](found, cp.asarray(index), cp.asarray(values))
    oracle.at(bins, index, values)
    assert found.get().tolist() == bins.tolist()


def test_atomics_that_answer():
    @jit.rawkernel()
    def kernel(a, table):
        old = jit.atomic_cas(a, (0, 1), 5, 8)
        table[0] = old + jit.atomic_exch(a, (0, 1), 3)
        table[1] = jit.atomic_inc(table, 2, 7)
        jit.atomic_dec(table, 3, 9)

    a, table = cp.array([[1, 5]], "i4"), cp.array([0, 0, 7, 0], "u4")
    with pytest.raises(TypeError, match="Cannot cast from 'int32' to uint32"):
        kernel[1, 1](a, table)
    a = a.astype("u4")
    kernel[1, 1](a, table)
    assert table.get().tolist() == [13, 7, 0, 9] and a.get().tolist() == [[1, 3]]


def test_half_an_atomic(only_the_standin):
    @jit.rawkernel()
    def kernel(a, b):
        jit.atomic_add(a, 0, b[jit.threadIdx.x])

    a = cp.zeros(1, "e")
    kernel[1, 9](a, cp.arange(9, dtype="e"))
    assert a[0] == 36


def test_warps():
    @jit.rawkernel()
    def kernel(a, out):
        lane = jit.laneid()
        v = a[jit.threadIdx.x]
        out[0, lane] = jit.shfl_sync(0xFFFFFFFF, v, 5)
        out[1, lane] = jit.shfl_up_sync(0xFFFFFFFF, v, 3)
        out[2, lane] = jit.shfl_down_sync(0xFFFFFFFF, v, 3, width=8)
        out[3, lane] = jit.shfl_xor_sync(0xFFFFFFFF, v, 6)
        if lane < 16:
            jit.syncwarp(mask=0xFFFF)
        jit.syncwarp()
        out[4, lane] = jit.warpsize

    a = np.random.default_rng(4).random(32)
    out = cp.zeros((5, 32))
    kernel[1, 32](cp.asarray(a), out)
    lane = np.arange(32)
    down = np.where(lane % 8 < 5, np.minimum(lane + 3, 31), lane)
    wanted = [[a[5]] * 32, a[np.where(lane < 3, lane, lane - 3)], a[down], a[lane ^ 6], [32] * 32]
    np.testing.assert_array_equal(out.get(), wanted)


def test_the_xray_sees_races_in_lines_of_python():
    from gpuless.xray import can_xray, xray

    if not can_xray():
        pytest.skip("no compiler for the x-ray")

    @jit.rawkernel()
    def kernel(a):
        kept = jit.shared_memory(np.float32, 32)
        i = jit.threadIdx.x
        kept[i] = a[i]  # here: race
        a[i] = kept[31 - i]

    a = cp.arange(32, dtype="f")
    text = str(xray(kernel, (1,), (32,), (a,)))
    assert f"line {line_of('race')}" in text and "`kept[i] = a[i]" in text
    assert a.get().tolist() == list(range(32))


def test_groups_of_a_block_and_of_the_grid():
    @jit.rawkernel()
    def kernel(a, sums):
        block = jit.cg.this_thread_block()
        grid = jit.cg.this_grid()
        i = grid.thread_rank()
        jit.atomic_add(sums, grid.block_rank(), a[i])
        grid.sync()
        place = block.group_index()
        block.sync()
        a[i] = sums[grid.num_blocks() - 1 - place.x] * 10 + block.thread_rank()

    a, sums = cp.arange(6.0), cp.zeros(2)
    kernel[2, 3](a, sums)
    assert a.get().tolist() == [120, 121, 122, 30, 31, 32]


def test_asynchronous_copies_of_a_group():
    @jit.rawkernel()
    def kernel(a, b, first):
        kept = jit.shared_memory(np.float64, 8, alignment=16)
        block = jit.cg.this_thread_block()
        jit.cg.memcpy_async(block, kept, 0, a, first, 32, aligned_size=16)  # here: copy
        jit.cg.memcpy_async(block, kept, 4, a, 4, 24)
        jit.cg.wait_prior(block, 1)
        i = block.thread_rank()
        b[i] = kept[3 - i]
        jit.cg.wait(block)
        if i < 3:
            b[i] += kept[4 + i]
        jit.cg.sync(block)

    a, b = cp.arange(9.0), cp.zeros(4)
    kernel[1, 4](a, b, 2)
    assert b.get().tolist() == [5 + 4, 4 + 5, 3 + 6, 2]
    with pytest.raises(KernelError, match=f"line {line_of('copy')}: an end of a copy is not align"):
        kernel[1, 4](a, b, 1)


def test_sources_are_kept_by_types():
    @jit.rawkernel()
    def kernel(a):
        a[jit.grid(1)] += 1

    with pytest.warns(UserWarning, match="No codes are cached"):
        assert kernel.cached_codes == {}
    a, b = cp.zeros(3, "i"), cp.zeros(3, "f")
    for array in (a, b, a):
        kernel[1, 3](array)
    assert a.get().tolist() == [2, 2, 2] and b.get().tolist() == [1, 1, 1]
    assert len(kernel.cached_codes) == 2
    with pytest.warns(UserWarning, match="use `.cached_codes`"):
        assert 'extern "C" __global__ void kernel(' in kernel.cached_code
    assert kernel.__name__ == "kernel"


def test_it_is_experimental(monkeypatch):
    with pytest.warns(FutureWarning, match="cupyx.jit.rawkernel is experimental"):
        jit.rawkernel()
    monkeypatch.setattr(cp, "disable_experimental_feature_warning", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.rawkernel()


def test_a_graph_keeps_the_arrays():
    @jit.rawkernel()
    def kernel(a, b):
        b[jit.grid(1)] += a[jit.grid(1)]

    stream, b = cp.cuda.Stream(non_blocking=True), cp.zeros(4)
    with stream:
        stream.begin_capture()
        kernel((1,), (4,), (cp.arange(4.0), b), stream=stream)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch()
    stream.synchronize()
    assert b.get().tolist() == [0, 3, 6, 9]


def test_an_array_of_another_device_is_refused(four_devices):
    @jit.rawkernel()
    def kernel(a):
        a[0] = 1

    with cp.cuda.Device(1):
        a = cp.zeros(1)
        kernel[1, 1](a)
    assert a.get() == 1
    with pytest.raises(RuntimeError, match="is memory of device 1, and the current device is 0"):
        kernel[1, 1](a)


def test_unrolled_loops():
    @jit.rawkernel()
    def kernel(a):
        for i in jit.range(1, 8, 3, unroll=2):
            a[0] += i

    a = cp.zeros(1)
    kernel[1, 1](a)
    assert a[0] == 1 + 4 + 7 and "#pragma unroll(2)\n" in kernel.cached_code
