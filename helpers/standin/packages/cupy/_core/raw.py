"""RawKernel and RawModule: CUDA C compiled for the CPU, called with CuPy's rules and stricter ones.

A GPU takes whatever arguments it is given; here each is checked against the kernel's parameters.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import pickle
import re
import struct
import sys
import threading
import warnings

import numpy as np

from cupy._core._ndarray import ndarray
from cupy.cuda import memory, runtime, stream
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError
from helpers.standin import compiler, translate

MAX_THREADS = 1024  # a block
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
SHARED_DEFAULT = (
    48 * 1024
)  # bytes of dynamic shared memory a kernel may ask for unless it says more
SHARED_LIMIT = 227 * 1024  # static and dynamic together, as on an H100
RESIDENT_LIMIT = 65536  # threads whose blocks may all run at once where no cooperative launch asks
SPIN_LIMIT = 20.0  # seconds that threads may wait for each other with nothing happening
_FAULT, _DIVERGED, _REFUSED, _SPINNING, _INTERRUPTED = range(1, 6)
_IN_TURN, _AT_ONCE, _COOPERATIVE = range(3)

_launch_lock = threading.RLock()


class _Parameter(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_char),
        ("target_kind", ctypes.c_char),
        ("size", ctypes.c_int),
        ("target_size", ctypes.c_int),
        ("type", ctypes.c_char_p),
    ]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("call", ctypes.c_void_p),
        ("loop", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("parameter_count", ctypes.c_int),
        ("shared_begin", ctypes.c_void_p),
        ("shared_end", ctypes.c_void_p),
    ]


class _Report(ctypes.Structure):
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
    unsigned = ctypes.c_uint
    library.standin_launch.argtypes = [
        *[ctypes.c_void_p, ctypes.c_char_p],
        *[unsigned] * 6,
        *[ctypes.c_size_t, ctypes.c_int],
    ]
    library.standin_output.argtypes = [ctypes.POINTER(ctypes.c_size_t)]
    library.standin_output.restype = ctypes.c_void_p
    return library


def _driver_error(status: int, note: str) -> CUDADriverError:
    """CuPy's error, with a note (shown below it) that says what to do."""
    error = CUDADriverError(status)
    error.add_note(note)
    return error


# ---- arguments -----------------------------------------------------------------------------------


def _type_name(text: bytes) -> str:
    """The type in the compiler's description of a template function of that type."""
    found = re.search(r"T = (.*?)[\];]", text.decode())
    name = found[1] if found else "?"
    return re.sub(r"standin_user::|\(anonymous namespace\)::|\{anonymous\}::|<unnamed>::", "", name)


class _Checker:
    """Turns one Python argument into the value that ``struct.pack`` stores for a parameter."""

    def __init__(self, kernel: str, position: int, parameter: _Parameter):
        self.kind = parameter.kind.decode()
        self.size = parameter.size
        self.target_kind = parameter.target_kind.decode().strip("\0")
        self.target_size = parameter.target_size
        self.type = _type_name(parameter.type)
        self.where = f"argument {position} of kernel '{kernel}' ({self.type})"
        self.format = {"p": "Q", "f": "f" if self.size == 4 else "d", "b": "?"}.get(self.kind)
        if self.format is None:
            self.format = f"{self.size}s"  # structs by their bytes, integers of any size too
        self.format += f"{-self.size % 16}x"
        self.accepted: set[np.dtype] = set()  # of arrays, found right before

    def __call__(self, value):
        if isinstance(value, ndarray):
            return self._array(value)
        if value is None:
            return self._address(0, "None")
        if isinstance(value, memory.MemoryPointer):
            return self._address(value.ptr, "a MemoryPointer")
        if isinstance(value, np.ndarray):
            return self._by_value(value)
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return self._scalar(value)
        raise TypeError(f"Unsupported type {type(value)}")

    def _refuse(self, got: str, remedy: str) -> TypeError:
        return TypeError(
            f"{self.where} got {got}. CuPy does not check this, and on a GPU the kernel would read "
            f"garbage; {remedy}"
        )

    def _address(self, address: int, what: str) -> int:
        if self.kind != "p":
            raise self._refuse(what, f"pass {self._example()}")
        return address

    def _example(self) -> str:
        names = {"f": "float", "i": "int", "u": "uint"}
        if self.kind in names:
            return f"np.{names[self.kind]}{8 * self.size}(...)"
        return "np.bool_(...)" if self.kind == "b" else "a numpy.ndarray of one such element"

    def _array(self, array: ndarray) -> int:
        dtype = array._array.dtype
        if dtype not in self.accepted:
            if self.kind != "p":
                raise self._refuse(f"a cupy.ndarray of {dtype}", f"pass {self._example()}")
            if not self._points_to(dtype):
                raise self._refuse(
                    f"a cupy.ndarray of {dtype}",
                    "convert it with astype(), view it as the right dtype, or change the parameter",
                )
            self.accepted.add(dtype)
        return array._array.ctypes.data

    def _points_to(self, dtype: np.dtype) -> bool:
        """Whether an array of this dtype may be read through the pointer.

        Characters and structs (float4, say) may look at any memory; signs are not held against it.
        """
        kind, size = self.target_kind, self.target_size
        if (
            kind in ("", "s", "c", "p")
            or (size == 1 and dtype.itemsize == 1)
            or kind == "u"
            and size == 1
        ):
            return True
        if dtype.kind == "c":  # real and imaginary parts, one after another
            return kind == "f" and 2 * size == dtype.itemsize
        wanted = {"f": "f", "i": "iu", "u": "iu", "b": "b"}[kind]
        if dtype == np.float16:  # often handled as unsigned short
            return size == 2
        return dtype.kind in wanted and dtype.itemsize == size

    def _by_value(self, value: np.ndarray):
        if value.size != 1:
            raise TypeError(
                f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel "
                "parameter. Only numpy.ndarrays of size one can be passed by value. If you meant to "
                "pass a pointer to __global__ memory, you need to pass a cupy.ndarray instead."
            )
        if value.dtype.kind in "biufc" and self.kind != "s":
            return self._scalar(value.reshape(())[()])
        return self._bytes(value.tobytes(), f"a numpy.ndarray of {value.nbytes} bytes")

    def _bytes(self, raw: bytes, what: str) -> bytes:
        if self.kind != "s" or len(raw) != self.size:
            raise self._refuse(what, f"the parameter has {self.size} bytes; pass {self._example()}")
        return raw

    def _scalar(self, value):
        kind = self.kind
        if kind in "iuc":
            if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
                return self._integer(value)
        elif kind == "f":
            size = 8 if isinstance(value, float) else getattr(value, "itemsize", 0)
            if isinstance(value, np.float32) and self.size == 4:
                return value
            if isinstance(value, float) and self.size == size == 8:
                return value
        elif kind == "b" and isinstance(value, (bool, np.bool_)):
            return value
        elif kind == "s" and not isinstance(value, (bool, int, float)):
            return self._bytes(np.asarray(value).tobytes(), f"a {type(value).__name__}")
        raise self._refuse(*self._explain(value))

    def _integer(self, value) -> bytes:
        python = isinstance(value, int)
        given = 8 if python else value.itemsize
        if given < self.size:
            kind = type(value).__name__
            raise self._refuse(f"a numpy.{kind} of {given} bytes", f"pass {self._example()}")
        # CuPy passes the low bytes of a wider integer, whatever its sign.
        low, high = -(1 << (8 * self.size - 1)), 1 << (8 * self.size)
        if not low <= int(value) < high:
            raise OverflowError(
                f"{self.where} got {int(value)}, which does not fit into {self.size} bytes. CuPy "
                "passes its low bytes without a word; make the parameter wider (long long)"
            )
        return (int(value) % high).to_bytes(self.size, sys.byteorder)

    def _explain(self, value) -> tuple[str, str]:
        kind = type(value).__name__
        what = f"the {kind} {value!r}" if not isinstance(value, np.generic) else f"a numpy.{kind}"
        if self.kind == "p":
            return what, "pass a cupy.ndarray"
        if type(value) is float:
            what += ", which CuPy passes as a double of 8 bytes"
        elif type(value) is int:
            what += ", which CuPy passes as an integer of 8 bytes"
        elif type(value) is bool:
            what += ", which CuPy passes as one byte"
        return what, f"pass {self._example()}"


# ---- functions and modules -----------------------------------------------------------------------


def _dimensions(name: str, given) -> tuple[int, int, int]:
    if not isinstance(given, tuple):
        got = type(given).__name__
        raise TypeError(f"Argument '{name}' has incorrect type (expected tuple, got {got})")
    padded = (given + (1, 1))[:3]
    return tuple(max(1, int(n)) for n in padded)  # CuPy's own: nothing less than 1


class Function:
    """A compiled kernel. ``name`` is the kernel's name or, for a template, its expression."""

    def __init__(self, module: Module, name: str):
        self.module = module
        self.name = name
        self._library = module._library
        number = module._translation.kernels.index(name)
        entry = getattr(self._library, f"standin_kernel_{number}")
        entry.restype = ctypes.POINTER(_Kernel)
        pointer = entry()
        self._kernel = pointer.contents
        self._address = ctypes.addressof(self._kernel)
        self._runtime = _runtime()
        self._spin_limit = ctypes.c_double.in_dll(self._runtime, "standin_spin_limit")
        count = self._kernel.parameter_count
        self._checkers = [_Checker(name, i + 1, self._kernel.parameters[i]) for i in range(count)]
        self._pack = struct.Struct("=" + "".join(c.format for c in self._checkers)).pack
        self.ptr = self._address
        self.max_threads = module._translation.max_threads.get(name, MAX_THREADS)
        # Of the whole module: exact where it has one kernel.
        self.shared_size = (self._kernel.shared_end or 0) - (self._kernel.shared_begin or 0)
        if self.shared_size > SHARED_DEFAULT and len(module._translation.kernels) == 1:
            message = (
                f"ptxas error   : Entry function '{name}' uses too much shared data "
                f"({self.shared_size:#x} bytes, {SHARED_DEFAULT:#x} max)\n"
            )
            raise CompileException(message, module._source, name, module._options)
        self.max_dynamic_shared = SHARED_DEFAULT

    def __call__(
        self, grid, block, args, shared_mem=0, stream=None, enable_cooperative_groups=False
    ) -> None:
        """Run the kernel on ``grid`` blocks of ``block`` threads, tuples of one to three integers.

        ``shared_mem`` is the dynamic shared memory of a block in bytes.

        Raises TypeError for arguments that do not fit the kernel's parameters, CUDADriverError for
        a launch that a GPU refuses, RuntimeError for a fault or a barrier that not all threads reach.
        """
        self._submit(
            _dimensions("grid", grid),
            _dimensions("block", block),
            args,
            int(shared_mem),
            stream,
            enable_cooperative_groups,
        )

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
            wanted, given = len(self._checkers), len(args)
            raise TypeError(
                f"kernel '{self.name}' takes {wanted} argument{'s' * (wanted != 1)} "
                f"({', '.join(c.type for c in self._checkers)}) but {given} "
                f"{'was' if given == 1 else 'were'} given. CuPy does not check this, and on a GPU the "
                "kernel would read garbage"
            )
        packed = self._pack(*[check(value) for check, value in zip(self._checkers, args)])
        self._check_launch(grid, block, shared_mem)
        if cooperative:
            grid = self._fit_cooperative(grid, block)
        threads = math.prod(grid) * math.prod(block)
        if cooperative:
            residence = _COOPERATIVE
        elif self.module._translation.spins and threads <= RESIDENT_LIMIT:
            residence = _AT_ONCE
        else:
            residence = _IN_TURN
        kept = [value for value in args if isinstance(value, ndarray)]

        def work() -> None:
            self._run(packed, grid, block, shared_mem, residence, kept)

        stream.submit(work, on_stream)

    def _run(self, packed, grid, block, shared_mem, residence, arrays) -> None:
        with _launch_lock:
            self._spin_limit.value = SPIN_LIMIT
            code = self._runtime.standin_launch(
                self._address, packed, *grid, *block, shared_mem, residence
            )
            if code:
                self._report(code)
            for array in arrays:
                if (offset := array._memory.damage()) is not None:
                    self._report_damage(array, offset)

    def _report(self, code: int) -> None:
        """Hand on what was printed; raise if the launch ended early."""
        if code & 256:
            length = ctypes.c_size_t()
            text = self._runtime.standin_output(ctypes.byref(length))
            sys.stdout.write(ctypes.string_at(text, length.value).decode(errors="replace"))
        if not code & 255:
            return
        if code & 255 == _INTERRUPTED:
            raise KeyboardInterrupt
        report = _Report.in_dll(self._runtime, "standin_report")
        where = f"kernel '{self.name}'"
        if report.has_thread:
            where += f", block {tuple(report.block)}, thread {tuple(report.thread)}"
        raise RuntimeError(f"{where}: {report.text.decode(errors='replace')}")

    def _report_damage(self, array: ndarray, offset: int) -> None:
        array._memory.repair()
        size, item = array._memory.size, array.dtype.itemsize
        place = f"at byte {offset}, {'before the start' if offset < 0 else 'past the end'}"
        raise RuntimeError(
            f"kernel '{self.name}' wrote outside an array of {size} bytes ({size // item} elements of "
            f"{array.dtype}): {place}. Test the index before the access, as in `if (i < n)`"
        )

    def _check_launch(self, grid, block, shared_mem) -> None:
        """Raise what a GPU raises for a launch that it refuses."""
        why = None
        if math.prod(block) > self.max_threads:
            why = (
                f"a block of {block[0]} x {block[1]} x {block[2]} = {math.prod(block)} threads; "
                f"{'__launch_bounds__ allows' if self.max_threads < MAX_THREADS else 'the limit is'} "
                f"{self.max_threads}"
            )
        elif any(n > limit for n, limit in zip(block, MAX_BLOCK)):
            why = f"a block of {block}; the limit in each direction is {MAX_BLOCK}"
        elif any(n > limit for n, limit in zip(grid, MAX_GRID)):
            why = f"a grid of {grid}; the limit in each direction is {MAX_GRID}"
        elif not 0 <= shared_mem <= self.max_dynamic_shared:
            why = (
                f"{shared_mem} bytes of dynamic shared memory; the limit is "
                f"{self.max_dynamic_shared} unless the kernel's max_dynamic_shared_size_bytes is raised "
                f"(to {SHARED_LIMIT} at most)"
            )
        if why:
            raise _driver_error(1, f"kernel '{self.name}' was launched with {why}.")

    def _fit_cooperative(self, grid, block) -> tuple[int, int, int]:
        """All blocks of a cooperative launch must run at once; CuPy shortens a grid of one axis."""
        properties = runtime.getDeviceProperties(runtime.getDevice())
        per_processor = properties["maxThreadsPerMultiProcessor"] // math.prod(block)
        most = max(1, per_processor) * properties["multiProcessorCount"]
        if math.prod(grid) <= most:
            return grid
        if grid[1] == grid[2] == 1:
            warnings.warn(
                f"The grid size will be reduced from {grid[0]} to {most}, as the specified grid size "
                "exceeds the limit.",
                stacklevel=5,
            )
            return (most, 1, 1)
        raise ValueError(
            f"The specified grid size ({grid[0]} * {grid[1]} * {grid[2]}) exceeds the limit ({most})."
        )


class Module:
    """A compiled source: its functions and its global variables."""

    def __init__(
        self,
        source: str,
        options: tuple[str, ...] = (),
        *,
        name: str = "module",
        expressions: tuple[str, ...] = (),
    ):
        self._source, self._options = source, (options := tuple(options))
        parsed = compiler.parse_options(options)
        if os.environ.get("CUPY_STANDIN_NVRTC") == "1":
            from helpers.standin import nvrtc

            nvrtc.check(source, options, name=name, expressions=expressions)
        try:
            self._translation = translate.translate(
                source,
                name=name,
                expressions=tuple(expressions),
                definitions=parsed.definitions,
                include_folders=parsed.folders,
            )
        except translate.NoSuchHeader as missing:
            message = (
                f"{name}.cu({missing.line}): catastrophic error: could not open source file "
                f'"{missing.header}"\n\n1 catastrophic error detected in the compilation of '
                f'"{name}.cu".\nCompilation terminated.\n'
            )
            raise CompileException(message, source, name, options) from None
        try:
            self._library = compiler.build(
                self._translation.text, options=parsed.arguments, name=name
            )
        except CompileException as error:  # of the reader's source, not of its translation
            raise CompileException(str(error), source, name, options) from None

    def get_function(self, name: str) -> Function:
        """The kernel of that name; CUDADriverError (CUDA_ERROR_NOT_FOUND) if there is none."""
        if name not in self._translation.kernels:
            raise _driver_error(
                500,
                f"there is no kernel '{name}' declared extern \"C\" in the source; there are: "
                f"{', '.join(self._translation.kernels) or 'none'}.",
            )
        return Function(self, name)

    def get_global_var(self, name: str) -> int:
        """Address of a ``__constant__`` or ``__device__`` variable."""
        return self._global(name)[0]

    def _global(self, name: str) -> tuple[int, int]:
        if name not in self._translation.globals:
            raise _driver_error(500, f"there is no variable '{name}' in the source.")
        find = getattr(self._library, f"standin_global_{name}")
        find.restype, size = ctypes.c_void_p, ctypes.c_size_t()
        return find(ctypes.byref(size)), size.value


@functools.cache
def _module(source: str, options: tuple, name: str, expressions: tuple) -> Module:
    """One module for each source, so that kernels from one source share its variables."""
    return Module(source, options, name=name, expressions=expressions)


def _check_backend(backend: str, translate_cucomplex: bool, jitify: bool) -> None:
    from helpers.standin import not_covered

    if backend not in ("nvrtc", "nvcc"):
        raise ValueError(f"Invalid backend: {backend}")
    if translate_cucomplex:
        raise not_covered("RawKernel(translate_cucomplex=True)")
    if jitify:
        raise not_covered("RawKernel(jitify=True)")


def _need(name: str, value, kind: type) -> None:
    if not isinstance(value, kind):
        got = type(value).__name__
        raise TypeError(
            f"Argument '{name}' has incorrect type (expected {kind.__name__}, got {got})"
        )


class RawKernel:
    """A kernel written in CUDA C: ``RawKernel(code, name)``, called as ``k(grid, block, args)``.

    Args:
        code: CUDA C; the kernel is declared ``extern "C" __global__ void name(...)``.
        name: the kernel's name.
        options: options for the compiler, such as ``("-DTILE=16",)``.
        enable_cooperative_groups: launch all blocks at once, for grid-wide barriers.

    It is compiled at the first call, or by ``compile()``; what the compiler rejects raises
    ``cupy.cuda.compiler.CompileException``.
    """

    _VERSION = 2  # of pickles

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ):
        for argument, value, kind in (
            ("code", code, str),
            ("name", name, str),
            ("options", options, tuple),
        ):
            _need(argument, value, kind)
        _check_backend(backend, translate_cucomplex, jitify)
        self.code = code
        self.name = self.__name__ = name
        self.options = options
        self.backend = backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.file_path = None
        self.name_expressions = None
        self._function: Function | None = None
        self._module_name = name

    def __call__(self, grid, block, args, **kwargs) -> None:
        """Run it: ``k((blocks,), (threads,), (x, y, n), shared_mem=0)``."""
        function = self._function or self.kernel
        function(
            grid, block, args, enable_cooperative_groups=self.enable_cooperative_groups, **kwargs
        )

    @property
    def kernel(self) -> Function:
        if self._function is None:
            expressions = self.name_expressions or ()
            module = _module(self.code, self.options, self._module_name, expressions)
            self._function = module.get_function(self.name)
        return self._function

    def compile(self, log_stream=None) -> None:
        """Compile now. ``log_stream`` receives what the compiler says, which is nothing."""
        self._function = None
        _ = self.kernel

    def __getstate__(self) -> dict:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_function", "__name__")}
        return {**state, "raw_ver": self._VERSION}

    def __setstate__(self, state: dict) -> None:
        state = dict(state)
        if state.pop("raw_ver", None) != self._VERSION:
            raise pickle.UnpicklingError(
                "The pickled RawKernel object is not supported by the current CuPy version. It should "
                "not be used. Please recompile."
            )
        self.__dict__.update(state, _function=None, __name__=state["name"])

    # What CUDA knows of a kernel. 0 where only a GPU's compiler could say.

    max_threads_per_block = property(lambda self: self.kernel.max_threads)
    shared_size_bytes = property(lambda self: self.kernel.shared_size)
    const_size_bytes = property(lambda self: 0)
    local_size_bytes = property(lambda self: 0)
    num_regs = property(lambda self: 0)
    ptx_version = property(lambda self: 0)
    binary_version = property(lambda self: 0)
    cache_mode_ca = property(lambda self: 0)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Bytes of dynamic shared memory that a launch may ask for. Can be set, up to 227 KiB."""
        return self.kernel.max_dynamic_shared

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        if not 0 <= size <= SHARED_LIMIT - self.kernel.shared_size:
            raise _driver_error(
                1, f"kernel '{self.name}' cannot have {size} bytes: {SHARED_LIMIT} is the limit."
            )
        self.kernel.max_dynamic_shared = int(size)

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Per cent of the cache to be used as shared memory; -1: no preference. Can be set."""
        return getattr(self.kernel, "carveout", -1)

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent: int) -> None:
        if not -1 <= percent <= 100:
            raise _driver_error(1, f"a carveout of {percent} is not between -1 and 100.")
        self.kernel.carveout = int(percent)

    @property
    def attributes(self) -> dict[str, int]:
        """All of the above by CUDA's names."""
        names = (
            "max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs "
            "ptx_version binary_version cache_mode_ca max_dynamic_shared_size_bytes "
            "preferred_shared_memory_carveout"
        )
        return {name: getattr(self, name) for name in names.split()}


class RawModule:
    """A source with several kernels: ``RawModule(code=...).get_function(name)``.

    Args:
        code: CUDA C.
        name_expressions: templates to compile, such as ``("scale<float>",)``; their text is the name
            for ``get_function``.
        options, enable_cooperative_groups: as for RawKernel.
        path: a cubin or PTX file, which needs a GPU: NotImplementedError here.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions=None,
        jitify: bool = False,
    ):
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if name_expressions is not None:
            if code is None:
                raise ValueError("need CUDA C++ code for the requested kernels")
            if backend != "nvrtc":
                raise ValueError(
                    "only nvrtc supports retrieving the mangled names for the given name expressions"
                )
        if path is not None:
            from helpers.standin import not_covered

            raise not_covered("RawModule(path=...): loading a compiled GPU module")
        _need("code", code, str)
        _need("options", options, tuple)
        _check_backend(backend, translate_cucomplex, jitify)
        self.code = code
        self.file_path = None
        self.options = options
        self.backend = backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = tuple(name_expressions) if name_expressions is not None else None

    @property
    def module(self) -> Module:
        return _module(self.code, self.options, "module", self.name_expressions or ())

    def compile(self, log_stream=None) -> None:
        """Compile now."""
        _ = self.module

    def get_function(self, name: str) -> RawKernel:
        """The kernel called ``name``: an ``extern "C"`` one or one of the name expressions."""
        kernel = RawKernel(
            self.code,
            name,
            self.options,
            self.backend,
            enable_cooperative_groups=self.enable_cooperative_groups,
        )
        kernel.name_expressions = self.name_expressions
        kernel._module_name = "module"
        _ = kernel.kernel
        return kernel

    def get_global(self, name: str) -> memory.MemoryPointer:
        """A pointer to a ``__constant__`` or ``__device__`` variable, for ``cp.ndarray(memptr=...)``."""
        module = self.module
        address, size = module._global(name)
        return memory.MemoryPointer(memory.UnownedMemory(address, size, module), 0)
