"""Ranks in one thread and in processes: what the tests of NCCL and process groups share."""

import os
import subprocess
import sys
from pathlib import Path

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


def started(code, *arguments):
    """A process that runs the Python code on the stand-in; warnings are errors there."""
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env=os.environ | {"CUPY_STANDIN": "always", "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(processes):
    """Exit code, output and errors of each of the processes, all within two minutes."""
    try:
        texts = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(p.returncode, out, err) for p, (out, err) in zip(processes, texts, strict=True)]
