"""The built pages as files: links, hosts, alt texts, buttons, hidden cells. No browser needed."""

import os
from urllib.parse import urlsplit

import pytest
import yaml
from conftest import CHAPTERS, FORK, PAGES, ROOT, SITE, notebook, soup

from helpers.press import site as press


def own_address():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return os.environ.get("BOOK_REPOSITORY") or config["repository"]["url"]


def hrefs(page):
    return [a["href"] for a in page.find_all("a", href=True)]


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve(site, name):
    assert press.dead_links(site, name) == []


def is_address(tag):
    """Say whether a tag only tells search engines the page's own address: nothing is loaded."""
    return tag.get("rel") == ["canonical"]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_loaded_from_another_host(site, name):
    page = soup(site / name)
    tags = [tag for tag in page.find_all(["script", "img", "link"]) if not is_address(tag)]
    loaded = [tag.get("src") or tag.get("href") for tag in tags]
    assert [url for url in filter(None, loaded) if urlsplit(url).netloc] == []


@pytest.mark.parametrize("name", PAGES)
def test_images_have_alt_texts(site, name):
    images = soup(site / name).select(".bd-article img")
    assert [img["src"] for img in images if not img.get("alt", "").strip()] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_figures_have_the_alt_texts_of_the_notebook(site, chapter):
    stored = [
        output["metadata"]["image/png"]["alt"]
        for cell in notebook(chapter)["cells"]
        if "remove-cell" not in cell["metadata"].get("tags", [])
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    shown = [img["alt"] for img in soup(site / f"{chapter}.html").select(".cell_output img")]
    assert shown == stored


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_solutions_are_collapsed_and_removed_cells_are_gone(site, chapter):
    cells = notebook(chapter)["cells"]
    tagged = {
        tag: [c for c in cells if tag in c["metadata"].get("tags", [])]
        for tag in ("solution", "remove-cell")
    }
    page = soup(site / f"{chapter}.html")
    solutions = page.select(".cell.tag_solution")
    assert len(solutions) == len(tagged["solution"])
    for cell in solutions:
        assert cell.select_one("details:not([open]) .cell_input"), cell.get_text()[:80]
    named = [s for s in page.select(".cell details summary") if "solution" in s.get_text()]
    assert len(named) == len(solutions)
    assert not page.select(".tag_remove-cell")
    code = " ".join(page.get_text().split())
    for cell in tagged["remove-cell"]:
        assert " ".join("".join(cell["source"]).split()) not in code


@pytest.mark.parametrize("name", PAGES)
def test_buttons(site, name):
    """A page has the buttons for the repository's address, or none where there is none."""
    address = own_address() if site == SITE else FORK
    owner_and_name = urlsplit(address).path.strip("/")
    links = hrefs(soup(site / name))
    colab = [link for link in links if "colab.research.google.com/github" in link]
    edit = [link for link in links if "/edit/" in link]
    if address and name.startswith("notebooks/"):
        stamped = f"{owner_and_name}/blob/colab/{name.removesuffix('.html')}.ipynb"
        assert colab == [f"https://colab.research.google.com/github/{stamped}"]
    elif address and name in ("book/index.html", "book/setup.html"):
        first = f"{owner_and_name}/blob/colab/{CHAPTERS[0]}.ipynb"
        assert colab == [f"https://colab.research.google.com/github/{first}"]
    elif address and name == "book/first-kernel.html":
        kernel = f"{owner_and_name}/blob/colab/first_kernel.ipynb"
        assert colab == [f"https://colab.research.google.com/github/{kernel}"]
    else:
        assert colab == []
    if address and name.startswith("book/") and "/generated/" not in name:
        assert edit == [f"{address}/edit/main/{name.removesuffix('html')}md"]
    else:
        assert edit == []


@pytest.mark.parametrize("wrong", ["someone/a-fork", "https://github.com/someone"])
def test_a_wrong_address_is_refused(tmp_path, monkeypatch, capfd, wrong):
    monkeypatch.setenv("BOOK_REPOSITORY", wrong)  # put back as it was
    assert not press.run(tmp_path, wrong)
    assert "is not https://host/owner/name" in capfd.readouterr().err


def test_no_page_is_left_over(site):
    built = {p.relative_to(site).as_posix() for p in site.rglob("*.html")}
    theme = {p for p in built if p.startswith("_static/")}
    assert built - theme == {*PAGES, "index.html", "404.html"}
