"""Compile C++ text into a shared library with the compiler at hand, once: libraries are cached.

Every source is compiled behind ``shim/cuda.h``, which makes CUDA C valid C++ (precompiled where
the compiler can do that). The libraries call ``shim/runtime.cpp``, which runs the threads.

The cache is ``$HELPERS_CACHE`` or ``~/.cache/from-kernel-to-network``. A file's name is a hash of
all it was made from, so nothing in it is ever stale and the folder may be deleted at any time.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from helpers.standin.engine import lines, uncovered
from helpers.standin.engine.errors import CompileError

SHIM = Path(__file__).with_name("shim")
NO_COMPILER = (
    "The CPU stand-in compiles kernels and found no C++ compiler. Install one: g++ or clang++ from "
    "your system, or `pip install ziglang`. ($CXX names a compiler that is not on the PATH.)"
)
# -ffp-contract=off and no -march: the same bits on every machine. -fwrapv: integers overflow as on
# a GPU. A loop without an end stays one. _FORTIFY_SOURCE would forbid longjmp from one stack to
# another.
FLAGS = (
    "-O2 -fPIC -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-math-errno -fno-exceptions "
    "-fno-rtti -fno-threadsafe-statics -fno-delete-null-pointer-checks -fno-finite-loops "
    "-U_FORTIFY_SOURCE"
).split()
if sys.platform != "darwin":
    FLAGS.append("-fstack-clash-protection")  # a large local array meets the fence below it
# What a variable holds before it is given a value: the same useless number each time. Else Clang
# takes it that only lanes which have set theirs come to a shuffle, and drops the test before it.
UNINITIALISED = "-ftrivial-auto-var-init=pattern"
# By family: messages without pictures, and of all warnings only that of what CUDA does not have;
# zig need not build its C++ library, which nothing uses.
FAMILY_FLAGS = {
    "gcc": ["-fno-diagnostics-show-caret", "-Werror=vla"],
    "clang": ["-fno-caret-diagnostics", "-Wno-everything", "-Werror=vla"],
}
FAMILY_FLAGS["zig"] = [*FAMILY_FLAGS["clang"], "-nostdlib++", "-fno-sanitize=all"]
# What stops a kernel (shim/sanitizer.h): an index outside an array of fixed size; a misaligned
# access; and, where there is a shadow, one outside every array. -g1: the lines of instructions.
CHECKS = (
    "-g1 -fsanitize=bounds,float-cast-overflow "
    "-fno-sanitize-recover=bounds,alignment,float-cast-overflow"
).split()
# Where it begins (shim/memory.h): above what programs have where the stack is unlimited, and below
# their code elsewhere.
SHADOW = 0x300000000000
SHADOW_CHECKS = {
    "gcc": [
        "-fsanitize=kernel-address",
        f"-fasan-shadow-offset={SHADOW:#x}",
        *(f"--param=asan-{what}" for what in ("stack=1", "instrument-allocas=0", "globals=1")),
        "--param=asan-instrumentation-with-call-threshold=1000000",
    ],
    "clang": [
        "-fsanitize=kernel-address",
        "-fno-sanitize-address-use-after-scope",
        *(
            word
            for option in (
                f"mapping-offset={SHADOW:#x}",
                "stack=1",
                "instrument-dynamic-allocas=0",
                "globals=1",
                "kernel-mem-intrinsic-prefix=1",
                "instrumentation-with-call-threshold=1000000",
            )
            for word in ("-mllvm", f"-asan-{option}")
        ),
    ],
}
SHADOW_CHECKS["zig"] = SHADOW_CHECKS["clang"]
# The name of a function that computes what variables of a module begin with. A GPU has none, and it
# would run while the library is loaded, outside of every launch.
INITIALISES = b"_GLOBAL__sub_I_"
LINK = ["-shared"] if sys.platform != "darwin" else ["-dynamiclib", "-undefined", "dynamic_lookup"]
_lock = threading.RLock()


@dataclass(frozen=True)
class Compiler:
    """``command`` to run, its ``family`` (gcc, clang or zig) and all that its version says."""

    command: tuple[str, ...]
    family: str
    version: str

    @property
    def major(self) -> int:
        """The first number of the version; 0 if there is none to be seen."""
        found = re.search(r"(?:\)|version) (\d+)\.", self.version)
        return int(found[1]) if found else 0


def cache_folder() -> Path:
    """The folder of compiled libraries; made if need be."""
    folder = os.environ.get("HELPERS_CACHE") or "~/.cache/from-kernel-to-network"
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


def find_compiler() -> Compiler:
    """The C++ compiler: ``$CXX``, g++, clang++, ``python -m ziglang c++``; RuntimeError if none."""
    return _find_compiler(os.environ.get("CXX"), os.environ.get("PATH"))


@functools.cache
def _find_compiler(cxx: str | None, path: str | None) -> Compiler:
    candidates = [tuple(shlex.split(cxx))] if cxx else []
    candidates += [("g++",), ("clang++",)]
    for command in candidates:
        if command and shutil.which(command[0], path=path) and (version := _version(command)):
            family = "zig" if "ziglang" in command or "zig" in Path(command[0]).name else None
            return Compiler(command, family or ("clang" if "clang" in version else "gcc"), version)
    if importlib.util.find_spec("ziglang") is not None:
        command = (sys.executable, "-m", "ziglang", "c++")
        if version := _version(command):
            return Compiler(command, "zig", version)
    raise RuntimeError(NO_COMPILER)


def _version(command: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


@functools.cache
def _shim_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(SHIM.iterdir()):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _key(*parts: str) -> str:
    text = "\0".join([_shim_hash(), find_compiler().version, *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Options:
    """What a C++ compiler can use of NVRTC's options.

    ``arguments``: the standard and -I; ``folders``: those of -I; ``definitions``: a ``#define`` or
    ``#undef`` for each -D and -U, which stand after the shim so that they cannot break it.
    """

    arguments: tuple[str, ...]
    folders: tuple[str, ...]
    definitions: tuple[str, ...]


def parse_options(options: tuple[str, ...]) -> Options:
    """Sort NVRTC options; those without a meaning here (architecture, fast maths) are dropped."""
    standard, folders, definitions = 17, [], []
    words = iter(options)
    for word in words:
        if match := re.fullmatch(r"--?std=c\+\+(\d\d)", word):
            standard = max(17, int(match[1]))  # the shim itself needs 17
        elif match := re.match(r"-([DUI])|--(define-macro|undefine-macro|include-path)=", word):
            kind = match[1] or {"d": "D", "u": "U", "i": "I"}[match[2][0]]
            value = word[match.end() :].strip() or next(words, "")
            if kind == "I":
                folders.append(value)
            elif kind == "U":
                definitions.append(f"#undef {value}")
            else:
                name, equals, text = value.partition("=")
                definitions.append(f"#define {name} {text if equals else 1}")
    arguments = (f"-std=c++{standard}", *(f"-I{folder}" for folder in folders))
    return Options(arguments, tuple(folders), tuple(definitions))


def _make(target: Path, arguments: list[str], source: str | None = None) -> str | None:
    """Run the compiler for ``target``, which appears complete or not at all; None or what it said.

    Several processes may do so at once: each writes a file of its own and moves it into place.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as folder:
        made = Path(folder, target.name)
        if source is not None:
            text = Path(folder, "source.cpp")
            text.write_text(source, encoding="utf-8")
            arguments = [*arguments, str(text)]
        done = subprocess.run(
            [*find_compiler().command, *arguments, "-o", str(made)],
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},  # plain ASCII messages
            check=False,
        )
        if done.returncode != 0:
            return done.stderr or f"the compiler ended with status {done.returncode}"
        os.replace(made, target)
    return None


@functools.cache
def runtime() -> ctypes.CDLL:
    """The library that runs kernels (shim/runtime.cpp), built on first use."""
    with _lock:
        flags = [*_flags(), *LINK, "-std=c++17", f"-DSTANDIN_SHADOW={SHADOW:#x}", "-D_GNU_SOURCE"]
        path = cache_folder() / f"runtime-{_key(*flags)}.so"
        if not path.exists():
            name = "-install_name" if sys.platform == "darwin" else "-soname"
            arguments = [*flags, f"-Wl,{name},{path.name}", str(SHIM / "runtime.cpp")]
            if message := _make(path, arguments):
                raise RuntimeError(f"the stand-in's runtime does not compile:\n{message}")
        # Global, so that the kernels' libraries find it by its name.
        return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


@functools.cache
def has_shadow() -> bool:
    """Whether fences are exact to the byte (shim/memory.h); if not, up to 15 bytes past the end of
    an array are not seen. So it is where the system is not Linux, and with STANDIN_FENCES=pages.

    RuntimeError where there is no room for device memory at all.
    """
    found = runtime().standin_reserve(int(os.environ.get("STANDIN_FENCES") != "pages"))
    if not found:
        raise RuntimeError("the system has no addresses to reserve for device memory")
    return found == 2


def _flags() -> list[str]:
    return [*FLAGS, *FAMILY_FLAGS[find_compiler().family]]


def _kernel_flags(pointers: bool) -> list[str]:
    flags = [*_flags(), *CHECKS]
    compiler = find_compiler()
    if compiler.family != "gcc" or compiler.major >= 12:
        flags.append(UNINITIALISED)
    if pointers:
        flags += ["-fsanitize=alignment", *(SHADOW_CHECKS[compiler.family] * has_shadow())]
    return flags


@functools.cache
def _include_shim(standard: str, pch: bool, pointers: bool) -> list[str]:
    """Arguments that include the shim, precompiled where the compiler is g++."""
    plain = [f"-I{SHIM}", "-include", str(SHIM / "cuda.h")]
    if not pch or find_compiler().family != "gcc":
        return plain
    flags = _kernel_flags(pointers)
    folder = cache_folder() / f"headers-{_key(*flags, standard)}"
    folder.mkdir(exist_ok=True)
    target = folder / "cuda.h.gch"
    if not target.exists():
        arguments = [*flags, standard, "-x", "c++-header", str(SHIM / "cuda.h")]
        if _make(target, arguments):
            return plain
    return [f"-I{folder}", f"-I{SHIM}", "-include", "cuda.h"]


def build(
    source: str,
    *,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    pch: bool = True,
    pointers: bool = True,
) -> ctypes.CDLL:
    """Compile C++ ``source``, which needs no include for the shim, and load it.

    Args:
        source: the text; ``#line N "NAME.cu"`` in it decides which lines messages speak of.
        options: NVRTC options; see ``parse_options``.
        name: what the source is called in messages, without ``.cu``.
        pch: whether to use the precompiled header.
        pointers: False if the reader's code cannot follow a pointer, so that no access need be
            checked and loops may be vectorised.

    Raises:
        CompileError: the source is rejected; ``str()`` has the messages.
        NotImplementedError: it names something of CUDA's that the shim lacks.
        RuntimeError: there is no compiler.
    """
    with _lock:
        runtime()  # first: the library needs it
        parsed = parse_options(tuple(options))
        text = "\n".join([*parsed.definitions, f'#line 1 "{name}.cu"', source])
        flags = [*_kernel_flags(pointers), *LINK, *parsed.arguments]
        path = cache_folder() / f"{_key(*flags, text)}.so"
        if not path.exists():
            arguments = [*flags, *_include_shim(parsed.arguments[0], pch, pointers), "-x", "c++"]
            if message := _make(path, arguments, text):
                message = readable(message, name)
                raise uncovered.in_message(message) or CompileError(message)
            if INITIALISES in path.read_bytes():
                where = f"{name}.cu({lines.initialised(str(path), f'{name}.cu')})"
                path.unlink()
                raise CompileError(
                    f"{where}: error: dynamic initialization is not supported for a __device__ "
                    f'variable\n\n1 error detected in the compilation of "{name}.cu".\n'
                )
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:  # a function that is declared and nowhere defined
            missing = str(error).rpartition(": ")[2]
            raise CompileError(f"ptxas fatal   : Unresolved extern function '{missing}'") from None


def readable(message: str, name: str) -> str:
    """The compiler's errors in NVRTC's form: ``name.cu(3): error: 'b' was not declared``."""
    pattern = re.compile(
        r"(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?(?P<kind>error|note): "
        r"(?P<what>.*)"
    )
    found: list[tuple[str, str]] = []  # place, what
    of_error = False
    for line in message.splitlines():
        match = pattern.match(line)
        if not match:
            continue
        place = f"{match['file']}({match['line']})"
        if match["kind"] == "error":
            found.append((place, match["what"].partition(" [-W")[0]))
            of_error = True
        elif "expanded from macro" not in match["what"]:
            of_error = False  # what follows is of this note
        elif of_error and match["file"] != "generated code":
            found[-1] = (place, found[-1][1])  # Clang names the macro's use first
    errors = list(dict.fromkeys(f"{place}: error: {what}" for place, what in found))
    if not errors:
        return message
    plural = "error" if len(errors) == 1 else "errors"
    errors.append(f'{len(errors)} {plural} detected in the compilation of "{name}.cu".')
    return "\n\n".join(errors) + "\n"
