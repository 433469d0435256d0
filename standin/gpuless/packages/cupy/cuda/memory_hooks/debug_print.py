"""A hook that prints what a pool does."""

from __future__ import annotations

import json
import sys

from cupy.cuda.memory_hook import MemoryHook


class DebugPrintHook(MemoryHook):
    """Prints one line of JSON to ``file`` after each ``alloc``, ``malloc`` and ``free``; with
    ``flush`` each is seen at once."""

    name = "DebugPrintHook"

    def __init__(self, file=sys.stdout, flush: bool = True):
        self.file, self.flush = file, flush

    def _print(self, hook: str, told: dict, *names: str) -> None:
        line = {"hook": hook, **{name: told[name] for name in names}}
        if "pmem_id" in line:
            line["pmem_id"] = hex(line["pmem_id"])
        self.file.write(json.dumps(line, separators=(",", ":")) + "\n")
        if self.flush:
            self.file.flush()

    def alloc_postprocess(self, **kwargs) -> None:
        self._print("alloc", kwargs, "device_id", "mem_size", "mem_ptr")

    def malloc_postprocess(self, **kwargs) -> None:
        self._print("malloc", kwargs, "device_id", "size", "mem_size", "mem_ptr", "pmem_id")

    def free_postprocess(self, **kwargs) -> None:
        self._print("free", kwargs, "device_id", "mem_size", "mem_ptr", "pmem_id")
