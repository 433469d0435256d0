"""``cupyx.distributed``: two to four processes, and threads of one."""

import socket
import threading
import time

import cupy as cp
import cupyx.distributed
import numpy as np
import pytest
from cupy.cuda.nccl import NcclError
from cupyx.distributed import NCCLBackend, init_process_group
from ranks import ended, started

HEAD = """
import os, sys, time
import helpers
import cupy as cp, cupyx.distributed, numpy as np

rank, size = int(sys.argv[1]), int(sys.argv[2])
helpers.logical_devices(size)
cp.cuda.Device(rank).use()
comm = cupyx.distributed.init_process_group(size, rank)
"""


@pytest.fixture
def port(monkeypatch):
    """A port that is free, for all who are started from here."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    monkeypatch.setenv("CUPYX_DISTRIBUTED_PORT", str(number))
    return number


def run(size, body):
    """Exit code, output and errors of one process for each rank, all within two minutes."""
    return ended([started(HEAD + body, rank, size) for rank in range(size)])


def threads(size, work, **how):
    """``work(comm, rank)`` in one thread for each rank; what they return, or the first error."""
    results, errors = [None] * size, []

    def start(rank):
        try:
            cp.cuda.Device(rank).use()
            results[rank] = work(init_process_group(size, rank, **how), rank)
        except Exception as error:  # raised below
            errors.append(error)

    workers = [threading.Thread(target=start, args=(rank,)) for rank in range(size)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    if errors:
        raise errors[0]
    return results


def test_three_processes_do_everything(port):
    body = """
def same(got, expected):
    assert got.device.id == rank, got.device
    np.testing.assert_array_equal(got.get(), expected)

base = np.arange(12, dtype=np.float32).reshape(3, 4)
mine = cp.asarray(base * (rank + 1) - 5)
every = [base * (r + 1) - 5 for r in range(size)]
total = every[0] + every[1] + every[2]

out = cp.zeros((3, 4), np.float32)
comm.all_reduce(mine, out)
same(out, total)
comm.all_reduce(mine, out, "min")
same(out, np.minimum(np.minimum(every[0], every[1]), every[2]))
out[:] = -1
comm.reduce(mine, out, root=2, op="prod")
same(out, every[0] * every[1] * every[2] if rank == 2 else np.full((3, 4), -1))
copy = mine.copy()
comm.broadcast(copy, root=1)
same(copy, every[1])
part = cp.zeros(4, np.float32)
comm.reduce_scatter(mine, part, 4)
same(part, total[rank])
whole = cp.zeros((3, 4), np.float32)
comm.all_gather(part, whole, 4)
same(whole, total)
got = cp.zeros(4, np.float32)
comm.scatter(mine, got, root=1)
same(got, every[1][rank])
comm.gather(got, whole, root=2)
same(whole, every[1] if rank == 2 else total)
comm.all_to_all(mine, whole)
same(whole, np.array([rows[rank] for rows in every]))
if rank == 0:
    comm.send(mine, 2)
elif rank == 2:
    comm.recv(out, 0)
    same(out, every[0])
if rank != 1:
    comm.send_recv(mine, out, 2 - rank)
    same(out, every[2 - rank])
z = cp.full(5, 1 + 2j * rank)
comm.all_reduce(z, z)
same(z, np.full(5, 3 + 6j))
comm.barrier()
comm.stop()
print("well done", rank)
"""
    for rank, (code, out, err) in enumerate(run(3, body)):
        assert (code, err, out.splitlines()[-1]) == (0, "", f"well done {rank}")


def test_a_worker_that_fails_ends_the_others_soon(port):
    body = """
x = cp.ones(3)
comm.all_reduce(x, x)
if rank == 2:
    raise ZeroDivisionError("a mistake of the reader's")
comm.all_reduce(x, x)
"""
    began = time.monotonic()
    ended = run(4, body)
    assert time.monotonic() - began < 90
    assert [code for code, _, _ in ended] == [1, 1, 1, 1]
    assert "ZeroDivisionError: a mistake of the reader's" in ended[2][2]
    for rank in (0, 1, 3):
        assert "Rank 2 is missing from allReduce of 3 float64 (sum): its process" in ended[rank][2]


def test_the_first_rank_fails(port):
    body = """
x = cp.ones(3)
if rank == 0:
    raise ZeroDivisionError
comm.all_reduce(x, x)
"""
    ended = run(2, body)
    assert [code for code, _, _ in ended] == [1, 1]
    assert "Rank 0 is missing from allReduce of 3 float64 (sum): its process" in ended[1][2]


# Threads of one process


def test_threads_may_be_the_ranks(four_devices, port):
    def work(comm, rank):
        x = cp.arange(3) + rank
        comm.all_reduce(x, x, op="max")
        comm.barrier()
        return x.get().tolist()

    for _ in range(2):  # the port is free again
        assert threads(4, work) == [[3, 4, 5]] * 4


def test_the_bits_do_not_depend_on_who_comes_first(four_devices, port):
    parts = np.random.default_rng(4).normal(size=(3, 1001)).astype(np.float32)
    expected = (parts[0] + parts[1]) + parts[2]

    for first in (0, 2):

        def work(comm, rank, first=first):
            x = cp.asarray(parts[rank])
            time.sleep(0.1 * ((rank + first) % 3))
            comm.all_reduce(x, x)
            return x.get()

        assert all(np.array_equal(total, expected) for total in threads(3, work))


def test_a_barrier_holds_the_early_ones(four_devices, port):
    def work(comm, rank):
        time.sleep(0.5 if rank == 1 else 0.0)
        before = time.monotonic()
        comm.barrier()
        return before, time.monotonic()

    arrived, left = zip(*threads(2, work), strict=True)
    assert min(left) >= max(arrived)


def test_a_rank_that_was_not_started(port, monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_TIMEOUT", "0.6")
    with pytest.raises(NcclError, match="Ranks 1 and 2 never joined .* of 3 ranks within 0.6 s"):
        init_process_group(3, 0)
    with pytest.raises(NcclError, match=f"found nobody at 127.0.0.1, port {port}, within 0.6 s"):
        init_process_group(2, 1)


def test_two_ranks_on_one_device(port, monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "1")
    errors = []

    def start(rank):
        try:
            init_process_group(2, rank)
        except NcclError as error:
            errors.append(error.__notes__[0])

    workers = [threading.Thread(target=start, args=(rank,)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [text[:38] for text in errors] == ["Ranks 0 and 1 are both on device 0; ea"] * 2


def test_a_host_and_a_port_may_be_given(four_devices):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        cp.cuda.Device(0).use()
        with pytest.raises(RuntimeError, match=f"Cannot listen at 127.0.0.1, port {port} .* give"):
            init_process_group(2, 0, host="127.0.0.1", port=port)
    assert threads(2, lambda comm, rank: comm.rank, host="127.0.0.1", port=port) == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        ((0, 0), {}, "Invalid number of devices 0"),
        ((-1, 0), {}, "Invalid number of devices -1"),
        ((2, -1), {}, "Invalid number of rank -1 2"),
        ((2, 2), {}, "Invalid number of rank 2 2"),
        ((1, 0), {"backend": "mpi"}, "mpi is not supported"),
    ],
)
def test_a_group_that_cannot_be(arguments, how, message):
    with pytest.raises(ValueError, match=message):
        init_process_group(*arguments, **how)


@pytest.fixture
def alone(port):
    """A group of one."""
    return NCCLBackend(1, 0, port=port)


def test_a_group_of_one(alone):
    x, y = cp.arange(4.0), cp.zeros(4)
    alone.all_reduce(x, y)
    assert y.tolist() == x.tolist()
    alone.scatter(x[None], y)
    alone.barrier()
    alone.stop()
    with pytest.raises(RuntimeError, match="TCPStore is not available"):
        alone.barrier()


def test_arrays_that_cannot_be_sent(alone):
    x = cp.ones((3, 4))
    with pytest.raises(RuntimeError, match="either c- or f-contiguous"):
        alone.all_reduce(x[:, ::2], x)
    with pytest.raises(TypeError, match="Unknown dtype int16 for NCCL"):
        alone.broadcast(x.astype(np.int16))
    with pytest.raises(RuntimeError, match="Unknown op mean for NCCL"):
        alone.all_reduce(x, x, op="mean")
    with pytest.raises(ValueError, match=r"Only nccl\.SUM is supported for complex arrays"):
        alone.reduce(x + 0j, x + 0j, op="prod")
    with pytest.raises(RuntimeError, match=r"gather requires out_array to have 1 .*\(3, 4\)"):
        alone.gather(x, x)
    with pytest.raises(RuntimeError, match="all_to_all requires in_array to have 1 elements"):
        alone.all_to_all(x, x)
    with pytest.raises(NotImplementedError, match="cupyx.distributed with a ndarray"):
        alone.broadcast(np.ones(3))
    assert x.get().tolist() == np.ones((3, 4)).tolist()


def test_arrays_in_fortrans_order_are_taken_as_they_lie(alone):
    x, y = cp.asarray(np.arange(6.0).reshape(2, 3), order="F"), cp.zeros((2, 3), order="F")
    alone.all_reduce(x, y)
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_distributed_arrays_are_missing_by_name():
    for fetch in (
        lambda: cupyx.distributed.array,
        lambda: __import__("cupyx.distributed.array"),
    ):
        with pytest.raises(NotImplementedError, match="cupyx.distributed.array is not covered"):
            fetch()
