"""Compile a kernel with NVIDIA's own compiler, to learn whether it would be accepted.

NVRTC comes from the ``nvidia-cuda-nvrtc`` wheel (or ``-cu12``) and is called through ctypes: it
needs neither a GPU nor a driver. With ``CUPY_STANDIN_NVRTC=1`` the stand-in hands it every source,
so that a test run catches what a C++ compiler accepts and CUDA does not.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
from pathlib import Path

from helpers.standin.engine.compiler import SHIM
from helpers.standin.engine.translate import CUPY_HEADERS

# The oldest GPU that readers are likely to have (a T4), and CuPy's own default standard.
DEFAULTS = ("-arch=sm_75", "-std=c++17")


def _wheel_folders() -> list[Path]:
    """The folders of NVIDIA's wheels: ``nvidia/cu13``, ``nvidia/cuda_nvrtc`` and so on."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    return [folder for root in roots for folder in sorted(Path(root).iterdir()) if folder.is_dir()]


@functools.cache
def _library() -> ctypes.CDLL:
    patterns = (
        "lib/libnvrtc.so*",
        "lib/libnvrtc*.dylib",
        "bin/**/nvrtc64*.dll",
        "bin/nvrtc64*.dll",
    )
    for folder in _wheel_folders():
        for pattern in patterns:
            for path in sorted(folder.glob(pattern), reverse=True):
                library = ctypes.CDLL(str(path))
                library.nvrtcGetErrorString.restype = ctypes.c_char_p
                return library
    raise RuntimeError(
        "CUPY_STANDIN_NVRTC=1 asks for NVIDIA's compiler: `pip install nvidia-cuda-nvrtc`"
    )


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
    options = []
    for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source, re.MULTILINE):
        if header in CUPY_HEADERS or not re.match(
            r"cooperative_groups|cuda_(fp16|pipeline)|math_constants", header
        ):
            continue
        folder = include_folder(header)
        if folder is None:
            raise RuntimeError(
                f"NVRTC needs CUDA's {header} to check this kernel: "
                "`pip install nvidia-cuda-runtime nvidia-cuda-cccl`"
            )
        options += [f"-I{folder}", f"-I{folder / 'cccl'}"]
    return list(dict.fromkeys(options))


def check_if_wanted(*args, **kwargs) -> None:
    """``check`` where CUPY_STANDIN_NVRTC=1, else nothing."""
    if os.environ.get("CUPY_STANDIN_NVRTC") == "1":
        check(*args, **kwargs)


def check(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
) -> None:
    """Compile CUDA C ``source`` and throw the result away.

    Args:
        source: CUDA C.
        options: NVRTC options; ``DEFAULTS`` are added where they say nothing else.
        name: what messages call the source, without ``.cu``.
        expressions: names of template kernels to compile.

    Raises:
        cupy.cuda.compiler.CompileException: NVRTC refuses; ``str()`` has its messages.
        RuntimeError: NVRTC or a header of CUDA's is not installed.
    """
    library = _library()
    arguments = [*options, *_include_options(source), "-DSTANDIN_NVRTC"]
    for default in DEFAULTS:
        key = default.split("=")[0].lstrip("-")
        if not any(re.match(rf"--?{key}\b|--gpu-architecture", o) for o in options):
            arguments.append(default)
    # CuPy's headers are not installed without CuPy; the shim's are valid CUDA C as well.
    headers = {name: (SHIM / file).read_text() for name, file in CUPY_HEADERS.items()}
    status, log = _compile(library, source, name, arguments, headers, expressions)
    if status and (needed := re.findall(r"requires \.target sm_(\d+)", log)):  # inline PTX
        arguments = [a for a in arguments if not a.startswith("-arch")]
        arguments.append(f"-arch=sm_{max(map(int, needed))}")
        status, log = _compile(library, source, name, arguments, headers, expressions)
    if status:
        from cupy.cuda.compiler import CompileException

        raise CompileException(f"NVRTC refused it:\n{log}", source, name, tuple(options))


def _compile(library, source, name, arguments, headers, expressions) -> tuple[int, str]:
    """(status, log) of one compilation; status 0 is success."""

    def strings(texts) -> ctypes.Array:
        return (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])

    program = ctypes.c_void_p()
    status = library.nvrtcCreateProgram(
        ctypes.byref(program),
        source.encode(),
        f"{name}.cu".encode(),
        len(headers),
        strings(list(headers.values())),
        strings(list(headers)),
    )
    if status:
        return status, library.nvrtcGetErrorString(status).decode()
    try:
        for expression in expressions:
            library.nvrtcAddNameExpression(program, expression.encode())
        status = library.nvrtcCompileProgram(program, len(arguments), strings(arguments))
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        text = log.value.decode(errors="replace").strip()
        return status, text or library.nvrtcGetErrorString(status).decode()
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
