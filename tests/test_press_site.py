"""The site's builder: what is trusted, what an interruption leaves, links that lead nowhere."""

import pytest

from helpers.press import site


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Return the folder of a site built, as it seems, from a book of one page."""
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "BUILT", tmp_path / "_build")
    monkeypatch.setattr(site, "SCRATCH", tmp_path / "_build" / "scratch")
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    (tmp_path / "book" / "generated").mkdir(parents=True)
    (tmp_path / "book" / "page.md").write_text("# One\n")
    site._files.cache_clear()
    monkeypatch.setattr(site, "run", write("first"))
    assert site._build("html")
    yield tmp_path / "_build" / "html"
    site._files.cache_clear()


def write(text, right=True):
    """Return a stand-in for site.run that writes `text` and says whether the build is right."""

    def run(folder, address=None):
        (folder / "html").mkdir()
        (folder / "html" / "index.html").write_text(text)
        if right is None:
            raise KeyboardInterrupt
        return right

    return run


def test_a_site_is_trusted_while_its_sources_are_what_they_were(built):
    assert site.missing("html") == ""
    (site.ROOT / "book" / "generated" / "made.md").write_text("made by the build itself")
    site._files.cache_clear()
    assert site.missing("html") == ""
    (site.ROOT / "book" / "page.md").write_text("# Two\n")
    site._files.cache_clear()
    assert "older" in site.missing("html") and "make book" in site.missing("html")


def test_a_site_for_another_address_is_another(built, monkeypatch):
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/someone/a-book")
    assert "make book" in site.missing("html")


def test_what_was_never_built_is_missing(built):
    assert "not built" in site.missing("published") and "make sites" in site.missing("published")


@pytest.mark.parametrize("right", [False, None], ids=["wrong", "interrupted"])
def test_a_build_that_fails_leaves_the_site_as_it_was(built, monkeypatch, right):
    monkeypatch.setattr(site, "run", write("half", right))
    if right is None:
        with pytest.raises(KeyboardInterrupt):
            site._build("html")
    else:
        assert not site._build("html")
    assert (built / "index.html").read_text() == "first" and site.missing("html") == ""
    monkeypatch.setattr(site, "run", write("second"))
    assert site._build("html") and (built / "index.html").read_text() == "second"


def test_a_site_that_was_interrupted_on_its_way_to_its_place_is_not_trusted(built, monkeypatch):
    def rename(self, target):
        target.mkdir()
        (target / "index.html").write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(site, "run", write("second"))
    monkeypatch.setattr(site.Path, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        site._build("html")
    assert (built / "index.html").read_text() == "half"
    assert "not built" in site.missing("html")


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "other.html").write_text('<p id="here">')
    links = ["#top", "#lost", "other.html", "other.html#here", "other.html#there", "no.html"]
    links += ["https://example.org/no.html", "../up.html", "other.html?q=1"]
    page = '<p id="top">' + "".join(f'<a href="{link}">.</a>' for link in links)
    (tmp_path / "notebooks" / "page.html").write_text(page)
    dead = site.dead_links(tmp_path, "notebooks/page.html")
    assert dead == ["#lost", "other.html#there", "no.html", "../up.html"]


def test_a_chapter_that_there_is_not_brings_the_list(capsys):
    assert site.main(["--only", "99"]) == 2
    said = capsys.readouterr().out
    assert "no chapter '99'" in said and "10  The matrix product" in said
