"""What ElementwiseKernel and ReductionKernel share: parameters, types, shapes, packed arguments.

The rules and the error messages are those of CuPy 14 (``cupy/_core/_kernel.pyx``).
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cupy._core._ndarray import ndarray
from cupy.cuda.compiler import CompileException
from cupy.cuda.function import guarded
from cupy.cuda.stream import submit
from helpers.standin import compiler, translate

CTYPES = {
    np.dtype(name): text
    for name, text in {
        "float64": "double",
        "float32": "float",
        "float16": "float16",
        "complex128": "thrust::complex<double>",
        "complex64": "thrust::complex<float>",
        "int64": "long long",
        "int32": "int",
        "int16": "short",
        "int8": "signed char",
        "uint64": "unsigned long long",
        "uint32": "unsigned int",
        "uint16": "unsigned short",
        "uint8": "unsigned char",
        "bool": "bool",
    }.items()
}

# Words that mean something only to a thread in its block: such a body runs as a RawKernel would.
_THREAD_WORDS = re.compile(
    r"\b(threadIdx|blockIdx|blockDim|gridDim|warpSize|laneId|__shared__|__sync\w*|__shfl\w*|"
    r"__ballot\w*|__any\w*|__all\w*|__activemask|__reduce_\w+|__match_\w+|cooperative_groups)\b"
)
HEADER_WORDS = 5  # room for a CArrayRecord at the front of the packed arguments
_SCALAR_TYPES = {bool, int, float, complex} | {np.dtype(c).type for c in "?bhilqBHILQefdFD"}


def ctype_of(dtype) -> str:
    """The C++ name of a dtype; ``ValueError`` for a dtype that no kernel can take."""
    try:
        return CTYPES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"Unsupported dtype {dtype}") from None


def check_name(name: str) -> None:
    if re.match("^[a-zA-Z_][a-zA-Z_0-9]*$", name) is None:
        raise ValueError(f'Invalid kernel name: "{name}"')


def names_threads(*texts: str) -> bool:
    """Whether some of the texts (comments aside) speak of threads, blocks, warps or barriers."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", "\n".join(texts), flags=re.DOTALL)
    return _THREAD_WORDS.search(code) is not None


# ---------------------------------------------------------------------------------- parameters


@dataclass(frozen=True)
class ParameterInfo:
    """One parameter of a kernel: ``[raw] [_non_const] TYPE NAME``."""

    name: str
    dtype: np.dtype | None  # None for a placeholder such as T
    ctype: str
    raw: bool
    is_const: bool


def parse_parameters(text: str, is_const: bool) -> tuple[ParameterInfo, ...]:
    """Parse a comma-separated parameter list; an empty text has no parameters."""
    if len(text) == 0:
        return ()
    return tuple(_parse_parameter(part, is_const) for part in text.strip().split(","))


def _parse_parameter(text: str, is_const: bool) -> ParameterInfo:
    words = text.split()
    if len(words) < 2:
        raise Exception(f"Syntax error: {text}")
    *keywords, typename, name = words
    dtype = None if len(typename) == 1 else np.dtype(typename)
    ctype = typename if dtype is None else ctype_of(dtype)
    raw = False
    for word in keywords:
        if word == "raw":
            raw = True
        elif word == "_non_const":
            is_const = False
        else:
            raise Exception(f'Unknown keyword "{word}"')
    return ParameterInfo(name, dtype, ctype, raw, is_const)


# ----------------------------------------------------------------------------------- arguments


@dataclass(frozen=True)
class Scalar:
    """A Python or NumPy scalar argument: what is left of it in a plan, its dtype."""

    dtype: np.dtype


def is_scalar(value) -> bool:
    return type(value) in _SCALAR_TYPES


def as_array(value) -> ndarray:
    """An object that offers a CuPy array, as that; ``TypeError``, also for NumPy arrays."""
    if hasattr(value, "__cupy_get_ndarray__"):
        return value.__cupy_get_ndarray__()
    if hasattr(value, "__cuda_array_interface__"):
        import cupy

        return cupy.asarray(value)
    raise TypeError(f"Unsupported type {type(value)}")


def as_argument(value) -> Argument:
    if isinstance(value, ndarray):
        return View.of(value)
    if is_scalar(value):
        return Scalar(np.dtype(type(value)))
    return View.of(as_array(value))


def decide_types(
    in_params: Sequence[ParameterInfo],
    out_params: Sequence[ParameterInfo],
    in_dtypes: Sequence,
    out_dtypes: Sequence,
) -> tuple[list, list, dict]:
    """Dtypes of all parameters and of each placeholder. ``None`` is a scalar: it has no vote."""
    placeholders: dict[str, object] = {}

    def vote(p: ParameterInfo, given) -> None:
        if p.dtype is not None:
            if np.dtype(given) != p.dtype:
                raise TypeError(f"Type is mismatched. {p.name} {given} {p.dtype}")
        elif p.ctype in placeholders:
            first = placeholders[p.ctype]
            if np.dtype(first) != np.dtype(given):
                raise TypeError(f"Type is mismatched. {p.name} {given} {first} {p.ctype}")
        else:
            placeholders[p.ctype] = given

    for p, given in zip(out_params, out_dtypes, strict=False):  # none are given, or all
        if given is None:
            raise TypeError("Output arguments must be cupy.ndarray")
        vote(p, given)
    for p, given in zip(in_params, in_dtypes, strict=True):
        if given is not None:
            vote(p, given)

    def final(p: ParameterInfo) -> np.dtype:
        return np.dtype(placeholders[p.ctype]) if p.dtype is None else p.dtype

    return (
        [final(p) for p in in_params],
        [final(p) for p in out_params],
        {name: np.dtype(dtype) for name, dtype in sorted(placeholders.items())},
    )


def typed(args: Sequence[Argument], dtypes: Sequence[np.dtype]) -> list[Argument]:
    """The arguments, each scalar with the dtype that was decided for its parameter."""
    return [
        Scalar(dtype) if isinstance(arg, Scalar) else arg
        for arg, dtype in zip(args, dtypes, strict=True)
    ]


# ------------------------------------------------------------------------------ shapes, strides


@dataclass(frozen=True)
class View:
    """Shape and strides (bytes) through which a kernel sees one array argument."""

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def of(array: ndarray) -> View:
        a = array._array
        return View(a.dtype, a.shape, a.strides)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def c_contiguous(self) -> bool:
        step = self.dtype.itemsize
        for length, stride in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if length == 0:
                return True
            if length != 1 and stride != step:
                return False
            step *= length
        return True

    def broadcast_to(self, shape: tuple[int, ...]) -> View:
        missing = len(shape) - len(self.shape)
        strides = [0] * missing + [
            stride if length == wanted else 0
            for length, wanted, stride in zip(
                self.shape, shape[missing:], self.strides, strict=True
            )
        ]
        return View(self.dtype, shape, tuple(strides))

    def transpose(self, axes: Sequence[int]) -> View:
        return View(
            self.dtype,
            tuple(self.shape[a] for a in axes),
            tuple(self.strides[a] for a in axes),
        )


Argument = View | Scalar


def dense(shape: tuple[int, ...], dtype: np.dtype) -> View:
    """How an array that the kernel allocates will lie in memory: in C order."""
    strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return View(dtype, shape, tuple(strides))


def broadcast(
    args: Sequence[Argument], params: Sequence[ParameterInfo], has_size: bool
) -> tuple[tuple[int, ...], list[Argument]]:
    """Common shape of the arrays that are not raw, and all arguments seen through it."""
    voters = [
        arg if isinstance(arg, View) and not p.raw else None
        for arg, p in zip(args, params, strict=False)  # outputs may be missing
    ]
    shapes = [v.shape for v in voters if v is not None]
    if has_size:
        if shapes:
            raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
    elif not shapes:
        raise ValueError("Loop size is undecided.")
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        given = " ".join("()" if v is None else str(v.shape) for v in voters)
        raise ValueError(f"operands could not be broadcast together with shapes {given}") from None
    return shape, [
        arg if v is None else v.broadcast_to(shape) for arg, v in zip(args, voters, strict=True)
    ]


def check_outputs(
    outputs: Sequence[Argument],
    params: Sequence[ParameterInfo],
    shape: tuple[int, ...],
    has_size: bool,
) -> None:
    """Raise unless the given outputs fit; or unless outputs that are not given can be made."""
    if not outputs:
        if any(p.raw for p in params) and not has_size:
            raise ValueError("Output array size is Undecided")
        return
    for arg, p in zip(outputs, params, strict=True):
        if not isinstance(arg, View):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if not p.raw and arg.shape != shape:
            raise ValueError("Out shape is mismatched")


def fold(
    args: Sequence[Argument], params: Sequence[ParameterInfo], shape: tuple[int, ...]
) -> tuple[tuple[int, ...], list[Argument]]:
    """Merge axes that lie one behind the other in all arrays that are not raw (`reduce_dims`)."""
    folded = list(args)
    chosen = [
        number
        for number, (arg, p) in enumerate(zip(args, params, strict=True))
        if isinstance(arg, View) and not p.raw
    ]
    strided = [args[k] for k in chosen if not args[k].c_contiguous]
    if len(shape) <= 1 or not chosen or (len(shape) == 2 and strided and len(args) > 1):
        return shape, folded
    if not strided:
        new_shape = (math.prod(shape),)
        for k in chosen:
            folded[k] = View(args[k].dtype, new_shape, (args[k].dtype.itemsize,))
        return new_shape, folded

    groups: list[list[int]] = []  # neighbouring axes that merge into one
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and all(v.strides[axis] * length == v.strides[last] for v in strided):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if len(groups) == len(shape):
        return shape, folded
    new_shape = tuple(math.prod(shape[axis] for axis in group) for group in groups)
    for k in chosen:
        strides = tuple(args[k].strides[group[-1]] for group in groups)
        folded[k] = View(args[k].dtype, new_shape, strides)
    return new_shape, folded


# ---------------------------------------------------------------------------------- generation


def signature(args: Sequence) -> tuple:
    """What a plan depends on: dtypes, shapes and strides of arrays, types of scalars."""
    key = []
    for arg in args:
        if isinstance(arg, ndarray):
            array = arg._array
            key += (array.dtype, array.shape, array.strides)
        else:
            key.append(type(arg))
    return tuple(key)


def typedefs(types: dict[str, np.dtype]) -> str:
    return "".join(f"typedef {ctype_of(dtype)} {name};\n" for name, dtype in types.items())


def variable(arg: Argument, p: ParameterInfo) -> str:
    """What the kernel calls an argument; in the body, ``_raw_x`` becomes the element ``x``."""
    return f"_raw_{p.name}" if isinstance(arg, View) and not p.raw else p.name


def declarations(
    args: Sequence[Argument],
    params: Sequence[ParameterInfo],
    indexers: dict[str, tuple[int, ...]],
) -> list[tuple[str, str, int]]:
    """C++ type, name and offset in the row of words of everything that the kernel receives."""
    rows, offset = [], HEADER_WORDS
    for arg, p in zip(args, params, strict=True):
        const = "const " if p.is_const else ""
        ctype = ctype_of(arg.dtype)
        if isinstance(arg, View):
            small = arg.size * arg.dtype.itemsize <= 2**31
            flags = f"{len(arg.shape)}, {int(arg.c_contiguous)}, {int(small)}"
            ctype = f"CArray<{ctype}, {flags}>"
        rows.append((const + ctype, variable(arg, p), offset))
        offset += words_of(arg)
    for name, shape in indexers.items():
        small = math.prod(shape) <= 2**31
        rows.append((f"CIndexer<{len(shape)}, {int(small)}>", name, offset))
        offset += 1 + 2 * max(len(shape), 1)
    return rows


def parameter_list(rows: Sequence[tuple[str, str, int]]) -> str:
    return ", ".join(f"{ctype} {name}" for ctype, name, _ in rows)


def unpacking(rows: Sequence[tuple[str, str, int]]) -> str:
    """C++ declarations that read everything from the row of words."""
    return "\n".join(
        f"  {ctype} {name} = *reinterpret_cast<{ctype} *>(words + {offset});"
        for ctype, name, offset in rows
    )


def numbered(text: str, label: str) -> str:
    """``text`` with a #line directive, so that a compiler's message gives the reader's line."""
    return f'\n#line 1 "{label}"\n{text}\n#line 1 "generated code"\n' if text.strip() else text


def split_headers(preamble: str, name: str, options: tuple[str, ...]) -> tuple[str, list[str]]:
    """A preamble without the includes that the shim answers, and the shim's headers for them."""
    try:
        code, headers = translate._headers(preamble, compiler.parse_options(options).folders)
    except translate.NoSuchHeader as missing:
        message = (
            f"{name}.cu, preamble({missing.line}): catastrophic error: could not open source file "
            f'"{missing.header}"'
        )
        raise CompileException(message, preamble, name, options) from None
    return code, ["carray.h", *headers]


def check_by_nvrtc(code: str, options: tuple[str, ...], name: str) -> None:
    """Where CUPY_STANDIN_NVRTC=1: compile the CUDA C form of a kernel by NVRTC too."""
    if os.environ.get("CUPY_STANDIN_NVRTC") == "1":
        from helpers.standin import nvrtc

        nvrtc.check('#include "carray.h"\n' + code, options, name)


# --------------------------------------------------------------------------------- packed calls


def words_of(arg: Argument) -> int:
    """Length of one argument in the row of 8-byte words that a compiled kernel receives."""
    return 2 if isinstance(arg, Scalar) else 3 + 2 * max(len(arg.shape), 1)


class Packing:
    """The row of words, with shapes, strides and sizes; a launch copies it and fills in the rest.

    An array is laid out as CArray is: pointer, size, shape, strides, number of the parameter.
    """

    def __init__(
        self, args: Sequence[Argument], indexers: Sequence[tuple[int, ...]], *numbers: int
    ):
        words = [0] * HEADER_WORDS
        self._arrays: list[tuple[int, int]] = []
        self._scalars: list[tuple[int, int, np.dtype]] = []
        for number, arg in enumerate(args):
            if isinstance(arg, Scalar):
                self._scalars.append((number, 8 * len(words), arg.dtype))
                words += [0, 0]
            else:
                self._arrays.append((number, len(words)))
                words += [0, arg.size, *(arg.shape or (1,)), *(arg.strides or (0,)), number]
        for shape in indexers:
            words += [math.prod(shape), *(shape or (1,)), *(0 for _ in shape or (1,))]
        self._words = np.array([*words, *numbers], np.int64)

    def fill(self, arguments: Sequence) -> np.ndarray:
        """The words with this call's pointers and scalars. A scalar is stored as NumPy assigns it:
        ``OverflowError`` for a Python integer that the dtype cannot hold."""
        words = self._words.copy()
        for number, offset in self._arrays:
            words[offset] = arguments[number]._array.__array_interface__["data"][0]
        for number, offset, dtype in self._scalars:
            np.ndarray((), dtype, words, offset)[()] = arguments[number]
        return words


def compiled(source: str, options: tuple[str, ...], name: str) -> Callable[[np.ndarray], None]:
    """The function ``standin_run`` of a generated source, to be called with the words.

    A fault or a trap inside it is a RuntimeError, and what it prints comes out.
    """
    library = compiler.build(source, options=options, name=name)
    address = ctypes.cast(library.standin_run, ctypes.c_void_p).value

    def run(words: np.ndarray) -> None:
        guarded(name, address, words.ctypes.data)

    run.library = library  # keeps it loaded
    return run


def launch(
    run: Callable[[np.ndarray], None],
    words: np.ndarray,
    name: str,
    params: Sequence[ParameterInfo],
    arrays: Sequence,
    stream=None,
) -> None:
    """Run now, or put into the graph that the stream is capturing; then look for violations.

    ``arrays`` are the objects whose memory the words point to: they must outlive the graph.
    """

    def work(arrays=arrays) -> None:
        run(words)
        if words[0]:
            raise_violation(words, name, params)

    submit(work, stream)


def raise_violation(words: Sequence[int], name: str, params: Sequence[ParameterInfo]) -> None:
    _, number, axis, index, length = (int(w) for w in words[:HEADER_WORDS])
    where = f"has {length} elements" if axis < 0 else f"has length {length} along axis {axis}"
    raise IndexError(
        f"kernel {name!r}: index {index} is outside the raw array {params[number].name!r}, which "
        f"{where}; a GPU would silently read or overwrite other memory. Compare the index with "
        f"{params[number].name}.size() or .shape() before using it"
    )


def cached_codes(codes: dict[tuple, str]) -> dict[tuple, str]:
    if not codes:
        warnings.warn(
            "No codes are cached because compilation is deferred until the first function call.",
            stacklevel=3,
        )
    return dict(codes)


def cached_code(codes: dict[tuple, str]) -> str:
    if len(codes) > 1:
        warnings.warn(
            "The input types of the kernel could not be inferred. Please use `.cached_codes` "
            "instead.",
            stacklevel=3,
        )
    return next(iter(codes.values()))
