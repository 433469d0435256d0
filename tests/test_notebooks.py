"""Every chapter is in canonical form, recorded on a real GPU, and unchanged since."""

import pytest

from helpers.press import export, notebook, record, results

CHAPTERS = notebook.paths()


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_form(path):
    assert notebook.problems(path) == []


def test_the_recording_is_fresh(path):
    assert record.state(notebook.read(path)) == "fresh"


def test_the_receipt_is_complete(path):
    receipt = notebook.read(path).metadata.receipt
    for key in ("gpu", "driver", "cuda", "cupy", "numpy", "python", "date", "duration_seconds"):
        assert receipt[key] not in (None, "", "none", "unknown"), key
    assert "standin" not in receipt["cupy"]
    assert receipt["sanitizer"]["verdict"]
    for when in ("before", "after"):
        assert 0 < receipt["host_us"][when]["low"] <= receipt["host_us"][when]["high"]
    assert receipt["disturbed"] in (True, False)


def test_changes_would_be_noticed(path):
    """One character of a code cell, of a solution, of a stored output: each makes it stale."""
    original = notebook.read(path)
    assert record.state(original) == "fresh"
    for number, cell in enumerate(original.cells):
        if cell.cell_type != "code" or notebook.is_setup(cell):
            continue
        changed = notebook.read(path)
        changed.cells[number].source += " "
        assert record.state(changed).startswith("stale: the code")
        if cell.outputs:
            changed = notebook.read(path)
            output = changed.cells[number].outputs[0]
            if "text" in output:
                output.text += "."
            else:
                output.data["text/plain"] += "."
            assert record.state(changed).startswith("stale: the stored outputs")


def test_headlines_are_stored_once_each_and_dated():
    for entry in results.stored():
        assert entry["device"] and entry["date"], entry


def test_exported_code_is_that_of_the_chapters():
    assert export.differences() == []
