"""Generated kernels behind the headers of CuPy 13, as NVRTC would get them from that version.

The headers are read from CuPy's own wheel, which ``make`` puts into ``.venv/cupy-13``: nothing of
it is installed.
"""

from __future__ import annotations

import functools
import re
import sys
import zipfile
from pathlib import Path

from cupy._core._launch import CARRAY

WHEELS = Path(sys.prefix, "cupy-13")
_INSIDE = "cupy/_core/include/"
_START = "".join(
    f"#include <cupy/{name}>\n"
    for name in ("complex.cuh", "carray.cuh", "atomics.cuh", "math_constants.h")
)


def is_there() -> bool:
    """Whether the wheel has been fetched."""
    return any(WHEELS.glob("cupy_cuda13x-13.*.whl"))


@functools.cache
def headers() -> dict[str, str]:
    """The texts of CuPy's headers by the names that ``#include`` knows; no CUDA header."""
    with zipfile.ZipFile(next(WHEELS.glob("cupy_cuda13x-13.*.whl"))) as wheel:
        return {
            name.removeprefix(_INSIDE): wheel.read(name).decode()
            for name in wheel.namelist()
            if re.fullmatch(_INSIDE + r"cupy/(complex/)?\w+\.(h|cuh)", name)
        }


def is_generated(source: str) -> bool:
    """Whether a source is that of an ElementwiseKernel or a ReductionKernel."""
    return source.startswith(CARRAY)


def rewrite(source: str) -> str:
    """A generated source as CuPy 13 would begin it; elements are found as its arrays do that."""
    source = source.replace(CARRAY, _START, 1)
    return re.sub(r"\.at\((\w+\.get\(\))\)", r"[\1]", source)
