"""The results of every GPU: the files' form, how they are made, and how two are compared."""

import json
import os
import re

import nbformat
import numpy as np
import pytest
import samples

from helpers import report, timing
from helpers.press import execute, host, labels, notebook, pages, record, results, used

FACTS = {
    "gpu": "NVIDIA Test GPU (8 GB)",
    "driver": "580.1",
    "cuda": "13.2",
    "nvrtc": "13.0",
    "cupy": "14.2.0",
    "numpy": "2.4.6",
    "python": "3.12.3",
    "date": "2026-11-21",
}
NAME = "NVIDIA-Test-GPU-8-GB.jsonl"
LINE = {
    "name": "sample.one",
    "value": 12.5,
    "unit": "ratio",
    "against": "NumPy",
    "notebook": "99_sample",
    "date": "2026-11-21",
}

FILES = sorted(path for path in results.FOLDER.rglob("*") if path.is_file())
# Apart, but their lines do not speak of the host; how-numbers-are-made.md says what is known.
NAMED = []
AGAIN = [path for path in FILES if path.parent.name == results.AGAIN]


def entry(name, value, unit="ratio", against="NumPy", label=None):
    return {"name": name, "value": value, "unit": unit, "against": against, "label": label}


def recorded(path, entries, **facts):
    """Write a chapter that stores `entries` to `path`, with a receipt that fits it."""
    book = samples.chapter()
    book.cells[4].outputs = [
        nbformat.v4.new_output("display_data", {report.MIME: data, "text/plain": data["name"]})
        for data in entries
    ]
    book.metadata.receipt = FACTS | {"outputs_sha256": used.outputs_sha256(book)} | facts
    book.metadata.receipt |= {"duration_seconds": 1.5, "sanitizer": {"verdict": "0 errors"}}
    notebook.write(book, path)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of results: an empty one, where there are no chapters either."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path / "none")
    return tmp_path / "results"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(results.FOLDER))
def test_every_file_of_the_book_has_its_form(path):
    assert path.suffix == ".jsonl" and results.problems(path) == []


def repeated(path):
    """Return the pairs of lines, first and second, that are repeats; `path` is the second's."""
    first = {line["name"]: line for line in results.load(results.FOLDER / path.name)[1]}
    pairs = [(first[x["name"]], x) for x in results.load(path)[1] if x["name"] in first]
    return [(a, b) for a, b in pairs if results.same_way(a, b)]


def unexplained(path):
    """Return the chapters, by headline, whose repeats are apart and do not name the host."""
    host = re.compile("the host|(?:from|by) Python")  # what Python asks for takes the host's time
    return {
        a["name"]: a["notebook"].partition("_")[0]
        for a, b in repeated(path)
        if a["unit"] != "relative error"
        and a["value"]
        and not 0.95 <= b["value"] / a["value"] <= 1.05
        and not host.search(a["against"] or "")
    }


@pytest.mark.parametrize("path", AGAIN, ids=lambda path: path.stem)
def test_a_second_run_agrees_or_the_headline_says_why_not(path):
    """Within a twentieth; what differs more rests on the host and says so. An error is a bound.

    What was measured in another way then is no repeat.
    """
    assert len(repeated(path)) > 7  # a chapter that measures in another way now repeats nothing
    assert set(unexplained(path)) <= set(NAMED)


def test_what_is_apart_and_does_not_name_the_host_is_named_on_the_page():
    found = {name: chapter for path in AGAIN for name, chapter in unexplained(path).items()}
    assert sorted(found) == sorted(NAMED)
    page = (notebook.BOOK / "book" / "how-numbers-are-made.md").read_text(encoding="utf-8")
    assert all(f"in chapter {chapter}" in page for chapter in found.values())


@pytest.mark.parametrize(
    "change, same",
    [
        ({"value": 99}, True),
        ({"against": "NumPy, 14 rounds of 1,000; -2.5 to 3; the host's time"}, True),
        ({"against": "NumPy, 3 rounds of -7, which is less"}, False),
        ({"against": None}, False),
        ({"unit": "s"}, False),
        ({"date": "2026-11-20"}, False),
        ({"date": "2026-11-20", "notebook": "98_sample"}, True),
    ],
)
def test_what_was_measured_in_the_same_way(change, same, monkeypatch):
    plan = {"chapters": {"99": {"same_since": "2026-11-21"}, "98": {}}}
    monkeypatch.setattr(labels, "plan", lambda: plan)
    line = LINE | {"against": "NumPy, 3 rounds of 7; a remark"}
    assert results.same_way(line | {"notebook": (line | change)["notebook"]}, line | change) is same
    assert results.same_way(line | change, line | {"notebook": (line | change)["notebook"]}) is same


def test_there_is_a_file():
    assert list(results.FOLDER.glob("*.jsonl"))


def test_the_chapters_results_are_in_the_file_of_their_gpu():
    for path in notebook.paths():
        book = notebook.read(path)
        if record.state(book) == "fresh":
            _, lines = results.load(results.file(book.metadata.receipt["gpu"]))
            found = [x for x in lines if x["notebook"] == path.stem]
            stored = [{key: x[key] for key in results.FIELDS} for x in results.stored([path])]
            assert found == stored, "run `python -m helpers.press.results --gather`"


def test_what_is_recorded_is_gathered_by_gpu(folder, tmp_path):
    first = recorded(tmp_path / "97_a.ipynb", [entry("b.two", 2), entry("b.one", 1, label="One")])
    second = recorded(tmp_path / "98_b.ipynb", [entry("c.one", 3, "s", None)], date="2026-11-20")
    other = recorded(tmp_path / "99_c.ipynb", [entry("d.one", 4)], gpu="Another GPU")
    assert results.main(["--gather", *map(str, (second, first, other))]) == 0
    assert sorted(os.listdir(folder)) == ["Another-GPU.jsonl", NAME]
    text = (folder / NAME).read_text(encoding="utf-8")
    receipt, *lines = map(json.loads, text.splitlines())
    assert receipt == FACTS  # the newer one
    names = [(x["name"], x["notebook"], x["value"], x["date"]) for x in lines]
    assert names == [
        ("b.two", "97_a", 2, "2026-11-21"),
        ("b.one", "97_a", 1, "2026-11-21"),
        ("c.one", "98_b", 3, "2026-11-20"),
    ]
    assert all(tuple(line) == tuple(LINE) for line in lines)
    assert results.problems(folder / NAME) == []
    # A new recording replaces what there is of its chapter, and no more.
    recorded(first, [entry("b.one", 5)], date="2026-11-22")
    assert results.gather([first]) == []
    receipt, lines = results.load(folder / NAME)
    assert receipt["date"] == "2026-11-22"
    assert [(x["name"], x["value"]) for x in lines] == [("b.one", 5), ("c.one", 3)]
    recorded(first, [])
    assert results.gather([first]) == []
    assert [x["name"] for x in results.load(folder / NAME)[1]] == ["c.one"]


def test_outputs_that_were_not_recorded_are_left_out(folder, tmp_path, capsys):
    path = recorded(tmp_path / "97_a.ipynb", [entry("a.one", 2)], outputs_sha256="0")
    assert results.main(["--gather", str(path)]) == 1
    assert "97_a.ipynb: the stored outputs are not those" in capsys.readouterr().out
    assert not folder.exists()


def test_a_file_takes_its_own_gpu_only_and_never_the_stand_in(tmp_path):
    path = results.merge(tmp_path / "a.jsonl", FACTS, [entry("a.one", 2)], "97_a")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="has the results of NVIDIA Test GPU .8 GB., not of B"):
        results.merge(path, FACTS | {"gpu": "B"}, [entry("a.one", 3)], "97_a")
    with pytest.raises(ValueError, match="the stand-in's numbers say nothing"):
        results.merge(path, FACTS | {"gpu": "CPU stand-in, no GPU"}, [entry("a.one", 3)], "97_a")
    assert path.read_bytes() == before


def without(table, key):
    return {name: value for name, value in table.items() if name != key}


def test_a_file_may_be_older_than_the_note_of_its_compiler(tmp_path):
    path = tmp_path / NAME
    path.write_text("\n".join(map(json.dumps, [without(FACTS, "nvrtc"), LINE])))
    assert results.problems(path) == []
    results.merge(path, without(FACTS, "nvrtc"), [entry("a.one", 1)], "99_sample")
    assert results.problems(path) == [] and "nvrtc" not in results.load(path)[0]
    results.merge(path, FACTS | {"date": "2026-11-22"}, [entry("a.one", 1)], "99_sample")
    assert results.problems(path) == [] and results.load(path)[0]["nvrtc"] == "13.0"


@pytest.mark.parametrize(
    "facts, lines, says",
    [
        (FACTS | {"driver": ""}, [], "line 1 is not the texts gpu, driver"),
        (without(FACTS, "cuda"), [], "line 1 is not the texts gpu, driver"),
        (FACTS | {"nvrtc": ""}, [], "line 1 is not the texts gpu, driver, cuda, nvrtc"),
        (FACTS | {"gpu": "CPU stand-in, no GPU"}, [], "is to be named"),
        (FACTS | {"gpu": "NVIDIA Another"}, [], "is to be named NVIDIA-Another.jsonl"),
        (FACTS | {"date": "21 November"}, [], "line 1: the date is not like"),
        (FACTS, [1], "no JSON object"),
        (FACTS, [without(LINE, "date")], "line 2: has not the fields name, value"),
        (FACTS, [LINE | {"label": "One"}], "line 2: has not the fields name, value"),
        (FACTS, [LINE, LINE | {"name": "One"}], "line 3: 'One' is no name of a headline"),
        (FACTS, [LINE | {"value": "12"}], "line 2: '12' is no finite number"),
        (FACTS, [LINE | {"value": float("inf")}], "line 2: inf is no finite number"),
        (FACTS, [LINE | {"value": True}], "line 2: True is no finite number"),
        (FACTS, [LINE | {"unit": ""}], "line 2: has no unit"),
        (FACTS, [LINE | {"against": 3}], "line 2: `against` is neither"),
        (FACTS, [LINE | {"notebook": "99_sample.ipynb"}], "no chapter's file name"),
        (FACTS, [LINE | {"date": "2026-13-01"}], "line 2: the date is not like"),
        (FACTS, [LINE, LINE], "sample.one is there twice"),
    ],
)
def test_each_departure_from_the_form_is_named(tmp_path, facts, lines, says):
    path = tmp_path / NAME
    path.write_text("\n".join(map(json.dumps, [FACTS, LINE])))
    assert results.problems(path) == []
    path.write_text("\n".join(map(json.dumps, [facts, *lines])))
    assert any(says in problem for problem in results.problems(path)), results.problems(path)


@pytest.mark.parametrize("text", ["", "{}\nnot JSON\n"])
def test_what_is_no_json_is_named(tmp_path, text):
    path = tmp_path / NAME
    path.write_text(text)
    (problem,) = results.problems(path)
    assert "is not one JSON object a line" in problem


def test_two_files_are_compared(tmp_path, capsys):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    results.merge(one, FACTS, [entry("a.b", 4), entry("a.zero", 0), entry("a.gone", 1)], "97_a")
    results.merge(two, FACTS, [entry("a.new", 7, "s"), entry("a.zero", 3), entry("a.b", 5)], "97_a")
    assert results.compare(one, two) == [
        ["a.b", "ratio", 4, 5, 1.25],
        ["a.zero", "ratio", 0, 3, None],
        ["a.gone", "ratio", 1, None, None],
        ["a.new", "s", None, 7, None],
    ]
    assert results.main(["--compare", str(one), str(two)]) == 0
    header, _, first, _, gone, _ = capsys.readouterr().out.splitlines()
    assert header.split() == ["headline", "unit", "one", "two", "ratio"]
    assert first.split() == ["a.b", "ratio", "4", "5", "1.25"]
    assert gone.split() == ["a.gone", "ratio", "1", "–", "–"]


@pytest.fixture
def a_gpu(monkeypatch):
    monkeypatch.setattr(report, "facts", lambda: dict(FACTS))
    monkeypatch.setattr(execute, "refusal", lambda: None)


@pytest.mark.long
def test_a_reader_runs_all_chapters_and_changes_none(folder, tmp_path, a_gpu, capsys, monkeypatch):
    """In one real kernel: no recording switch, whatever the environment says."""
    paths = [tmp_path / f"{number}_sample.ipynb" for number in (97, 98)]
    good, bad = samples.chapter(), samples.chapter()
    samples.cell_with(
        good, "print(twice"
    ).source = (
        "import os\nhelpers.headline('sample.switch', float(os.environ['HELPERS_RECORDING']), 's')"
    )
    samples.cell_with(bad, "print(twice").source = "raise MemoryError('does not fit')"
    for book, path in zip((bad, good), paths, strict=True):
        notebook.write(book, path)
    before = [path.read_bytes() for path in paths]
    monkeypatch.setenv("HELPERS_RECORDING", "1")
    assert results.main(["--run", *map(str, paths)]) == 1
    assert [path.read_bytes() for path in paths] == before
    said = capsys.readouterr().out
    assert "97_sample.ipynb: FAILED: a cell failed" in said and "does not fit" in said
    assert "1 headlines" in said and "µs before" in said
    receipt, (line,) = results.load(folder / NAME)
    assert receipt == FACTS and results.problems(folder / NAME) == []
    assert (line["name"], line["value"], line["notebook"]) == ("sample.switch", 0, "98_sample")


def test_the_books_own_recordings_are_not_overwritten(folder, tmp_path, a_gpu, monkeypatch, capsys):
    path = recorded(tmp_path / "97_a.ipynb", [entry("a.one", 2)])
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path)
    found = {"seconds": 1.0, "disturbed": False}
    monkeypatch.setattr(execute, "run", lambda path: (notebook.read(path), found))
    assert results.main(["--run", str(path)]) == 1 and not folder.exists()
    assert "give --output FILE" in capsys.readouterr().err
    output = tmp_path / "second.jsonl"
    assert results.main(["--run", "--output", str(output), str(path)]) == 0
    assert not folder.exists() and results.load(output)[1][0]["value"] == 2


def test_without_a_gpu_nothing_is_run(folder, tmp_path, capsys):
    path = recorded(tmp_path / "97_a.ipynb", [entry("a.one", 2)])
    assert results.main(["--run", str(path)]) == 1
    assert capsys.readouterr().err.startswith("results: there is no GPU here")
    assert not folder.exists()


def test_the_page_shows_a_column_a_gpu(folder, tmp_path):
    entries = [entry("a.one", 0.123456, label="The first"), entry("a.two", 2)]
    first = recorded(tmp_path / "97_a.ipynb", entries)
    second = recorded(tmp_path / "98_b.ipynb", [])
    results.gather([first])
    other = FACTS | {"gpu": "Another | GPU", "driver": "1.2"}
    path = results.file(other["gpu"])
    results.merge(path, other, [entry("a.one", 1234.5, against="a loop")], "97_a")
    results.merge(path, other, [entry("b.one", 4096, "pixels", None)], "98_b")
    text = pages.write(tmp_path / "book", [first, second])[0].read_text(encoding="utf-8")
    head = "| Result | Against | Unit | Better | Another \\| GPU | NVIDIA Test GPU (8 GB) |"
    assert text.count(head) == 2
    assert '| <span title="a.one">The first</span> | NumPy |  | – | 1,230\\* | 0.123 |' in text
    assert "\n- The first: there in another way, ratio, against a loop\n" in text
    assert '| <span title="a.two">a.two</span> | NumPy |  | – | – | 2 |' in text
    assert '| <span title="b.one">b.one</span> | – | pixels | – | 4,096 | – |' in text
    assert "| NVIDIA Test GPU (8 GB) | 580.1 | 13.2 | 13.0 | 14.2.0 | 2.4.6 | 3.12.3 |" in text


def test_a_second_run_stands_beside_the_first(folder, tmp_path):
    book = recorded(
        tmp_path / "97_a.ipynb",
        [entry("a.one", 2, against="NumPy, 3 runs"), entry("a.two", 7, against="NumPy, 3 runs")],
    )
    other = recorded(tmp_path / "98_b.ipynb", [entry("b.one", 4)])
    results.gather([book, other])
    (folder / results.AGAIN).mkdir()
    again = folder / results.AGAIN / NAME
    then = [entry("a.one", 2.5, against="NumPy, 4 runs"), entry("a.two", 8, against="a loop")]
    results.merge(again, FACTS, then, "97_a")
    results.merge(again, FACTS, [entry("b.one", 5, "s")], "98_b")
    text = pages.write(tmp_path / "book", [book, other])[0].read_text(encoding="utf-8")
    assert text.count("| Result | Against | Unit | Better | NVIDIA Test GPU (8 GB) |") == 2
    assert "| NumPy, 3 runs |  | – | 2, again 2.5 |" in text
    assert "| NumPy, 3 runs |  | – | 7 |" in text  # then against something else: no repeat
    assert "| NVIDIA Test GPU (8 GB), again | 580.1 |" in text


def test_the_page_has_what_another_gpu_says_of_its_host(folder, tmp_path):
    book = recorded(tmp_path / "97_a.ipynb", [entry("a.one", 2, against="a loop; 3 µs there")])
    results.gather([book])
    other = FACTS | {"gpu": "Another GPU"}
    lines = [entry("a.one", 1, against="a loop; 5 µs there")]
    results.merge(results.file("Another GPU"), other, lines, "97_a")
    text = pages.write(tmp_path / "book", [book])[0].read_text(encoding="utf-8")
    assert "| a loop; 3 µs there |  | – | 1\\* | 2 |" in text
    assert "\n- a.one: there against a loop; 5 µs there" in text


def times(median, low, high):
    return {"median": median, "low": low, "high": high}


CALM = times(8.0, 7.9, 8.3)


@pytest.mark.parametrize(
    "before, after, expected",
    [
        (CALM, times(11.9, 11.8, 12.0), False),
        (CALM, times(12.1, 12.0, 12.2), True),
        (times(12.1, 12.0, 12.2), CALM, True),
        (CALM, times(8.0, 7.9, 12.1), True),
        (times(8.0, 7.9, 12.1), CALM, True),
        (CALM, times(8.0, 7.9, 11.9), False),
    ],
)
def test_when_the_host_is_disturbed(before, after, expected):
    assert host.disturbed(before, after) is expected
    receipt = {"host_us": {"before": before, "after": after}, "disturbed": expected}
    said = host.text(receipt)
    assert said.startswith("the host was disturbed: ") is expected
    assert said.endswith(" µs after") and f"{before['median']:.3g} (" in said


def test_the_host_is_measured_in_microseconds(monkeypatch):
    samples = np.array([4e-6, 8e-6, 8e-6, 9e-6, 10e-6])
    calls = []

    def measure(f, **options):
        calls.append((f(), options["clock"]))
        return timing.Timing(samples, "a GPU", "host")

    monkeypatch.setattr(timing, "measure", measure)
    assert host.measure() == times(8.0, 8.0, 9.0)
    ((result, clock),) = calls
    assert result.shape == (1000,) and float(result[-1]) == 2 and clock == "host"
    assert host.text({}) is None
