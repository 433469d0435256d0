"""Compile a kernel to machine code for each kind of GPU and hold it against that GPU's limits.

A kernel that a reader's GPU could not run is refused on a machine without one. What is known of a
source is kept in the folder ``cubins`` of the stand-in's cache; chapters_kernels.py asks for every
kernel of the chapters. Each is also compiled behind the headers of the oldest CuPy, where they have
been fetched.

A source that needs a newer GPU than a T4 says so: ``// needs compute capability 9.0``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import cupy_oldest
import nvrtc

from gpuless import machine_code
from gpuless.engine.compiler import cache_folder
from gpuless.machine_code import THREADS

# T4, A100, H100 and H200, and the newest cards for games.
ARCHITECTURES = (75, 80, 90, 120)
# A kernel with launch bounds is given few registers, and where one compiler makes do with them,
# another spills. So the older NVRTC compiles it, too, for the GPUs that the book is recorded on.
BOUNDED_ON = 90
SHARED = 48 * 1024  # bytes of shared memory of fixed size
# {(kernel, architecture): bytes a thread}: chapter 57's at a batch of 5, until it is recorded next.
# Not a byte more, and nothing else.
SPILLS = {("forward", 80): 16}
GENERATED = 512  # the largest block that CuPy launches of its own accord: that of a reduction
_THIS_FILE = Path(__file__).read_text()
_NEEDS = re.compile(r"//.*\bneeds compute capability (\d+)\.(\d)")


class Cubin(machine_code.Cubin):
    """Machine code, held against the limits of its kind of GPU."""

    def problems(self, largest: int = THREADS) -> list[str]:
        """What this kind of GPU would refuse, in words.

        ``largest``: threads of the block where no ``__launch_bounds__`` say how many.
        """
        where = f"kernel '{self.kernel}' on sm_{self.architecture}"
        found = []
        if self.shared > SHARED:
            found.append(f"{where}: {self.shared} bytes of shared memory; the limit is {SHARED}")
        if self.largest_block < (self.threads or largest):
            said = f"its __launch_bounds__ are {self.threads}"
            found.append(
                f"{where}: {self.registers} registers a thread allow {self.largest_block} threads "
                f"a block; {said if self.threads else f'without __launch_bounds__: {largest}'}"
            )
        if self.spilled and self.spilled != SPILLS.get((self.kernel, self.architecture)):
            found.append(f"{where}: {self.spilled} bytes of registers a thread go to memory")
        return found


def _keep_headers(source: str) -> tuple[str, ...]:
    """The option with which what NVRTC makes of CUDA's headers serves the process's next kernel.

    It takes NVRTC seconds; where there is nothing to keep, the option takes a little itself.
    """
    return ("-pch",) if "#include <" in source else ()


def architectures(source: str) -> tuple[int, ...]:
    """Those that a source says it runs on."""
    said = [10 * int(major) + int(minor) for major, minor in _NEEDS.findall(source)]
    return tuple(a for a in ARCHITECTURES if a >= max(said, default=0))


def read(log: str, ptx: str, architecture: int) -> list[Cubin]:
    """The kernels that ptxas's log (option ``-v``) and the PTX speak of."""
    return [Cubin(**asdict(found)) for found in machine_code.read(log, ptx, architecture)]


def cubins(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
) -> list[Cubin]:
    """Every kernel of a source, on every architecture that it says it runs on.

    After them come those that spill of what an older NVRTC makes of kernels with launch bounds.

    Raises:
        cupy.cuda.compiler.CompileException: NVRTC or ptxas refuses; ``str()`` has the messages.
        RuntimeError: NVRTC or a header of CUDA's is not installed.
    """
    kept = _kept(source, options, name, expressions)
    if kept.is_file():
        return [Cubin(**entry) for entry in json.loads(kept.read_text())]

    def one(architecture: int, older: bool = False) -> list[Cubin]:
        wanted = (
            *options,
            f"-arch=sm_{architecture}",
            "--ptxas-options=-v",
            *_keep_headers(source),
        )
        result = nvrtc.compile(source, wanted, name, expressions, older=older)
        if not result.accepted:
            message = f"NVRTC refused it for sm_{architecture}:\n{result.log}"
            nvrtc.refuse(message, source, name, wanted)
        return read(result.log, result.ptx, architecture)

    wanted = architectures(source)
    found = [cubin for architecture in wanted for cubin in one(architecture)]
    # CUDA's headers are those of the newer one; the older need not understand them.
    if "__launch_bounds__" in source and "#include" not in source and nvrtc.has_older():
        found += [cubin for cubin in one(BOUNDED_ON, older=True) if cubin.spilled]
    if cupy_oldest.is_there():
        _check_with_the_oldest(source, options, name, expressions, wanted[0])
    kept.parent.mkdir(exist_ok=True)
    unfinished = kept.with_suffix(f".{os.getpid()}")  # another process may look for it
    unfinished.write_text(json.dumps([asdict(cubin) for cubin in found]))
    unfinished.replace(kept)
    return found


def _check_with_the_oldest(
    source: str, options: tuple[str, ...], name: str, expressions: tuple[str, ...], oldest: int
) -> None:
    """Only whether NVRTC accepts the source as that CuPy gives it: no machine code."""
    source = cupy_oldest.rewrite(source)
    wanted = (*cupy_oldest.options(options), f"-arch=compute_{oldest}", *_keep_headers(source))
    result = nvrtc.compile(source, wanted, name, expressions, headers={})
    if not result.accepted:
        message = f"NVRTC refused it as CuPy {cupy_oldest.VERSION} gives it:\n{result.log}"
        nvrtc.refuse(message, source, name, wanted)


def check(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
) -> None:
    """As ``cubins``; CompileException too for a kernel that is past a GPU's limits."""
    found = cubins(source, options, name, expressions)
    largest = GENERATED if cupy_oldest.is_generated(source) else THREADS
    if problems := [problem for cubin in found for problem in cubin.problems(largest)]:
        nvrtc.refuse("\n".join(problems), source, name, options)


def _kept(*what) -> Path:
    """The file for what is known of a source; named by all that it was found from."""
    versions = nvrtc.version(), nvrtc.has_older() and nvrtc.version(older=True)
    text = repr((*what, versions, nvrtc.shim_headers(), cupy_oldest.is_there(), _THIS_FILE))
    return cache_folder() / "cubins" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
