"""The one form every chapter's notebook has: a checker, and a repairer for what can be repaired.

    python -m helpers.press.notebook --check [notebooks…]   list what is wrong; status 1 if any is
    python -m helpers.press.notebook --fix [notebooks…]     put right what needs no author

Without paths, all of ``notebooks/``. The rules are the functions named ``_check_…`` below.
"""

import argparse
import ast
import hashlib
import os
import re
import sys
from pathlib import Path

import nbformat

BOOK = Path(__file__).resolve().parents[2]
NOTEBOOKS = BOOK / "notebooks"
MAX_BYTES = 1_000_000

# The first code cell of every chapter. `python -m helpers.press.publish` fills in ARCHIVE in the
# copies which Colab opens; it never names a CuPy wheel, because Colab has CuPy and a second one
# breaks the first.
SETUP_CELL = """\
# Setup, the same in every chapter: on Colab it fetches the book's helpers.
ARCHIVE = ""  # filled in where the book is published
import importlib.util

if importlib.util.find_spec("helpers") is None:
    if not ARCHIVE:
        raise RuntimeError(
            "The book's helpers are not installed. In the book's folder, run `make lab`; anywhere"
            " else, first %pip install git+ and the address of the book's repository."
        )
    %pip install --quiet {ARCHIVE}

import helpers"""
ARCHIVE_LINE = 'ARCHIVE = ""'

METADATA = {
    "accelerator": "GPU",
    "colab": {"gpuType": "T4", "provenance": [], "toc_visible": True},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
TAGS = {"export", "hide-input", "nbval-ignore-output", "remove-cell", "solution"}
HEADINGS = (
    "When the GPU loses",
    "What the original measured",
    "Key points",
    "Exercises",
    "Further reading",
)
# What a chapter in sittings ends with; the sittings come before.
HEADINGS_AFTER_SITTINGS = ("Key points", "More exercises", "Further reading", "Receipt")
SITTING = re.compile(r"## Sitting (\d+): \S")
OPENING = ("You will", "You need", "Time")

# So many classes are their own base in chapters older than the rule against it.
OWN_BASES = {}

MYST = re.compile(
    r"^\s*(?:`{3,}|~{3,}|:{3,})\s*\{|^\s*:{3,}|\{[a-z][a-z:+-]*\}`|^\([\w-]+\)=\s*$|^\+\+\+", re.M
)
SPEED_UP = re.compile(
    r"\d(?:[\d.,]*\d)?\s*(?:[x×]|\$\\times\$|times|fold|-fold)\s*(?:as\s+)?"
    r"(?:faster|slower|quicker|as fast|as slow|fast|speed-?up)"
    r"|speed-?up\s+(?:of|is|was)\s+(?:about\s+|over\s+|almost\s+|nearly\s+)?\d",
    re.I,
)
# Short names are matched as they are written: t4 may be a variable.
DEVICE = re.compile(
    r"(?<![A-Za-z0-9])(?:A10G?|A[34]0|B[123]00|H20|K80|L4|L40S?|P4|P40|T4"
    r"|(?i:[AHPV][12]00|[AH]800|G[BH][23]00|[RG]TX|GeForce|Quadro|Tesla|Titan|Jetson))"
    r"(?![A-Za-z0-9])"
)


def read(path):
    """Return the notebook at `path` (a path-like) as a NotebookNode of format 4."""
    return nbformat.read(path, as_version=4)


def write(notebook, path):
    """Write `notebook` to `path`: whoever reads it sees the old text or the new, no mixture."""
    path = Path(path)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    scratch.replace(path)


def paths(names=()):
    """Return the notebooks named (files or folders), or all chapters, as sorted paths."""
    names = [Path(name) for name in names]
    found = [] if names else list(NOTEBOOKS.glob("*.ipynb"))
    for name in names:
        found += name.glob("*.ipynb") if name.is_dir() else [name]
    return sorted(path for path in found if not path.name.startswith("."))


def code_cells(notebook):
    """Return the code cells of `notebook` in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def title(notebook):
    """Return the title of `notebook`, its first heading."""
    return re.match(r"# +(.+)", notebook.cells[0].source).group(1).strip()


def tags(cell):
    """Return the tags of `cell` as a set."""
    return set(cell.metadata.get("tags", []))


def is_in_sittings(notebook):
    """Say whether `notebook` has been cut into sittings."""
    return any(c.cell_type == "markdown" and SITTING.match(c.source) for c in notebook.cells)


def is_setup(cell):
    """Say whether `cell` is the setup cell, with or without an address filled in."""
    return re.sub(r'^ARCHIVE = ".*?"', ARCHIVE_LINE, cell.source, flags=re.M) == SETUP_CELL


def cell_id(cell, taken=()):
    """Return an id of 8 hexadecimal digits made from the cell's text, not one of those `taken`."""
    for number in range(len(taken) + 1):
        text = f"{cell.cell_type}\n{cell.source}\n{number}"
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        if name not in taken:
            return name
    raise AssertionError("more ids are taken than there are")


def canonical(notebook):
    """Put `notebook` into canonical form, in place, and return it; texts and results stay.

    Fixed metadata (a receipt is kept), unique ids (those already good are kept), counts 1..n, no
    empty cells, no execution timestamps, solutions collapsed wherever they are shown, text that was
    overwritten after a carriage return dropped, neighbouring pieces of one stream joined.
    """
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    receipt = notebook.metadata.get("receipt")
    notebook.metadata = nbformat.from_dict(METADATA | ({"receipt": receipt} if receipt else {}))
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    taken, count = set(), 0
    for cell in notebook.cells:
        cell.source = "\n".join(line.rstrip() for line in cell.source.strip("\n").split("\n"))
        if not re.fullmatch(r"[\w-]{1,64}", cell.get("id", "")) or cell.id in taken:
            cell.id = cell_id(cell, taken)
        taken.add(cell.id)
        cell.metadata = nbformat.from_dict({"tags": sorted(tags(cell))} if tags(cell) else {})
        if cell.cell_type != "code":
            cell.pop("attachments", None)
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = _tidy(cell.outputs, count)
        if "solution" in tags(cell):
            cell.metadata.tags = sorted(tags(cell) | {"hide-input"})
        # Folded in Jupyter and on Colab as on the site; Colab shows the title in its place.
        if tags(cell) & {"hide-input", "remove-cell"} and cell.source.startswith("# @title "):
            cell.metadata.jupyter = {"source_hidden": True}
            cell.metadata.cellView = "form"
    return notebook


def _tidy(outputs, count):
    """Join the pieces of each stream, apply carriage returns, number the result."""
    tidy = []
    for output in outputs:
        if output.output_type == "stream" and tidy and tidy[-1].get("name") == output.name:
            tidy[-1].text += output.text
        else:
            tidy.append(output)
        if output.output_type == "execute_result":
            output.execution_count = count
    for output in tidy:
        if output.output_type == "stream":
            *lines, last = output.text.split("\n")
            lines = [line.removesuffix("\r") for line in lines]
            output.text = "\n".join(line.rpartition("\r")[2] for line in [*lines, last])
    return [out for out in tidy if out.output_type != "stream" or out.text]


def problems(path):
    """Return what is wrong with the notebook at `path`, as sentences; empty when all is well."""
    path = Path(path)
    found = []
    if path.stat().st_size >= MAX_BYTES:
        found.append(f"the file has {path.stat().st_size:,} bytes; the limit is {MAX_BYTES:,}")
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    if nbformat.writes(canonical(nbformat.reads(text, as_version=4))) + "\n" != text:
        found.append("is not in canonical form: run `python -m helpers.press.notebook --fix`")
    for rule in (
        _check_cells,
        _check_classes,
        _check_devices,
        _check_opening,
        _check_headings,
        _check_prose,
        _check_exercises,
        _check_outputs,
        _check_hidden,
    ):
        found += rule(notebook, path)
    return found


def _check_cells(notebook, path):
    cells = code_cells(notebook)
    if not cells or cells[0].source != SETUP_CELL:
        yield "the first code cell is not the setup cell (SETUP_CELL in helpers/press/notebook.py)"
    elif "nbval-ignore-output" not in tags(cells[0]):
        yield "the setup cell prints the device: it needs the tag nbval-ignore-output"
    if not cells or "helpers.receipt()" not in cells[-1].source:
        yield "the last code cell does not call helpers.receipt()"
    for cell in notebook.cells:
        if tags(cell) - TAGS:
            yield f"cell {cell.id}: unknown tags {sorted(tags(cell) - TAGS)}"
        if (
            re.search(r"^\s*from\s+\S+\s+import\s+\*", cell.source, re.M)
            and cell.cell_type == "code"
        ):
            yield f"cell {cell.id}: import * hides where names come from"
    for source in ("import numpy as np", "import cupy as cp"):
        if not any(
            source in cell.source.splitlines() for cell in cells if "remove-cell" not in tags(cell)
        ):
            yield f"no visible line `{source}`"


def _check_classes(notebook, path):
    """Where a cell with `class X(X)` is run again, it makes another class."""
    own = re.compile(r"^[ \t]*class (\w+)\((?:[^)]*[,\s])?\1\s*[,)]", re.M)
    cells = code_cells(notebook)
    found = [f"{cell.id}, {name}" for cell in cells for name in own.findall(cell.source)]
    if len(found) != (allowed := OWN_BASES.get(path.stem, 0)):
        yield f"classes that are their own base: {found}; OWN_BASES has {allowed}, to be lowered"


def _check_devices(notebook, path):
    """What code asks or claims of one device by name, no other device is held to."""
    for cell in code_cells(notebook):
        named = DEVICE.search(cell.source)
        if named:
            yield f"cell {cell.id}: code names a device, {named.group(0)}: use helpers.recording"


def _check_opening(notebook, path):
    opening = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            break
        opening.append(cell.source)
    text = "\n".join(opening)
    if not re.match(r"# \S", text):
        yield "does not begin with a title (`# …`)"
    for name in OPENING:
        if not re.search(rf"(?:\*\*|\*|^#+ ){name}", text, re.M):
            yield f"the opening does not say *{name}*"


def _check_headings(notebook, path):
    markdown = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    found = re.findall(r"^## (.+?)\s*$", "\n".join(markdown), re.M)
    wanted = HEADINGS
    if is_in_sittings(notebook):
        sittings = [f"Sitting {k}" for k in range(1, 1 + "\n".join(found).count("Sitting "))]
        found = [heading.partition(":")[0] for heading in found]
        wanted = (*sittings, *HEADINGS_AFTER_SITTINGS)
        if not 2 <= len(sittings) <= 4:
            yield f"has {len(sittings)} sittings; two to four are wanted"
    present = [heading for heading in wanted if heading in found]
    for heading in wanted:
        if heading not in found and heading != "More exercises":
            yield f"no heading `## {heading}`"
    if present != sorted(present, key=found.index):
        yield f"the closing headings are out of order: {found}"
    if len(re.findall(r"^# ", "\n".join(markdown), re.M)) != 1:
        yield "has more or fewer than one title (`# …`)"


def _check_prose(notebook, path):
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        myst = MYST.search(cell.source)
        if myst:
            found = myst.group(0).strip()
            yield f"cell {cell.id}: MyST syntax does not show outside the site: {found!r}"
        if re.search(r"!\[\s*\]\(|<img(?![^>]*\balt=\"[^\"]+\")", cell.source):
            yield f"cell {cell.id}: an image without a text alternative"
        # A claim of someone else's may be quoted; our own comes from a cell.
        ours = re.sub(r"[\"“][^\"”]*[\"”]", "", cell.source)
        typed = SPEED_UP.search(ours)
        if typed:
            yield f"cell {cell.id}: a typed speed-up, let a cell compute it: {typed.group(0)!r}"


def _check_exercises(notebook, path):
    chapter = path.name.split("_")[0]
    markdown = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    exercises = re.findall(r"^### (?:Exercise|Optional) (\d+\.\d+)\b", markdown, re.M)
    solutions = []
    for cell in code_cells(notebook):
        if "solution" in tags(cell):
            title = re.match(r"# @title Solution (\d+\.\d+)", cell.source)
            if not title:
                yield f"cell {cell.id}: a solution begins with `# @title Solution {chapter}.1`"
            else:
                solutions.append(title.group(1))
        elif cell.source.startswith("# @title Solution"):
            yield f"cell {cell.id}: a solution without the tag `solution`"
    if (
        exercises != [f"{chapter}.{number}" for number in range(1, len(exercises) + 1)]
        or len(exercises) < 4
    ):
        yield f"needs four exercises or more, `### Exercise {chapter}.1` and so on; has {exercises}"
    for number in sorted(set(exercises) - set(solutions)):
        yield f"Exercise {number} has no solution cell"
    for number in sorted(set(solutions) - set(exercises)):
        yield f"Solution {number} has no exercise"
    if markdown.count("<summary>Hint</summary>") < len(exercises):
        yield "an exercise has no `<details><summary>Hint</summary>`"


def _check_outputs(notebook, path):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
            if output.output_type == "error":
                yield f"cell {cell.id}: stores an error ({output.ename}): catch it, print it"
            if "image/png" in data and not alt:
                yield f"cell {cell.id}: a figure without a text alternative: use helpers.show"
            if any("svg" in name or "javascript" in name or "widget" in name for name in data):
                yield f"cell {cell.id}: an output that not every viewer shows: {sorted(data)}"


def _check_hidden(notebook, path):
    """A hidden cell asserts; what it defines, a reader who copies the visible cells would miss."""
    shown, hidden = set(), {}
    for cell in code_cells(notebook):
        if is_setup(cell):
            continue
        try:
            nodes = list(ast.walk(ast.parse(cell.source)))
        except SyntaxError as error:
            yield f"cell {cell.id}: not plain Python: {error}"
            continue
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if "remove-cell" in tags(cell):
            hidden |= {name: cell.id for name in stored - shown}
            continue
        shown |= stored | {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        shown |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        used = {n.id for n in nodes if isinstance(n, ast.Name)} - shown
        for name in sorted(used & hidden.keys()):
            yield f"cell {cell.id}: uses {name}, which only the hidden cell {hidden[name]} defines"


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.notebook")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="list what is wrong")
    what.add_argument("--fix", action="store_true", help="write the canonical form, then check")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    status = 0
    for path in paths(options.notebooks):
        if options.fix:
            before = path.read_text(encoding="utf-8")
            fixed = canonical(read(path))
            if nbformat.writes(fixed) + "\n" != before:
                write(fixed, path)
        for problem in problems(path):
            print(f"{path.name}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
