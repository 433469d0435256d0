"""Chapters 90 and 95 run on a machine with one GPU, as their openings say."""

import os

import nbclient
import pytest
import samples

from helpers.press import notebook

DEVICES = "helpers.logical_devices(helpers.pick(gpu=2, cpu=2))"


def run_on_one(stem):
    path = notebook.NOTEBOOKS / f"{stem}.ipynb"
    book = notebook.read(path)
    cell = samples.cell_with(book, DEVICES)
    cell.source = cell.source.replace(DEVICES, "helpers.logical_devices(1)")
    where = {"metadata": {"path": str(path.parent)}}
    client = nbclient.NotebookClient(book, timeout=300, resources=where)
    client.execute(env=os.environ | {"CUPY_STANDIN": "always"})
    return book


@pytest.mark.long
def test_chapter_90_on_one_device():
    """Its processes are two all the same, and share the device by MPI."""
    book = run_on_one("90_many_gpus")
    said = "".join(
        str(output.get("text", "")) for cell in notebook.code_cells(book) for output in cell.outputs
    )
    assert "one GPU for both" in said and "summed by MPI" in said
    assert "killed and resumed, the same bits: True" in said


@pytest.mark.long
def test_chapter_95_on_one_device():
    book = run_on_one("95_allreduce")
    said = "".join(
        str(output.get("text", "")) for cell in notebook.code_cells(book) for output in cell.outputs
    )
    assert "sums by copies" in said and "right on all ranks, to the bit" in said
