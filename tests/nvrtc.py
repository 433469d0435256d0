"""Compile a kernel with NVIDIA's own compiler, to learn whether it would be accepted.

With ``CUPY_STANDIN_LISTENER=.../tests/nvrtc.py`` the stand-in hands it every source, so that a test
run catches what a C++ compiler accepts and CUDA does not. What it has accepted is remembered in the
folder ``accepted`` of the stand-in's cache.
"""

from __future__ import annotations

import hashlib
import re

from gpuless.engine.compiler import cache_folder
from gpuless.nvrtc import (
    ARCHITECTURE,
    compile,
    has_older,
    include_folder,
    is_installed,
    shim_headers,
    version,
)

__all__ = [
    "check",
    "compile",
    "has_older",
    "include_folder",
    "is_installed",
    "refuse",
    "shim_headers",
    "version",
]


def check(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
) -> None:
    """Compile CUDA C ``source``, once, for the oldest GPU that can run it; the result is dropped.

    Args:
        source: CUDA C.
        options: NVRTC options; defaults are added where they say nothing else.
        name: what messages call the source, without ``.cu``.
        expressions: names of template kernels to compile.

    Raises:
        cupy.cuda.compiler.CompileException: NVRTC refuses; ``str()`` has its messages.
        RuntimeError: NVRTC or a header of CUDA's is not installed.
    """
    text = repr((source, options, expressions, version(), shim_headers()))
    known = cache_folder() / "accepted" / hashlib.sha256(text.encode()).hexdigest()
    if known.exists():
        return
    # What NVRTC makes of CUDA's headers, in a second, serves the process's next kernel.
    kept = ("-pch",) if "#include <" in source else ()
    result = compile(source, (*options, *kept), name, expressions)
    if not result.accepted:
        needed = re.findall(r"requires \.target sm_(\d+)", result.log)  # inline PTX
        if needed:
            newest = f"-arch=sm_{max(map(int, needed))}"
            options = (*(o for o in options if not ARCHITECTURE.match(o)), newest)
            result = compile(source, (*options, *kept), name, expressions)
    if not result.accepted:
        refuse(f"NVRTC refused it:\n{result.log}", source, name, options)
    known.parent.mkdir(exist_ok=True)
    known.touch()


def refuse(message: str, source: str, name: str, options: tuple[str, ...]) -> None:
    """Raise CuPy's own error."""
    from cupy.cuda.compiler import CompileException

    raise CompileException(message, source, name, tuple(options))
