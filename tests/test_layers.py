"""No module imports itself by way of others, no header of the shim includes itself.

Of the book (`helpers`) and of the stand-in below it (`gpuless`, in the folder `standin`).

The face of the stand-in (`cupy`, `cupyx`) is read by the names that it is imported under.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FACE = "gpuless.packages."
SHIM = ROOT / "standin" / "gpuless" / "engine" / "shim"
XRAY = ROOT / "standin" / "gpuless" / "xray" / "machine" / "cpp"


def circles(edges):
    """Each set of vertices that can reach each other; edges: {vertex: its successors}."""

    def reached(start):
        found, left = set(), list(edges[start])
        while left:
            vertex = left.pop()
            if vertex not in found:
                found.add(vertex)
                left += edges[vertex]
        return found

    reach = {vertex: reached(vertex) for vertex in edges}
    return {
        frozenset(other for other in found if vertex in reach[other])
        for vertex, found in reach.items()
        if vertex in found
    }


def modules(root):
    """The modules of the book and of the stand-in under ``root`` by name."""
    found = {}
    for top in (root, root / "standin"):
        for package in ("helpers", "gpuless"):
            for path in (top / package).rglob("*.py"):
                parts = path.relative_to(top).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root=ROOT):
    """For each module those that it imports, inside functions too."""
    known = modules(root)
    faces = {name.removeprefix(FACE): name for name in known if name.startswith(FACE)}

    def resolve(name):
        name = faces.get(name, name)
        return name if name in known else None

    edges = {}
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        edges[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                targets = [resolve(alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                parts = package.split(".")
                above = ".".join(parts[: len(parts) + 1 - node.level]) if node.level else ""
                start = ".".join(filter(None, [above, node.module]))
                targets = [resolve(f"{start}.{a.name}") or resolve(start) for a in node.names]
            else:
                continue
            edges[name].update(t for t in targets if t and t != name)
    return edges


def includes(*folders):
    """For each C++ file those that it includes."""
    files = {path.name: path for folder in folders for path in folder.iterdir()}
    return {
        name: set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)) & set(files)
        for name, path in files.items()
    }


def test_no_module_imports_itself_by_way_of_others():
    assert not circles(imports())


def test_no_header_includes_itself_by_way_of_others():
    assert not circles(includes(SHIM, XRAY))


def test_each_layer_knows_nothing_above_it():
    edges = imports()
    for name, targets in edges.items():
        if name.startswith("gpuless.engine"):
            assert all(t.startswith("gpuless.engine") for t in targets), (name, targets)
        if name.startswith("gpuless.xray.machine"):
            below = ("gpuless.engine", "gpuless.xray.machine")
            assert all(t.startswith(below) for t in targets), (name, targets)
        if name.startswith("gpuless"):
            assert not [t for t in targets if t.startswith("helpers")], (name, targets)
        if name.startswith("helpers.xray"):
            assert not [t for t in targets if t.startswith("helpers.press")], name


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("from helpers import b", "import helpers.a"),
        ("from helpers.b import x", "def f():\n    from . import a"),
        ("import helpers.b as other", "from helpers.a import y"),
    ],
)
def test_a_circle_is_seen(tmp_path, a, b):
    (tmp_path / "helpers").mkdir()
    for name, text in (("__init__", ""), ("a", a), ("b", b), ("c", "from helpers import a")):
        (tmp_path / "helpers" / f"{name}.py").write_text(text)
    assert circles(imports(tmp_path)) == {frozenset({"helpers.a", "helpers.b"})}


def test_a_circle_of_headers_is_seen(tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#pragma once\n#include "a.h"\n#include <stdio.h>\n')
    assert circles(includes(tmp_path)) == {frozenset({"a.h", "b.h"})}
