"""``helpers.xray``: what a kernel does with memory, and its races, told without a GPU.

The x-ray is the stand-in's (``gpuless.xray``); here is how the book shows what it finds.
"""

from __future__ import annotations

from gpuless.xray import can_xray, xray  # noqa: F401
from gpuless.xray.result import SHOWN
from helpers.xray import picture, shown

SHOWN |= {"table": shown.show, "picture": picture.show, "occupancy": shown.occupancy}
