"""X-ray the kernels that CuPy writes: ElementwiseKernel and ReductionKernel in their CUDA form.

The stand-in runs such a kernel as a loop on the CPU. Here it is launched with the blocks and
threads that a GPU would have.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable

import numpy as np

from gpuless.engine import memory
from gpuless.engine.plan import Plan
from gpuless.xray import looking
from gpuless.xray.job import Job
from gpuless.xray.machine.build import lines_of
from gpuless.xray.machine.spaces import Given
from gpuless.xray.result import XRay

REDUCTION_BLOCK = 512  # threads; what CuPy takes


def run(job: Job) -> XRay:
    """The x-ray of an ElementwiseKernel or a ReductionKernel."""
    import cupy

    look = functools.partial(looking.look, job, lambda sample: None)

    elementwise = job.kind == "elementwise"
    kind = cupy.ElementwiseKernel if elementwise else cupy.ReductionKernel
    found: list[XRay] = []
    with warnings.catch_warnings():  # of an overlap, whose races the x-ray itself tells of
        warnings.filterwarnings("ignore", "the output .* overlapping parts", RuntimeWarning)
        kind(**job.spec)(*looking.arguments(job), **job.options)  # plainly, for its errors
        kernel = _watched(kind, found, look)(**job.spec)
        kernel(*looking.arguments(job), **job.options)  # what no run has changed
    if not found:
        block = (job.options.get("block_size", 128), 1, 1)
        return XRay(job.spec["name"], (0, 1, 1), block, 0, 0)  # there were no elements
    return found[0]


def _watched(kind: type, found: list[XRay], look: Callable[..., XRay]) -> type:
    """The class ``kind``, but for how it runs: what is seen is appended to ``found``."""

    class Watched(kind):
        def _compile(self, kernel, args, rows, types):
            return lambda words, given, block_size: launch(
                self, kernel, rows, words, given(), block_size
            )

        def _on_cpu(self, kernel, rows, write, *texts):
            return lambda words, given: launch(self, kernel, rows, words, given(), REDUCTION_BLOCK)

    def launch(kernel, source, rows, words, pointers, block_size) -> None:
        source = _with_numbers(source)
        compiled = looking.compiled(source, (*kernel.options, "-DSTANDIN_NVRTC"), kernel.name, ())
        at = {name: offset for _, name, offset in rows}
        if "_shift" in at:  # a block has 1 << shift of the results
            blocks = -(-int(words[at["_out_ind"]]) // (1 << int(words[at["_shift"]])))
            threads = blocks * block_size
        else:
            threads = int(words[at["_ind"]])
        parameters = compiled.parameters(kernel.name)
        values = [
            _argument(kernel.name, number, parameter, words, offset)
            for number, (parameter, (_, _, offset)) in enumerate(zip(parameters, rows, strict=True))
        ]
        constant = {p.name: p.is_const for p in kernel.params}
        arrays = [_given(q, constant[q.name]) for q in pointers]
        grid, block = (-(-threads // block_size), 1, 1), (min(block_size, threads), 1, 1)
        plan = Plan(grid, block, values)
        found.append(look(kernel.name, compiled, plan, arrays, lines_of(source)))

    return Watched


def _argument(kernel: str, number: int, parameter, words: np.ndarray, offset: int):
    """What ``Kernel.launch`` takes for a parameter, out of the row of 8-byte words."""
    from cupy._core._arguments import Checker

    kind = parameter.kind.decode()
    dtype = f"V{parameter.size}" if kind == "s" else f"{kind.replace('c', 'i')}{parameter.size}"
    first = 8 * offset
    raw = words.view(np.uint8)[first : first + parameter.size].tobytes()
    value = np.frombuffer(raw, "?" if kind == "b" else dtype)
    return Checker(kernel, number + 1, parameter)(value if kind == "s" else value[0])


def _given(pointer, constant: bool) -> Given:
    held = memory.holding(pointer.address)
    end = sum(held) if held else pointer.address + pointer.item_bytes
    return Given(pointer.name, pointer.address, end, pointer.item_bytes, constant)


def _with_numbers(source: str) -> str:
    """The generated source with CuPy's headers, and lines of its own that are all different."""
    headers = [f"#include <cupy/{name}.cuh>" for name in ("complex", "carray")]
    lines = ['#line 2 "generated code"', *headers, *source.split("\n")]
    for at, line in enumerate(lines):
        if re.match(r'#line 1 "generated code"', line):
            lines[at] = f'#line {at + 2} "generated code"'
    return "\n".join(lines)
