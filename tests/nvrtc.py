"""Compile a kernel with NVIDIA's own compiler, to learn whether it would be accepted.

With ``CUPY_STANDIN_LISTENER=.../tests/nvrtc.py`` the stand-in hands it every source, so that a test
run catches what a C++ compiler accepts and CUDA does not.
"""

from __future__ import annotations

import re

from helpers.standin.nvrtc import (
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
    """Compile CUDA C ``source`` for the oldest GPU that can run it and throw the result away.

    Args:
        source: CUDA C.
        options: NVRTC options; defaults are added where they say nothing else.
        name: what messages call the source, without ``.cu``.
        expressions: names of template kernels to compile.

    Raises:
        cupy.cuda.compiler.CompileException: NVRTC refuses; ``str()`` has its messages.
        RuntimeError: NVRTC or a header of CUDA's is not installed.
    """
    result = compile(source, options, name, expressions)
    if not result.accepted:
        needed = re.findall(r"requires \.target sm_(\d+)", result.log)  # inline PTX
        if needed:
            newest = f"-arch=sm_{max(map(int, needed))}"
            options = (*(o for o in options if not ARCHITECTURE.match(o)), newest)
            result = compile(source, options, name, expressions)
    if not result.accepted:
        refuse(f"NVRTC refused it:\n{result.log}", source, name, options)


def refuse(message: str, source: str, name: str, options: tuple[str, ...]) -> None:
    """Raise CuPy's own error."""
    from cupy.cuda.compiler import CompileException

    raise CompileException(message, source, name, tuple(options))
