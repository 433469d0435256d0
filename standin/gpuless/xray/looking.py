"""What the x-rays of all kinds of kernels share: arguments, compiled source, launch and report."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

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
    """A module's variables hold ``values`` inside a ``with`` block and again behind it."""

    def fill() -> None:
        for name, value in values.items():
            address, size = find(name)
            _bytes_at(address, size)[:] = np.frombuffer(value, np.uint8)

    fill()
    try:
        yield
    finally:
        fill()


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
    with variables(job.variables, compiled.variable):
        seen = compiled.launch(
            entry, plan, everything, check, blocks=job.blocks, accesses=job.accesses
        )
    translated = build.lines_of(compiled.translation.text)
    return report(seen, entry, plan.grid, plan.block, lines, translated)


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
