"""``cupy.cuda.nccl`` between processes."""

import os
import subprocess
import sys
import time

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import nccl
from ranks import ended, refused, started

pytestmark = pytest.mark.usefixtures("four_devices")

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
    return name, [started(WORKER + body, rank, size, name.hex()) for rank in range(1, size)]


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
    found = ended(processes)
    total = [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]
    assert y.get().tolist() == total
    assert [(code, err) for code, _, err in found] == [(0, ""), (0, "")]
    assert [out.splitlines()[-1] for _, out, _ in found] == [
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
    assert [code for code, _, _ in ended(processes)] == [7, 0]


@pytest.mark.long
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
        ((code, out, err),) = ended(processes)
        assert first.wait(60) == 9
    finally:
        first.kill()
        first.stdout.close()
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == (
        "6 Rank 1 has lost the process that made the communicator's id (rank 0, for "
        "init_process_group): it has ended"
    )
