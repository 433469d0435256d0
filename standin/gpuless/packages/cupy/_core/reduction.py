"""ReductionKernel: map every element, combine along axes, map the result.

The order of the combinations is that of CuPy's own kernel: 512 partial results, each taking every
512th element, then a tree. That order decides the last bits of a floating-point sum. Of millions of
elements, which CuPy has many blocks combine, each partial result is one of partial results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from cupy._core import _kernel, _launch
from cupy._core._generated import GeneratedKernel, Plan
from cupy._core._kernel import Argument, Scalar
from cupy._core._ndarray import ndarray
from cupy.cuda.stream import given_stream

BLOCK_SIZE = 512  # partial results

# A block owns _columns neighbouring outputs, a power of two, and has 512 / _columns partial results
# of each. EACH_THREAD makes the text right for any number of threads. REDUCE and POST_MAP are
# macros in CuPy's kernel, too: no expression goes over two lines, and each `a` and `b` of it is an
# argument, a member's name as well.
_KERNEL = """\
{typedefs}{preamble}
#define EACH_THREAD(n) for (int _tid = threadIdx.x; _tid < (n); _tid += blockDim.x)
typedef {reduce_type} _type_reduce;
{linkage} __global__ void {name}({params}) {{
  __shared__ __align__(16) char _shared[{block_size} * sizeof(_type_reduce)];
  _type_reduce *_sdata = reinterpret_cast<_type_reduce *>(_shared);
  __shared__ __align__(16) char _more[{block_size} * sizeof(_type_reduce)];
  _type_reduce *_parts = reinterpret_cast<_type_reduce *>(_more);
  const int _columns = 1 << _shift;
  const IndexT _rows = {block_size} >> _shift;
  const IndexT _length = static_cast<IndexT>(_in_ind.size() / _out_ind.size());
  for (ptrdiff_t _base = static_cast<ptrdiff_t>(blockIdx.x) * _columns; _base < _out_ind.size();
       _base += static_cast<ptrdiff_t>(gridDim.x) * _columns) {{
    EACH_THREAD({block_size}) _sdata[_tid] = _parts[_tid] = _type_reduce({identity});
    for (IndexT _first = 0; _first < _length; _first += _rows) {{
      EACH_THREAD({block_size}) {{
        const IndexT _J = _first + (_tid >> _shift);
        const ptrdiff_t _i = _base + (_tid & (_columns - 1)), _j = _i + _J * _out_ind.size();
        if (_J >= _length || _i >= _out_ind.size()) continue;
        _in_ind.set(_j);
{inputs}
#line 1 "{name}.cu"
        _type_reduce _a = static_cast<_type_reduce>({map_expr});
#line 1 "{name}.cu"
#define REDUCE(a, b) ({reduce_expr})
#line 1 "{name}.cu"
#define POST_MAP(a) ({post_map_expr})
#line 1 "generated code"
        _type_reduce _s = _sdata[_tid];
#line 1 "{name}.cu"
        _s = REDUCE(_s, _a);
#line 1 "generated code"
        _sdata[_tid] = _s;
      }}
{in_parts}    }}
{of_parts}    for (int _half = {block_size} / 2; _half >= _columns; _half >>= 1) {{
      __syncthreads();
      EACH_THREAD(_half) {{
        _type_reduce _a = _sdata[_tid], _b = _sdata[_tid + _half];
#line 1 "{name}.cu"
        _a = REDUCE(_a, _b);
#line 1 "generated code"
        _sdata[_tid] = _a;
      }}
    }}
    __syncthreads();
    EACH_THREAD(_columns) {{
      const ptrdiff_t _i = _base + _tid;
      if (_i >= _out_ind.size()) continue;
      _type_reduce _s = _sdata[_tid];
      _out_ind.set(_i);
{outputs}
#line 1 "{name}.cu"
      POST_MAP(_s);
#line 1 "generated code"
    }}
    __syncthreads();
  }}
}}
"""

# Where there is an identity to begin with again, so that no result is a sum of millions of small
# numbers and a large one: in the loop, and after it.
_IN_PARTS = """\
#define PART 512
      if (_first / _rows % PART == PART - 1) EACH_THREAD({block_size}) {{
        _type_reduce _a = _parts[_tid], _b = _sdata[_tid];
#line 1 "{name}.cu"
        _a = REDUCE(_a, _b);
#line 1 "generated code"
        _parts[_tid] = _a;
        _sdata[_tid] = _type_reduce({identity});
      }}
"""
_OF_PARTS = """\
    if (_length / _rows >= PART) EACH_THREAD({block_size}) {{
      _type_reduce _a = _parts[_tid], _b = _sdata[_tid];
#line 1 "{name}.cu"
      _a = REDUCE(_a, _b);
#line 1 "generated code"
      _sdata[_tid] = _a;
    }}
"""


class ReductionKernel(GeneratedKernel):
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
        super().__init__(in_params, out_params, name, reduce_dims, preamble, options)
        self.map_expr = map_expr
        self.reduce_expr = reduce_expr
        self.post_map_expr = post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.reduce_type = self.out_params[0].ctype if reduce_type is None else reduce_type
        texts = map_expr, reduce_expr, post_map_expr, preamble
        if _launch.names_threads(name, self.options, *texts):
            raise NotImplementedError(
                "the CPU stand-in has no threads inside a ReductionKernel; use a RawKernel"
            )
        self._made = True

    def __call__(self, *args, **kwargs) -> ndarray:
        """Reduce the broadcast inputs along ``axis`` (None, an int or several); the first output.

        Keyword arguments: ``axis``, ``keepdims``, ``out``, ``stream``.
        """
        out = kwargs.pop("out", None)
        axis = kwargs.pop("axis", None)
        keepdims = kwargs.pop("keepdims", False)
        stream = given_stream(kwargs.pop("stream", None))
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
        if isinstance(axis, (list, np.ndarray)):
            axis = tuple(axis)
        return self._run(args, (axis, bool(keepdims)), stream)[0]

    def _make_plan(self, args: list[Argument], axis, keepdims: bool) -> Plan:
        shape, inputs = _kernel.broadcast(args[: self.nin], self.in_params, False)
        given = args[self.nin :]
        if any(a.dtype == _kernel.TEXTURE for a in args):
            raise TypeError("A ReductionKernel takes no texture object")
        in_types, out_types, types = _kernel.decide_types(
            self.in_params,
            self.out_params,
            [a.dtype.type if isinstance(a, np.ndarray) else None for a in inputs],
            [a.dtype.type if isinstance(a, np.ndarray) else None for a in given],
        )
        reduced, kept = split_axes(axis, len(shape))
        if len(inputs) == 1 and len(kept) <= 1 and not inputs[0].flags.c_contiguous:
            # In order of falling strides, so that fold() can merge the axes of a transposed array.
            reduced = sorted(reduced, key=lambda a: -abs(inputs[0].strides[a]))
        if keepdims:
            out_shape = tuple(1 if a in reduced else n for a, n in enumerate(shape))
        else:
            out_shape = tuple(shape[a] for a in kept)
        _kernel.check_outputs(given, self.out_params, out_shape, False)
        outputs = [(out_shape, dtype) for dtype in out_types]
        if math.prod(given[0].shape if given else out_shape) == 0:
            return Plan(outputs)
        if self.identity == "" and 0 in shape:
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        length = math.prod(shape) // math.prod(out_shape)
        # The loop over the elements goes at most BLOCK_SIZE too far.
        types["IndexT"] = np.dtype("int64" if length > 2**31 - 1 - BLOCK_SIZE else "int32")

        inputs = _kernel.typed(inputs, in_types)
        order = [*reduced, *kept]
        if order != list(range(len(shape))):
            if any(p.raw for p in self.in_params):
                raise NotImplementedError("Illegal conditions")
            inputs = [a.transpose(order) if isinstance(a, np.ndarray) else a for a in inputs]
            shape = tuple(shape[a] for a in order)
        results = given or [np.empty(*output) for output in outputs]
        if self.reduce_dims:
            shape, inputs = _kernel.fold(inputs, self.in_params, shape)
            out_shape, results = _kernel.fold(results, self.out_params, out_shape)
        seen = inputs + results
        neighbours = _contiguous_size(inputs, self.in_params, out_shape, len(shape))
        shift = _columns(length, neighbours).bit_length() - 1
        indexers = {"_in_ind": shape, "_out_ind": out_shape}
        rows = _launch.declarations(seen, self.params, indexers, ["_shift"])
        code = self._code(rows, types)

        def compile() -> Callable:
            texts = (self.map_expr, self.reduce_expr, self.post_map_expr)
            return self._on_cpu(
                code, rows, lambda **parts: self._code(rows, types, **parts), *texts
            )

        run = self._function(code, seen, compile)
        return Plan(outputs, _launch.Packing(seen, list(indexers.values()), shift), run)

    def _code(self, rows, types: dict, **parts: str) -> str:
        """The CUDA C source; or, with other ``parts``, what runs on the CPU."""
        _launch.check_name(self.name)
        preamble = _launch.numbered(self.preamble, f"{self.name}.cu, preamble")
        parted = {"name": self.name, "block_size": BLOCK_SIZE, "identity": self.identity}
        return _KERNEL.format(
            **({"linkage": 'extern "C"', "preamble": preamble} | parts),
            in_parts=_IN_PARTS.format(**parted) if self.identity else "",
            of_parts=_OF_PARTS.format(**parted) if self.identity else "",
            typedefs=_launch.typedefs(types, rows),
            name=self.name,
            block_size=BLOCK_SIZE,
            params=_launch.parameter_list(rows),
            inputs=_launch.references(rows[: self.nin], self.in_params, "_in_ind"),
            outputs=_launch.references(rows[self.nin :], self.out_params, "_out_ind"),
            map_expr=self.map_expr,
            reduce_expr=self.reduce_expr,
            post_map_expr=self.post_map_expr,
            identity=self.identity,
            reduce_type=self.reduce_type,
        )


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


def _columns(length: int, contiguous_size: int) -> int:
    """Outputs per block, a power of two: more where they are neighbours, or have few elements."""
    wanted = max(min(contiguous_size, 32), BLOCK_SIZE // max(1, length))
    return 1 << (wanted.bit_length() - 1)
