"""The site, built from the chapters, with warnings as errors.

python -m helpers.press.site            build _build/html
python -m helpers.press.site --both     and beside it _build/published, as a fork's copy looks
python -m helpers.press.site --only 35  build one chapter's page alone; say what is wrong with it

A site is built in a scratch folder, and takes its place when it is whole. What it was built from
is noted beside it (a fingerprint): one that is up to date is not built again.
"""

import argparse
import functools
import hashlib
import html
import importlib.metadata
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

from helpers.press import notebook, paper

ROOT = notebook.BOOK
BUILT = ROOT / "_build"
SCRATCH = BUILT / "scratch"
FORK = "https://github.com/someone/a-fork"  # no such repository: what a published copy looks like
ADDRESSES = {"html": None, "published": FORK}  # of the repository; None: as in _config.yml
COMMANDS = {"html": "make book", "published": "make sites"}
SOURCES = ("_config.yml", "_toc.yml", "book", "notebooks", "helpers")


@functools.cache
def _files():
    """Return a SHA-256 of all that a site is built from: the book's files and the packages."""
    found = hashlib.sha256()
    for packages in sorted(f"{d.name} {d.version}" for d in importlib.metadata.distributions()):
        found.update(packages.encode())
    for name in SOURCES:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            parts = file.relative_to(ROOT).parts
            if file.is_file() and parts[:2] != ("book", "generated") and "__pycache__" not in parts:
                found.update("/".join(parts).encode() + b"\0")
                found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def fingerprint(name):
    """Return what the site `name`, "html" or "published", would be built from now, as a text."""
    return f"{_files()} {ADDRESSES[name] or os.environ.get('BOOK_REPOSITORY', '')}"


def _commit():
    """Return the commit that is checked out; "" where there is none."""
    git = ["git", "rev-parse", "HEAD"]
    return subprocess.run(git, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def commit(name):
    """Return the commit that the site `name` was built at, as its notebooks to download say."""
    return _note(name).read_text(encoding="utf-8").splitlines()[1]


def _note(name):
    return BUILT / f"{name}.built-from"


def missing(name):
    """Say what to do where the site `name` is not built, or not from the files as they are."""
    if not _note(name).exists() or not (BUILT / name / "index.html").exists():
        return f"{BUILT / name} is not built: run `{COMMANDS[name]}`"
    if _note(name).read_text(encoding="utf-8").partition("\n")[0] != fingerprint(name):
        return f"{BUILT / name} is older than what it is built from: run `{COMMANDS[name]}`"
    return ""


def run(folder, address=None, only=None):
    """Build the site into `folder`/html for the repository `address`; return whether it is right.

    A warning is an error, but all are told (on stderr). `only` is a list of sources: all pages are
    read, these alone are written.
    """
    from jupyter_book.sphinx import build_sphinx
    from sphinx.builders.html import StandaloneHTMLBuilder

    StandaloneHTMLBuilder.search = not only  # of one page, no index
    if address is not None:
        os.environ["BOOK_REPOSITORY"] = address
    result = build_sphinx(
        ROOT,
        Path(folder) / "html",
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides={
            "external_toc_path": str(ROOT / "_toc.yml"),
            "latex_individualpages": False,  # asked for by Jupyter Book
        },
        filenames=only,
        freshenv=True,
        warningiserror=True,
        keep_going=True,
        quiet=True,
    )
    return result == 0


def _scratch(name):
    """Return an empty folder to build the site `name` in."""
    folder = SCRATCH / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _build(name):
    """Build the site `name` and put it in its place, whole; return whether it is right."""
    sources, folder = f"{fingerprint(name)}\n{_commit()}\n", _scratch(name)
    if not run(folder, ADDRESSES[name]):
        return False
    # Interrupted anywhere here, it leaves a site without a note, which nobody trusts.
    _note(name).unlink(missing_ok=True)
    shutil.rmtree(BUILT / name, ignore_errors=True)
    (folder / "html").rename(BUILT / name)
    _note(name).write_text(sources, encoding="utf-8")
    shutil.rmtree(folder)
    return True


def generate():
    """Write the pages that are made from the chapters, which all builds read."""
    from helpers.press import pages

    pages.write(ROOT / "book" / "generated")


def build(names):
    """Build the sites `names` that are not up to date, side by side; return whether all are."""
    names = [name for name in names if missing(name)]
    if names:
        generate()
        context = multiprocessing.get_context("fork")  # each has all that is imported here
        with ProcessPoolExecutor(len(names), context) as pool:
            return all(list(pool.map(_build, names)))
    return True


def dead_links(site, name, exists=Path.is_file):
    """Return the links on the page `name` of the built `site` that lead nowhere in it.

    Of a page that does not exist as a file, places inside it are not looked for; `exists` says
    whether a path is one that a link may lead to.
    """
    dead, page = [], site / name
    for link in parsed(page).find_all("a", href=True):
        parts = urlsplit(link["href"])
        if parts.scheme or parts.netloc:
            continue
        target = page.parent / unquote(parts.path) if parts.path else page
        if not exists(target):
            dead.append(link["href"])
        elif parts.fragment and target.suffix == ".html" and target.is_file():
            if unquote(parts.fragment) not in _ids(target.resolve()):
                dead.append(link["href"])
    return dead


@functools.cache
def parsed(path):
    """Return the page at `path`, parsed once; not to be changed.

    Code in it is plain: of ten tags on a page nine are the colours of code.
    """
    page = Path(path).read_text(encoding="utf-8")
    plain = re.sub(r"(?s)<pre>.*?</pre>", lambda m: re.sub(r"</?span\b[^>]*>", "", m[0]), page)
    return BeautifulSoup(plain, "lxml")


@functools.cache
def _ids(path):
    """Return the ids on a page; it need not be parsed for them, which takes a second."""
    text = Path(path).read_text(encoding="utf-8")
    return {html.unescape(found) for found in re.findall(r'<[^<>]*?\sid="([^"]+)"', text)}


def only(number):
    """Build the page of the chapter `number` alone, into _build/one; return the exit status.

    Links to other chapters are looked up by the build, which reads all of them.
    """
    chapters = {path.name[:2]: path for path in notebook.paths()}
    if number not in chapters:
        titles = (f"  {n}  {notebook.title(notebook.read(p))}" for n, p in chapters.items())
        print(f"site: there is no chapter {number!r}. The chapters:", *titles, sep="\n")
        return 2
    generate()
    folder, path = _scratch("one"), chapters[number]
    if not run(folder, only=[str(path)]):
        return 1
    pages = {ROOT / f"{name}{suffix}" for suffix in (".md", ".ipynb") for name in paper.pages()}
    page = f"notebooks/{path.stem}.html"

    def exists(target):
        name = Path(os.path.relpath(target, folder / "html"))
        sources = {ROOT / name.with_suffix(suffix) for suffix in (".md", ".ipynb")}
        return target.is_file() or bool(sources & pages)

    dead = dead_links(folder / "html", page, exists)
    for link in dead:
        print(f"{path.name}: a link leads nowhere: {link}")
    if not dead:
        print(f"The page: file://{folder}/html/{page}")
    return bool(dead)


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.site")
    parser.add_argument("--both", action="store_true", help="build a published copy, too")
    parser.add_argument("--only", metavar="CHAPTER", help="one chapter's page, as --only 35")
    options = parser.parse_args(arguments)
    if options.only:
        return only(options.only)
    if not build(["html", "published"] if options.both else ["html"]):
        print("site: not built; what is wrong stands above", file=sys.stderr)
        return 1
    print(f"The site: file://{BUILT}/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
