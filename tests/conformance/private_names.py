"""Names that CuPy's tests take from inside CuPy and that the stand-in itself has no use for."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import types
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent


def install(folder: Path) -> None:
    """Import the stand-in and give it CuPy's own ``cupy.testing``, from ``folder``."""
    from helpers import standin

    standin.install()
    import cupy
    from cupy._core import raw
    from cupy.cuda import compiler

    texture = "ChannelFormatDescriptor CUDAarray ResourceDescriptor TextureDescriptor TextureObject"
    _module("cupy._core.internal", prod=math.prod)
    _module("cupy._core.core", _get_header_source=str)
    _module("cupy._core._accelerator", **_accelerators())
    _module(
        "cupy._util",
        clear_memo=lambda: None,
        PerformanceWarning=cupy._core.PerformanceWarning,
        ENABLE_SLICE_COPY=False,
        CUDA_ARRAY_INTERFACE_EXPORT_VERSION=3,
    )
    _module("cupy.cuda.texture", **dict.fromkeys(texture.split(), _NotCovered))
    _module("cupy.cuda._compiler_cache", DiskKernelCacheBackend=_DiskCache)
    _module("cupyx.scipy")
    _module("cupyx.scipy.sparse", issparse=lambda array: False)
    _module("cupy_backends")
    _module("cupy_backends.cuda")
    _module("cupy_backends.cuda.api", driver=cupy.cuda.driver, runtime=cupy.cuda.runtime)
    _module("cupy_backends.cuda.stream", get_default_stream_ptr=lambda: 1)
    _module("cupy.cuda.cub", available=False)
    _module("cupy._core._cub_reduction", _CUB_REDUCE_SIZE_THRESHOLD=1 << 62)
    _module("cupy.cuda.cutensor", available=False)
    _members(cupy, poly1d=_NotCovered)
    _module("cupy_backends.cuda.libs")
    _module("cupy_backends.cuda.libs.nvrtc", getVersion=lambda: (12, 1))
    _members(
        compiler,
        _compile_module_with_cache=lambda code, extra_source=None: raw.Module(code),
        _kernel_cache_backend=None,
        _empty_file_preprocess_cache={},
        _get_bool_env_variable=lambda name, default: default,
        _run_cc=lambda command, cwd, backend: "release 12.1",  # asked for nvcc's version only
    )
    _members(cupy.cuda, get_nvcc_path=lambda: "nvcc")
    _members(cupy.cuda.driver, _is_cuda_python=lambda: False)
    _members(cupy.cuda.runtime, is_hip=False)
    _members(
        cupy._core,
        elementwise_copy=cupy.ElementwiseKernel("T x", "T y", "y = x", "elementwise_copy"),
        create_reduction_func=lambda *args: mock.Mock(side_effect=_NotCovered),
        get_reduction_accelerators=list,
        set_reduction_accelerators=lambda accelerators: None,
    )
    # Tests of cooperative launches and of pickling ask first.
    cupy.cuda.device.get_compute_capability = lambda: "90"
    cupy.cuda.runtime.runtimeGetVersion = lambda: 12010
    # test_raw.py starts Python on a script that imports cupy.
    paths = [str(HERE / "site"), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    _use_testing(cupy, folder / "cupy" / "testing")


class _NotCovered:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("the stand-in does not cover this")


class _DiskCache:
    def __init__(self, path: str):
        self._cache_dir = path


def _accelerators() -> dict:
    names = ("get_routine_accelerators", "get_reduction_accelerators")
    setters = ("set_routine_accelerators", "set_reduction_accelerators")
    return {
        "ACCELERATOR_CUB": 1,
        "ACCELERATOR_CUTENSOR": 2,
        **dict.fromkeys(names, list),
        **dict.fromkeys(setters, lambda accelerators: None),
    }


def _module(name: str, **members) -> None:
    """A module of that name with these members, those that the stand-in has left as they are."""
    try:
        module = importlib.import_module(name)
    except (ModuleNotFoundError, NotImplementedError):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    _members(module, **members)


def _members(module: types.ModuleType, **members) -> None:
    for name, value in members.items():
        if name not in vars(module):
            setattr(module, name, value)


def _use_testing(cupy: types.ModuleType, folder: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        "cupy.testing", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    testing = sys.modules["cupy.testing"] = cupy.testing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(testing)
