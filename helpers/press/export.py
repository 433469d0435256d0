"""Write chapters' cells tagged `export` to helpers/chapters/, for chapters that build on them.

A chapter has a module of its own, or goes on where another one's module ends (GOES_ON). Only what a
chapter, a program or another such module imports is written; `load` makes any of them, for tests.

python -m helpers.press.export            write helpers/chapters/*.py
python -m helpers.press.export --check    say which differ from the notebooks; status 1 if any
"""

import argparse
import ast
import functools
import sys
import types
from pathlib import Path

from helpers.press import notebook, used

FOLDER = notebook.BOOK / "helpers" / "chapters"
PROGRAMS = notebook.BOOK / "helpers" / "programs"
COMMAND = "`python -m helpers.press.export`"
GOES_ON = {"52_training": "50_cnn_mnist"}  # whose module a chapter's cells are written to
HEADER = '''\
"""Generated from {names} by {command}: do not edit."""
# ruff: noqa
# fmt: off

'''


def modules(notebooks=()):
    """Return {file name: source} for the `notebooks` (default: all) that have cells to export.

    The file of 50_cnn_mnist.ipynb is cnn_mnist.py. SyntaxError when a cell is not plain Python.
    """
    cells, names = {}, {}
    for path in notebook.paths(notebooks):
        found = notebook.code_cells(notebook.read(path))
        sources = [cell.source.strip("\n") for cell in found if "export" in notebook.tags(cell)]
        if sources:
            file = _file(path)
            cells.setdefault(file, []).extend(sources)
            names.setdefault(file, []).append(f"notebooks/{path.name}")
    texts = {}
    for file, sources in cells.items():
        texts[file] = HEADER.format(names=" and ".join(names[file]), command=COMMAND)
        texts[file] += "\n\n\n".join(sources) + "\n"
        ast.parse(texts[file], file)
    return texts


def _file(path):
    """Return the name of the module that the cells of the notebook at `path` are written to."""
    return GOES_ON.get(path.stem, path.stem).partition("_")[2] + ".py"


@functools.cache
def load(name):
    """Return the module that the chapter `name`, "matmul_fast" say, would export; no file is made.

    ValueError when no chapter has that name, or it has no cells to export.
    """
    file = f"{name}.py"
    own = [path for path in notebook.paths() if _file(path) == file]
    source = modules(own).get(file) if own else None
    if source is None:
        raise ValueError(f"no chapter {name} has cells tagged `export`")
    module = types.ModuleType(f"exported_{name}")
    exec(compile(source, f"{name}, exported", "exec"), module.__dict__)
    return module


def imported(notebooks=()):
    """Return those of `modules` that a chapter, a program or another one of them imports."""
    sources, found = modules(notebooks), {}
    open_ = [path.read_text(encoding="utf-8") for path in PROGRAMS.rglob("*.py")]
    for path in notebook.paths(notebooks):
        open_ += used.cells(notebook.read(path))
    while open_:
        for name in used.names(open_.pop()):
            file = name.removeprefix("helpers.chapters.").partition(".")[0] + ".py"
            if name.startswith("helpers.chapters.") and file in sources and file not in found:
                found[file] = sources[file]
                open_.append(sources[file])
    return found


def differences(folder=FOLDER, notebooks=()):
    """Return the names of files in `folder` that are missing, superfluous or not as exported."""
    wanted = imported(notebooks)
    present = {path.name: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.py")}
    present.pop("__init__.py", None)
    return sorted(name for name in wanted | present if wanted.get(name) != present.get(name))


def write(folder=FOLDER, notebooks=()):
    """Bring the files in `folder` up to date; return the names of those that changed."""
    wanted = imported(notebooks)
    changed = differences(folder, notebooks)
    for name in changed:
        if name in wanted:
            (Path(folder) / name).write_text(wanted[name], encoding="utf-8")
        else:
            (Path(folder) / name).unlink()
    return changed


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.export")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    if not options.check:
        for name in write():
            print(
                f"helpers/chapters/{name}: {'written' if (FOLDER / name).exists() else 'removed'}"
            )
        return 0
    found = differences()
    for name in found:
        print(f"helpers/chapters/{name}: not as its notebook has it; run {COMMAND}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
