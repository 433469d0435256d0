"""What goes wrong with ``cupy.cuda.nccl``, and what is said of it."""

import pickle
import time

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import nccl
from cupy.cuda.nccl import NcclError
from ranks import grouped, on, refused

pytestmark = pytest.mark.usefixtures("four_devices")


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
    refused(lambda: make.initAll(5), 4, "There is no device 4; there are 4. CUPY_STANDIN_DEVICES=n")
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


def test_buffers_that_overlap(comms):
    """The same buffer is in place, and so is a rank's own part of the larger one."""
    arrays = [on(comm, np.arange(12.0)) for comm in comms]
    pointers = [array.data.ptr for array in arrays]
    double = nccl.NCCL_DOUBLE
    refused(
        lambda: comms[1].allReduce(pointers[1], pointers[1] + 16, 4, double, 0, 0),
        4,
        "allReduce of 4 float64 (sum): sendbuf and recvbuf overlap",
    )
    refused(
        lambda: comms[1].allGather(pointers[1], pointers[1], 4, double, 0),
        4,
        "They may be the same, or the smaller the rank's own part of the larger",
    )
    grouped(comms, lambda r, c: c.allGather(pointers[r] + 32 * r, pointers[r], 4, double, 0))
    grouped(comms, lambda r, c: c.allReduce(pointers[r], pointers[r] + 32, 4, double, 0, 0))
    assert arrays[2].get().tolist() == [0, 1, 2, 3, 0, 3, 6, 9, 8, 9, 10, 11]
