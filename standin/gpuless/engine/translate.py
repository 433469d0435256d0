"""Turn the text of a CUDA C module into C++ that ``compiler.build`` accepts.

Nearly all of CUDA C is C++ once the shim's headers are there. What is left is done here, on what
the preprocessor made of the text: ``extern __shared__`` arrays, linkage, and an exported entry for
each kernel and each global variable, by which Python reaches them. Line numbers stay the reader's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpuless.engine import casts, coverage, foreign, otherwise, overloads, ptx, spaces
from gpuless.engine.declarations import Declaration, declarations
from gpuless.engine.options import NONE, Options
from gpuless.engine.preprocess import Preprocessed, preprocess
from gpuless.engine.shared import SharedVariable, shared_variables
from gpuless.engine.source import EXTERN_C, closing, parameters

# A thread that names one of these may have to wait, so each needs a stack of its own.
WAITS = re.compile(r"__sync\w+|\w+_sync\b|__activemask|\bcooperative_groups\b")
# What these name is a thread's place in its block, or memory that a block shares.
_PLACES = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim|warpSize|__shared__)\b")
# A thread that names one of these may wait for a thread of another block.
_BALANCED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # up to two levels down, not closed
SPINS = re.compile(
    r"\bvolatile\b|\b__nanosleep\b|\batomic_ref\b|\bcuda\s*::\s*(?:std\s*::\s*)?atomic\b"
    rf"|\bwhile\s*{_BALANCED}\batomic\w+\s*\("
)
SPIN_MACRO = "#define while(...) while ((__VA_ARGS__) ? (standin_turn(), true) : false)"

# Where it is not known whether loops wait (``spins`` is given), all of them let others run.
_LOOP_MACROS = """
#define for(...) for (__VA_ARGS__) if (standin_turn(), false) {} else
#define goto for (standin_turn();;) goto"""
_MAY_SPIN = re.compile(r"\batomic\w+\s*\(")
_LOOP = re.compile(r"\b(?:for|while|goto)\b")
_BARRIER = re.compile(r"\b__syncthreads(?:_count|_or|_and)?\s*(?=\()")

# What asks for the shim's header of textures and surfaces; NVRTC has them without one.
_TEXTURES = re.compile(
    r"\bcuda(?:Texture|Surface)Object_t\b|\bcudaBoundaryMode|\b(?:tex|surf)[123]D"
)

_SHARED_ARRAY = re.compile(
    r"\b(?:extern\s+(?:volatile\s+)?__shared__|(?:volatile\s+)?__shared__\s+extern)\s+"
    r"([^;(){}]*?(?:\([^()]*\)[^;(){}]*?)?)(\w+)\s*\[\s*\]((?:\s*\[[^\[\];]*\])*)\s*;"
)
_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(\s*(\d+)\s*[,)]")


@dataclass
class Translation:
    """C++ text with ``standin_kernel_I()`` for ``kernels[I]`` and ``standin_global_NAME(size)``."""

    text: str
    kernels: list[str]
    globals: list[str]
    fibers: bool
    spins: bool  # a thread may wait for one of another block
    shared: list[SharedVariable] = field(default_factory=list)  # those of fixed size
    parameters: dict[str, list[str]] = field(default_factory=dict)  # names, by kernel
    max_threads: dict[str, int] = field(default_factory=dict)  # by __launch_bounds__
    constants: list[str] = field(default_factory=list)  # of globals, those no kernel may write
    may_spin: bool = False  # it does not look so, but cannot be told for sure


def _kernels(
    source: Preprocessed, found: list[Declaration]
) -> tuple[dict[str, str], dict[str, int], dict[str, list[str]]]:
    """The ``extern "C"`` kernels, as only these are found by name, with their scopes; their launch
    bounds; and of every kernel, templates included, the names of its parameters."""
    scopes, bounds, named = {}, {}, {}
    for one in found:
        if one.kind != "function" or not one.has("__global__"):
            continue
        named.setdefault(one.name, parameters(source.bare, one.arguments[0]))
        if one.template or not one.c_linkage:
            continue
        scopes.setdefault(one.name, one.scope)
        if bound := _BOUNDS.search(source.bare[one.start : one.arguments[0]]):
            bounds[one.name] = int(bound[1])
    return scopes, bounds, named


def _globals(found: list[Declaration]) -> list[str]:
    """Names of the ``__constant__`` and ``__device__`` variables at file scope."""
    ours = (
        one.names
        for one in found
        if one.kind == "variable"
        and not (one.scope or one.template)
        and one.has("__constant__", "__device__", "__managed__")
    )
    return list(dict.fromkeys(name for names in ours for name in names))


def _inline_ptx(source: Preprocessed) -> str:
    """The text with asm as C++."""
    try:
        return ptx.translate(source.text, source.bare)
    except ptx.Refused as refused:
        covered = "".join(f"\n  {instruction}" for instruction in ptx.COVERED)
        why = f" ({refused.why})" if refused.why else ""
        raise NotImplementedError(
            f"{source.where(refused.position)}: the CPU stand-in does not cover this inline PTX "
            f"(asm): {refused}{why}; it needs a GPU. Covered are{covered}"
        ) from None


def _shared_array(match: re.Match) -> str:
    kind = re.sub(
        r"\b(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)|\bvolatile\b",
        "",
        match[1],
    )
    kind = kind.strip() + (" volatile" if "volatile" in match[0] else "")
    lines = "\n" * match[0].count("\n")
    # Of no use but to the compiler: all of one name are one array, so of one type, in CUDA as here.
    same = f"extern {kind} standin_dynamic_{match[2]}[]{match[3]};"
    pointer = f"{kind} (*const &{{}}){match[3]}" if match[3] else f"{kind} *const &{{}}"
    return (
        f"{same} {pointer.format(match[2])} = "
        f"reinterpret_cast<{pointer.format('')}>(standin_here.dynamic_shared);{lines}"
    )


def _number_barriers(code: str) -> str:
    """With numbers for the barriers after the first of a line, which would pass for one."""

    def numbered(line: str) -> str:
        for count, match in reversed(list(enumerate(_BARRIER.finditer(line)))):
            if count and not line.lstrip().startswith("#"):
                end = closing(line, match.end())
                comma = ", " * bool(line[match.end() + 1 : end].strip())
                line = f"{line[:end]}{comma}__LINE__ | {count} << 20{line[end:]}"
        return line

    return "\n".join(map(numbered, code.split("\n")))


def names_threads(bare: str) -> bool:
    """Whether preprocessed text speaks of threads, blocks, warps or barriers."""
    return bool(WAITS.search(bare) or _PLACES.search(bare))


def refuse_uncovered(source: Preprocessed) -> None:
    """NotImplementedError naming a part of CUDA that the stand-in does not cover."""
    for pattern, what in coverage.REFUSED:
        if match := re.search(pattern, source.bare):
            raise NotImplementedError(
                f"{source.where(match.start())}: the CPU stand-in does not cover {what}; it needs "
                "a GPU"
            )


# A trait of a type, told to the C++ library, whose namespace is not within the reader's.
_TRAIT = re.compile(r"\btemplate\s*<\s*>\s*struct\s+std::\w+\s*<[^;{}]*>[^;{}]*\{[^{}]*\}\s*;")


def read(source: str, name: str, options: Options) -> tuple[Preprocessed, list[Declaration]]:
    """CUDA C as the preprocessor leaves it, with what is CUDA's alone in functions (asm, casts to
    integers) as C++; and what it declares. Raises what ``translate`` does."""
    done = preprocess(source, name, options)
    refuse_uncovered(done)
    foreign.check(done, options, name)
    otherwise.check(done, options, name)
    text = _inline_ptx(done)
    headers = [*done.headers, *(["tensor.h"] * (text != done.text))]
    headers += ["texture.h"] * bool(_TEXTURES.search(done.bare))
    text = casts.translate(text, Preprocessed.blanked(text))
    text = _TRAIT.sub(r"STANDIN_LEAVE \g<0> STANDIN_ENTER", text)
    done = Preprocessed(text, headers)
    found = declarations(done.text, done.bare)
    if not options.host_allowed:
        spaces.check(done, found, name)
    done = spaces.marked(done, found)
    done.overloads = overloads.of_cuda(found, done)
    return done, found


def translate(
    source: str,
    *,
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
    options: Options = NONE,
    spins: bool = False,
) -> Translation:
    """Translate a module.

    Args:
        source: CUDA C.
        name: what messages call the source, without ``.cu``.
        expressions: further kernels to make entries for, such as ``scale<float>``.
        options: see ``options.parse``.
        spins: take it that any loop may wait for a thread of another block.

    Raises:
        NotImplementedError: naming a part of CUDA that the stand-in does not cover.
        CompileError: for what the preprocessor refuses, an include that neither CUDA, CuPy nor the
            reader offers, a function or a variable of a host's, what only other compilers take.
    """
    source, found = read(source, name, options)
    scopes, bounds, named = _kernels(source, found)
    variables = _globals(found)
    macros = f"{SPIN_MACRO}{_LOOP_MACROS * spins}"
    spins = spins or bool(SPINS.search(source.bare))
    may_spin = not spins and bool(_MAY_SPIN.search(source.bare) and _LOOP.search(source.bare))
    fibers = spins or bool(WAITS.search(source.bare))

    code, shared = shared_variables(source, found, name)
    code = EXTERN_C.sub(lambda m: 'extern "C++"' + "\n" * m[0].count("\n"), code)
    code = _SHARED_ARRAY.sub(_shared_array, code)

    entries = [*scopes, *(e for e in expressions if e not in scopes)]
    hoisted = [*source.headers, *(["slots.h"] * bool(shared))]
    lines = [f'#include "{header}"' for header in hoisted]
    # A namespace of their own keeps the reader's names (index, div, y0) apart from the C library's.
    lines += ["namespace standin_user { namespace {", source.overloads, macros if spins else ""]
    lines += [_number_barriers(code), '#line 1 "entries"']
    lines += ["}", "#undef while\n#undef for\n#undef goto" if spins else ""]
    for number, entry in enumerate(entries):
        lines.append(
            f'#line {number + 1} "entries"\n'
            f'extern "C" const StandinKernel *standin_kernel_{number}() '
            f"{{ return StandinEntry<(&{scopes.get(entry, '')}{entry}), {str(fibers).lower()}>"
            "::kernel(); }"
        )
    for variable in variables:
        lines.append(
            f'extern "C" STANDIN_UNCHECKED void *standin_global_{variable}(size_t *size) '
            f"{{ *size = sizeof({variable}); return (void *)&{variable}; }}"
        )
    lines.append("}")
    constants = [name for one in found if one.has("__constant__") for name in one.names]
    return Translation(
        text="\n".join(lines) + "\n",
        kernels=entries,
        globals=variables,
        fibers=fibers,
        spins=spins,
        shared=shared,
        parameters=named,
        max_threads=bounds,
        constants=[name for name in constants if name in variables],
        may_spin=may_spin,
    )
