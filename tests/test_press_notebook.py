"""The form of notebooks: a good one passes, and each departure from the form is named."""

import nbformat
import pytest
import samples

from helpers.press import notebook


def write(book, folder):
    path = folder / "99_sample.ipynb"
    notebook.write(book, path)
    return path


def test_a_good_chapter_has_no_problems(tmp_path):
    path = write(samples.chapter(), tmp_path)
    assert notebook.problems(path) == []
    assert notebook.main(["--check", str(path)]) == 0


def edit(text, new):
    """Return a change that replaces `text` in the first cell that has it."""

    def change(book):
        cell = samples.cell_with(book, text)
        cell.source = cell.source.replace(text, new)

    return change


def tag(text, name):
    def change(book):
        cell = samples.cell_with(book, text)
        cell.metadata.tags = sorted(notebook.tags(cell) | {name})

    return change


def store(output):
    def change(book):
        samples.cell_with(book, "print(twice").outputs = [output]

    return change


def hide_definition(book):
    samples.cell_with(book, "import numpy").source += "\nhidden_number = 21"
    samples.cell_with(book, "import numpy").metadata.tags = ["remove-cell"]
    samples.cell_with(book, "print(twice").source = "print(twice(hidden_number))"


def prose(text):
    return edit("- One.", text)


PNG = nbformat.v4.new_output("display_data", {"image/png": "AAAA", "text/plain": "a figure"})
SVG = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})
ERROR = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])


@pytest.mark.parametrize(
    "change, says",
    [
        (edit("import helpers", "import helpers as h"), "not the setup cell"),
        (edit('ARCHIVE = ""', 'ARCHIVE = "https://example.org/a.zip"'), "not the setup cell"),
        (
            lambda book: notebook.code_cells(book)[0].metadata.pop("tags"),
            "needs the tag nbval-ignore",
        ),
        (edit("helpers.receipt()", "print()"), "does not call helpers.receipt()"),
        (edit("import cupy as cp", "import cupy"), "no visible line `import cupy as cp`"),
        (edit("def twice", "from numpy import *\ndef twice"), "import *"),
        (tag("print(twice", "raises-exception"), "unknown tags ['raises-exception']"),
        (edit("# A sample", "A sample"), "begin with a title"),
        (edit("**You need**", "You need"), "*You need*"),
        (edit("## When the GPU loses", "## When it loses"), "no heading `## When the GPU loses`"),
        (edit("## Key points", "## Further reading\n\n## Key points"), "out of order"),
        (prose("# Another"), "more or fewer than one title"),
        (prose("```{note}\nhello\n```"), "MyST"),
        (prose(":::{note}\nhello\n:::"), "MyST"),
        (prose("See {ref}`here`."), "MyST"),
        (prose("![](picture.png)"), "without a text alternative"),
        (prose('<img src="picture.png">'), "without a text alternative"),
        (prose("It is 12x faster."), "typed speed-up"),
        (prose("It is 3,000 times faster."), "typed speed-up"),
        (prose("It is 1.5 times as fast."), "typed speed-up"),
        (prose("A speed-up of 8 is good."), "typed speed-up"),
        (prose(r"It is 12$\times$ slower."), "typed speed-up"),
        (edit("### Exercise 99.4", "### Task 99.4"), "needs four exercises or more"),
        (edit("### Exercise 99.4", "### Exercise 99.5"), "Exercise 99.5 has no solution"),
        (edit("<summary>Hint</summary>", "<summary>Tip</summary>"), "no `<details><summary>Hint"),
        (edit("# @title Solution 99.1", "# A solution 99.1"), "a solution begins with"),
        (edit("print(twice(21))", "assert 'H100' in name"), "code names a device, H100"),
        (edit("print(twice(21))", "on_h200 = True"), "code names a device, h200"),
        (edit("print(twice(21))", "# as fast as a T4"), "code names a device, T4"),
        (edit("print(twice(21))", "name == 'RTX 4090'"), "code names a device, RTX"),
        (
            edit("print(twice(21))", "class A:\n    pass\nclass A(A):\n    pass"),
            "their own base: ['",
        ),
        (edit("print(twice(21))", "if 1:\n    class A(B, A, m=C): 1"), "their own base: ['"),
        (hide_definition, "uses hidden_number, which only the hidden cell"),
        (edit("def twice", "# @title Solution 99.9\ndef twice"), "without the tag `solution`"),
        (store(PNG), "a figure without a text alternative"),
        (store(SVG), "not every viewer shows"),
        (store(ERROR), "stores an error (ValueError)"),
        (store(samples.output("x" * 1_000_000)), "the limit is 1,000,000"),
    ],
)
def test_each_departure_is_named(tmp_path, change, says):
    book = samples.chapter()
    change(book)
    path = write(book, tmp_path)
    found = notebook.problems(path)
    assert any(says in problem for problem in found), found
    assert notebook.main(["--check", str(path)]) == 1


@pytest.mark.parametrize(
    "text",
    ['The source says "3,000 times faster".', "Four times as much work.", "Twice, 2 x 3 matrices."],
)
def test_quoted_claims_and_plain_numbers_are_no_typed_speed_ups(tmp_path, text):
    book = samples.chapter()
    prose(text)(book)
    assert notebook.problems(write(book, tmp_path)) == []


def test_the_list_of_classes_that_are_their_own_base_only_shrinks(tmp_path, monkeypatch):
    book = samples.chapter()
    edit("print(twice(21))", "class A(A):\n    pass\nclass B(b.B, A):\n    pass")(book)
    path = write(book, tmp_path)
    for allowed in (0, 1, 2):
        monkeypatch.setitem(notebook.OWN_BASES, "99_sample", allowed)
        found = [f"OWN_BASES has {allowed}" in problem for problem in notebook.problems(path)]
        assert found == ([] if allowed == 1 else [True])


def test_prose_and_short_variables_may_look_like_devices(tmp_path):
    book = samples.chapter()
    edit("print(twice(21))", "t4 = a10 = 21\nGHT4 = L2 = twice(t4)\nprint(L2)")(book)
    prose("An H100 has 132 multiprocessors.")(book)
    assert notebook.problems(write(book, tmp_path)) == []


def test_fix_restores_the_canonical_form(tmp_path):
    good = samples.chapter()
    good.cells[4].outputs = [samples.output("42\n")]
    text = nbformat.writes(notebook.canonical(good)) + "\n"
    book = nbformat.reads(text, as_version=4)
    book.metadata.kernelspec.display_name = "my environment"
    book.metadata.widgets = {}
    for number, cell in enumerate(notebook.code_cells(book)):
        cell.execution_count = 17 * number
        cell.metadata.execution = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    book.cells[1].metadata.collapsed = True
    solution = samples.cell_with(book, "Solution 99.1")
    del solution.metadata["jupyter"], solution.metadata["cellView"]
    book.cells[4].outputs = [samples.output("4"), samples.output("2\n")]
    path = write(book, tmp_path)
    assert any("canonical" in problem for problem in notebook.problems(path))
    assert notebook.main(["--fix", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == text


def test_ids_are_stable_and_unique():
    book = samples.chapter()
    before = [cell.id for cell in book.cells]
    assert before == [cell.id for cell in samples.chapter().cells]
    assert len(set(before)) == len(before)
    book.cells[4].source += "\nprint(0)"
    book.cells[5].id = book.cells[0].id
    book.cells.append(nbformat.v4.new_code_cell("helpers.receipt()"))
    book.cells[-1].id = "not good!"
    after = [cell.id for cell in notebook.canonical(book).cells]
    assert after[:5] == before[:5] and after[6:-1] == before[6:]
    assert len(set(after)) == len(after)


def test_what_a_progress_bar_overwrote_is_dropped():
    book = samples.chapter()
    pieces = ["Epochs:  0%|  \r", "Epochs: 50%|██\r", "          \rEpochs: 5 epochs\n", "done\n"]
    book.cells[4].outputs = [samples.output(piece) for piece in pieces]
    (output,) = notebook.canonical(book).cells[4].outputs
    assert output.text == "Epochs: 5 epochs\ndone\n"


def test_the_setup_cell_says_what_to_do_without_helpers():
    lines = notebook.SETUP_CELL.replace("%pip install --quiet", "pass  #").replace(
        'find_spec("helpers")', 'find_spec("no_such_module")'
    )
    with pytest.raises(RuntimeError, match="run `make lab`.*pip install.*address"):
        exec(lines, {})
    assert "cupy" not in notebook.SETUP_CELL
