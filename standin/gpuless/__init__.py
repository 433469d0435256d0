"""A stand-in for CuPy on machines that have no usable NVIDIA GPU.

``install()`` decides, once, who answers to ``import cupy``: the real CuPy, or the packages in the
folder ``packages/`` beside this file, which run on the CPU. ``pytest --gpuless`` and
``python -m gpuless script.py`` do so before anything else. The environment variable
``CUPY_STANDIN`` overrides the choice:

``auto``    (the default) the real CuPy where it is installed and a GPU answers, else the stand-in
``always``  the stand-in, even where there is a GPU
``never``   never the stand-in; without a GPU CuPy's own error appears

``COVERED`` and ``NOT_COVERED`` say what there is of CuPy.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import sys
import tomllib
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

__version__ = "0.1.0"
PACKAGES = Path(__file__).with_name("packages")
NAMES = ("cupy", "cupyx", "cupy_backends")
LENIENT = "CUPY_STANDIN_LENIENT"


class ModuleNotCovered(NotImplementedError, ModuleNotFoundError):
    """A module that CuPy has and the stand-in has not: a library that tries whether it is there
    (Dask with cupyx.scipy) goes on without it."""


class _Finder:
    """Serve the stand-in's packages; NotImplementedError for those that CuPy alone has."""

    def find_spec(self, name: str, path=None, target=None) -> ModuleSpec | None:
        if name.partition(".")[0] not in NAMES:
            return None
        found = PathFinder.find_spec(name, path if "." in name else [str(PACKAGES)])
        if found is None and name in public("modules"):
            raise ModuleNotCovered(*not_covered(name).args)
        return found


_finder = _Finder()


def gpu_count() -> int:
    """Number of GPUs that the NVIDIA driver offers to this process; 0 when there is no driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def _real_cupy_installed() -> bool:
    spec = PathFinder.find_spec("cupy")
    return spec is not None and spec.origin is not None and not _is_ours(spec.origin)


def _is_ours(origin: str | None) -> bool:
    return origin is not None and PACKAGES in Path(origin).parents


def not_covered(name: str) -> NotImplementedError:
    """The error for something that CuPy has and the stand-in has not."""
    return NotImplementedError(
        f"{name} is not covered by the CPU stand-in; gpuless.COVERED and NOT_COVERED list "
        "what is. It needs CuPy and a GPU."
    )


@functools.cache
def public(module: str) -> frozenset[str]:
    """The public names of a module of CuPy's; ``modules`` has the modules themselves."""
    text = Path(__file__).with_name("names.toml").read_text("utf-8")
    return frozenset(tomllib.loads(text).get(module, "").split())


def missing(module: str, name: str) -> Exception:
    """The error for an attribute that the stand-in's ``module`` lacks: NotImplementedError where
    CuPy has it, else AttributeError.
    """
    if name in public(module) or f"{module}.{name}" in public("modules"):
        return not_covered(f"{module}.{name}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def is_active() -> bool:
    """True when ``import cupy`` gives the stand-in."""
    return _finder in sys.meta_path


def another_order() -> contextlib.AbstractContextManager:
    """Inside a ``with`` block the stand-in runs blocks and threads backwards; a GPU does not."""
    return _engine().backwards() if is_active() else contextlib.nullcontext()


def time_limit(seconds: float) -> contextlib.AbstractContextManager:
    """Inside a ``with`` block the stand-in ends a kernel after so many seconds, with an error."""
    return _engine().time_limit(seconds) if is_active() else contextlib.nullcontext()


def is_lenient() -> bool:
    """Whether what CuPy takes without a word, and what means something on a GPU, is taken here as
    well: an array of another dtype, a wider integer, one argument too many, a barrier before which
    threads have returned.
    """
    return os.environ.get(LENIENT, "0") not in ("", "0")


def install(*, lenient: bool | None = None) -> bool:
    """Choose between CuPy and the stand-in; returns ``is_active()``. Calling it again is harmless.
    Processes that ``multiprocessing`` starts by "spawn" choose in the same way.

    Args:
        lenient: see ``is_lenient``; None leaves it to the environment's ``CUPY_STANDIN_LENIENT``,
            which is set here, so that processes that are started from here do the same.

    Raises ValueError for an unknown ``CUPY_STANDIN``, and RuntimeError when the stand-in is needed
    but another ``cupy`` has been imported already, or it does not run on such a machine.
    """
    if lenient is not None:
        os.environ[LENIENT] = str(int(lenient))
    if is_active():
        return True
    mode = os.environ.get("CUPY_STANDIN") or "auto"
    if mode not in ("auto", "always", "never"):
        raise ValueError(f"CUPY_STANDIN must be auto, always or never, not {mode!r}")
    if mode == "never" or (mode == "auto" and _real_cupy_installed() and gpu_count() > 0):
        return False
    for name in NAMES:
        module = sys.modules.get(name)
        if module is not None and not _is_ours(getattr(module, "__file__", None)):
            why = "CUPY_STANDIN=always" if mode == "always" else "no usable GPU was found"
            raise RuntimeError(
                f"{name} was imported before the CPU stand-in was put in place, and {why}. Restart "
                "Python (in a notebook: restart the kernel) and call gpuless.install() first, or "
                "run `python -m gpuless script.py` or `pytest --gpuless`."
            )
    importlib.import_module("gpuless.engine.machine").check()
    sys.meta_path.insert(0, _finder)
    _install_in_children()
    return True


class _Installs:
    """Unpickled in a process that ``multiprocessing`` has started anew, it calls ``install``."""

    def __reduce__(self):
        return install, ()


def _install_in_children() -> None:
    """Among what such a process is told before it imports the script is that."""
    from multiprocessing import spawn

    told = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {**told(name), "gpuless": _Installs()}


def _engine():
    return importlib.import_module("gpuless.engine")


def __getattr__(name: str):
    if name in ("COVERED", "NOT_COVERED"):
        return getattr(importlib.import_module("gpuless.covered"), name)
    raise AttributeError(f"module 'gpuless' has no attribute {name!r}")
