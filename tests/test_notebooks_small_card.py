"""Chapters that ask what the card has run through on a small one: they leave out what it lacks.

The card is the stand-in's, no larger than a T4 and with little of everything; once it has no
grid-wide barriers either.
"""

import re

import nbclient
import pytest

from helpers import notebook

CARD = "sms=10,memory=2GiB,shared=64KiB,l2=4MiB,capability=7.5"
ASKS = re.compile(r"getDeviceProperties|Device\(\)\.(attributes|mem_info)|memGetInfo")
COOPERATIVE = re.compile("enable_cooperative_groups")


def code(path) -> str:
    return "\n".join(c.source for c in notebook.read(path).cells if c.cell_type == "code")


def run(path, card, monkeypatch) -> None:
    """Every cell in order; nbclient's CellExecutionError for the first that fails."""
    monkeypatch.setenv("CUPY_STANDIN", "always")
    monkeypatch.setenv("CUPY_STANDIN_CARD", card)
    where = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook.read(path), timeout=300, resources=where).execute()


def chapters(pattern, marks=()):
    found = [path for path in notebook.paths() if pattern.search(code(path))]
    assert found, f"no chapter has {pattern.pattern}"
    return [pytest.param(path, id=path.stem, marks=marks) for path in found]


@pytest.mark.parametrize("path", chapters(ASKS))
def test_a_small_card(path, monkeypatch):
    run(path, CARD, monkeypatch)


@pytest.mark.parametrize(
    "path",
    chapters(
        COOPERATIVE,
        pytest.mark.xfail(strict=True, reason="it launches cooperatively without asking the card"),
    ),
)
def test_no_cooperative_launch(path, monkeypatch):
    run(path, CARD + ",cooperative=0", monkeypatch)
