"""Chapters are called by number: in titles, in the sidebar, and as links wherever one is named."""

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import CHAPTERS, PAGES, ROOT, notebook, soup

NUMBERS = {Path(chapter).name[:2]: chapter for chapter in CHAPTERS}
# Every mention, however many chapters it names; the last digits of "exercise 10.5" are no chapter.
MENTION = re.compile(r"\bchapters?\s+(\d\d(?:(?:\s*,\s*|\s*,?\s+(?:and|or|to)\s+)\d\d)*)", re.I)


def plain(text):
    return re.sub(r"\W+", " ", text).strip()


def numbered_title(number):
    title = "".join(notebook(NUMBERS[number])["cells"][0]["source"]).splitlines()[0]
    return f"{number} · {title.removeprefix('# ')}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_called_by_its_number(site, chapter):
    number = Path(chapter).name[:2]
    page = soup(site / f"{chapter}.html")
    title = numbered_title(number)
    heading = page.select_one("article h1").get_text().removesuffix("#")
    assert heading.startswith(f"{number} · ") and plain(heading) == plain(title)
    assert plain(page.title.get_text()).startswith(plain(title))
    assert len(page.select("nav.bd-links details[open] a.current")) == 1
    entries = [a.get_text().strip() for a in page.select("nav.bd-links a")]
    named(entries)


def named(entries):
    """Assert that each chapter is among the entries of a list once, with its number."""
    for other in NUMBERS:
        assert [plain(e) for e in entries if e.startswith(f"{other} · ")] == [
            plain(numbered_title(other))
        ]


def test_the_sidebars_parts_are_opened_by_a_press(reader):
    page = reader().open(f"{NUMBERS[min(NUMBERS)]}.html")
    closed = page.locator("nav.bd-links details:not([open]) > summary")
    assert closed.count() > 0
    while closed.count():
        closed.first.click()
    named(page.locator("nav.bd-links a:visible").all_inner_texts())


def test_generated_pages_call_chapters_by_number(site):
    titles = [plain(numbered_title(number)) for number in NUMBERS]
    tables = soup(site / "book/generated/status.html").select("article table")
    links = [[plain(a.get_text()) for a in table.select("a")] for table in tables]
    assert links == [titles, titles, []]  # receipts, what ran, evidence


def prose(name):
    """Return the Markdown of the page `name`, section by section, less code, links and headings."""
    if name in CHAPTERS:
        cells = [c for c in notebook(name)["cells"] if c["cell_type"] == "markdown"]
        text = "\n\n".join("".join(c["source"]) for c in cells)
    else:
        path = ROOT / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            r"```\{include\} (\S+)\n```",
            lambda found: (path.parent / found[1]).read_text(encoding="utf-8"),
            text,
        )
    text = re.sub(r"(?s)```.*?```", " ", text)
    sections = re.split(r"(?m)^## .*$", text)
    for markup in (r"`[^`]*`", r"!?\[[^\]]*\]\([^)]*\)", r"(?m)^#+ .*$"):
        sections = [re.sub(markup, " ", section) for section in sections]
    return sections


@pytest.mark.parametrize("name", [p.removesuffix(".html") for p in PAGES if "/" in p])
def test_a_chapter_named_is_a_link_and_one_unwritten_is_text(site, name):
    """Once in a section, for the tab key stops at every link."""
    wanted = Counter()
    for section in prose(name):
        mentions = {n for m in MENTION.finditer(section) for n in re.findall(r"\d\d", m[1])}
        wanted.update(n for n in mentions if n in NUMBERS and NUMBERS[n] != name)
    found = soup(site / f"{name}.html").select("a.chapter-link")
    links = [(link.get_text(), link["href"]) for link in found]
    for text, target in links:
        assert target.endswith(f"{NUMBERS[text[-2:]].split('/')[1]}.html"), text
    assert Counter(text[-2:] for text, _ in links) == wanted


def test_chapters_are_named_somewhere():
    """Else the test above would hold for a site with no links at all."""
    mentions = [
        m[1] for chapter in CHAPTERS for text in prose(chapter) for m in MENTION.finditer(text)
    ]
    assert len(mentions) > 5
