"""What a recording stands on beside the book's code: libraries, the host, switches.

The kernel of a recording runs `tell` after the last cell (see `execute.run`), so it speaks of that
very process. What cannot be found out is "unknown"; nothing here makes a recording fail.
"""

import ast
import ctypes
import importlib.metadata
import os
import re
import sys
from pathlib import Path

import numpy as np

from helpers import device, display

MIME = "application/vnd.from-kernel-to-network.surroundings+json"
UNKNOWN = "unknown"
BEHIND = ("scipy", "skimage", "triton")  # what other libraries and the helpers import for a chapter
# NVIDIA's libraries: each tells major, minor and patch by such a function.
PROPERTIES = {
    "cuBLAS": ("libcublas", "cublasGetProperty"),
    "cuDNN": ("libcudnn", "cudnnGetProperty"),
    "cuFFT": ("libcufft", "cufftGetProperty"),
    "cuRAND": ("libcurand", "curandGetProperty"),
    "cuSOLVER": ("libcusolver", "cusolverGetProperty"),
    "cuSPARSE": ("libcusparse", "cusparseGetProperty"),
}
NCCL = "libnccl"
VARIABLES = ("CUPY_TF32", "NVIDIA_TF32_OVERRIDE", "CUPY_ACCELERATORS")
TORCH = ("cuda.matmul.allow_tf32", "cudnn.allow_tf32", "cudnn.benchmark")  # in torch.backends
# Options of compilers that change what is computed, or how fast.
OPTIONS = re.compile(
    r"(?<!\S)--?(?:use_fast_math|ftz|fmad|prec-div|prec-sqrt|ffast-math|march|mcpu|O[\dsf]"
    r"|dlcm|ptxas-options|Xptxas|maxrregcount|fopenmp)[^\s,]*"
)


def tell(imported):
    """Display what `facts` returns, as data of the type MIME."""
    display.emit({MIME: facts(imported), "text/plain": "what the recording stands on"})


def facts(imported):
    """Return modules (of the book, that are loaded), libraries, host and switches of this process.

    `imported` are the names of the libraries that the chapter's code imports.
    """
    import helpers

    root = Path(helpers.__file__).parents[1]
    files = [
        getattr(m, "__file__", None) for n, m in sys.modules.items() if n.startswith("helpers.")
    ]
    loaded = [name for name in BEHIND if name in sys.modules]
    return {
        "modules": sorted(Path(file).relative_to(root).as_posix() for file in files if file),
        "libraries": libraries({*imported, *loaded}) | native_libraries(),
        "host": host(),
        "switches": switches(),
    }


def libraries(names):
    """Return {distribution: version} of `names`, but of CuPy and NumPy: the receipt has them."""
    distributions = importlib.metadata.packages_distributions()
    found = {}
    for name in sorted(set(names) - {"cupy", "cupyx", "numpy"}):
        distribution = distributions.get(name, [name])[0]
        try:
            found[distribution] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            found[distribution] = UNKNOWN if name in sys.modules else "not installed"
    return found


def native_libraries(maps="/proc/self/maps"):
    """Return {name: version} of those of NVIDIA's libraries that this process has loaded.

    Where CuPy and PyTorch have loaded two of a kind, both versions are told.
    """
    try:
        files = sorted(set(re.findall(r"/\S+\.so[.\d]*$", Path(maps).read_text(), re.M)))
    except OSError:
        return {}
    found = {}
    for name, (stem, function) in PROPERTIES.items():
        versions = [_version(file, function) for file in _of(stem, files)]
        found[name] = ", ".join(dict.fromkeys(versions))
    versions = [_nccl(file) for file in _of(NCCL, files)]
    found["NCCL"] = ", ".join(dict.fromkeys(versions))
    return {name: text for name, text in found.items() if text}


def _of(stem, files):
    return [file for file in files if Path(file).name.startswith(f"{stem}.so")]


def _version(file, function):
    """Return major.minor.patch as the library at the path `file` tells it."""
    value, parts = ctypes.c_int(), []
    try:
        ask = getattr(ctypes.CDLL(file), function)
        for part in range(3):
            if ask(ctypes.c_int(part), ctypes.byref(value)):
                return UNKNOWN
            parts.append(str(value.value))
    except (AttributeError, OSError):
        return UNKNOWN
    return ".".join(parts)


def _nccl(file):
    """Return NCCL's version: 22809 is 2.28.9."""
    value = ctypes.c_int()
    try:
        if ctypes.CDLL(file).ncclGetVersion(ctypes.byref(value)):
            return UNKNOWN
    except (AttributeError, OSError):
        return UNKNOWN
    return f"{value.value // 10000}.{value.value // 100 % 100}.{value.value % 100}"


def host():
    """Return the CPU's name, how many cores this process may use, and NumPy's BLAS."""
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        blas = f"{blas['name']} {blas['version']}"
    except (KeyError, TypeError):
        blas = UNKNOWN
    may = getattr(os, "sched_getaffinity", None)
    return {"cpu": device.cpu_name(), "cores": len(may(0)) if may else os.cpu_count(), "blas": blas}


def switches():
    """Return {name: text} of the switches that trade digits for speed, as they stand now.

    Variables of the environment that are not set are left out, and PyTorch's where it is not used.
    """
    found = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    if "torch" in sys.modules:
        for path in TORCH:
            value = sys.modules["torch"].backends
            try:
                for part in path.split("."):
                    value = getattr(value, part)
            except (AttributeError, RuntimeError):
                value = UNKNOWN
            found[f"torch.backends.{path}"] = str(value)
    return found


def in_the_code(sources):
    """Return the switches that Python `sources` set: compilers' options, and PyTorch's; sorted."""
    found = set()
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(OPTIONS.findall(node.value))
        elif isinstance(node, ast.Assign):
            target = ast.unparse(node.targets[0])
            if target.endswith(TORCH):
                found.add(f"{target} = {ast.unparse(node.value)}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("matmul_precision"):
            found.add(ast.unparse(node))
    return sorted(found)
