"""A chapter's definitions and exercises, run cell by cell on the stand-in, for tests of either."""

import ast
import contextlib
import io
import re
import symtable
from pathlib import Path

import pytest

import helpers
from helpers.press import notebook

ASKS = re.compile(r"^(?:if .*\n +)?(?:helpers\.check|print)\(", re.M)  # a line that asks the judge


class Chapter:
    """The names of a chapter after its cells were run, less those that time, draw or assert.

    Nor is a cell run that is nothing but calls, or needs a name which only a cell not run makes.
    Exercises (cells with an id "exercise-…") and their solutions are run up to where they ask the
    judge.
    """

    def __init__(self, stem):
        self.number = stem[:2]
        path = Path(__file__).parent.parent / "notebooks" / f"{stem}.ipynb"
        self.cells = {cell.id: cell.source for cell in notebook.code_cells(notebook.read(path))}
        self.names, missing = {"helpers": helpers}, set()
        for cell in notebook.code_cells(notebook.read(path)):
            made, needed = _names(cell)
            if not _is_run(cell) or (needed & missing and not _is_exercise(cell)):
                missing |= made
            else:
                missing -= made
                source = ASKS.split(cell.source)[0] if _is_exercise(cell) else cell.source
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(source, cell.id, "exec"), self.names)

    @classmethod
    def fixture(cls, stem):
        """Return the fixture `chapter` of a test file: the chapter, run once for all its tests."""
        return pytest.fixture(lambda: cls(stem), scope="module", name="chapter")

    def answer(self, number, *changes):
        """Return the definitions of the solution of exercise `number`, with text exchanged.

        `changes` are pairs of str: the old text, which must be there (else an AssertionError), and
        the new one.
        """
        title = f"# @title Solution {self.number}.{number}\n"
        (text,) = (source for source in self.cells.values() if source.startswith(title))
        text = ASKS.split(text)[0]
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        return text

    def stub(self, number):
        """Return the definitions of exercise `number` as a reader finds them."""
        return ASKS.split(self.cells[f"exercise-{number}"])[0]

    def judged(self, number, answer):
        """Return the line that the check of exercise `number` prints of `answer`.

        `answer` is source, run after the chapter: it redefines what a reader would write.
        """
        exercise = f"exercise-{number}"
        before, said = dict(self.names), io.StringIO()
        check = ast.parse(self.cells[exercise]).body[-1]
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(answer, "answer", "exec"), self.names)
                exec(compile(ast.Module([check], []), exercise, "exec"), self.names)
        finally:
            self.names.clear()
            self.names.update(before)
        return said.getvalue().strip()

    def verdict(self, number, answer):
        """Return what `judged` does, without the exercise's name: "correct…" or "wrong: …"."""
        return self.judged(number, answer).partition(": ")[2]


def _is_run(cell):
    tags = notebook.tags(cell)
    if notebook.is_setup(cell) or "remove-cell" in tags or "receipt()" in cell.source:
        return False
    if all(isinstance(statement, ast.Expr) for statement in ast.parse(cell.source).body):
        return False
    return _is_exercise(cell) or not tags & {"hide-input", "nbval-ignore-output"}


def _is_exercise(cell):
    parts = ("exercise", "judge", "cases")
    return cell.id.partition("-")[0] in parts or "solution" in notebook.tags(cell)


def _names(cell):
    """Return the global names that a cell makes, and those that it needs, as two sets."""
    if notebook.is_setup(cell):  # it has a line of IPython's
        return set(), set()
    table = symtable.symtable(cell.source, cell.id, "exec")
    symbols, inside = table.get_symbols(), table.get_children()
    made = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
    needed = {each.get_name() for each in symbols if each.is_referenced()}
    while inside:
        part = inside.pop()
        inside += part.get_children()
        needed |= {each.get_name() for each in part.get_symbols() if each.is_global()}
    return made, needed - made
