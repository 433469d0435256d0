"""ReductionKernel: map every element, combine along axes, map the result.

The order of the combinations is that of CuPy's own kernel: 512 partial results, each taking every
512th element, then a tree. That order decides the last bits of a floating-point sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from cupy._core import _kernel, _launch
from cupy._core._dispatch import check_device
from cupy._core._kernel import Argument, Scalar, View, as_array, is_scalar
from cupy._core._launch import Packing
from cupy._core._ndarray import ndarray

BLOCK_SIZE = 512  # partial results
_PLANS = 256

_COMMON = """\
{typedefs}{preamble}
#line 1 "{name}.cu"
#define REDUCE(a, b) ({reduce_expr})
#define POST_MAP(a) ({post_map_expr})
typedef {reduce_type} _type_reduce;
"""

# A block owns _block_stride neighbouring outputs and has 512 / _block_stride threads for each.
_KERNEL = (
    _COMMON
    + """\
extern "C" __global__ void {name}({params}) {{
  __shared__ __align__(16) char _shared[{block_size} * sizeof(_type_reduce)];
  _type_reduce *_sdata = reinterpret_cast<_type_reduce *>(_shared);
  const unsigned int _tid = threadIdx.x;
  const ptrdiff_t _rows = {block_size} / _block_stride;
  for (ptrdiff_t _base = static_cast<ptrdiff_t>(blockIdx.x) * _block_stride;
       _base < _out_ind.size(); _base += static_cast<ptrdiff_t>(gridDim.x) * _block_stride) {{
    const ptrdiff_t _i = _base + _tid % _block_stride;
    _type_reduce _s = _type_reduce({identity});
    IndexT _J = static_cast<IndexT>(_tid / _block_stride);
    for (ptrdiff_t _j = _i + _J * _out_ind.size(); _j < _in_ind.size();
         _j += _rows * _out_ind.size(), _J += static_cast<IndexT>(_rows)) {{
      _in_ind.set(_j);
{inputs}
#line 1 "{name}.cu"
      _type_reduce _a = static_cast<_type_reduce>({map_expr});
#line 1 "generated code"
      _s = REDUCE(_s, _a);
    }}
    _sdata[_tid] = _s;
    for (int _half = {block_size} / 2; _half >= _block_stride; _half >>= 1) {{
      __syncthreads();
      if (_tid < _half) {{
        _type_reduce _a = _sdata[_tid], _b = _sdata[_tid + _half];
        _sdata[_tid] = REDUCE(_a, _b);
      }}
    }}
    __syncthreads();
    if (_tid < _block_stride && _i < _out_ind.size()) {{
      _s = _sdata[_tid];
      _out_ind.set(_i);
{outputs}      POST_MAP(_s);
    }}
    __syncthreads();
  }}
}}
"""
)

# The same sums in the same order; the loops are exchanged so that memory is read in order.
_LOOP = (
    "{headers}"
    + _COMMON
    + """\
extern "C" void standin_run(ptrdiff_t *words) {{
  carray_record = CArrayRecord();
{locals}
  alignas(16) char _shared[{block_size} * sizeof(_type_reduce)];
  _type_reduce *_sdata = reinterpret_cast<_type_reduce *>(_shared);
  const IndexT _rows = {block_size} / _block_stride;
  const IndexT _length = static_cast<IndexT>(_in_ind.size() / _out_ind.size());
  for (ptrdiff_t _base = 0; _base < _out_ind.size(); _base += _block_stride) {{
    const ptrdiff_t _left = _out_ind.size() - _base;
    const int _columns = _left < _block_stride ? static_cast<int>(_left) : _block_stride;
    for (int _tid = 0; _tid < {block_size}; ++_tid) _sdata[_tid] = _type_reduce({identity});
    for (IndexT _J = 0; _J < _length; ++_J) {{
      for (int _column = 0; _column < _columns; ++_column) {{
        const ptrdiff_t _i = _base + _column, _j = _i + _J * _out_ind.size();
        _in_ind.set(_j);
{inputs}
#line 1 "{name}.cu"
        _type_reduce _a = static_cast<_type_reduce>({map_expr});
#line 1 "generated code"
        _type_reduce &_s = _sdata[(_J & (_rows - 1)) * _block_stride + _column];
        _s = REDUCE(_s, _a);
      }}
    }}
    for (int _half = {block_size} / 2; _half >= _block_stride; _half >>= 1) {{
      for (int _tid = 0; _tid < _half; ++_tid) {{
        _type_reduce _a = _sdata[_tid], _b = _sdata[_tid + _half];
        _sdata[_tid] = REDUCE(_a, _b);
      }}
    }}
    for (int _column = 0; _column < _columns; ++_column) {{
      const ptrdiff_t _i = _base + _column;
      _type_reduce _s = _sdata[_column];
      _out_ind.set(_i);
{outputs}      POST_MAP(_s);
    }}
  }}
  memcpy(words, &carray_record, sizeof carray_record);
}}
"""
)


@dataclass(frozen=True)
class _Plan:
    outputs: list[tuple[tuple[int, ...], np.dtype]]
    packing: Packing | None = None  # None, like run, where there is no output element
    run: Callable[[np.ndarray], None] | None = None


class ReductionKernel:
    """A reduction that four CUDA C expressions define.

    Args:
        in_params, out_params: parameter lists, as for ElementwiseKernel.
        map_expr: value of one element, in terms of the inputs.
        reduce_expr: combines the values ``a`` and ``b``.
        post_map_expr: a statement that stores the result ``a`` in the outputs.
        identity: what every partial result starts at; without one an empty input is refused.
        name: a C identifier. reduce_type: C type of ``a`` and ``b``; default, the first output's.
        reduce_dims, preamble, options: as for ElementwiseKernel.

    Source: the CuPy 14 reference, "ReductionKernel"; messages as in CuPy.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ):
        _kernel.check_name(name)
        self.in_params = _kernel.parse_parameters(in_params, True)
        self.out_params = _kernel.parse_parameters(out_params, False)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.params = self.in_params + self.out_params
        self.map_expr = map_expr
        self.reduce_expr = reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.name = self.__name__ = name
        self.reduce_type = self.out_params[0].ctype if reduce_type is None else reduce_type
        self.reduce_dims = reduce_dims
        self.preamble = preamble
        self.options = tuple(options)
        if _launch.names_threads(map_expr, reduce_expr, post_map_expr, preamble):
            raise NotImplementedError(
                "the CPU stand-in has no threads inside a ReductionKernel; use a RawKernel"
            )
        self._cached_codes: dict[tuple, str] = {}
        self._functions: dict[str, Callable] = {}
        self._plans: dict[tuple, _Plan] = {}

    def __call__(self, *args, **kwargs) -> ndarray:
        """Reduce the broadcast inputs along ``axis`` (None, an int or several); the first output.

        Keyword arguments: ``axis``, ``keepdims``, ``out``, ``stream``.
        """
        out = kwargs.pop("out", None)
        axis = kwargs.pop("axis", None)
        keepdims = kwargs.pop("keepdims", False)
        stream = kwargs.pop("stream", None)
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"Wrong number of arguments for {self.name}")
        if out is not None:
            if self.nout != 1:
                raise NotImplementedError("")
            if len(args) != self.nin:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            args = (*args, out)
        args = [a if isinstance(a, ndarray) or is_scalar(a) else as_array(a) for a in args]
        for arg in args:
            if isinstance(arg, ndarray):
                check_device(arg)
        if isinstance(axis, (list, np.ndarray)):
            axis = tuple(axis)

        plan = self._plan(args, axis, bool(keepdims))
        outputs = args[self.nin :] or [ndarray(shape, dtype) for shape, dtype in plan.outputs]
        if plan.run is not None:
            arrays = args[: self.nin] + outputs
            words = plan.packing.fill(arrays)
            _launch.launch(plan.run, words, self.name, self.params, arrays, stream)
        return outputs[0]

    def _plan(self, args: list, axis, keepdims: bool) -> _Plan:
        key = (*_launch.signature(args), axis, keepdims)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make_plan([_kernel.as_argument(a) for a in args], axis, keepdims)
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _make_plan(self, args: list[Argument], axis, keepdims: bool) -> _Plan:
        shape, inputs = _kernel.broadcast(args[: self.nin], self.in_params, False)
        given = args[self.nin :]
        in_types, out_types, types = _kernel.decide_types(
            self.in_params,
            self.out_params,
            [a.dtype.type if isinstance(a, View) else None for a in inputs],
            [a.dtype.type if isinstance(a, View) else None for a in given],
        )
        reduced, kept = split_axes(axis, len(shape))
        if len(inputs) == 1 and len(kept) <= 1 and not inputs[0].c_contiguous:
            # In order of falling strides, so that fold() can merge the axes of a transposed array.
            reduced = sorted(reduced, key=lambda a: -abs(inputs[0].strides[a]))
        if keepdims:
            out_shape = tuple(1 if a in reduced else n for a, n in enumerate(shape))
        else:
            out_shape = tuple(shape[a] for a in kept)
        _kernel.check_outputs(given, self.out_params, out_shape, False)
        outputs = [(out_shape, dtype) for dtype in out_types]
        if math.prod(given[0].shape if given else out_shape) == 0:
            return _Plan(outputs)
        if self.identity == "" and 0 in shape:
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        length = math.prod(shape) // math.prod(out_shape)
        types["IndexT"] = np.dtype("int64" if length > 0x7FFFFFFF else "int32")

        inputs = _kernel.typed(inputs, in_types)
        order = [*reduced, *kept]
        if order != list(range(len(shape))):
            if any(p.raw for p in self.in_params):
                raise NotImplementedError("Illegal conditions")
            inputs = [a.transpose(order) if isinstance(a, View) else a for a in inputs]
            shape = tuple(shape[a] for a in order)
        results = given or [_kernel.dense(*output) for output in outputs]
        if self.reduce_dims:
            shape, inputs = _kernel.fold(inputs, self.in_params, shape)
            out_shape, results = _kernel.fold(results, self.out_params, out_shape)
        stride = _block_stride(
            length, _contiguous_size(inputs, self.in_params, out_shape, len(shape))
        )
        seen = inputs + results
        run = self._function(seen, shape, out_shape, types)
        return _Plan(outputs, Packing(seen, [shape, out_shape], stride), run)

    def _function(self, args, in_shape, out_shape, types) -> Callable:
        code = self._code(_KERNEL, args, in_shape, out_shape, types)
        function = self._functions.get(code)
        if function is None:
            source = self._code(_LOOP, args, in_shape, out_shape, types)
            function = _launch.compiled(source, self.options, self.name)
            _launch.check_by_nvrtc(code, self.options, self.name)
            self._functions[code] = function
            arrays = tuple(a.dtype.char for a in args if isinstance(a, View))
            self._cached_codes.setdefault(arrays, code)
        return function

    def _code(self, template: str, args, in_shape, out_shape, types) -> str:
        indexers = {"_in_ind": in_shape, "_out_ind": out_shape}
        rows = _launch.declarations(args, self.params, indexers)
        offset = _launch.HEADER_WORDS + sum(map(_launch.words_of, args))
        offset += sum(1 + 2 * max(len(shape), 1) for shape in indexers.values())
        rows.append(("const int", "_block_stride", offset))
        inputs, outputs = [], []
        for number, (arg, p) in enumerate(zip(args, self.params, strict=True)):
            name = _launch.variable(arg, p)
            if name == p.name:
                continue
            if number < self.nin:
                kind = f"const {p.ctype} " if p.is_const else f"{p.ctype} &"
                inputs.append(f"      {kind}{p.name} = {name}.at(_in_ind.get());\n")
            else:
                outputs.append(f"      {p.ctype} &{p.name} = {name}.at(_out_ind.get());\n")
        headers, preamble = [], self.preamble
        if template is _LOOP:
            preamble, headers = _launch.split_headers(preamble, self.name, self.options)
        return template.format(
            headers="".join(f'#include "{header}"\n' for header in headers),
            typedefs=_launch.typedefs(types),
            preamble=_launch.numbered(preamble, f"{self.name}.cu, preamble"),
            name=self.name,
            block_size=BLOCK_SIZE,
            params=_launch.parameter_list(rows),
            locals=_launch.unpacking(rows),
            inputs="".join(inputs),
            outputs="".join(outputs),
            map_expr=self.map_expr,
            reduce_expr=self.reduce_expr,
            post_map_expr=self.post_map_expr,
            identity=self.identity,
            reduce_type=self.reduce_type,
        )

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """CUDA C sources by the dtypes of the arrays they were made for."""
        return _launch.cached_codes(self._cached_codes)

    @property
    def cached_code(self) -> str:
        """The CUDA C source, where the kernel has met one combination of dtypes only."""
        return _launch.cached_code(self._cached_codes)


def split_axes(axis, ndim: int) -> tuple[list[int], list[int]]:
    """Axes that are reduced, and those that stay; ``AxisError`` and ``ValueError`` as in CuPy."""
    if axis is None:
        return list(range(ndim)), []
    given = axis if isinstance(axis, tuple) else (axis,)
    reduced = sorted(normalize_axis_index(a, ndim) for a in given)
    kept = [a for a in range(ndim) if a not in reduced]
    if len(reduced) + len(kept) != ndim:
        raise ValueError("duplicate value in 'axis'")
    return reduced, kept


def _contiguous_size(
    inputs: Sequence[Argument], params, out_shape: tuple[int, ...], ndim: int
) -> int:
    """How many neighbouring outputs read neighbouring memory."""
    longest = 1
    for arg, p in zip(inputs, params, strict=True):
        if isinstance(arg, Scalar) or p.raw:
            continue
        size = 1
        for axis in range(1, min(len(out_shape), ndim) + 1):
            if arg.strides[-axis] != size * arg.dtype.itemsize:
                break
            size *= out_shape[-axis]
        longest = max(longest, size)
    return longest


def _block_stride(length: int, contiguous_size: int) -> int:
    """Outputs per block, a power of two: more where they are neighbours, or have few elements."""
    wanted = max(min(contiguous_size, 32), BLOCK_SIZE // max(1, length))
    return 1 << (wanted.bit_length() - 1)
