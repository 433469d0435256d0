"""One pass of the compiler's preprocessor over CUDA C, which leaves CUDA's own words alone.

It sees what NVRTC sees: its macros, the reader's -D and -I, and no header of the system. For a
header of CUDA's or CuPy's it finds a line that says which of the shim's is to stand for it.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from gpuless.engine import cache, compiler, uncovered
from gpuless.engine.errors import CompileError
from gpuless.engine.options import Options
from gpuless.engine.source import without_strings

# Headers that CUDA or CuPy offers to kernels, and the shim's own version of each.
CUPY_HEADERS = {
    "cupy/complex.cuh": "complex.h",
    "cupy/float16.cuh": "float16.h",
    "cupy/carray.cuh": "carray.h",
    "cupy/atomics.cuh": "cupy_atomics.h",
    "cupy/cuda_workaround.h": "cuda_workaround.h",
    "cupy/math_constants.h": "cupy_constants.h",
    "carray.h": "carray.h",
    "complex.h": "complex.h",
    "cupy_atomics.h": "cupy_atomics.h",
    "cupy_constants.h": "cupy_constants.h",
    "cupyx_jit.h": "cupyx_jit.h",
    "float16.h": "float16.h",
}
HEADERS = {
    **{n: file for n, file in CUPY_HEADERS.items() if "/" in n or n == "cupyx_jit.h"},
    "cooperative_groups.h": "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h": "cooperative_copies.h",
    "cooperative_groups/reduce.h": "cooperative_reduce.h",
    "cooperative_groups/scan.h": "cooperative_scan.h",
    "cuda/atomic": "atomic_ref.h",
    "cuda/std/atomic": "atomic_ref.h",
    "cuda_fp16.h": "half.h",
    "cuda_pipeline.h": "pipeline.h",
    "cuda_pipeline_primitives.h": "pipeline.h",
    "cuda_runtime.h": None,
    "math_constants.h": "math_constants.h",
    "mma.h": "wmma.h",
}
# How those begin that include CUDA's C++ library, and what that says of older standards.
_MODERN = ("cupy/complex", "cupy/cuda_", "cooperative_groups", "cuda/")
DIALECT = "libcu++ requires at least C++ 17: leave out the option -std, or make it c++17"
_BREAKS = (
    "the macro {} stands before <{}>, which uses the name itself, so that NVRTC stops in it: "
    "define it below the #include, or choose a longer name"
)
# A header that NVRTC does not compile, and what takes its place.
_INSTEAD = {
    "thrust/complex.h": "NVRTC does not compile it either, as it includes <math.h>: CuPy's "
    "<cupy/complex.cuh> has thrust::complex for kernels"
}
# Of an option alone: a `#define NDEBUG` comes too late for NVRTC.
_NO_ASSERT = "#ifdef NDEBUG\n#undef assert\n#define assert(...) ((void)0)\n#endif"
_MARK = "#pragma standin_header "
_ANSWER = re.compile(rf"^{_MARK}(\S+)$", re.MULTILINE)
_BLANK_BEHIND = re.compile(r"\\([ \t]+)$", re.MULTILINE)
_ASKED = re.compile(r"\b__has_include\s*\(\s*[<\"]([^>\"]+)[>\"]")
# How often a loop is unrolled must be a constant: the compiler asserts it, where a statement may
# stand. Macros in it have been replaced by then, as they are not in a pragma.
_UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll\b[ \t]*([^\s/][^/\n]*)", re.MULTILINE)
_UNROLLED = re.compile(r"([;{}]\s*(?:^#.*\n\s*)*)?^standin_unroll (.*)$", re.MULTILINE)
# Comments, strings, characters; or else a letter beyond ASCII.
_SPOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|([^\x00-\x7f])""", re.DOTALL
)
_ABSOLUTE = re.compile(r"#\s*include\s*[\"<]\s*(?:/|\w:)")
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_PLACE = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*$', re.MULTILINE)
_MISSING = re.compile(
    r"^(?P<where>\S.*?\(\d+\)): error: (?:'(?P<a>[^']+)' file not found|(?P<b>\S+): No such file)",
    re.MULTILINE,
)


# Names that the built-in header of NVRTC 13 uses: it is read behind the macros of -D, and breaks on
# them.
_TAKEN = frozenset(
    "T a align alignment b base begin bytes count delta dst end f fn format func height id in "
    "int key laneMask length mask mode name offset op p pred ptr res result size size_t src "
    "srcLane std type v val value var w width x y z".split()
)
# And names that headers use in their code, so that NVRTC 13 stops in them: as macros that stand
# before the header; found by trying some 180.
_TAKEN_IN = {
    "cooperative_groups.h": """T a b c d f g i m n r t u w x y z size type value delta tile dx
    complex half index width count num dst src mask id ptr res val var last rank group threads
    grid tmp""",
    "cuda_fp16.h": "a b c f h i x y value delta half width src mask ptr val var",
    "cupy/atomics.cuh": """B F T U i n q x y size ndim shape type value index idx data result val
    step""",
    "cupy/carray.cuh": "B F T U i n q x y size ndim shape type value index idx data step",
    "cupy/complex.cuh": """A B R S T U X a b d e f h i k m s t v w x y z real type value beta scale
    complex result res val""",
    "cupy/float16.cuh": """B F T U a b c f h i n q v x y size ndim shape type value delta half index
    idx width data src mask ptr val var step""",
}
# What of a program's macros headers of CUDA's set, so that `#ifndef` sees them.
_INTEGERS = """CHAR_BIT 8
SCHAR_MAX 127
SHRT_MAX 32767
SHRT_MIN (-32768)
USHRT_MAX 65535
INT_MAX 2147483647
INT_MIN (-2147483647 - 1)
UINT_MAX 4294967295U
LONG_MAX 9223372036854775807L
LONG_MIN (-9223372036854775807L - 1)
ULONG_MAX 18446744073709551615UL
LLONG_MAX 9223372036854775807LL
LLONG_MIN (-9223372036854775807LL - 1)
ULLONG_MAX 18446744073709551615ULL
INT32_MAX 2147483647
INT32_MIN (-2147483647 - 1)
UINT32_MAX 4294967295U
INT64_MAX 9223372036854775807L
INT64_MIN (-9223372036854775807L - 1)
UINT64_MAX 18446744073709551615UL
SIZE_MAX 18446744073709551615UL"""
_LIMITS = "cooperative_groups.h", "cuda/atomic", "cuda/std/atomic"
_GUARDS = {
    "cooperative_groups.h": "_COOPERATIVE_GROUPS_H_",
    "cuda_fp16.h": "__CUDA_FP16_H__",
    "cuda_runtime.h": "__CUDA_RUNTIME_H__",
}
# Macros that leave things out of a header, as PyTorch has them for its extensions.
_NO_HALVES = [
    f"__CUDA_NO_{what}__" for what in ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS")
]
# Names that are a header's alone: before it NVRTC knows none of them.
_BRINGS = {
    "atomic_ref.h": r"\bcuda\s*::",
    "carray.h": r"\bC(?:Array|Indexer)\b",
    "complex.h": r"\bcomplex\s*<|\bthrust\s*::",
    "cooperative_groups.h": r"\bcooperative_groups\b",
    "float16.h": r"\bfloat16\b",
    "half.h": r"\b(?:__)?half2?\b",
    "math_constants.h": r"\bCUDART_[A-Z]",
    "pipeline.h": r"\b__pipeline_\w",
    "wmma.h": r"\bnvcuda\b",
}


class Preprocessed:
    """Text without comments and macros. Its lines that begin with ``#`` say where a line is from.

    ``bare`` is the text with strings and those lines blanked, ``headers`` are the shim's that it
    asks for, ``overloads`` is what must stand before it (overloads.py).
    """

    overloads = ""

    def __init__(self, text: str, headers: Sequence[str] = ()):
        self.headers = list(dict.fromkeys([*_ANSWER.findall(text), *headers]))
        self.text = _ANSWER.sub("", text)
        self.bare = self.blanked(self.text)
        self._marks = [(m.end(), int(m[1]), m[2]) for m in _PLACE.finditer(self.text)]
        self._starts = [mark[0] for mark in self._marks]

    @staticmethod
    def blanked(text: str) -> str:
        """``text`` without strings and directives, every character else at its place."""
        return without_strings(_DIRECTIVE.sub(lambda m: " " * len(m[0]), text))

    def place(self, position: int) -> tuple[str, int]:
        """File and line of a position in the text."""
        number = bisect_right(self._starts, position) - 1
        if number < 0:
            return "", self.text.count("\n", 0, position) + 1
        start, line, file = self._marks[number]
        return file, line + self.text.count("\n", start, position) - 1

    def where(self, position: int) -> str:
        """As compilers write it: ``k.cu(3)``."""
        file, line = self.place(position)
        return f"{file}({line})"


@functools.cache
def _own_text() -> str:
    """What decides beside a source: this file, and the macros of the shim's headers."""
    return "\n".join([Path(__file__).read_text(encoding="utf-8"), *map(str, map(set_by, HEADERS))])


def set_by(name: str) -> list[str]:
    """The macros of the header ``name`` that a program may ask for, each with its text."""
    if name.endswith("math_constants.h") or name in ("cupy/carray.cuh", "cupy/complex.cuh"):
        text = (compiler.SHIM / HEADERS[name]).read_text(encoding="utf-8")
        return re.findall(r"^#define (\w+ .*[^\\\n])$", text, re.MULTILINE)
    limits = [*set_by("cupy/complex.cuh"), *_INTEGERS.splitlines()] if name in _LIMITS else []
    return [*limits, _GUARDS[name]] if name in _GUARDS else limits


@functools.cache
def _answers() -> Path:
    """A folder with a file for each header that the shim answers."""
    names = "\n".join(f"{name} {header}" for name, header in HEADERS.items())
    folder = cache.folder() / f"answers-{compiler._key(names, _own_text())}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="making-") as place:
            made = Path(place, "answers")
            for name, header in HEADERS.items():
                path = made / name
                path.parent.mkdir(parents=True, exist_ok=True)
                text = f"{_MARK}{header}\n" if header else "\n"
                if name.startswith(_MODERN):
                    text = f"#if __cplusplus < 201703L\n#error {DIALECT}\n#endif\n{text}"
                text += "".join(f"#define {line}\n" for line in set_by(name))
                for word in _NO_HALVES if name == "cuda_fp16.h" else ():
                    told = f"the CPU stand-in does not cover {word}"
                    text += f"#ifdef {word}\n#error {told}\n#endif\n"
                for word in _TAKEN_IN.get(name, "").split():
                    text += f"#ifdef {word}\n#error {_BREAKS.format(word, name)}\n#endif\n"
                text = f"#pragma once\n{text}"
                path.write_text(text, encoding="utf-8")
            try:
                os.rename(made, folder)
            except OSError:  # another process was faster
                if not folder.exists():
                    raise
    return folder


def preprocess(source: str, name: str, options: Options) -> Preprocessed:
    """Preprocess CUDA C, which messages call ``name.cu``.

    Raises:
        CompileError: for a directive that is wrong, an include that nobody offers, ``#error``.
        NotImplementedError: for a header of CUDA's that the shim lacks.
    """
    _refuse_taken(options.definitions)
    text = "\n".join([*options.definitions, _NO_ASSERT, f'#line 1 "{name}.cu"', source, ""])
    _refuse_asked(source, name)
    _refuse_letters(source, name)
    if 'R"' not in text:  # NVRTC joins no lines where a blank stands behind the backslash
        text = _BLANK_BEHIND.sub(r"\\\1/**/", text)
    text = _UNROLL.sub(r"standin_unroll \1", text)
    (standard,), folders = options.arguments, options.folders
    if options.older:
        standard = f"-std=c++{options.older:02}"
    if standard < "-std=c++20":
        text = text.replace("__VA_OPT__", "__VA_OPT")  # which only C++20 knows
    # Without folders, nothing but the text decides what comes out of it; a file may change.
    alone = not (folders or "__has_include" in text or _ABSOLUTE.search(text))
    kept = cache.folder() / f"{compiler._key(_own_text(), standard, text, name)}.ii"
    if alone and (result := cache.stored(kept)):
        return Preprocessed(result)
    _refuse_own(folders)
    answers = _answers()
    arguments = ["-E", "-undef", "-nostdinc", "-nostdinc++", "-U_GNU_SOURCE", standard]
    arguments += [f"-I{answers}", *(f"-I{folder}" for folder in folders)]
    arguments += ["-imacros", str(compiler.SHIM / "predefined.h")]
    out, message = compiler.preprocessed(arguments, text)
    if message:
        message = compiler.readable(message, name).replace(f"{answers}/", "")
        raise _missing(message, name) or CompileError(message)
    # Before the first line of the source: what the compiler says of itself, and the lines of -D.
    out = re.split(rf'^# 1 "{re.escape(name)}\.cu".*\n', out, maxsplit=1, flags=re.MULTILINE)[1]
    out = re.sub(rf'^# \d+ "{re.escape(str(answers))}/.*$', "", out, flags=re.MULTILINE)
    out = _PLACE.sub(r'# \1 "\2"', out)  # without marks of nesting, which would no longer match
    out = _UNROLLED.sub(_asserted, out)
    result = f'# 1 "{name}.cu"\n{out}'
    _check_places(result, name)
    if alone and not re.search(r'^# \d+ "/', result, re.MULTILINE):
        cache.store(kept, result)
    return Preprocessed(result)


def _asserted(match: re.Match) -> str:
    before, times = match.groups()
    return "" if before is None else f'{before}static_assert(({times}) || true, "#pragma unroll");'


def _refuse_taken(definitions: Sequence[str]) -> None:
    """Refuse a macro of -D that NVRTC's own header breaks on, unless -U takes it back."""
    words = [line.split(maxsplit=2) for line in definitions]
    last = {re.match(r"\w*", rest[0])[0]: kind for kind, *rest in words if rest}
    for name in sorted(_TAKEN & {name for name, kind in last.items() if kind == "#define"}):
        raise CompileError(
            f"error: the option -D{name} makes a macro of a name that NVRTC's own header, which it "
            f"reads behind the options, uses for itself; NVRTC then stops in "
            f"__nv_nvrtc_builtin_header.h. Choose a longer name, in capitals, or write a line "
            f"`#define {name} ...` in the source\n\n1 error detected.\n"
        )


def _refuse_own(folders: Sequence[str]) -> None:
    """Refuse a reader's header with the name of one that the shim answers."""
    for path in (Path(folder, header) for folder in folders for header in HEADERS):
        if path.is_file() and not re.search("NVIDIA|cupy", path.read_text(errors="replace")):
            raise NotImplementedError(
                f"the CPU stand-in does not cover a header of one's own called {path.name} ({path})"
            )


def _check_places(text: str, name: str) -> None:
    """Refuse a header within braces, and its names above it or, of CuPy's arrays, without it."""
    marks = list(_ANSWER.finditer(text))
    bare = Preprocessed.blanked(text)
    where = Preprocessed(_ANSWER.sub(lambda mark: " " * len(mark[0]), text)).where
    for mark in marks:
        before = bare[: mark.start()]
        constants = mark[1] in ("cupy_constants.h", "math_constants.h")
        if before.count("{") > before.count("}") and not constants:
            after = _PLACE.search(text, mark.end())
            raise CompileError(
                f"{after[2]}({int(after[1]) - 1}): error: this #include stands within braces, "
                f"where NVRTC refuses what is in the header\n\n1 error detected in the "
                f'compilation of "{name}.cu".\n'
            )
    asked = {mark[1] for mark in marks}
    above = bare[: marks[0].start()] if marks else ""
    if asked & {"carray.h", "cupy_atomics.h"} and "complex.h" not in asked:
        above, asked = bare, {"complex.h"}
    for header in asked & _BRINGS.keys():
        found = re.search(_BRINGS[header], above)
        word = re.match(r"\w+", found[0])[0] if found else ""
        if found and not re.search(rf"\b(?:struct|class|namespace|using)\s+{word}\b", bare):
            raise CompileError(
                f'{where(found.start())}: error: identifier "{word}" is undefined: the #include '
                f"that has it stands further down, or nowhere\n\n"
                f'1 error detected in the compilation of "{name}.cu".\n'
            )


def _refuse_asked(source: str, name: str) -> None:
    """Refuse to answer whether there is a header of CUDA's that only the shim lacks."""
    for match in _ASKED.finditer(source):
        if match[1] not in HEADERS and uncovered.is_header(match[1]):
            line = source.count("\n", 0, match.start()) + 1
            what = f"the header <{match[1]}>"
            raise uncovered.refusal(f"{name}.cu({line})", what, "NVRTC finds it")


def _refuse_letters(source: str, name: str) -> None:
    """Refuse a letter beyond ASCII outside comments and strings; compilers of the CPU's take it."""
    if source.isascii():
        return
    for match in _SPOKEN.finditer(source):
        if not match[1]:
            continue
        line = source.count("\n", 0, match.start()) + 1
        raise CompileError(
            f"{name}.cu({line}): error: unrecognized token: {match[1]} (a letter beyond "
            "ASCII, which CUDA C takes in comments and strings alone)\n\n"
            f'1 error detected in the compilation of "{name}.cu".\n'
        )


def _missing(message: str, name: str) -> Exception | None:
    """What to raise if the compiler's ``message`` is of a header that it did not find."""
    match = _MISSING.search(message)
    if not match:
        return None
    header = match["a"] or match["b"]
    if uncovered.is_header(header):
        why = _INSTEAD.get(header, "it needs a GPU")
        return uncovered.refusal(match["where"], f"the header <{header}>", why)
    return CompileError(
        f'{match["where"]}: catastrophic error: could not open source file "{header}"\n\n'
        f'1 catastrophic error detected in the compilation of "{name}.cu".\n'
        "Compilation terminated.\n"
    )
