"""A hook that says which lines of a program take how much memory."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import gpuless
from cupy.cuda.memory_hook import MemoryHook

_OURS = f"{Path(gpuless.__file__).parent}{os.sep}"


class _Line:
    """A line that called, the lines it led to, and bytes: of the pool's, and new to the pool."""

    def __init__(self, told: str):
        self.told, self.used, self.acquired = told, 0, 0
        self.called: dict[tuple, _Line] = {}

    def report(self, depth: int, file) -> None:
        sizes = f"{_readable(self.used)}, {_readable(self.acquired)}"
        file.write(f"{'  ' * depth}{self.told} ({sizes})\n")
        for line in self.called.values():
            line.report(depth + 1, file)


def _readable(size: float) -> str:
    for unit in ("", "K", "M", "G", "T", "P", "E"):
        if size < 1024:
            return f"{size:3.2f}{unit}B"
        size /= 1024
    return f"{size:.2f}ZB"


class LineProfileHook(MemoryHook):
    """Adds up, line by line of all that called, the bytes that came from a pool and those that the
    pool took from the device.

    ``max_depth`` counts the levels of the report, the first of which is ``_root``; 0: all. Lines of
    CuPy's compiled modules are not among them; nor are the stand-in's.
    """

    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0):
        self._root = _Line("_root")
        self._max_depth = max_depth

    def malloc_preprocess(self, device_id, size, mem_size) -> None:
        self._add(mem_size, 0)

    def alloc_preprocess(self, device_id, mem_size) -> None:
        self._add(0, mem_size)

    def _add(self, used: int, acquired: int) -> None:
        calls = [f for f in traceback.extract_stack() if not f.filename.startswith(_OURS)]
        if self._max_depth > 0:
            calls = calls[: self._max_depth - 1]
        line = self._root
        line.used, line.acquired = line.used + used, line.acquired + acquired
        for call in calls:
            key = call.filename, call.lineno, call.name
            line = line.called.setdefault(key, _Line(":".join(map(str, key))))
            line.used, line.acquired = line.used + used, line.acquired + acquired

    def print_report(self, file=sys.stdout) -> None:
        """Print ``FILE:LINE:FUNCTION (bytes from the pool, bytes from the device)`` as a tree."""
        self._root.report(0, file)
        file.flush()
