r"""Copies of the chapters for Colab: their setup cell fetches the helpers of one commit.

python -m helpers.press.publish --output FOLDER --revision SHA \
    --repository https://github.com/OWNER/NAME
"""

import argparse
import re
import sys
from pathlib import Path

from helpers.press import first_page, notebook


def archive(repository, revision):
    """Return the address of the repository as it was at one commit, as a file which pip installs.

    ValueError unless `repository` is an https address and `revision` a whole commit id: a branch
    moves, and a notebook would one day meet helpers it was not written with.
    """
    repository = repository.rstrip("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+(?:/[\w.-]+){2,}", repository):
        raise ValueError(f"not the address of a repository: {repository!r}")
    if not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise ValueError(f"not a whole commit id: {revision!r}")
    return f"{repository}/archive/{revision}.zip"


def stamp(book, address):
    """Fill `address` into the setup cell of the notebook `book`; ValueError if it has none.

    Its pictures come from the same commit: Colab shows none that lies beside a notebook.
    """
    pictures = re.sub(r"/archive/(\w+)\.zip$", r"/raw/\1", address) + "/book/figures/"
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"(?<=\]\()[^()\s]*/book/figures/", pictures, cell.source)
    for cell in notebook.code_cells(book):
        if notebook.is_setup(cell):
            line = notebook.ARCHIVE_LINE.replace('""', f'"{address}"')
            cell.source = notebook.SETUP_CELL.replace(notebook.ARCHIVE_LINE, line)
            return book
    raise ValueError("no setup cell")


def publish(address, output, notebooks=()):
    """Write stamped copies of the `notebooks` (default: all) to `output`/notebooks."""
    folder = Path(output) / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for path in notebook.paths(notebooks):
        notebook.write(stamp(notebook.read(path), address), folder / path.name)
        written.append(folder / path.name)
    return written


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.publish")
    parser.add_argument("--repository", required=True, help="address, https://…")
    parser.add_argument("--revision", required=True, help="commit id of 40 digits")
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(arguments)
    try:
        address = archive(options.repository, options.revision)
    except ValueError as error:
        print(f"publish: {error}", file=sys.stderr)
        return 1
    first = first_page.write(options.output, lambda book: stamp(book, address))
    for path in [*publish(address, options.output), first]:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
