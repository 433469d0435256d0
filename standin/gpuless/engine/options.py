"""NVRTC's options: which there are, and what of them a C++ compiler can use.

The list is that of NVRTC's guide, "Supported Compile Options"; what it leaves open (which take a
value behind a blank, how values are checked) was tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuless.engine.errors import CompileError

# Names that stand alone.
_FLAGS = frozenset(
    "--device-c -dc --device-w -dw --extensible-whole-program -ewp --device-debug -G "
    "--generate-line-info -lineinfo --use_fast_math -use_fast_math --extra-device-vectorization "
    "-extra-device-vectorization --gen-opt-lto -gen-opt-lto --no-cache -no-cache "
    "--no-source-include -no-source-include --pch -pch "
    "--disable-warnings -w --Wreorder -Wreorder --restrict -restrict -default-device "
    "--device-as-default-execution-space --device-int128 -device-int128 --display-error-number "
    "-err-no --no-display-error-number -no-err-no --fdevice-syntax-only -fdevice-syntax-only "
    "--minimal -minimal --uumn -uumn".split()
)
_BOOLEAN = r"true|false", "{} expects true or false"
_INTEGER = r"-?\d*", "{} expects an integer value"
_INVALID = "invalid value for {}"
_NUMBERS = r"[1-9]\d*(?:,[1-9]\d*)*", "{} expects a non-zero positive integer value"
_ARCHITECTURE = (
    r"(?:sm|compute)_(?:75|8[06789]|90a?|1(?:0[03]|10|2[01])[af]?)",
    "invalid value for --gpu-architecture (-arch)",
)
_KINDS = "all-warnings|reorder|deprecated-declarations"
_ANY = r".+", _INVALID
# Names that are followed by a value, behind "=" or as the next option: what it looks like, and what
# is said of another.
_VALUES = {
    "--gpu-architecture -arch": _ARCHITECTURE,
    "--relocatable-device-code -rdc --ftz -ftz --prec-sqrt -prec-sqrt --prec-div -prec-div --fmad "
    "-fmad --modify-stack-limit -modify-stack-limit --device-stack-protector "
    "-device-stack-protector --builtin-move-forward -builtin-move-forward "
    "--builtin-initializer-list -builtin-initializer-list --brief-diagnostics -brief-diag "
    "--pch-verbose -pch-verbose --pch-messages -pch-messages --instantiate-templates-in-pch "
    "-instantiate-templates-in-pch": _BOOLEAN,
    "--maxrregcount -maxrregcount": _INTEGER,
    "--split-compile -split-compile": (r"\d+", "{} expects an integer value"),
    "--jump-table-density -jtd": (r"\d\d?|10[01]", "Argument for {} must be between [0-101]"),
    "--dopt -dopt": (r"on", "invalid argument for option {}"),
    "--Ofast-compile -Ofc": (r"0|min|mid|max", "invalid argument for option {}"),
    "--diag-error -diag-error --diag-suppress -diag-suppress --diag-warn -diag-warn": _NUMBERS,
    "--warning-as-error -Werror": (rf"(?:{_KINDS})(?:,(?:{_KINDS}))*", "undefined for {}"),
    "--ptxas-options -Xptxas --pre-include -include": _ANY,
}
# And those whose value stands behind "=" alone.
_EQUATED = {
    "--optimization-info -opt-info": (r"inline", "invalid optimization tag for option {}"),
    "--std -std": (r"c\+\+(?:03|11|14|17|20|23)", "invalid value for --std(-std)"),
    "--frandom-seed -frandom-seed --create-pch -create-pch --use-pch -use-pch --pch-dir -pch-dir "
    "--time -time --fdevice-time-trace -fdevice-time-trace": _ANY,
}
_SEPARATE = {name: rule for names, rule in _VALUES.items() for name in names.split()}
_KNOWN = _SEPARATE | {name: rule for names, rule in _EQUATED.items() for name in names.split()}
_MACRO = re.compile(r"[A-Za-z_]\w*(?:\([\w\s,.]*\))?(?:=.*)?", re.DOTALL)
_TEXT = re.compile(r"-([DUI])|--(define-macro|undefine-macro|include-path)(?==|$)")


@dataclass(frozen=True)
class Options:
    """What a C++ compiler can use of NVRTC's options.

    ``arguments``: the standard; ``folders``: those of -I; ``definitions``: a ``#define``,
    ``#undef`` or ``#include`` for each -D, -U and -include; ``host_allowed``: functions and
    variables need no ``__device__``; ``older``: the standard that was asked for, where that is
    less than 17, and else 0; ``wide_integers``: integers of 128 bits.
    """

    arguments: tuple[str, ...]
    folders: tuple[str, ...]
    definitions: tuple[str, ...]
    host_allowed: bool = False
    older: int = 0
    wide_integers: bool = False


def parse(options: tuple[str, ...]) -> Options:
    """Sort NVRTC options; those without a meaning here (architecture, fast maths) are dropped.

    Raises:
        CompileError: there is no such option, or its value is none.
    """
    standard, folders, definitions, includes = 17, [], [], []
    flags = set()
    words = iter([word.strip() for word in options])
    for word in words:
        name, equals, value = word.partition("=")
        if match := _TEXT.match(word):
            kind = match[1] or {"d": "D", "u": "U", "i": "I"}[match[2][0]]
            text = word[match.end() :].strip().removeprefix("=").strip() or next(words, "")
            if kind == "I":
                folders.append(text)
            elif kind == "U":
                _refuse_unless(re.fullmatch(r"[A-Za-z_]\w*", text), "macro undefinition", text)
                definitions.append(f"#undef {text}")
            else:
                _refuse_unless(_MACRO.fullmatch(text), "macro definition", text)
                macro, given, body = text.partition("=")
                definitions.append(f"#define {macro} {body if given else 1}")
        elif name in ("--dlink-time-opt", "-dlto", "--optix-ir", "-optix-ir"):
            raise _refusal(f"{word} makes no cubin, which CuPy asks for")
        elif name in _FLAGS:
            if equals:
                raise _refusal(f"{name} does not accept any argument")
            flags.add(name)
        elif name in _KNOWN and (equals or name in _SEPARATE):
            value = value if equals else next(words, "")
            pattern, wrong = _KNOWN[name]
            if not re.fullmatch(pattern, value):
                raise _refusal(wrong.format(name))
            if name in ("-std", "--std"):
                standard = int(value[-2:])
            elif name in ("-include", "--pre-include"):
                includes.append(f'#include "{value}"')
        else:
            raise _refusal(f"unrecognized option {word} found")
    return Options(
        arguments=(f"-std=c++{max(17, standard)}",),  # the shim needs 17
        folders=tuple(folders),
        definitions=(*definitions, *includes),
        host_allowed=bool(flags & {"-default-device", "--device-as-default-execution-space"}),
        older=standard if standard < 17 else 0,
        wide_integers=bool(flags & {"-device-int128", "--device-int128"}),
    )


NONE = parse(())


def _refusal(text: str) -> CompileError:
    return CompileError(f"nvrtc: error: {text}\n")


def _refuse_unless(right, what: str, text: str) -> None:
    if not right:
        raise CompileError(
            f"Command-line error: invalid {what}: {text}\n\n1 catastrophic error detected in the "
            "compilation.\nCompilation terminated.\n"
        )
