"""Pages on paper: everything is there, what was folded too, and nothing is cut."""

import io
import re
import unicodedata

import pytest
from conftest import CHAPTERS, PAGES, notebook, soup
from pypdf import PdfReader

A4 = {"width": 794, "height": 1123}
MARGINS = dict.fromkeys(("top", "right", "bottom", "left"), "15mm")


def letters(text):
    """Return `text` without spaces, line ends and ligatures: a PDF has its own."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def printed(page):
    """Return the text of each sheet that `page` is printed on."""
    pdf = page.pdf(format="A4", margin=MARGINS)
    return [letters(sheet.extract_text()) for sheet in PdfReader(io.BytesIO(pdf)).pages]


@pytest.mark.parametrize("name", [*PAGES[:2], f"{CHAPTERS[0]}.html"])
def test_only_the_article_is_printed(reader, name):
    page = reader(viewport=A4).open(name)
    page.emulate_media(media="print")
    assert page.locator("article.bd-article").is_visible()
    for aside in (".bd-sidebar-primary", ".bd-header-article", ".prev-next-footer"):
        assert not page.locator(aside).first.is_visible(), aside
    assert page.evaluate("document.documentElement.scrollWidth") <= A4["width"]


# Printing a chapter and reading the sheets takes seconds, and so most are in the long part.
PRINTED = [CHAPTERS[0], *(pytest.param(c, marks=pytest.mark.long) for c in CHAPTERS[1:])]


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("chapter", PRINTED)
def test_a_printed_chapter_has_hints_solutions_and_whole_lines(site, reader, chapter):
    page = reader(viewport=A4).open(f"{chapter}.html")
    sheets = printed(page)
    paper = "".join(sheets)
    shown = [
        ("".join(cell["source"]), cell["metadata"].get("tags", []))
        for cell in notebook(chapter)["cells"]
        if cell["cell_type"] == "code" and "remove-cell" not in cell["metadata"].get("tags", [])
    ]
    # Code to the last character of its last line; that of drawings, folded, stays away.
    code = [source for source, tags in shown if "solution" in tags or "hide-input" not in tags]
    assert sum("solution" in tags for _, tags in shown) >= 4
    assert [source for source in code if letters(source) not in paper and fits(source)] == []
    apart = [s for s in code if fits(s) and not any(letters(s) in sheet for sheet in sheets)]
    assert apart == []
    hints = soup(site / f"{chapter}.html").select("article details:not(.hide) > p")
    words = {max(re.findall(r"[\w ]+", hint.get_text()), key=len) for hint in hints}
    assert len(words) >= 4
    assert [hint for hint in words if letters(hint) not in paper] == []
    for summary in ("Showthesolution", "Hidethesolution", "Showthecode", "Hidethecode"):
        assert summary not in paper


def fits(source):
    """Say whether the code `source` is short enough to stand on one sheet, its lines wrapped."""
    return sum(1 + len(line) // 75 for line in source.splitlines()) <= 40


@pytest.mark.parametrize("site", ["built"], indirect=True)
def test_a_page_read_in_the_dark_is_printed_in_dark_letters(site, reader):
    page = reader(viewport=A4, color_scheme="dark").open(PAGES[1])
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.evaluate(
        "addEventListener('beforeprint', () => {"
        " window.inkOnPaper = getComputedStyle(document.querySelector('article p')).color })"
    )
    page.pdf()
    ink = page.evaluate("window.inkOnPaper")
    assert max(int(channel) for channel in re.findall(r"\d+", ink)[:3]) < 100
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
