"""Minutes are counted by the rule, and what passes a bound is named."""

import copy

import nbformat
import pytest

from helpers.press import bounds, labels, notebook, sittings

SETUP = notebook.SETUP_CELL
KERNEL = 'code = r"""\nextern "C" __global__ void f(float* x) {\n    x[0] = 1;\n}\n"""'
STUB = "def double(x):\n    return x"
SOLUTION = "# @title Solution 99.1\ndef double(x):\n    return 2 * x"


def code(source, *tags, outputs=()):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs))


def text(source):
    return nbformat.v4.new_markdown_cell(source)


def chapter(*cells, sitting="## Sitting 1: One\n\nA line."):
    start = [text("# Title\n\n**Time** x."), code(SETUP, "nbval-ignore-output")]
    end = [text("## Key points\n\nOne."), text("## Further reading\n\n" + "word " * 900)]
    cells = [copy.deepcopy(cell) for cell in (*start, text(sitting), *cells, *end)]
    for number, cell in enumerate(cells):
        cell.id = f"c{number}"
    return nbformat.v4.new_notebook(cells=cells)


EXERCISE = [
    text("### Exercise 99.1: double it (4 min)\n\nManifold words that count nothing."),
    code(STUB),
    text("<details><summary>Hint</summary>\n\nMore words.\n</details>"),
    code(SOLUTION, "solution", "hide-input"),
]


def seconds(book, what):
    return 60 * sum(piece.minutes for piece in sittings.pieces(book) if piece.what == what)


@pytest.mark.parametrize(
    "source, count",
    [
        ("Two words.", 2),
        ("It's `x + y`, and $a + b = c$ too.", 6),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", 0),
        ("```\nnot these\n```\nthis", 1),
        ("[the words](https://of.no/address) <b>bold</b>", 3),
    ],
)
def test_words(source, count):
    assert sittings.count_words(source) == count


def test_lines_of_python_and_of_cuda():
    assert sittings.count_lines("a = 1\n\n# why\nb = 2") == (3, 0)
    assert sittings.count_lines(KERNEL) == (2, 3)
    assert sittings.count_lines('text = """\nno kernel\n"""') == (3, 0)


def test_each_kind_counts_by_the_rule():
    table = text("| a |\n| --- |\n| 1 |")
    figure = nbformat.v4.new_output("display_data", {"image/png": "AAAA"})
    book = chapter(table, code("x = 1\ny = 2", outputs=[figure]), code(KERNEL), *EXERCISE)
    assert seconds(book, "code") == 5 * 4 + 9 * 3
    assert seconds(book, "picture") == pytest.approx(2 * 45)
    assert seconds(book, "exercise") == 4 * 60
    words = sum(piece.words for piece in sittings.pieces(book))
    assert words == 1 + 5 + 3  # title, sitting, key points
    assert sittings.minutes(book) == {None: round((47 + 90 + 240 + 9 * 60 / 160) / 60), 1: 6}


def test_two_predicts_of_a_sitting_are_free():
    predict = text("**Predict:** how much?")
    book = chapter(*[predict] * 3, text("## Sitting 2: Two\n\nA line."), *[predict] * 4)
    costs = [60 * p.minutes for p in sittings.pieces(book) if p.what == "predict"]
    assert costs == [0, 0, 45, 0, 0, 45, 45]


def test_folded_cells_count_nothing_but_a_kernel_that_was_not_shown():
    folded = code(f"# @title The kernel\n{KERNEL}", "hide-input")
    assert seconds(chapter(code("# @title Drawing\nx = 1", "hide-input")), "code") == 0
    assert seconds(chapter(code("assert True", "remove-cell")), "code") == 0
    assert seconds(chapter(folded), "code") == 3 * 9
    assert seconds(chapter(code(KERNEL), folded), "code") == 2 * 5 + 3 * 9
    assert seconds(chapter(code("x = 1"), folded), "code") == 5 + 3 * 9


def test_an_optional_exercise_is_not_summed():
    optional = [text("### Optional 99.2: more (15 min)\n\nWords."), code(STUB)]
    book = chapter(*EXERCISE, text("## More exercises\n\nWords."), *optional)
    assert seconds(book, "exercise") == 4 * 60 and seconds(book, "optional") == 0


def test_the_least_minutes_of_an_exercise():
    assert sittings.least_minutes(STUB, SOLUTION) == 3
    lines = "\n".join(f"    x{k} = {k}" for k in range(9))
    assert sittings.least_minutes(STUB, f"{STUB}\n{lines}") == 5


def good():
    return chapter(text("**Predict:** what?"), *EXERCISE, code("print(double(2))"))


def found(book, monkeypatch, minutes=75):
    plan = labels.plan() | {"chapters": {"99": {"minutes": minutes}}}
    monkeypatch.setattr(labels, "plan", lambda: plan)
    sittings.with_minutes(book, write=True)
    return "\n".join(bounds.problems(book, "99"))


def test_a_good_chapter_passes_no_bound(monkeypatch):
    assert found(good(), monkeypatch) == ""


def long_text(count):
    return text("word " * count)


@pytest.mark.parametrize(
    "cells, says",
    [
        ([long_text(898)], "904 words, 5.6 minutes with nothing to do"),
        ([code("x = 1\n" * 24), *[text("a"), code("y = 1\n" * 24)] * 4], "with nothing to do"),
        ([*EXERCISE, *[code("x = 1")] * 4], "more than 3 code cells in a row"),
        ([*EXERCISE, code("x = 1\n" * 26)], "26 lines; 25 is the limit"),
        ([*EXERCISE, code(f"x = '{'y' * 80}'")], "wider than 80"),
        ([*EXERCISE, code("x = 1", "hide-input")], "has no title"),
        ([text("**Predict:** x"), long_text(800), text("a")], "first exercise does not come"),
        ([long_text(820), *EXERCISE], "comes after 5."),
        (
            [*EXERCISE, code("# @title Plot\ndef plot(): 1", "hide-input"), code("plot()")],
            "calls plot, which folded",
        ),
        ([*EXERCISE, code("# @title Plot\n" + "x = 1\n" * 9, "hide-input")], "10 lines are folded"),
        ([text("### Exercise 99.1: double"), *EXERCISE[1:]], "states no minutes"),
        ([text("### Exercise 99.1: double (2 min)"), *EXERCISE[1:]], "states 2 min"),
        ([text("### Exercise 99.1: double (40 min)"), *EXERCISE[1:]], "sitting 1 takes 40"),
    ],
)
def test_what_passes_a_bound_is_named(cells, says, monkeypatch):
    assert says in found(chapter(*cells), monkeypatch)


def test_a_chapter_keeps_to_its_own_minutes(monkeypatch):
    assert "takes 4 minutes, more than its 3" in found(good(), monkeypatch, minutes=3)
    assert "does not say how many minutes" in found(good(), monkeypatch, minutes=None)


def test_minutes_are_written_once_and_kept():
    book = good()
    assert sittings.with_minutes(book) is not None
    sittings.with_minutes(book, write=True)
    assert sittings.with_minutes(book) is None
    heading, line = book.cells[2].source.split("\n\n")[:2]
    assert heading == "## Sitting 1: One" and line == f"*{sittings.minutes(book)[1]} minutes*"
    book.cells[3].source += "\n\n" + "word " * 800
    assert sittings.with_minutes(book) is not None


def test_a_sitting_whose_heading_stands_inside_a_cell_says_its_minutes():
    book = chapter(*EXERCISE, text("The end.\n\n## Sitting 2: Two\n\n*0 minutes*\n\nA line."))
    book.cells.insert(-2, code("x = 1\n" * 24))
    sittings.with_minutes(book, write=True)
    (inside,) = (cell.source for cell in book.cells if "Sitting 2" in cell.source)
    assert inside == "The end.\n\n## Sitting 2: Two\n\n*2 minutes*\n\nA line."
    assert sittings.with_minutes(book) is None


@pytest.mark.parametrize(
    "minutes, said", [(35, "35 minutes"), (100, "100 minutes"), (128, "2¼ hours"), (240, "4 hours")]
)
def test_minutes_in_words(minutes, said):
    assert sittings.words(minutes) == said


def test_an_argument_is_no_name_that_a_folded_cell_defines():
    folded = code("# @title Plot\nwork = 1", "hide-input")
    book = chapter(*EXERCISE, *[code("x = 1")] * 3, folded, code("def run(work):\n    work()"))
    assert not [p for p in bounds.problems(book, "99") if "which folded" in p]


@pytest.mark.parametrize("path", notebook.paths(), ids=lambda path: path.stem)
def test_chapters_keep_the_bounds_or_stand_on_the_list(path):
    problems = bounds.problems(notebook.read(path), path.stem[:2])
    if path.stem[:2] in labels.plan()["not_in_sittings"]:
        assert problems, "it keeps all bounds: take it off the list in book/chapters.toml"
    else:
        assert not problems


@pytest.mark.parametrize("path", notebook.paths(), ids=lambda path: path.stem)
def test_chapters_say_the_minutes_that_are_counted(path):
    assert sittings.with_minutes(notebook.read(path)) is None


def test_the_list_names_chapters_that_are_there():
    assert set(labels.plan()["not_in_sittings"]) <= {path.stem[:2] for path in notebook.paths()}
