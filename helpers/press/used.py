"""What code a chapter runs, as hashes that its receipt holds: its cells, and the book's modules.

Counted are those modules that can change an output: the clocks, rounds, turns, the timeline, the
crossover, the ceilings, the matrix products with their parts, the chapters' exported code and the
programs that chapters start. They are found by reading, not by running: what the cells import or
name (a program is given to `helpers.launch` by its name, in a string), and what those modules
import or name in their turn.

All else in helpers is held by tests instead. Checks, display, report and launcher show what was
computed; device and data answer the same on every run (the data by their SHA-256); and what an
x-ray or the stand-in counts is compared with the stored outputs whenever the tests run.
"""

import ast
import functools
import hashlib
import json
import re
import sys

from helpers.press import notebook

COUNTED = re.compile(
    r"helpers/(?:(?:timing|timeline|rounds|turns|many|mail|crossover|products|prepared|tiles|xray/ceilings)\.py"
    r"|(?:chapters|programs)/(?!__init__).+\.py)"
)
NAMED = re.compile(r"\bhelpers(?:\.\w+)+")
SKIPPED = ("kind", "type_comment", "type_ignores")  # fields of the tree that change nothing


def code_sha256(book):
    """SHA-256 over the sources of all code cells, without the setup cell.

    The setup cell is the same in every notebook (a check sees to it) but for the address filled in
    where the book is published, which is no reason to call a recording stale.
    """
    found = notebook.code_cells(book)
    return _sha256([cell.source for cell in found if not notebook.is_setup(cell)])


def outputs_sha256(book):
    """SHA-256 over the stored outputs of all code cells."""
    return _sha256([cell.outputs for cell in notebook.code_cells(book)])


def _sha256(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def hashes(book, root=notebook.BOOK):
    """Return {path: SHA-256} of the counted modules that the notebook `book` uses, sorted.

    The paths are relative to `root`, the folder that has `helpers` in it.
    """
    return {path: tree_sha256(_read(root / path)) for path in paths(book, root)}


def paths(book, root=notebook.BOOK):
    """Return the paths, relative to `root`, of the counted modules that `book` uses, sorted."""
    return closure(cells(book), root)


def sources(book, root=notebook.BOOK):
    """Return the sources of the code cells of `book`, and of the counted modules that it uses."""
    return cells(book) + [_read(root / path) for path in paths(book, root)]


def closure(sources, root=notebook.BOOK):
    """Return the sorted paths of the counted modules that Python `sources` use, at any remove."""
    found, open_ = set(), list(sources)
    while open_:
        for name in names(open_.pop()):
            for path in _files(name, root):
                if path not in found and COUNTED.fullmatch(path):
                    found.add(path)
                    open_.append(_read(root / path))
    return sorted(found)


def cells(book):
    """Return the sources of the code cells but the setup cell, without commands to IPython."""
    found = [cell for cell in notebook.code_cells(book) if not notebook.is_setup(cell)]
    return [re.sub(r"^(\s*)[%!].*", r"\1pass", cell.source, flags=re.M) for cell in found]


@functools.lru_cache(maxsize=2048)
def names(source):
    """Return the dotted names below `helpers` that Python `source` imports or names, as a set.

    Strings count, docstrings do not.
    """
    found = set()
    for node in ast.walk(_without_docstrings(ast.parse(source))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            found.add(_dotted(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(NAMED.findall(node.value))
    return frozenset(name for name in found if NAMED.fullmatch(name))


def paths_of_helpers(root=notebook.BOOK):
    """Return the paths of the counted modules that `import helpers` alone loads, sorted."""
    return closure([_read(root / "helpers" / "__init__.py")], root)


def libraries(book, root=notebook.BOOK):
    """Return the names of the libraries that `book` and its counted modules import, as a set."""
    return set().union(*map(_libraries, sources(book, root))) - {"helpers"}


@functools.lru_cache(maxsize=2048)
def tree_sha256(source):
    """SHA-256 over the syntax tree of Python `source`, the same in every version of Python.

    Comments, docstrings and formatting change nothing.
    """
    tree = _without_docstrings(ast.parse(source))
    return hashlib.sha256(_text(tree).encode()).hexdigest()


def _libraries(source):
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def _read(path):
    return path.read_text(encoding="utf-8")


def _dotted(node):
    """Return "a.b.c" for the Attribute a.b.c, "" for one of anything else than names."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _files(name, root):
    """Return the paths of the modules that the dotted `name` leads to."""
    first, *rest = name.split(".")
    if len(rest) == 1:  # helpers.measure is that of helpers.timing
        rest = _reexports(_read(root / first / "__init__.py")).get(rest[0], rest[0]).split(".")
    for end in range(len(rest), 0, -1):
        stem = "/".join([first, *rest[:end]])
        if (root / f"{stem}.py").is_file():
            return [f"{stem}.py"]
        if (root / stem).is_dir():  # a program may be a package: all of its modules
            return [f"{stem}/{path.name}" for path in (root / stem).glob("*.py")] if end > 1 else []
    return []


@functools.lru_cache(maxsize=64)
def _reexports(source):
    """Return {name: module below helpers} of what helpers/__init__.py gives out."""
    return {
        alias.asname or alias.name: node.module.removeprefix("helpers.")
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("helpers.")
        for alias in node.names
    }


def _without_docstrings(tree):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return tree


def _text(node):
    """Write a part of a tree as text; ast.dump's differs from one version of Python to the next."""
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)
    if isinstance(node, ast.JoinedStr):  # Python 3.12 leaves empty pieces in it
        node.values = [x for x in node.values if getattr(x, "value", None) != ""]
    fields = ((name, getattr(node, name, None)) for name in node._fields if name not in SKIPPED)
    kept = [f"{name}={_text(x)}" for name, x in fields if x is not None and x != []]
    return f"{type(node).__name__}({','.join(kept)})"
