"""``cupy.cuda`` on the CPU: logical devices, streams, events, graphs and memory."""

from __future__ import annotations

import contextlib
import importlib
import warnings

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
    warnings.warn("cupy.cuda.profile is deprecated: use cupyx.profiler.profile", stacklevel=3)
    profiler.start()
    try:
        yield
    finally:
        profiler.stop()


def get_cuda_path() -> None:
    """None: CUDA is not used."""


get_nvcc_path = get_rocm_path = get_hipcc_path = get_cuda_path


# What is imported when it is asked for: the name, and the module that has it.
_LATER = {
    **{name: "_async" for name in ("MemoryAsync", "MemoryAsyncPool", "malloc_async")},
    "MemoryHook": "memory_hook",
    **{name: name for name in ("memory_hook", "memory_hooks", "texture")},
}


def __getattr__(name: str):
    if name not in _LATER:
        raise missing("cupy.cuda", name)
    home = importlib.import_module(f"cupy.cuda.{_LATER[name]}")
    return home if name == _LATER[name] else getattr(home, name)
