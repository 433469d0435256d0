"""``rawkernel``: a Python function as a kernel, translated and compiled at its first call."""

from __future__ import annotations

import functools
import inspect
import linecache
import re
import warnings
from collections.abc import Callable

import cupy
import numpy as np
from cupy._core._ndarray import ndarray
from cupy._core.raw import RawKernel
from cupy.cuda._ownership import check_device

from cupyx.jit._expressions import Marked
from cupyx.jit._translate import Program
from cupyx.jit._values import DIM3, INT32, Array, Type, Value, type_of

threadIdx, blockIdx = Value("threadIdx", DIM3), Value("blockIdx", DIM3)
blockDim, gridDim = Value("blockDim", DIM3), Value("gridDim", DIM3)
warpsize = Value("warpSize", INT32)


class _JitRawKernel(Marked):
    """What ``rawkernel`` makes of a function: ``f[grid, block](*args)`` or
    ``f(grid, block, args)``."""

    def __init__(self, function: Callable, mode: str, device: bool):
        super().__init__(function, mode, device)
        self._kernels: dict[tuple[Type, ...], RawKernel] = {}

    def __call__(self, grid, block, args, shared_mem=0, stream=None) -> None:
        """Run it on ``grid`` blocks of ``block`` threads, tuples of one to three integers.

        ``args`` are device arrays and numbers. ``shared_mem`` is the dynamic shared memory of a
        block in bytes. Raises TypeError, NotImplementedError and so on for what a kernel cannot
        be, CompileException for what the compiler rejects, and what a RawKernel raises.
        """
        kernel, packed = self.launchable(args)
        function = kernel.kernel
        plan = function.plan(grid, block, packed, shared_mem, kernel.enable_cooperative_groups)
        function._submit(plan, args, stream)

    def __getitem__(self, grid_and_block) -> Callable:
        grid, block = (one if isinstance(one, tuple) else (one, 1, 1) for one in grid_and_block)
        return lambda *args, **kwargs: self(grid, block, args, **kwargs)

    def launchable(self, args) -> tuple[RawKernel, list]:
        """The kernel in CUDA C for arguments of these types, and the arguments that it takes."""
        types = tuple(_type_of(arg, self.mode) for arg in args)
        if types not in self._kernels:
            program = Program(self.function, self.mode, types)
            self._kernels[types] = RawKernel(
                program.text, program.name, enable_cooperative_groups=program.cooperative
            )
        packed = [_packed(arg, kind) for arg, kind in zip(args, types, strict=True)]
        return self._kernels[types], packed

    def lines(self) -> dict[int, str]:
        """The lines of the kernel's Python file, by their numbers."""
        file = inspect.getsourcefile(self.function)
        return dict(enumerate(map(str.rstrip, linecache.getlines(file)), 1))

    @property
    def cached_codes(self) -> dict[tuple[Type, ...], str]:
        """CUDA C sources by the types of the arguments they were made for."""
        if not self._kernels:
            warnings.warn(
                "No codes are cached because compilation is deferred until the first function "
                "call.",
                stacklevel=2,
            )
        return {
            types: re.sub(r"^#line .*\n", "", kernel.code, flags=re.MULTILINE)
            for types, kernel in self._kernels.items()
        }

    @property
    def cached_code(self) -> str:
        """The CUDA C source, where the kernel has met arguments of one kind only."""
        codes = self.cached_codes
        if len(codes) > 1:
            warnings.warn(
                "The input types of the kernel could not be inferred. Please use `.cached_codes` "
                "instead.",
                stacklevel=2,
            )
        return next(iter(codes.values()))

    def get_lto_ir(self, args):
        from gpuless import not_covered

        raise not_covered("get_lto_ir of a kernel of cupyx.jit")


def _type_of(arg, mode: str) -> Type:
    if isinstance(arg, ndarray):
        return Array(arg.dtype, arg.ndim, arg.flags.c_contiguous)
    if not np.isscalar(arg):
        raise TypeError(f"{type(arg)} is not supported for RawKernel")
    return type_of(arg, mode)


def packed(array: ndarray) -> np.void:
    """An array as ``jit::Array`` is laid out."""
    check_device(array._memory, "an argument of a kernel of cupyx.jit")
    held = array._array
    address = held.ctypes.data if held.size else array._memory.ptr
    words = [address, held.size, *(held.shape or (1,)), *(held.strides or (0,))]
    return np.array(words, np.int64).view(f"V{8 * len(words)}")[0]


def _packed(arg, kind: Type):
    """An argument as the kernel in CUDA C takes it; in there a float16 is a float."""
    if isinstance(arg, ndarray):
        return packed(arg)
    return np.float32(arg) if kind.dtype == np.float16 else kind.dtype.type(arg)


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable:
    """A decorator: the Python function is a kernel or, with ``device``, a function of kernels.

    ``mode`` is the rule for the types of numbers: "cuda" (as in C; Python's are of 32 bits) or
    "numpy".
    """
    if not cupy.disable_experimental_feature_warning:
        warnings.warn(
            "cupyx.jit.rawkernel is experimental. The interface can change in the future.",
            FutureWarning,
            stacklevel=2,
        )
    return lambda function: functools.update_wrapper(
        _JitRawKernel(function, mode, device), function
    )
