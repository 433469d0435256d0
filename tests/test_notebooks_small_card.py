"""Chapters run through on a small card: they leave out what it lacks.

The card is the stand-in's, no larger than a T4 and with little of everything; once it has no
grid-wide barriers either, and once it is a newer one, made for games, with all of today's
instructions but less shared memory than one made for computing. Run are the chapters that
ask for what may be lacking: memory, shared memory, grid-wide barriers. The number of
multiprocessors and the like are only numbers to the others, and smaller still on the card that the
stand-in is without being told.
"""

import os
import re

import nbclient
import pytest

from helpers.press import notebook

pytestmark = pytest.mark.long
CARD = "sms=10,memory=2GiB,shared=64KiB,l2=4MiB,capability=7.5"
GAMES = "sms=10,memory=8GiB,shared=99KiB,l2=32MiB,capability=8.9"
MEMORY = re.compile(r"memGetInfo|mem_info|sharedMemPerBlock|MaxSharedMemory")
SHARED = re.compile(r"MaxSharedMemoryPerBlockOptin")
COOPERATIVE = re.compile("enable_cooperative_groups")


def run(path, card):
    """Every cell in order; nbclient's CellExecutionError for the first that fails."""
    where = {"metadata": {"path": str(path.parent)}}
    client = nbclient.NotebookClient(notebook.read(path), timeout=300, resources=where)
    client.execute(env=os.environ | {"CUPY_STANDIN": "always", "CUPY_STANDIN_CARD": card})


def chapters(pattern):
    found = [
        path
        for path in notebook.paths()
        if any(pattern.search(cell.source) for cell in notebook.code_cells(notebook.read(path)))
    ]
    assert found, f"no chapter has {pattern.pattern}"
    return [pytest.param(path, id=path.stem) for path in found]


@pytest.mark.parametrize("path", chapters(MEMORY))
def test_a_small_card(path):
    run(path, CARD)


@pytest.mark.parametrize("path", chapters(SHARED))
def test_less_shared_memory(path):
    run(path, GAMES)


@pytest.mark.parametrize("path", chapters(COOPERATIVE))
def test_no_cooperative_launch(path):
    run(path, CARD + ",cooperative=0")
