"""``cupy.cuda`` on the CPU: logical devices, streams, events, graphs and memory."""

from __future__ import annotations

import contextlib

from cupy.cuda import (  # noqa: F401
    compiler,
    device,
    driver,
    memory,
    nccl,
    nvtx,
    profiler,
    runtime,
    stream,
)
from cupy.cuda._external import ExternalStream  # noqa: F401
from cupy.cuda.device import Device, get_device_id  # noqa: F401
from cupy.cuda.memory import (  # noqa: F401
    ManagedMemory,
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
from cupy.cuda.stream import (  # noqa: F401
    Event,
    Graph,
    Stream,
    get_current_stream,
    get_elapsed_time,
)
from gpuless import missing


def is_available() -> bool:
    """False: there is no GPU."""
    return False


@contextlib.contextmanager
def profile():
    """NVIDIA's profilers would watch what is inside the ``with`` block."""
    profiler.start()
    try:
        yield
    finally:
        profiler.stop()


def get_cuda_path() -> None:
    """None: CUDA is not used."""


get_nvcc_path = get_rocm_path = get_hipcc_path = get_cuda_path


def __getattr__(name: str):
    raise missing("cupy.cuda", name)
