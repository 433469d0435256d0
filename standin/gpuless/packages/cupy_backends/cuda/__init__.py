"""``cupy_backends.cuda`` on the CPU: ``api`` alone."""

from __future__ import annotations

from gpuless import missing


def __getattr__(name: str):
    raise missing("cupy_backends.cuda", name)
