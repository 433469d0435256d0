"""Inline PTX: the few instructions that the shim (ptx.h, async_copy.h) carries out exactly.

``asm("..." : outputs : inputs : clobbers)`` becomes a statement expression that calls the shim's
function for each instruction. Anything else is refused with its text.
"""

from __future__ import annotations

import re

from gpuless.engine.source import LEXEME, closing

COVERED = (
    "mma.sync.aligned.{m8n8k4, m16n8k4, m16n8k8, m16n8k16}.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.{m16n8k4, m16n8k8}.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.{m16n8k8, m16n8k16}.row.col.f32.f16.f16.f32",
    "cp.async.{ca, cg}.shared.global with 4, 8 or 16 bytes and an optional source size",
    "cp.async.commit_group, cp.async.wait_group, cp.async.wait_all",
    "cvt.rna.tf32.f32",
    "mov.u32 of %laneid, %warpid, %smid, %nsmid, %clock and %lanemask_{lt, le, eq, ge, gt}",
    "mov.u64 of %globaltimer and %clock64",
    "bar.sync 0, barrier.sync 0",
)
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:[ \t]*\w+)?\s*\(")
_MMA = re.compile(
    r"mma\.sync\.aligned\.m(8|16)n8k(4|8|16)\.row\.col\."
    r"(?:(f64)\.f64\.f64\.f64|f32\.(tf32)\.tf32\.f32|f32\.(f16)\.f16\.f32)"
)
_SHAPES = {
    "f64": ("8,4", "16,4", "16,8", "16,16"),
    "tf32": ("16,4", "16,8"),
    "f16": ("16,8", "16,16"),
}
_COPY = re.compile(r"cp\.async\.(ca|cg)\.shared\.global(?:\.L2::(?:64|128|256)B)?")
# What a constraint's register holds, and whether the shim lets an operand have it.
_REGISTERS = {"r": "unsigned int", "l": "unsigned long long", "f": "float", "d": "double", "n": ""}
# A processor of one core is one multiprocessor.
_SPECIAL = {
    ("mov.u32", "laneid"): "standin_here.index % 32",
    ("mov.u32", "warpid"): "standin_here.index / 32",
    ("mov.u32", "smid"): "0",
    ("mov.u32", "nsmid"): "1",
    ("mov.u32", "clock"): "(unsigned int)standin_clock()",
    ("mov.u64", "clock64"): "(unsigned long long)standin_clock()",
    ("mov.u64", "globaltimer"): "(unsigned long long)standin_clock()",
    ("mov.u32", "lanemask_eq"): "(1u << standin_here.index % 32)",
    ("mov.u32", "lanemask_lt"): "((1u << standin_here.index % 32) - 1)",
    ("mov.u32", "lanemask_le"): "((2u << standin_here.index % 32) - 1)",
    ("mov.u32", "lanemask_ge"): "(~0u << standin_here.index % 32)",
    ("mov.u32", "lanemask_gt"): "(~1u << standin_here.index % 32)",
}


class Refused(Exception):
    """PTX that is not covered: ``str()`` is the instruction; ``why`` may say what is wrong."""

    def __init__(self, instruction: str, why: str = ""):
        super().__init__(instruction)
        self.why = why


def split(text: str, bare: str, separator: str) -> list[tuple[str, str]]:
    """``text`` and ``bare`` (the same without strings) cut at separators outside brackets."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(bare):
        depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0:
            parts.append((text[start:i], bare[start:i]))
            start = i + 1
    return [*parts, (text[start:], bare[start:])]


def _template(code: str, bare: str) -> str:
    """The PTX that string literals side by side spell."""
    literals = [m[0] for m in LEXEME.finditer(code) if m[0].startswith('"')]
    if re.search(r"\w", bare.replace('"', " ")) or not literals:
        raise Refused(" ".join(code.split()), "its text is not one of string literals alone")
    text = "".join(literal[1:-1] for literal in literals)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def _operands(sections: list[tuple[str, str]]) -> list[tuple[bool, str, str]]:
    """(is an output, constraint, expression) of each operand, in order."""
    operands = []
    for number, (code, bare) in enumerate(sections[:2]):
        for piece, _ in split(code, bare, ",") if code.strip() else []:
            match = re.fullmatch(r'\s*"([=+]?)(\w)"\s*\((.*)\)\s*', piece, re.DOTALL)
            if not match or match[2] not in _REGISTERS:
                raise Refused(" ".join(piece.split()), "its constraint is none of r, l, f, d and n")
            operands.append((number == 0, match[2], " ".join(match[3].split())))
    return operands


def _register(text: str, operands: list) -> str:
    match = re.fullmatch(r"\s*%(\d+)\s*", text)
    if not match or int(match[1]) >= len(operands):
        raise Refused(text.strip(), "it is no operand such as %0")
    return f"standin_{match[1]}"


def _group(text: str, operands: list) -> list[str]:
    inside = re.fullmatch(r"\s*\{(.*)\}\s*", text, re.DOTALL)
    return [_register(piece, operands) for piece in (inside[1] if inside else text).split(",")]


def _multiply(match: re.Match, arguments: list[str], operands: list) -> str:
    kind = match[3] or match[4] or match[5]
    rows, depth = int(match[1]), int(match[2])
    if f"{rows},{depth}" not in _SHAPES[kind] or len(arguments) != 4:
        raise ValueError
    d, a, b, c = (_group(text, operands) for text in arguments)
    per_register = 2 if kind == "f16" else 1
    wanted = (rows // 4, rows * depth // 32 // per_register, depth // 4 // per_register, rows // 4)
    if tuple(map(len, (d, a, b, c))) != wanted:
        raise ValueError
    number = "double" if kind == "f64" else "float"
    register = "double" if kind == "f64" else "unsigned int"
    return (
        f"{register} standin_a[] = {{{', '.join(a)}}}, standin_b[] = {{{', '.join(b)}}}; "
        f"{number} standin_c[] = {{{', '.join(c)}}}; "
        f"standin_{kind}_mma_sync<{rows}, {depth}>(standin_a, standin_b, standin_c); "
        + " ".join(f"{name} = standin_c[{i}];" for i, name in enumerate(d))
    )


def _instruction(text: str, operands: list) -> str:
    """C++ for one instruction without its semicolon; ValueError if it is not covered."""
    opcode, _, rest = text.partition(" ")
    arguments = [piece for piece, _ in split(rest, rest, ",")] if rest.strip() else []
    if match := _MMA.fullmatch(opcode):
        return _multiply(match, arguments, operands)
    if (match := _COPY.fullmatch(opcode)) and len(arguments) in (3, 4):
        addresses = []
        for argument in arguments[:2]:
            inside = re.fullmatch(r"\s*\[\s*(%\d+)\s*(\+\s*\d+)?\s*\]\s*", argument)
            if not inside:
                raise ValueError
            addresses.append(_register(inside[1], operands) + (inside[2] or ""))
        sizes = [s if s.strip().isdigit() else _register(s, operands) for s in arguments[2:]]
        sizes = sizes if len(sizes) == 2 else sizes * 2
        only = 16 if match[1] == "cg" else 0
        to = f"standin_from_shared({addresses[0]})"
        return (
            f"standin_copy_async({to}, (const void *)({addresses[1]}), {', '.join(sizes)}, {only});"
        )
    if opcode == "cp.async.commit_group" and not arguments:
        return "standin_copy_commit();"
    if opcode == "cp.async.wait_all" and not arguments:
        return "standin_copy_wait(-1);"
    if opcode == "cp.async.wait_group" and len(arguments) == 1:
        groups = arguments[0].strip()
        return f"standin_copy_wait({groups if groups.isdigit() else _register(groups, operands)});"
    if opcode == "cvt.rna.tf32.f32" and len(arguments) == 2:
        to, value = (_register(a, operands) for a in arguments)
        return f"{to} = standin_round_tf32({value});"
    if opcode in ("mov.u32", "mov.u64") and len(arguments) == 2:
        value = _SPECIAL.get((opcode, arguments[1].strip().removeprefix("%%")))
        if value:
            return f"{_register(arguments[0], operands)} = {value};"
    if opcode in ("bar.sync", "barrier.sync") and [a.strip() for a in arguments] == ["0"]:
        return "__syncthreads();"
    raise ValueError


def _statement(code: str, bare: str) -> str:
    sections = [("", "")]
    for piece in split(code, bare, ":"):
        sections.append(piece)
    template = _template(*sections[1])
    operands = _operands(sections[2:4])
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", template, flags=re.DOTALL)
    parts = []
    for number, (output, constraint, expression) in enumerate(operands):
        name, kind = f"standin_{number}", _REGISTERS[constraint]
        if output:
            parts.append(
                f"auto &{name} = {expression}; static_assert(sizeof({name}) == sizeof({kind}), "
                '"an asm operand must be of the type that its constraint names");'
            )
        elif constraint == "n":
            parts.append(f"constexpr auto {name} = {expression};")
        else:
            parts.append(f"const {kind} {name} = StandinRegister<{kind}>::of({expression});")
    for instruction in text.split(";"):
        words = " ".join(instruction.split())
        if words:
            try:
                parts.append(_instruction(words, operands))
            except ValueError:
                raise Refused(words + ";") from None
    return f"({{ {' '.join(parts)} }})" if parts else "((void)0)"


def translate(code: str, bare: str) -> str:
    """``code`` with each asm statement as C++, on the same lines.

    Args:
        code: preprocessed CUDA C.
        bare: the same with strings and directives blanked.

    Raises:
        Refused: an instruction that is not covered; ``position`` is where the statement begins.
    """
    pieces, end = [], 0
    for match in _ASM.finditer(bare):
        if match.start() < end:
            continue
        opening = match.end() - 1
        close = closing(bare, opening)
        try:
            text = _statement(code[opening + 1 : close], bare[opening + 1 : close])
        except Refused as refused:
            refused.position = match.start()
            raise
        whole = code[match.start() : close]
        pieces += [code[end : match.start()], text, "\n" * whole.count("\n")]
        end = close + 1
    return "".join([*pieces, code[end:]])
