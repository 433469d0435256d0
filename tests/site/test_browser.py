"""The built pages as a reader sees them, in headless Chromium."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import CHAPTERS, PAGES

SIZES = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {
        "color_scheme": "light",
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
    },
}


# A published page differs in its header alone, which is the same in all chapters and for which a
# phone has least room.
PUBLISHED = [name for name in PAGES if name.removesuffix(".html") not in CHAPTERS[1:]]
VIEWS = [("built", size, name) for name in PAGES for size in SIZES]
VIEWS += [("published", "phone", name) for name in PUBLISHED]


@pytest.mark.parametrize("site, size, name", VIEWS, indirect=["site"])
def test_page(site, reader, name, size):
    """No error, no other host, nothing too wide, no lost picture, nothing inaccessible (axe)."""
    visit = reader(**SIZES[size])
    page = visit.open(name)
    problems = list(visit.complaints)  # as of now: axe-core makes requests of its own
    theme, width = page.evaluate(
        "[document.documentElement.dataset.theme, document.documentElement.scrollWidth]"
    )
    assert theme == SIZES[size]["color_scheme"]
    if width > SIZES[size]["viewport"]["width"]:
        problems.append(f"{width} pixels wide")
    page.evaluate(
        "Promise.allSettled([...document.images].map(i => ((i.loading = 'eager'), i.decode())))"
    )
    problems += page.evaluate(
        "[...document.images].filter(i => i.checkVisibility() && !(i.complete && i.naturalWidth))"
        ".map(i => 'picture not shown: ' + i.src)"
    )
    problems += page.eval_on_selector_all(
        "mjx-merror", "all => all.map(e => 'formula: ' + e.title)"
    )
    problems += page.eval_on_selector_all(
        "mjx-container[display=true]",
        "all => all.filter(e => e.firstElementChild.getBoundingClientRect().width"
        " > e.parentElement.clientWidth + 1)"
        ".map(e => 'formula cut off: ' + e.closest('section').id)",
    )
    problems += [
        f"{violation['impact']}: {violation['help']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert problems == []


@pytest.mark.parametrize("lost", [False, True])
def test_reader_notes_a_lost_picture_and_none_it_left(reader, lost):
    visit = reader()
    page = visit.open(f"{CHAPTERS[0]}.html")
    page.route("**/_images/**", lambda route: route.abort("connectionreset") if lost else None)
    with page.expect_request("**/_images/**"):
        page.locator("article img[loading=lazy]").last.scroll_into_view_if_needed()
    visit.open("book/glossary.html")  # pictures that were never answered are left
    assert any("net::ERR_CONNECTION_RESET" in text for text in visit.complaints) == lost
    assert lost or visit.complaints == []


def test_root_leads_to_the_landing_page(reader):
    page = reader().open("")
    page.wait_for_url("**/book/index.html")
    assert "From Kernel to Network" in page.title()


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
    page = reader(**SIZES["light"]).open(PAGES[0])
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


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_solutions_open(site, reader, chapter):
    page = reader().open(f"{chapter}.html")
    solutions = page.locator(".cell.tag_solution")
    for k in range(solutions.count()):
        code = solutions.nth(k).locator(".cell_input")
        assert not code.is_visible()
        solutions.nth(k).locator("summary").click()
        assert code.is_visible()


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_stand_on_white_in_the_dark(site, reader, chapter):
    page = reader(**SIZES["dark"]).open(f"{chapter}.html")
    figures = page.locator(".cell_output img")
    assert figures.count() > 0
    for k in range(figures.count()):
        style = figures.nth(k).evaluate(
            "img => [getComputedStyle(img).backgroundColor, getComputedStyle(img).filter]"
        )
        assert style == ["rgb(255, 255, 255)", "none"]
