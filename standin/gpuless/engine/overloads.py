"""Functions of the reader's that have the name of one of CUDA's, such as ``max`` of two float3.

They overload it, and where they take the same arguments they stand in its place. In the namespace
that the reader's code gets they would hide it, and ``max(i, j)`` of two integers would call a
``max(float, float)``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from gpuless.engine import compiler
from gpuless.engine.declarations import Declaration, declarations
from gpuless.engine.foreign import ARGUMENTS
from gpuless.engine.preprocess import Preprocessed
from gpuless.engine.source import closing, split

# How the names begin that the shim's macros put together.
_MADE = re.compile(r"__|make_|atomic")
_INTEGER = frozenset("unsigned char short int long".split())
_NAMELESS = _INTEGER | frozenset("const volatile signed float double bool size_t".split())
# The types of a function's parameters; None for a template.
_Types = tuple[str, ...] | None


def of_cuda(found: Sequence[Declaration], source: Preprocessed) -> str:
    """C++ for the namespace of the reader's code, before it; one line, empty as a rule.

    Args:
        found: what the code declares.
        source: the code.
    """
    ours: dict[str, list[Declaration]] = {}
    for one in found:
        if one.kind == "function" and not (one.scope or one.in_class):
            ours.setdefault(one.name, []).append(one)
    lines = []
    for name, those in ours.items():
        if _may_be_cudas(name) and not any(one.has("__global__") for one in those):
            lines += _beside(name, {_types(one, source.bare) for one in those}, source.headers)
    return " ".join(lines)


def _beside(name: str, taken: set[_Types], headers: Sequence[str]) -> list[str]:
    """What brings CUDA's functions of that name, less those whose arguments are ``taken``."""
    cudas = _functions(tuple(headers)).get(name, ())
    # The line that these take besides is that of their call; and a template is no better a match.
    if name in ARGUMENTS or None in cudas or not taken.intersection(cudas):
        return [f"using ::{name};"] * bool(cudas)
    lines = []
    for types in cudas:
        if types not in taken:
            given = ", ".join(f"a{i}" for i in range(len(types)))
            declared = ", ".join(f"{kind} a{i}" for i, kind in enumerate(types))
            lines.append(f"inline auto {name}({declared}) {{ return ::{name}({given}); }}")
    return lines


def _may_be_cudas(name: str) -> bool:
    return bool(_MADE.match(name)) or not _words().isdisjoint((name, name.removesuffix("f")))


@functools.cache
def _words() -> frozenset[str]:
    """All words of the shim."""
    texts = (path.read_text(encoding="utf-8") for path in compiler.SHIM.glob("*.h"))
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z]\w+", text))


@functools.cache
def _functions(headers: tuple[str, ...]) -> dict[str, list[_Types]]:
    """The functions outside of classes and namespaces that the shim has."""
    text = "".join(f'#include "{header}"\n' for header in ("cuda.h", *headers))
    arguments = ["-E", "-P", "-std=c++17", f"-I{compiler.SHIM}"]
    out, message = compiler.preprocessed(arguments, text)
    if message:
        raise RuntimeError(f"the stand-in's headers do not go together:\n{message}")
    bare = Preprocessed.blanked(out)
    functions: dict[str, list[_Types]] = {}
    for one in declarations(out, bare):
        if one.kind == "function" and not (one.scope or one.in_class):
            functions.setdefault(one.name, []).append(_types(one, bare))
    return functions


def _types(function: Declaration, bare: str) -> _Types:
    """Of its parameters, each in one way of writing it."""
    if function.template:
        return None
    opening = function.arguments[0]
    pieces = split(bare[opening + 1 : closing(bare, opening)])
    return tuple(_type(piece) for piece in pieces if piece.split() not in ([], ["void"]))


def _type(parameter: str) -> str:
    words = re.findall(r"[\w:<>,]+|[*&\[\]]|\.\.\.", parameter.partition("=")[0])
    if len(words) > 1 and re.match(r"\w", words[-1]) and words[-1] not in _NAMELESS:
        words.pop()  # the name
    words = [word for word in words if not word.startswith("__restrict")]
    if "*" not in words and "&" not in words:
        words = [word for word in words if word not in ("const", "volatile")]
    integer = [word for word in words if word in _INTEGER]
    if len(integer) > 1:  # `unsigned long int` is `unsigned long`
        words = [word for word in words if word != "int"]
    return " ".join(words)
