"""Reading the text of a CUDA C module without parsing it: comments, strings, braces, lists."""

from __future__ import annotations

import re

LEXEME = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
EXTERN_C = re.compile(r'\bextern\s+"C"')


def _blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def without_comments(source: str) -> str:
    return LEXEME.sub(lambda m: _blank(m) if m[0].startswith(("//", "/*")) else m[0], source)


def without_strings(code: str) -> str:
    return LEXEME.sub(lambda m: '"' + _blank(m)[1:-1] + '"', code)


def c_linkage_blocks(code: str, bare: str) -> list[tuple[int, int]]:
    """(start, end) of the braces of each ``extern "C" { ... }``."""
    blocks = []
    for match in EXTERN_C.finditer(code):
        opening = re.compile(r"\s*\{").match(bare, match.end())
        if opening:
            depth, end = 0, len(bare)
            for brace in re.compile(r"[{}]").finditer(bare, opening.end() - 1):
                depth += 1 if brace[0] == "{" else -1
                if depth == 0:
                    end = brace.start()
                    break
            blocks.append((opening.end() - 1, end))
    return blocks


def depth(bare: str, position: int, blocks: list[tuple[int, int]]) -> int:
    """How many braces other than those of ``extern "C"`` are open at ``position``."""
    before = bare[:position]
    return before.count("{") - before.count("}") - sum(a < position <= b for a, b in blocks)


def body(bare: str, position: int) -> tuple[int, int]:
    """(start, end) of the first pair of braces from ``position`` on; an empty one if none."""
    start, depth = bare.find("{", position), 0
    for brace in re.compile(r"[{}]").finditer(bare, start if start >= 0 else len(bare)):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start, brace.end()
    return len(bare), len(bare)


def split(text: str) -> list[str]:
    """The parts of a list: ``text`` cut at the commas outside brackets."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


def parameters(bare: str, position: int) -> list[str]:
    """Names of the parameters of the function whose opening parenthesis is at ``position``."""
    depth, end = 0, position
    for end in range(position, len(bare)):  # noqa: B007
        depth += (bare[end] == "(") - (bare[end] == ")")
        if depth == 0:
            break
    pieces = split(bare[position + 1 : end])
    names = [re.findall(r"\w+", re.sub(r"\[[^]]*\]|=.*", "", piece)) for piece in pieces]
    return [words[-1] if words else "" for words in names]


def closing(bare: str, opening: int) -> int:
    """Where the bracket that opens at ``opening`` closes, or the end."""
    depth = 0
    for i in range(opening, len(bare)):
        depth += (bare[i] in "([{") - (bare[i] in ")]}")
        if depth == 0:
            return i
    return len(bare) - 1
