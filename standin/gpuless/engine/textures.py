"""Texture and surface objects, as kernels see them: StandinTexture of shim/texture.h."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuless.engine.memory import Allocation

_LAYOUT = struct.Struct("=qQ 3q 4d 3i i 3i 3i 3i 4x")
_DESTROYED, _TEXTURE, _SURFACE = 0, 0x7E81DE5C7E81DE5C, 0x7E81DE5C7E81DE5D  # StandinObject
SIGNED, UNSIGNED, FLOAT = range(3)  # StandinFormat
WRAP, CLAMP, MIRROR, BORDER = range(4)  # StandinAddressMode

_spare: list[Allocation] = []  # of destroyed objects: whoever still uses one is told so


@dataclass(frozen=True)
class Texels:
    """The memory that an object reads.

    ``size`` are texels along x, y and z, of which ``dimensions`` count (0: linear memory), and
    ``stride`` the bytes from one to the next. A texel has ``channels`` of ``bits`` each.
    """

    address: int
    size: tuple[int, int, int]
    stride: tuple[int, int, int]
    dimensions: int
    channels: int
    bits: int
    format: int


@dataclass(frozen=True)
class Sampling:
    """How a texture is read.

    ``linear``: neighbours are blended; ``normalized``: coordinates run from 0 to 1; ``to_float``:
    integers are read as numbers from 0, or -1, to 1. ``border`` has the channels of what is beyond
    an edge in the mode BORDER.
    """

    address_modes: tuple[int, int, int] = (CLAMP,) * 3
    linear: bool = False
    normalized: bool = False
    to_float: bool = False
    border: Sequence[float] = (0.0,) * 4


class Object:
    """An object at ``address``, the number by which kernels know it, as long as this one lives.

    Without ``sampling`` it is a surface.
    """

    def __init__(self, texels: Texels, sampling: Sampling | None):
        how = sampling or Sampling()
        self._held = _spare.pop() if _spare else Allocation(_LAYOUT.size)
        self.address = self._held.address
        _LAYOUT.pack_into(
            np.asarray(self._held),
            0,
            _TEXTURE if sampling else _SURFACE,
            texels.address,
            *texels.stride,
            *how.border,
            *texels.size,
            texels.dimensions,
            texels.bits,
            texels.channels,
            texels.format,
            *how.address_modes,
            how.linear,
            how.normalized,
            how.to_float,
        )

    def __del__(self, spare=_spare) -> None:
        if hasattr(self, "address"):
            np.asarray(self._held).view(np.int64)[0] = _DESTROYED
            spare.append(self._held)
