"""Which line of the reader's source an instruction of a compiled kernel comes from."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator


@functools.lru_cache(64)
def _information(library: str) -> tuple[list[tuple], list[tuple]]:
    """Of a library's debugging information: rows of (offset in the library, file, line), by offset;
    and calls that were built in, (first offset, offset behind the last, file, line, column)."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    rows, calls = [], []
    try:
        with open(library, "rb") as file:
            elf = ELFFile(file)
            if elf.has_dwarf_info():
                dwarf = elf.get_dwarf_info()
                for unit in dwarf.iter_CUs():
                    program = dwarf.line_program_for_CU(unit)
                    if program is not None:
                        rows += _rows(program)
                        calls += _calls(dwarf, unit, program)
    except (OSError, ELFError):
        pass
    return sorted(rows), calls


def _name(program, number: int) -> str:
    files = program["file_entry"]
    number -= program["version"] < 5  # how files are counted
    return files[number].name.decode(errors="replace") if 0 <= number < len(files) else ""


def _rows(program) -> Iterator[tuple[int, str, int]]:
    for entry in program.get_entries():
        if entry.state is not None and entry.state.line:
            yield entry.state.address, _name(program, entry.state.file), entry.state.line


def _calls(dwarf, unit, program) -> Iterator[tuple[int, int, str, int, int]]:
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    for die in unit.iter_DIEs():
        if "DW_AT_call_line" not in die.attributes:
            continue
        at = {name: attribute.value for name, attribute in die.attributes.items()}
        if "DW_AT_ranges" in at:
            ranges = dwarf.range_lists().get_range_list_at_offset(at["DW_AT_ranges"], unit)
            spans = list(_spans(ranges, base.value if base else 0))
        elif "DW_AT_low_pc" in at:
            spans = [(at["DW_AT_low_pc"], at["DW_AT_low_pc"] + at["DW_AT_high_pc"])]
        else:
            continue
        file = _name(program, at.get("DW_AT_call_file", 0))
        place = file, at["DW_AT_call_line"], at.get("DW_AT_call_column", 0)
        yield from ((first, last, *place) for first, last in spans)


def _spans(ranges, base: int) -> Iterator[tuple[int, int]]:
    """From where to where each of a list of ranges goes; where code lies apart, as what runs when
    a library is loaded does, the list itself says from where it counts."""
    for one in ranges:
        if hasattr(one, "base_address"):
            base = one.base_address
        elif getattr(one, "is_absolute", False):
            yield one.begin_offset, one.end_offset
        else:
            yield one.begin_offset + base, one.end_offset + base


def initialised(library: str, source: str) -> int:
    """The first line of ``source`` that runs when the library is loaded; 0 if unknown."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with open(library, "rb") as file:
            symbols = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
            spans = [(s["st_value"], s["st_size"]) for s in symbols if "__sub_I_" in s.name]
    except (OSError, ELFError):
        return 0
    ours = (row for row in _information(library)[0] if row[1].rpartition("/")[2] == source)
    return next((line for at, _, line in ours if any(0 <= at - a < size for a, size in spans)), 0)


def declared(text: str, variable: str, file: str) -> int:
    """The first line of ``file`` in preprocessed text that declares a static variable; 0: none."""
    number, here = 0, ""
    for line in text.split("\n"):
        number += 1
        if found := re.match(r'\s*#\s*(?:line\s+)?(\d+)\s+"([^"]*)"', line):
            number, here = int(found[1]) - 1, found[2]
        elif here == file and re.search(rf"\bstatic\b.*\b{variable}\b", line):
            return number
    return 0


def call(library: str, offset: int, files: tuple[str, ...]) -> tuple[str, int, int] | None:
    """The innermost call, in a file whose name begins as one of ``files``, that was built in at
    ``offset``: file, line and column; None if there is none."""
    around = [
        (last - first, file.rpartition("/")[2], line, column)
        for first, last, file, line, column in _information(library)[1]
        if first <= offset < last and file.rpartition("/")[2].startswith(files)
    ]
    return min(around)[1:] if around else None


def find(library: str, offset: int, source: str) -> int:
    """The line of the file ``source`` for the instruction that ends at ``offset``; 0 if unknown.

    In a function of the shim that was built into the kernel, it is the line of the call or, where
    the compiler does not tell, the reader's line next to it.
    """
    rows, calls = _information(library)
    at = bisect_left(rows, (offset,))
    if at and rows[at - 1][1].rpartition("/")[2] == source:
        return rows[at - 1][2]
    around = [
        (last - first, line)
        for first, last, file, line, _ in calls
        if first < offset <= last and file.rpartition("/")[2] == source
    ]
    if around:
        return min(around)[1]
    ours = (line for _, file, line in rows[:at][::-1] + rows[at:] if file.endswith(source))
    return next(ours, 0)
