"""CUDA C on a CPU: translate it to C++, compile that, and run its grid over raw memory.

README.md beside this file shows how to use it alone.
"""

from gpuless.engine.errors import CompileError, KernelError
from gpuless.engine.kernels import Kernel, Module, backwards, time_limit
from gpuless.engine.memory import Allocation

__all__ = [
    "Allocation",
    "CompileError",
    "Kernel",
    "KernelError",
    "Module",
    "backwards",
    "time_limit",
]
