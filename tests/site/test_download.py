"""The notebook that the download button gives, on a machine that has no helpers."""

import json
import subprocess

import pytest
from conftest import CHAPTERS, FORK, ROOT, notebook
from IPython.core.inputtransformer2 import TransformerManager

from helpers.press import site as press


def download(page):
    """Return the notebook that the page's download button gives."""
    button = page.locator("a.btn-download-source-button")
    button.evaluate("a => a.removeAttribute('target')")  # a new tab has a download of its own
    with page.expect_download() as given:
        button.click()
    return json.loads(given.value.path().read_text(encoding="utf-8"))


def run_without_helpers(cell, monkeypatch):
    """Run the setup cell as IPython does where helpers is missing; return what it installs."""
    installed = []

    class Shell:
        def run_line_magic(self, magic, line):
            installed.append(f"{magic} {line.format(**space)}")

    space = {"get_ipython": Shell}
    code = TransformerManager().transform_cell("".join(cell["source"]))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(code, space)
    return installed


@pytest.mark.both
@pytest.mark.parametrize("chapter", [CHAPTERS[0], CHAPTERS[-1]])
def test_a_downloaded_notebook_finds_its_helpers(published, site, reader, chapter, monkeypatch):
    given = download(reader(accept_downloads=True).open(f"{chapter}.html"))["cells"]
    stored = notebook(chapter)["cells"]
    first = next(k for k, cell in enumerate(given) if cell["cell_type"] == "code")
    commit = press.commit("published")  # at which it was built; a later one changes no page
    subprocess.run(["git", "-C", ROOT, "cat-file", "-e", f"{commit}^{{commit}}"], check=True)
    if site == published:  # its pictures have an address too
        beside, there = "](../book/figures/", f"]({FORK}/raw/{commit}/book/figures/"
        stored = json.loads(json.dumps(stored).replace(beside, there))
    assert given[:first] + given[first + 1 :] == stored[:first] + stored[first + 1 :]
    if site == published:
        archive = f"{FORK}/archive/{commit}.zip"
        assert run_without_helpers(given[first], monkeypatch) == [f"pip install --quiet {archive}"]
    else:
        assert given == stored
        with pytest.raises(RuntimeError, match="make lab.*pip install.*address"):
            run_without_helpers(given[first], monkeypatch)
