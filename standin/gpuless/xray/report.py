"""From places and spaces to lines and arrays: the XRay of a launch."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from gpuless.engine.errors import KernelError
from gpuless.xray.machine.launch import ANOTHERS_LOCAL, WROTE_UNKNOWN, Seen, Space
from gpuless.xray.machine.source import access_text, as_written
from gpuless.xray.result import BANKS, SECTOR, Access, Branch, Race, Toucher, XRay

_KINDS = ("load", "store", "atomic", "load", "store", "copy", "copy")  # Kind of cpp/state.h
# What an array is called that is an argument, too, where the kernel comes to it by an address.
ORIGINAL = "the array itself behind an address"
_RACES = ("race", "unwritten", "unwaited")
_SUMMED = "requests lanes bytes sectors distinct passes ideal_passes turns".split()


def report(
    seen: Seen,
    kernel: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    lines: Mapping[tuple[str, int], str],
    translated: Mapping[tuple[str, int], str],
) -> XRay:
    """Say what ``seen`` means.

    Args:
        lines: the reader's text by (file, line), counted from 1.
        translated: the same of what was compiled, where columns count.

    Raises:
        KernelError: a thread touched what another thread has in its local memory.
    """
    reporter = _Reporter(seen, grid, block, lines, translated)
    count = math.prod(grid)
    looked = count if seen.sample is None else len(seen.sample)
    if where := reporter.unseen(ANOTHERS_LOCAL):
        raise KernelError(
            f"kernel '{kernel}', {where}: by an address that another thread has given away this "
            "touches a local variable of that thread. On a GPU the same address leads each thread "
            "to local memory of its own. Let what threads share lie in shared or global memory"
        )
    notes = []
    if where := reporter.unseen(WROTE_UNKNOWN):
        notes.append(
            f"Not looked at: memory of no name in {where}, such as a static variable of a function."
        )
    written = {s.space for s in seen.stats if _KINDS[s.kind] in ("store", "atomic")}
    if any(seen.spaces[number].aside for number in written):
        notes.append("What lies behind an address is no copy: what was written there stays.")
    if any(seen.spaces[s.space].name == ORIGINAL for s in seen.stats):
        notes.append(
            "The kernel was given an array as an argument, which is a copy, and came to the array "
            "itself by an address: a race between the two is not seen. Give it the address alone."
        )
    if looked < count:
        notes.append(
            f"Looked at {looked} of {count:,} blocks, spread over the grid; counts are of these. A "
            "race between two blocks is seen only if both are among them."
        )
    return XRay(
        kernel=kernel,
        grid=grid,
        block=block,
        blocks=looked,
        grid_blocks=count,
        accesses=reporter.accesses(),
        branches=reporter.branches(),
        races=reporter.races(),
        unavoidable_read=_unavoidable(seen.sectors_read, seen.spaces, count / max(1, looked)),
        unavoidable_written=_unavoidable(seen.sectors_written, seen.spaces, count / max(1, looked)),
        notes=tuple(notes),
    )


def _unavoidable(sectors: list[int], spaces: list[Space], blocks: float) -> int:
    """Bytes in the sectors that were touched, for ``blocks`` times as many blocks as were seen,
    but no more than there are."""
    whole = [-(-space.size // SECTOR) + (space.base % SECTOR > 0) for space in spaces]
    return SECTOR * sum(
        round(min(n * blocks, max(n, most))) for n, most in zip(sectors, whole, strict=True)
    )


class _Reporter:
    def __init__(self, seen: Seen, grid, block, lines, translated):
        self.seen, self.grid, self.block = seen, grid, block
        self.lines, self.translated = lines, translated
        self.item_bytes = {  # where no type is known: as it is accessed
            number: min(s.size for s in seen.stats if s.space == number)
            for number in {s.space for s in seen.stats}
            if seen.spaces[number].memory == "malloc" or not seen.spaces[number].item_bytes
        }

    def _code(self, place) -> str:
        return self.lines.get((place.file, place.line), "").strip()

    def _text(self, place, array: str) -> str:
        line = self.translated.get((place.file, place.line), "")
        if not line:
            return ""
        text = access_text(line, place.column, array)
        return as_written(text, line, self.lines.get((place.file, place.line), ""), array)

    def _position(self, number: int, size: tuple[int, int, int]) -> tuple[int, int, int]:
        return number % size[0], number // size[0] % size[1], number // size[0] // size[1]

    def unseen(self, what: int) -> str:
        """The lines that touched such memory (Seen.unseen), in words; "" if none did."""
        found = {
            place.line: self._code(place)
            for place, bits in zip(self.seen.places, self.seen.unseen, strict=True)
            if bits & what
        }
        return ", ".join(f"line {line} (`{code}`)" for line, code in sorted(found.items()))

    def accesses(self) -> tuple[Access, ...]:
        rows: dict[tuple, list] = {}
        for stat in self.seen.stats:  # a template in several copies has several places on one line
            place, space = self.seen.places[stat.place], self.seen.spaces[stat.space]
            kind = _KINDS[stat.kind]
            key = (place.file, place.line, place.column, space.name, kind, stat.size, space.memory)
            rows.setdefault(key, []).append(stat)
        found = [self._access(stats) for stats in rows.values()]
        return tuple(sorted(found, key=lambda a: (a.file, a.line, a.column, a.kind, a.array)))

    def _access(self, stats: list) -> Access:
        worst = max(stats, key=lambda s: s.worst)
        place, space = self.seen.places[worst.place], self.seen.spaces[worst.space]
        first = 0 if space.shared else space.base + space.origin
        text = self._text(place, space.name)
        return Access(
            file=place.file,
            line=place.line,
            column=place.column,
            code=self._code(place),
            text=text,
            array=_one_of(space, text),
            kind=_KINDS[worst.kind],
            memory=space.memory,
            item_bytes=worst.size,
            **{name: sum(getattr(s, name) for s in stats) for name in _SUMMED},
            addresses=tuple(
                worst.address[lane] - first if worst.mask >> lane & 1 else None
                for lane in range(32)
            ),
            phase=first % (4 * BANKS),
            block=self._position(worst.block, self.grid),
            warp=worst.warp,
        )

    def branches(self) -> tuple[Branch, ...]:
        lines: dict[tuple[str, int], list[int]] = {}
        for place, splits, passages in zip(
            self.seen.places, self.seen.splits, self.seen.passages, strict=True
        ):
            if splits and place.branch:
                counts = lines.setdefault((place.file, place.branch), [0, 0])
                counts[0] += splits
                counts[1] += passages
        return tuple(
            Branch(file, line, self.lines.get((file, line), "").strip(), *counts)
            for (file, line), counts in sorted(lines.items())
        )

    def races(self) -> tuple[Race, ...]:
        found = [self._race(race) for race in self.seen.races]
        # One line of the source may be several places.
        unique: dict[tuple, Race] = {}
        harm = [r for r in found if r.kind == "race" and not r.harmless]
        raced = {(r.array, t.line) for r in harm for t in (r.first, r.second)}
        for race in found:
            if race.kind == "unwritten" and (race.array, race.second.line) in raced:
                continue  # it is the same mistake
            sides = sorted((t.line, t.text, t.kind) for t in (race.first, race.second))
            key = (race.kind, race.array, *sides)
            if key not in unique or (unique[key].harmless and not race.harmless):
                unique[key] = race
        return tuple(sorted(unique.values(), key=lambda r: (r.harmless, r.kind, r.second.line)))

    def _race(self, race) -> Race:
        space: Space = self.seen.spaces[race.space]
        item_bytes = self.item_bytes.get(race.space, space.item_bytes)
        return Race(
            kind=_RACES[race.type],
            array=space.name,
            index=(race.offset - space.origin) // item_bytes,
            shared=space.shared,
            first=self._toucher(race, 0),
            second=self._toucher(race, 1),
            harmless=bool(race.same_value),
            count=race.count,
            shape=space.shape if math.prod(space.shape) * item_bytes == space.size else (),
        )

    def _toucher(self, race, side: int) -> Toucher:
        place = self.seen.places[race.place[side]]
        return Toucher(
            kind=_KINDS[race.kind[side]],
            line=place.line,
            code=self._code(place),
            text=self._text(place, self.seen.spaces[race.space].name),
            block=self._position(race.block[side], self.grid),
            thread=self._position(race.thread[side], self.block),
        )


def _one_of(space: Space, text: str) -> str:
    """The name of an array that was given under several: that which the access speaks of."""
    names = space.name.split(" and ")
    return next((name for name in names if re.match(rf"{name}\b", text)), space.name)
