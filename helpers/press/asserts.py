"""Let a run go on after a failed hidden assert, so that one run shows all claims that fail."""

import ast

from helpers.press import notebook

MARK = "ASSERT FAILED"
HANDLER = """\
try:
    pass
except Exception as _error:
    print({mark!r}, {where!r}, repr(_error)[:300], {values}, sep=" | ")
"""


def instrument(book):
    """Change the hidden cells of `book`, in place, so that a failing assert prints and goes on.

    What else fails in them stops that cell alone. Return what `restore` needs.
    """
    before = []
    for cell in notebook.code_cells(book):
        if "remove-cell" in notebook.tags(cell):
            before.append((cell, cell.source, cell.metadata))
            tree = _Asserts(cell.id).visit(ast.parse(cell.source))
            cell.source = ast.unparse(ast.fix_missing_locations(tree))
            tags = [*notebook.tags(cell), "raises-exception"]
            cell.metadata = type(cell.metadata)(cell.metadata | {"tags": tags})
    return before


def restore(book, before):
    """Give the cells of `book` back what they had before `instrument`."""
    for cell, source, metadata in before:
        cell.source, cell.metadata = source, metadata


def failures(book):
    """Return, as sentences, what failed in the hidden cells of the instrumented `book`."""
    found = []
    for cell in notebook.code_cells(book):
        if "remove-cell" in notebook.tags(cell):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            found += [f"hidden cell {cell.id}: {error.ename}: {error.evalue}" for error in errors]
            # A kernel may send one line in two pieces, which are then two outputs.
            prints = [output for output in cell.outputs if output.get("name") == "stdout"]
            printed = "".join(output.text for output in prints)
            found += [line for line in printed.splitlines() if line.startswith(MARK)]
    return found


class _Asserts(ast.NodeTransformer):
    """Put each assert into a `try` whose handler prints it, with the values it compares."""

    def __init__(self, cell):
        self.cell = cell

    def visit_Assert(self, node):
        where = f"hidden cell {self.cell}, line {node.lineno}: {ast.unparse(node)}"
        parts = []
        if isinstance(node.test, ast.Compare):
            parts = [ast.unparse(part) for part in (node.test.left, *node.test.comparators)]
        values = ", ".join(f"(lambda: ' '.join(repr({part}).split())[:100])()" for part in parts)
        handler = ast.parse(HANDLER.format(mark=MARK, where=where, values=values or "''")).body[0]
        handler.body = [node]
        return handler
