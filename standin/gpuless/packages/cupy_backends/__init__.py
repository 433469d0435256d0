"""``cupy_backends`` on the CPU: CuPy's inner package, of which programs use ``cuda.api``."""

from __future__ import annotations

from gpuless import missing


def __getattr__(name: str):
    raise missing("cupy_backends", name)
