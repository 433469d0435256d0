"""ElementwiseKernel: the body runs once for every element of the broadcast arguments.

The body becomes a C++ function of the element number, called in a plain loop. A body that speaks of
threads or blocks, or a kernel with ``loop_prep`` or ``after_loop``, is launched as a RawKernel is.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from cupy._core import _kernel, _launch
from cupy._core._dispatch import check_device
from cupy._core._kernel import Argument, Scalar, View, as_array, is_scalar
from cupy._core._launch import Packing
from cupy._core._ndarray import ndarray
from cupy.cuda.driver import CUDADriverError
from cupy.cuda.function import Module

_PLANS = 256  # shapes remembered per kernel

_KERNEL = """\
{typedefs}{preamble}
extern "C" __global__ void {name}({params}) {{
  {loop_prep};
  CUPY_FOR(i, _ind.size()) {{
    _ind.set(i);
{references}{operation};
  }}
  {after_loop};
}}
"""

# `do {{ }} while (0)`: a `continue` or `break` in the body ends this element, as it ends a thread
# of a GPU, which has one element.
_LOOP = """\
{headers}
namespace standin_user {{ namespace {{
{typedefs}{preamble}
static inline __attribute__((always_inline)) void standin_element({params}, ptrdiff_t i) {{
  do {{
{references}{operation};
  }} while (0);
}}
}} }}
using namespace standin_user;
extern "C" void standin_run(ptrdiff_t *words) {{
  carray_record = CArrayRecord();
{locals}
  for (ptrdiff_t i = 0; i < _ind.size(); ++i, _ind.next()) {{
    standin_element({arguments}, i);
  }}
  memcpy(words, &carray_record, sizeof carray_record);
}}
"""


@dataclass(frozen=True)
class _Plan:
    """All that one combination of dtypes, shapes and strides needs for a launch."""

    outputs: list[tuple[tuple[int, ...], np.dtype]]
    size: int
    packing: Packing | None = None  # None, like run, where size is 0
    run: Callable[[np.ndarray, int], None] | None = None


class ElementwiseKernel:
    """A kernel that CUDA C code for one element defines, with or without broadcasting.

    Args:
        in_params, out_params: parameter lists, ``"T x, raw int32 index"``. A one-letter type is a
            placeholder; ``raw`` parameters are indexed by the body itself.
        operation: the body. ``i`` is the element's number, ``_ind`` its multi-index.
        name: what the kernel is called; must be a C identifier (``ValueError``).
        reduce_dims: merge axes that lie one behind the other.
        preamble: code that precedes the kernel.
        no_return, return_tuple: return ``None``, or always a tuple.
        options, loop_prep, after_loop: compiler options; code before and after the loop.

    Source: the CuPy 14 reference, "ElementwiseKernel"; messages as in CuPy.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **kwargs,
    ):
        _kernel.check_name(name)
        self.in_params = _kernel.parse_parameters(in_params, True)
        self.out_params = _kernel.parse_parameters(out_params, False)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.params = self.in_params + self.out_params
        self.operation = operation
        self.name = self.__name__ = name
        self.reduce_dims = reduce_dims
        self.preamble = preamble
        self.no_return = no_return
        self.return_tuple = return_tuple
        self.kwargs = kwargs
        self.options = tuple(kwargs.get("options", ()))
        if any(p.name == "i" for p in self.params):
            raise ValueError("Can not use 'i' as a parameter name")
        self._cached_codes: dict[tuple, str] = {}
        self._functions: dict[str, Callable] = {}
        self._plans: dict[tuple, _Plan] = {}

    def __call__(self, *args, **kwargs):
        """Run the kernel; ``args`` are the inputs, or the inputs and the outputs.

        Keyword arguments: ``size`` (number of elements, where all arrays are raw), ``stream``,
        ``block_size`` (threads per block, 128).
        """
        size = operator.index(kwargs.pop("size", -1))
        if not -(2**63) <= size < 2**63:
            raise OverflowError("Python int too large to convert to C ssize_t")
        stream = kwargs.pop("stream", None)
        block_size = kwargs.pop("block_size", 128)
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        args = [a if isinstance(a, ndarray) or is_scalar(a) else as_array(a) for a in args]
        for arg in args:
            if isinstance(arg, ndarray):
                check_device(arg)
        plan = self._plan(args, size)
        outputs = args[self.nin :] or [ndarray(shape, dtype) for shape, dtype in plan.outputs]
        if plan.size:
            if min(block_size, plan.size) > 1024:
                raise CUDADriverError(1)
            arrays = args[: self.nin] + outputs
            words = plan.packing.fill(arrays)
            run = partial(plan.run, block_size=block_size)
            _launch.launch(run, words, self.name, self.params, arrays, stream)
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else tuple(outputs)

    def _plan(self, args: list, size: int) -> _Plan:
        key = (*_launch.signature(args), size)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make_plan([_kernel.as_argument(a) for a in args], size)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _make_plan(self, args: list[Argument], size: int) -> _Plan:
        has_size = size != -1
        shape, seen = _kernel.broadcast(args, self.params, has_size)
        inputs, given = seen[: self.nin], args[self.nin :]
        in_types, out_types, types = _kernel.decide_types(
            self.in_params,
            self.out_params,
            [a.dtype if isinstance(a, View) else None for a in inputs],
            [a.dtype for a in given],
        )
        if has_size:
            shape = (size,)
        _kernel.check_outputs(given, self.out_params, shape, has_size)
        outputs = [(shape, dtype) for dtype in out_types]
        if 0 in shape:
            return _Plan(outputs, 0)

        inputs = _kernel.typed(inputs, in_types)
        seen = inputs + (given or [_kernel.dense(*output) for output in outputs])
        if self.reduce_dims:
            shape, seen = _kernel.fold(seen, self.params, shape)
        run = self._function(seen, shape, types)
        return _Plan(outputs, math.prod(shape), Packing(seen, [shape]), run)

    def _function(self, args: list[Argument], shape: tuple[int, ...], types: dict) -> Callable:
        code = self._code(_KERNEL, args, shape, types, label=lambda text, _: text)
        function = self._functions.get(code)
        if function is None:
            function = self._functions[code] = self._compile(args, shape, types)
            arrays = tuple(a.dtype for a in args if isinstance(a, View))
            self._cached_codes.setdefault(arrays, code)
        return function

    def _compile(self, args: list[Argument], shape: tuple[int, ...], types: dict) -> Callable:
        around = self.kwargs.get("loop_prep", "") + self.kwargs.get("after_loop", "")
        kernel = self._code(_KERNEL, args, shape, types)
        if around or _launch.names_threads(self.operation, self.preamble):
            return _threaded(kernel, self.name, args, shape, self.options)
        run = _launch.compiled(self._code(_LOOP, args, shape, types), self.options, self.name)
        _launch.check_by_nvrtc(kernel, self.options, self.name)
        return lambda words, block_size: run(words)

    def _code(self, template, args, shape, types, label=_launch.numbered) -> str:
        """The source: CUDA C (``_KERNEL``) or the loop on the CPU (``_LOOP``)."""
        rows = _launch.declarations(args, self.params, {"_ind": shape})
        references = ""
        for (_, name, _), p in zip(rows, self.params, strict=False):
            if name != p.name:
                const = "const " if p.is_const else ""
                references += f"    {const}{p.ctype} &{p.name} = {name}.at(_ind.get());\n"
        headers, preamble = [], self.preamble
        if template is _LOOP:
            preamble, headers = _launch.split_headers(preamble, self.name, self.options)
        return template.format(
            headers="".join(f'#include "{header}"\n' for header in headers),
            typedefs=_launch.typedefs(types),
            preamble=label(preamble, f"{self.name}.cu, preamble"),
            name=self.name,
            params=_launch.parameter_list(rows),
            arguments=", ".join(name for _, name, _ in rows),
            locals=_launch.unpacking(rows),
            references=references,
            operation=label(self.operation, f"{self.name}.cu"),
            loop_prep=label(self.kwargs.get("loop_prep", ""), f"{self.name}.cu, loop_prep"),
            after_loop=label(self.kwargs.get("after_loop", ""), f"{self.name}.cu, after_loop"),
        )

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """CUDA C sources by the dtypes of the arrays they were made for."""
        return _launch.cached_codes(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The CUDA C source, where the kernel has met one combination of dtypes only."""
        return _launch.cached_code(self._cached_codes)


def _threaded(kernel: str, name: str, args: list[Argument], shape, options) -> Callable:
    """Launch the CUDA C form with real blocks and threads, as a RawKernel is launched."""
    kernel = '#include "carray.h"\n' + kernel
    kernel += (
        "#ifndef STANDIN_NVRTC\n__device__ CArrayRecord &standin_record = carray_record;\n#endif\n"
    )
    module = Module(kernel, options, name=name)
    function = module.get_function(name)
    address = module.get_global_var("standin_record")
    record = np.ctypeslib.as_array((ctypes.c_int64 * _launch.HEADER_WORDS).from_address(address))
    size = math.prod(shape)

    def run(words: np.ndarray, block_size: int) -> None:
        launched, offset = [], _launch.HEADER_WORDS
        for arg in args:
            count = _launch.words_of(arg)
            part = words[offset : offset + count]
            if isinstance(arg, Scalar):
                launched.append(part.view(arg.dtype)[0])
            else:
                launched.append(part.view(f"V{8 * count}"))
            offset += count
        launched.append(words[offset:].view(f"V{8 * (len(words) - offset)}"))
        record[:] = 0
        function.linear_launch(size, launched, block_max_size=block_size)
        words[: _launch.HEADER_WORDS] = record

    return run
