"""The book's front: results in words, the picture, the road, and the README's part."""

import io

import nbformat
import pytest
from PIL import Image

from helpers import report
from helpers.press import front, hero, labels, notebook, results, routes

HEADLINES = {
    "oja.fast_step_us_2000": 4.0,
    "oja.graph_step_us_2000": 12.0,
    "oja.gpu_vs_numpy_2000": 200.0,
    "oja.source_step_us_2000": 99.0,
}
ENTRIES = [{"name": name, "value": value} for name, value in HEADLINES.items()]


@pytest.mark.parametrize(
    "value, text",
    [(0.0674546, "0.0675"), (105.289, "105"), (4.98e-15, "4.98 × 10⁻¹⁵"), (1234.5, "1,230")]
    + [(4096.0, "4,096"), (0, "0"), (-2345.6, "-2,350"), (2.5e8, "2.5 × 10⁸")],
)
def test_digits(value, text):
    assert labels.digits(value) == text


@pytest.mark.parametrize(
    "value, unit, against, said",
    [
        (0.0653, "of its speed", "cuBLAS", "The first: 6.53 % of the speed of cuBLAS"),
        (3.461, "times as fast", "two kernels", "The first: 3.46 times as fast as two kernels"),
        (98.487, "%", "3 seeds", "The first: 98.5 % (3 seeds)"),
        (0.125, "ratio", None, "The first: 0.125"),
    ],
)
def test_a_result_in_words(value, unit, against, said):
    entry = {"name": "a.one", "value": value, "unit": unit, "against": against}
    assert labels.sentence(entry | {"label": "The first"}) == said


def test_every_result_has_a_label_and_every_label_a_result():
    stored = {entry["name"]: entry for entry in results.stored()}
    assert [name for name, entry in stored.items() if labels.label(entry) == name] == []
    assert set(labels.plan()["labels"]) - set(stored) == set()


def test_the_ladder_and_its_gain():
    steps, gain = hero.rungs(ENTRIES)
    assert [us for _, us, _ in steps] == [19800, 99, 12, 4] and gain == 24.75
    assert [hero.time(us) for _, us, _ in steps] == ["19.8 ms", "99 µs", "12 µs", "4 µs"]
    assert "is 25 times as fast" in hero.alternative(ENTRIES)


def test_bars_are_as_long_as_the_logarithms_of_their_times():
    bars = [shape[3] for shape in hero.shapes(ENTRIES, "a GPU") if shape[0] == "bar"]
    texts = [shape[-1] for shape in hero.shapes(ENTRIES, "a GPU") if shape[0] == "text"]
    # Each rung: 19800, 99, 12 and 4 µs above 1 µs.
    assert bars[0] / bars[1] == pytest.approx(9.893 / 4.595, rel=1e-3)
    assert bars[2] / bars[3] == pytest.approx(2.485 / 1.386, rel=1e-3)
    assert "25 ×" in texts and any("a GPU" in text for text in texts)


def test_the_stored_pictures_are_those_of_the_stored_results(tmp_path):
    for path in hero.write(tmp_path):
        stored = (hero.FOLDER / path.name).read_bytes()
        if path.suffix == ".svg":
            assert stored == path.read_bytes(), "run python -m helpers.press.hero"
        else:  # another version of Pillow may pack the same picture otherwise
            assert Image.open(path).size == Image.open(io.BytesIO(stored)).size == (1200, 630)


def test_the_readme_shows_what_the_chapters_say():
    text = front.README.read_text(encoding="utf-8")
    part = front.readme({path.name: (path, notebook.read(path)) for path in notebook.paths()})
    assert front.with_front(text, part) == text, "run python -m helpers.press.front --readme"
    assert part.count(".ipynb)") == len(notebook.paths())


def test_a_readme_without_marks_is_refused():
    with pytest.raises(ValueError, match="has not the lines"):
        front.with_front("# A book", "part")


def chapter(tmp_path, monkeypatch):
    """Return the path of a chapter 97 with a result; a chapter 98 is planned, and a side road."""
    result = {"name": "a.one", "value": 0.5, "unit": "ratio", "against": "B", "label": None}
    result = nbformat.v4.new_output("display_data", {report.MIME: result})
    cells = [
        nbformat.v4.new_markdown_cell("# Tea & <cake>\n\n**Time** About an hour, or two."),
        nbformat.v4.new_code_cell("1", outputs=[result]),
    ]
    path = tmp_path / "97_tea.ipynb"
    notebook.write(nbformat.v4.new_notebook(cells=cells), path)
    card = {"part": "I", "build": "a <cup>", "headline": "a.one", "claim": "{} %"}
    planned = {"part": "I", "title": "Milk", "build": "a jug"}
    plan = {"parts": {"I": "Drinks", "II": "None"}, "chapters": {"97": card, "98": planned}}
    plan |= {"labels": {}, "units": {"a.one": "of its speed"}}
    monkeypatch.setattr(labels, "plan", lambda: plan)
    ways = routes.plan() | {"roads": {"side": [98]}}
    monkeypatch.setattr(routes, "plan", lambda: ways)
    return path


def test_stops_of_the_road(tmp_path, monkeypatch):
    path = chapter(tmp_path, monkeypatch)
    (text,) = front.landing({"x": (path, notebook.read(path))})
    (written,) = [line for line in text.splitlines() if ">97<" in line]
    assert "Tea &amp; &lt;cake&gt;" in written and "a &lt;cup&gt;" in written
    assert 'href="../notebooks/97_tea.html"' in written and "0 min · 50 %" in written
    (planned,) = [line for line in text.splitlines() if ">98<" in line]
    assert "Milk (to come)" in planned and "href" not in planned
    assert 'class="planned side"' in planned and 'class="written"' in written
    assert "I. Drinks" in text and "II." not in text.partition('class="road"')[2]


def test_a_result_that_a_chapter_has_not_is_an_error(tmp_path, monkeypatch):
    path = chapter(tmp_path, monkeypatch)
    labels.plan()["chapters"]["97"]["headline"] = "a.two"
    with pytest.raises(KeyError, match="a.two"):
        front.landing({"x": (path, notebook.read(path))})
