"""The whole book as one page: all chapters are there, links stay in it, pictures are found."""

import pytest
from bs4 import BeautifulSoup
from conftest import CHAPTERS, SITE, documents

from helpers.press import paper

NAMES = ["book/index", "book/setup", CHAPTERS[0], CHAPTERS[3], "book/glossary"]  # takes a while


@pytest.fixture(scope="module")
def whole():
    return BeautifulSoup(paper.whole(SITE, NAMES), "html.parser")


def test_pages_are_in_the_book_in_order(whole):
    articles = [article["id"] for article in whole.select("article.bd-article")]
    assert articles == [f"{name}:" for name in NAMES]
    assert paper.pages() == documents()


def test_links_lead_to_places_in_the_book_and_pictures_to_files(whole):
    ids = {tag["id"] for tag in whole.find_all(id=True)}
    inside = [a["href"][1:] for a in whole.select("a[href^='#']")]
    assert len(inside) > 100 and [link for link in inside if link not in ids] == []
    pictures = [image["src"] for image in whole.select("article img")]
    assert len(pictures) > 5
    assert [src for src in pictures if not (SITE.parent / src).is_file()] == []


def test_nothing_is_folded(whole):
    assert [d for d in whole.select("article details") if not d.has_attr("open")] == []


@pytest.mark.parametrize(
    "address, place",
    [
        ("#a", "#notebooks/10_x:a"),
        ("../book/setup.html#b", "#book/setup:b"),
        ("../_images/1.png", "html/_images/1.png"),
        ("https://example.org/a.html", "https://example.org/a.html"),
    ],
)
def test_an_address_is_moved(address, place):
    assert paper.moved(address, "notebooks/10_x", ["notebooks/10_x", "book/setup"]) == place
