"""ElementwiseKernel: the body runs once for every element of the broadcast arguments.

The body becomes a C++ function of the element number, called in a plain loop. A body that speaks of
threads or blocks, or a kernel with ``loop_prep`` or ``after_loop``, is launched as a RawKernel is.
"""

from __future__ import annotations

import ctypes
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cupy._core import _kernel, _launch
from cupy._core._generated import GeneratedKernel, Plan
from cupy._core._kernel import Argument, Scalar
from cupy._core._ndarray import ndarray
from cupy.cuda.driver import CUDADriverError
from cupy.cuda.function import Module
from cupy.cuda.stream import given_stream

_KERNEL = """\
{typedefs}{preamble}
{linkage} __global__ void {name}({params}) {{
  {loop_prep}
  #pragma unroll 1
  CUPY_FOR(i, _ind.size()) {{
    {begin}
{references}{operation}
    {end}
  }}
  {after_loop}
}}
"""
# On the CPU a function and a loop of one turn round the body: `return`, `break` and `continue` end
# this element, as they end a thread of a GPU, which has one element. The body may not declare
# another `i`, which is the loop's here as there.
_ON_CPU = {
    "begin": "[&](ptrdiff_t _i) __attribute__((always_inline)) -> void {"
    " for (ptrdiff_t i = _i, _turn = 1; _turn; _turn = 0) {",
    "end": "} }(i); _ind.next();",
}


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays have an element in common, as far as that is soon found."""
    try:
        return np.shares_memory(a, b, max_work=10_000)
    except np.exceptions.TooHardError:
        return True


class ElementwiseKernel(GeneratedKernel):
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
        options = kwargs.get("options", ())
        super().__init__(in_params, out_params, name, reduce_dims, preamble, options)
        if any(p.name == "i" for p in self.params):
            raise ValueError("Can not use 'i' as a parameter name")
        self.operation = operation
        self.no_return = bool(no_return)
        self.return_tuple = bool(return_tuple)
        self.kwargs = kwargs
        self._made = True

    def __call__(self, *args, **kwargs):
        """Run the kernel; ``args`` are the inputs, or the inputs and the outputs.

        Keyword arguments: ``size`` (number of elements, where all arrays are raw), ``stream``,
        ``block_size`` (threads per block, 128).
        """
        size = operator.index(kwargs.pop("size", -1))
        if not -(2**63) <= size < 2**63:
            raise OverflowError("Python int too large to convert to C ssize_t")
        stream = given_stream(kwargs.pop("stream", None))
        block_size = operator.index(kwargs.pop("block_size", 128))
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        for out, one in self._overlaps(args):
            text = (
                f"the output '{out}' of kernel '{self.name}' and its input '{one}' are overlapping "
                "parts of one array: on a GPU an element is read before or after it is written. "
                "Write into another array."
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        outputs = self._run(args, (size, block_size), stream)
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else tuple(outputs)

    def _overlaps(self, args) -> Iterator[tuple[str, str]]:
        """The names of each output and input that share elements, at other places."""
        for out, target in zip(self.out_params, args[self.nin :], strict=False):
            for one, source in zip(self.in_params, args, strict=False):
                if out.raw or one.raw or not isinstance(source, ndarray) or source is target:
                    continue
                if not isinstance(target, ndarray) or source._memory is not target._memory:
                    continue
                a, b = source._array, target._array
                if (a.ctypes.data, a.strides, a.shape) == (b.ctypes.data, b.strides, b.shape):
                    continue
                if np.may_share_memory(a, b) and _share(a, b):
                    yield out.name, one.name

    def _make_plan(self, args: list[Argument], size: int, block_size: int) -> Plan:
        has_size = size != -1
        shape, seen = _kernel.broadcast(args, self.params, has_size)
        inputs, given = seen[: self.nin], args[self.nin :]
        in_types, out_types, types = _kernel.decide_types(
            self.in_params,
            self.out_params,
            [a.dtype if _kernel.votes(a) else None for a in inputs],
            [a.dtype for a in given],
        )
        if has_size:
            shape = (size,)
        _kernel.check_outputs(given, self.out_params, shape, has_size)
        outputs = [(shape, dtype) for dtype in out_types]
        if 0 in shape:
            return Plan(outputs)
        if min(block_size, math.prod(shape)) > 1024:
            raise CUDADriverError(1)

        inputs = _kernel.typed(inputs, in_types)
        seen = inputs + (given or [np.empty(*output) for output in outputs])
        if self.reduce_dims:
            shape, seen = _kernel.fold(seen, self.params, shape)
        rows = _launch.declarations(seen, self.params, {"_ind": shape})
        code = self._code(rows, types)
        run = self._function(code, seen, lambda: self._compile(code, seen, rows, types))
        return Plan(outputs, _launch.Packing(seen, [shape]), partial(run, block_size=block_size))

    def _compile(self, kernel: str, args: list[Argument], rows, types: dict) -> Callable:
        around = self.kwargs.get("loop_prep", "") + self.kwargs.get("after_loop", "")
        texts = self.operation, self.preamble
        if around or _launch.names_threads(self.name, self.options, *texts):
            return _threaded(kernel, self.name, args, self.options)
        run = self._on_cpu(
            kernel,
            rows,
            lambda **parts: self._code(rows, types, **_ON_CPU, **parts),
            self.operation,
        )
        return lambda words, given, block_size: run(words, given)

    def _code(self, rows, types: dict, **parts: str) -> str:
        """The CUDA C source; or, with other ``parts``, what runs on the CPU."""
        if unknown := self.kwargs.keys() - {"loop_prep", "after_loop", "options"}:
            raise TypeError(f"an ElementwiseKernel has no {sorted(unknown)}")
        _launch.check_name(self.name)
        texts = {"preamble": self.preamble, **self.kwargs}
        written = {
            part: write(texts.get(part, ""), f"{self.name}.cu, {part}")
            for part, write in (
                ("preamble", _launch.numbered),
                ("loop_prep", _statement),
                ("after_loop", _statement),
            )
        }
        written |= {"linkage": 'extern "C"', "begin": "_ind.set(i);", "end": ""}
        return _KERNEL.format(
            **(written | parts),
            typedefs=_launch.typedefs(types, rows),
            name=self.name,
            params=_launch.parameter_list(rows),
            references=_launch.references(rows, self.params, "_ind"),
            operation=_statement(self.operation, f"{self.name}.cu"),
        )


def _statement(text: str, label: str) -> str:
    """The reader's text and CuPy's semicolon, which a comment in the last line hides there, too."""
    hidden = "//" in text.rpartition("\n")[2]
    return _launch.numbered(text + ";", label) if hidden else _launch.numbered(text, label) + ";"


def _threaded(kernel: str, name: str, args: list[Argument], options) -> Callable:
    """Launch the CUDA C form with real blocks and threads, as a RawKernel is launched."""
    kernel = _launch.CARRAY + kernel
    kernel += (
        "#ifndef STANDIN_NVRTC\n__device__ CArrayRecord &standin_record = carray_record;\n#endif\n"
    )
    module = Module(kernel, options, name=name)
    function = module.get_function(name)
    address = module.get_global_var("standin_record")
    record = np.ctypeslib.as_array((ctypes.c_int64 * _launch.HEADER_WORDS).from_address(address))

    # Of each argument, its words and, for a scalar, its dtype.
    layout = [(_launch.words_of(a), a.stored if isinstance(a, Scalar) else None) for a in args]

    def run(words: np.ndarray, given: Callable, block_size: int) -> None:
        launched, offset = [], _launch.HEADER_WORDS
        for count, scalar in layout:
            part = words[offset : offset + count]
            launched.append(part.view(f"V{8 * count}") if scalar is None else part.view(scalar)[0])
            offset += count
        launched.append(words[offset:].view(f"V{8 * (len(words) - offset)}"))
        size = int(words[offset])  # the indexer's first word
        record[:] = 0
        function.linear_launch(size, launched, block_max_size=block_size)
        words[: _launch.HEADER_WORDS] = record

    return run
