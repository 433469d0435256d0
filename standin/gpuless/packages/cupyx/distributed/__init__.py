"""``cupyx.distributed`` on the CPU: one process, or thread, for each rank of a communicator."""

from __future__ import annotations

from cupyx.distributed._init import init_process_group
from cupyx.distributed._nccl_comm import NCCLBackend
from gpuless import missing

__all__ = ["NCCLBackend", "init_process_group"]


def __getattr__(name: str):
    raise missing("cupyx.distributed", name)
