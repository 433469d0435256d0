"""A chapter's definitions and exercises, run cell by cell on the stand-in, for tests of either."""

import ast
import contextlib
import io
from pathlib import Path

import helpers
from helpers.press import notebook


class Chapter:
    """The names of a chapter after its cells were run, less those that time, draw or assert.

    Exercises (cells with an id "exercise-…") and their solutions are run. A solution that its check
    refuses there, with no more of the chapter than stands above it, is an AssertionError.
    """

    def __init__(self, stem):
        path = Path(__file__).parent.parent / "notebooks" / f"{stem}.ipynb"
        self.cells = {cell.id: cell.source for cell in notebook.code_cells(notebook.read(path))}
        self.names = {"helpers": helpers}
        for cell in notebook.code_cells(notebook.read(path)):
            if _is_run(cell):
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    exec(compile(cell.source, cell.id, "exec"), self.names)
                refused = "solution" in notebook.tags(cell) and "wrong" in said.getvalue()
                assert not refused, f"{cell.id}: {said.getvalue()}"

    def judged(self, exercise, answer):
        """Return the line that the check of `exercise` (a cell's id) prints of `answer`.

        `answer` is source, run after the chapter: it redefines what a reader would write.
        """
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


def _is_run(cell):
    tags = notebook.tags(cell)
    if notebook.is_setup(cell) or "remove-cell" in tags or "receipt()" in cell.source:
        return False
    if cell.id.partition("-")[0] in ("exercise", "judge", "cases") or "solution" in tags:
        return True
    return not tags & {"hide-input", "nbval-ignore-output"}
