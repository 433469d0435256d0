"""From the text of a kernel to a call: the generated source, the packed arguments, the launch.

A kernel receives one row of 8-byte words. It starts with room for a CArrayRecord, in which the
kernel tells of an index outside a raw array; then comes each argument, an array as CArray's words.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from cupy._core._kernel import TEXTURE, Argument, ParameterInfo, Scalar, ctype_of
from cupy._core._ndarray import ndarray
from cupy.cuda import _ownership
from cupy.cuda.compiler import CompileException
from cupy.cuda.stream import submit
from gpuless.engine import compiler, kernels, spaces, translate
from gpuless.engine.errors import CompileError
from gpuless.engine.memory import Allocation
from gpuless.engine.options import parse
from gpuless.engine.preprocess import Preprocessed, preprocess, set_by

# What a generated kernel is compiled with on the CPU.
HEADERS = ("carray.h", "cupy_atomics.h", "cupy_constants.h")
# Those that CuPy puts before every kernel that it generates, and the macros that they set.
CUPYS = tuple(f"cupy/{n}" for n in ("complex.cuh", "carray.cuh", "atomics.cuh", "math_constants.h"))
CARRAY = "".join(f"#include <{name}>\n" for name in CUPYS)
MACROS = "".join(f"#define {line}\n" for name in CUPYS for line in set_by(name))
HEADER_WORDS = 5  # of a CArrayRecord


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


def typedefs(types: dict[str, np.dtype], rows: Sequence[tuple[str, str, int]]) -> str:
    """C++ for the placeholders, and the header of float16 where there is one: as in CuPy it is
    unknown elsewhere."""
    lines = [f"typedef {ctype_of(dtype)} {name};\n" for name, dtype in types.items()]
    if any("float16" in ctype for ctype, _, _ in rows):
        lines.insert(0, '#include "cupy/float16.cuh"\n')
    return "".join(lines)


def declarations(
    args: Sequence[Argument],
    params: Sequence[ParameterInfo],
    indexers: dict[str, tuple[int, ...]],
    numbers: Sequence[str] = (),
) -> list[tuple[str, str, int]]:
    """C++ type, name and offset in the row of words of everything that the kernel receives."""
    rows, offset = [], HEADER_WORDS
    for arg, p in zip(args, params, strict=True):
        const = "const " if p.is_const else ""
        ctype = ctype_of(arg.dtype)
        if isinstance(arg, np.ndarray):
            small = arg.size * arg.dtype.itemsize <= 2**31
            flags = f"{len(arg.shape)}, {int(arg.flags.c_contiguous)}, {int(small)}"
            ctype = f"CArray<{ctype}, {flags}>"
        # In the body, `x` is an element of the array `_raw_x`.
        seen = f"_raw_{p.name}" if isinstance(arg, np.ndarray) and not p.raw else p.name
        rows.append((const + ctype, seen, offset))
        offset += words_of(arg)
    for name, shape in indexers.items():
        small = math.prod(shape) <= 2**31
        rows.append((f"CIndexer<{len(shape)}, {int(small)}>", name, offset))
        offset += 1 + 2 * max(len(shape), 1)
    rows += [("const int", name, offset + k) for k, name in enumerate(numbers)]
    return rows


def references(
    rows: Sequence[tuple[str, str, int]], params: Sequence[ParameterInfo], indexer: str
) -> str:
    """C++ declarations of the elements that the parameters without ``raw`` are."""
    lines = []
    for (_, name, _), p in zip(rows, params, strict=False):
        if name != p.name:
            const = "const " if p.is_const else ""
            lines.append(f"    {const}{p.ctype} &{p.name} = {name}.at({indexer}.get());\n")
    return "".join(lines)


def parameter_list(rows: Sequence[tuple[str, str, int]]) -> str:
    return ", ".join(f"{ctype} {name}" for ctype, name, _ in rows)


def unpacking(rows: Sequence[tuple[str, str, int]]) -> str:
    """C++ declarations that read everything from the row of words.

    By way of a copy: a complex number wants an address that is a multiple of 16.
    """
    return "\n".join(
        f"  alignas({ctype}) char word_{offset}[sizeof({ctype})];\n"
        f"  __builtin_memcpy(word_{offset}, words + {offset}, sizeof({ctype}));\n"
        f"  {ctype} {name} = *reinterpret_cast<{ctype} *>(word_{offset});"
        for ctype, name, offset in rows
    )


def numbered(text: str, label: str) -> str:
    """``text`` with a #line directive, so that a compiler's message gives the reader's line."""
    return f'\n#line 1 "{label}"\n{text}\n#line 1 "generated code"\n' if text.strip() else text


def check_name(name: str) -> None:
    """CompileException where there is no kernel of this name."""
    if wrong := spaces.misnamed(name):
        raise CompileException(wrong, "", name, ())


@contextlib.contextmanager
def compile_errors(text: str, name: str, options: tuple[str, ...]):
    """Inside a ``with`` block the engine's errors are CuPy's."""
    try:
        yield
    except CompileError as error:
        raise CompileException(str(error), text, name, tuple(options)) from None


def read(text: str, name: str, options: tuple[str, ...]) -> Preprocessed:
    """CUDA C as the preprocessor leaves it, with what is CUDA's alone in functions as C++."""
    with compile_errors(text, name, options):
        text = f'{MACROS}#line 1 "generated code"\n{text}'
        return translate.read(text, name, parse(options))[0]


def names_threads(name: str, options: tuple[str, ...], *texts: str) -> bool:
    """Whether the reader's texts speak of threads, blocks, warps or barriers."""
    text = "\n".join(texts)
    if not translate.names_threads("\n".join([text, *options])) and "include" not in text:
        return False
    try:
        done = preprocess(text, name, parse(options))
    except CompileError:
        return False  # the whole will not compile either, and that message has the right lines
    return translate.names_threads(done.bare)


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
        self._handles: list[tuple[int, int]] = []
        for number, arg in enumerate(args):
            if isinstance(arg, Scalar):
                if arg.dtype == TEXTURE:
                    self._handles.append((number, len(words)))
                else:
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
        for number, offset in self._handles:
            words[offset] = arguments[number].ptr
        for number, offset, dtype in self._scalars:
            np.ndarray((), dtype, words, offset)[()] = arguments[number]
        return words


# What a body needs to make a pointer of its own; indices of raw arrays are checked in any case. A
# local array is one as soon as a function is given it.
_POINTERS = re.compile(r"(?<!&)&(?!&)|->|\*\s*\)|\b(data|new|malloc)\b|\w\s+\w+\s*\[")


def follows_pointers(*texts: str) -> bool:
    """Whether the reader's code, or a file it includes, could touch memory other than the elements
    it is given."""
    return any(_POINTERS.search(text) or '#include "' in text for text in texts)


def compiled(
    source: str, options: tuple[str, ...], name: str, pointers: bool
) -> Callable[[np.ndarray, Callable[[], list[kernels.Pointer]]], None]:
    """The function ``standin_run`` of a generated source, to be called with the words.

    A fault or a trap inside it is a RuntimeError, and what it prints comes out.
    """
    standard = parse(tuple(options)).arguments
    with compile_errors(source, name, options):
        library = compiler.build(source, options=standard, name=name, pointers=pointers)
    address = ctypes.cast(library.standin_run, ctypes.c_void_p).value

    def run(words: np.ndarray, given: Callable[[], list[kernels.Pointer]]) -> None:
        # What is checked may look at device memory only.
        seen = np.asarray(Allocation(words.nbytes)).view(words.dtype) if pointers else words
        seen[:] = words
        kernels.guarded(name, address, seen.ctypes.data, given)
        words[:] = seen

    run.library = library  # keeps it loaded
    return run


def launch(
    run: Callable[[np.ndarray, Callable[[], list[kernels.Pointer]]], None],
    words: np.ndarray,
    name: str,
    params: Sequence[ParameterInfo],
    arrays: Sequence,
    stream=None,
) -> None:
    """Run now, or put into the graph that the stream is capturing; then look for violations.

    ``arrays`` are the objects whose memory the words point to: they must outlive the graph.
    """

    def given(arrays=arrays) -> list[kernels.Pointer]:
        return [
            kernels.Pointer(p.name, array._array.ctypes.data, array.itemsize)
            for array, p in zip(arrays, params, strict=True)
            if isinstance(array, ndarray)
        ]

    def work() -> None:
        with _ownership.others_shut() if _ownership.several else contextlib.nullcontext():
            run(words, given)
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
