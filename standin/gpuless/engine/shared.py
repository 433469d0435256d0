"""``__shared__`` variables: each becomes a reference to its slot in the block's frame."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuless.engine.declarations import Declaration
from gpuless.engine.errors import CompileError
from gpuless.engine.preprocess import Preprocessed
from gpuless.engine.source import split


@dataclass(frozen=True)
class SharedVariable:
    """A variable of fixed size: its ``name``, and the ``kernel`` in whose body it stands."""

    name: str
    kernel: str | None


_DECLARATOR = re.compile(r"(?P<before>.*?)(?P<name>\w+)\s*(?P<sizes>(?:\[[^;]*\])?)\s*$", re.DOTALL)
_INITIALISED = re.compile(r"(?<![=!<>])=(?!=)|[\w\]]\s*\{[^;]*\}\s*$")


def shared_variables(
    source: Preprocessed, found: list[Declaration], name: str
) -> tuple[str, list[SharedVariable]]:
    """The text with references in place of the variables of fixed size, and what these are.

    Args:
        source: the module.
        found: its declarations.
        name: what messages call it, without ``.cu``.

    Raises:
        CompileError: a variable is given a value.
        NotImplementedError: it is a scalar outside a function.
    """
    code, bare = source.text, source.bare
    functions = [(one.body, one) for one in found if one.body]
    variables: list[SharedVariable] = []
    pieces, done = [], 0
    for match in re.finditer(r"\b__shared__\b", bare):
        start, end = _statement(bare, match.start(), match.end())
        statement = bare[start:end]
        if start < done or re.search(r"\bextern\b.*\[\s*\]", statement, re.DOTALL):
            continue  # dynamic shared memory; with a size it is as good as static, as NVRTC says
        where = source.where(match.start())
        around = [one for (a, b), one in functions if a < match.start() < b]
        kernel = next((one.name for one in around if one.has("__global__")), None)
        lines = []
        base = None
        plain = re.sub(r"\b(?:__shared__|static|extern)\b", " ", statement)
        # In a typedef an alignment must be an attribute.
        for declarator in split(re.sub(r"\balignas\b", "__align__", plain)):
            if _INITIALISED.search(declarator):
                raise CompileError(
                    f"{where}: error: initializer not allowed for __shared__ variable (each block "
                    "has its own, and no one fills it: let its threads do so, then __syncthreads())"
                    f'\n\n1 error detected in the compilation of "{name}.cu".\n'
                )
            parts = _DECLARATOR.match(declarator)
            if not parts:
                return code, []  # not a declaration: the compiler will say so
            before = " ".join(parts["before"].split())
            if base is None:  # the type ends where the first declarator's stars begin
                base = before.rstrip("*& ")
                before = before[len(base) :]
            number = len(variables)
            variables.append(SharedVariable(parts["name"], kernel))
            one = (number, base, before, parts["name"], parts["sizes"])
            lines.append(_reference(*one, bool(around), where))
        replaced = " ".join(" ".join(lines).split()).removesuffix(";")
        pieces += [code[done:start], replaced, "\n" * statement.count("\n")]
        done = end
    return "".join([*pieces, code[done:]]), variables


def _statement(bare: str, start: int, end: int) -> tuple[int, int]:
    """Where the statement around ``start:end`` begins, and where its semicolon is."""
    first = max(bare.rfind(c, 0, start) for c in ";{})") + 1
    first += len(bare[first:]) - len(bare[first:].lstrip())
    braces = 0
    while end < len(bare) and (bare[end] != ";" or braces):
        braces += (bare[end] == "{") - (bare[end] == "}")
        end += 1
    return first, end


def _reference(
    number: int, base: str, stars: str, variable: str, sizes: str, inside: bool, where: str
) -> str:
    """C++ that declares one variable as a reference to its slot."""
    kind, tag = f"standin_type_{number}", f"standin_tag_{number}"
    slot = f"StandinShared<{tag}, {kind}, {number}>::slot.here"
    types = f"struct {tag}; typedef {base} {stars}{kind}{sizes};"
    if inside:
        return f"{types} {kind} &{variable} = *({kind} *){slot};"
    if not sizes:
        raise NotImplementedError(
            f"{where}: the CPU stand-in does not cover a __shared__ scalar outside a function; "
            "declare it inside the kernel"
        )
    pointer = f"decltype(&(*({kind} *)nullptr)[0]) const &"
    return f"{types} {pointer}{variable} = reinterpret_cast<{pointer}>({slot});"
