"""Compile C++ text into a shared library with the compiler at hand, once: libraries are cached.

Every source is compiled behind ``shim/cuda.h``, which makes CUDA C valid C++ (precompiled where
the compiler can do that). The libraries call ``shim/runtime.cpp``, which runs the threads.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuless.engine import cache, lines, uncovered
from gpuless.engine.errors import CompileError

SHIM = Path(__file__).with_name("shim")
NO_COMPILER = (
    "The CPU stand-in compiles kernels and found no C++ compiler. Install one: g++ or clang++ from "
    "your system, or `pip install ziglang`. ($CXX names a compiler that is not on the PATH.)"
)
# -ffp-contract=off and no -march: the same bits on every machine. -fwrapv: integers overflow as on
# a GPU. A loop without an end stays one. _FORTIFY_SOURCE would forbid longjmp from one stack to
# another, and -fcf-protection, which Ubuntu's g++ has of itself, would keep that jump's return
# addresses in a second stack (fiber_state.h knows of none).
FLAGS = (
    "-O2 -fPIC -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-math-errno -fno-exceptions "
    "-fno-rtti -fno-threadsafe-statics -fno-delete-null-pointer-checks -fno-finite-loops "
    "-U_FORTIFY_SOURCE -fcf-protection=none"
).split()
if sys.platform != "darwin":
    FLAGS.append("-fstack-clash-protection")  # a large local array meets the fence below it
# What a variable holds before it is given a value: the same useless number each time. Else Clang
# takes it that only lanes which have set theirs come to a shuffle, and drops the test before it.
UNINITIALISED = "-ftrivial-auto-var-init=pattern"
# g++ says where the address of a variable is used whose scope has ended. (The shadow could tell it
# with -fsanitize-address-use-after-scope; but that keeps every small struct out of registers.)
ENDED = "-Wdangling-pointer=1"
# NVRTC only warns of `int i{3.7}`, and does not count in bytes from a void pointer.
LIKE_NVRTC = ["-Wno-narrowing", "-Werror=pointer-arith"]
# Or g++ makes one call of `long long n = floor(x)`, which does not notice what is too large.
NOT_MERGED = [
    f"-fno-builtin-{name}{f}" for name in ("ceil", "floor", "rint", "round") for f in ("", "f")
]
# By family: messages without pictures, and of all warnings only that of what CUDA does not have;
# zig need not build its C++ library, which nothing uses.
FAMILY_FLAGS = {
    # -fno-lifetime-dse: or the useless number below is dropped where there is a constructor.
    "gcc": [
        "-fno-diagnostics-show-caret",
        "-Werror=vla",
        "-Wformat",
        "-fno-lifetime-dse",
        *NOT_MERGED,
        *LIKE_NVRTC,
    ],
    "clang": [
        "-fno-caret-diagnostics",
        "-Wno-everything",
        "-Wformat",
        "-Wliteral-range",
        "-Wpacked-non-pod",
        "-Werror=vla",
        *LIKE_NVRTC,
    ],
}
FAMILY_FLAGS["zig"] = [*FAMILY_FLAGS["clang"], "-nostdlib++", "-fno-sanitize=all"]
# What stops a kernel (shim/sanitizer.h): an index outside an array of fixed size; a shift by the
# width or more; a bool that is neither 0 nor 1; a function that ends without its return; an access
# that is misaligned and, where there is a shadow, one outside every array. -g1: the lines of
# instructions.
CHECKS = (
    "-g1 -fsanitize=bounds,bool,float-cast-overflow,shift-exponent,return "
    "-fno-sanitize-recover=bounds,bool,alignment,float-cast-overflow,shift-exponent"
).split()
# Where it begins (shim/memory.h): above what programs have where the stack is unlimited, and below
# their code elsewhere.
SHADOW = 0x300000000000
SHADOW_CHECKS = {
    "gcc": [
        "-fsanitize=kernel-address",
        f"-fasan-shadow-offset={SHADOW:#x}",
        *(f"--param=asan-{what}" for what in ("stack=1", "instrument-allocas=0", "globals=1")),
        "-fsanitize-sections=standin_constant",
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
# And what remembers whether a variable of the reader's functions has been given its first value.
GUARDS = re.compile(rb"\0_ZGVZN12standin_user\w*E(\d+)(\w+)\0")
LINK = ["-shared"] if sys.platform != "darwin" else ["-dynamiclib", "-undefined", "dynamic_lookup"]
# What g++ takes with a warning and CUDA does not: `pow(x, 2.0)` of a float x.
_AMBIGUOUS = re.compile(r"\bwarning: ISO C\+\+ says that these are ambiguous\b.*")
_OUT_OF_RANGE = re.compile(
    r"\bwarning: (?:floating constant (?:exceeds range|truncated to zero)"
    r"|magnitude of floating-point constant too).*"
)
# What `printf` would misread, on a GPU too; and a type in that.
_FORMAT = re.compile(r"\bwarning: format (?:'[^']*' expects|specifies) |more '%' conversions than")
_ENDED = re.compile(r"\bwarning: (?:using (?:a )?dangling pointer|storing the address of local) .*")
# A `__half` or a `dim3` in a packed struct, which CUDA packs.
_UNPACKED = re.compile(
    r"\bwarning: (?:ignoring packed attribute because of unpacked non-POD|not packing) field "
)
_TYPE = re.compile(r"type '([^']*)'(?: [{(]aka '([^']*)')?")
# Behind the text of a kernel: the number that language.h promises.
TAIL = "\nconst int warpSize = 32;\n"
# After the text of a kernel, which calls nothing else of the system: with all that g++ would look
# through, linking takes twice as long.
LIBRARIES = {"gcc": ["-nodefaultlibs", "-lm", "-lgcc"] if sys.platform == "linux" else []}
# zig would compile its library of what no processor does by itself (a division of 128 bits), for
# four seconds. It does so where something turns out to be missing: `_load`.
LIBRARIES["zig"] = ["-rtlib=none"] if sys.platform == "linux" else []
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
    """The folder of compiled libraries; made if need be. RuntimeError, saying what to do, where
    that cannot be done or others could write there."""
    return cache.folder()


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


def _run(
    folder: str, arguments: list[str], source: str | None, libraries: Sequence[str] = ()
) -> subprocess.CompletedProcess:
    """Run the compiler on a text, which lies in the folder meanwhile."""
    if source is not None:
        text = Path(folder, "source.cpp")
        text.write_text(source, encoding="utf-8")
        arguments = [*arguments, str(text), *libraries]
    return subprocess.run(
        [*find_compiler().command, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},  # plain ASCII messages
        check=False,
    )


def preprocessed(arguments: list[str], source: str) -> tuple[str, str]:
    """What the compiler makes of a text with ``-E`` among the arguments, or else what it says."""
    quiet = FAMILY_FLAGS[find_compiler().family][:1]
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="making-") as folder:
        done = _run(folder, [*arguments, *quiet, "-x", "c++"], source)
    if done.returncode == 0:
        return done.stdout, ""
    return "", done.stderr or f"the compiler ended with status {done.returncode}"


def _errors(messages: str) -> Iterator[str]:
    """Those of the compiler's warnings that are errors here."""
    for line in messages.splitlines():
        if _AMBIGUOUS.search(line):
            what = "error: more than one overloaded function matches the arguments of this call"
            yield _AMBIGUOUS.sub(what, line)
        elif _OUT_OF_RANGE.search(line):
            yield _OUT_OF_RANGE.sub("error: floating constant is out of range", line)
        elif _ENDED.search(line):
            yield line.replace("warning: ", "error: its scope has ended: ", 1)
        elif _UNPACKED.search(line):
            what = "error: CUDA packs this struct, and the CPU stand-in cannot, because of "
            yield _UNPACKED.sub(what, line)
        elif _FORMAT.search(line):
            kinds = [_kind(aka or name) for name, aka in _TYPE.findall(line)]
            if len(kinds) != 2 or kinds[0] != kinds[1]:
                yield line.replace("warning: ", "error: printf: ", 1)


def _kind(of: str) -> str:
    """What ``printf`` must know of an argument's type: how large it is, and whether a fraction."""
    if "*" in of:
        return "pointer"
    if "double" in of or "float" in of:  # Clang says what it was before it became a double
        return "fraction"
    return "8 bytes" if re.search("long|(?:intmax|size|ptrdiff)_t", of) else "4 bytes"


def _make(
    target: Path, arguments: list[str], source: str | None = None, libraries: Sequence[str] = ()
) -> str | None:
    """Run the compiler for ``target``, which appears complete or not at all; None or what it said.

    Several processes may do so at once: each writes a file of its own and moves it into place.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as folder:
        made = Path(folder, target.name)
        done = _run(folder, [*arguments, "-o", str(made)], source, libraries)
        if done.returncode != 0:
            return done.stderr or f"the compiler ended with status {done.returncode}"
        if wrong := "\n".join(_errors(done.stderr)):
            return wrong
        os.replace(made, target)
    return None


@functools.cache
def runtime() -> ctypes.CDLL:
    """The library that runs kernels (shim/runtime.cpp), built on first use."""
    with _lock:
        flags = [*_flags(), *LINK, "-std=c++17", f"-DSTANDIN_SHADOW={SHADOW:#x}", "-D_GNU_SOURCE"]
        path = cache_folder() / f"runtime-{_key(*flags)}.so"
        name = "-install_name" if sys.platform == "darwin" else "-soname"
        arguments = [*flags, f"-Wl,{name},{path.name}", str(SHIM / "runtime.cpp")]
        if not cache.is_whole(path):
            lean = LIBRARIES["zig"] if find_compiler().family == "zig" else []
            if message := _make(path, [*arguments, *lean]):
                raise RuntimeError(f"the stand-in's runtime does not compile:\n{message}")
        # Global, so that the kernels' libraries find it by its name.
        return _load(path, lambda: _make(path, arguments), ctypes.RTLD_GLOBAL)


def _load(path: Path, make: Callable[[], object], mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL:
    """Load a library; ``make`` it with all of zig's own where it lacks something of that."""
    try:
        return ctypes.CDLL(str(path), mode)
    except OSError as error:
        missing = str(error).rpartition(": ")[2]
        if find_compiler().family != "zig" or not missing.startswith("__"):
            raise
    make()
    return ctypes.CDLL(str(path), mode)


@functools.cache
def has_shadow() -> bool:
    """Whether fences are exact to the byte (shim/memory.h); if not, up to 15 bytes past the end of
    an array are not seen. So it is where the system is not Linux, and with STANDIN_FENCES=pages.

    RuntimeError where there is no room for device memory at all.
    """
    with _lock:  # another thread must not go on with half of it
        found = runtime().standin_reserve(int(os.environ.get("STANDIN_FENCES") != "pages"))
    if not found:
        raise RuntimeError(
            "the system has no addresses to reserve for device memory. Where a limit is set to "
            "them (`ulimit -v`, as on login nodes and in batch jobs), raise it or ask for more"
        )
    return found == 2


def _flags() -> list[str]:
    return [*FLAGS, *FAMILY_FLAGS[find_compiler().family]]


def _kernel_flags(pointers: bool) -> list[str]:
    flags = [*_flags(), *CHECKS]
    compiler = find_compiler()
    if compiler.family != "gcc" or compiler.major >= 12:
        flags.append(UNINITIALISED)
    if compiler.family == "gcc" and compiler.major >= 12:
        flags.append(ENDED)
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


def _make_kernel(
    path: Path,
    flags: list[str],
    standard: str,
    pch: bool,
    pointers: bool,
    text: str,
    libraries: Sequence[str],
) -> str | None:
    """``_make`` for text that needs the shim; a precompiled shim that is cut off is made anew."""
    for _ in range(2):
        arguments = [*flags, *_include_shim(standard, pch, pointers), "-x", "c++"]
        message = _make(path, arguments, text, libraries)
        if not (message and re.search(r"precompiled header:|cannot read PCH", message)):
            break
        _include_shim.cache_clear()
        for folder in cache_folder().glob("headers-*"):
            shutil.rmtree(folder, ignore_errors=True)
    return message


def build(
    source: str,
    *,
    options: tuple[str, ...] = ("-std=c++17",),
    name: str = "kernel",
    pch: bool = True,
    pointers: bool = True,
) -> ctypes.CDLL:
    """Compile C++ ``source``, which needs no include for the shim, and load it.

    Args:
        source: the text; ``#line N "NAME.cu"`` in it decides which lines messages speak of.
        options: the standard; see ``options.Options.arguments``.
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
        text = f'#line 1 "{name}.cu"\n{source}{TAIL}'
        flags = [*_kernel_flags(pointers), *LINK, *options]
        path = cache_folder() / f"{_key(*flags, text)}.so"
        made_of = path, flags, options[0], pch, pointers, text
        if not cache.is_whole(path):
            lean = LIBRARIES.get(find_compiler().family, [])
            if message := _make_kernel(*made_of, lean):
                message = readable(message, name)
                raise uncovered.in_message(message) or CompileError(message)
            made = path.read_bytes()
            guard = GUARDS.search(made)
            if INITIALISES in made or guard:
                file, what = f"{name}.cu", "__device__ variable"
                line = 0 if guard else lines.initialised(str(path), file)
                if guard:
                    variable = guard[2][: int(guard[1])].decode()
                    line = lines.declared(text, variable, file)
                    what = (
                        "function-scope static __device__ variable within a __device__/__global__ "
                        "function"
                    )
                path.unlink()
                raise CompileError(
                    f"{file}({line}): error: dynamic initialization is not supported for a {what}"
                    f'\n\n1 error detected in the compilation of "{file}".\n'
                )
        try:
            return _load(path, lambda: _make_kernel(*made_of, []))
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
    asked = None  # by whom, where the error is in a template of the shim
    for line in message.splitlines():
        if match := re.match(r"(?P<file>[^\s:][^:]*):(?P<line>\d+):[\d:]* +required from", line):
            asked = f"{match['file']}({match['line']})"
        match = pattern.match(line)
        if not match:
            continue
        place = f"{match['file']}({match['line']})"
        if match["kind"] == "error":
            what = re.sub(r"\bstandin_(?:dynamic_|user::(?:\{anonymous\}::)?)", "", match["what"])
            in_shim = Path(match["file"]).parent == SHIM
            found.append((asked if asked and in_shim else place, what.partition(" [-W")[0]))
            of_error, asked = True, None
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
