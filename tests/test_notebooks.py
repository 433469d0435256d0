"""Every chapter is in canonical form, recorded on a real GPU, and unchanged since."""

import contextlib

import pytest

from helpers.press import export, notebook, record, results, used

CHAPTERS = notebook.paths()


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_form(path):
    assert notebook.problems(path) == []


def test_the_recording_is_fresh(path):
    """But where it waits, and says for what; its outputs are those of a recording all the same."""
    book, why = notebook.read(path), record.waits(path)
    assert (record.state(book) == "fresh") is (why is None), record.state(book)
    assert book.metadata.receipt.outputs_sha256 == used.outputs_sha256(book)


def test_the_receipt_is_complete(path):
    receipt = notebook.read(path).metadata.receipt
    for key in ("gpu", "driver", "cuda", "cupy", "numpy", "python", "date", "duration_seconds"):
        assert receipt[key] not in (None, "", "none", "unknown"), key
    assert "standin" not in receipt["cupy"]
    assert receipt["sanitizer"]["verdict"]
    for when in ("before", "after"):
        assert 0 < receipt["host_us"][when]["low"] <= receipt["host_us"][when]["high"]
    assert receipt["disturbed"] in (True, False)
    assert set(receipt["modules"]) == set(used.paths(notebook.read(path)))
    assert receipt["libraries"] and receipt["host"]
    assert set(receipt["switches"]) == {"in the code", "at the end"}


@contextlib.contextmanager
def changed(where, key, more):
    """Inside the block `where[key]` has something more at its end."""
    before = where[key]
    where[key] = before + more
    yield
    where[key] = before


def test_changes_would_be_noticed(path):
    """One character of a code cell, of a solution, of a stored output: each makes it stale."""
    book = notebook.read(path)
    book.metadata.receipt.update(record.seal(book))  # as if just recorded
    assert record.state(book) == "fresh"
    for cell in notebook.code_cells(book):
        if notebook.is_setup(cell):
            continue
        with changed(cell, "source", " "):
            assert record.state(book).startswith("stale: the code")
        if cell.outputs:
            output = cell.outputs[0]
            where = (output, "text") if "text" in output else (output.data, "text/plain")
            with changed(*where, "."):
                assert record.state(book).startswith("stale: the stored outputs")
    assert record.state(book) == "fresh"


def test_headlines_are_stored_once_each_and_dated():
    for entry in results.stored():
        assert entry["device"] and entry["date"], entry


def test_exported_code_is_that_of_the_chapters():
    assert export.differences() == []
