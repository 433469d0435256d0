"""Chapters are called by number: in titles, in the sidebar, and as links wherever one is named."""

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import CHAPTERS, PAGES, ROOT, notebook

NUMBERS = {Path(chapter).name[:2]: chapter for chapter in CHAPTERS}
# Every mention, however many chapters it names; the last digits of "exercise 10.5" are no chapter.
MENTION = re.compile(r"\bchapters?\s+(\d\d(?:(?:\s*,\s*|\s*,?\s+(?:and|or|to)\s+)\d\d)*)", re.I)


def plain(text):
    return re.sub(r"\W+", " ", text).strip()


def numbered_title(number):
    title = "".join(notebook(NUMBERS[number])["cells"][0]["source"]).splitlines()[0]
    return f"{number} · {title.removeprefix('# ')}"


@pytest.mark.parametrize("number", NUMBERS)
def test_a_chapter_is_called_by_its_number(reader, number):
    page = reader().open(f"{NUMBERS[number]}.html")
    title = numbered_title(number)
    heading = page.locator("article h1").first.inner_text()
    assert heading.startswith(f"{number} · ") and plain(heading) == plain(title)
    assert plain(page.title()).startswith(plain(title))
    assert page.locator("nav.bd-links details[open] a.current").count() == 1
    closed = page.locator("nav.bd-links details:not([open]) > summary")
    while closed.count():
        closed.first.click()
    entries = page.locator("nav.bd-links a").all_inner_texts()
    for other in NUMBERS:
        assert [plain(e) for e in entries if e.startswith(f"{other} · ")] == [
            plain(numbered_title(other))
        ]


def test_generated_pages_call_chapters_by_number(reader):
    page = reader().open("book/generated/status.html")
    links = page.locator("article table a").all_inner_texts()
    assert [plain(link) for link in links] == [plain(numbered_title(n)) for n in NUMBERS]


def prose(name):
    """Return the Markdown of the page `name` less code, links and headings."""
    if name in CHAPTERS:
        cells = [c for c in notebook(name)["cells"] if c["cell_type"] == "markdown"]
        text = "\n\n".join("".join(c["source"]) for c in cells)
    else:
        path = ROOT / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        for included in re.findall(r"```\{include\} (\S+)", text):
            text += (path.parent / included).read_text(encoding="utf-8")
    for markup in (r"(?s)```.*?```", r"`[^`]*`", r"!?\[[^\]]*\]\([^)]*\)", r"(?m)^#+ .*$"):
        text = re.sub(markup, " ", text)
    return text


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("name", [p.removesuffix(".html") for p in PAGES if "/" in p])
def test_a_chapter_named_is_a_link_and_one_unwritten_is_text(site, reader, name):
    named = [n for m in MENTION.finditer(prose(name)) for n in re.findall(r"\d\d", m[1])]
    wanted = Counter(n for n in named if n in NUMBERS and NUMBERS[n] != name)
    page = reader().open(f"{name}.html")
    links = page.eval_on_selector_all(
        "a.chapter-link", "all => all.map(a => [a.textContent, a.getAttribute('href')])"
    )
    for text, target in links:
        assert target.endswith(f"{NUMBERS[text[-2:]].split('/')[1]}.html"), text
    assert Counter(text[-2:] for text, _ in links) == wanted


def test_chapters_are_named_somewhere():
    """Else the test above would hold for a site with no links at all."""
    mentions = [m[1] for chapter in CHAPTERS for m in MENTION.finditer(prose(chapter))]
    assert len(mentions) > 5
