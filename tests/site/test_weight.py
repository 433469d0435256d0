"""Pages are light: what a reader loads, waits for, and steps over with the tab key."""

import json

import pytest
import weigh
from conftest import CHAPTERS, PAGES

HEAVIEST = 700  # kB, gzipped, with all pictures
STORED = json.loads(weigh.STORED.read_text(encoding="utf-8"))["pages"]


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("name", ["book/index", *CHAPTERS])
def test_a_page_is_light_stands_still_and_has_few_stops(site, browser, address, name):
    found = weigh.weigh(browser, f"{address}/{name}.html", slow=False)
    assert found["kB"] <= (HEAVIEST if name in CHAPTERS else HEAVIEST / 2)
    assert found["shift"] < 0.05
    assert found["stops"] <= 60
    # What is stored was measured on pages like these: `python tests/site/weigh.py --store`.
    assert found["kB"] == pytest.approx(STORED[name]["kB"], rel=0.1)


def test_the_published_copy_is_as_light(published, browser):
    with weigh.serve(published) as address:
        found = weigh.weigh(browser, f"{address}/{CHAPTERS[0]}.html", slow=False)
    assert found["kB"] <= HEAVIEST and found["shift"] < 0.05 and found["stops"] <= 60


@pytest.mark.parametrize("name", PAGES)
def test_formulas_are_set_where_there_are_some_and_nowhere_else_loaded(site, name):
    text = (site / name).read_text(encoding="utf-8")
    assert ("mathjax/" in text) == ('class="math' in text)
    assert "fontawesome.js" not in text
    assert ("searchindex.js" in text) == (name == "search.html")


def test_formulas_are_set(reader):
    visit = reader()
    page = visit.open(f"{CHAPTERS[0]}.html")
    page.wait_for_selector("mjx-container mjx-math")
    assert page.locator(".math").count() == page.locator("mjx-container").count() > 5
    assert page.locator("mjx-assistive-mml").count() > 5
    assert visit.complaints == []


def test_icons_are_drawn(reader):
    """An icon that the small font has not would be a box, as wide as no icon is."""
    page = reader().open(f"{CHAPTERS[0]}.html")
    page.evaluate("document.fonts.ready")
    icons = page.evaluate(
        "[...document.querySelectorAll('.fa-solid, .fas')].filter(e => e.checkVisibility())"
        ".map(e => [getComputedStyle(e, '::before').content, e.getBoundingClientRect().width])"
    )
    assert len(icons) >= 4
    assert [icon for icon in icons if icon[0] in ("none", "normal") or icon[1] < 8] == []
    fonts = page.evaluate(
        "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    )
    assert any("Awesome" in family for family in fonts)


def test_pictures_have_their_sizes(reader):
    page = reader().open(f"{CHAPTERS[0]}.html")
    sizes = page.eval_on_selector_all(
        ".cell_output img", "all => all.map(i => [i.getAttribute('width'), i.naturalWidth])"
    )
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert len(sizes) >= 4
    assert all(int(width) > 100 for width, _ in sizes)


def test_arrow_keys_go_from_copy_button_to_copy_button(reader):
    page = reader().open(f"{CHAPTERS[0]}.html")
    stops = "[...document.querySelectorAll('.copybtn')].filter(b => b.tabIndex === 0).length"
    assert page.locator(".copybtn").count() > 20 and page.evaluate(stops) == 1
    page.evaluate("[...document.querySelectorAll('.copybtn')].find(b => b.tabIndex === 0).focus()")
    before = page.evaluate("document.activeElement.dataset.clipboardTarget")
    page.keyboard.press("ArrowDown")
    after = page.evaluate("document.activeElement.dataset.clipboardTarget")
    assert after and after != before and page.evaluate(stops) == 1
