"""Compile a kernel so that it tells of every access to memory, and load what listens."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import json
import os
import platform
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gpuless.engine import cache, compiler, lines
from gpuless.engine.errors import CompileError
from gpuless.engine.options import parse
from gpuless.xray.machine import assembly, graph

HERE = Path(__file__).parent
NO_COMPILER = (
    "The x-ray needs g++ (GCC 10 or newer) on a 64-bit Intel or AMD processor and found {found}. "
    "On Debian, Ubuntu or Colab: `apt-get install g++`; $CXX names one that is not on the PATH."
)
# -fsanitize=thread calls us before each access, and -fsanitize-coverage where code branches; the
# library that usually answers is not linked. -fno-tree-sra: the copy of a float4 stays one access.
# -fno-ipa-sra: or what every thread reads, such as b[0], is read by who calls it, and goes unseen.
# -fno-ipa-icf: or of two kernels with one text the lines of the first are told for both.
# The rest keeps branches where the source has them.
FLAGS = (
    "-g1 -fsanitize=thread -fsanitize-coverage=trace-pc --param=tsan-distinguish-volatile=1 "
    "-fno-tree-sra -fno-ipa-sra -fno-ipa-icf -fno-reorder-blocks -finline-small-functions "
    "-finline-functions -fno-optimize-sibling-calls -fno-jump-tables -fno-tree-switch-conversion "
    "-fno-thread-jumps -fno-crossjumping -fno-tree-tail-merge -fno-code-hoisting -DSTANDIN_XRAY"
).split()


@dataclass
class Library:
    """A kernel's library (``loaded``) with the places and loops of its code."""

    loaded: ctypes.CDLL
    places: list[assembly.Place]
    loops: list[tuple[int, int]]


def check_compiler() -> None:
    """RuntimeError, saying what to install, where the x-ray cannot compile."""
    try:
        found = compiler.find_compiler()
    except RuntimeError:
        raise RuntimeError(NO_COMPILER.format(found="no C++ compiler")) from None
    if found.family != "gcc" or platform.machine() not in ("x86_64", "AMD64"):
        what = f"{found.family} ({found.command[0]}) on {platform.machine()}"
        raise RuntimeError(NO_COMPILER.format(found=what))


def can_compile() -> bool:
    """Whether the x-ray works here: whether there is a compiler that it can use."""
    try:
        check_compiler()
    except RuntimeError:
        return False
    return True


@functools.cache
def _text() -> str:
    """All that the libraries are made from besides the engine."""
    files = [
        *sorted((HERE / "cpp").iterdir()),
        *(Path(m.__file__) for m in (assembly, graph, lines)),
    ]
    parts = b"\0".join(path.read_bytes() for path in [*files, Path(__file__)])
    return hashlib.sha256(parts).hexdigest()


@functools.cache
def listener() -> ctypes.CDLL:
    """The library that kernels call (cpp/xray.cpp), built on first use."""
    compiler.runtime()
    flags = [*compiler._flags(), *compiler.LINK, "-std=c++17", f"-I{compiler.SHIM}"]
    path = compiler.cache_folder() / f"xray-{compiler._key(*flags, _text())}.so"
    if not cache.is_whole(path):
        if message := compiler._make(path, [*flags, str(HERE / "cpp" / "xray.cpp")]):
            raise RuntimeError(f"the x-ray does not compile:\n{message}")
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def build(source: str, *, options: tuple[str, ...] = (), name: str = "kernel") -> Library:
    """Compile and load what ``compiler.build`` would, to be x-rayed.

    Raises:
        CompileError: the source is rejected.
        RuntimeError: there is no compiler that can do it.
    """
    check_compiler()
    with compiler._lock:
        listener()  # first: the library needs it
        parsed = parse(tuple(options))
        text = "\n".join([*parsed.definitions, f'#line 1 "{name}.cu"', source, compiler.TAIL])
        flags = [*compiler._flags(), compiler.UNINITIALISED, *FLAGS, *parsed.arguments]
        if compiler.find_compiler().major < 12:
            flags.remove(compiler.UNINITIALISED)
        path = compiler.cache_folder() / f"xray-{compiler._key(*flags, text, _text())}.so"
        known = path.with_suffix(".places")
        found = cache.stored(known)
        if not cache.is_whole(path) or not found:
            _compile(path, known, flags, text, name)
            found = cache.stored(known)
        known_places, loops = json.loads(found)
        places = [assembly.Place(*fields) for fields in known_places]
        return Library(ctypes.CDLL(str(path)), places, [tuple(loop) for loop in loops])


def _compile(path: Path, known: Path, flags: list[str], text: str, name: str) -> None:
    """Make the library and the list of its places; each appears complete or not at all."""
    shim = [f"-I{compiler.SHIM}", "-include", str(compiler.SHIM / "cuda.h"), "-S", "-x", "c++"]
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="making-") as folder:
        raw, annotated, made = (Path(folder, name) for name in ("raw.s", "annotated.s", path.name))
        if message := compiler._make(raw, [*flags, *shim], text):
            raise CompileError(compiler.readable(message, name))
        files = (f"{name}.cu", "generated code")
        code = assembly.annotate(raw.read_text(), files)
        annotated.write_text(code.text)
        # Without -fsanitize=thread, or its own library would come along.
        if message := compiler._make(made, [*compiler.LINK, str(annotated)]):
            raise RuntimeError(f"the x-ray's code does not assemble:\n{message}")
        places = [dataclasses.astuple(place) for place in _outside(made, code.places, files)]
        cache.store(known, json.dumps([places, code.loops]))
        os.replace(made, path)


def _outside(path: Path, places: list[assembly.Place], files) -> list[assembly.Place]:
    """The places with those in functions of the shim at the reader's calls of these."""
    if not any(place.inlined for place in places):
        return places
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
        at = {
            int(s.name.removeprefix(assembly.LABEL)): s["st_value"]
            for s in symbols
            if s.name.startswith(assembly.LABEL)
        }
    found = list(places)
    for number, place in enumerate(places):
        if place.inlined and (call := lines.call(str(path), at[number], files)):
            branch = place.branch if call[0] == place.file else 0
            found[number] = dataclasses.replace(
                place, file=call[0], line=call[1], column=call[2], branch=branch, inlined=False
            )
    return found


def lines_of(source: str) -> dict[tuple[str, int], str]:
    """The text of every line by (file, line), as the ``#line`` directives of ``source`` count."""
    known: dict[tuple[str, int], str] = {}
    file, number = "", 0
    for text in source.split("\n"):
        number += 1
        if found := re.match(r'\s*#\s*(?:line\s+)?(\d+)\s+"([^"]*)"', text):
            file, number = found[2], int(found[1]) - 1
        elif text.strip():
            known.setdefault((file, number), text)
    return known
