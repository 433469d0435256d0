"""``__shared__`` variables: each becomes a reference to its slot in the block's frame."""

from __future__ import annotations

import re
from dataclasses import dataclass

from helpers.standin.engine.source import depth, split


@dataclass(frozen=True)
class SharedVariable:
    """A variable of fixed size: its ``name``, and the ``kernel`` in whose body it stands."""

    name: str
    kernel: str | None


_DECLARATOR = re.compile(r"(?P<before>.*?)(?P<name>\w+)\s*(?P<sizes>(?:\[[^;]*\])?)\s*$", re.DOTALL)


def shared_variables(
    code: str,
    bare: str,
    blocks: list[tuple[int, int]],
    bodies: dict[str, tuple[int, int]],
    name: str,
) -> tuple[str, list[SharedVariable]]:
    """``code`` with references in place of the variables of fixed size, and what these are.

    Args:
        code, bare: the source without comments, and without strings too.
        blocks: where ``extern "C" { ... }`` begin and end.
        bodies: where the kernels' bodies begin and end, by name.
        name: what messages call the source, without ``.cu``.

    Raises:
        NotImplementedError: a macro makes the variable, or it is a scalar outside a function.
    """
    found: list[SharedVariable] = []
    pieces, done = [], 0
    for match in re.finditer(r"\b__shared__\b", bare):
        start, end = _statement(bare, match.start(), match.end())
        statement = code[start:end]
        if start < done or re.search(r"\bextern\b", statement):
            continue  # dynamic shared memory
        where = f"{name}.cu({bare.count(chr(10), 0, match.start()) + 1})"
        if _in_directive(bare, match.start()):
            raise NotImplementedError(
                f"{where}: the CPU stand-in does not cover a __shared__ variable made by a "
                "macro; write the declaration out"
            )
        inside = depth(bare, match.start(), blocks) > 0
        kernel = next((k for k, (a, b) in bodies.items() if a < match.start() < b), None)
        lines = []
        base = None
        for declarator in split(re.sub(r"\b(?:__shared__|static)\b", " ", statement)):
            parts = _DECLARATOR.match(declarator)
            if not parts:
                return code, []  # not a declaration: the compiler will say so
            before = " ".join(parts["before"].split())
            if base is None:  # the type ends where the first declarator's stars begin
                base = before.rstrip("*& ")
                before = before[len(base) :]
            number = len(found)
            found.append(SharedVariable(parts["name"], kernel))
            one = (number, base, before, parts["name"], parts["sizes"])
            lines.append(_reference(*one, inside, where))
        replaced = " ".join(" ".join(lines).split()).removesuffix(";")
        pieces += [code[done:start], replaced, "\n" * statement.count("\n")]
        done = end
    return "".join([*pieces, code[done:]]), found


def _statement(bare: str, start: int, end: int) -> tuple[int, int]:
    """Where the statement around ``start:end`` begins, and where its semicolon is."""
    first = max(bare.rfind(c, 0, start) for c in ";{})") + 1
    for directive in re.finditer(r"^[ \t]*#.*\n", bare[:start], re.MULTILINE):
        first = max(first, directive.end())
    first += len(bare[first:]) - len(bare[first:].lstrip())
    braces = 0
    while end < len(bare) and (bare[end] != ";" or braces):
        braces += (bare[end] == "{") - (bare[end] == "}")
        end += 1
    return first, end


def _in_directive(bare: str, position: int) -> bool:
    lines = bare[:position].replace("\\\n", "  ")
    return lines[lines.rfind("\n") + 1 :].lstrip().startswith("#")


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
