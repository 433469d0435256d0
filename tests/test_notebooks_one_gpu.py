"""Chapter 90 runs on a machine with one GPU, and on one without NCCL, as its opening says."""

import os
from types import SimpleNamespace

import nbclient
import pytest
import samples

from helpers.press import notebook

PATH = notebook.NOTEBOOKS / "90_many_gpus.ipynb"
DEVICES = "helpers.logical_devices(helpers.pick(gpu=8, cpu=4))"


@pytest.mark.long
def test_every_cell_runs_on_one_device():
    book = notebook.read(PATH)
    cell = samples.cell_with(book, DEVICES)
    cell.source = cell.source.replace(DEVICES, "helpers.logical_devices(1)")
    where = {"metadata": {"path": str(PATH.parent)}}
    client = nbclient.NotebookClient(book, timeout=300, resources=where)
    client.execute(env=os.environ | {"CUPY_STANDIN": "always"})
    ranks = samples.cell_with(book, "for n_units, n_batch in ladder").outputs[-1].data["text/plain"]
    counts = [line.split()[2] for line in ranks.splitlines()[2:]]
    assert counts == ["1"]  # no process was started for a device that is not there


@pytest.mark.parametrize(
    "nccl, said, fails",
    [
        (True, "rank 0: not all of the 2 ranks came within 8 s", False),
        (True, "RuntimeError: something else", True),
        (False, "RuntimeError: NCCL is not available", False),
    ],
)
def test_the_claim_on_a_rank_that_never_comes_needs_nccl(nccl, said, fails):
    """Without it a rank complains at once, and of that."""
    cell = samples.cell_with(notebook.read(PATH), "assert late[0] == 1")
    claim = cell.source.partition("try:")[0]
    space = {"nccl": SimpleNamespace(available=nccl), "late": (1, said)}
    if fails:
        with pytest.raises(AssertionError):
            exec(claim, space)
    else:
        exec(claim, space)
