"""Further reading can be followed: what is named has a link wherever an address is known."""

import sys

import pytest
from conftest import CHAPTERS, ROOT, soup
from pybtex.database import parse_file

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import reading  # noqa: E402  an extension of the site

NOWHERE = ("carray.cuh", "Hacker’s Delight", "anti-Oja’s learning", "深層学習外伝")  # none is known
built = pytest.mark.parametrize("site", ["built"], indirect=True)


@pytest.mark.parametrize(
    "title, address",
    [
        ("CUDA C++ Programming Guide", "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"),
        ("roofline: an insightful visual performance model for multicore architectures",)
        + ("https://doi.org/10.1145/1498765.1498785",),
        ("Long short-term memory", "https://doi.org/10.1162/neco.1997.9.8.1735"),
        ("CuPy documentation", "https://docs.cupy.dev/en/stable/user_guide/"),
        ("The Organization of Behavior", "https://doi.org/10.4324/9781410612403"),
        ("Numerical behavior of NVIDIA tensor cores", "https://doi.org/10.7717/peerj-cs.330"),
        ("Nature", None),
        ("A title that nobody wrote", None),
    ],
)
def test_a_title_leads_to_its_address(title, address):
    assert reading.lookup(title) == address


@pytest.mark.parametrize(
    "text, begins, found",
    [
        ("A. B, “Long short-term memory”, 1997", False, ["Long short-term memory"]),
        ("A. B, “Long short-term memory,” 1997", False, ["Long short-term memory"]),
        ("C. D, “Something else”, 2020 (arXiv 2402.13499)", False, ["arXiv 2402.13499"]),
        ("arXiv:1412.6980.", False, ["arXiv:1412.6980"]),
        ("CuPy documentation, “How to”", True, ["CuPy documentation"]),
        ("CuPy documentation, “How to”", False, []),
        ("", True, []),
    ],
)
def test_what_can_be_followed_is_found(text, begins, found):
    assert [text[start:stop] for start, stop, _ in reading.places(text, begins)] == found


def test_addresses_are_whole_and_no_title_is_there_twice():
    entries = parse_file(str(reading.BOOK)).entries
    titles = [reading.plain(entry.fields["title"]) for entry in entries.values()]
    assert len(titles) == len(set(titles)) > 60
    for name, entry in entries.items():
        assert not {"doi", "url"} <= set(entry.fields), name
    assert all(
        address.startswith(("https://", "http://")) for address in reading.addresses().values()
    )
    without = [name for name, e in entries.items() if not {"doi", "url"} & set(e.fields)]
    assert without == []


@built
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_entry_has_a_link_where_one_is_known(site, chapter):
    items = soup(site / f"{chapter}.html").find(id="further-reading").select("li")
    assert items
    for item in items:
        text = item.get_text()
        assert item.select("a.reference.external") or any(name in text for name in NOWHERE), text
        for link in item.select("a.reference.external"):
            title = reading.plain(link.get_text())
            if title in reading.addresses():
                assert link["href"] == reading.addresses()[title]


@built
def test_the_five_sources_are_named(site):
    text = soup(site / "book/references.html").find("table").get_text()
    for known in ("CuPyを使ったGPU演算", "深層学習外伝", "ED法", "Yuya Unno", "サイン波"):
        assert known in text
    assert soup(site / "book/generated/sources.html").select("p a[href$='references.html']")
