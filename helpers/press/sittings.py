"""The minutes that a chapter takes, by one rule (bounds.py has the bounds).

python -m helpers.press.sittings [notebooks…]           print the table of minutes and words
python -m helpers.press.sittings --write [notebooks…]   put the minutes into the notebooks' text

A reader at a screen takes: 160 words a minute, 5 s for a visible line of Python, 9 s for one of
CUDA C, 45 s for a figure or a table and for a **Predict** after the first two of a sitting, and for
an exercise the minutes in its heading; from the heading to the solution nothing else counts. Folded
and hidden cells count nothing, but for a folded kernel whose new part was not shown just before.
"""

import argparse
import ast
import difflib
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass

from tabulate import tabulate

from helpers.press import notebook

WORDS_A_MINUTE = 160
PYTHON_SECONDS, CUDA_SECONDS, PICTURE_SECONDS, PREDICT_SECONDS = 5, 9, 45, 45
FREE_PREDICTS = 2  # of a sitting
LEAST_EXERCISE, MINUTES_A_LINE = 3, 0.5  # of an exercise: at least, and for each line to be written

SHOWN_BEFORE = 15  # lines of a kernel's new part, shown before the whole is folded

EXERCISE = re.compile(r"### (Exercise|Optional) (\d+\.\d+)\b.*?(?:\((\d+) min\))?\s*$")
UNCOUNTED = ("More exercises", "Further reading", "Receipt")
MINUTES_LINE = re.compile(r"\n\n\*\d+ minutes\*(?=\n|$)")
SITTING_HEADING = re.compile(  # wherever in a cell, with the minutes that stand below it
    r"^(## Sitting (\d+): [^\n]*)(?:\n\n\*\d+ minutes\*)?\n*", re.M
)
TIME_LINE = re.compile(r"^\*\*Time\*\* [^\n.]*\.", re.M)
CUDA = re.compile(r"__global__|__device__|__shared__|[;{]\s*$", re.M)


@dataclass
class Piece:
    """What a reader meets next: `what` it is, in which `sitting`, and what it takes.

    what      "text", "code", "picture", "predict", "exercise" or "optional"
    sitting   its number; 0 is before the first, None after the last one
    minutes   what it takes
    words     of text
    lines     of visible code, Python and CUDA C
    cell      the cell's id
    name      an exercise's number
    """

    what: str
    sitting: int | None
    minutes: float
    cell: str
    words: int = 0
    lines: int = 0
    name: str = ""


def pieces(book):
    """Return all that is counted of the notebook `book`, as Pieces in a reader's order."""
    found, sitting, open_exercise, counted = [], 0, None, True
    predicts, before = Counter(), None  # the code cell before
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for text in re.split(r"(?m)^(?=#{1,3} )", cell.source):
                if heading := re.match(r"## +(.+)", text):
                    number = notebook.SITTING.match(text)
                    last = sitting if number or not notebook.is_in_sittings(book) else None
                    sitting = int(number[1]) if number else last
                    counted = heading[1].strip() not in UNCOUNTED
                    open_exercise = None
                if exercise := EXERCISE.match(text.partition("\n")[0]):
                    kind = "exercise" if exercise[1] == "Exercise" else "optional"
                    minutes = float(exercise[3] or 0) if kind == "exercise" else 0
                    open_exercise = Piece(kind, sitting, minutes, cell.id, name=exercise[2])
                    found.append(open_exercise)
                    continue
                if open_exercise is None and counted:
                    found += _of_text(text, sitting, cell.id, predicts)
            continue
        tags = notebook.tags(cell)
        if "solution" in tags and open_exercise is not None:
            least = least_minutes(before.source if before else "", cell.source)
            open_exercise.lines = 0
            if open_exercise.what == "exercise" and not open_exercise.minutes:
                open_exercise.minutes = least  # a heading that states none yet
            open_exercise = None
        elif open_exercise is None and counted and not notebook.is_setup(cell):
            found += _of_code(cell, before, sitting)
        if "remove-cell" not in tags and "solution" not in tags:
            before = cell
    return found


def _of_text(text, sitting, cell, predicts):
    """Yield the Pieces of a part of a Markdown cell."""
    predicted = text.count("**Predict")
    tables = len(re.findall(r"(?m)^\|[ :|-]+\|\s*$", text))
    pictures = len(re.findall(r"!\[[^\]]+\]\(|<img\b|<picture\b", text))
    words = count_words(TIME_LINE.sub("", MINUTES_LINE.sub("", text)))  # not what --write writes
    yield Piece("text", sitting, words / WORDS_A_MINUTE, cell, words=words)
    for _ in range(tables + pictures):
        yield Piece("picture", sitting, PICTURE_SECONDS / 60, cell)
    for _ in range(predicted):
        predicts[sitting] += 1
        costs = predicts[sitting] > FREE_PREDICTS
        yield Piece("predict", sitting, costs * PREDICT_SECONDS / 60, cell)


def _of_code(cell, before, sitting):
    """Yield the Pieces of a code cell: its visible lines, its figures and tables."""
    tags = notebook.tags(cell)
    if "remove-cell" in tags:
        return
    python, cuda = count_lines(cell.source)
    if "hide-input" in tags:
        shown = before is not None and 0 < count_lines(before.source)[1] <= SHOWN_BEFORE
        python, cuda = 0, 0 if shown else cuda
    seconds = PYTHON_SECONDS * python + CUDA_SECONDS * cuda
    if seconds:
        yield Piece("code", sitting, seconds / 60, cell.id, lines=python + cuda)
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data or "<table" in str(data.get("text/html", "")):
            yield Piece("picture", sitting, PICTURE_SECONDS / 60, cell.id)


def count_words(text):
    """Count the words of Markdown: a formula is one, code fences, tables and addresses are none."""
    text = re.sub(r"(?s)```.*?```|<!--.*?-->", " ", text)
    text = re.sub(r"(?m)^\|.*\|\s*$", " ", text)
    text = re.sub(r"(?s)\$\$.*?\$\$|\$[^$\n]+\$", " formula ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>\n]+>", " ", text)
    return len(re.findall(r"\w[\w'’.,/*^+-]*", text))


def count_lines(source):
    """Count the lines of code of a cell that are not blank: (of Python, of CUDA C in its texts)."""
    lines = [number for number, line in enumerate(source.splitlines(), 1) if line.strip()]
    cuda = set()
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:  # a magic command
        nodes = []
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno > node.lineno:
            text = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
            if CUDA.search(text):
                cuda |= set(range(node.lineno + 1, node.end_lineno))  # less the two with quotes
    found = sum(number in cuda for number in lines)
    return len(lines) - found, found


def least_minutes(stub, solution):
    """Return the minutes an exercise takes at least: 3, and half of one for each line that is new
    in the text of its solution, beside that of its stub."""
    lines = [[x.strip() for x in s.splitlines() if x.strip()] for s in (stub, solution)]
    new = [x for x in lines[1] if not x.startswith("# @title")]
    same = difflib.SequenceMatcher(None, lines[0], new, autojunk=False).get_matching_blocks()
    changed = len(new) - sum(block.size for block in same)
    return max(LEAST_EXERCISE, math.ceil(MINUTES_A_LINE * changed))


def minutes(book):
    """Return the minutes of `book`: {None: all of it, 1: sitting 1, …}, rounded to whole ones."""
    found = {None: 0.0}
    for piece in pieces(book):
        if piece.sitting:
            found[piece.sitting] = found.get(piece.sitting, 0.0) + piece.minutes
        found[None] += piece.minutes
    return {sitting: round(value) for sitting, value in found.items()}


def words(count):
    """Return a number of minutes as a card says it: "75 minutes", "4 hours"."""
    if count <= 100:
        return f"{count} minutes"
    quarters = round(count / 15)
    text = f"{quarters // 4}{('', '¼', '½', '¾')[quarters % 4]}"
    return f"{text} hours"


def with_minutes(book, write=False):
    """Return the id of the first cell whose minutes are not those counted, or None.

    With `write` the minutes are put in: under each sitting's heading, and into the line **Time**.
    """
    counted, wrong = minutes(book), None
    for cell in book.cells:
        if cell.cell_type != "markdown":
            continue
        text = cell.source
        text = SITTING_HEADING.sub(
            lambda found: f"{found[1]}\n\n*{counted[int(found[2])]} minutes*\n\n", text
        ).rstrip("\n")
        if TIME_LINE.search(text):
            text = TIME_LINE.sub(_time_line(counted), text, count=1)
        if text != cell.source:
            wrong = wrong or cell.id
            if write:
                cell.source = text
    return wrong


def _time_line(counted):
    if len(counted) == 1:
        return f"**Time** {words(counted[None])}, exercises included."
    sittings = len(counted) - 1
    many = {2: "two", 3: "three", 4: "four"}.get(sittings, str(sittings))
    return f"**Time** {words(counted[None])}, in {many} sittings."


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.sittings")
    parser.add_argument("--write", action="store_true", help="put the minutes into the notebooks")
    parser.add_argument("notebooks", nargs="*")
    options = parser.parse_args(arguments)
    books = {path: notebook.read(path) for path in notebook.paths(options.notebooks)}
    if options.write:
        for path, book in books.items():
            if with_minutes(book, write=True):
                notebook.write(book, path)
                print(f"{path.name}: written")
        return 0
    print(table(books))
    return 0


def table(books):
    """Return the table of {path: notebook}: minutes by sitting and in all, words, exercises."""
    rows, total = [], 0
    for path, book in books.items():
        counted, all_pieces = minutes(book), pieces(book)
        exercises = [p.minutes for p in all_pieces if p.what == "exercise"]
        by_sitting = " + ".join(str(v) for sitting, v in counted.items() if sitting)
        total += counted[None]
        rows.append(
            [path.stem, counted[None], by_sitting, sum(p.words for p in all_pieces), sum(exercises)]
        )
    rows.append(["all", total, "", "", ""])
    headers = ["chapter", "minutes", "by sitting", "words", "of them exercises"]
    return tabulate(rows, headers)


if __name__ == "__main__":
    sys.exit(main())
