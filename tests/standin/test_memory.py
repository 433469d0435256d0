"""Memory: guard zones, the pool's books, allocators, pinned memory."""

import gc
import itertools
import re
import time
from concurrent.futures import ThreadPoolExecutor

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.cuda import memory, runtime
from cupy.cuda.runtime import CUDARuntimeError

from gpuless.engine import memory as engine_memory


@pytest.fixture
def pool():
    """A fresh pool as the allocator."""
    fresh = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(fresh.malloc):
        yield fresh
    gc.collect()


def test_the_books_of_the_pool(pool):
    a = cp.zeros(100, np.float32)
    assert (a.nbytes, pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (
        400,
        512,
        512,
        0,
    )
    b = cp.zeros(513, np.uint8)
    assert pool.used_bytes() == 512 + 1024
    view = a[2:]
    del a
    assert pool.used_bytes() == 512 + 1024, "a view keeps its memory"
    del view
    assert (pool.used_bytes(), pool.total_bytes(), pool.free_bytes()) == (1024, 1536, 512)
    assert pool.n_free_blocks() == 1
    c = cp.empty(64)  # 512 bytes: the free block again
    assert (pool.total_bytes(), pool.n_free_blocks()) == (1536, 0)
    del b, c
    pool.free_all_blocks()
    assert (pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (0, 0, 0)


def test_blocks_are_split_and_merged(pool):
    large = pool.malloc(4096)
    del large
    parts = [pool.malloc(1024) for _ in range(3)]
    assert (pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (3072, 4096, 1)
    pool.free_all_blocks()
    assert pool.total_bytes() == 4096, "a part in use keeps its neighbours"
    del parts[1]
    assert pool.n_free_blocks() == 2
    parts.clear()
    assert (pool.used_bytes(), pool.n_free_blocks(), pool.total_bytes()) == (0, 1, 4096)


def test_temporaries_return_to_the_pool(pool):
    a = cp.ones(1000)
    before = pool.used_bytes()
    totals = []
    for _ in range(6):
        b = (a + 1) * 2 - a
        assert float(b.sum()) == 3000
        totals.append(pool.total_bytes())
    assert len(set(totals[2:])) == 1
    del b
    assert pool.used_bytes() == before


def test_a_limit_from_the_environment(monkeypatch):
    for given, bytes_ in (("4096", 4096), ("50%", cp.cuda.runtime.memGetInfo()[1] // 2)):
        monkeypatch.setenv("CUPY_GPU_MEMORY_LIMIT", given)
        pool = cp.cuda.MemoryPool()
        assert pool.get_limit() == bytes_
    monkeypatch.setenv("CUPY_GPU_MEMORY_LIMIT", "4096")
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="limit set to: 4,096 bytes"):
        cp.cuda.MemoryPool().malloc(5000)


def test_limit(pool):
    with pytest.raises(ValueError, match="memory limit size out of range: -1"):
        pool.set_limit(size=-1)
    pool.set_limit(size=2048)
    assert pool.get_limit() == 2048
    kept = cp.zeros(128)
    with pytest.raises(cp.cuda.memory.OutOfMemoryError) as caught:
        cp.zeros(1000)
    assert str(caught.value) == (
        "Out of memory allocating 8,192 bytes (allocated so far: 1,024 bytes, limit set to: 2,048 "
        "bytes)."
    )
    assert kept.sum() == 0


@pytest.mark.parametrize("make", [lambda: cp.ones(7) + 1, lambda: cp.concatenate([cp.ones(7)] * 2)])
def test_results_of_functions_have_fences(make):
    result = make()
    assert isinstance(result._memory, memory.Memory)
    assert result._memory.size == result.nbytes
    assert result.data.ptr % 512 == 0


def test_memory_is_not_reused_while_a_captured_graph_writes_to_it():
    source = cp.arange(4.0)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        doubled = source * 2
        result = doubled + 1
        graph = stream.end_capture()
    del doubled
    gc.collect()
    other = [cp.zeros(4) for _ in range(20)]
    graph.launch()
    assert result.tolist() == [1, 3, 5, 7]
    assert all(float(x.sum()) == 0 for x in other)


def test_no_memory_is_a_null_pointer():
    nothing, out = cp.zeros((0, 3)), cp.zeros(2, "i4")
    assert nothing.data.ptr == cp.cuda.alloc(0).ptr == 0
    is_null = cp.RawKernel('extern "C" __global__ void k(double *p, int *o) { *o = !p; }', "k")
    for i, empty in enumerate((nothing, cp.zeros(4)[4:])):
        is_null((1,), (1,), (empty, out[i:]))
    assert out.tolist() == [1, 0]


def test_memory_pointers():
    a = cp.arange(8, dtype=np.int32)
    pointer = a.data + 8
    assert pointer.ptr == a.data.ptr + 8 and pointer.device == cp.cuda.Device(0)
    b = cp.ndarray((3,), np.int32, pointer)
    assert b.tolist() == [2, 3, 4]
    pointer.memset(0, 4)
    assert a.tolist() == [0, 1, 0, 3, 4, 5, 6, 7]
    a.data.copy_from_device(cp.full(2, 9, np.int32).data, 8)
    assert a[:2].tolist() == [9, 9]
    host = np.array([5], np.int32)
    a.data.copy_from_host(host.ctypes.data, 4)
    (a.data + 28).copy_to_host(host.ctypes.data, 4)
    assert int(a[0]) == 5 and int(host[0]) == 7
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        pointer.memset(0, 100)


def test_without_a_pool():
    pool = cp.get_default_memory_pool()
    cp.cuda.set_allocator(None)
    try:
        before = pool.used_bytes()
        a = cp.ones(100)
        assert pool.used_bytes() == before
        assert float(a.sum()) == 100
    finally:
        cp.cuda.set_allocator(pool.malloc)


def test_there_is_nothing_at_address_0():
    for call in (
        lambda: cp.cuda.runtime.memcpy(0, 0, 5, 1),
        lambda: cp.cuda.alloc(8).copy_from_host(0, 5),
        lambda: cp.cuda.alloc(8).copy_to_host(0, 5),
    ):
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="InvalidValue"):
            call()


def test_pinned_memory():
    pool = cp.get_default_pinned_memory_pool()
    pool.free_all_blocks()
    a = cupyx.zeros_pinned((2, 3), np.float32)
    a[1] = 4
    assert float(cp.asarray(a).sum()) == 12
    assert pool.n_free_blocks() == 0
    del a
    assert pool.n_free_blocks() == 1
    block = cp.cuda.alloc_pinned_memory(16)
    ours = np.frombuffer(block, np.int64)
    ours[:] = 3
    assert np.asarray(block).dtype == np.int8
    assert ours.ctypes.data == block.ptr == int(block)
    assert (block + 4).ptr - block.ptr == 4 and (block + 12 - 4).size() == 8


def test_each_device_has_its_own_books(monkeypatch, pool):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")
    a = cp.zeros(64)
    with cp.cuda.Device(1):
        assert pool.used_bytes() == 0
        b = cp.zeros(64)
        assert pool.used_bytes() == 512
        assert b.device.id == 1
    assert a.device.id == 0


def test_more_memory_than_there_is(monkeypatch, pool):
    """CuPy's error, and the books are as before; the interpreter is never in danger."""
    kept = pool.malloc(5 << 20)
    monkeypatch.setattr(engine_memory, "_available", lambda: engine_memory.RESERVE + (9 << 20))
    for size in (1 << 62, 10 << 20):
        with pytest.raises(cp.cuda.memory.OutOfMemoryError, match=f"allocating {size:,} bytes"):
            pool.malloc(size)
    with pytest.raises(CUDARuntimeError, match="out of memory"):
        cp.cuda.memory.Memory(10 << 20)
    assert (pool.used_bytes(), pool.total_bytes()) == (5 << 20, 5 << 20)
    pool.malloc(8 << 20)
    with pytest.raises(ValueError, match="-5 bytes: it cannot be negative"):
        pool.malloc(-5)
    with pytest.raises(ValueError, match="Negative dimensions"):
        cp.zeros(-3)
    with pytest.raises(ValueError, match="8 bytes before the start of its memory"):
        cp.ndarray(1, memptr=kept - 8)


def test_an_allocation_costs_the_same_beside_many_others():
    def seconds():
        start = time.process_time()
        for _ in range(300):
            cp.empty(10)
        return time.process_time() - start

    alone = min(seconds() for _ in range(5))
    many = [cp.empty(size) for size in range(1, 6000)]
    beside = min(seconds() for _ in range(5))
    many.clear()
    after = min(seconds() for _ in range(5))
    assert max(beside, after) < 3 * alone


class CollectingList(list):
    """A list of free blocks during whose change the garbage collector runs."""

    def __delitem__(self, index):
        gc.collect()
        super().__delitem__(index)


@pytest.fixture
def short_collections():
    """The collector passes over all that is older than the test."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_memory_freed_by_a_garbage_collection_in_the_middle_of_an_allocation(
    short_collections, pool
):
    large = pool.malloc(20 * 512)
    del large
    parts = [pool.malloc(512) for _ in range(20)]
    while parts:  # every other part becomes free, its neighbour waits for the collector
        parts.pop()
        cycle = [parts.pop()]
        cycle.append(cycle)
    del cycle
    pool.n_free_blocks()
    books = pool._here()
    books.free = CollectingList(books.free)
    held = [pool.malloc(512) for _ in range(5)]
    assert pool.used_bytes() == 5 * 512
    held.clear()
    assert (pool.used_bytes(), pool.n_free_blocks(), pool.total_bytes()) == (0, 1, 20 * 512)


def test_memory_freed_by_a_garbage_collection_while_all_of_it_is_listed():
    kept = [cp.zeros(4) for _ in range(2000)]  # so many that the list makes the collector run
    for _ in range(20):
        lost = [cp.zeros(4)]
        lost.append(lost)  # only the collector finds it
        del lost
        assert len(engine_memory.live()) >= len(kept)
        assert engine_memory.holding(kept[0].data.ptr)


def test_copies_in_the_order_of_a_stream():
    """Captured, they are done when the graph is launched, and not before."""
    host, back = np.arange(5, dtype="i4"), np.zeros(5, "i4")
    first, second = memory.alloc(20), memory.alloc(20)
    stream = cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    runtime.memcpyAsync(first.ptr, host.ctypes.data, 20, runtime.memcpyHostToDevice, stream.ptr)
    second.copy_from_async(first, 20, stream)
    second.memset_async(255, 8, stream)
    runtime.memcpyAsync(back.ctypes.data, second.ptr, 20, runtime.memcpyDeviceToHost, stream.ptr)
    graph = stream.end_capture()
    host += 10
    assert back.tolist() == [0] * 5
    graph.launch(stream)
    stream.synchronize()
    assert back.tolist() == [-1, -1, 12, 13, 14]
    first.copy_from(second + 8, 12)
    first.copy_to_host(back.ctypes.data, 20)
    assert back.tolist() == [12, 13, 14, 13, 14]


def test_profile():
    with pytest.warns(UserWarning), pytest.raises(ZeroDivisionError), cp.cuda.profile():
        cp.arange(3) + 1 / 0


def test_what_a_pool_hands_out_and_how_it_shows():
    """As on an H200."""
    memory = cp.cuda.memory
    assert type(cp.cuda.alloc(100).mem) is memory.PooledMemory
    assert type(memory.malloc_managed(100).mem) is memory.ManagedMemory
    pointer = cp.cuda.alloc(100)
    address = re.escape(f"<MemoryPointer {pointer.ptr:#x} device=0 mem=<cupy.cuda.")
    assert re.match(rf"{address}\w+\.PooledMemory object at 0x\w+>>$", repr(pointer))
    pinned = cp.cuda.alloc_pinned_memory(100)
    for text in (repr(pinned), str(pinned)):
        assert re.match(r"<cupy\.cuda\.\w+\.PinnedMemoryPointer object at 0x\w+>$", text)


def test_a_pool_of_managed_memory():
    pool = cp.cuda.MemoryPool(cp.cuda.malloc_managed)
    with cp.cuda.using_allocator(pool.malloc):
        x = cp.arange(25, dtype="f4")
    assert type(x.data.mem) is cp.cuda.memory.PooledMemory and x.data.mem.managed
    assert pool.used_bytes() == 512
    beyond = cp.RawKernel('extern "C" __global__ void k(float *x) { x[25] = 1; }', "k")
    with pytest.raises(RuntimeError, match="outside the array 'x' of 100 bytes"):
        beyond((1,), (1,), (x,))
    assert x.sum() == 300
    del x
    assert pool.used_bytes() == 0 and pool.n_free_blocks() == 1
    assert not cp.arange(25).data.mem.managed


def test_a_pool_asks_the_allocator_that_it_is_given():
    asked = []

    def allocator(size):
        asked.append(size)
        return cp.cuda.memory.malloc_managed(size)

    pool = cp.cuda.MemoryPool(allocator)
    first, second = pool.malloc(100), pool.malloc(600)
    assert asked == [512, 1024] and first.ptr != second.ptr
    first.memset(7, 100)
    second.memset(9, 600)
    x = cp.ndarray(25, "f4", first)
    assert bytes(x.get()) == b"\7" * 100


def test_memory_of_somebody_else_ends_where_its_array_does():
    a = cp.ones(10, "f4")
    memory = cp.cuda.UnownedMemory(a.data.ptr, a.nbytes, a)
    assert cp.ndarray(10, "f4", cp.cuda.MemoryPointer(memory, 0)).sum() == 10
    with pytest.raises(ValueError, match=r"10000 bytes at 0x\w+, where an array has 40"):
        cp.cuda.UnownedMemory(a.data.ptr, 10000, a)


def test_threads_that_allocate_at_once_get_memory_of_their_own():
    def work(number):
        return [engine_memory.Allocation(1000 + 520 * k + number) for k in range(300)]

    with ThreadPoolExecutor(8) as pool:
        made = [one for part in pool.map(work, range(8)) for one in part]
    places = sorted((one.address, one.size) for one in made)
    for (begin, size), (after, _) in itertools.pairwise(places):
        assert begin + size <= after


@pytest.mark.parametrize("make", [cp.cuda.alloc, cp.cuda.malloc_managed, cp.cuda.malloc_async])
def test_new_memory_holds_no_old_values(make):
    before = [cp.zeros(1000) for _ in range(9)]
    del before
    assert np.isnan(cp.ndarray(1000, memptr=make(8000)).get()).all()


def test_new_pinned_memory_holds_no_old_values():
    before = [cupyx.zeros_pinned(1000) for _ in range(9)]
    del before
    assert np.isnan(cupyx.empty_pinned(1000)).all()
    assert (np.frombuffer(cp.cuda.alloc_pinned_memory(40), np.int32) == -1).all()


def test_unowned_memory_that_is_freed():
    pointer = cp.cuda.alloc(800).ptr
    gc.collect()
    with pytest.raises(ValueError, match="where an array was that is freed"):
        cp.cuda.UnownedMemory(pointer, 800, None)


def test_unowned_memory_inside_an_array():
    x = cp.arange(8.0)
    cp.cuda.UnownedMemory(x.data.ptr + 8, 56, x)
    with pytest.raises(ValueError, match="where an array has 56"):
        cp.cuda.UnownedMemory(x.data.ptr + 8, 64, x)


def test_copies_of_memory_that_overlap():
    a = cp.arange(8)
    for copy in (
        lambda: a[1:].data.copy_from_device_async(a.data, 56),
        lambda: (a.data + 8).copy_from(a.data, 16),
        lambda: cp.cuda.runtime.memcpy(a.data.ptr, a.data.ptr + 8, 16, 3),
        lambda: cp.cuda.runtime.memcpyAsync(a.data.ptr, a.data.ptr + 8, 16, 3, 0),
    ):
        with pytest.raises(ValueError, match="overlap"):
            copy()
    a[4:].data.copy_from_device(a.data, 32)
    a.data.copy_from_device(a.data, 64)
    assert a.tolist() == [0, 1, 2, 3] * 2


def test_a_pointer_is_moved_in_place_unless_an_array_is_made_of_it():
    """In CuPy `p += n` moves the array whose data `p` is."""
    free = moved = cp.cuda.alloc(16)
    start = free.ptr
    moved += 8
    assert free is moved and free.ptr == start + 8
    free -= 8
    assert free.ptr == start
    made = cp.ndarray(2, "f", free)
    for pointer in (made.data, free):
        with pytest.raises(NotImplementedError, match="p = p"):
            pointer += 1
    with pytest.raises(TypeError):
        free + 8.0
    pinned = cp.cuda.alloc_pinned_memory(8)
    with pytest.raises(TypeError, match="no elements"):
        pinned[0] = 1
    assert pinned != cp.cuda.alloc_pinned_memory(8) and pinned == pinned
    pinned += 2
    assert pinned.size() == 6


def test_hosts_addresses_and_bytes_to_fill_with():
    x = cp.zeros(2, "B")
    for wrong in (3.0, np.int64(8), np.zeros(1)):
        with pytest.raises(AttributeError):
            x.data.copy_from_host(wrong, 1)
    x.data.memset(-1, 1)
    assert x.tolist() == [255, 0]
    for copy in (x.data.copy_to_host, x.data.copy_from_host):
        with pytest.raises(OverflowError):
            copy(np.zeros(9).ctypes.data, -1)


def test_more_than_the_limit_leaves_the_free_blocks(pool):
    pool.set_limit(size=2048)
    cp.zeros(128)
    with pytest.raises(cp.cuda.memory.OutOfMemoryError):
        cp.zeros(1000)
    assert pool.n_free_blocks() == 1


def test_allocators_of_pinned_memory():
    pool, asked = cp.cuda.PinnedMemoryPool(), []
    try:
        cp.cuda.set_pinned_memory_allocator(pool.malloc)
        cp.asarray(np.zeros(3))
        assert pool.n_free_blocks() == 1
        cp.cuda.set_pinned_memory_allocator(lambda size: asked.append(size) or pool.malloc(size))
        cp.asarray(np.zeros(3)), cupyx.empty_pinned(5, "b")
        assert asked == [24, 5]
    finally:
        cp.cuda.set_pinned_memory_allocator(cp.get_default_pinned_memory_pool().malloc)
    with pytest.warns(RuntimeWarning, match="PinnedMemoryPool"):
        cp.cuda.PinnedMemoryPool(pool.malloc)


def test_unowned_memory_of_the_host_and_of_another_device(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")
    host, x = np.zeros(8), cp.zeros(8)
    with cp.cuda.Device(1):
        assert cp.cuda.UnownedMemory(x.data.ptr, 8, x).device_id == 0
    held = cp.cuda.UnownedMemory(host.ctypes.data, 64, host)
    assert held.device_id == -2
    with pytest.raises(ValueError, match="Peer access is unavailable"):
        cp.ndarray(8, "d", cp.cuda.MemoryPointer(held, 0)) + 1
    with pytest.raises(RuntimeError, match="null pointer"):
        cp.cuda.UnownedMemory(0, 8, None)
