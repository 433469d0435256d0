"""One tiny kernel when a chapter begins: what is wrong with CuPy shows in the first cell."""

import importlib.metadata
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from helpers import fetch

PAGE = "book/when-it-goes-wrong"
ROOT = Path(__file__).parents[1]  # of the repository, where the helpers are in one
BUILDS = ("cupy", "cupy-cuda12x", "cupy-cuda13x")  # of which one may be installed
SOURCE = 'extern "C" __global__ void first(int *x) { *x = 42; }'


def trouble():
    """Run a kernel on the GPU; return "" where that works, else one line with what to do."""
    try:
        import cupy

        answer = cupy.zeros(1, "int32")
        cupy.RawKernel(SOURCE, "first")((1,), (1,), (answer,))
        if (got := int(answer[0])) != 42:
            raise RuntimeError(f"it wrote {got}, not 42")
        builds = installed()
        if len(builds) == 1 or not builds:
            return ""
        what = f"Multiple CuPy packages are installed: {', '.join(builds)}"
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines()]
        first = next((line for line in lines if line and line.strip("=-")), "no message")
        what = f"No kernel runs on this GPU. {type(error).__name__}: {first.rstrip('.')}"
    return f"{what}. What it means, and the cure: {address()}"


def installed():
    """Return the names of the builds of CuPy that are installed."""
    found = []
    for name in BUILDS:
        try:
            found.append(importlib.metadata.distribution(name).name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def address():
    """Return where the page of error messages is: published where that is known, else a file."""
    parts = urlsplit(repository())
    path = parts.path.strip("/").split("/")
    if parts.netloc == "github.com" and len(path) == 2:
        owner, name = path
        return f"https://{owner.lower()}.github.io/{name}/{PAGE}.html"
    file = ROOT / f"{PAGE}.md"
    return str(file) if file.exists() else "the page *When it goes wrong* of the book"


def repository():
    """Return the address of the book's repository: that which the helpers were installed from, or
    BOOK_REPOSITORY, or that in _config.yml; "" where there is none.
    """
    if came_from := fetch.address(""):
        return came_from.partition("/raw/")[0]
    if given := os.environ.get("BOOK_REPOSITORY"):
        return given.rstrip("/")
    settings = ROOT / "_config.yml"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    found = re.search(r'^repository:\n(?:  .*\n)*?  url: "([^"]*)"', text, re.M)
    return found[1].rstrip("/") if found else ""
