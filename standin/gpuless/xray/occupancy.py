"""Registers, and how many blocks fit a multiprocessor, from NVIDIA's compiler: it needs no GPU."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from gpuless import nvrtc
from gpuless.machine_code import REGISTERS, Cubin, read
from gpuless.xray.result import SHOWN


@dataclass(frozen=True)
class Multiprocessor:
    """What a multiprocessor of an ``architecture`` holds at once, after NVIDIA's CUDA C++
    Programming Guide, "Technical Specifications per Compute Capability".

    ``example`` is a GPU of the kind. ``shared`` and ``shared_of_block`` are the most bytes of
    shared memory, which a block gets in portions of ``shared_unit`` and of which CUDA takes
    ``shared_reserved`` for itself.
    """

    architecture: int
    example: str
    threads: int
    blocks: int
    shared: int
    shared_of_block: int
    shared_unit: int
    shared_reserved: int


KINDS = {
    kind.architecture: kind
    for kind in (
        Multiprocessor(75, "T4", 1024, 16, 64 << 10, 64 << 10, 256, 0),
        Multiprocessor(80, "A100", 2048, 32, 164 << 10, 163 << 10, 128, 1024),
        Multiprocessor(86, "RTX 3090", 1536, 16, 100 << 10, 99 << 10, 128, 1024),
        Multiprocessor(89, "L4", 1536, 24, 100 << 10, 99 << 10, 128, 1024),
        Multiprocessor(90, "H100", 2048, 32, 228 << 10, 227 << 10, 128, 1024),
    )
}


@dataclass(frozen=True)
class Residence:
    """How a launch fits a multiprocessor.

    ``blocks`` at once, ``threads`` in them, which is the ``share`` of what there is room for;
    ``limit``: which of registers, shared memory, threads or blocks allows no more.
    """

    code: Cubin
    kind: Multiprocessor
    blocks: int
    threads: int
    share: float
    limit: str


def residence(
    code: Cubin, kind: Multiprocessor, block_threads: int, shared_bytes: int = 0
) -> Residence:
    """How blocks of ``block_threads`` threads and ``shared_bytes`` of dynamic shared memory fit."""
    warps = -(-block_threads // 32)
    used = code.shared + shared_bytes + kind.shared_reserved
    portions = -(-used // kind.shared_unit) * kind.shared_unit
    # Each quarter of a multiprocessor has a quarter of the registers.
    warps_with_registers = REGISTERS // 4 // code.registers_of_warp * 4
    limits = {
        "threads": kind.threads // 32 // warps,
        "registers": warps_with_registers // warps,
        "blocks": kind.blocks,
    }
    if portions:
        limits["shared memory"] = kind.shared // portions
    if code.shared + shared_bytes > kind.shared_of_block:
        limits["shared memory"] = 0
    if code.threads is not None and block_threads > code.threads:
        limits["__launch_bounds__"] = 0
    limit = min(limits, key=limits.__getitem__)
    blocks = limits[limit]
    return Residence(
        code, kind, blocks, 32 * warps * blocks, 32 * warps * blocks / kind.threads, limit
    )


class Occupancy(list):
    """Residences of one launch, by kind of GPU; shows itself as a table."""

    HEADERS = (
        "GPU",
        "registers",
        "spilled",
        "shared",
        "blocks at once",
        "threads at once",
        "share",
        "limit",
    )

    def rows(self) -> list[tuple]:
        return [
            (
                f"sm_{r.kind.architecture} ({r.kind.example})",
                r.code.registers,
                f"{r.code.spilled} B",
                f"{r.code.shared} B",
                r.blocks,
                r.threads,
                f"{r.share:.0%}",
                r.limit,
            )
            for r in self
        ]

    def __str__(self) -> str:
        import tabulate

        return tabulate.tabulate(self.rows(), self.HEADERS, tablefmt="simple")

    def _ipython_display_(self) -> None:
        SHOWN.get("occupancy", print)(self)


def occupancy(kernel, block, *, shared_mem=0, architectures=(75, 80, 90)) -> Occupancy:
    """Compile a RawKernel with NVIDIA's compiler and say how its blocks fit a multiprocessor.

    Args:
        kernel: a RawKernel, or a function of a RawModule.
        block: tuple of one to three integers.
        shared_mem: dynamic shared memory of a block in bytes.
        architectures: kinds of GPU, of those in ``KINDS``.

    Returns:
        One Residence for each kind, which show themselves as a table.

    Raises:
        TypeError: not a RawKernel.
        ValueError: an unknown architecture, or a block without threads or with more than 1,024.
        RuntimeError: NVIDIA's compiler is not installed, or refuses the kernel.
    """
    import cupy

    from gpuless.xray.make import raw_spec

    if not isinstance(kernel, cupy.RawKernel):
        raise TypeError(f"occupancy takes a RawKernel, not a {type(kernel).__qualname__}")
    threads = math.prod(block)
    if not 1 <= threads <= 1024 or min(block) < 1:
        raise ValueError(f"a block has 1 to 1,024 threads, not {block}")
    if unknown := set(architectures) - set(KINDS):
        raise ValueError(f"architectures are of {sorted(KINDS)}, not {sorted(unknown)}")
    spec = raw_spec(kernel)
    found = Occupancy()
    for architecture in architectures:
        code = _machine_code(spec, architecture)
        found.append(residence(code, KINDS[architecture], threads, shared_mem))
    return found


def _machine_code(spec, architecture: int) -> Cubin:
    options = [o for o in spec["options"] if not nvrtc.ARCHITECTURE.match(o)]
    options += [f"-arch=sm_{architecture}", "--ptxas-options=-v"]
    module = spec["module"]
    result = nvrtc.compile(spec["code"], tuple(options), module, spec["expressions"])
    if not result.accepted:
        raise RuntimeError(f"NVIDIA's compiler refuses it for sm_{architecture}:\n{result.log}")
    codes = read(result.log, result.ptx, architecture)
    name = re.match(r"\w+", spec["name"])[0]
    matching = [c for c in codes if c.kernel == name] or [c for c in codes if name in c.kernel]
    if len(matching) != 1:
        raise RuntimeError(f"{len(matching)} kernels of the source could be '{spec['name']}'")
    return matching[0]
