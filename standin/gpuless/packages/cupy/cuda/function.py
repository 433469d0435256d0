"""Compiled CUDA C: modules, their functions, and how a function is launched.

What a GPU refuses is refused here; what it would hang on is an error that says where.
"""

from __future__ import annotations

import math
import operator
import re
import warnings

import numpy as np

from cupy._core import _arguments
from cupy._core._ndarray import ndarray
from cupy.cuda import _card, _ownership, memory, runtime, stream
from cupy.cuda._card import MAX_BLOCK, MAX_GRID, MAX_THREADS, SHARED_DEFAULT
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError
from gpuless import is_lenient
from gpuless.engine import kernels, sources
from gpuless.engine.errors import CompileError
from gpuless.engine.plan import Plan


def driver_error(status: int, note: str) -> CUDADriverError:
    """CuPy's error, with a note (shown below it) that says what to do."""
    error = CUDADriverError(status)
    error.add_note(note)
    return error


def _dimensions(name: str, given) -> tuple[int, int, int]:
    if not isinstance(given, tuple):
        got = type(given).__name__
        raise TypeError(f"Argument '{name}' has incorrect type (expected tuple, got {got})")
    padded = given + (1, 1)
    x, y, z = (operator.index(padded[axis]) for axis in range(3))  # what is behind is dropped
    return max(1, x), max(1, y), max(1, z)  # CuPy's own: nothing less than 1


class Function:
    """A compiled kernel. ``name`` is the kernel's name or, for a template, its expression."""

    def __init__(self, module: Module, name: str):
        self.name = name
        self.compiled = module.compiled.kernel(name)
        self._checkers = [
            _arguments.Checker(name, i + 1, p) for i, p in enumerate(self.compiled.parameters)
        ]
        self.max_threads = self.compiled.max_threads or MAX_THREADS
        self.shared_size = self.compiled.shared_bytes
        self.max_dynamic_shared = SHARED_DEFAULT - self.shared_size
        self.carveout = -1
        if self.shared_size > SHARED_DEFAULT:
            message = (
                f"ptxas error   : Entry function '{name}' uses too much shared data "
                f"({self.shared_size:#x} bytes, {SHARED_DEFAULT:#x} max)\n"
            )
            raise CompileException(message, module.source, name, module.options)

    def __call__(
        self, grid, block, args, shared_mem=0, stream=None, enable_cooperative_groups=False
    ) -> None:
        """Run the kernel on ``grid`` blocks of ``block`` threads, tuples of one to three integers.

        ``shared_mem`` is the dynamic shared memory of a block in bytes.

        Raises TypeError for arguments that do not fit the kernel's parameters, CUDADriverError for
        a launch that a GPU refuses, RuntimeError for a fault or a barrier that some threads skip.
        """
        plan = self.plan(grid, block, args, shared_mem, enable_cooperative_groups)
        self._submit(plan, args, stream)

    def plan(self, grid, block, args, shared_mem=0, cooperative=False) -> Plan:
        """The launch with all arguments checked; raises what a call would raise before it runs."""
        grid, block = _dimensions("grid", grid), _dimensions("block", block)
        return self._plan(grid, block, args, int(shared_mem), cooperative)

    def linear_launch(
        self,
        size,
        args,
        shared_mem=0,
        block_max_size=128,
        stream=None,
        enable_cooperative_groups=False,
    ) -> None:
        """Run ``size`` threads in blocks of at most ``block_max_size``."""
        blocks = min(0x7FFFFFFF, -(-size // block_max_size))
        grid, block = (blocks, 1, 1), (min(block_max_size, size), 1, 1)
        plan = self._plan(grid, block, args, shared_mem, enable_cooperative_groups)
        self._submit(plan, args, stream)

    def _plan(self, grid, block, args, shared_mem, cooperative) -> Plan:
        if len(args) != len(self._checkers):
            if len(args) < len(self._checkers) or not is_lenient():
                raise self._wrong_count(len(args))
            args = args[: len(self._checkers)]
        values = [check(a) for check, a in zip(self._checkers, args, strict=True)]
        self._check_launch(grid, block, shared_mem)
        if cooperative:
            grid = self._fit_cooperative(grid, block)
        return Plan(grid, block, values, shared_mem, cooperative)

    def _submit(self, plan: Plan, args, on_stream) -> None:
        on_stream = stream.given_stream(on_stream)
        _ownership.check_stream(on_stream)

        views = self._views(args)

        def work() -> None:
            if not _ownership.several:
                self.compiled.launch(*plan, views)
                return
            with _ownership.others_shut():
                self.compiled.launch(*plan, views)

        # Kept for as long as the graph.
        work.arrays = [a for a in args if isinstance(a, (ndarray, memory.Handle))]
        stream.submit(work, on_stream)

    def _views(self, args) -> list[kernels.View]:
        """The arrays that are parts of larger ones, unless the kernel may know of the rest."""
        views, whole = [], set()
        for arg, checker in zip(args, self._checkers, strict=False):  # lenient: the first
            if isinstance(arg, ndarray):
                held = arg._memory
                if arg.nbytes == held.size or not isinstance(held, memory.Memory):
                    whole.add(held.ptr)
                elif arg.size:
                    bounds = np.lib.array_utils.byte_bounds(arg._array)
                    views.append(kernels.View(held.ptr, held.size, *bounds))
            elif checker.kind == "s" or (checker.kind == "p" and arg is not None):
                return []
            if checker.kind == "p" and checker.target_kind in "ps" and checker.target_kind:
                return []
        return [view for view in views if view.allocation not in whole]

    def _wrong_count(self, given: int) -> TypeError:
        wanted = len(self._checkers)
        gpu = "the driver would ignore the rest"
        if given < wanted:
            gpu = "the driver would read past the end of the list, and Python may just end"
        return TypeError(
            f"kernel '{self.name}' takes {wanted} argument{'s' * (wanted != 1)} "
            f"({', '.join(c.type for c in self._checkers)}) but {given} "
            f"{'was' if given == 1 else 'were'} given. CuPy does not check this: on a GPU {gpu}"
        )

    def _check_launch(self, grid, block, shared_mem) -> None:
        """Raise what a GPU raises for a launch that it refuses."""
        threads = block[0] * block[1] * block[2]
        if threads > self.max_threads:
            limit = "the limit" if self.max_threads == MAX_THREADS else "its __launch_bounds__"
            why = f"a block of {block}, {threads} threads; {limit} is {self.max_threads}"
        elif block[2] > MAX_BLOCK[2]:
            why = f"a block of {block}; the limit in each direction is {MAX_BLOCK}"
        elif grid[0] > MAX_GRID[0] or grid[1] > MAX_GRID[1] or grid[2] > MAX_GRID[2]:
            why = f"a grid of {grid}; the limit in each direction is {MAX_GRID}"
        elif not 0 <= shared_mem <= self.max_dynamic_shared:
            most = _card.shared_limit() - self.shared_size
            why = (
                f"{shared_mem} bytes of dynamic shared memory beside {self.shared_size} of fixed "
                f"size; the limit is {self.max_dynamic_shared} unless its "
                f"max_dynamic_shared_size_bytes is raised (to {most} at most)"
            )
        else:
            return
        raise driver_error(1, f"kernel '{self.name}' was launched with {why}.")

    def _fit_cooperative(self, grid, block) -> tuple[int, int, int]:
        """All blocks of a cooperative launch must run at once; CuPy shortens a grid of one axis."""
        properties = runtime.getDeviceProperties(runtime.getDevice())
        if not properties["cooperativeLaunch"]:
            raise driver_error(801, f"kernel '{self.name}': this card has no cooperative launch.")
        per_processor = properties["maxThreadsPerMultiProcessor"] // math.prod(block)
        most = max(1, per_processor) * properties["multiProcessorCount"]
        if math.prod(grid) <= most:
            return grid
        if grid[1] == grid[2] == 1:
            warnings.warn(
                f"The grid size will be reduced from {grid[0]} to {most}, as the specified grid "
                "size exceeds the limit.",
                stacklevel=6,
            )
            return (most, 1, 1)
        sizes = " * ".join(str(n) for n in grid)
        raise ValueError(f"The specified grid size ({sizes}) exceeds the limit ({most}).")


class Module:
    """A compiled source: its functions and its global variables.

    ``name`` is what messages call the source, ``expressions`` are template kernels to compile.
    Modules of one source that differ in ``copy`` do not share its variables.
    """

    def __init__(
        self,
        source: str,
        options: tuple[str, ...] = (),
        *,
        name: str = "module",
        expressions: tuple[str, ...] = (),
        copy: int = 0,
    ):
        self.source, self.options = source, tuple(options)
        self._functions: dict[str, Function] = {}  # each with attributes, whoever asks for it
        try:
            self.compiled = kernels.Module(
                source, self.options, name=name, expressions=tuple(expressions), copy=copy
            )
            self._refuse_newer()
        except CompileError as error:
            raise CompileException(str(error), source, name, self.options) from None
        sources.tell(source, self.options, name, expressions)

    def _refuse_newer(self) -> None:
        """CompileError for what the card that is played has not; one of no capability has all."""
        card = _card.properties()
        newer = re.search(r"\b__reduce_\w+_sync\b", self.compiled.translation.text)
        if newer and 0 < card["major"] < 8:
            raise CompileError(
                f'error: identifier "{newer[0]}" is undefined: it needs compute capability 8.0, '
                f"and the card has {card['major']}.{card['minor']}"
            )

    def get_function(self, name: str) -> Function:
        """The kernel of that name; CUDADriverError (CUDA_ERROR_NOT_FOUND) if there is none."""
        known = self.compiled.translation.kernels
        if name not in known:
            note = f"there is no kernel '{name}' declared extern \"C\" in the source; there are: "
            raise driver_error(500, f"{note}{', '.join(known) or 'none'}.")
        if name not in self._functions:
            self._functions[name] = Function(self, name)
        return self._functions[name]

    def get_global_var(self, name: str) -> int:
        """Address of a ``__constant__`` or ``__device__`` variable."""
        return self.find_global(name)[0]

    def find_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__constant__`` or ``__device__`` variable."""
        try:
            return self.compiled.variable(name)
        except KeyError:
            raise driver_error(500, f"there is no variable '{name}' in the source.") from None
