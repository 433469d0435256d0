"""How many lines a job takes in a tool's file: its function and all that this needs there."""

import ast
from pathlib import Path


def count(path, job):
    """Return the lines of code of `job` in the file at `path`: of its function and of every name of
    the file that it uses, of those that these use, and so on.

    Imports, docstrings, comments and blank lines are none; in a text of several lines, as a kernel
    is, those of CUDA C are left out too. KeyError where the file has no such function.
    """
    text = Path(path).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    owners = {name: node for node in tree.body for name in _names(node)}
    wanted, todo = {}, [owners[job]]
    while todo:
        node = todo.pop()
        if id(node) not in wanted:
            wanted[id(node)] = node
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            todo += [owners[name] for name in used if name in owners]
    return sum(_lines(node, lines) for node in wanted.values())


def _names(node):
    """The names that a statement of the file gives a meaning to, imports left out."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]


def _lines(node, lines):
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    documented = set()
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part):
            documented |= set(range(part.body[0].lineno, part.body[0].end_lineno + 1))
    code = (
        lines[number - 1].strip()
        for number in range(first, node.end_lineno + 1)
        if number not in documented
    )
    return sum(bool(line) and not line.startswith(("//", "# ")) for line in code)
