"""The page of error messages on the site: how one gets there, and that it can be read."""

import re

import pytest
from conftest import CHAPTERS, soup

from helpers.press import wrong_page
from helpers.programs import wrong

PAGE = "book/when-it-goes-wrong"
LEAD = [*CHAPTERS, "book/index", "book/setup"]
built = pytest.mark.parametrize("site", ["built"], indirect=True)


@built
@pytest.mark.parametrize("name", LEAD)
def test_the_page_is_linked_where_one_gets_stuck(site, name):
    links = soup(site / f"{name}.html").select("article a[href$='when-it-goes-wrong.html']")
    assert len(links) >= 1
    if name in CHAPTERS:
        (foot,) = soup(site / f"{name}.html").select("article p.stuck")
        assert foot.find_next("section") is None


@built
def test_what_was_said_is_on_the_page(site):
    def plain(text):  # a loop that waits is stopped in the reader's line or in what looks on
        return re.sub(r", line \d+(?=: it has run for too long)", "", " ".join(text.split()))

    shown = plain(soup(site / f"{PAGE}.html").find("article").get_text())
    for name in wrong.PROGRAMS:
        if wrong.STANDIN in wrong.PROGRAMS[name]:
            assert plain(wrong_page.text(wrong_page.standin()[name]["wrong"])) in shown, name


@built
def test_long_messages_wrap_on_a_phone(site, reader):
    page = reader(viewport={"width": 390, "height": 844}).open(f"{PAGE}.html")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    wide = "all => all.filter(pre => pre.scrollWidth > pre.clientWidth + 1).length"
    assert page.locator(".message pre").count() > 20
    assert page.eval_on_selector_all(".message pre", wide) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
