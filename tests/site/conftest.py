"""The built site, served from this machine, and a headless browser to read it with.

Tests see the site twice: as `make book` built it, and as a copy published by a fork looks.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from weigh import serve

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
FORK = "https://github.com/someone/a-fork"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()


def documents():
    """Return the names of all pages in the order of _toc.yml, without suffix."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]


CHAPTERS = [name for name in documents() if name.startswith("notebooks/")]
PAGES = [f"{name}.html" for name in documents()] + ["search.html", "genindex.html"]


@functools.cache
def soup(path):
    """Return the page at `path`, parsed once; not to be changed."""
    return BeautifulSoup(Path(path).read_text(encoding="utf-8"), "html.parser")


def notebook(chapter):
    """Return the notebook of `chapter`, a name out of CHAPTERS, as it is stored."""
    return json.loads((ROOT / f"{chapter}.ipynb").read_text(encoding="utf-8"))


def build(folder, address):
    """Build the site into `folder` with the repository's address given; return the finished run."""
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    return subprocess.run(
        [jupyter_book, "build", ROOT, "--path-output", folder, "-W", "--keep-going", "-q"],
        env={**os.environ, "BOOK_REPOSITORY": address},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Return the folder of a site built for the repository FORK."""
    folder = tmp_path_factory.mktemp("published")
    run = build(folder, FORK)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


@pytest.fixture(scope="session", params=["built", "published"])
def site(request):
    """Return the folder of the site: the one that is built, and one published by a fork."""
    if not (SITE / "index.html").exists():
        pytest.fail("the site is not built: run `make book`")
    return SITE if request.param == "built" else request.getfixturevalue("published")


@pytest.fixture(scope="session")
def address(site):
    """Return the address at which the site is served."""
    with serve(site) as address:
        yield address


def chromium():
    """Return the path of the system's own Chromium or Chrome, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium, the system's own."""
    found = chromium()
    if not found:
        reason = "no Chromium or Chrome on the PATH, and CHROMIUM names none"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Reader:
    """A browser page that notes what a reader should never meet."""

    def __init__(self, browser, address, **options):
        self.address = address
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._request)
        self.page.on("response", self._response)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.complaints.append(f"request to another host: {request.url}")

    def _failed(self, request):
        # A picture that was still on its way when the reader left the page is no fault of the site.
        left = request.failure == "net::ERR_ABORTED" and request.resource_type == "image"
        if not left:
            self.complaints.append(f"request failed: {request.failure}: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.complaints.append(f"status {response.status}: {response.url}")

    def open(self, path):
        """Open a page of the site and wait until its formulas are set."""
        self.page.goto(f"{self.address}/{path}", wait_until="networkidle")
        self.page.evaluate("window.MathJax?.startup?.promise")
        return self.page


@pytest.fixture
def reader(browser, address):
    """Return a function that makes a Reader; options are those of a Playwright context."""
    readers = []

    def make(**options):
        readers.append(Reader(browser, address, **options))
        return readers[-1]

    yield make
    for made in readers:
        made.context.close()
