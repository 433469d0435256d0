"""X-ray a Job with the stand-in: in this process, or in one that was started for it."""

from __future__ import annotations

import numpy as np

from gpuless.engine import memory
from gpuless.engine.errors import KernelError
from gpuless.xray import generated, looking
from gpuless.xray.job import Job
from gpuless.xray.machine import build, launch
from gpuless.xray.machine.spaces import Given
from gpuless.xray.result import XRay


def run(job: Job) -> XRay:
    """Run the launch on copies, first plainly, so that it ends in the stand-in's clear errors.

    Raises whatever a launch on the stand-in raises, and RuntimeError without a compiler.
    """
    build.check_compiler()
    return _raw(job) if job.kind in ("raw", "jit") else generated.run(job)


def _raw(job: Job) -> XRay:
    import cupy

    spec, options = job.spec, job.options
    kernel = cupy.RawKernel(
        spec["code"],
        spec["name"],
        spec["options"],
        enable_cooperative_groups=spec["enable_cooperative_groups"],
    )
    named = {"name_expressions": spec["expressions"] or None, "_module_name": spec["module"]}
    kernel.__dict__.update(named)
    if "max_dynamic_shared" in spec:
        kernel.max_dynamic_shared_size_bytes = spec["max_dynamic_shared"]
    module = cupy._core.raw._module(
        spec["code"],
        spec["options"],
        spec["module"],
        spec["expressions"],
        spec["enable_cooperative_groups"],
    )
    args, function = looking.arguments(job), kernel.kernel
    plan = function.plan(
        options["grid"],
        options["block"],
        _as_launched(job, args),
        options["shared_mem"],
        spec["enable_cooperative_groups"],
    )
    parameters = function.compiled.parameters
    arrays = [
        _given(name, value, parameter)
        for name, value, parameter in zip(
            function.compiled.parameter_names, args, parameters, strict=True
        )
        if isinstance(value, cupy.ndarray | cupy.cuda.MemoryPointer)
    ]
    texts = spec.get("lines") or dict(enumerate(spec["code"].split("\n"), 1))
    lines = {(f"{spec['module']}.cu", number): text for number, text in texts.items()}

    stopped: list[KernelError] = []

    def check(sample: list[int] | None) -> None:
        with launch.gated(function.compiled, plan.grid, sample):
            stopped[:] = _run_plainly(job, kernel, module.find_global)

    compiled = looking.compiled(spec["code"], spec["options"], spec["module"], spec["expressions"])
    found = looking.look(job, check, spec["name"], compiled, plan, arrays, lines)
    if stopped and all(race.harmless for race in found.races):
        raise stopped[0]  # what stopped the launch must not pass in silence
    return found


def _as_launched(job: Job, args: list) -> list:
    """The arguments as the kernel's CUDA C takes them."""
    if job.kind == "raw":
        return args
    import cupy
    from cupyx.jit._interface import packed

    return [packed(arg) if isinstance(arg, cupy.ndarray) else arg for arg in args]


def _run_plainly(job: Job, kernel, find) -> list[KernelError]:
    """Run the launch once as it is. What stops it stops the x-ray, but for one thing: a read of
    shared memory that nobody has written may be a race, and then the x-ray says so. That error is
    returned, if it came.
    """
    options, args = job.options, looking.arguments(job)
    with looking.variables(job.variables, find):
        try:
            kernel(
                options["grid"],
                options["block"],
                tuple(_as_launched(job, args)),
                shared_mem=options["shared_mem"],
            )
        except KernelError as error:
            if not error.unwritten:
                raise
            return [error]
    return []


def _given(name: str, value, parameter) -> Given:
    """An argument as an array of the launch."""
    constant = parameter.type.startswith("const ")
    known = parameter.target_alignment or 16, parameter.target_size or 1
    if hasattr(value, "dtype"):
        low, high = np.lib.array_utils.byte_bounds(value._array)
        start = value.data.ptr
        return Given(name, min(low, start), max(high, start), value.itemsize, constant, *known)
    held = memory.holding(value.ptr)
    end = sum(held) if held else value.ptr
    return Given(name, value.ptr, end, 4, constant, *known)
