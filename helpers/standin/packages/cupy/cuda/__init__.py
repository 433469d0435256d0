"""``cupy.cuda`` on the CPU: logical devices, streams, events, graphs and memory."""

from __future__ import annotations

from cupy.cuda import compiler, device, driver, memory, nvtx, profiler, runtime, stream
from cupy.cuda.device import Device, get_device_id
from cupy.cuda.memory import (
    Memory,
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from cupy.cuda.stream import (
    Event,
    ExternalStream,
    Graph,
    Stream,
    get_current_stream,
    get_elapsed_time,
)

nvtx_enabled = False
cub_enabled = False
cutensor_enabled = False

__all__ = [
    "Device",
    "Event",
    "ExternalStream",
    "Graph",
    "Memory",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "device",
    "driver",
    "get_allocator",
    "get_current_stream",
    "get_cuda_path",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "malloc_managed",
    "memory",
    "nvtx",
    "profiler",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "using_allocator",
]

_NOT_COVERED = ("cublas", "cufft", "curand", "cusolver", "cusparse", "nccl", "texture", "cutensor")


def is_available() -> bool:
    """False: there is no GPU."""
    return False


def get_cuda_path() -> None:
    """None: CUDA is not used."""


def get_local_runtime_version() -> int:
    return 0


def __getattr__(name: str):
    if name in _NOT_COVERED:
        from helpers.standin import not_covered

        raise not_covered(f"cupy.cuda.{name}")
    raise AttributeError(f"module 'cupy.cuda' has no attribute {name!r}")
