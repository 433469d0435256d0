"""Two hooks that are ready for use."""

from __future__ import annotations

from cupy.cuda.memory_hooks import debug_print, line_profile  # noqa: F401
from cupy.cuda.memory_hooks.debug_print import DebugPrintHook  # noqa: F401
from cupy.cuda.memory_hooks.line_profile import LineProfileHook  # noqa: F401
