"""The book can be found: by its own search, by search machines, by those who get a link."""

import functools
import posixpath
import re

import pytest
from bs4 import BeautifulSoup
from conftest import CHAPTERS, FORK, PAGES, soup

from helpers.press import labels

TEXTS = [name for name in PAGES if "/" in name]
OWNER, NAME = FORK.removeprefix("https://github.com/").split("/")
BASE = f"https://{OWNER}.github.io/{NAME}/"


@functools.cache
def head(site, name):
    """Return {name of a meta tag: its content} of a page, whose head alone is parsed."""
    html = (site / name).read_text(encoding="utf-8").partition("</head>")[0]
    tags = BeautifulSoup(html, "lxml").find_all("meta", content=True)
    return {tag.get("name") or tag.get("property"): tag["content"] for tag in tags}


def test_the_glossary_leads_to_sections_that_use_the_word(site):
    html = soup(site / "book/glossary.html")
    links = [a for a in html.select("dd a") if "notebooks/" in a["href"]]
    assert len(links) > 20
    for link in links:
        path, _, anchor = link["href"].partition("#")
        target = site / posixpath.normpath(posixpath.join("book", path))
        assert soup(target).find(id=anchor) if anchor else target.is_file(), link["href"]


# What readers look up, and what the chapters use; the last are not in the book, and say so.
TERMS = """lane rank Adam FMA cache NCCL float16 convolution pooling ReLU median MPI contiguous
    sector fence cluster spill softmax PTX oracle FLOP NVLink divergence scan DLPack Nsight
    occupancy TF32 roofline bandwidth thread""".split()
TERMS += [
    "compute capability",
    "cooperative launch",
    "global memory",
    "pinned memory",
    "tensor core",
]
TERMS += ["grid-stride loop", "local memory", "arithmetic intensity", "bank conflict"]
ABSENT = ["constant memory", "bfloat16", "unified memory"]
NOWHERE = ["ufunc"]  # explained in the glossary alone


def test_the_glossary_has_what_readers_look_up_and_says_where_it_is_explained(site):
    entries = {
        term.get_text().removesuffix("#").strip(): term.find_next_sibling("dd")
        for term in soup(site / "book/glossary.html").select("dl.glossary dt")
    }
    assert set(TERMS + ABSENT) <= set(entries)
    explained = {term for term, text in entries.items() if "Explained in" in text.get_text()}
    assert set(entries) - explained == set(ABSENT + NOWHERE)
    assert all("not use" in entries[term].get_text() for term in ABSENT)
    assert all(entries[term].select("a[href]") for term in explained)


def glossary_links(site, chapter):
    html = soup(site / f"{chapter}.html")
    return html, html.select("a.glossary-link")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_glossary_link_where_another_thing_is_meant(site, chapter):
    html, links = glossary_links(site, chapter)
    assert links
    for link in links:
        around = link.find_parent("p").get_text().replace("\n", " ")
        assert link.get_text() != "STREAM"
        assert not re.search(r"(stream of instr|blocks? of (data|memory)|of 2 x 2 w)", around) or (
            not re.match(r"(stream|block|grid)", link.get_text())
        )
        assert not re.search(r"rank correlation|On clusters that", around) or (
            not re.match(r"(rank|cluster)", link.get_text())
        )
    further = html.find(id="further-reading")
    assert further.select("a.glossary-link") == []


def test_the_first_tap_on_a_term_shows_its_meaning_and_the_second_follows(reader):
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    page = reader(**phone).open(f"{CHAPTERS[0]}.html")
    link = page.locator("a.glossary-link").first
    link.tap()
    page.wait_for_selector(".tooltip.show")
    assert "glossary" not in page.url
    link.tap()
    page.wait_for_url("**/glossary.html#*")


@pytest.mark.parametrize("name", TEXTS)
def test_every_page_has_a_description_of_its_own(site, name):
    text = head(site, name)["description"]
    assert 40 < len(text) <= 220
    others = [head(site, other)["description"] for other in TEXTS if other != name]
    assert text not in others


def test_a_link_to_a_published_copy_has_a_picture(published, site):
    tags = head(site, f"{CHAPTERS[0]}.html")
    assert tags["og:title"].startswith("10 · ") and tags["og:description"]
    if site == published:
        assert tags["og:image"] == f"{BASE}_static/hero.png"
        assert (site / "_static" / "hero.png").stat().st_size > 5000
        assert tags["og:url"] == f"{BASE}{CHAPTERS[0]}.html"
    else:
        assert "og:image" not in tags and "og:url" not in tags


def test_the_map_of_the_site_has_all_pages_of_a_published_copy(published, site):
    if site == published:
        found = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf-8"))
        assert sorted(found) == sorted(f"{BASE}{name}" for name in TEXTS)
    else:
        assert not (site / "sitemap.xml").exists()


def test_a_wrong_address_leads_back_into_the_book(published, site):
    html = soup(site / "404.html")
    links = [a["href"] for a in html.find_all("a")]
    base = f"/{NAME}/" if site == published else "/"
    assert links == [f"{base}book/index.html", f"{base}search.html"]
    assert all((site / link.removeprefix(base)).is_file() for link in links)


def test_setup_says_how_to_get_the_book(published, site):
    html = soup(site / "book/setup.html")
    address = FORK if site == published else "ADDRESS-OF-THE-REPOSITORY"
    assert f"git clone {address} book" in html.get_text()


def test_the_manual_of_the_stand_in_says_whence_to_install_it(published, site):
    text = soup(site / "book/gpuless.html").find("article").get_text()
    address = FORK if site == published else "https://github.com/OWNER/NAME"
    assert text.count(f"git+{address}#subdirectory=standin") == 2  # by hand, and in a workflow


def test_each_finding_on_a_source_begins_with_the_source_and_a_verdict(site):
    html = soup(site / "book/generated/sources.html")
    sections = html.select("article section section")
    assert len(sections) == len(CHAPTERS)
    entries = [labels.plan()["chapters"][name.split("/")[-1][:2]] for name in CHAPTERS]
    for section, entry in zip(sections, entries, strict=True):
        source, verdict = section.find_all("p", recursive=False)[:2]
        assert source.em and source.get_text().replace("’", "'") == entry["source"]
        assert verdict.strong and verdict.get_text().endswith(".")
        assert not section.select("details[open]")
