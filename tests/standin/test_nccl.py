"""``cupy.cuda.nccl``: ranks in one thread's groups, in threads, and in processes."""

import os
import pickle
import subprocess
import sys
import threading
import time

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import nccl
from cupy.cuda.nccl import NcclError

TYPES = {
    np.int8: nccl.NCCL_INT8,
    np.uint8: nccl.NCCL_UINT8,
    np.int32: nccl.NCCL_INT32,
    np.uint32: nccl.NCCL_UINT32,
    np.int64: nccl.NCCL_INT64,
    np.uint64: nccl.NCCL_UINT64,
    np.float16: nccl.NCCL_FLOAT16,
    np.float32: nccl.NCCL_FLOAT32,
    np.float64: nccl.NCCL_FLOAT64,
}


@pytest.fixture(autouse=True)
def four_devices(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "4")


@pytest.fixture
def comms():
    """Communicators of three ranks, on devices 0, 3 and 1."""
    made = nccl.NcclCommunicator.initAll([0, 3, 1])
    yield made
    for comm in made:
        comm.destroy()


def on(comm, values):
    with cp.cuda.Device(comm.device_id()):
        return cp.asarray(values)


def grouped(comms, call):
    nccl.groupStart()
    for rank, comm in enumerate(comms):
        call(rank, comm)
    nccl.groupEnd()


def drawn(dtype, *shape):
    numbers = np.random.default_rng(5).integers(0, 7, shape)
    if np.dtype(dtype).kind == "f":
        return (numbers - 2.7).astype(dtype)
    return numbers.astype(dtype)


def refused(call, status, note):
    """The call raises NCCL's error of that status, with such a note."""
    with pytest.raises(NcclError) as caught:
        call()
    assert caught.value.status == status
    assert note in caught.value.__notes__[0]


# What NCCL computes


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("op", "function"),
    [
        (nccl.NCCL_SUM, np.add),
        (nccl.NCCL_PROD, np.multiply),
        (nccl.NCCL_MAX, np.maximum),
        (nccl.NCCL_MIN, np.minimum),
    ],
)
def test_all_reduce(comms, dtype, op, function):
    values = drawn(dtype, 3, 13)
    sent = [on(comm, row) for comm, row in zip(comms, values, strict=True)]
    got = [on(comm, np.zeros(13, dtype)) for comm in comms]
    grouped(
        comms,
        lambda r, c: c.allReduce(sent[r].data.ptr, got[r].data.ptr, 13, TYPES[dtype], op, 0),
    )
    with np.errstate(all="ignore"):
        expected = function(function(values[0], values[1]), values[2])  # in the order of ranks
    for array, before, comm in zip(got, sent, comms, strict=True):
        assert np.array_equal(array.get(), expected)
        assert array.device.id == comm.device_id()
        assert np.array_equal(before.get(), values[comm.rank_id()])


def test_a_sum_has_the_same_bits_each_time(comms):
    values = np.random.default_rng(1).normal(size=(3, 1001)).astype(np.float32)
    sums = []
    for _ in range(3):
        arrays = [on(comm, row) for comm, row in zip(comms, values, strict=True)]
        pointers = [array.data.ptr for array in arrays]
        grouped(
            comms,
            lambda r, c, p=pointers: c.allReduce(p[r], p[r], 1001, nccl.NCCL_FLOAT, 0, 0),
        )
        sums += [array.get() for array in arrays]
    expected = (values[0] + values[1]) + values[2]
    assert all(np.array_equal(total, expected) for total in sums)
    assert not np.array_equal(expected, values[0] + (values[1] + values[2]))  # order does matter


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [(np.float32, [1, 2, 6], 3), (np.int32, [-1, -2, -7], -3), (np.uint8, [7, 7, 9], 7)],
)
def test_average(comms, dtype, values, expected):
    arrays = [on(comm, np.full(2, v, dtype)) for comm, v in zip(comms, values, strict=True)]
    pointers = [array.data.ptr for array in arrays]
    grouped(
        comms,
        lambda r, c: c.allReduce(pointers[r], pointers[r], 2, TYPES[dtype], nccl.NCCL_AVG, 0),
    )
    assert [array.get().tolist() for array in arrays] == [[expected, expected]] * 3


def test_maximum_passes_over_nan(comms):
    arrays = [on(comm, np.array([np.nan, float(r)])) for r, comm in enumerate(comms)]
    arrays[2][0] = 5.0
    pointers = [array.data.ptr for array in arrays]
    grouped(comms, lambda r, c: c.allReduce(pointers[r], pointers[r], 2, nccl.NCCL_DOUBLE, 2, 0))
    assert arrays[0].get().tolist() == [5, 2]


def test_reduce_writes_at_the_root_alone(comms):
    sent = [on(comm, np.arange(4) + 10 * r) for r, comm in enumerate(comms)]
    got = on(comms[1], np.zeros(4, int))
    grouped(
        comms,
        lambda r, c: c.reduce(
            sent[r].data.ptr, got.data.ptr if r == 1 else 0, 4, nccl.NCCL_INT64, 0, 1, 0
        ),
    )
    assert got.get().tolist() == [30, 33, 36, 39]
    assert sent[2].get().tolist() == [20, 21, 22, 23]


def test_broadcast_and_bcast(comms):
    arrays = [on(comm, np.full(5, 1.5 + r)) for r, comm in enumerate(comms)]
    other = [on(comm, np.zeros(5)) for comm in comms]
    grouped(
        comms,
        lambda r, c: c.broadcast(
            arrays[r].data.ptr if r == 2 else 0, other[r].data.ptr, 3, nccl.NCCL_DOUBLE, 2, 0
        ),
    )
    assert [array.get().tolist() for array in other] == [[3.5] * 3 + [0, 0]] * 3
    grouped(comms, lambda r, c: c.bcast(arrays[r].data.ptr, 5, nccl.NCCL_DOUBLE, 1, 0))
    assert [array.get().tolist() for array in arrays] == [[2.5] * 5] * 3


def test_reduce_scatter_and_all_gather(comms):
    values = drawn(np.int32, 3, 12)
    sent = [on(comm, row) for comm, row in zip(comms, values, strict=True)]
    part = [on(comm, np.zeros(4, np.int32)) for comm in comms]
    whole = [on(comm, np.zeros(12, np.int32)) for comm in comms]
    grouped(
        comms,
        lambda r, c: c.reduceScatter(
            sent[r].data.ptr, part[r].data.ptr, 4, nccl.NCCL_INT, nccl.NCCL_SUM, 0
        ),
    )
    expected = values.sum(axis=0)
    for rank, array in enumerate(part):
        assert np.array_equal(array.get(), expected[4 * rank : 4 * rank + 4])
    grouped(
        comms,
        lambda r, c: c.allGather(part[r].data.ptr, whole[r].data.ptr, 4, nccl.NCCL_INT, 0),
    )
    assert all(np.array_equal(array.get(), expected) for array in whole)


def test_gather_and_scatter_in_place(comms):
    values = drawn(np.float64, 3, 6)
    arrays = [on(comm, row) for comm, row in zip(comms, values, strict=True)]
    grouped(
        comms,
        lambda r, c: c.reduceScatter(
            arrays[r].data.ptr, arrays[r][2 * r :].data.ptr, 2, nccl.NCCL_DOUBLE, 0, 0
        ),
    )
    grouped(
        comms,
        lambda r, c: c.allGather(
            arrays[r][2 * r :].data.ptr, arrays[r].data.ptr, 2, nccl.NCCL_DOUBLE, 0
        ),
    )
    assert all(np.array_equal(a.get(), (values[0] + values[1]) + values[2]) for a in arrays)


def test_a_ring_of_sends_in_one_group(comms):
    sent = [on(comm, np.arange(3) + 10 * r) for r, comm in enumerate(comms)]
    got = [on(comm, np.zeros(3, int)) for comm in comms]

    def pass_on(rank, comm):
        comm.send(sent[rank].data.ptr, 3, nccl.NCCL_INT64, (rank + 1) % 3, 0)
        comm.recv(got[rank].data.ptr, 3, nccl.NCCL_INT64, (rank + 2) % 3, 0)

    grouped(comms, pass_on)
    assert [array.get().tolist() for array in got] == [[20, 21, 22], [0, 1, 2], [10, 11, 12]]


def test_messages_between_two_ranks_keep_their_order(comms):
    sent = [on(comms[0], np.full(2, n)) for n in range(4)]
    got = [on(comms[1], np.zeros(2, int)) for _ in range(4)]
    nccl.groupStart()
    for array in got:
        comms[1].recv(array.data.ptr, 2, nccl.NCCL_INT64, 0, 0)
    for array in sent:
        comms[0].send(array.data.ptr, 2, nccl.NCCL_INT64, 1, 0)
    comms[2].send(on(comms[2], np.ones(1)).data.ptr, 0, nccl.NCCL_INT64, 2, 0)
    comms[2].recv(0, 0, nccl.NCCL_INT64, 2, 0)
    nccl.groupEnd()
    assert [array.get().tolist() for array in got] == [[n, n] for n in range(4)]


def test_groups_nest_and_nothing_is_done_before_their_end(comms):
    arrays = [on(comm, np.ones(2)) for comm in comms]
    nccl.groupStart()
    grouped(comms, lambda r, c: c.bcast(arrays[r].data.ptr, 2, nccl.NCCL_DOUBLE, 0, 0))
    arrays[0][:] = 7  # a group reads its buffers at its end
    assert arrays[1].get().tolist() == [1, 1]
    nccl.groupEnd()
    assert arrays[1].get().tolist() == [7, 7]
    refused(nccl.groupEnd, 5, "groupEnd() without groupStart()")


def test_one_thread_for_each_rank_needs_no_group(comms):
    values = drawn(np.float16, 3, 9)
    arrays = [on(comm, row) for comm, row in zip(comms, values, strict=True)]
    failures = []

    def work(rank):
        try:
            comm = comms[rank]
            cp.cuda.Device(comm.device_id()).use()
            if rank == 2:
                time.sleep(1.5)  # the others wait
            for _ in range(5):
                pointer = arrays[rank].data.ptr
                comm.allReduce(pointer, pointer, 9, nccl.NCCL_HALF, nccl.NCCL_MIN, 0)
        except Exception as error:  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert all(np.array_equal(array.get(), values.min(axis=0)) for array in arrays)


def test_communicators_are_made_one_by_one_in_a_group():
    name = nccl.get_unique_id()
    assert isinstance(name, bytes) and len(name) == 128 and name != nccl.get_unique_id()
    nccl.groupStart()
    made = []
    for rank in range(3):
        with cp.cuda.Device(3 - rank):
            made.append(nccl.NcclCommunicator(3, name, rank))
    nccl.groupEnd()
    assert [(c.rank_id(), c.device_id(), c.size()) for c in made] == [
        (0, 3, 3),
        (1, 2, 3),
        (2, 1, 3),
    ]
    made[0].check_async_error()


def test_split():
    made = nccl.NcclCommunicator.initAll(4)
    parts, sums = [None] * 4, [None] * 4

    def work(rank):
        cp.cuda.Device(rank).use()
        parts[rank] = part = made[rank].commSplit(-1 if rank == 1 else 0, -rank)
        if part is not None:
            x = cp.array([10.0**rank])
            part.allReduce(x.data.ptr, x.data.ptr, 1, nccl.NCCL_DOUBLE, nccl.NCCL_SUM, 0)
            sums[rank] = x.get().item()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [p and (p.rank_id(), p.size()) for p in parts] == [(2, 3), None, (1, 3), (0, 3)]
    assert sums == [1101.0, None, 1101.0, 1101.0]


# What goes wrong


def test_one_thread_without_a_group_would_hang(comms):
    arrays = [on(comm, np.ones(2)) for comm in comms]
    pointer = arrays[0].data.ptr
    began = time.monotonic()
    refused(
        lambda: comms[0].allReduce(pointer, pointer, 2, nccl.NCCL_DOUBLE, 0, 0),
        5,
        "Ranks 1 and 2 never joined allReduce of 2 float64 (sum), and no other thread could",
    )
    assert time.monotonic() - began < 10


def test_a_rank_that_is_forgotten_in_the_group(comms):
    arrays = [on(comm, np.ones(2)) for comm in comms]

    def call():
        nccl.groupStart()
        for rank in (0, 2):
            pointer = arrays[rank].data.ptr
            comms[rank].allReduce(pointer, pointer, 2, nccl.NCCL_DOUBLE, 0, 0)
        nccl.groupEnd()

    refused(call, 5, "Rank 1 never joined allReduce of 2 float64 (sum)")
    assert arrays[0].get().tolist() == [1, 1]


def test_a_rank_that_never_comes(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_TIMEOUT", "0.5")
    name = nccl.get_unique_id()
    refused(
        lambda: nccl.NcclCommunicator(3, name, 1),
        6,
        "Ranks 0 and 2 never joined a communicator of 3 ranks within 0.5 s",
    )


@pytest.mark.parametrize("text", ["0", "-3", "soon", "inf"])
def test_a_timeout_that_cannot_be(monkeypatch, text):
    monkeypatch.setenv("CUPY_STANDIN_TIMEOUT", text)
    with pytest.raises(ValueError, match=f"must be seconds, more than 0, not '{text}'"):
        nccl.NcclCommunicator(2, nccl.get_unique_id(), 0)


@pytest.mark.parametrize(
    ("second", "note"),
    [
        (
            lambda c, p: c.allReduce(p, p, 3, nccl.NCCL_DOUBLE, nccl.NCCL_SUM, 0),
            "Rank 1 calls allReduce of 3 float64 (sum), rank 0 calls allReduce of 2 float64 (sum)",
        ),
        (
            lambda c, p: c.allReduce(p, p, 2, nccl.NCCL_INT64, nccl.NCCL_SUM, 0),
            "Rank 1 calls allReduce of 2 int64 (sum), rank 0",
        ),
        (
            lambda c, p: c.allReduce(p, p, 2, nccl.NCCL_DOUBLE, nccl.NCCL_MAX, 0),
            "Rank 1 calls allReduce of 2 float64 (max), rank 0",
        ),
        (
            lambda c, p: c.bcast(p, 2, nccl.NCCL_DOUBLE, 1, 0),
            "Rank 1 calls broadcast of 2 float64 from rank 1, rank 0",
        ),
    ],
)
def test_ranks_that_disagree(comms, second, note):
    arrays = [on(comm, np.ones(4)) for comm in comms]

    def call():
        nccl.groupStart()
        for rank in (0, 1, 2):
            pointer = arrays[rank].data.ptr
            if rank == 1:
                second(comms[1], pointer)
            else:
                comms[rank].allReduce(pointer, pointer, 2, nccl.NCCL_DOUBLE, nccl.NCCL_SUM, 0)
        nccl.groupEnd()

    refused(call, 5, note)
    assert all(array.get().tolist() == [1] * 4 for array in arrays)


def test_a_message_of_another_length(comms):
    arrays = [on(comm, np.ones(4)) for comm in comms]

    def call():
        nccl.groupStart()
        comms[0].send(arrays[0].data.ptr, 4, nccl.NCCL_DOUBLE, 1, 0)
        comms[1].recv(arrays[1].data.ptr, 3, nccl.NCCL_DOUBLE, 0, 0)
        nccl.groupEnd()

    refused(call, 5, "Rank 1 calls recv of 3 float64 from rank 0, rank 0 calls send of 4 float64")


def test_buffers_that_do_not_fit(comms):
    x, y = on(comms[0], np.ones(4)), on(comms[1], np.ones(4))
    pointer = x.data.ptr
    all_reduce = comms[0].allReduce
    f64 = nccl.NCCL_DOUBLE
    refused(
        lambda: all_reduce(pointer, pointer, 5, f64, 0, 0),
        4,
        "allReduce of 5 float64 (sum): sendbuf needs 40 bytes, and 32 are there",
    )
    refused(
        lambda: comms[0].allGather(pointer, pointer, 2, f64, 0),
        4,
        "allGather of 2 float64: recvbuf needs 48 bytes, and 32 are there",
    )
    refused(
        lambda: comms[0].reduceScatter(pointer, pointer, 2, f64, 0, 0),
        4,
        "reduceScatter of 2 float64 (sum): sendbuf needs 48 bytes",
    )
    refused(
        lambda: all_reduce(pointer, y.data.ptr, 4, f64, 0, 0),
        4,
        "recvbuf is memory of device 3, rank 0 is on device 0. Make the array inside `with",
    )
    host = np.ones(4)
    refused(
        lambda: all_reduce(host.ctypes.data, pointer, 4, f64, 0, 0),
        4,
        "sendbuf is no device memory; pass array.data.ptr",
    )
    with pytest.raises(TypeError, match=r"an integer is required for sendbuf, not ndarray"):
        all_reduce(x, x, 4, f64, 0, 0)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (lambda c, p: c.allReduce(p, p, 2, 17, 0, 0), "there is no datatype 17"),
        (lambda c, p: c.allReduce(p, p, 2, 8, 9, 0), "there is no operation 9"),
        (lambda c, p: c.reduce(p, p, 2, 8, 0, 3, 0), "there is no rank 3 among 3"),
        (lambda c, p: c.send(p, 2, 8, -1, 0), "there is no rank -1 among 3"),
        (lambda c, p: c.bcast(p, -2, 8, 0, 0), "broadcast: -2 elements"),
    ],
)
def test_arguments_that_cannot_be(comms, call, note):
    pointer = on(comms[0], np.ones(4)).data.ptr
    refused(lambda: call(comms[0], pointer), 4, note)


def test_an_error_gives_up_the_group(comms):
    arrays = [on(comm, np.ones(2)) for comm in comms]
    nccl.groupStart()
    comms[0].bcast(arrays[0].data.ptr, 2, nccl.NCCL_DOUBLE, 0, 0)
    refused(lambda: comms[1].bcast(arrays[1].data.ptr, 9, nccl.NCCL_DOUBLE, 0, 0), 4, "72 bytes")
    arrays[0][:] = 3
    grouped(comms, lambda r, c: c.bcast(arrays[r].data.ptr, 2, nccl.NCCL_DOUBLE, 0, 0))
    assert arrays[2].get().tolist() == [3, 3]


def test_an_array_that_is_gone_at_the_groups_end(comms):
    arrays = [on(comm, np.ones(200_000)) for comm in comms]
    nccl.groupStart()
    for rank, comm in enumerate(comms):
        comm.bcast(arrays[rank].data.ptr, 200_000, nccl.NCCL_DOUBLE, 0, 0)
    arrays.clear()
    cp.get_default_memory_pool().free_all_blocks()
    refused(nccl.groupEnd, 4, "an array was deleted before groupEnd(); keep it in a variable")


def test_streams_of_a_communicator(comms):
    with cp.cuda.Device(3):
        right = cp.cuda.Stream()
    wrong = cp.cuda.Stream()
    arrays = [on(comm, np.full(2, r)) for r, comm in enumerate(comms)]
    kind = nccl.NCCL_INT64
    grouped(
        comms,
        lambda r, c: c.bcast(arrays[r].data.ptr, 2, kind, 2, right.ptr if r == 1 else 0),
    )
    assert arrays[1].get().tolist() == [2, 2]
    refused(
        lambda: comms[1].bcast(arrays[1].data.ptr, 2, kind, 0, wrong.ptr),
        1,
        "the stream is of device 0, rank 1 is on device 3",
    )
    with wrong:
        wrong.begin_capture()
        with pytest.raises(NotImplementedError, match="NCCL inside a graph's capture"):
            comms[0].bcast(arrays[0].data.ptr, 2, kind, 0, wrong.ptr)
        wrong.end_capture()


def test_a_destroyed_communicator(comms):
    comms[1].destroy()
    comms[1].destroy()
    assert comms[1].comm == 0 != comms[0].comm
    arrays = [on(comm, np.ones(2)) for comm in (comms[0], comms[2])]
    refused(comms[1].rank_id, 4, "The communicator has been destroyed")

    def call():
        nccl.groupStart()
        for comm, array in zip((comms[0], comms[2]), arrays, strict=True):
            comm.bcast(array.data.ptr, 1, nccl.NCCL_DOUBLE, 0, 0)
        nccl.groupEnd()

    refused(call, 6, "Rank 1 is missing from broadcast of 1 float64 from rank 0: it has called des")


def test_communicators_that_cannot_be():
    make = nccl.NcclCommunicator
    name = nccl.get_unique_id()
    refused(lambda: make(2, name, 2), 4, "There is no rank 2 among 2")
    refused(lambda: make.initAll(5), 4, "There is no device 4; there are 4. helpers.logical_dev")
    refused(lambda: make.initAll([0, 2, 0]), 5, "[0, 2, 0] names a device twice")
    refused(lambda: make(1, bytes(128), 0), 4, "commId is not an id that get_unique_id() gave")
    with pytest.raises(ValueError, match='"devices" should be an int or a list of int'):
        make.initAll((0, 1))
    with pytest.raises(ValueError, match="commId length 3 != 128"):
        make(1, b"123", 0)
    with pytest.raises(TypeError, match="expected bytes, got tuple"):
        make(1, (1, 2), 0)

    def same_device():
        nccl.groupStart()
        kept = [make(2, name, 0), make(2, name, 1)]
        nccl.groupEnd()
        return kept

    refused(same_device, 5, "Ranks 0 and 1 are both on device 0; each rank needs a device of its")


def test_nccls_words_and_versions():
    error = pickle.loads(pickle.dumps(NcclError(5)))
    assert str(error) == (
        "NCCL_ERROR_INVALID_USAGE: invalid usage (run with NCCL_DEBUG=WARN for details)"
    )
    assert isinstance(error, RuntimeError) and error.status == 5
    assert nccl.available and nccl.get_version() >= 21800 == 21800
    assert nccl.NcclConfig(split_share=1).split_share == 1
    with pytest.raises(NotImplementedError, match="NCCL_BFLOAT16"):
        nccl.NcclCommunicator.initAll(1)[0].bcast(0, 0, nccl.NCCL_BFLOAT16, 0, 0)


# Processes

WORKER = """
import os, sys, time
import helpers, cupy as cp
from cupy.cuda import nccl
from cupy.cuda.nccl import NcclError

rank, size, name = int(sys.argv[1]), int(sys.argv[2]), bytes.fromhex(sys.argv[3])
cp.cuda.Device(rank).use()
comm = nccl.NcclCommunicator(size, name, rank)
x = cp.arange(6, dtype=cp.float32) * (rank + 1)
"""


def start(size, body, name=None):
    """Processes of ranks 1 to size - 1; the id is this process's unless given."""
    name = nccl.get_unique_id() if name is None else name
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    environment = {**os.environ, "CUPY_STANDIN": "always", "PYTHONPATH": root}
    command = [sys.executable, "-W", "error", "-c", WORKER + body]
    return name, [
        subprocess.Popen(
            [*command, str(rank), str(size), name.hex()],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(1, size)
    ]


def end(processes):
    """Exit codes and what was written, of processes that end within two minutes."""
    try:
        texts = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(p.returncode, out, err) for p, (out, err) in zip(processes, texts, strict=True)]


def test_ranks_in_processes():
    body = """
p = x.data.ptr
comm.allReduce(p, p, 6, nccl.NCCL_FLOAT, nccl.NCCL_SUM, 0)
nccl.groupStart()
y = cp.zeros(6, cp.float32)
comm.send(p, 6, nccl.NCCL_FLOAT, (rank + 1) % size, 0)
comm.recv(y.data.ptr, 6, nccl.NCCL_FLOAT, (rank - 1) % size, 0)
nccl.groupEnd()
part = comm.commSplit(0 if rank else -1, rank)
part.bcast(x[1:].data.ptr, 1, nccl.NCCL_FLOAT, part.size() - 1, 0)
print(rank, part.rank_id(), x.tolist(), y.tolist())
"""
    name, processes = start(3, body)
    comm = nccl.NcclCommunicator(3, name, 0)
    x, y = cp.arange(6, dtype=np.float32), cp.zeros(6, np.float32)
    pointer = x.data.ptr
    comm.allReduce(pointer, pointer, 6, nccl.NCCL_FLOAT, nccl.NCCL_SUM, 0)
    x += 100
    nccl.groupStart()
    comm.send(pointer, 6, nccl.NCCL_FLOAT, 1, 0)
    comm.recv(y.data.ptr, 6, nccl.NCCL_FLOAT, 2, 0)
    nccl.groupEnd()
    assert comm.commSplit(-1, 0) is None
    ended = end(processes)
    total = [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]
    assert y.get().tolist() == total
    assert [(code, err) for code, _, err in ended] == [(0, ""), (0, "")]
    assert [out.splitlines()[-1] for _, out, _ in ended] == [
        f"1 0 {total} {[v + 100 for v in total]}",
        f"2 1 {total} {total}",
    ]


def test_a_process_that_dies(monkeypatch):
    name, processes = start(3, "os._exit(7) if rank == 1 else None\ntime.sleep(1)\n")
    began = time.monotonic()
    comm = nccl.NcclCommunicator(3, name, 0)
    x = cp.ones(3)
    refused(
        lambda: comm.bcast(x.data.ptr, 3, nccl.NCCL_DOUBLE, 1, 0),
        6,
        "Rank 1 is missing from broadcast of 3 float64 from rank 1: its process has ended",
    )
    assert time.monotonic() - began < 60
    assert [code for code, _, _ in end(processes)] == [7, 0]


def test_the_death_of_the_process_that_made_the_id():
    body = """
try:
    comm.bcast(x.data.ptr, 3, nccl.NCCL_FLOAT, 0, 0)
except NcclError as error:
    print(error.status, error.__notes__[0])
"""
    maker = f"""
import subprocess, sys, time
{WORKER.split("rank,")[0]}
name = nccl.get_unique_id()
print(name.hex(), flush=True)
comm = nccl.NcclCommunicator(2, name, 0)
time.sleep(1)
os._exit(9)
"""
    environment = {**os.environ, "CUPY_STANDIN": "always"}
    first = subprocess.Popen(
        [sys.executable, "-c", maker], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        first.stdout.readline()  # what `import helpers` says
        name = bytes.fromhex(first.stdout.readline())
        _, processes = start(2, body, name)
        ((code, out, err),) = end(processes)
        assert first.wait(60) == 9
    finally:
        first.kill()
        first.stdout.close()
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == (
        "6 Rank 1 has lost the process that made the communicator's id (rank 0, for "
        "init_process_group): it has ended"
    )
