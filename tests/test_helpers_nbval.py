"""The settings under which nbval compares notebooks are strict where they should be."""

import copy
import re
import subprocess
import sys

import pytest
import samples

from helpers.press import execute, notebook

FIGURE = """\
fig, ax = helpers.figure(figsize=(2, 1))
helpers.show(fig, alt="Nothing is drawn.")
helpers.table([[1, 0.5]], ["a", "b"])
for step in helpers.progress(range(3), "Steps"):
    pass
helpers.headline("sample.one", 2, "ratio")"""


@pytest.mark.long
def test_texts_tables_and_alternatives_are_compared_and_pictures_are_not(tmp_path):
    good = tmp_path / "good.ipynb"
    book = samples.chapter()
    book.cells[4].source += "\n" + FIGURE
    notebook.write(book, good)
    run = "from nbclient import execute; import nbformat, sys; from helpers.press import notebook\n"
    run += "book = notebook.read(sys.argv[1]); execute(book)\n"
    run += "notebook.write(notebook.canonical(book), sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", run, str(good)],
        check=True,
        capture_output=True,
        env=execute.environment(),
    )

    def find(outputs, mime):
        return next(out["data"] for out in outputs if mime in out.get("data", {}))

    def nothing(outputs):
        pass

    def picture(outputs):
        find(outputs, "image/png")["image/png"] = "AAAA"

    def alternative(outputs):
        find(outputs, "image/png")["text/plain"] = "Something is drawn."

    def table(outputs):
        data = find(outputs, "text/html")
        data["text/html"] = data["text/html"].replace("0.5", "0.6")

    def text(outputs):
        outputs[0].text = outputs[0].text.replace("42", "43")

    # The same cell again and again, each time with another change.
    book = notebook.read(good)
    number = book.cells.index(samples.cell_with(book, FIGURE))
    changes = [nothing, picture, alternative, table, text]
    cells = [copy.deepcopy(book.cells[number]) for _ in changes]
    for cell, change in zip(cells, changes, strict=True):
        cell.id = change.__name__
        before = copy.deepcopy(cell.outputs)
        change(cell.outputs)
        assert (cell.outputs != before) is (change is not nothing)
    book.cells[number : number + 1] = cells
    notebook.write(book, good)
    command = [sys.executable, "-m", "pytest", "-v", "--nbval", "-p", "no:cacheprovider", "."]
    done = subprocess.run(
        command, cwd=tmp_path, env=execute.environment(), capture_output=True, text=True
    )
    outcomes = re.findall(r"::Cell (\d+) (PASSED|FAILED)", done.stdout)
    first = sum(cell.cell_type == "code" for cell in book.cells[:number])
    found = {int(cell) - first: outcome for cell, outcome in outcomes}
    assert len(found) == len(notebook.code_cells(book)), done.stdout[-3000:]
    failed = {change.__name__ for n, change in enumerate(changes) if found[n] == "FAILED"}
    assert failed == {"alternative", "table", "text"}, done.stdout[-3000:]
    assert [outcome for _, outcome in outcomes].count("FAILED") == len(failed)
