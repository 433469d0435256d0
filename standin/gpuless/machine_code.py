"""What NVIDIA's assembler says of a kernel's machine code: registers, spills, shared memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

REGISTERS = 65536  # of a block, and of a multiprocessor: the same since Maxwell
THREADS = 1024  # of a block, at most
_ENTRY = re.compile(
    r"Compiling entry function '(?P<name>[^']+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Cubin:
    """One kernel in machine code.

    ``architecture`` is 75 for compute capability 7.5. ``registers`` are those of a thread,
    ``shared`` (of fixed size), ``stack`` (arrays that are no registers) and ``spilled`` (registers
    that went to memory) are bytes, the last two of a thread. ``threads`` is the largest block that
    ``__launch_bounds__`` allows, None without.
    """

    kernel: str
    architecture: int
    registers: int
    shared: int
    stack: int
    spilled: int
    threads: int | None

    @property
    def registers_of_warp(self) -> int:
        """A warp gets registers in portions of 256."""
        return -(-self.registers * 32 // 256) * 256

    @property
    def largest_block(self) -> int:
        """Threads of the largest block whose registers there are, up to 1024.

        A block gets warps in fours: one for each quarter of the multiprocessor, which has a quarter
        of the registers.
        """
        return min(THREADS, REGISTERS // self.registers_of_warp // 4 * 4 * 32)


def read(log: str, ptx: str, architecture: int) -> list[Cubin]:
    """The kernels that ptxas's log (option ``-v``) and the PTX speak of."""
    bounds = {
        name: int(threads)
        for name, threads in re.findall(r"\.entry\s+(\w+)\s*\([^)]*\)\s*\.maxntid\s+(\d+)", ptx)
    }
    found = []
    for entry in _ENTRY.finditer(log):
        shared = re.search(r"(\d+) bytes smem", entry["rest"])
        found.append(
            Cubin(
                kernel=entry["name"],
                architecture=architecture,
                registers=int(entry["registers"]),
                shared=int(shared[1]) if shared else 0,
                stack=int(entry["stack"]),
                spilled=int(entry["stores"]) + int(entry["loads"]),
                threads=bounds.get(entry["name"]),
            )
        )
    return found
