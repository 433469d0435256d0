"""What the device at hand can do at best, measured: what an XRay's counts are held against."""

from __future__ import annotations

from dataclasses import dataclass

from helpers import device
from helpers.timing import measure

BYTES = 1 << 30  # what is copied


@dataclass(frozen=True)
class Ceilings:
    """Bytes that a copy reads and writes a second, and passes of L1 that all multiprocessors do.

    They are the arguments of ``XRay.least_seconds``: ``found.least_seconds(**vars(ceilings()))``.
    """

    bytes_per_second: float
    passes_per_second: float


def ceilings() -> Ceilings:
    """Copy a large array and time it; ask the driver for multiprocessors and their clock.

    RuntimeError without a GPU: what the stand-in takes says nothing about one.
    """
    if not device.on_gpu:
        raise RuntimeError("ceilings() measures a GPU, and there is none")
    import cupy

    n_bytes = min(BYTES, cupy.cuda.Device().mem_info[0] // 8)
    source = cupy.zeros(n_bytes, cupy.uint8)
    target = cupy.empty_like(source)
    seconds = measure(lambda: cupy.copyto(target, source)).median
    attributes = cupy.cuda.Device().attributes
    per_second = attributes["MultiProcessorCount"] * attributes["ClockRate"] * 1e3
    return Ceilings(2 * n_bytes / seconds, per_second)
