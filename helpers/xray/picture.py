"""One request of a warp as a picture: 32 lanes over the sectors of memory, or over the banks."""

from __future__ import annotations

from gpuless.xray.result import BANKS, SECTOR, Access
from gpuless.xray.table import label, percent
from helpers import display

MOST_SECTORS = 40  # boxes in a row; of more, only those that are touched are drawn
ASKED, MOVED, LINE = "#0072b2", "#f2d9a7", "#555555"


def show(access: Access) -> None:
    """Draw the costliest request of an access and show it, with a text alternative."""
    figure, alt = draw(access)
    display.show(figure, alt=alt)


def draw(access: Access):
    """The matplotlib figure of the costliest request, and the sentence that says what it shows."""
    return _banks(access) if access.shared else _sectors(access)


def _figure(access: Access, title: str):
    figure, axes = display.figure(figsize=(9, 2.6))
    axes.set_title(f"{label(access)}: {title}", fontsize=11)
    axes.axis("off")
    return figure, axes


def _lanes(access: Access) -> list[tuple[int, int]]:
    """Lane and address of the lanes that took part."""
    return [(n, a) for n, a in enumerate(access.addresses) if a is not None]


def _draw_lane(axes, lane: int, at: float, active: bool) -> None:
    colour = ASKED if active else "#bbbbbb"
    axes.plot(at, 1, "o", color=colour, markersize=5, clip_on=False)
    if lane % 8 == 0 or lane == 31:
        axes.text(at, 1.13, str(lane), ha="center", va="bottom", fontsize=9)


def _sectors(access: Access):
    lanes = _lanes(access)
    first = {lane: (address + access.phase) // SECTOR for lane, address in lanes}
    last = {
        lane: (address + access.phase + access.item_bytes - 1) // SECTOR for lane, address in lanes
    }
    touched = sorted({s for lane in first for s in range(first[lane], last[lane] + 1)})
    everything = list(range(touched[0], touched[-1] + 1))
    boxes = everything if len(everything) <= MOST_SECTORS else touched
    asked = {}
    for _, address in lanes:
        for byte in range(address + access.phase, address + access.phase + access.item_bytes):
            asked.setdefault(byte // SECTOR, set()).add(byte % SECTOR)
    used = sum(len(bytes_) for bytes_ in asked.values())
    share = used / (SECTOR * len(touched))
    count = f"{len(touched)} sector{'s' * (len(touched) != 1)}"
    figure, axes = _figure(access, f"{count} for {len(lanes)} lanes, {percent(share)} used")
    width = 32 / len(boxes)
    for number, sector in enumerate(boxes):
        left = number * width
        moved = sector in asked
        axes.add_patch(_box(left, width, MOVED if moved else "white"))
        for byte in asked.get(sector, ()):
            axes.add_patch(_mark(left + (byte / SECTOR) * width * 0.96, width / SECTOR))
    place = {sector: number for number, sector in enumerate(boxes)}
    for lane, address in lanes:
        sector, byte = divmod(address + access.phase, SECTOR)
        at = (place[sector] + (byte + access.item_bytes / 2) / SECTOR) * width
        axes.plot([lane + 0.5, at], [0.95, 0.3], color=ASKED, linewidth=0.7, marker="", ls="-")
    _finish(axes, access, "lanes of a warp", "sectors of 32 bytes")
    gap = "" if boxes == everything else " The sectors lie apart; only those touched are drawn."
    alt = (
        f"A request of a warp, {label(access)} in line {access.line}: {len(lanes)} of 32 lanes "
        f"touch {count} of 32 bytes and use {percent(share)} of what is moved.{gap}"
    )
    return figure, alt


def _banks(access: Access):
    lanes = _lanes(access)
    words: dict[int, set[int]] = {}
    for _, address in lanes:
        for word in range(address // 4, (address + access.item_bytes - 1) // 4 + 1):
            words.setdefault(word % BANKS, set()).add(word)
    most = max(len(found) for found in words.values())
    figure, axes = _figure(
        access, f"{len(words)} of 32 banks, at most {most} word{'s' * (most != 1)} in one"
    )
    for bank in range(BANKS):
        height = len(words.get(bank, ()))
        axes.add_patch(_box(bank, 1, MOVED if height else "white"))
        if height:
            axes.text(bank + 0.5, 0.15, str(height), ha="center", va="center", fontsize=9)
        if bank % 8 == 0 or bank == 31:
            axes.text(bank + 0.5, -0.08, str(bank), ha="center", va="top", fontsize=9)
    for lane, address in lanes:
        at = address // 4 % BANKS + 0.5
        axes.plot([lane + 0.5, at], [0.95, 0.3], color=ASKED, linewidth=0.7, marker="", ls="-")
    _finish(axes, access, "lanes of a warp", "banks, words asked of each")
    alt = (
        f"A request of a warp, {label(access)} in line {access.line}: {len(lanes)} of 32 lanes ask "
        f"{len(words)} of 32 banks, at most {most} different word{'s' * (most != 1)} in one bank."
    )
    return figure, alt


def _box(left: float, width: float, colour: str):
    from matplotlib.patches import Rectangle

    return Rectangle((left, 0), width * 0.96, 0.3, facecolor=colour, edgecolor=LINE, linewidth=0.8)


def _mark(left: float, width: float):
    from matplotlib.patches import Rectangle

    return Rectangle((left, 0), width, 0.12, facecolor=ASKED, edgecolor="none")


def _finish(axes, access: Access, above: str, below: str) -> None:
    active = dict(_lanes(access))
    for lane in range(32):
        _draw_lane(axes, lane, lane + 0.5, lane in active)
    axes.text(-0.6, 1, above, ha="right", va="center", fontsize=9)
    axes.text(-0.6, 0.15, below.replace(", ", "\n"), ha="right", va="center", fontsize=9)
    axes.set_xlim(-9, 32.5)
    axes.set_ylim(-0.3, 1.3)
