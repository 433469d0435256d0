"""Casts from a number with a fraction to an integer, which saturate on a GPU and not in C++; and
casts to a pointer, whose alignment g++ does not always test.

``(int)x``, ``int(x)`` and ``static_cast<int>(x)`` get a call of the shim's ``standin_fits<int>``
round their operand. Conversions that are not written as casts stay C++'s: outside the integer's
range these end the kernel with an error (shim/float_cast.h). In ``(float *)(bytes + 2)`` and
``reinterpret_cast<float *>(bytes + 2)`` the operand gets one of ``standin_address``.
"""

from __future__ import annotations

import re

from gpuless.engine.source import closing

_INTEGER = (
    r"(?:(?:un)?signed\s+)?(?:char|short(?:\s+int)?|int|long(?:\s+long)?(?:\s+int)?)"
    r"|unsigned|signed|size_t|ptrdiff_t"
)
_NAME = r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*\w+)*"
_CAST = re.compile(rf"\(\s*({_INTEGER})\s*\)")
_STATIC_CAST = re.compile(rf"\bstatic_cast\s*<\s*({_INTEGER})\s*>\s*(?=\()")
# (T *) as what cannot be an expression; of its operands, those that the compiler may take apart.
_POINTER = r"[A-Za-z_][\w\s:<>,]*\*(?:\s|\*|\bconst\b|\bvolatile\b|\b__restrict(?:__)?\b)*"
_POINTER_CAST = re.compile(rf"\(\s*{_POINTER}\)")
_NAMED_POINTER_CAST = re.compile(rf"\b(?:reinterpret|static)_cast\s*<\s*{_POINTER}>\s*(?=\()")
_SIMPLE = re.compile(r"[\w\s:()]*")
_CALL = re.compile(r"\b(char|short|int|long|unsigned|signed|size_t)\s*(?=\()")
_ANY_CAST = re.compile(rf"\(\s*(?:{_INTEGER}|bool|float|double|[\w\s:]+\*+\s*)\s*\)")
_CAST_BEFORE = re.compile(_ANY_CAST.pattern + "$")
_NAME_CAST = re.compile(rf"\(\s*{_NAME}\s*\)(?=\s*(?:[\w\"]|{_ANY_CAST.pattern}))")
_NAME_CASTS_BEFORE = re.compile(rf"(?:\breturn|[-=(,+*/%<&|^!~?:;{{}}])(?:\s*\(\s*{_NAME}\s*\))+$")
_PRIMARY = re.compile(rf'"[^"\n]*"|\.?\d(?:[eEpP][+-]|[\w.])*|{_NAME}(?:\s*<[\w\s,:*]*>(?=\s*\())?')
_MEMBER = re.compile(r"\s*(?:\.|->)\s*\w+|\s*\+\+|\s*--")
_TYPE = re.compile(rf"\s*(?:{_INTEGER}|bool|float|double|void)[\s*]*")
_SPACE = re.compile(r"\s*")


def _operand_end(bare: str, start: int) -> int | None:
    """Where the operand of a cast ends that begins at ``start``; None if there is none."""
    i = _SPACE.match(bare, start).end()
    while i < len(bare) and bare[i] in "-+~!*&":
        i = _SPACE.match(bare, i + 1).end()
    if other := _ANY_CAST.match(bare, i) or _NAME_CAST.match(bare, i):
        if end := _operand_end(bare, other.end()):
            return end
    if i < len(bare) and bare[i] == "(":
        i = closing(bare, i) + 1
    elif match := _PRIMARY.match(bare, i):
        i = match.end()
        if match[0] in ("sizeof", "alignof", "new", "delete") and bare[i : i + 1] != "(":
            return None
    else:
        return None
    while True:
        if match := _MEMBER.match(bare, i):
            i = match.end()
            continue
        following = _SPACE.match(bare, i).end()
        if following < len(bare) and bare[following] in "([":
            i = closing(bare, following) + 1
        else:
            return i


def _may_be_cast(bare: str, start: int) -> bool:
    """Whether what begins at ``start`` is an operand and not, say, a list of parameters."""
    before = bare[max(0, start - 200) : start].rstrip()
    if word := re.search(r"\w+$", before):
        return word[0] in ("return", "case", "else", "do")
    if before.endswith(")"):
        return bool(_CAST_BEFORE.search(before) or _NAME_CASTS_BEFORE.search(before))
    return not before.endswith(("]", ">"))


def translate(code: str, bare: str) -> str:
    """``code`` with a call of ``standin_fits`` in each cast to an integer, and of
    ``standin_address`` in those to a pointer that need it, on the same lines.

    Args:
        code: preprocessed CUDA C.
        bare: the same with strings and directives blanked.
    """
    inserts = []

    def insert(kind: str, start: int, end: int) -> None:
        inserts.append((start, f"standin_fits<{' '.join(kind.split())}>("))
        inserts.append((end, ")"))

    def insert_address(start: int, end: int | None) -> None:
        # What a variable outside of all functions begins with must stay an address to the compiler.
        within = bare.count("{", 0, start) > bare.count("}", 0, start)
        if end and within and not _SIMPLE.fullmatch(bare, start, end):
            inserts.append((start, "standin_address("))
            inserts.append((end, ")"))

    for match in _CAST.finditer(bare):
        if _may_be_cast(bare, match.start()):
            end = _operand_end(bare, match.end())
            if end:
                insert(match[1], match.end(), end)
    for match in _STATIC_CAST.finditer(bare):
        insert(match[1], match.end() + 1, closing(bare, match.end()))
    for match in _CALL.finditer(bare):
        before = bare[max(0, match.start() - 200) : match.start()].rstrip()
        if before.endswith(tuple("=(,+-*/%<>&|^!~?:[")) or re.search(r"\breturn$", before):
            end = closing(bare, match.end())
            inside = bare[match.end() + 1 : end]
            # No cast: a pointer to functions, int(*f)(int), a reference to an array, int(&a)[4],
            # and the type of a function, int(float).
            if inside.lstrip()[:1] in ("*", "&") and bare[end + 1 :].lstrip()[:1] in ("(", "["):
                continue
            if inside.strip() and not _TYPE.fullmatch(inside):
                insert(match[1], match.end() + 1, end)
    for match in _POINTER_CAST.finditer(bare):
        if _may_be_cast(bare, match.start()):
            insert_address(match.end(), _operand_end(bare, match.end()))
    for match in _NAMED_POINTER_CAST.finditer(bare):
        insert_address(match.end() + 1, closing(bare, match.end()))
    pieces, last = [], 0
    for position, text in sorted(inserts, key=lambda item: item[0]):
        pieces += [code[last:position], text]
        last = position
    return "".join([*pieces, code[last:]])
