"""What ElementwiseKernel and ReductionKernel share: their parameters, plans and cached sources."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cupy._core import _alignment, _kernel, _launch
from cupy._core._dispatch import check_device
from cupy._core._kernel import Argument
from cupy._core._ndarray import ndarray
from gpuless.engine import foreign, sources
from gpuless.engine.options import parse
from gpuless.engine.preprocess import preprocess

_PLANS = 256  # remembered per kernel

# On the CPU: the kernel with one block of one thread, called with the row of words. A namespace of
# their own keeps the reader's names (a kernel called `div`) apart from the C library's.
_ON_CPU = """\
{headers}
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef __shared__
#define threadIdx uint3{{0, 0, 0}}
#define blockIdx uint3{{0, 0, 0}}
#define blockDim uint3{{1, 1, 1}}
#define gridDim uint3{{1, 1, 1}}
#define __shared__
#define __syncthreads()
namespace standin_user {{ namespace {{
{overloads}
{kernel}
}} }}
extern "C" void standin_run(ptrdiff_t *words) {{
  carray_record = CArrayRecord();
{locals}
  standin_user::{name}({arguments});
  __builtin_memcpy(words, &carray_record, sizeof carray_record);
}}
"""


@dataclass(frozen=True)
class Plan:
    """All that one combination of dtypes, shapes and strides needs for a launch."""

    outputs: list[tuple[tuple[int, ...], np.dtype]]
    packing: _launch.Packing | None = None  # None, like run, where there is nothing to do
    run: Callable | None = None


class GeneratedKernel:
    """A kernel whose source is written around the reader's text, once for each set of dtypes."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        name: str,
        reduce_dims: bool,
        preamble: str,
        options: tuple[str, ...],
    ):
        for text in (in_params, out_params):
            if not isinstance(text, str):
                raise TypeError(f"Argument has incorrect type (expected str, got {type(text)})")
        if not isinstance(options, tuple):
            raise TypeError(f"options are a tuple, not {type(options)}")
        if re.match("^[a-zA-Z_][a-zA-Z_0-9]*$", name) is None:
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params = _kernel.parse_parameters(in_params, True)
        self.out_params = _kernel.parse_parameters(out_params, False)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.params = self.in_params + self.out_params
        self.name = self.__name__ = name
        self.reduce_dims = bool(reduce_dims)
        self.preamble = preamble
        self.options = options
        self._cached_codes: dict[tuple, str] = {}
        self._functions: dict[str, Callable] = {}
        self._plans: dict[tuple, Plan] = {}

    def __setattr__(self, name: str, value) -> None:
        """As of a class of Cython's: once made, a kernel has the attributes that it has."""
        if "_made" in vars(self) and type(self).__base__ is GeneratedKernel:
            raise AttributeError(f"{name!r} of a {type(self).__name__} of CuPy's cannot be set")
        super().__setattr__(name, value)

    def _make_plan(self, args: list[Argument], *how) -> Plan:
        raise NotImplementedError

    def _run(self, args: Sequence, how: tuple, stream) -> list[ndarray]:
        """Run as planned for these arguments; the outputs, those given or those made."""
        args = [_kernel.accept(arg) for arg in args]
        for arg in args:
            if isinstance(arg, ndarray):
                check_device(arg)
        key = (*_launch.signature(args), *how)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make_plan([_kernel.seen(arg) for arg in args], *how)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        outputs = args[self.nin :] or [ndarray(shape, dtype) for shape, dtype in plan.outputs]
        if plan.run is not None:
            arrays = args[: self.nin] + outputs
            _alignment.check(*arrays)
            words = plan.packing.fill(arrays)
            _launch.launch(plan.run, words, self.name, self.params, arrays, stream)
        return outputs

    def _function(self, code: str, args: Sequence[Argument], compile: Callable) -> Callable:
        """What ``compile()`` returns for this CUDA C source; each source is compiled once."""
        if code not in self._functions:
            with _launch.compile_errors(code, self.name, self.options):
                if self.options:  # which CuPy's headers may not take
                    preprocess(_launch.CARRAY, self.name, parse(self.options))
                foreign.refuse_complex(self.preamble)
            self._functions[code] = compile()
            dtypes = tuple(a.dtype for a in args if isinstance(a, np.ndarray))
            self._cached_codes.setdefault(dtypes, re.sub(r"\n#line .*", "", code))
        return self._functions[code]

    def _on_cpu(self, kernel: str, rows, write: Callable[..., str], *texts: str) -> Callable:
        """Compile what ``write`` writes with the parts for a CPU; ``kernel`` is it in CUDA C.

        ``texts`` are what the reader wrote, the preamble apart.
        """
        read = _launch.read(write(linkage="static"), self.name, self.options)
        made = dict.fromkeys([*_launch.HEADERS, *read.headers])
        source = _ON_CPU.format(
            headers="\n".join(f'#include "{header}"' for header in made),
            overloads=read.overloads,
            kernel=read.text,
            locals=_launch.unpacking(rows),
            name=self.name,
            arguments=", ".join(name for _, name, _ in rows),
        )
        pointers = _launch.follows_pointers(*texts, self.preamble)
        run = _launch.compiled(source, self.options, self.name, pointers)
        sources.tell(_launch.CARRAY + kernel, self.options, self.name)
        return run

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """CUDA C sources by the dtypes of the arrays they were made for."""
        if not self._cached_codes:
            warnings.warn(
                "No codes are cached because compilation is deferred until the first function "
                "call.",
                stacklevel=2,
            )
        return dict(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The CUDA C source, where the kernel has met one combination of dtypes only."""
        if len(self._cached_codes) > 1:
            warnings.warn(
                "The input types of the kernel could not be inferred. Please use `.cached_codes` "
                "instead.",
                stacklevel=2,
            )
        return next(iter(self._cached_codes.values()))
