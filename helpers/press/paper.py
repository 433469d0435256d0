"""The whole book as one page to print, or as one PDF.

python -m helpers.press.paper               write _build/whole.html from the built site
python -m helpers.press.paper --pdf FILE    and print it to FILE with Chromium or Chrome

Run `make book` first. The page has the articles of all pages in the order of _toc.yml.
"""

import argparse
import os
import posixpath
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup

from helpers.press import notebook

BUILT = notebook.BOOK / "_build"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HEAD = """<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>
{sheets}
<style>
  body {{ margin: 1rem auto; max-width: 52rem; }}
  .bd-article {{ break-before: page; }}
  .bd-article:first-of-type {{ break-before: auto; }}
</style>
</head><body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">
"""
FOOT = "</div></div></main></body></html>\n"


def pages():
    """Return the names of all pages in the order of _toc.yml, without suffix."""
    toc = yaml.safe_load((notebook.BOOK / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"]] + [c["file"] for part in toc["parts"] for c in part["chapters"]]


def moved(address, name, names):
    """Return where `address`, as it stands on the page `name`, leads to from the whole book.

    A place on one of the pages `names` becomes a place in the book, whose ids begin with the
    page's name; all else is found below html/.
    """
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return address
    folder = posixpath.dirname(name)
    path = posixpath.normpath(posixpath.join(folder, parts.path)) if parts.path else f"{name}.html"
    page = path.removesuffix(".html")
    if path.endswith(".html") and page in names:
        return f"#{page}:{parts.fragment}"
    return f"html/{path}"


def article(html, name, names):
    """Return the article of the page `name`, given as HTML, with its ids and links moved."""
    body = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    for tag in body.find_all(id=True):
        tag["id"] = f"{name}:{tag['id']}"
    for tag in body.find_all(href=True):
        tag["href"] = moved(tag["href"], name, names)
    for tag in body.find_all(src=True):
        tag["src"] = moved(tag["src"], name, names)
    for tag in body.find_all("img", loading=True):
        del tag["loading"]  # paper has no place to come near
    for tag in body.find_all("details"):
        tag["open"] = ""
    body["id"] = f"{name}:"
    return str(body)


def whole(site, names=None):
    """Return the pages `names` (default: the whole book) as HTML, from the site built in `site`."""
    names = names or pages()
    html = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    head = BeautifulSoup(html[names[0]], "html.parser").head
    sheets = []
    for link in head.find_all("link", rel="stylesheet"):
        link["href"] = moved(link["href"], names[0], names)
        sheets.append(str(link))
    title = BeautifulSoup(html[names[0]], "html.parser").h1.get_text().rstrip("#")
    parts = {"title": title, "sheets": "\n".join(sheets)}
    return HEAD.format(**parts) + "\n".join(article(html[n], n, names) for n in names) + FOOT


def print_pdf(page, target):
    """Print the file `page` to the PDF `target`; FileNotFoundError without a browser."""
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        raise FileNotFoundError("no Chromium or Chrome on the PATH, and CHROMIUM names none")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += ["--allow-file-access-from-files"]
    command += [f"--print-to-pdf={Path(target).resolve()}", page.resolve().as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.paper")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="print the book to this file")
    options = parser.parse_args(arguments)
    if not (BUILT / "html" / "book" / "index.html").exists():
        print("paper: the site is not built: run `make book`", file=sys.stderr)
        return 1
    page = BUILT / "whole.html"
    page.write_text(whole(BUILT / "html"), encoding="utf-8")
    print(page)
    if options.pdf:
        print_pdf(page, options.pdf)
        print(options.pdf)
    return 0


if __name__ == "__main__":
    sys.exit(main())
