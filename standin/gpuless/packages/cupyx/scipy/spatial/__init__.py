"""``cupyx.scipy.spatial`` on the CPU: distances."""

from __future__ import annotations

from cupyx.scipy.spatial import distance  # noqa: F401
from gpuless import missing as _missing


def __getattr__(name: str):
    raise _missing(__name__, name)
