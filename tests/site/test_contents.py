"""The contents beside a page mark the section that is read, however one got there."""

import pytest
from conftest import CHAPTERS
from marks import long_but

WHERE = ["30_elementwise_kernel", "10_matmul_kernel", "55_bottleneck"]  # where it was wrong
PAGES = [next(name for name in CHAPTERS if stem in name) for stem in WHERE]
pytestmark = [
    pytest.mark.parametrize("site", ["built"], indirect=True),
    pytest.mark.parametrize("page", long_but(PAGES[:1], PAGES), indirect=True),
]
# After the jump the window stands still for three frames.
STILL = """async () => {
  for (let k = 0, last = -1; k < 3; k = scrollY === last ? k + 1 : 0, last = scrollY)
    await new Promise(requestAnimationFrame);
}"""
MARKED = (
    """() => [...document.querySelectorAll("nav.page-toc a[aria-current=true]")].map(a => a.hash)"""
)
# By the text at the top of the window, not by the headings' places: what stands in which section.
READ = """() => {
  const box = document.querySelector("article.bd-article").getBoundingClientRect();
  for (let y = 130; y > 0; y -= 4) {
    const hit = document.elementFromPoint(box.x + 40, y);
    const found = hit?.closest("article section section[id]");
    if (found && hit !== found) {  // not the gap between two
      const shown = [...document.querySelectorAll("nav.page-toc a")].map(a => a.hash);
      for (let e = found; e; e = e.parentElement.closest("section"))
        if (shown.includes(`#${e.id}`)) return `#${e.id}`;
    }
  }
  return "";
}"""


@pytest.fixture
def page(request, reader):
    page = reader(viewport={"width": 1400, "height": 800}).open(f"{request.param}.html")
    page.add_style_tag(content="html { scroll-behavior: auto !important }")
    return page


def headings(page):
    return page.eval_on_selector_all("nav.page-toc a", "all => all.map(a => a.hash)")


def test_a_jump_marks_where_it_leads(site, page):
    """To every heading, in an order that goes up and down."""
    all_of_them = headings(page)
    assert len(all_of_them) > 10
    for place in all_of_them[::2] + all_of_them[::-3]:
        page.evaluate("hash => { location.hash = hash }", place)
        page.evaluate(STILL)
        assert page.evaluate(MARKED) == [place]


def test_a_leap_marks_what_is_read(site, page):
    """As by a fast wheel or the scroll bar: no heading comes by."""
    height = page.evaluate("document.documentElement.scrollHeight")
    for share in (0.9, 0.13, 0.55, 0.32, 0.71, 0.47, 0.05):
        page.evaluate("y => scrollTo(0, y)", share * height)
        page.evaluate(STILL)
        assert "".join(page.evaluate(MARKED)) == page.evaluate(READ), share


def test_page_down_marks_what_is_read(site, page):
    page.mouse.click(700, 400)
    marks = set()
    for _ in range(15):
        page.keyboard.press("PageDown")
        page.wait_for_timeout(60)
        page.evaluate(STILL)
        marked = "".join(page.evaluate(MARKED))
        marks.add(marked)
        assert marked == page.evaluate(READ)
    assert len(marks) > 3


def test_at_the_top_nothing_is_marked_and_at_the_end_the_last(site, page):
    page.evaluate("scrollTo(0, 1e7)")
    page.evaluate(STILL)
    assert page.evaluate(MARKED)[0] in headings(page)[-2:]
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(STILL)
    assert page.evaluate(MARKED) == []


def test_the_mark_is_in_sight(site, page):
    page.evaluate("hash => { location.hash = hash }", headings(page)[-1])
    page.evaluate(STILL)
    box = page.locator("nav.page-toc a[aria-current=true]").bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 800
