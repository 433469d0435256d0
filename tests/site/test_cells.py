"""Cells on the page: nothing spoils an exercise, figures have numbers and can be enlarged."""

import base64
import importlib.util
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import CHAPTERS, ROOT, notebook, soup
from docutils import nodes
from PIL import Image


def extension(name):
    """Return the module `name` of book/_ext."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "book" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


page_cells, light = extension("cells"), extension("light")


def page(site, chapter):
    return soup(site / f"{chapter}.html")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_a_solution_prints_is_inside_its_fold(site, chapter):
    for cell in page(site, chapter).select(".cell.tag_solution"):
        (fold,) = cell.find_all("details", recursive=False)
        assert not fold.has_attr("open")
        assert cell.select(".cell_output") == fold.select(".cell_output")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_open_output_says_that_an_exercise_is_solved(site, chapter):
    outputs = page(site, chapter).select(".cell_output")
    open_ones = [o.get_text() for o in outputs if o.find_parent("details") is None]
    assert any(re.search(r"Exercise \S+: ", text) for text in open_ones)
    assert [text for text in open_ones if re.search(r"Exercise \S+: correct", text)] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_output_of_an_exercise_is_called_the_stored_runs(site, chapter):
    outputs = page(site, chapter).select(".cell_output")
    stub = r"Exercise \S+: (?:not done yet|wrong)"
    exercises = [o for o in outputs if re.search(stub, o.get_text())]
    assert len(exercises) >= 3
    assert all("message" in o["class"] for o in exercises)  # whose long lines wrap
    said = [o.select_one("p.stored-run").get_text() for o in exercises]
    assert "is stored" in said[0] and all("stored run" in text for text in said[1:])


PREDICT = r"\*\*[Pp]redict\b"


def cells_after(chapter, pattern):
    """Return, for each cell of a chapter that is on its page and has code, whether it stands
    between a text whose last paragraph has `pattern` and the next text, and whether it prints."""
    found, after = [], False
    for cell in notebook(chapter)["cells"]:
        if cell["cell_type"] == "markdown":
            last = "".join(cell["source"]).strip().split("\n\n")[-1]
            after = bool(re.search(pattern, last))
        elif "remove-cell" not in cell["metadata"].get("tags", []):
            found.append((after, bool(cell["outputs"])))
    return found


def outputs_after(site, chapter, pattern):
    """Return the outputs on the page of a chapter of the cells that cells_after() finds."""
    shown, wanted = page(site, chapter).select(".cell"), cells_after(chapter, pattern)
    found = [cell.select(".cell_output") for cell in shown]
    assert [bool(outputs) for outputs in found] == [prints for _, prints in wanted]
    cells = zip(found, wanted, strict=True)
    return [output for outputs, (after, _) in cells if after for output in outputs]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_answer_stands_open_between_a_question_and_the_next_text(site, chapter):
    answers = outputs_after(site, chapter, PREDICT)
    assert [a.get_text() for a in answers if not a.find_parent("details")] == []


def test_there_are_questions():
    """Else the test above would hold for a book without any."""
    answered = [cell for name in CHAPTERS for cell in cells_after(name, PREDICT) if all(cell)]
    assert len(answered) > 50


@pytest.mark.parametrize(
    "text, is_question",
    [
        ("The table sets the times beside what the passes predict.", False),
        ("Bytes alone do not predict this.", False),
        ("Predict: which is faster?", True),
        ("Look at the code before you run it.", True),
    ],
)
def test_what_nobody_asked_stands_open(text, is_question):
    assert page_cells.asks(nodes.paragraph("", text)) is is_question


def test_what_is_to_be_predicted_is_folded_and_can_be_seen(reader):
    chapter = next(name for name in CHAPTERS if "/20_" in name)
    visit = reader().open(f"{chapter}.html")
    cells = visit.locator(".cell.prediction")
    assert cells.count() >= 1
    output = cells.first.locator(".cell_output")
    assert cells.first.locator(".cell_input").is_visible() and not output.is_visible()
    cells.first.locator("summary").click()
    assert output.is_visible()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_setup_is_folded_and_says_so(site, chapter):
    summary = page(site, chapter).select_one(".cell details summary")
    assert summary.get_text().split()[0] == "Setup"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_have_numbers_in_order_and_their_text_as_caption(site, chapter):
    html = page(site, chapter)
    alts = [image["alt"] for image in html.select(".cell_output img")]
    captions = [caption.get_text() for caption in html.select("p.figure-caption")]
    number = chapter.split("/")[1][:2]
    assert len(captions) == len(alts)
    for k, (caption, alt) in enumerate(zip(captions, alts, strict=True), 1):
        head, text = f"Figure {number}.{k} ", " ".join(caption.split())
        assert text.startswith(head)
        # The same words and numbers, but as a sentence.
        words = [" ".join(re.findall(r"\w+", t)).lower() for t in (text[len(head) :], alt)]
        assert words[0] == words[1]
        assert re.match(r"[^a-z]|[a-z]\W", text[len(head) :]) and text[-1] in ".?!"
        assert "{'" not in text and "['" not in text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_are_the_stored_ones_pixel_for_pixel(site, chapter):
    outputs = [o for cell in notebook(chapter)["cells"] for o in cell.get("outputs", [])]
    stored = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    shown = page(site, chapter).select(".cell_output img")
    assert len(stored) == len(shown) > 0
    for text, image in zip(stored, shown, strict=True):
        one = Image.open(io.BytesIO(base64.b64decode("".join(text)))).convert("RGBA")
        other = Image.open(site / "notebooks" / image["src"]).convert("RGBA")
        assert (np.asarray(one) == np.asarray(other)).all()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_have_the_size_that_the_notebook_asks_for(site, chapter):
    """Or their own; as attributes, which the sheet may shrink on a telephone, and as no link."""
    outputs = [o for cell in notebook(chapter)["cells"] for o in cell.get("outputs", [])]
    stored = [o for o in outputs if "image/png" in o.get("data", {})]
    shown = page(site, chapter).select(".cell_output img")
    for output, image in zip(stored, shown, strict=True):
        png = io.BytesIO(base64.b64decode("".join(output["data"]["image/png"])))
        width, height = Image.open(png).size
        wanted = {"width": width, "height": height} | output["metadata"]["image/png"]
        assert [image[side] for side in ("width", "height")] == [
            str(wanted[side]) for side in ("width", "height")
        ]
        assert not image.has_attr("style") and not image.find_parent("a")


@pytest.mark.parametrize(
    "given, sizes",
    [
        ("", 'width="8" height="6" loading="lazy"'),
        (' style="width: 4px; height: 3px;"', 'width="4" height="3" loading="lazy"'),
        (' style="width: 50%;"', 'style="width: 50%;"'),
        (' width="5"', 'width="5"'),
    ],
)
def test_a_picture_has_its_own_size_where_none_is_given(tmp_path, given, sizes):
    Image.new("RGB", (8, 6)).save(tmp_path / "a.png")
    env = SimpleNamespace(images={"a.png": ({"page"}, "a.png")})
    context = {"body": f'<p><img alt="A."{given} src="_images/a.png" /></p>'}
    light.size_pictures(SimpleNamespace(srcdir=tmp_path, env=env), "page", "", context, None)
    found = re.findall(r'\w+="[^"]*"', context["body"])
    assert set(found) == {'alt="A."', 'src="_images/a.png"', *re.findall(r'\w+="[^"]*"', sizes)}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_formula_is_left_as_text(site, chapter):
    texts = page(site, chapter).select("article p, article li, article td")
    plain = [text.find_all(string=re.compile(r"\$")) for text in texts]
    shown = {s for found in plain for s in found if not s.find_parent(class_="math")}
    assert [s for s in shown if s.find_parent(["code", "pre"]) is None] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_line_begins_with_the_sign_after_a_formula(site, chapter):
    """It stands in the formula's own span, once."""
    for formula in page(site, chapter).select("span.math"):
        after = str(formula.next_sibling or "")
        assert after[:1] not in tuple(",.;:"), (formula.get_text(), after[:20])


def test_a_figure_is_enlarged_by_a_tap_and_put_back_by_another(reader):
    options = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
    visit = reader(**options).open(f"{CHAPTERS[0]}.html")
    figure = visit.locator(".cell_output img:visible").first
    figure.scroll_into_view_if_needed()
    before = figure.bounding_box()["width"]
    figure.tap()
    large = visit.locator("dialog.enlarged img")
    assert large.bounding_box()["width"] >= 1.9 * before
    large.tap()
    visit.wait_for_selector("dialog.enlarged", state="detached")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_results_are_said_in_words(site, chapter):
    html = page(site, chapter)
    names = {
        data["name"]
        for cell in notebook(chapter)["cells"]
        if "remove-cell" not in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", [])
        for kind, data in output.get("data", {}).items()
        if "headline" in kind
    }
    shown = {abbr["title"]: abbr.get_text() for abbr in html.select(".headline-result abbr")}
    assert set(shown) == names
    assert [text for text in shown.values() if not re.search(r": \S", text)] == []
    assert not any(re.search(r"\b[a-z]+\.[a-z]+_", text) for text in shown.values())


def test_text_code_and_headings_have_their_sizes(reader):
    style = "e => { const s = getComputedStyle(e); return [parseFloat(s.fontSize), +s.fontWeight] }"
    visit = reader(viewport={"width": 1600, "height": 900}).open(f"{CHAPTERS[0]}.html")
    h2, h3 = (visit.locator(f"article {tag}").first.evaluate(style) for tag in ("h2", "h3"))
    assert h2 == [28, 650] and h3[0] == pytest.approx(20.8) and h3[1] == 600
    widest = visit.evaluate(
        "Math.max(...[...document.querySelectorAll('article p')].map(p => p.clientWidth))"
    )
    assert widest <= 42 * 16
    phone = reader(viewport={"width": 360, "height": 740}).open(f"{CHAPTERS[0]}.html")
    assert phone.locator("article pre:visible").first.evaluate(style)[0] == 12


def test_a_fade_shows_where_what_is_printed_is_cut(reader):
    phone = reader(viewport={"width": 360, "height": 740}).open(f"{CHAPTERS[0]}.html")
    wide = "all => all.findIndex(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 9)"
    at = phone.eval_on_selector_all(".cell_output pre", wide)
    long = phone.locator(".cell_output pre").nth(at)
    long.scroll_into_view_if_needed()
    phone.wait_for_selector(".highlight.cut")
    assert "cut" in long.evaluate("e => e.parentElement.className")
    long.evaluate("e => e.scrollLeft = e.scrollWidth")
    phone.wait_for_function(
        "e => !e.parentElement.classList.contains('cut')", arg=long.element_handle()
    )


@pytest.mark.parametrize(
    "cell, kept",
    [
        ("<td>472.2 ms</td>", "<td>472.2\N{NO-BREAK SPACE}ms</td>"),
        (
            '<td style="text-align: right;"> 9.331 GB/s </td>',
            '<td style="text-align: right;"> 9.331\N{NO-BREAK SPACE}GB/s </td>',
        ),
        ("<td>3 steps of it</td>", None),
        ("<td>one core</td>", None),
        ("<td>1.05 (1.05 to 1.06)</td>", None),
    ],
)
def test_in_a_table_a_number_keeps_its_unit(cell, kept):
    holder = nodes.container("", nodes.raw("", cell, format="html"))
    page_cells.keep_units(None, holder)
    assert holder.astext() == (kept or cell)
