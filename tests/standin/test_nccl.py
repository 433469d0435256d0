"""What ``cupy.cuda.nccl`` computes, with ranks in one thread's groups and in threads."""

import threading
import time

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import nccl
from ranks import grouped, on, refused

pytestmark = pytest.mark.usefixtures("four_devices")

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


def drawn(dtype, *shape):
    numbers = np.random.default_rng(5).integers(0, 7, shape)
    if np.dtype(dtype).kind == "f":
        return (numbers - 2.7).astype(dtype)
    return numbers.astype(dtype)


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
