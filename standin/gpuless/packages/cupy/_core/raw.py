"""RawKernel and RawModule: kernels written in CUDA C, with CuPy's rules."""

from __future__ import annotations

import pickle
import warnings

from cupy.cuda import _card, _state, memory
from cupy.cuda.function import Function, Module, driver_error

_modules: dict[tuple, Module] = {}


def _module(
    source: str, options: tuple, name: str, expressions: tuple, cooperative: bool = False
) -> Module:
    """One module for each source and device, so that kernels from one source share its variables
    and devices do not. ``name`` is what messages call a source that is new."""
    device = _state.getDevice()
    made_of = source, options, expressions, cooperative
    if (device, made_of) not in _modules:
        copy = sum(known[:2] == made_of[:2] for _, known in _modules)  # of the variables
        _modules[device, made_of] = Module(
            source, options, name=name, expressions=expressions, copy=copy
        )
    return _modules[device, made_of]


def _check_backend(backend: str, translate_cucomplex: bool, jitify: bool | None) -> None:
    from gpuless import not_covered

    if backend not in ("nvrtc", "nvcc"):
        raise ValueError(f"Invalid backend: {backend}")
    if translate_cucomplex:
        raise not_covered("RawKernel(translate_cucomplex=True)")
    if jitify is not None:
        warnings.warn("The jitify argument is deprecated.", DeprecationWarning, stacklevel=3)
    if jitify:
        raise not_covered("RawKernel(jitify=True)")


def _need(name: str, value, kind: type) -> None:
    if type(value) is not kind:
        got = type(value).__name__
        raise TypeError(
            f"Argument '{name}' has incorrect type (expected {kind.__name__}, got {got})"
        )


class _Fixed:
    """What has, as a class of Cython's, attributes that are set once, and takes no others; a class
    of the reader's that is made from it does."""

    _SET_ONCE = frozenset("code file_path name_expressions options backend".split()) | {
        "enable_cooperative_groups"
    }

    def __setattr__(self, name: str, value) -> None:
        settable = isinstance(getattr(type(self), name, None), property)
        if name in self._SET_ONCE or (type(self).__base__ is _Fixed and not settable):
            raise AttributeError(f"{name!r} of a {type(self).__name__} of CuPy's cannot be set")
        super().__setattr__(name, value)


class RawKernel(_Fixed):
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
    _SET_ONCE = _Fixed._SET_ONCE | {"name", "__name__"}

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool | None = None,
    ):
        for argument, value, kind in (
            ("code", code, str),
            ("name", name, str),
            ("options", options, tuple),
        ):
            _need(argument, value, kind)
        _check_backend(backend, translate_cucomplex, jitify)
        functions: dict[int, Function] = {}  # by device
        self.__dict__.update(
            code=code,
            name=name,
            __name__=name,
            options=options,
            backend=backend,
            enable_cooperative_groups=bool(enable_cooperative_groups),
            file_path=None,
            name_expressions=None,
            _functions=functions,
            _module_name=name,
        )

    def __call__(self, grid, block, args, **kwargs) -> None:
        """Run it: ``k((blocks,), (threads,), (x, y, n), shared_mem=0)``."""
        function = self._functions.get(_state.getDevice()) or self.kernel
        function(
            grid, block, args, enable_cooperative_groups=self.enable_cooperative_groups, **kwargs
        )

    @property
    def kernel(self) -> Function:
        """Of the current device, which has variables and attributes of its own."""
        device = _state.getDevice()
        if device not in self._functions:
            module = _module(
                self.code,
                self.options,
                self._module_name,
                self.name_expressions or (),
                self.enable_cooperative_groups,
            )
            self._functions[device] = module.get_function(self.name)
        return self._functions[device]

    def compile(self, log_stream=None) -> None:
        """Compile now. ``log_stream`` receives what the compiler says, which is nothing."""
        self.__dict__["_functions"] = {}
        _ = self.kernel

    def __getstate__(self) -> dict:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_functions", "__name__")}
        return {**state, "raw_ver": self._VERSION}

    def __setstate__(self, state: dict) -> None:
        state = dict(state)
        if state.pop("raw_ver", None) != self._VERSION:
            raise pickle.UnpicklingError(
                "The pickled RawKernel object is not supported by the current CuPy version. "
                "It should not be used. Please recompile."
            )
        self.__dict__.update(state, _functions={}, __name__=state["name"])

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
        limit = _card.shared_limit()
        if not 0 <= size <= limit - self.kernel.shared_size:
            raise driver_error(
                1, f"kernel '{self.name}' cannot have {size} bytes: {limit} is the limit."
            )
        self.kernel.max_dynamic_shared = int(size)

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Per cent of the cache to be used as shared memory; -1: no preference. Can be set."""
        return self.kernel.carveout

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent: int) -> None:
        if not -1 <= percent <= 100:
            raise driver_error(1, f"a carveout of {percent} is not between -1 and 100.")
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


class RawModule(_Fixed):
    """A source with several kernels: ``RawModule(code=...).get_function(name)``.

    Args:
        code: CUDA C.
        name_expressions: templates to compile, such as ``("scale<float>",)``; what
            ``get_function`` is to be asked for.
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
        jitify: bool | None = None,
    ):
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if name_expressions is not None:
            if code is None:
                raise ValueError("need CUDA C++ code for the requested kernels")
            if backend != "nvrtc":
                raise ValueError(
                    "only nvrtc supports retrieving the mangled names for the given name "
                    "expressions"
                )
        if path is not None:
            from gpuless import not_covered

            raise not_covered("RawModule(path=...): loading a compiled GPU module")
        _need("code", code, str)
        _need("options", options, tuple)
        _check_backend(backend, translate_cucomplex, jitify)
        self.__dict__.update(
            code=code,
            file_path=None,
            options=options,
            backend=backend,
            enable_cooperative_groups=bool(enable_cooperative_groups),
            name_expressions=None if name_expressions is None else tuple(name_expressions),
        )

    @property
    def module(self) -> Module:
        expressions = self.name_expressions or ()
        return _module(
            self.code, self.options, "module", expressions, self.enable_cooperative_groups
        )

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
        kernel.__dict__.update(name_expressions=self.name_expressions, _module_name="module")
        _ = kernel.kernel
        return kernel

    def get_global(self, name: str) -> memory.MemoryPointer:
        """A pointer to a ``__constant__`` or ``__device__`` variable, for ``cp.ndarray``."""
        module = self.module
        address, size = module.find_global(name)
        held = memory.UnownedMemory(address, size, module, _state.getDevice())
        return memory.MemoryPointer(held, 0)
