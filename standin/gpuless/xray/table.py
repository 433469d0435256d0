"""An XRay as a table: the lines of the source, and below each what its accesses did."""

from __future__ import annotations

import textwrap

from gpuless.xray.result import SECTOR, Access, XRay

HEADERS = ("line", "source", "requests", "lanes", "asked", "sectors", "used", "passes")
OPTIONS = {"disable_numparse": True, "colalign": ("right", "left", *["right"] * 6)}
WIDTH = 72  # characters of a line of source
CAVEAT = (
    "Counted from the source as g++ sees it: a GPU's compiler may merge, hoist or repeat accesses. "
    "Only the blocks and the data of this run were seen."
)


def text(found: XRay) -> str:
    """All of it as plain text."""
    import tabulate

    table = tabulate.tabulate(rows(found), HEADERS, tablefmt="simple", **OPTIONS)
    below = [textwrap.fill(line, 88) for line in sentences(found)]
    return "\n".join([heading(found), "", table, "", *below])


def heading(found: XRay) -> str:
    """What was launched."""
    plural = "s" * (found.grid_blocks != 1)
    return f"{found.kernel}: {found.grid_blocks:,} block{plural} of {found.block} threads"


def rows(found: XRay) -> list[tuple]:
    """What stands under HEADERS: a row for each line of source, one for each of its accesses."""
    made, before = [], None
    for access in found.accesses:
        if (access.file, access.line) != before:
            code = access.code
            if len(code) > WIDTH:
                code = code[: WIDTH - 1] + "…"
            made.append((access.line, code, *[""] * 6))
            before = access.file, access.line
        made.append(("", f"· {label(access)}", *_numbers(access)))
    return made


def label(access: Access) -> str:
    """``load a[i]``, with the array's name where it is another one, and the kind of memory."""
    what = access.text if len(access.text) <= 40 else access.text[:39] + "…"
    if access.array not in what:
        what += f" of {access.array}"
    where = f", {access.memory}" if access.memory in ("shared", "constant") else ""
    return f"{access.kind} {what}{where}"


def _numbers(access: Access) -> tuple[str, ...]:
    passes = ""
    if access.kind == "atomic":
        passes = f"{access.turns / access.requests:.3g}"
    elif access.passes:
        passes = f"{access.passes / access.requests:.3g}"
    return (
        f"{access.requests:,}",
        f"{access.lanes / access.requests:.3g}",
        amount(access.bytes),
        f"{access.sectors:,}" if access.sectors else "",
        percent(access.used) if access.used is not None else "",
        passes,
    )


def percent(share: float) -> str:
    """A share, 0 to 1, in per cent."""
    return f"{100 * share:.3g}%"


def amount(n_bytes: float) -> str:
    """A number of bytes in words."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.0f} B"


def sentences(found: XRay) -> list[str]:
    """What is said below the table: totals, branches, races, and what was not seen."""
    lines = []
    sectors = found.total("sectors")
    if sectors:
        asked = found.total("bytes")
        least = found.unavoidable_read + found.unavoidable_written
        whole = " for the whole grid" if found.blocks < found.grid_blocks else ""
        lines.append(
            f"Global memory: {found.total('requests'):,} requests asked for {amount(asked)} and "
            f"moved {sectors:,} sectors, {amount(SECTOR * sectors)}. Even if caches kept "
            f"everything, {amount(least)} would come from memory or go there{whole}."
        )
    conflicts = [a for a in found.accesses if a.shared and a.passes > a.ideal_passes]
    if conflicts:
        taken = sum(a.passes for a in conflicts)
        ideal = sum(a.ideal_passes for a in conflicts)
        where = ", ".join(dict.fromkeys(str(a.line) for a in conflicts))
        lines.append(
            f"Shared memory: bank conflicts in line {where}: {taken:,} passes where {ideal:,} "
            "would do."
        )
    for branch in found.branches:
        lines.append(
            f"Line {branch.line} `{branch.code}`: a warp came here {branch.passages:,} times and "
            f"split {branch.splits:,} times."
        )
    for race in found.races:
        lines.append(("Note: " if race.harmless else "RACE: ") + str(race))
    if not found.races:
        lines.append("No races among the threads that were looked at.")
    return [*lines, *found.notes, CAVEAT]
