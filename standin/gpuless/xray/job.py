"""A launch to be x-rayed as plain data: it can be sent to a process that has the stand-in.

It is made from CuPy's objects or from the stand-in's alike (see make), and holds copies: what
becomes of them is seen by nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuless.xray.machine.launch import MOST_ACCESSES


@dataclass(frozen=True)
class Array:
    """An argument in device memory: it begins at byte ``offset`` of ``buffer``.

    ``shape`` is None for a bare pointer; then ``dtype`` and ``strides`` mean nothing.
    """

    buffer: int
    offset: int
    shape: tuple[int, ...] | None = None
    dtype: str = "u1"
    strides: tuple[int, ...] = ()


@dataclass
class Job:
    """A launch of ``kind`` raw, jit, elementwise or reduction.

    ``spec`` makes the kernel anew. ``arguments`` are values and Arrays in ``buffers`` (bytes).
    At most about ``accesses`` accesses are looked at, unless ``blocks`` says how many blocks.
    ``options`` are grid, block and shared_mem of a raw or jit kernel, else the call's keywords.
    ``origins`` are the addresses of what the buffers are copies of.
    ``variables`` are the bytes of the source's ``__device__`` and ``__constant__`` variables.
    """

    kind: str
    spec: dict[str, Any]
    arguments: list
    options: dict[str, Any]
    blocks: int | None
    accesses: int = MOST_ACCESSES
    buffers: list[np.ndarray] = field(default_factory=list)
    variables: dict[str, bytes] = field(default_factory=dict)
    origins: set[int] = field(default_factory=set)
