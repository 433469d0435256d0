"""Compiled CUDA C: modules, their functions, and how a function is launched.

What a GPU refuses is refused here; what it would hang on is an error that says where.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import sys
import threading
import warnings

from cupy._core import _arguments
from cupy._core._ndarray import ndarray
from cupy.cuda import _card, _ownership, memory, runtime, stream
from cupy.cuda._card import MAX_BLOCK, MAX_GRID, MAX_THREADS, SHARED_DEFAULT
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError
from helpers.standin import nvrtc
from helpers.standin.engine import compiler, translate
from helpers.standin.engine.errors import CompileError

RESIDENT_LIMIT = 65536  # threads whose blocks may run at once though no cooperative launch asks
SPIN_LIMIT = 20.0  # seconds that threads may go round a loop with nothing else happening

# Of shim/runtime.h.
_IN_TURN, _AT_ONCE, _COOPERATIVE = range(3)  # StandinResidence
_INTERRUPTED = 5  # StandinCode
_PRINTED = 256

_lock = threading.RLock()  # the runtime runs one launch at a time


class _Kernel(ctypes.Structure):
    """StandinKernel."""

    _fields_ = [
        ("call", ctypes.c_void_p),
        ("loop", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(_arguments.Parameter)),
        ("parameter_count", ctypes.c_int),
        ("shared_begin", ctypes.c_void_p),
        ("shared_end", ctypes.c_void_p),
    ]


class _Report(ctypes.Structure):
    """StandinReport."""

    _fields_ = [
        ("code", ctypes.c_int),
        ("has_thread", ctypes.c_int),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
        ("text", ctypes.c_char * 1024),
    ]


@functools.cache
def _runtime() -> ctypes.CDLL:
    library = compiler.runtime()
    numbers = [ctypes.c_uint] * 6 + [ctypes.c_size_t, ctypes.c_int]
    library.standin_launch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *numbers]
    library.standin_guard.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.standin_output.argtypes = [ctypes.POINTER(ctypes.c_size_t)]
    library.standin_output.restype = ctypes.c_void_p
    return library


def guarded(name: str, function: int, argument: int) -> None:
    """Call the C function at address ``function``, ``void (*)(void *)``, as a kernel is called:
    a fault is a RuntimeError that names ``name``, and what is printed reaches ``sys.stdout``."""
    with _lock:
        if code := _runtime().standin_guard(function, argument):
            _report(name, code)


def _report(name: str, code: int) -> None:
    """Hand on what was printed; raise if the launch ended early."""
    library = _runtime()
    if code & _PRINTED:
        length = ctypes.c_size_t()
        text = library.standin_output(ctypes.byref(length))
        sys.stdout.write(ctypes.string_at(text, length.value).decode(errors="replace"))
        code -= _PRINTED
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        report = _Report.in_dll(library, "standin_report")
        where = f"kernel '{name}'"
        if report.has_thread:
            where += f", block {tuple(report.block)}, thread {tuple(report.thread)}"
        raise RuntimeError(f"{where}: {report.text.decode(errors='replace')}")


def check_memory(name: str, held, what: str = "an array") -> None:
    """RuntimeError if the kernel ``name`` wrote next to a ``Memory``, which is then mended."""
    offset = held.damage()
    if offset is not None:
        held.repair()
        place = f"at byte {offset}, {'before the start' if offset < 0 else 'past the end'}"
        raise RuntimeError(
            f"kernel '{name}' wrote outside {what} of {held.size} bytes: {place}. "
            "Test the index before the access, as in `if (i < n)`"
        )


def driver_error(status: int, note: str) -> CUDADriverError:
    """CuPy's error, with a note (shown below it) that says what to do."""
    error = CUDADriverError(status)
    error.add_note(note)
    return error


def _dimensions(name: str, given) -> tuple[int, int, int]:
    if not isinstance(given, tuple):
        got = type(given).__name__
        raise TypeError(f"Argument '{name}' has incorrect type (expected tuple, got {got})")
    x, y, z = (given + (1, 1))[:3]
    return max(1, int(x)), max(1, int(y)), max(1, int(z))  # CuPy's own: nothing less than 1


class Function:
    """A compiled kernel. ``name`` is the kernel's name or, for a template, its expression."""

    def __init__(self, module: Module, name: str):
        self.module = module  # keeps the library loaded
        self.name = name
        number = module._translation.kernels.index(name)
        entry = getattr(module._library, f"standin_kernel_{number}")
        entry.restype = ctypes.POINTER(_Kernel)
        kernel = entry().contents
        self.ptr = ctypes.addressof(kernel)
        self._checkers = [
            _arguments.Checker(name, i + 1, kernel.parameters[i])
            for i in range(kernel.parameter_count)
        ]
        self._pack = struct.Struct("=" + "".join(c.format for c in self._checkers)).pack
        self._launch = _runtime().standin_launch
        self._spin_limit = ctypes.c_double.in_dll(_runtime(), "standin_spin_limit")
        self.max_threads = module._translation.max_threads.get(name, MAX_THREADS)
        self.max_dynamic_shared = SHARED_DEFAULT
        self.carveout = -1
        # Of the whole module: exact where it has one kernel.
        self.shared_size = (kernel.shared_end or 0) - (kernel.shared_begin or 0)
        if self.shared_size > SHARED_DEFAULT and len(module._translation.kernels) == 1:
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
        grid, block = _dimensions("grid", grid), _dimensions("block", block)
        self._submit(grid, block, args, int(shared_mem), stream, enable_cooperative_groups)

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
        self._submit(grid, block, args, shared_mem, stream, enable_cooperative_groups)

    def _submit(self, grid, block, args, shared_mem, on_stream, cooperative) -> None:
        if len(args) != len(self._checkers):
            raise self._wrong_count(len(args))
        _ownership.check_stream(on_stream)
        packed = self._pack(*[check(a) for check, a in zip(self._checkers, args, strict=True)])
        self._check_launch(grid, block, shared_mem)
        residence = _IN_TURN
        if cooperative:
            grid, residence = self._fit_cooperative(grid, block), _COOPERATIVE
        elif self.module._translation.spins:
            if math.prod(grid) * math.prod(block) <= RESIDENT_LIMIT:
                residence = _AT_ONCE
        arrays = [a for a in args if isinstance(a, ndarray)]  # kept for as long as the graph
        memories = {id(a._memory): a._memory for a in arrays}
        memories |= {id(a.mem): a.mem for a in args if isinstance(a, memory.MemoryPointer)}

        def work() -> None:
            with _lock:
                self._spin_limit.value = SPIN_LIMIT
                code = self._launch(self.ptr, packed, *grid, *block, shared_mem, residence)
                if code:
                    _report(self.name, code)
            for held in memories.values():
                check_memory(self.name, held)

        work.arrays = arrays
        stream.submit(work, on_stream)

    def _wrong_count(self, given: int) -> TypeError:
        wanted = len(self._checkers)
        return TypeError(
            f"kernel '{self.name}' takes {wanted} argument{'s' * (wanted != 1)} "
            f"({', '.join(c.type for c in self._checkers)}) but {given} "
            f"{'was' if given == 1 else 'were'} given. CuPy does not check this, and on a GPU "
            "the kernel would read garbage"
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
            why = (
                f"{shared_mem} bytes of dynamic shared memory; the limit is "
                f"{self.max_dynamic_shared} unless its max_dynamic_shared_size_bytes is raised "
                f"(to {_card.shared_limit()} at most)"
            )
        else:
            return
        raise driver_error(1, f"kernel '{self.name}' was launched with {why}.")

    def _fit_cooperative(self, grid, block) -> tuple[int, int, int]:
        """All blocks of a cooperative launch must run at once; CuPy shortens a grid of one axis."""
        properties = runtime.getDeviceProperties(runtime.getDevice())
        if not properties["cooperativeLaunch"]:
            note = f"kernel '{self.name}': this card has no cooperative launch."
            raise driver_error(801, note)
        per_processor = properties["maxThreadsPerMultiProcessor"] // math.prod(block)
        most = max(1, per_processor) * properties["multiProcessorCount"]
        if math.prod(grid) <= most:
            return grid
        if grid[1] == grid[2] == 1:
            warnings.warn(
                f"The grid size will be reduced from {grid[0]} to {most}, as the specified grid "
                "size exceeds the limit.",
                stacklevel=5,
            )
            return (most, 1, 1)
        sizes = " * ".join(str(n) for n in grid)
        raise ValueError(f"The specified grid size ({sizes}) exceeds the limit ({most}).")


class Module:
    """A compiled source: its functions and its global variables.

    ``name`` is what messages call the source, ``expressions`` are template kernels to compile.
    """

    def __init__(
        self,
        source: str,
        options: tuple[str, ...] = (),
        *,
        name: str = "module",
        expressions: tuple[str, ...] = (),
    ):
        self.source, self.options = source, tuple(options)
        parsed = compiler.parse_options(self.options)
        try:
            self._translation = translate.translate(
                source,
                name=name,
                expressions=tuple(expressions),
                definitions=parsed.definitions,
                include_folders=parsed.folders,
            )
            nvrtc.check_if_wanted(source, self.options, name, expressions)
            self._library = compiler.build(
                self._translation.text, options=parsed.arguments, name=name
            )
        except CompileError as error:
            raise CompileException(str(error), source, name, self.options) from None

    def get_function(self, name: str) -> Function:
        """The kernel of that name; CUDADriverError (CUDA_ERROR_NOT_FOUND) if there is none."""
        kernels = self._translation.kernels
        if name not in kernels:
            note = f"there is no kernel '{name}' declared extern \"C\" in the source; there are: "
            raise driver_error(500, f"{note}{', '.join(kernels) or 'none'}.")
        return Function(self, name)

    def get_global_var(self, name: str) -> int:
        """Address of a ``__constant__`` or ``__device__`` variable."""
        return self.find_global(name)[0]

    def find_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__constant__`` or ``__device__`` variable."""
        if name not in self._translation.globals:
            raise driver_error(500, f"there is no variable '{name}' in the source.")
        find = getattr(self._library, f"standin_global_{name}")
        find.restype, size = ctypes.c_void_p, ctypes.c_size_t()
        return find(ctypes.byref(size)), size.value
