"""Kernels as NVRTC gets them from CuPy 13: behind its headers, and as C++11 if nothing is said.

The headers are read from CuPy's own wheel, which ``make`` puts into ``.venv/cupy-13``: nothing of
it is installed.
"""

from __future__ import annotations

import functools
import re
import sys
import zipfile
from pathlib import Path

import nvrtc
from cupy._core._launch import CARRAY

WHEELS = Path(sys.prefix, "cupy-13")
_INSIDE = "cupy/_core/include/"
_OWN = r"cupy/(complex/)?\w+\.(h|cuh)"
_CCCL = "cupy/_cccl/libcudacxx/"
_START = "".join(
    f"#include <cupy/{name}>\n"
    for name in ("complex.cuh", "carray.cuh", "atomics.cuh", "math_constants.h")
)


def is_there() -> bool:
    """Whether the wheel has been fetched."""
    return any(WHEELS.glob("cupy_cuda13x-13.*.whl"))


@functools.cache
def headers() -> dict[str, str]:
    """The texts of CuPy's headers by the names that ``#include`` knows.

    ``cuda/std/...`` is among them: CuPy 13 has its own, older ones, which C++11 is enough for.
    """
    name = re.compile(re.escape(_INSIDE) + rf"({_OWN}|{re.escape(_CCCL)}(cuda|nv)/.*[^/])")
    with zipfile.ZipFile(next(WHEELS.glob("cupy_cuda13x-13.*.whl"))) as wheel:
        found = [match for match in map(name.fullmatch, wheel.namelist()) if match]
        return {match[1].removeprefix(_CCCL): wheel.read(match[0]).decode() for match in found}


def options(options: tuple[str, ...]) -> tuple[str, ...]:
    """A kernel's options with what CuPy 13 adds: a standard, and where CUDA's headers are."""
    standard = () if any("-std=" in option for option in options) else ("--std=c++11",)
    return (*options, *standard, f"-I{nvrtc.include_folder('cuda_fp16.h')}")


def is_generated(source: str) -> bool:
    """Whether a source is that of an ElementwiseKernel or a ReductionKernel."""
    return source.startswith(CARRAY)


def rewrite(source: str) -> str:
    """A source as it is, a generated one as CuPy 13 would begin it and find elements."""
    if not is_generated(source):
        return source
    source = source.replace(CARRAY, _START, 1)
    return re.sub(r"\.at\((\w+\.get\(\))\)", r"[\1]", source)
