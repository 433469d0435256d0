"""Pages are light: what a reader loads, waits for, and steps over with the tab key."""

import re

import pytest
import weigh
from conftest import CHAPTERS, PAGES

from helpers.press import evidence

HEAVIEST = 600  # kB, gzipped, with all pictures
MOST_STOPS = 60  # of the tab key, before the first exercise
STORED = evidence.load("page_weights")["pages"]


# Scrolling down a page and back takes a while, and so most are weighed in the long part.
WEIGHED = [
    "book/index",
    CHAPTERS[0],
    *(pytest.param(c, marks=pytest.mark.long) for c in CHAPTERS[1:]),
]


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("name", WEIGHED)
def test_a_page_is_light_stands_still_and_has_few_stops(site, browser, address, name):
    found = weigh.weigh(browser, f"{address}/{name}.html", slow=False)
    assert found["kB"] <= (HEAVIEST if name in CHAPTERS else HEAVIEST / 2)
    assert found["shift"] < 0.05
    assert found["stops"] <= MOST_STOPS
    # What is stored was measured on pages like these: `python tests/site/weigh.py --store`.
    assert found["kB"] == pytest.approx(STORED[name]["kB"], rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize("name", ["book/index", *CHAPTERS])
def test_the_published_copy_is_as_light(published, browser, name):
    with weigh.serve(published) as address:
        found = weigh.weigh(browser, f"{address}/{name}.html", slow=False)
    assert found["kB"] <= HEAVIEST and found["shift"] < 0.05 and found["stops"] <= MOST_STOPS + 6
    assert found["kB"] <= STORED[name]["kB"] + 15  # its buttons and their icons, no more


@pytest.mark.parametrize("name", PAGES)
def test_no_page_waits_for_formulas_or_loads_what_it_does_not_need(site, name):
    text = (site / name).read_text(encoding="utf-8")
    assert not re.search("<script[^>]*mathjax", text, re.IGNORECASE)
    assert ("<math" in text) == ('class="math' in text)
    assert "fontawesome.js" not in text
    assert ("searchindex.js" in text) == (name == "search.html")


def test_arrow_keys_go_from_copy_button_to_copy_button(reader):
    page = reader().open(f"{CHAPTERS[0]}.html")
    stops = "[...document.querySelectorAll('.copybtn')].filter(b => b.tabIndex === 0).length"
    assert page.locator(".copybtn").count() > 20 and page.evaluate(stops) == 1
    page.evaluate("[...document.querySelectorAll('.copybtn')].find(b => b.tabIndex === 0).focus()")
    before = page.evaluate("document.activeElement.dataset.clipboardTarget")
    page.keyboard.press("ArrowDown")
    after = page.evaluate("document.activeElement.dataset.clipboardTarget")
    assert after and after != before and page.evaluate(stops) == 1
