"""The built site, served from this machine, and a headless browser to read it with.

Tests see the site twice: as `make book` built it, and as a copy published by a fork looks. Of that
all is asked in the long part; before it, only what the copies differ in: by tests that compare them
(with the fixture `published`) and those marked `both`.
"""

import functools
import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import sync_playwright
from seen import Eyes, Reader
from weigh import serve

from helpers.press import site as press
from helpers.press.site import FORK  # noqa: F401  for the tests

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
SITES = {"built": SITE, "published": ROOT / "_build" / "published"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
).split()
NO_BROWSER = (
    "no Chromium or Chrome on the PATH, and CHROMIUM names none. On Debian or Ubuntu:"
    " sudo apt-get install chromium"
)


def documents():
    """Return the names of all pages in the order of _toc.yml, without suffix."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]


CHAPTERS = [name for name in documents() if name.startswith("notebooks/")]
PAGES = [f"{name}.html" for name in documents()] + ["search.html", "genindex.html"]
soup = press.parsed  # the page at a path, parsed once; not to be changed


@functools.cache
def notebook(chapter):
    """Return the notebook of `chapter`, a name out of CHAPTERS, as it is stored."""
    return json.loads((ROOT / f"{chapter}.ipynb").read_text(encoding="utf-8"))


def pytest_itemcollected(item):
    """Put into the long part what asks of the published copy what the built one was asked."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    differs = item.get_closest_marker("both") or "published" in item.fixturenames
    if given.get("site") == "published" and not differs:
        item.add_marker("long")


TOGETHER = ("test_figures.py", "test_paper.py")  # files whose tests share what is made once
PAGE = re.compile(r"\[.*?((?:notebooks|book)/[\w/]+|search|genindex)")  # or how it begins


def scope(nodeid):
    """Return what one process is to keep to itself: a page, by its name, or a file's tests."""
    if nodeid.split("::")[0].endswith(TOGETHER):
        return nodeid.split("::")[0]
    page = PAGE.search(nodeid)
    return page[1] if page else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give all tests of a page to one process: it opens the page once in a view, parses it once.

    That is what --dist loadgroup is for, but with pytest 9.2 pytest-xdist 3.8 forms no groups.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByPage(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope(nodeid)

    return ByPage(config, log)


@functools.cache
def folder(name):
    """Return the folder of a copy of the site; the test fails where it is not as its sources."""
    if said := press.missing(SITES[name].name):
        pytest.fail(said, pytrace=False)
    return SITES[name]


@pytest.fixture(scope="session")
def published():
    """Return the folder of the site built for the repository FORK."""
    return folder("published")


@pytest.fixture(scope="session", params=list(SITES))
def site(request):
    """Return the folder of the site: the one that is built, and one published by a fork."""
    return folder(request.param)


@pytest.fixture(scope="session")
def addresses():
    """Return a function: the address at which a copy of the site is served."""
    import contextlib

    with contextlib.ExitStack() as open_ones:
        yield functools.cache(lambda name: open_ones.enter_context(serve(folder(name))))


@pytest.fixture
def address(site, addresses):
    """Return the address at which the site is served."""
    return addresses(next(name for name, path in SITES.items() if path == site))


def chromium():
    """Return the path of the system's own Chromium or Chrome, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium, the system's own; test_there_is_a_browser fails without one."""
    found = chromium()
    if not found:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def seen(browser, addresses):
    """Return a function: what was seen on the page `name` in a view (seen.py), in one look."""
    return Eyes(browser, addresses).seen


@pytest.fixture
def reader(browser, address):
    """Return a function that makes a Reader; options are those of a Playwright context."""
    contexts = []

    def make(**options):
        contexts.append(browser.new_context(**options))
        return Reader(contexts[-1], address)

    yield make
    for context in contexts:
        context.close()
