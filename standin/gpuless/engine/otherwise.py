"""What NVRTC and a C++ compiler both take, and understand differently. It is refused, with what to
write instead. Found in preprocessed text, before it is translated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuless.engine.errors import CompileError
from gpuless.engine.options import Options
from gpuless.engine.preprocess import Preprocessed
from gpuless.engine.source import LEXEME, closing, opening

_BEHIND = re.compile(r"\}\s*(?:__attribute__|__align__)\s*\(")
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\b[^()=]*$")
_ATTRIBUTE = re.compile(r"\b(?:__attribute__|__align__|alignas)\s*(?=\()")
BEHIND = (
    "attribute does not apply here: NVRTC passes over one behind the braces of a type, a C++ "
    "compiler does not. Write it before the name: struct __attribute__((packed)) S { ... }"
)
UNKNOWN = 'unknown attribute "{}": NVRTC passes over it, and the type is laid out without it'
_UNKNOWN = re.compile(
    r"\[\[[^][]*\b(gnu\s*::\s*(?:packed|aligned|vector_size|mode)|gnu\s*::\s*__\w+__)"
    r"|\b__attribute__\s*\(\([^;{}]*?\b_*(vector_size|ms_struct|gcc_struct|scalar_storage_order)_*\b"
)
_NO_ADDRESS = re.compile(r"\[\[[^][]*\b(no_unique_address)\b")
# `a[i++] += i`, `*p++ += *p`, `i++ << i`: C++17 says what comes first, and g++ does otherwise.
_PATH = r"\w+(?:(?:\.|->)\w+)*"
_STEPPED = rf"(?:(?:\+\+|--)\s*(?P<a>{_PATH})|\b(?P<b>{_PATH})\s*(?:\+\+|--))"
_UPDATED = re.compile(
    rf"(?:\[[^][;]*?{_STEPPED}[^][;]*\]|\*\s*\(?\s*{_STEPPED.replace('<', '<p')}\s*\)?)"
    r"\s*(?:[-+*/%&|^]|<<|>>)=(?P<rest>[^;{}]*)"
)
_SHIFTED = re.compile(rf"\b(?P<b>{_PATH})\s*(?:\+\+|--)\s*(?:<<|>>)(?P<rest>[^;,?:|&^)<>=!]*)")
# `a[i] = next(&i)`: here too.
_ASSIGNED = re.compile(r"\[(?P<at>[^][;]*)\]\s*=(?!=)(?P<rest>[^;{}]*)")
ORDER = (
    "'{0}' changes on one side and is read on the other: C++17 and NVRTC have an order for the two "
    "sides, and g++ another. Write two statements"
)
# Functions of one's own in a namespace, of CUDA's names, that come out of it again.
_USING = re.compile(r"\busing\s+namespace\s+(?:\w+\s*::\s*)*(\w+)\s*;|\binline\s+namespace\s+(\w+)")
_OWN = re.compile(
    r"\b((?:f?abs|f?max|f?min|pow|r?sqrt|cbrt|exp(?:2|10|m1)?|log(?:2|10|1p)?|a?(?:sin|cos|tan)h?|atan2|erfc?"
    r"|floor|ceil|round|trunc|rint|fmod|fma|hypot|[lt]gamma|isnan|isinf|isfinite|signbit|copysign"
    r"|clock)f?)\s*\([^;{}]*\)\s*\{"
)
HIDDEN = (
    "of the calls of '{0}', NVRTC has some for CUDA's function, others for that of namespace {1}, "
    "or none for either. Write {1}::{0}, without `using namespace`"
)
_GROUPS = re.compile(
    r"\b(?:struct|class|namespace)\s+(plus|less|greater|bit_(?:and|or|xor)|\w+_group|thread_block|details)\b"
    r"|\b(this_(?:grid|thread_block)|tiled_partition|sync|reduce)\s*\([^;{}]*\)\s*\{"
)
AMBIGUOUS = "'{}' is ambiguous: cooperative_groups has one, too, and all of it is used here"
_WIDE = re.compile(r"\b(\w+)\s*:\s*(3[3-9]|[45]\d|6[0-3])\s*(?=[,;])")
# What stands before a minus between two operands: no cast, and no `return`.
_OPERAND = re.compile(
    r"(?:\w(?<!\breturn)(?<!\bcase)|\]|(?<!\bint)(?<!\blong)(?<!\bshort)(?<!\bchar)(?<!signed)(?<!\bsize_t)\))\s*$"
)
WIDE = (
    "g++ computes {0}{1} in the {2} bits of the bit-field, NVRTC in the 64 of its type. Write "
    "{0}(T){1}, with T for that type"
)
_UNSIGNED = re.compile(
    r"\b(?:unsigned(?:\s+int)?|uint32_t|uint)\s+((?:\w+\s*:\s*\d+\s*,\s*)*\w+\s*:\s*\d+)\s*;"
)
SIGNED = (
    "beside a negative number, ?: makes an unsigned number of the bit-field {0} in g++, and an int "
    "in NVRTC. Write (int){0}"
)
ESCAPE = "'\\e' is no escape sequence of C++: NVRTC reads the letter e. Write \\033"
NAMED = (
    "NVRTC makes one byte of '{}' in a string of char, and reads the bytes of other characters "
    "beyond ASCII one by one. Write bytes: \\xc3\\xa9"
)


def check(source: Preprocessed, options: Options, name: str) -> None:
    """CompileError for the first that there is; ``name`` is the source's."""
    found = sorted(_found(source.text, source.bare, options))
    if found:
        position, what = found[0]
        raise CompileError(
            f"{source.where(position)}: error: {what}\n\n"
            f'1 error detected in the compilation of "{name}.cu".\n'
        )


def _found(text: str, bare: str, options: Options) -> Iterator[tuple[int, str]]:
    """Where it is, and what is said of it."""
    yield from _attributes(bare, options)
    yield from _hidden(bare)
    yield from _orders(bare)
    yield from _bit_fields(bare)
    if re.search(r"\\[eEuU]", text) or not text.isascii():
        yield from _literals(text)


def _hidden(bare: str) -> Iterator[tuple[int, str]]:
    for using in _USING.finditer(bare):
        name = using[1] or using[2]
        if name == "cooperative_groups" and (own := _GROUPS.search(bare)):
            yield own.start(), AMBIGUOUS.format(own[1] or own[2])
        for opened in re.finditer(rf"\bnamespace\s+{name}\s*\{{", bare):
            if own := _OWN.search(bare, opened.end(), closing(bare, opened.end() - 1)):
                yield using.start(), HIDDEN.format(own[1], name)


def _attributes(bare: str, options: Options) -> Iterator[tuple[int, str]]:
    for match in _BEHIND.finditer(bare):
        head = re.split(r"[;{}]", bare[: opening(bare, match.start())])[-1]
        if _TYPE.search(_without_attributes(head)):
            yield match.start(), BEHIND
    before_20 = int(options.arguments[0][-2:]) < 20
    for pattern in (_UNKNOWN, _NO_ADDRESS) if before_20 else (_UNKNOWN,):
        for match in pattern.finditer(bare):
            attribute = re.sub(r"\s", "", next(filter(None, match.groups())))
            yield match.start(), UNKNOWN.format(attribute)


def _orders(bare: str) -> Iterator[tuple[int, str]]:
    for match in (*_UPDATED.finditer(bare), *_SHIFTED.finditer(bare)):
        groups = match.groupdict()
        rest = groups.pop("rest")
        for path in filter(None, groups.values()):
            if re.search(rf"(?<![.>\w]){re.escape(path)}\b(?!\s*\()", rest):
                yield match.start(), ORDER.format(path)
    for match in _ASSIGNED.finditer(bare):
        for name in re.findall(r"[(,]\s*&\s*([A-Za-z_]\w*)\s*[,)]", match["rest"]):
            if re.search(rf"(?<![.>&\w]){name}\b", match["at"]):
                yield match.start(), ORDER.format(name)


def _bit_fields(bare: str) -> Iterator[tuple[int, str]]:
    unsigned = re.findall(r"\w+(?=\s*:)", " ".join(_UNSIGNED.findall(bare)))
    if unsigned:
        member = rf"({_PATH}(?:\.|->)(?:{'|'.join(unsigned)})|{'|'.join(unsigned)})\b"
        for match in re.finditer(rf"\?\s*(?:{member}\s*:\s*-|-[\s\w.]+:\s*{member})", bare):
            yield match.start(), SIGNED.format(match[1] or match[2])
    wide = dict(_WIDE.findall(bare))
    if not wide:
        return
    member = rf"((?:\w+(?:\s*\[[^][]*\])*\s*(?:\.|->)\s*)*({'|'.join(wide)}))\b(?!\s*:)"
    for match in re.finditer(rf"(~|(?<!-)-(?![-=>]))[\s(]*{member}", bare):
        at = match.start()
        if match[1] == "~" or not _OPERAND.search(bare, max(0, at - 99), at):
            yield at, WIDE.format(match[1], match[2], wide[match[3]])


def _literals(text: str) -> Iterator[tuple[int, str]]:
    for match in LEXEME.finditer(text):
        literal, before = match[0], text[max(0, match.start() - 2) : match.start()]
        if re.match(r"\w*R\"", literal):
            continue
        if re.search(r"(?<!\\)(?:\\\\)*\\[eE]", literal):
            yield match.start(), ESCAPE
        named = re.search(r"(?<!\\)(?:\\\\)*(\\[uU]\w+)", literal)
        wide = re.search(r"(?:^|\W)(?:u8?|U|L)$", before)
        if named and not (wide and "8" not in before):
            yield match.start(), NAMED.format(named[1])
        elif not literal.isascii() and (wide or literal[0] == "'"):
            yield match.start(), NAMED.format(re.search(r"[^\x00-\x7f]", literal)[0])


def _without_attributes(head: str) -> str:
    while match := _ATTRIBUTE.search(head):
        head = head[: match.start()] + head[closing(head, match.end()) + 1 :]
    return head
