"""What a preprocessed module declares, scope by scope: functions, variables, and where they stand.

This is no parser of C++. It cuts the text at braces and semicolons, as far as namespaces and
classes go, and looks at what stands before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpuless.engine.source import closing, split

# Words with a list in parentheses that belong to no function.
_ATTRIBUTE = re.compile(
    r"\b(?:__launch_bounds__|__maxnreg__|__cluster_dims__|__block_size__|__align__|alignas|decltype"
    r"|__attribute__|__declspec|noexcept|explicit(?=\s*\())\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"|\[\[.*?\]\]",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"\s*template\b\s*")
_SCOPE = re.compile(r"\s*(?:inline\s+)?namespace\b\s*([\w:\s]*)$|\s*extern\s*\"\s*\"\s*$")
_CLASS = re.compile(r"\b(struct|class|union)\b[^();=]*$")
_ENUM = re.compile(r"\benum\b[^();=]*$")
_SKIPPED = re.compile(
    r"\s*(?:using|typedef|static_assert|_Static_assert|asm|__asm__|friend\s+(?:struct|class)|enum"
    r"|concept|namespace)\b"
)
_FORWARD = re.compile(r"\s*(?:struct|class|union)\s+\w+\s*$")
_ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")
_LOCAL_CLASS = re.compile(r"(?<!enum )\b(?:struct|class|union)\s+\w+[^;(){}=]*\{")
_NAME = re.compile(
    r"(operator\s*(?:\(\s*\)|[^\w\s(]+|[\w\s*&:<>,]+)|~?\s*\w+)\s*(?:<[^;{}]*>)?\s*$"
)
_EXPRESSION = re.compile(r"\s*(?:[-\d.\"'{!&~]|\w+\s*(?:,|$|\())")
_BUILT_IN = re.compile(r"\s*(?:void|bool|char|short|int|long|float|double|u?int\d*(?:_t)?)\b")
_CONSTANT = re.compile(r"\b(?:const|constexpr|constinit)\b")


@dataclass(frozen=True)
class Declaration:
    """A function or a variable.

    ``start`` is where it begins; ``head`` is its text up to the body or the initialiser, without
    strings; ``body`` is where the braces of a definition begin and end; ``arguments`` is where the
    parentheses of a function's parameters begin and end. ``scope`` is "" or ends in ``::``.
    """

    kind: str  # function, variable, member (static)
    name: str
    start: int
    head: str
    end: int
    scope: str = ""
    in_class: bool = False
    c_linkage: bool = False
    template: bool = False
    names: tuple[str, ...] = ()  # of all the variables that one statement declares
    body: tuple[int, int] | None = None
    arguments: tuple[int, int] | None = None

    def has(self, *words: str) -> bool:
        """Whether one of the words stands in the head."""
        return bool(re.search(rf"\b(?:{'|'.join(words)})\b", self.head))


def declarations(code: str, bare: str) -> list[Declaration]:
    """All functions and variables outside of functions, and the functions of local classes.

    Args:
        code: preprocessed CUDA C.
        bare: the same with strings and directives blanked.
    """
    return list(_scope(code, bare, 0, len(bare), "", False, False))


def _scope(
    code: str, bare: str, at: int, end: int, scope: str, in_class: bool, c_linkage: bool
) -> Iterator[Declaration]:
    while True:
        at = re.compile(r"[\s;}]*").match(bare, at, end).end()
        if match := _ACCESS.match(bare, at, end):
            at = match.end()
            continue
        if at >= end:
            return
        start, stop, opening = at, *_stop(bare, at, end)
        head = bare[start:stop]
        if opening and (match := _SCOPE.match(head)):
            inner = scope
            if match[1] is not None and match[1].strip():
                inner += f"{match[1].strip()}::"
            linked = c_linkage or '"C"' in code[start:stop]
            close = closing(bare, stop)
            yield from _scope(code, bare, stop + 1, close, inner, False, linked)
            at = close + 1
            continue
        at, found = _declaration(code, bare, start, end, scope, in_class, c_linkage)
        yield from found


def _stop(bare: str, at: int, end: int) -> tuple[int, bool]:
    """The first ``;`` or ``{`` outside parentheses, and whether it is the latter."""
    while match := re.compile(r"[;{(\[]").search(bare, at, end):
        if match[0] in ";{":
            return match.start(), match[0] == "{"
        at = closing(bare, match.start()) + 1
    return end, False


def _declaration(code, bare, start, end, scope, in_class, c_linkage):
    """Where the declaration at ``start`` ends, and what it declares."""
    found: list[Declaration] = []
    first = start
    template = False
    while match := _TEMPLATE.match(bare, first, end):
        template, first = True, match.end()
        if bare[first : first + 1] == "<":
            first = _angle(bare, first, end)
    common = {"start": start, "scope": scope, "in_class": in_class, "template": template}
    common["c_linkage"] = c_linkage or bool(re.match(r'\s*extern\s*"C"', code[first:end]))
    stop, opening = _stop(bare, first, end)
    head = _plain(bare[first:stop])
    if _SKIPPED.match(head) or (not opening and _FORWARD.match(head)):
        while opening:
            stop, opening = _stop(bare, closing(bare, stop) + 1, end)
        return stop + 1, found
    if opening and _CLASS.search(head) and not _ENUM.search(head):
        close = closing(bare, stop)
        name = re.match(r"\s*(\w*)", re.split(r"\b(?:struct|class|union)\b", head)[-1])[1]
        found += _scope(code, bare, stop + 1, close, f"{scope}{name}::", True, False)
        after, opening = _stop(bare, close + 1, end)
        rest = bare[close + 1 : after]
        if rest.strip() and not in_class:
            whole = head + "{}" + rest
            if name := _variable_name(rest):
                found.append(
                    Declaration("variable", name, head=whole, end=after, names=(name,), **common)
                )
        while opening:  # an initialiser
            after, opening = _stop(bare, closing(bare, after) + 1, end)
        return after + 1, found
    assigned = re.search(r"(?<![=!<>+\-*/%&|^])=(?!=)", _masked(head))
    parenthesis = _parameters(bare, first, stop)
    if parenthesis is not None and (assigned is None or "operator" in head):
        return _function(code, bare, first, end, parenthesis, stop, opening, common, found)
    if opening and assigned is None and in_class and "(" in head:
        return closing(bare, stop) + 1, found
    while opening:  # an initialiser
        stop, opening = _stop(bare, closing(bare, stop) + 1, end)
    text = _masked(_plain(bare[first:stop]))
    names = [_variable_name(piece.partition("=")[0]) for piece in split(text)]
    if names[0] and (not in_class or re.search(r"\bstatic\b", text)):
        kind = "member" if in_class else "variable"
        known = tuple(filter(None, names))
        found.append(Declaration(kind, names[0], head=text, end=stop, names=known, **common))
    return stop + 1, found


def _function(code, bare, first, end, parenthesis, stop, opening, common, found):
    opened, closed = parenthesis
    before = _plain(bare[first:opened])
    match = _NAME.search(before)
    if not match:
        return (closing(bare, stop) if opening else stop) + 1, found
    tail = bare[closed + 1 : stop]
    if opening and re.match(r"\s*(?:noexcept\s*)?:(?!:)", tail):  # a constructor's initialisers
        while opening and re.search(r"[\w>]\s*$", bare[:stop][-80:]):
            stop, opening = _stop(bare, closing(bare, stop) + 1, end)
    body = (stop, closing(bare, stop) + 1) if opening else None
    inside = bare[opened + 1 : closed]
    if not body and _EXPRESSION.match(inside) and not _BUILT_IN.match(inside):
        return stop + 1, found  # a variable and its initialiser, or such a thing
    typed = before[: match.start()].strip() or common["in_class"] or "operator" in before
    if not typed:
        return (body[1] if body else stop + 1), found
    name = re.sub(r"\s+", " ", match[1]).strip()
    head = before + "()" + tail
    ends = body[1] if body else stop
    common |= {"head": head, "end": ends, "body": body, "arguments": parenthesis}
    found.append(Declaration("function", name, **common))
    if body:
        for local in _LOCAL_CLASS.finditer(bare, *body):
            opens = local.end() - 1
            inner = _scope(code, bare, opens + 1, closing(bare, opens), name + "::", True, False)
            found += [one for one in inner if one.kind == "function"]
    return (body[1] if body else stop + 1), found


def _plain(head: str) -> str:
    """Without attributes, every character that stays at its place."""
    return _ATTRIBUTE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), head)


def _masked(head: str) -> str:
    """With what brackets hold blanked."""
    pieces, depth = [], 0
    for character in head:
        depth -= character in ")]}"
        pieces.append(" " if depth else character)
        depth += character in "([{"
    return "".join(pieces)


def _parameters(bare: str, first: int, stop: int) -> tuple[int, int] | None:
    """The parentheses of a function's parameters: the first that are of no attribute."""
    head = _plain(bare[first:stop])
    at = head.find("(")
    if (match := re.search(r"\boperator\s*\(\s*\)\s*\(", head)) and match.start() < at:
        at = match.end() - 1
    if at < 0 or re.match(r"\(\s*[*&]", head[at:]):
        return None
    return first + at, closing(bare, first + at)


def _angle(bare: str, at: int, end: int) -> int:
    """Behind the angle brackets that open at ``at``."""
    depth = 0
    while at < end:
        if bare[at] in "([{":
            at = closing(bare, at)
        depth += (bare[at] == "<") - (bare[at] == ">" and bare[at - 1] != "-")
        at += 1
        if depth == 0:
            break
    return at


def _variable_name(text: str) -> str:
    """Of ``__device__ float *a[3]``, a."""
    text = re.sub(r"\[[^\]]*\]", " ", text)
    if match := re.search(r"\(\s*[*&]\s*(?:const\s+)?(\w+)", text):
        return match[1]
    plain = re.split(r"\{|(?<!:):(?!:)", text)[0]  # without its initialiser, or its bits
    words = re.findall(r"\w+", plain)
    return words[-1] if words else ""


def is_constant(declared: Declaration) -> bool:
    """Whether the first variable of a declaration is const itself, not what it points to."""
    text = split(declared.head)[0].partition("=")[0]
    if "constexpr" in text:
        return True
    return bool(_CONSTANT.search(text.rpartition("*")[2] if "*" in text else text))
