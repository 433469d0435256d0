"""``cupyx.scipy.spatial.distance`` on the CPU."""

from __future__ import annotations

from scipy.spatial import distance as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing

globals().update(_serve(_library, arrays=True))


def __getattr__(name: str):
    raise _missing(__name__, name)
