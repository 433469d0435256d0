"""``cupyx.jit`` on the CPU: Python functions as kernels. They are translated into CUDA C, which
is compiled and run as a RawModule's is."""

# ruff: noqa: I001  (imported names in rows)

from __future__ import annotations

from cupyx.jit._builtins import (  # noqa: F401
    atomic_add, atomic_and, atomic_cas, atomic_dec, atomic_exch, atomic_inc, atomic_max,
    atomic_min, atomic_or, atomic_sub, atomic_xor, grid, gridsize, laneid, shared_memory,
    shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, syncthreads, syncwarp,
)  # fmt: skip
from cupyx.jit._builtins import range_ as range  # noqa: F401
from cupyx.jit._interface import (  # noqa: F401
    blockDim, blockIdx, gridDim, rawkernel, threadIdx, warpsize,
)  # fmt: skip
from gpuless import missing


def __getattr__(name: str):
    if name == "cg":
        import importlib

        return importlib.import_module("cupyx.jit.cg")
    raise missing("cupyx.jit", name)
