"""The built pages as a reader sees them, in headless Chromium."""

import pytest
from conftest import CHAPTERS, NO_BROWSER, PAGES, chromium
from marks import long_but
from seen import VIEWS, Eyes
from weigh import serve

FIRST = f"{CHAPTERS[0]}.html"
KINDS = [PAGES[0], FIRST, "book/setup.html", "book/generated/measured.html"]  # a page of each
# A published page differs in its header alone, which is the same in all chapters (seen.py).
PUBLISHED = [name for name in PAGES if name.removesuffix(".html") not in CHAPTERS[1:]]
OPENED = [(view, name) for name in PAGES for view in VIEWS if view != "published"]
OPENED += long_but(
    [("published", name) for name in KINDS], [("published", name) for name in PUBLISHED]
)
each_page = pytest.mark.parametrize("view, name", OPENED)
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def test_there_is_a_browser():
    """Without one the tests that need it are skipped, and this one fails."""
    assert chromium(), NO_BROWSER


@each_page
def test_no_error_and_no_other_host(seen, view, name):
    assert seen(view, name)["complaints"] == []


@each_page
def test_the_theme_is_the_readers(seen, view, name):
    assert seen(view, name)["theme"] == VIEWS[view][1]["color_scheme"]


@each_page
def test_nothing_is_too_wide(seen, view, name):
    assert seen(view, name)["width"] <= VIEWS[view][1]["viewport"]["width"]


@each_page
def test_pictures_are_shown(seen, view, name):
    assert seen(view, name)["lost"] == []


@each_page
def test_formulas_are_right_and_not_cut_off(seen, view, name):
    found = seen(view, name)
    assert (found["wrong"], found["cut"]) == ([], [])


@each_page
def test_formulas_are_set(seen, view, name):
    given, shown = seen(view, name)["formulas"]
    assert given == shown
    assert not given or "Book Math" in seen(view, name)["fonts"]
    assert given > 5 or name != f"{CHAPTERS[0]}.html"


@each_page
def test_icons_are_drawn(seen, view, name):
    """An icon that the small font has not would be a box, as wide as no icon is."""
    found = seen(view, name)
    assert len(found["icons"]) >= 4
    assert [i for i in found["icons"] if i[0] in ("none", "normal") or i[1] < 8] == []
    assert any("Awesome" in family for family in found["fonts"])


EVERY = [(view, name) for name in PAGES for view in ("light", "dark", "phone")]
EVERY += [("published", name) for name in PUBLISHED]


@pytest.mark.parametrize(
    "view, name", long_but([(v, n) for v in ("light", "dark") for n in KINDS], EVERY)
)
def test_nothing_is_inaccessible(seen, view, name):
    found = seen(view, name, axe=True)
    assert (found["axe"], found["complaints"]) == ([], [])
    assert found["theme"] == VIEWS[view][1]["color_scheme"]


FAULTY = """<!DOCTYPE html><html lang="en" data-theme="light"><title>Faulty</title><main><h1>A</h1>
<article><section id="here" style="width: 50px">
<div><math display="block"><mrow><mspace width="99px"></mspace></mrow></math></div></section>
<div class="highlight"><pre><span class="n" style="color: #ddd">x</span></pre></div>
<img src="/lost.png" alt="lost"><button></button><math><mi>\\nosuchmacro</mi></math>
<div class="cell tag_solution"><details><summary>Show</summary></details>
<p class="cell_input">open</p></div><p style="width: 1500px">wide</p></article></main>
<script>matchMedia("(prefers-color-scheme: dark)").onchange = e =>
{ document.documentElement.dataset.theme = e.matches ? "dark" : "light" }</script>
<script>console.error("oh"); fetch("http://localhost:9/"); nowhere()</script>"""


def test_faults_are_seen(browser, tmp_path):
    """A page with one of each: what looks at all pages finds them."""
    (tmp_path / "faulty.html").write_text(FAULTY)
    with serve(tmp_path) as address:
        eyes = Eyes(browser, lambda site: address)
        found = eyes.seen("light", "faulty.html") | eyes.seen("dark", "faulty.html", axe=True)
    said = "\n".join(found["complaints"])
    for words in (
        "console error: oh",
        "nowhere is not defined",
        "another host: http://localhost:9/",
    ):
        assert words in said
    assert "status 404" in said and "request failed" in said
    assert found["width"] > 1500 and found["lost"] == [f"{address}/lost.png"]
    assert found["wrong"] == ["\\nosuchmacro"] and found["cut"] == ["here"]
    assert found["solutions"] == [[True, True]]
    assert [token[:2] for token in found["tokens"]] == [["n", "rgb(221, 221, 221)"]]
    assert any("Buttons must have discernible text" in text for text in found["axe"])


@pytest.mark.parametrize("lost", [False, True])
def test_reader_notes_a_lost_picture_and_none_it_left(reader, lost):
    visit = reader()
    page = visit.open(f"{CHAPTERS[0]}.html")
    page.route("**/_images/**", lambda route: route.abort("connectionreset") if lost else None)
    asked = page.expect_request("**/_images/**")
    with page.expect_event("requestfailed") if lost else asked:
        page.locator("article img[loading=lazy]:visible").last.scroll_into_view_if_needed()
    visit.open("book/glossary.html")  # pictures that were never answered are left
    assert any("net::ERR_CONNECTION_RESET" in text for text in visit.complaints) == lost
    assert lost or visit.complaints == []


def test_root_leads_to_the_landing_page(reader):
    visit = reader()
    visit.page.goto(visit.address)  # which leads on at once
    visit.page.wait_for_url("**/book/index.html")
    assert "From Kernel to Network" in visit.page.title()


def test_search(reader):
    visit = reader()
    page = visit.open("search.html?q=barrier")
    page.wait_for_selector("#search-results li a")
    links = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
    assert any("book/standin.html" in link for link in links)
    assert visit.complaints == []


def test_search_button(reader):
    page = reader().open(PAGES[0])
    page.keyboard.press("Control+k")
    field = page.locator("input[type=search]:visible")
    field.first.fill("roofline")
    field.first.press("Enter")
    page.wait_for_selector("#search-results li a")


def test_theme_button(reader):
    page = reader(color_scheme="light").open(PAGES[0])
    button = page.locator("button.theme-switch-button:visible").first
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(page.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}


def test_glossary_tooltip(reader):
    page = reader().open(f"{CHAPTERS[0]}.html")
    link = page.locator("a.glossary-link:visible").first
    link.hover()
    page.wait_for_selector(".tooltip.show")
    page.mouse.move(0, 0)
    page.wait_for_selector(".tooltip", state="detached")
    link.focus()
    page.wait_for_selector(".tooltip.show")
    assert link.get_attribute("aria-describedby")


def test_previous_and_next(reader):
    page = reader().open(PAGES[0])
    for name in PAGES[1:3]:
        page.click("a.right-next")
        page.wait_for_url(f"**/{name}")
    page.click("a.left-prev")
    page.wait_for_url(f"**/{PAGES[1]}")


@each_chapter
def test_solutions_open(seen, chapter):
    found = seen("light", f"{chapter}.html")["solutions"]
    assert len(found) >= 3 and found == [[False, True]] * len(found)


@each_chapter
def test_figures_stand_on_white_in_the_dark(seen, chapter):
    found = seen("dark", f"{chapter}.html")["grounds"]
    assert found and found == [["rgb(255, 255, 255)", "none"]] * len(found)


@each_chapter
def test_pictures_have_their_sizes(seen, chapter):
    found = seen("light", f"{chapter}.html")["pictures"]
    assert len(found) >= 1 and all(int(width) > 100 for width, _ in found)
