"""Memory hooks, and CUDA's own pool behind ``malloc_async``."""

import gc
import io
import json
import re
import threading

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import memory, memory_hook, memory_hooks


class Notes(memory_hook.MemoryHook):
    """Keeps what it is told, in order."""

    def __init__(self, name="Notes"):
        self.name, self.told = name, []

    def __getattribute__(self, name):
        if not name.endswith("process"):
            return super().__getattribute__(name)
        return lambda **known: self.told.append((name, known))

    def names(self):
        return [name for name, _ in self.told]


def test_what_a_pool_tells():
    pool, notes = cp.cuda.MemoryPool(), Notes()
    with notes as entered:
        first = pool.malloc(700)
        address, number = first.ptr, id(first.mem)
        del first
        second = pool.malloc(1024)  # from the freed block
    assert entered is notes
    known = {"device_id": 0, "mem_size": 1024}
    asked = {**known, "size": 700}
    new = {**known, "mem_ptr": address}
    where = {**new, "pmem_id": number}
    assert notes.told[:6] == [
        ("malloc_preprocess", asked),
        ("alloc_preprocess", known),
        ("alloc_postprocess", new),
        ("malloc_postprocess", asked | where),
        ("free_preprocess", where),
        ("free_postprocess", where),
    ]
    assert notes.names()[6:] == ["malloc_preprocess", "malloc_postprocess"]
    assert notes.told[7][1]["pmem_id"] == id(second.mem)
    del second
    assert len(notes.told) == 8  # nobody listens any more


def test_arrays_take_memory_from_the_pool():
    notes = Notes()
    with notes:
        x = cp.zeros(300)
        del x
    assert notes.names().count("malloc_preprocess") == notes.names().count("free_postprocess") == 1
    assert notes.told[0][1] == {"device_id": 0, "size": 2400, "mem_size": 2560}


def test_memory_that_is_not_there():
    pool, notes = cp.cuda.MemoryPool(), Notes()
    pool.set_limit(1000)
    with notes, pytest.raises(memory.OutOfMemoryError):
        pool.malloc(2000)
    assert notes.names() == ["malloc_preprocess", "malloc_postprocess"]
    assert notes.told[1][1]["mem_ptr"] == notes.told[1][1]["pmem_id"] == 0

    def allocator(size):
        raise cp.cuda.runtime.CUDARuntimeError(2)

    notes.told.clear()
    with notes, pytest.raises(memory.OutOfMemoryError):
        cp.cuda.MemoryPool(allocator).malloc(5)
    assert ("alloc_postprocess", {"device_id": 0, "mem_size": 512, "mem_ptr": 0}) in notes.told


def test_nothing_is_nothing():
    notes = Notes()
    with notes:
        pointer = cp.cuda.MemoryPool().malloc(0)
        del pointer
        bare = memory.malloc_unpooled(700)
        del bare
    assert notes.names() == ["malloc_preprocess", "malloc_postprocess"]
    assert notes.told[0][1] == {"device_id": 0, "size": 0, "mem_size": 0}


def test_a_pool_over_another_allocator():
    pool, notes = cp.cuda.MemoryPool(cp.cuda.malloc_managed), Notes()
    with notes:
        pointer = pool.malloc(3)
        del pointer
    assert notes.names().count("alloc_preprocess") == notes.names().count("free_preprocess") == 1


def test_hooks_by_name_and_thread(four_devices):
    outer, inner = Notes("outer"), Notes("inner")
    with outer:
        with inner:
            assert list(memory_hook.get_memory_hooks()) == ["outer", "inner"]
            with pytest.raises(KeyError, match="memory hook outer already exists"):
                Notes("outer").__enter__()
            other = threading.Thread(target=cp.zeros, args=(5,))
            other.start()
            other.join()
            assert not outer.told
            with cp.cuda.Device(2):
                cp.zeros(5)
        gc.collect()
        cp.zeros(5)
    assert memory_hook.get_memory_hooks() == {}
    assert inner.names().count("malloc_preprocess") == 1 and inner.told[0][1]["device_id"] == 2
    assert outer.names().count("malloc_preprocess") == 2


def test_the_base_class_listens_and_says_nothing():
    with cp.cuda.MemoryHook() as hook:
        cp.zeros(5)
    assert hook.name == "MemoryHook"


def test_debug_print():
    out = io.StringIO()
    pool = cp.cuda.MemoryPool()
    with memory_hooks.DebugPrintHook(file=out):
        pointer = pool.malloc(9)
        address, number = pointer.ptr, hex(id(pointer.mem))
        del pointer
    lines = out.getvalue().splitlines()
    assert [json.loads(line)["hook"] for line in lines] == ["alloc", "malloc", "free"]
    assert lines[1] == (
        f'{{"hook":"malloc","device_id":0,"size":9,"mem_size":512,"mem_ptr":{address},'
        f'"pmem_id":"{number}"}}'
    )


def test_line_profile():
    pool = cp.cuda.MemoryPool()

    def twice(size):
        return pool.malloc(size), pool.malloc(size)

    freed = pool.malloc(2048)
    del freed
    with memory_hooks.LineProfileHook() as hook:
        kept = twice(2000), twice(500)
    out = io.StringIO()
    hook.print_report(file=out)
    report = out.getvalue()
    assert report.startswith("_root (5.00KB, 3.00KB)\n") and len(kept) == 2
    ours = re.findall(r"\n( *)\S*test_memory_hooks\.py:\d+:(\w+) \((.*)\)", report)
    assert [(name, sizes) for _, name, sizes in ours] == [
        ("test_line_profile", "5.00KB, 3.00KB"),
        ("twice", "5.00KB, 3.00KB"),
    ]
    assert len(ours[1][0]) == len(ours[0][0]) + 2 and "/gpuless/" not in report
    with memory_hooks.LineProfileHook(max_depth=2) as hook:
        pool.malloc(1)
    out = io.StringIO()
    hook.print_report(file=out)
    assert out.getvalue().count("\n") == 2


# CUDA's own pool

MIB = 1 << 20


@pytest.fixture
def pool():
    gc.collect()
    made = cp.cuda.MemoryAsyncPool()
    made.free_all_blocks()
    assert made.used_bytes() == made.total_bytes() == 0
    yield made
    made.set_limit(0)
    made.free_all_blocks()


def test_its_books(pool):
    one = pool.malloc(700)
    assert isinstance(one.mem, memory.MemoryAsync) and one.mem.stream_ref() is cp.cuda.Stream.null
    assert (pool.used_bytes(), pool.total_bytes()) == (1024, 32 * MIB)
    two = pool.malloc(32 * MIB)
    assert (pool.free_bytes(), pool.total_bytes()) == (32 * MIB - 1024, 64 * MIB)
    del two
    assert pool.total_bytes() == 64 * MIB
    pool.free_all_blocks()
    assert cp.cuda.MemoryAsyncPool("default").total_bytes() == 32 * MIB  # of all one
    del one
    with pytest.raises(NotImplementedError, match="not supported in MemoryAsyncPool"):
        pool.n_free_blocks()


def test_arrays_in_it(pool):
    lane, notes = cp.cuda.Stream(), Notes()
    with cp.cuda.using_allocator(pool.malloc), lane, notes:
        x = cp.arange(10, dtype="f4")
        assert x.data.mem.stream_ref() is lane and pool.used_bytes() == 512
        assert (x * 2).sum() == 90
        del x
    assert pool.used_bytes() == 0 and notes.told == []
    with cp.cuda.using_allocator(cp.cuda.malloc_async):
        y = cp.zeros(200, np.int64)
    assert pool.used_bytes() == 2048 and y.sum() == 0


def test_its_limit(pool):
    assert pool.get_limit() == 2**64 - 1
    pool.set_limit(40 * MIB)
    first = pool.malloc(30 * MIB)
    with pytest.raises(memory.OutOfMemoryError, match="limit set to: 41,943,040 bytes"):
        pool.malloc(20 * MIB)
    del first
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == int(cp.cuda.runtime.memGetInfo()[1] * 0.5)
    pool.set_limit()
    assert pool.get_limit() == 2**64 - 1
    for wrong in ({"size": -1}, {"fraction": 1.1}, {"size": 1, "fraction": 0.5}):
        with pytest.raises(ValueError):
            pool.set_limit(**wrong)


def test_its_handles(four_devices):
    cp.cuda.MemoryAsyncPool(["default", "current", "default", "current"])
    with pytest.raises(ValueError, match="handle must be"):
        cp.cuda.MemoryAsyncPool("mine")
    with pytest.raises(NotImplementedError, match="cudaMemPoolCreate"):
        cp.cuda.MemoryAsyncPool("create")
    with pytest.raises(NotImplementedError, match="pool from elsewhere"):
        cp.cuda.MemoryAsyncPool(7)


def test_a_card_without_room(pool, monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_CARD", f"memory={64 * MIB}")
    with pytest.raises(memory.OutOfMemoryError):
        pool.malloc(100 * MIB)
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorMemoryAllocation"):
        cp.cuda.malloc_async(100 * MIB)
    assert pool.used_bytes() == 0
    name = "cudaDevAttrMemoryPoolsSupported"
    assert cp.cuda.runtime.deviceGetAttribute(getattr(cp.cuda.runtime, name), 0) == 1
