"""Which line of the reader's source an instruction of a compiled kernel comes from."""

from __future__ import annotations

import functools
from collections.abc import Iterator


@functools.lru_cache(64)
def _rows(library: str) -> list[tuple[int, str, int]]:
    """(offset in the library, file, line), by offset, from the library's debugging information."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with open(library, "rb") as file:
            elf = ELFFile(file)
            return sorted(_read(elf)) if elf.has_dwarf_info() else []
    except (OSError, ELFError):
        return []


def _read(elf) -> Iterator[tuple[int, str, int]]:
    information = elf.get_dwarf_info()
    for unit in information.iter_CUs():
        program = information.line_program_for_CU(unit)
        if program is None:
            continue
        first = 0 if program["version"] >= 5 else 1  # how its files are counted
        files = [entry.name.decode(errors="replace") for entry in program["file_entry"]]
        for entry in program.get_entries():
            state = entry.state
            if state is not None and 0 <= state.file - first < len(files):
                yield state.address, files[state.file - first], state.line


def find(library: str, offset: int, source: str) -> int:
    """The line of the file ``source`` for the instruction that ends at ``offset``; 0 if unknown.

    In a function of the shim that was built into the kernel, it is the line before the call.
    """
    rows = _rows(library)
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle][0] < offset:
            low = middle + 1
        else:
            high = middle
    for _, file, line in reversed(rows[:low]):
        if file.rpartition("/")[2] == source and line:
            return line
    return 0
