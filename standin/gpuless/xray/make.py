"""Make the Job of x-raying a launch out of CuPy's objects, the stand-in's or a GPU's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import gpuless
from gpuless import engine
from gpuless.engine import translate
from gpuless.engine.options import parse
from gpuless.xray.job import Array, Job
from gpuless.xray.machine.launch import MOST_ACCESSES, NO_TEXTURES


def make(kernel, grid, block, args, *, shared_mem, blocks, keywords, accesses=MOST_ACCESSES) -> Job:
    """The job of x-raying a launch; see ``gpuless.xray.xray`` for the arguments.

    TypeError for what is no kernel.
    """
    import cupy

    options = dict(keywords)
    if isinstance(kernel, cupy.RawKernel):
        kind, spec = "raw", raw_spec(kernel)
        options |= {"grid": grid, "block": block, "shared_mem": int(shared_mem)}
        if shared_mem:
            spec["max_dynamic_shared"] = int(kernel.max_dynamic_shared_size_bytes)
    elif is_jit(kernel):
        options |= {"grid": grid, "block": block, "shared_mem": int(shared_mem)}
        made, packed = kernel.launchable(args)
        kind, spec = "jit", {**raw_spec(made), "lines": kernel.lines()}
        args = [a if isinstance(a, cupy.ndarray) else p for a, p in zip(args, packed, strict=True)]
    elif isinstance(kernel, cupy.ElementwiseKernel):
        kind, spec = "elementwise", _elementwise(kernel)
    elif isinstance(kernel, cupy.ReductionKernel):
        kind, spec = "reduction", _reduction(kernel)
    else:
        found = f"{type(kernel).__module__}.{type(kernel).__qualname__}"
        raise TypeError(
            "the x-ray takes a RawKernel, a function of a RawModule or of cupyx.jit, an "
            f"ElementwiseKernel or a ReductionKernel, not a {found}"
        )
    job = Job(kind, spec, [], options, blocks, accesses)
    _take_arguments(job, args, cupy)
    if kind == "raw":
        _take_variables(job, cupy)
    return job


def is_jit(kernel) -> bool:
    """Whether it is the stand-in's ``cupyx.jit.rawkernel``."""
    return hasattr(kernel, "launchable")


def raw_spec(kernel) -> dict[str, Any]:
    """What makes a RawKernel anew: its source, name and options, and what its source is called."""
    state = kernel.__getstate__()  # what a pickle would hold
    if state["code"] is None:
        raise NotImplementedError("the x-ray needs the source of a kernel, not a compiled file")
    spec = {
        name: state[name] for name in ("code", "options", "enable_cooperative_groups", "backend")
    }
    spec["expressions"] = tuple(state["name_expressions"] or ())
    spec["name"] = _name(state)
    # What messages call the source; CuPy does not say whether it is a module's.
    spec["module"] = state.get("_module_name") or re.match(r"\w+", spec["name"])[0]
    return spec


def _name(state: dict[str, Any]) -> str:
    """The kernel's name; for a template the expression, of which CuPy keeps the mangled name."""
    import cupy

    name, expressions = state["name"], state["name_expressions"] or ()
    if not expressions or name in expressions or not name.startswith("_Z"):
        return name
    module = cupy.RawModule(
        code=state["code"], options=state["options"], name_expressions=expressions
    )
    return next(e for e in expressions if module.get_function(e).name == name)


def _parameters(params) -> str:
    """The list that an ElementwiseKernel or a ReductionKernel was made with."""
    texts = []
    for p in params:
        kind = p.ctype if p.dtype is None else np.dtype(p.dtype).name
        texts.append(f"{'raw ' if p.raw else ''}{kind} {p.name}")
    return ", ".join(texts)


def _generated(kernel) -> dict[str, Any]:
    """What both kinds of generated kernels are made with."""
    return {
        "in_params": _parameters(kernel.in_params),
        "out_params": _parameters(kernel.out_params),
        "name": kernel.name,
        "reduce_dims": bool(kernel.reduce_dims),
        "preamble": kernel.preamble,
    }


def _elementwise(kernel) -> dict[str, Any]:
    return {**_generated(kernel), "operation": kernel.operation, **kernel.kwargs}


def _reduction(kernel) -> dict[str, Any]:
    more = ("map_expr", "reduce_expr", "post_map_expr", "identity", "reduce_type")
    parts = {name: getattr(kernel, name) for name in more}
    return {**_generated(kernel), **parts, "options": tuple(kernel.options)}


def _take_arguments(job: Job, args, cupy) -> None:
    """Copy what the arguments point to, each piece of device memory once."""
    numbers: dict[tuple[int, int], int] = {}

    def array_of(pointer, shape=None, dtype="u1", strides=()) -> Array:
        held = pointer.mem
        key = (held.ptr, held.size)
        if key not in numbers:
            numbers[key] = len(job.buffers)
            job.origins.add(held.ptr)
            everything = cupy.ndarray((held.size,), np.uint8, pointer - (pointer.ptr - held.ptr))
            job.buffers.append(everything.get())
        return Array(numbers[key], pointer.ptr - held.ptr, shape, dtype, strides)

    for value in args:
        if isinstance(value, cupy.ndarray):
            value = array_of(value.data, value.shape, value.dtype.str, value.strides)
        elif isinstance(value, cupy.cuda.MemoryPointer):
            value = array_of(value)
        elif isinstance(value, np.ndarray):
            value = value.copy()
        elif type(value).__name__ in ("TextureObject", "SurfaceObject"):
            raise NotImplementedError(NO_TEXTURES)
        job.arguments.append(value)


def _take_variables(job: Job, cupy) -> None:
    code, options = job.spec["code"], job.spec["options"]
    if not re.search(r"__device__|__constant__|__managed__", code):
        return
    names = translate.translate(code, options=parse(tuple(options))).globals
    if not names:
        return
    spec = job.spec
    sizes = engine.Module(code, options, name=spec["module"], expressions=spec["expressions"])
    for name in names:
        pointer, size = _variable(spec, name, cupy), sizes.variable(name)[1]
        job.variables[name] = cupy.ndarray((size,), np.uint8, pointer).get().tobytes()


def _variable(spec: dict[str, Any], name: str, cupy):
    """A pointer to a variable of the kernel's module, which CuPy keeps by its source."""
    if gpuless.is_active():
        held = cupy._core.raw._module(
            spec["code"],
            spec["options"],
            spec["module"],
            spec["expressions"],
            spec["enable_cooperative_groups"],
        )
        address, size = held.find_global(name)
        memory = cupy.cuda.memory
        return memory.MemoryPointer(memory.UnownedMemory(address, size, held), 0)
    module = cupy.RawModule(
        code=spec["code"],
        options=spec["options"],
        backend=spec["backend"],
        enable_cooperative_groups=spec["enable_cooperative_groups"],
        name_expressions=spec["expressions"] or None,
    )
    return module.get_global(name)
