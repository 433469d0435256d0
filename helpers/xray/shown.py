"""What an x-ray found, and an occupancy, as the book shows them: HTML where that is shown."""

from __future__ import annotations

import html

from gpuless.xray.occupancy import Occupancy
from gpuless.xray.result import XRay
from gpuless.xray.table import HEADERS, OPTIONS, heading, rows, sentences, text
from helpers import display


def show(found: XRay) -> None:
    """Display the table and what there is to say."""
    import tabulate

    table = tabulate.tabulate(rows(found), HEADERS, tablefmt="html", **OPTIONS)
    below = "".join(f"<p>{html.escape(line)}</p>" for line in sentences(found))
    above = f"<p>{html.escape(heading(found))}</p>"
    display.emit({"text/html": above + str(table) + below, "text/plain": text(found)})


def occupancy(found: Occupancy) -> None:
    """Display the residences of a launch."""
    display.table(found.rows(), found.HEADERS)
