"""These tests are of the stand-in itself, so it answers to ``cupy`` even where there is a GPU.

NVIDIA's compiler, where it is installed, reads every kernel as well.
"""

import os

import pytest

os.environ["CUPY_STANDIN"] = "always"

import nvrtc  # noqa: E402

import gpuless  # noqa: E402
from gpuless.engine import sources  # noqa: E402

gpuless.install()
if nvrtc.is_installed():
    os.environ.setdefault(sources.VARIABLE, nvrtc.__file__)


@pytest.fixture
def only_the_standin(monkeypatch):
    """Without NVIDIA's compiler: for what that one would answer first or differently."""
    monkeypatch.delenv(sources.VARIABLE, raising=False)


@pytest.fixture
def four_devices(monkeypatch):
    """Four logical devices; none may touch another's memory, whatever a test before has let."""
    from cupy.cuda import _ownership

    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "4")
    monkeypatch.setattr(_ownership, "_peers", set())


@pytest.fixture
def comms(four_devices):
    """Communicators of three ranks, on devices 0, 3 and 1."""
    from cupy.cuda import nccl

    made = nccl.NcclCommunicator.initAll([0, 3, 1])
    yield made
    for comm in made:
        comm.destroy()
