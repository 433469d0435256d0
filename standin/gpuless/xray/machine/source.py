"""Names for what the compiler calls a line and a column."""

from __future__ import annotations

import re

from gpuless.engine.source import closing

_FITS = re.compile(r"standin_fits<[^<>]*>\(")
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:->\w+)*$")


def access_text(line: str, column: int, array: str) -> str:
    """The access to ``array`` in a ``line`` of CUDA C which the compiler has at ``column``, from 1.

    For a load that is where its subscript closes, for a store the operator; the whole line where
    nothing better is found.
    """
    text = _at(line, column)
    inside = re.compile(rf"\b{re.escape(array)}\s*\[").search(text)
    if inside and (inside.start() or text == _plain(line)):
        return _plain(text[inside.start() : closing(text, inside.end() - 1) + 1])
    return text


def _at(line: str, column: int) -> str:
    at = column - 1
    if not 0 <= at < len(line):
        return _plain(line)
    rest = line[at:]
    if line[at] == "]":
        return _plain(_subscripted(line, at))
    if re.match(r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--", rest):
        before = line[:at].rstrip()
        if before.endswith("]"):
            return _plain(_subscripted(before, len(before) - 1))
        if found := re.search(r"\**\s*[A-Za-z_][\w.]*(?:->\w+)*$", before):
            return _plain(found[0])
    start = at
    while start and re.match(r"\w", line[start - 1]):
        start -= 1
    if found := re.match(r"[A-Za-z_]\w*\s*(?:<[\w\s,]*>)?(?=[(\[])", line[start:]):
        opening = start + found.end()
        end = closing(line, opening) + 1
        while end < len(line) and line[end] == "[":
            end = closing(line, end) + 1
        return _plain(line[start:end])
    if found := re.match(r"\*?\s*[A-Za-z_][\w.]*(?:->\w+)*", line[start:]):
        return _plain(found[0])
    return _plain(line)


def _subscripted(line: str, at: int) -> str:
    """``name[...]`` or ``name[...][...]`` whose last bracket closes at ``at``."""
    start = at
    while start >= 0 and line[start] == "]":
        depth = 0
        while start >= 0:
            depth += (line[start] == "]") - (line[start] == "[")
            if depth == 0:
                break
            start -= 1
        before = line[: max(start, 0)].rstrip()
        if not before.endswith("]"):
            found = _NAME.search(before)
            return line[found.start() if found else max(start, 0) : at + 1]
        start = len(before) - 1
    return line


def _plain(text: str) -> str:
    """Without what was put in for the stand-in."""
    while found := _FITS.search(text):
        end = closing(text, found.end() - 1)
        text = text[: found.start()] + text[found.end() : end] + text[end + 1 :]
    return text.strip()


def as_written(text: str, line: str, original: str, array: str) -> str:
    """``text``, an access in a ``line`` whose macros are expanded, as it stands in the reader's
    ``original``: the same subscript of ``array`` by its number; or ``text`` where that fails."""
    if text in original:
        return text
    if "standin_" in text:  # what asm has become
        return original.strip()
    subscript = re.compile(rf"\b{re.escape(array)}\s*\[")
    expanded, written = (
        [_whole(t, match) for match in subscript.finditer(t)] for t in (_plain(line), original)
    )
    if len(expanded) == len(written) and text in expanded:
        return written[expanded.index(text)]
    return text


def _whole(text: str, match: re.Match) -> str:
    """``name[...]`` or ``name[...][...]`` where a match has found its beginning."""
    end = closing(text, match.end() - 1) + 1
    while text[end : end + 1] == "[":
        end = closing(text, end) + 1
    return text[match.start() : end]


def array_shape(text: str, name: str) -> tuple[int, ...]:
    """The lengths in ``typedef float name[16][16 + 1];`` in ``text``; () where they are no numbers.

    Names in them are looked up among macros and constants that are plain numbers.
    """
    found = re.search(rf"\b{name}\s*((?:\[[^\[\]]*\])+)\s*;", text)
    if not found:
        return ()
    numbers = dict(re.findall(r"^\s*#\s*define\s+(\w+)\s+\(?(\d+)\)?\s*$", text, re.MULTILINE))
    numbers |= dict(re.findall(r"\bconst(?:expr)?\s+int\s+(\w+)\s*=\s*(\d+)\s*;", text))
    lengths = []
    for length in re.findall(r"\[([^\[\]]*)\]", found[1]):
        plain = re.sub(r"[A-Za-z_]\w*", lambda m: numbers.get(m[0], m[0]), length)
        if not re.fullmatch(r"[\d\s+*()/-]+", plain):
            return ()
        try:
            lengths.append(int(eval(plain.replace("/", "//"), {"__builtins__": {}})))
        except (SyntaxError, ZeroDivisionError):
            return ()
    return tuple(lengths)
