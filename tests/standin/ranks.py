"""Ranks of ``cupy.cuda.nccl`` in one thread: what the tests of NCCL share."""

import cupy as cp
import pytest
from cupy.cuda import nccl
from cupy.cuda.nccl import NcclError


def on(comm, values):
    with cp.cuda.Device(comm.device_id()):
        return cp.asarray(values)


def grouped(comms, call):
    nccl.groupStart()
    for rank, comm in enumerate(comms):
        call(rank, comm)
    nccl.groupEnd()


def refused(call, status, note):
    """The call raises NCCL's error of that status, with such a note."""
    with pytest.raises(NcclError) as caught:
        call()
    assert caught.value.status == status
    assert note in caught.value.__notes__[0]
