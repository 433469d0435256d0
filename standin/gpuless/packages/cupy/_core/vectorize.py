"""``cupy.vectorize``: a Python function of numbers as an ElementwiseKernel. As in CuPy it is
translated as ``cupyx.jit`` translates a device function, and has its types and its refusals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core import _kernel
from cupy._core.elementwise import ElementwiseKernel


class vectorize:
    """A function of numbers as a function of arrays, element by element, with broadcasting.

    ``pyfunc`` may use numbers, tuples, ``if``, ``while``, ``for`` over ``range`` and CuPy's ufuncs;
    its source must be at hand. ``otypes``, ``excluded`` and ``signature`` raise
    NotImplementedError, as in CuPy; ``cache`` has no effect.
    """

    def __init__(
        self, pyfunc: Callable, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        self.pyfunc = pyfunc
        self.__doc__ = doc or pyfunc.__doc__
        self.excluded, self.cache, self.signature = excluded, cache, signature
        self.otypes = otypes and "".join(np.dtype(one).char for one in otypes)
        self._kernels: dict[str, ElementwiseKernel] = {}
        for name, value in (("excluded", excluded), ("signature", signature)):
            if value is not None:
                raise NotImplementedError(
                    f"cupy.vectorize does not support `{name}` option currently."
                )

    def __call__(self, *args):
        """The results for these device arrays and numbers: an array, or a tuple of arrays."""
        types = "".join(map(_type_of, args))
        if self.otypes is not None:
            raise NotImplementedError
        if types not in self._kernels:
            self._kernels[types] = _made(self.pyfunc, types)
        return self._kernels[types](*args)


def _type_of(arg) -> str:
    """The character of an argument's dtype."""
    held = _kernel.accept(arg)
    return held.dtype.char if hasattr(held, "dtype") else np.dtype(type(held)).char


def _made(function: Callable, types: str) -> ElementwiseKernel:
    from cupyx.jit._translate import Program
    from cupyx.jit._values import Scalar, Tuple, scalar

    program = Program(function, "numpy", tuple(map(scalar, types)), "__device__", None)
    result = program.result
    parts = result.types if isinstance(result, Tuple) else [result]
    if not all(isinstance(part, Scalar) for part in parts):
        raise TypeError(f"Invalid return type: {result}")
    call = f"{program.name}({', '.join(f'in{i}' for i in range(len(types)))})"
    body = f"out0 = {call};"
    if isinstance(result, Tuple):
        body = f"const auto all = {call};"
        body += "".join(f" out{i} = jit::get<{i}>(all);" for i in range(len(parts)))
    return ElementwiseKernel(
        ", ".join(f"{np.dtype(char)} in{i}" for i, char in enumerate(types)),
        ", ".join(f"{part.dtype} out{i}" for i, part in enumerate(parts)),
        body,
        "cupy_vectorize",
        preamble=program.text,
    )
