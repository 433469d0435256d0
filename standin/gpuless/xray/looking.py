"""What the x-rays of all kinds of kernels share: arguments, compiled source, launch and report."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from gpuless.engine import memory, translate
from gpuless.engine.errors import CompileError
from gpuless.engine.options import parse
from gpuless.engine.plan import Plan
from gpuless.xray.job import Array, Job
from gpuless.xray.machine import build, launch
from gpuless.xray.machine.spaces import Given, spaces
from gpuless.xray.report import ORIGINAL, report
from gpuless.xray.result import XRay

ASIDE = "an array behind an address"  # how it is called
MOST_ASIDE = 50_000
LEADS_OUT = (
    "Not looked at: what is called by an address that lies in '{}'. It leads to the program as it "
    "is launched. Let this kernel take the address of a function, or make the object, itself."
)


def arguments(job: Job) -> list:
    """The arguments, arrays in fresh memory."""
    import cupy

    held = [cupy.asarray(buffer) for buffer in job.buffers]

    def value(given):
        if not isinstance(given, Array):
            return given
        pointer = held[given.buffer].data + given.offset
        if given.shape is None:
            return pointer
        return cupy.ndarray(given.shape, np.dtype(given.dtype), pointer, given.strides)

    return [value(given) for given in job.arguments]


@functools.lru_cache(64)
def compiled(
    source: str, options: tuple[str, ...], name: str, expressions: tuple[str, ...]
) -> launch.XRayedKernel:
    """A source compiled for the x-ray; CompileException if the source is rejected."""
    from cupy.cuda.compiler import CompileException

    parsed = parse(options)
    try:
        translation = translate.translate(
            source,
            name=name,
            expressions=expressions,
            options=parsed,
        )
        return launch.XRayedKernel(translation, parsed.arguments, name)
    except CompileError as error:
        raise CompileException(str(error), source, name, options) from None


@contextlib.contextmanager
def variables(values: dict[str, bytes], find) -> Iterator[None]:
    """A module's variables hold ``values`` inside a ``with`` block and again behind it.

    NotImplementedError where a launch has put the address of a function there.
    """
    values = {name: _in_its_own_module(name, value, find) for name, value in values.items()}

    def fill() -> None:
        for name, value in values.items():
            address, size = find(name)
            _bytes_at(address, size)[:] = value

    fill()
    try:
        yield
    finally:
        fill()


def _in_its_own_module(name: str, value: bytes, find) -> np.ndarray:
    """The bytes of a variable, in which addresses of the module that they come from, as those of
    functions are, have become the addresses of this one: else nobody would see what lies there."""
    new = np.frombuffer(value, np.uint8).copy()
    address, size = find(name)
    words, here = (x[: size // 8 * 8].view(np.uint64) for x in (new, _bytes_at(address, size)))
    leads = (words != here) & _in_a_library(words)
    if (leads & ~_in_a_library(here)).any():
        raise NotImplementedError(
            f"the x-ray cannot follow the address of a function or a variable that a launch "
            f"has put into {name!r}; set it where it is declared"
        )
    words[leads] = here[leads]
    return new


def _leads_out(space: launch.Space) -> bool:
    """Whether memory holds an address of a library's: of a function, or of the table of an object
    with virtual functions, which an earlier launch has put there."""
    start = -space.base % 8
    words = _bytes_at(space.base + start, max(0, space.size - start) // 8 * 8).view(np.uint64)
    return bool(_in_a_library(words).any())


def _in_a_library(words: np.ndarray) -> np.ndarray:
    """Which of these numbers, read as addresses, lie in a library that the process has loaded."""
    found = np.zeros(len(words), bool)
    near = np.flatnonzero((words >> 44 >= 5) & (words >> 47 == 0))  # where Linux puts libraries
    if len(near):
        spans: list[list[int]] = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, *_, last = line.split()
            begin, end = (int(at, 16) for at in span.split("-"))
            # Variables that begin as 0 may lie behind what is mapped from the file.
            bss = last == "0" and rights == "rw-p" and spans and begin == spans[-1][1]
            if last.endswith(".so") or bss:
                spans.append([begin, end])
        begins, ends = np.array(spans, np.uint64).T
        at = np.searchsorted(begins, words[near], "right") - 1
        found[near] = (at >= 0) & (words[near] < ends[at])
    return found


def _bytes_at(address: int, size: int) -> np.ndarray:
    import ctypes

    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def look(
    job: Job,
    check: Callable[[list[int] | None], None],
    entry: str,
    compiled: launch.XRayedKernel,
    plan: Plan,
    arrays: Sequence[Given],
    lines: dict[tuple[str, int], str],
) -> XRay:
    """Launch what is compiled for the x-ray; make a report of what it saw.

    ``check`` is as for ``XRayedKernel.launch``; ``lines`` are the reader's by (file, line).
    """
    everything = spaces(list(arrays))
    for name in compiled.translation.globals:
        address, size = compiled.variable(name)
        kind = "constant" if name in compiled.translation.constants else "global"
        space = launch.Space(name, address, size, _item_bytes(size), memory=kind)
        space.read_only = kind == "constant"
        everything.append(space)
    everything += _aside({space.base for space in everything}, job.origins)
    own = {space.base for space in everything if space.name in compiled.translation.globals}
    outward = [space for space in everything if space.base not in own and _leads_out(space)]
    with variables(job.variables, compiled.variable):
        seen = compiled.launch(
            entry, plan, everything, check, blocks=job.blocks, accesses=job.accesses
        )
    translated = build.lines_of(compiled.translation.text)
    found = report(seen, entry, plan.grid, plan.block, lines, translated)
    notes = (LEADS_OUT.format(outward[0].name),) if outward else ()
    return dataclasses.replace(found, notes=found.notes + notes)


def _aside(known: set[int], origins: set[int]) -> list[launch.Space]:
    """All other arrays: a kernel comes to them by an address that it finds or is told."""
    return [
        launch.Space(
            ORIGINAL if address in origins else ASIDE, address, size, _item_bytes(size), aside=True
        )
        for address, size in memory.live()[:MOST_ASIDE]
        if size and address not in known
    ]


def _item_bytes(size: int) -> int:
    return 4 if size % 4 == 0 else 1
