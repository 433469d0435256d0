"""What a file says, as a hash: another comment, blank line or docstring leaves it as it is.

A subject is a path from the repository's root, or a pattern with asterisks for several files. Of a
notebook it is one part: `notebooks/50_cnn_mnist.ipynb#export`, its cells tagged `export`, or
`…#kernels`, the CUDA C in its code cells.
"""

import ast
import functools
import hashlib
import json
import re
import tomllib
from pathlib import Path

import nbformat
import yaml

from helpers.press import notebook, used

C_LIKE = {".h", ".hpp", ".cpp", ".cu", ".cuh", ".js", ".css"}
STRING_OR_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
KERNEL = ("__global__", "__device__", "__shared__")  # a text with one of these is CUDA C


def c(text):
    """Return the lines of C-like `text` without comments, margins and blank lines."""
    code = STRING_OR_COMMENT.sub(lambda m: " " if m[0][:2] in ("//", "/*") else m[0], text)
    lines = (line.strip() for line in code.splitlines())
    return [line for line in lines if line]


def kernels(book):
    """Return the CUDA C in the code cells of the notebook `book`: texts with a function of it."""
    found = []
    for code in used.cells(book):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if any(word in node.value for word in KERNEL):
                    found.append(c(node.value))
    return found


def exported(book):
    """Return the syntax trees of the cells of the notebook `book` that are tagged `export`."""
    cells = notebook.code_cells(book)
    return [used.tree_sha256(cell.source) for cell in cells if "export" in notebook.tags(cell)]


PARTS = {"export": exported, "kernels": kernels}


@functools.lru_cache(maxsize=512)
def _said(content, suffix, part):
    """Return what a file with this content and ending says, as what JSON can hold."""
    if part:
        return PARTS[part](nbformat.reads(content.decode(), as_version=4))
    if suffix == ".py":
        return used.tree_sha256(content.decode())
    if suffix in C_LIKE:
        return c(content.decode())
    if suffix == ".toml":
        return tomllib.loads(content.decode())
    if suffix in (".yml", ".yaml"):
        return yaml.safe_load(content)
    return hashlib.sha256(content).hexdigest()


def files(subject, root=notebook.BOOK):
    """Return the files that `subject` names below `root`, sorted; those for readers are left out.

    ValueError for a part that notebooks have not, or for a notebook without one.
    """
    pattern, _, part = subject.partition("#")
    if (part not in PARTS) if pattern.endswith(".ipynb") else part:
        raise ValueError(f"{subject!r}: of a notebook name a part, one of {', '.join(PARTS)}")
    found = (path for path in Path(root).glob(pattern) if path.is_file())
    return sorted(p for p in found if p.suffix != ".md" and "__pycache__" not in p.parts)


def fingerprint(subject, root=notebook.BOOK):
    """Return a hash of what the files of `subject` say and of their paths; None without files."""
    part = subject.partition("#")[2]
    found = files(subject, root)
    said = [(p.relative_to(root).as_posix(), _said(p.read_bytes(), p.suffix, part)) for p in found]
    if not said:
        return None
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
