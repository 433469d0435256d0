"""The start of a process group."""

from __future__ import annotations

import os

from cupyx.distributed._nccl_comm import DEFAULT_HOST, DEFAULT_PORT, NCCLBackend


def init_process_group(
    n_devices: int,
    rank: int,
    *,
    backend: str = "nccl",
    host: str | None = None,
    port: int | None = None,
    use_mpi: bool = False,
) -> NCCLBackend:
    """Join ``n_devices`` processes, this one as ``rank``, on the device that is current.

    They meet at ``host`` (default: the environment variable CUPYX_DISTRIBUTED_HOST, else 127.0.0.1)
    and ``port`` (CUPYX_DISTRIBUTED_PORT, else 13333), where rank 0 listens; with ``use_mpi`` they
    meet by mpi4py. Raises ValueError for numbers or a backend that cannot be.
    """
    if n_devices <= 0:
        raise ValueError(f"Invalid number of devices {n_devices}")
    if not 0 <= rank < n_devices:
        raise ValueError(f"Invalid number of rank {rank} {n_devices}")
    if backend != "nccl":
        raise ValueError(f"{backend} is not supported")
    if host is None:
        host = os.environ.get("CUPYX_DISTRIBUTED_HOST", DEFAULT_HOST)
    if port is None:
        port = int(os.environ.get("CUPYX_DISTRIBUTED_PORT", DEFAULT_PORT))
    return NCCLBackend(n_devices, rank, host, port, use_mpi)
