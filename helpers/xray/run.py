"""X-ray a Job with the stand-in: in this process, or in one that was started for it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from helpers.standin.engine import compiler, memory, translate
from helpers.standin.engine.errors import CompileError, KernelError
from helpers.standin.xray import build, launch
from helpers.standin.xray.report import report
from helpers.standin.xray.result import XRay
from helpers.xray import generated
from helpers.xray.job import Array, Job
from helpers.xray.spaces import Given, spaces


def run(job: Job) -> XRay:
    """Run the launch on copies, first plainly, so that it ends in the stand-in's clear errors.

    Raises whatever a launch on the stand-in raises, and RuntimeError without a compiler.
    """
    build.check_compiler()
    if job.kind == "raw":
        return _raw(job)
    return generated.run(job, _arguments(job), functools.partial(_look, job, lambda sample: None))


def _arguments(job: Job) -> list:
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
def _compiled(
    source: str, options: tuple[str, ...], name: str, expressions: tuple[str, ...]
) -> launch.XRayedKernel:
    """CompileException if the source is rejected."""
    from cupy.cuda.compiler import CompileException

    parsed = compiler.parse_options(options)
    try:
        translation = translate.translate(
            source,
            name=name,
            expressions=expressions,
            definitions=parsed.definitions,
            include_folders=parsed.folders,
        )
        return launch.XRayedKernel(translation, parsed.arguments, name)
    except CompileError as error:
        raise CompileException(str(error), source, name, options) from None


def _raw(job: Job) -> XRay:
    import cupy
    from cupy.cuda.function import _dimensions

    spec, options = job.spec, job.options
    kernel = cupy.RawKernel(
        spec["code"],
        spec["name"],
        spec["options"],
        enable_cooperative_groups=spec["enable_cooperative_groups"],
    )
    kernel.name_expressions = spec["expressions"] or None
    kernel._module_name = spec["module"]
    if "max_dynamic_shared" in spec:
        kernel.max_dynamic_shared_size_bytes = spec["max_dynamic_shared"]
    grid, block, shared_mem = options["grid"], options["block"], options["shared_mem"]
    module = cupy._core.raw._module(
        spec["code"], spec["options"], spec["module"], spec["expressions"]
    )
    args = _arguments(job)
    checked = kernel.kernel
    if len(args) != len(checked._checkers):
        raise checked._wrong_count(len(args))
    values = [checker(a) for checker, a in zip(checked._checkers, args, strict=True)]
    grid, block = _dimensions("grid", grid), _dimensions("block", block)
    checked._check_launch(grid, block, shared_mem)
    cooperative = spec["enable_cooperative_groups"]
    if cooperative:
        grid = checked._fit_cooperative(grid, block)
    names = checked._kernel.parameter_names
    arrays = [
        _given(name, value, checker.type.startswith("const "))
        for name, value, checker in zip(names, args, checked._checkers, strict=True)
        if isinstance(value, cupy.ndarray | cupy.cuda.MemoryPointer)
    ]
    lines = {
        (f"{spec['module']}.cu", number): text
        for number, text in enumerate(spec["code"].split("\n"), 1)
    }

    def check(sample: list[int] | None) -> None:
        with launch.gated(checked._kernel, grid, sample):
            _run_plainly(job, kernel, module.find_global)

    return _look(
        job,
        check,
        spec["name"],
        _compiled(spec["code"], spec["options"], spec["module"], spec["expressions"]),
        grid,
        block,
        values,
        arrays,
        lines,
        shared_bytes=shared_mem,
        cooperative=cooperative,
    )


def _run_plainly(job: Job, kernel, find) -> None:
    """Run the launch once as it is. What stops it stops the x-ray, but for one thing: a read of
    shared memory that nobody has written may be a race, and then the x-ray says so.
    """
    options = job.options
    with _variables(job.variables, find):
        try:
            kernel(
                options["grid"],
                options["block"],
                tuple(_arguments(job)),
                shared_mem=options["shared_mem"],
            )
        except KernelError as error:
            if not error.unwritten:
                raise


@contextlib.contextmanager
def _variables(values: dict[str, bytes], find) -> Iterator[None]:
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


def _given(name: str, value, constant: bool) -> Given:
    """An argument as an array of the launch."""
    if hasattr(value, "dtype"):
        low, high = np.lib.array_utils.byte_bounds(value._array)
        start = value.data.ptr
        return Given(name, min(low, start), max(high, start), value.itemsize, constant)
    held = memory.holding(value.ptr)
    end = sum(held) if held else value.ptr
    return Given(name, value.ptr, end, 4, constant)


def _look(
    job: Job,
    check: Callable[[list[int] | None], None],
    entry: str,
    compiled: launch.XRayedKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    values: Sequence,
    arrays: Sequence[Given],
    lines: dict[tuple[str, int], str],
    *,
    shared_bytes: int = 0,
    cooperative: bool = False,
) -> XRay:
    """Launch what is compiled for the x-ray; make a report of what it saw."""
    everything = spaces(list(arrays))
    for name in compiled.translation.globals:
        address, size = compiled.variable(name)
        everything.append(launch.Space(name, address, size, _item_bytes(size)))
    with _variables(job.variables, compiled.variable):
        seen = compiled.launch(
            entry,
            grid,
            block,
            values,
            everything,
            check,
            shared_bytes=shared_bytes,
            cooperative=cooperative,
            blocks=job.blocks,
            accesses=job.accesses,
        )
    translated = build.lines_of(compiled.translation.text)
    return report(seen, entry, grid, block, lines, translated)


def _item_bytes(size: int) -> int:
    return 4 if size % 4 == 0 else 1
