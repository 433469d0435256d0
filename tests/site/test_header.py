"""The bar above a page: its buttons can be seen and reached, and cover nothing."""

import pytest
from conftest import CHAPTERS
from seen import STILL

PAGES = [f"{CHAPTERS[0]}.html", "book/setup.html", "book/generated/measured.html"]
WIDTHS = {"desktop": 1280, "tablet": 800, "phone": 360}  # the bar is laid out by style sheets alone

# Every button in sight, with what is wrong with it. What is in a menu is not in sight.
BUTTONS = """() => {
  const title = document.querySelector("article h1").getBoundingClientRect();
  const bar = document.querySelector(".bd-header-article");
  const shown = [...bar.querySelectorAll("button, a.btn")].filter(
    (e) => e.checkVisibility() && !e.closest(".dropdown-menu"));
  return shown.map((e) => {
    const wrong = [];
    const box = e.getBoundingClientRect();
    if (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight)
      wrong.push(`outside: ${box.left} to ${box.right}`);
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    if (!e.contains(top)) wrong.push("covered by " + top?.outerHTML.slice(0, 80));
    for (const part of [e, ...e.querySelectorAll("img")]) {
      const b = part.getBoundingClientRect();
      const beside = b.right <= title.left || b.left >= title.right;
      if (!beside && b.bottom > title.top && b.top < title.bottom) wrong.push("covers the title");
    }
    return [e.className, wrong];
  });
}"""


@pytest.mark.both
@pytest.mark.parametrize("name", PAGES)
def test_header_buttons_are_in_view_and_cover_nothing(reader, name):
    page = reader(viewport={"width": WIDTHS["desktop"], "height": 800}).open(name)
    for width in WIDTHS.values():
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(STILL)  # the sidebar slides away
        buttons = dict(page.evaluate(BUTTONS))
        assert len(buttons) >= 3
        assert {name: wrong for name, wrong in buttons.items() if wrong} == {}, width


@pytest.mark.both
def test_the_colab_button_is_in_the_header_of_a_published_copy(published, site, reader):
    page = reader(viewport={"width": 360, "height": 800}).open(PAGES[0])
    colab = page.locator(".bd-header-article .btn-colab-button")
    assert colab.count() == (site == published)


LINE = ["Colab", "Binder", "Codespace", "Download", "Source", "Print"]


@pytest.mark.both
def test_a_chapters_buttons_stand_in_one_line(published, site, reader):
    """On a phone they are icons with a name, and a codespace is none of them; the first three and
    the source need an address."""
    page = reader(viewport={"width": 1280, "height": 800}).open(PAGES[0])
    wanted = LINE if site == published else ["Download", "Print"]
    for width in WIDTHS.values():
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(STILL)
        there = [name for name in wanted if name != "Codespace" or width > 600]
        places = [
            page.locator(".bd-header-article .btn").filter(has_text=name).first.bounding_box()
            for name in there
        ]
        middles = [box["y"] + box["height"] / 2 for box in places]
        assert max(middles) - min(middles) < 3, width
        lefts = [box["x"] for box in places]
        assert lefts == sorted(lefts) and lefts[0] > 0
        assert places[-1]["x"] + places[-1]["width"] <= width
    assert page.locator(".bd-header-article .dropdown-download-buttons").count() == 0
    names = page.locator(".bd-header-article .btn").evaluate_all(
        "all => all.map(b => b.title || b.dataset.bsOriginalTitle || b.ariaLabel)"
    )
    assert all(names[: len(wanted)])


@pytest.mark.both
def test_the_source_is_the_chapters_file(published, site, reader):
    link = reader().open(PAGES[0]).locator(".bd-header-article a.btn-source-file-button")
    assert link.count() == (site == published)
    if site == published:
        assert link.get_attribute("href").endswith(f"/blob/main/{CHAPTERS[0]}.ipynb")
