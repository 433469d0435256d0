"""``gpuless.xray``: what a kernel does with memory, and its races, told without a GPU."""

from __future__ import annotations

from gpuless.xray import table
from gpuless.xray.look import look
from gpuless.xray.machine.build import can_compile as can_xray  # noqa: F401
from gpuless.xray.make import is_jit, make
from gpuless.xray.result import SHOWN, XRay

SHOWN |= {"text": table.text, "table": lambda found: print(table.text(found))}


def xray(
    kernel, grid=None, block=None, args=None, *more, shared_mem=0, blocks=None, **keywords
) -> XRay:
    """Run a kernel on copies of its arguments and look at what each thread does with memory.

    A RawKernel, a function of a RawModule or one of cupyx.jit is given as it is launched::

        xray(kernel, grid, block, (a, b, c, n), shared_mem=0)

    and an ElementwiseKernel or a ReductionKernel as it is called::

        xray(kernel, x, y, axis=0)

    The source is run by the CPU stand-in, on a machine with a GPU too, so that the counts are the
    same everywhere. The arrays stay as they are.

    Args:
        kernel: the kernel.
        grid, block: tuples of one to three integers, as in a launch.
        args: tuple of the kernel's arguments.
        shared_mem: dynamic shared memory of a block in bytes.
        blocks: how many blocks to look at; by default as many as take about a second.
        more, keywords: further arguments of a kernel that is called.

    Returns:
        The findings, which show themselves as a table; ``gpuless.xray.result.XRay``.

    Raises:
        TypeError: not a kernel, or arguments that do not fit it.
        NotImplementedError: a kernel that reads textures or surfaces, which nobody sees.
        RuntimeError: a fault, a barrier that some threads skip, a kernel that does not end (all as
            a launch on the stand-in tells them), or no compiler.
    """
    import cupy

    if isinstance(kernel, cupy.RawKernel) or is_jit(kernel):
        if more or keywords:
            raise TypeError("a RawKernel is x-rayed by xray(kernel, grid, block, args)")
        if grid is None or block is None or not isinstance(args, tuple | list):
            raise TypeError(
                "a RawKernel needs xray(kernel, grid, block, args), where args is a tuple"
            )
        given = tuple(args)
    else:
        given = tuple(a for a in (grid, block, args, *more) if a is not None)
        grid = block = None
    return look(
        make(kernel, grid, block, given, shared_mem=shared_mem, blocks=blocks, keywords=keywords)
    )
