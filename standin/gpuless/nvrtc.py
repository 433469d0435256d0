"""Compile a kernel with NVIDIA's own compiler, NVRTC, which needs neither a GPU nor a driver.

It comes from the ``nvidia-cuda-nvrtc`` wheel (or ``-cu12``) and is called through ctypes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

from gpuless.engine.compiler import SHIM
from gpuless.engine.preprocess import CUPY_HEADERS

ARCHITECTURE = re.compile("--?(arch|gpu-architecture)")
# The oldest GPU that readers are likely to have (a T4), and CuPy's own default standard; with what
# an option says that leaves no room for each.
DEFAULTS = {"-arch=sm_75": ARCHITECTURE, "-std=c++17": re.compile("--?std")}


def _wheel_folders() -> list[Path]:
    """The folders of NVIDIA's wheels: ``nvidia/cu13``, ``nvidia/cuda_nvrtc`` and so on."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    return [folder for root in roots for folder in sorted(Path(root).iterdir()) if folder.is_dir()]


@functools.cache
def _library(older: bool = False) -> ctypes.CDLL:
    """NVRTC, or the one of the ``-cu12`` wheel where that is installed beside another."""
    patterns = (
        "lib/libnvrtc.so*",
        "lib/libnvrtc*.dylib",
        "bin/**/nvrtc64*.dll",
        "bin/nvrtc64*.dll",
    )
    found = []
    for folder in _wheel_folders():
        files = (path for pattern in patterns for path in sorted(folder.glob(pattern))[::-1])
        found += [path for path in files if "builtins" not in path.name][:1]
    if found[older:]:
        library = ctypes.CDLL(str(found[-1] if older else found[0]))
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return library
    raise RuntimeError("NVIDIA's compiler is not installed: `pip install nvidia-cuda-nvrtc`")


def has_older() -> bool:
    """Whether an older NVRTC is installed, too: the ``nvidia-cuda-nvrtc-cu12`` wheel."""
    try:
        _library(older=True)
    except (RuntimeError, OSError):
        return False
    return True


def is_installed() -> bool:
    """Whether NVRTC and the headers of CUDA that kernels may include are there."""
    try:
        _library()
    except (RuntimeError, OSError):
        return False
    return include_folder("cooperative_groups.h") is not None


def include_folder(header: str) -> Path | None:
    """The folder that has a header of CUDA's, in NVIDIA's wheels or an installed toolkit."""
    roots = [folder / "include" for folder in _wheel_folders()]
    roots += [Path(os.environ[v], "include") for v in ("CUDA_PATH", "CUDA_HOME") if v in os.environ]
    roots.append(Path("/usr/local/cuda/include"))
    return next((root for root in roots if (root / header).is_file()), None)


def _include_options(source: str) -> list[str]:
    folder = include_folder("cooperative_groups.h") if "include" in source else None
    options = [f"-I{folder}", f"-I{folder / 'cccl'}"] if folder else []
    for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source, re.MULTILINE):
        if header in CUPY_HEADERS or not re.match(
            r"cooperative_groups|cuda/|cuda_(fp16|pipeline)|math_constants", header
        ):
            continue
        if not options:
            raise RuntimeError(
                f"NVRTC needs CUDA's {header} to check this kernel: "
                "`pip install nvidia-cuda-runtime nvidia-cuda-cccl`"
            )
    return options


@dataclass(frozen=True)
class Compiled:
    """What NVRTC made: nothing but a ``log`` with errors, where it refused the source."""

    accepted: bool
    log: str
    ptx: str = ""


def version(older: bool = False) -> str:
    """Of NVRTC, such as ``13.5``; or of the older one."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library(older).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def shim_headers() -> dict[str, str]:
    """CuPy's headers: they are not installed without CuPy, the shim's are valid CUDA C as well."""
    return {name: (SHIM / file).read_text() for name, file in CUPY_HEADERS.items()}


def compile(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
    headers: dict[str, str] | None = None,
    older: bool = False,
) -> Compiled:
    """Compile CUDA C as NVRTC is asked to; ``DEFAULTS`` where ``options`` say nothing else.

    ``headers`` (texts by their names) answer ``#include``; by default the shim's for CuPy's.
    ``older`` asks the older NVRTC.
    """
    library = _library(older)
    arguments = [*options, *_include_options(source), "-DSTANDIN_NVRTC"]
    for default, said in DEFAULTS.items():
        if not any(said.match(option) for option in options):
            arguments.append(default)
    known = shim_headers() if headers is None else headers

    def strings(texts) -> ctypes.Array:
        return (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])

    program = ctypes.c_void_p()
    status = library.nvrtcCreateProgram(
        ctypes.byref(program),
        source.encode(),
        f"{name}.cu".encode(),
        len(known),
        strings(list(known.values())),
        strings(list(known)),
    )
    if status:
        return Compiled(False, library.nvrtcGetErrorString(status).decode())
    try:
        for expression in expressions:
            library.nvrtcAddNameExpression(program, expression.encode())
        with _same_stack_limit():
            status = library.nvrtcCompileProgram(program, len(arguments), strings(arguments))
        log = _text(library, program, "ProgramLog") or library.nvrtcGetErrorString(status).decode()
        return Compiled(not status, log, "" if status else _text(library, program, "PTX"))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@contextlib.contextmanager
def _same_stack_limit():
    """NVRTC raises the limit of the stack, which every process started later would inherit."""
    try:
        import resource
    except ImportError:  # no Unix: no such limit
        yield
        return
    limits = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, limits)


def _text(library, program, what: str) -> str:
    """One of the texts that NVRTC keeps of a program."""
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, text)
    return text.value.decode(errors="replace").strip()
