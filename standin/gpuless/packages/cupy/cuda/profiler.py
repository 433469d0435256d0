"""Start and stop of NVIDIA's profilers; there is nothing to start here."""

from cupy.cuda.runtime import profilerStart as start
from cupy.cuda.runtime import profilerStop as stop

__all__ = ["start", "stop"]
