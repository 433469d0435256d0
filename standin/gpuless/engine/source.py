"""Reading preprocessed CUDA C without parsing it: strings, brackets, lists."""

from __future__ import annotations

import re

LEXEME = re.compile(
    r'(?:u8|[uUL])?R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
EXTERN_C = re.compile(r'\bextern\s+"C"')
_BRACKET = re.compile(r"[()\[\]{}]")


def _blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def without_strings(code: str) -> str:
    return LEXEME.sub(lambda m: '"' + _blank(m)[1:-1] + '"', code)


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


def parameters(bare: str, opening: int) -> list[str]:
    """Names of the parameters of the function whose parenthesis opens at ``opening``."""
    pieces = split(bare[opening + 1 : closing(bare, opening)])
    names = [re.findall(r"\w+", re.sub(r"\[[^]]*\]|=.*", "", piece)) for piece in pieces]
    return [words[-1] if words else "" for words in names]


def closing(bare: str, opening: int) -> int:
    """Where the bracket that opens at ``opening`` closes, or the end."""
    depth = 0
    for match in _BRACKET.finditer(bare, opening):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return len(bare) - 1


def opening(bare: str, closed: int) -> int:
    """Where the bracket that closes at ``closed`` opens, or the start."""
    depth = 0
    for at in range(closed, -1, -1):
        depth += (bare[at] in ")]}") - (bare[at] in "([{")
        if depth == 0:
            return at
    return 0
