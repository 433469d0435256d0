"""One line that says what stands behind ``import cupy``, for those who are to hear it."""

from __future__ import annotations

import gpuless
from gpuless.engine import compiler, machine


def text() -> str:
    """What was found and, where something is amiss, what to do about it; lines joined by "; "."""
    if not gpuless.is_active():
        return (
            "CuPy is installed and a GPU answers, or CUPY_STANDIN=never: `cupy` is CuPy itself. "
            "CUPY_STANDIN=always in the environment puts the stand-in in its place"
        )
    lenient = ", lenient" if gpuless.is_lenient() else ""
    try:
        found = compiler.find_compiler()
    except RuntimeError as error:
        return f"`cupy` is the CPU stand-in{lenient}, but: {error}"
    parts = [
        f"`cupy` is the CPU stand-in{lenient} ({found.version.splitlines()[0]}); timings say "
        "nothing about a GPU",
        machine.remark(),
    ]
    return "; ".join(filter(None, parts))
