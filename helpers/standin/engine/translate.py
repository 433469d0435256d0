"""Turn the text of a CUDA C module into C++ that ``compiler.build`` accepts.

Nearly all of CUDA C is C++ once the shim's headers are there. What is left is done here, on the
text: ``extern __shared__`` arrays, linkage, includes, and an exported entry for each kernel and
each global variable, by which Python reaches them. Line numbers stay the reader's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from helpers.standin.engine import casts, ptx, uncovered
from helpers.standin.engine.errors import CompileError
from helpers.standin.engine.shared import SharedVariable, shared_variables
from helpers.standin.engine.source import (
    EXTERN_C,
    body,
    c_linkage_blocks,
    depth,
    parameters,
    without_comments,
    without_strings,
)

# Headers that CUDA or CuPy offers to kernels, and the shim's own version of each.
CUPY_HEADERS = {
    "cupy/complex.cuh": "complex.h",
    "cupy/float16.cuh": "float16.h",
    "cupy/carray.cuh": "carray.h",
    "carray.h": "carray.h",
    "complex.h": "complex.h",
    "float16.h": "float16.h",
}
HEADERS = {
    **CUPY_HEADERS,
    "cooperative_groups.h": "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h": "cooperative_groups.h",
    "cooperative_groups/reduce.h": "cooperative_groups.h",
    "cooperative_groups/scan.h": "cooperative_groups.h",
    "cuda_fp16.h": "half.h",
    "cuda_pipeline.h": "pipeline.h",
    "cuda_pipeline_primitives.h": "pipeline.h",
    "cuda_runtime.h": None,
    "math_constants.h": "math_constants.h",
    "mma.h": "wmma.h",
}
UNSUPPORTED = (
    (r"<<<", "dynamic parallelism (<<<...>>>)"),
    (r"\b__cluster_dims__\b|\b__block_size__\b", "clusters, which need compute capability 9.0"),
    (r"\bcuda\s*::", "libcu++ (cuda::...)"),
    (r"\bcub\s*::|\bthrust\s*::(?!complex)", "CUB and Thrust"),
    (r"\bcudaTextureObject_t\b|\bcudaSurfaceObject_t\b", "textures and surfaces"),
    (r"\bcurand\w+", "the device side of cuRAND"),
)
# A thread that names one of these may have to wait, so each needs a stack of its own.
WAITS = re.compile(r"__sync\w+|\w+_sync\b|__activemask|\bcooperative_groups\b")
# What these name is a thread's place in its block, or memory that a block shares.
_PLACES = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim|warpSize|__shared__)\b")
# A thread that names one of these may wait for a thread of another block.
_BALANCED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # up to two levels down, not closed
SPINS = re.compile(rf"\bvolatile\b|\b__nanosleep\b|\bwhile\s*{_BALANCED}\batomic\w+\s*\(")
SPIN_MACRO = "#define while(...) while (standin_spin(), (__VA_ARGS__))"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_SHARED_ARRAY = re.compile(
    r"\bextern\s+(?:volatile\s+)?__shared__\s+([^;(){}]*?(?:\([^()]*\)[^;(){}]*?)?)(\w+)\s*\[\s*\]\s*;"
)
_ATTRIBUTE = r"(?:__launch_bounds__|__attribute__|__cluster_dims__)\s*\((?:[^()]|\([^()]*\))*\)"
_KERNEL = re.compile(
    rf"\b__global__\b\s*(?:(?:{_ATTRIBUTE}|static|inline|void|__\w+__)\s*)*\b(\w+)\s*\("
)
_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(\s*(\d+)")
_GLOBAL = re.compile(r"\b(?:__constant__|__device__|__managed__)\s")


@dataclass
class Translation:
    """C++ text with ``standin_kernel_I()`` for ``kernels[I]`` and ``standin_global_NAME(size)``."""

    text: str
    kernels: list[str]
    globals: list[str]
    fibers: bool
    spins: bool
    shared: list[SharedVariable] = field(default_factory=list)  # those of fixed size
    parameters: dict[str, list[str]] = field(default_factory=dict)  # names, by kernel
    max_threads: dict[str, int] = field(default_factory=dict)  # by __launch_bounds__


def _kernels(
    code: str, bare: str, blocks: list[tuple[int, int]]
) -> tuple[list[str], dict[str, int], dict[str, tuple[int, int]], dict[str, list[str]]]:
    """Names of the ``extern "C"`` kernels, as only these are found by name, and launch bounds.

    Of every kernel, templates included: where its body is, and the names of its parameters.
    """
    names, found, bodies, named = [], {}, {}, {}
    for match in _KERNEL.finditer(bare):
        start = max(bare.rfind(c, 0, match.start()) for c in ";{}") + 1
        prefix = code[start : match.start()]
        in_block = any(a < match.start() < b for a, b in blocks)
        bodies.setdefault(match[1], body(bare, match.end()))
        named.setdefault(match[1], parameters(bare, match.end() - 1))
        if "template" in prefix or not (in_block or EXTERN_C.search(prefix)):
            continue
        if match[1] not in names:
            names.append(match[1])
        bound = _BOUNDS.search(bare[start : match.end()])
        found.setdefault(match[1], set()).add(int(bound[1]) if bound else None)
    # Versions between which #if chooses may differ in their bounds: then none is sure.
    bounds = {name: values.pop() for name, values in found.items() if len(values) == 1}
    return names, {name: bound for name, bound in bounds.items() if bound}, bodies, named


def _globals(bare: str, blocks: list[tuple[int, int]]) -> list[str]:
    """Names of the ``__constant__`` and ``__device__`` variables at file scope."""
    names = []
    for match in _GLOBAL.finditer(bare):
        if depth(bare, match.start(), blocks):
            continue
        text = re.sub(r"\b(__align__|alignas|__attribute__)\s*\([^()]*\)", " ", bare[match.end() :])
        if not re.search(r"[;={]", text.partition("(")[0]):
            continue  # a function
        open_brackets, statement = 0, ""
        # Of `float a[3] = {1, 2}, b;` the statement is `float a = , b`
        for character in text:
            open_brackets += (character in "[{(") - (character in ")}]")
            if character == ";" and open_brackets == 0:
                break
            statement += character if open_brackets == 0 and character not in ")}]" else ""
        for piece in re.sub(r"=[^,]*", "", statement).split(","):
            words = re.findall(r"\w+", piece)
            if words and words[-1] not in names:
                names.append(words[-1])
    return names


def headers(code: str, include_folders: tuple[str, ...], name: str) -> tuple[str, list[str]]:
    """``code`` without the includes the shim answers, and the shim's headers to put before it.

    ``name`` is what messages call the code. Raises NotImplementedError for a header of CUDA's that
    the shim lacks, and CompileError, as NVRTC words it, for one that nobody offers.
    """
    wanted: list[str] = []

    def replace(match: re.Match) -> str:
        header = match[1]
        if header in HEADERS:
            wanted.append(HEADERS[header])
            return ""
        if any(Path(folder, header).is_file() for folder in include_folders):
            return match[0]
        line = code.count("\n", 0, match.start()) + 1
        if uncovered.is_header(header):
            raise uncovered.refusal(f"{name}({line})", f"the header <{header}>")
        raise CompileError(
            f'{name}({line}): catastrophic error: could not open source file "{header}"\n\n'
            f'1 catastrophic error detected in the compilation of "{name}".\n'
            "Compilation terminated.\n"
        )

    return _INCLUDE.sub(replace, code), [h for h in dict.fromkeys(wanted) if h]


def _inline_ptx(code: str, bare: str, name: str) -> tuple[str, str, bool]:
    """``code`` and ``bare`` with asm as C++, and whether there was any."""
    try:
        translated = ptx.translate(code, bare)
    except ptx.Refused as refused:
        line = bare.count("\n", 0, refused.position) + 1
        covered = "".join(f"\n  {instruction}" for instruction in ptx.COVERED)
        why = f" ({refused.why})" if refused.why else ""
        raise NotImplementedError(
            f"{name}.cu({line}): the CPU stand-in does not cover this inline PTX (asm): "
            f"{refused}{why}; it needs a GPU. Covered are{covered}"
        ) from None
    if translated == code:
        return code, bare, False
    return translated, without_strings(translated), True


def _shared_array(match: re.Match) -> str:
    kind = re.sub(
        r"\b(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)|\bvolatile\b",
        "",
        match[1],
    )
    kind = kind.strip() + (" volatile" if "volatile" in match[0] else "")
    lines = "\n" * match[0].count("\n")
    return (
        f"{kind} *const &{match[2]} = "
        f"reinterpret_cast<{kind} *const &>(standin_here.dynamic_shared);{lines}"
    )


def names_threads(*texts: str) -> bool:
    """Whether some of the texts (comments aside) speak of threads, blocks, warps or barriers."""
    code = without_comments("\n".join(texts))
    return bool(WAITS.search(code) or _PLACES.search(code))


def translate(
    source: str,
    *,
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
    definitions: tuple[str, ...] = (),
    include_folders: tuple[str, ...] = (),
) -> Translation:
    """Translate a module.

    Args:
        source: CUDA C.
        name: what messages call the source, without ``.cu``.
        expressions: further kernels to make entries for, such as ``scale<float>``.
        definitions: lines such as ``#define N 3`` to put before it.
        include_folders: where ``#include`` may find files of the reader's own.

    Raises:
        NotImplementedError: naming a part of CUDA that the stand-in does not cover.
        CompileError: for an include that neither CUDA, CuPy nor the reader offers.
    """
    code = without_comments(source)
    bare = without_strings(code)
    code, bare, tensor = _inline_ptx(code, bare, name)
    code = casts.translate(code, bare)
    bare = without_strings(code)
    for pattern, what in UNSUPPORTED:
        if match := re.search(pattern, bare):
            line = bare.count("\n", 0, match.start()) + 1
            raise NotImplementedError(
                f"{name}.cu({line}): the CPU stand-in does not cover {what}; it needs a GPU"
            )
    blocks = c_linkage_blocks(code, bare)
    kernels, bounds, bodies, named = _kernels(code, bare, blocks)
    variables = _globals(bare, blocks)
    spins = bool(SPINS.search(bare))
    fibers = spins or bool(WAITS.search(bare))

    code, shared = shared_variables(code, bare, blocks, bodies, name)
    code, hoisted = headers(code, include_folders, f"{name}.cu")
    code = EXTERN_C.sub(lambda m: 'extern "C++"' + "\n" * m[0].count("\n"), code)
    code = _SHARED_ARRAY.sub(_shared_array, code)

    entries = [*kernels, *(e for e in expressions if e not in kernels)]
    hoisted += ["tensor.h"] * tensor + ["slots.h"] * bool(shared)
    lines = [f'#include "{header}"' for header in hoisted]
    # A namespace of their own keeps the reader's names (index, div, y0) apart from the C library's.
    lines += ["namespace standin_user { namespace {", SPIN_MACRO if spins else ""]
    lines += [*definitions, f'#line 1 "{name}.cu"', code, '#line 1 "entries"']
    lines += ["}", "#undef while" if spins else ""]
    for number, entry in enumerate(entries):
        lines.append(
            f'#line {number + 1} "entries"\n'
            f'extern "C" const StandinKernel *standin_kernel_{number}() '
            f"{{ return StandinEntry<(&{entry}), {str(fibers).lower()}>::kernel(); }}"
        )
    for variable in variables:
        lines.append(
            f'extern "C" STANDIN_UNCHECKED void *standin_global_{variable}(size_t *size) '
            f"{{ *size = sizeof({variable}); return (void *)&{variable}; }}"
        )
    lines.append("}")
    return Translation(
        "\n".join(lines) + "\n", entries, variables, fibers, spins, shared, named, bounds
    )
