"""Names that CuPy's tests take from inside CuPy and that the stand-in itself has no use for.

None of them computes anything: they are CuPy's own second names for public things, constants and
switches that choose between CuPy's implementations, and answers about versions. A private function
that a few tests of a file call raises NotImplementedError, so those tests are seen to fail.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import os
import sys
import types
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CUDA = 12010  # the version that tests are told

_STANDINS: dict[str, types.ModuleType] = {}  # its own ``cupy.testing`` and the parts of that
# Called, these raise NotImplementedError: `module: names`.
RAISING = {
    "cupy.fft._fft": "_convert_fft_type _default_fft_func _fft _fftn _size_last_transform_axis",
    "cupy._core._cub_reduction": "_can_use_cub_block_reduction",
    "cupy._core._gufuncs": "_GUFunc _parse_gufunc_signature",
    "cupy._core._routines_math": "_scan_for_test",
    "cupy._core._scalar": "get_typename",
    "cupy._core.flags": "Flags",
    "cupy.cuda.pinned_memory": "PinnedMemory",
    "cupy.cuda.memory": "_malloc",
    "cupy.linalg._util": "stacked_identity",
    "cupyx.scipy.signal._iir_filter_conversions": "_cplxreal",
    "cupyx.scipy.signal._iir_utils": "apply_iir apply_iir_sos",
    "cupyx.scipy.signal._polyutils": "_compute_factors",
    "cupyx.scipy.signal._savitzky_golay": "_polyder",
    "cupyx.scipy.signal._upfirdn": "_output_len",
}


def install(folder: Path) -> None:
    """Import the stand-in and give it CuPy's own ``cupy.testing``, from ``folder``."""
    import gpuless

    gpuless.install()
    import cupy
    import cupyx.profiler
    import cupyx.scipy.stats
    from cupy._core import raw
    from cupy.cuda import compiler, driver, runtime

    # Other names of what the stand-in has.
    _module("cupy._creation.from_data", **vars(cupy))
    _module("cupy._indexing.generate", **vars(cupy))
    for name in ("_bit_generator", "_distributions", "_sample"):
        _module(f"cupy.random.{name}", **vars(cupy.random))
    sys.modules["cupy.random._generator"] = cupy.random._generator = _Generator(cupy.random)
    _module("cupyx.profiler._time", **vars(cupyx.profiler))
    _module("cupyx.scipy.stats._distributions", **vars(cupyx.scipy.stats))
    _module("cupy.cuda.pinned_memory", **_named(cupy.cuda, "Pinned", "pinned"))
    _module("cupy_backends.cuda.stream", get_default_stream_ptr=lambda: 1)
    _members(cupy.cuda.memory, _allocation_unit_size=512)
    _module("cupy._core.internal", prod=math.prod)
    _module("cupy._core.core", ndarray=cupy.ndarray, _get_header_source=str)
    _members(
        cupy._core,
        get_size=lambda size: (size,) if isinstance(size, int) else tuple(size),
        create_reduction_func=lambda *args: _raising("cupy._core.create_reduction_func"),
        ReductionKernel=cupy.ReductionKernel,
        _get_warpsize=lambda: 32,
        _full_mask=lambda: 0xFFFFFFFF,
        elementwise_copy=cupy.ElementwiseKernel("T x", "T y", "y = x", "elementwise_copy"),
    )
    _members(compiler, _compile_module_with_cache=lambda code, extra_source=None: raw.Module(code))

    # Choices between CuPy's implementations, where the stand-in has one.
    accelerators = _accelerators()
    _module("cupy._core._accelerator", **accelerators)
    compute_types = {"_DEFAULT": 0, "_TF32": 1, "_PEDANTIC": 2}
    compute_types = {f"COMPUTE_TYPE{name}": value for name, value in compute_types.items()}
    _module("cupy._core._routines_linalg", **compute_types)
    _members(
        cupy._core,
        get_compute_type=lambda dtype: 0,
        set_compute_type=lambda dtype, value: None,
        **{name: value for name, value in accelerators.items() if name.islower()},
    )
    _module("cupy._core._cub_reduction", _CUB_REDUCE_SIZE_THRESHOLD=1 << 62)
    _module(
        "cupy.cublas", get_batched_gesv_limit=lambda: 0, set_batched_gesv_limit=lambda limit: None
    )

    # Questions that tests ask before they begin.
    for name in ("cub", "cutensor"):
        _module(f"cupy.cuda.{name}", available=False)
    _module("cupy._environment", get_cub_path=lambda: None, get_hipcc_path=lambda: None)
    _module("cupyx.cusparse", check_availability=lambda name: True, getVersion=lambda: CUDA)
    _module("cupy.cuda.cusolver", _getVersion=lambda: (11, 4, 5))
    _module("cupyx.cusolver", check_availability=lambda name: True)
    _module("cupy_backends.cuda.libs.nvrtc", getVersion=lambda: divmod(CUDA // 10, 100))
    _members(runtime, _getLocalRuntimeVersion=lambda: CUDA)
    _members(runtime, is_hip=False, cudaDevAttrCooperativeLaunch=95)
    _members(runtime, cudaDevAttrMemoryPoolsSupported=115)
    _members(runtime, deviceGetAttribute=lambda attribute, device: int(attribute == 95))
    _members(driver, _is_cuda_python=lambda: False)
    _members(cupy.cuda, get_local_runtime_version=lambda: CUDA)
    _members(cupy.cuda.nvtx, available=True)
    _members(cupyx.scipy, _scipy_available=True)
    _module("cupyx.scipy.ndimage._util", _is_integer_output=_is_integer_output)
    cupy.cuda.get_nvcc_path = lambda: "nvcc"  # its version is asked for, by _run_cc
    cupy.cuda.device.get_compute_capability = lambda: "90"
    driver.get_build_version = lambda: CUDA
    runtime.runtimeGetVersion = runtime.driverGetVersion = lambda: CUDA

    # CuPy's caches and its compiler's inner parts.
    _module(
        "cupy._util",
        clear_memo=cupy.clear_memo,
        memoize=cupy.memoize,
        PerformanceWarning=cupy._core.PerformanceWarning,
        ENABLE_SLICE_COPY=False,
        CUDA_ARRAY_INTERFACE_EXPORT_VERSION=3,
    )
    _module("cupy.cuda._compiler_cache", DiskKernelCacheBackend=_DiskCache)
    _members(
        compiler,
        _kernel_cache_backend=None,
        _empty_file_preprocess_cache={},
        _get_bool_env_variable=lambda name, default: default,
        _get_nvrtc_version=lambda: divmod(CUDA // 10, 100),
        _run_cc=lambda command, cwd, backend: "release 12.1",
    )

    for name, members in RAISING.items():
        _module(name, **{member: _raising(f"{name}.{member}") for member in members.split()})

    # test_raw.py starts Python on a script that imports cupy.
    paths = [str(HERE / "site"), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    _use_testing(cupy, folder / "cupy" / "testing")


def _raising(name: str) -> type:
    """A class, so that a test may subclass it, that cannot be called."""

    def refuse(self, *args, **kwargs):
        if "._" in name:
            raise NotImplementedError(f"{name} is private to CuPy")
        _not_covered(*name.rsplit(".", 1))

    return type(name.rpartition(".")[2], (), {"__init__": refuse})


class _Generator(types.ModuleType):
    """``cupy.random._generator``, where tests put each device's RandomState aside and back."""

    def __init__(self, random: types.ModuleType):
        super().__init__("cupy.random._generator")
        self.__dict__["_random"] = random

    def __getattr__(self, name: str):
        return getattr(self._random, name)

    @property
    def _random_states(self) -> dict:
        return dict(self._random._states)

    @_random_states.setter
    def _random_states(self, states: dict) -> None:
        self._random._states = dict(states)


class _DiskCache:
    def __init__(self, path: str):
        self._cache_dir = path


def _is_integer_output(output, image) -> bool:
    """Whether a function of ``ndimage`` makes integers; those with fractions are others here."""
    output = image if output is None else output
    return np.dtype(output if isinstance(output, type) else output.dtype).kind in "iu"


def _accelerators() -> dict:
    names = ("get_routine_accelerators", "get_reduction_accelerators")
    setters = ("set_routine_accelerators", "set_reduction_accelerators")
    return {
        "ACCELERATOR_CUB": 1,
        "ACCELERATOR_CUTENSOR": 2,
        **dict.fromkeys(names, list),
        **dict.fromkeys(setters, lambda accelerators: None),
    }


def _not_covered(module: str, name: str):
    import gpuless

    raise AttributeError(name) if name.startswith("_") else gpuless.not_covered(f"{module}.{name}")


def _named(module: types.ModuleType, *parts: str) -> dict:
    """The module's members whose names have one of these parts."""
    return {k: v for k, v in vars(module).items() if any(part in k for part in parts)}


def _module(name: str, **members) -> None:
    """A module of that name with these members, those that the stand-in has left as they are."""
    parent, _, child = name.rpartition(".")
    if parent and parent not in sys.modules:
        _module(parent)
    try:
        module = importlib.import_module(name)
    except (ModuleNotFoundError, NotImplementedError):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        if "._" not in name and "backends" not in name:  # a public one, not covered
            module.__getattr__ = functools.partial(_not_covered, name)
        if parent:
            setattr(sys.modules[parent], child, module)
    _members(module, **members)


def _members(module: types.ModuleType, **members) -> None:
    for name, value in members.items():
        if name not in vars(module):
            setattr(module, name, value)


def _use_testing(cupy: types.ModuleType, folder: Path) -> None:
    """Put CuPy's own ``cupy.testing`` in the place of the stand-in's."""
    for name in cupy.testing.__all__:
        getattr(cupy.testing, name)  # whose parts are imported when they are asked for
    _STANDINS.update(_testing_modules())
    for name in _STANDINS:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        "cupy.testing", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    testing = sys.modules["cupy.testing"] = cupy.testing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(testing)


def _testing_modules() -> dict[str, types.ModuleType]:
    return {k: v for k, v in sys.modules.items() if f"{k}.".startswith("cupy.testing.")}


def _use(modules: dict[str, types.ModuleType]) -> None:
    for name in _testing_modules():
        del sys.modules[name]
    sys.modules.update(modules)
    sys.modules["cupy"].testing = modules["cupy.testing"]


@contextlib.contextmanager
def own_testing():
    """A file that is imported inside the ``with`` block gets the stand-in's ``cupy.testing``."""
    cupys = _testing_modules()
    _use(_STANDINS)
    try:
        yield
    finally:
        _use(cupys)
