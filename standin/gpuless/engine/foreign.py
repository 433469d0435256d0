"""What a C++ compiler takes and NVRTC does not: extensions of GCC, its macros, words of later
standards than the one that was asked for. Found in preprocessed text, before it is translated."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from gpuless.engine import compiler
from gpuless.engine.errors import CompileError
from gpuless.engine.options import Options
from gpuless.engine.preprocess import Preprocessed
from gpuless.engine.source import closing, opening

# Of GCC's functions those that NVRTC has.
_BUILT_IN = frozenset(
    "expect unreachable assume assume_aligned constant_p isnan isinf isfinite offsetof bit_cast "
    "is_constant_evaluated addressof LINE FILE FUNCTION COLUMN add_overflow sub_overflow "
    "mul_overflow align__".split()
)
_EXPRESSION = "expected an expression"
_UNDEFINED = 'identifier "{}" is undefined'
_TWICE = 'type "{}" has already been defined'
# How it looks, and what is said of it.
_ALWAYS = (
    (r"\?\s*:(?!:)", _EXPRESSION),
    (
        r"\b(?:__typeof__|__typeof|__label__|__real(?:__)?|__imag(?:__)?|_Complex|__complex__|__const"
        r"|__extension__|__signed__|__alignof|__is_same|max_align_t|_Float\d+x?|_Decimal\d+|__(?:sync|atomic)_\w+)\b",
        _UNDEFINED,
    ),
    (
        r"\b__float128\b",
        "128-bit floating point type is only supported in Linux with the "
        '"--device-float128" flag in NVRTC',
    ),
    (
        r"\b(?:thread_local|__thread)\b",
        "cannot use thread_local specifier for variable declarations in device code",
    ),
    (
        r"\]\s*(?:__device__|__host__)\s*(?:__device__|__host__)?\s*[({]",
        "__host__ or __device__ annotation on lambda is not allowed in JIT mode",
    ),
    (r"\bgoto\s*\*", "expected an identifier"),
    (r"(?:[=(,{?:]|\breturn\b)\s*&&\s*\w", _EXPRESSION),  # a label's address
    (
        r"(?:[=(,{;?:]|\breturn\b)\s*&\s*\(*\s*(threadIdx|blockIdx|blockDim|gridDim|warpSize)\b",
        'cannot take address of builtin variable "{}"',
    ),
    (r"\bcase\b[^:;{}?]*\.\.\.", 'expected a ":"'),
    (r"[\w\]]\s*\[\s*0\s*\]\s*(?=[;,={])", None),  # perhaps an array without elements
)
_OPERATOR = r"(?:[-+*/%^&|<>=!]|<<|>>|&&|\|\|)"
_TYPE = re.compile(r"\s*(?:const\s+)?[A-Za-z_][\w\s:]*(?:<[^()]*>)?[\s*]*(?:\[\w*\])?\s*")
# Of a standard, and by the first that has it.
_LATER = (
    (14, r"\]\s*\([^()]*\bauto\b", '"auto" is not allowed here'),
    (14, r"\b0[bB][01]", "user-defined literal operator not found"),
    (17, r"\bif\s+constexpr\b", 'expected a "("'),
    (17, r"\bauto\s*&{0,2}\s*\[", "expected an identifier"),
    (17, r"\bnamespace\s+\w+\s*::", "qualified name is not allowed"),
    (17, r"\b(?:if|switch)\s*\((?:[^();{}]|\([^()]*\))*;", 'expected a ")"'),
    (
        17,
        r"\bstatic_assert\s*\((?:[^(),;]|\((?:[^()]|\([^()]*\))*\))*\)\s*;",
        "expected a comma (the one-argument version of static_assert is not enabled in this mode)",
    ),
    (17, rf"{_OPERATOR}\s*\.\.\.\s*[)\w(]|\.\.\.\s*{_OPERATOR}\s*[\w(]", _EXPRESSION),
    (
        17,
        r"(?:^|[;}])\s*(?:__device__\s+|__constant__\s+|constexpr\s+|const\s+)*\binline\b[^();{}]*(?:=|;)",
        "inline specifier allowed on function declarations only",
    ),
    (
        20,
        r"(?:\b(?!(?:for|if|while|switch|decltype|constexpr)\b)[A-Za-z_]\w*|operator\s*\(\s*\))\s*"
        r"\((?:[^(){};]*,)?\s*(?:const\s+)?auto\b",
        '"auto" is not allowed here',
    ),
    (
        20,
        r"\]\s*<[^;{}()<>]*\b(?:class|typename)\b[^;{}()<>]*>\s*\(",
        "explicit lambda template parameters are a C++20 feature",
    ),
    (
        20,
        r"\bfor\s*\((?:[^;()]|\([^()]*\))*;(?:[^;():]|::|\([^()]*\))*:(?!:)(?:[^;()]|\([^()]*\))*\)",
        'C++20-style initializer statement in a range-based "for" statement is nonstandard in this '
        "mode",
    ),
    (20, r"[{,]\s*\.\s*[A-Za-z_]\w*\s*(?:=(?!=)|\{)", _EXPRESSION),
)
# A type or a namespace of the reader's with the name of a type that NVRTC has without a header.
_CUDAS = re.compile(
    r"(?:\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?=\w+\s*[:{])|\busing\s+(?=\w+\s*=)"
    r"|\bnamespace\s+(?=\w+\s*[{=])|(?:\btypedef\b[^;(){}]*?|\}\s*)(?=\w+\s*;))"
    r"\b((?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|(?:u?long(?:long)?|double)4_(?:16|32)a"
    r"|dim3|cuda[A-Z]\w*)\b"
)
# One with the name of CuPy's that is everywhere where its header is.
_COMPLEX = re.compile(
    r"(?:\b(?:struct|class|union)\s+(?=\w+\s*[:{])|\btypedef\b[^;(){}]*?\s(?=\w+\s*;)|\}\s*(?=\w+\s*;))"
    r"(complex)\b"
)
_SIZES = re.compile(
    r"\btypedef\s+(?!(?:unsigned\s+long|long\s+unsigned)\s+(?:int\s+)?size_t|(?:signed\s+)?long\s+(?:int\s+)?"
    r"[pc]\w+\s*;)(?:(?:unsigned|signed|char|short|int|long|float|double)\b\s*)+\b"
    r"(size_t|ptrdiff_t|clock_t)(?=\s*;)"
)
# A member, or a variable, that is an array without a size.
_UNSIZED = re.compile(
    r"(?:[;{}]|(?<!:):(?!:))((?![^;{}]*\b(?:extern|static|typedef|using|return)\b)(?:[\w\s<>,*]|::)*\w)\s*\[\s*\]"
    r"(?:\s*\[\w*\])*\s*;"
)
# How many arguments a function takes at most: here these take the line of their call as well.
ARGUMENTS = {
    "__syncthreads": 0, "__syncthreads_count": 1, "__syncthreads_or": 1, "__syncthreads_and": 1,
    "__syncwarp": 1, "__ballot_sync": 2, "__all_sync": 2, "__any_sync": 2, "__activemask": 0,
    "__shfl_sync": 4, "__shfl_up_sync": 4, "__shfl_down_sync": 4, "__shfl_xor_sync": 4,
    "__match_any_sync": 2, "__match_all_sync": 3, "__reduce_add_sync": 2, "__reduce_min_sync": 2,
    "__reduce_max_sync": 2, "__reduce_and_sync": 2, "__reduce_or_sync": 2, "__reduce_xor_sync": 2,
    "__cvta_generic_to_shared": 1, "__pipeline_memcpy_async": 4,
}  # fmt: skip


def check(source: Preprocessed, options: Options, name: str) -> None:
    """CompileError, in NVRTC's words, for the first that it refuses; ``name`` is the source's."""
    found = sorted(_found(source.bare, options))
    if "complex.h" in source.headers:
        found += [(at, _TWICE.format("complex")) for at in _types(_COMPLEX, source.bare)]
    if found:
        position, what = found[0]
        raise CompileError(
            f"{source.where(position)}: error: {what}\n\n"
            f'1 error detected in the compilation of "{name}.cu".\n'
        )


def _found(bare: str, options: Options) -> Iterator[tuple[int, str]]:
    """Where it is, and what is said of it."""
    standard = options.older or int(options.arguments[0][-2:])
    for pattern, what in _ALWAYS:
        for match in re.finditer(pattern, bare):
            if what is None:
                if _declares(bare, match.start()):
                    yield match.start(), "the size of an array must be greater than zero"
            else:
                yield match.start(), what.format(match[match.re.groups])
    for first, pattern, what in _LATER:
        if standard < first and (match := re.search(pattern, bare)):
            yield match.start() + len(match[0]) - len(match[0].lstrip(";} \n")), what
    for match in re.finditer(r"\b__builtin_(\w+)", bare):
        if match[1] not in _BUILT_IN:
            yield match.start(), _UNDEFINED.format(match[0])
    if standard >= 17 and (match := re.search(r"\bregister\b", bare)):
        yield match.start(), 'use of the "register" storage class specifier is not allowed'
    if not options.wide_integers and (match := re.search(r"\b__u?int128(?:_t)?\b", bare)):
        yield (
            match.start(),
            "128-bit integer type is only supported in Linux with the "
            '"--device-int128" flag in NVRTC',
        )
    for match in re.finditer(r"\b_(?:_\w+__|GNU_SOURCE|LP64)\b", bare):
        if match[0] in _macros() or match[0] in ("__COUNTER__", "__TIMESTAMP__"):
            yield match.start(), _UNDEFINED.format(match[0])
    for pattern in (_CUDAS, _SIZES):
        for at in _types(pattern, bare):
            yield at, _TWICE.format(re.match(r"\w+", bare[at:])[0])
    for match in _UNSIZED.finditer(bare):
        if len(match[1].split()) > 1:
            yield match.end(1), f'incomplete type "{match[1].strip()} []" is not allowed'
    yield from _braces(bare)
    for match in re.finditer(r"\b(__\w+)\s*(?=\()", bare):
        most = ARGUMENTS.get(match[1])
        if most is not None:
            if _count(bare[match.end() + 1 : closing(bare, match.end())]) > most:
                yield match.start(), "too many arguments in function call"


def _types(pattern: re.Pattern, bare: str) -> Iterator[int]:
    """Where, outside braces, a type has the name of one that is there already."""
    for match in pattern.finditer(bare):
        before = re.sub(r"\bextern\s*\"\s*\"\s*\{", "", bare[: match.start(1)])
        if before.count("{") <= before.count("}"):
            yield match.start(1)


def refuse_complex(text: str) -> None:
    """CompileError for a type called complex in the text before a kernel that CuPy generates."""
    if any(_types(_COMPLEX, text)):
        raise CompileError(f"error: {_TWICE.format('complex')} by CuPy's headers, as a template")


def _count(arguments: str) -> int:
    """How many there are in a list: commas outside brackets, but not those of a template."""
    arguments = re.sub(r"(?<=\w)\s*<[\w\s,:*]*>(?=\s*[({])", "", arguments)
    depth = commas = 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        commas += character == "," and not depth
    return commas + 1 if arguments.strip() else 0


def _braces(bare: str) -> Iterator[tuple[int, str]]:
    """Statements in an expression, ``({ ... })``, and values behind what looks like a cast."""
    for match in re.finditer(r"\(\s*\{", bare):
        inside = bare[match.end() : closing(bare, match.end() - 1)]
        depth = 0
        for character in inside:
            depth += (character in "([{") - (character in ")]}")
            if character == ";" and not depth:
                yield match.end() - 1, _EXPRESSION
                break
    for match in re.finditer(r"\)\s*\{", bare):
        start = opening(bare, match.start())
        before = bare[:start].rstrip()[-40:]
        written = bare[start + 1 : match.start()]
        if not _TYPE.fullmatch(written):
            continue
        if re.search(r"\boperator\s*[^\w\s]+$", before):
            continue
        if before.endswith(tuple("=(,?+-*/&|^!~<")) or re.search(r"\breturn$", before):
            yield match.end() - 1, _EXPRESSION


def _declares(bare: str, start: int) -> bool:
    """Whether the name that ends at ``start`` is declared there: a type stands before it."""
    first = max(bare.rfind(c, 0, start + 1) for c in ";{}(") + 1
    text = bare[first : start + 1]
    if re.match(r"\s*(?:return|else|do|case|goto|delete|throw|default|sizeof)\b", text):
        return False
    return bool(re.fullmatch(r"\s*(?:\w+(?:::\w+)*(?:<[^;]*>)?[\s*]+)+\w+", text))


@functools.cache
def _macros() -> frozenset[str]:
    """Those that the compiler has by itself."""
    out, _ = compiler.preprocessed(["-E", "-dM"], "")
    return frozenset(re.findall(r"^#define (\w+)", out, re.MULTILINE))
