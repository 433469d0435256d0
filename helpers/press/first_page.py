"""The page "Ten minutes to a first kernel": its code, what it prints, and a notebook of both.

python -m helpers.press.first_page FOLDER    write the notebook, first_kernel.ipynb, there

The page is book/first-kernel.md, its code helpers/programs/first_kernel.py. What the parts print is
not stored: the build runs them on the stand-in. The notebook has the page's text and code, and no
outputs, so that it needs no recording.
"""

import contextlib
import functools
import io
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import nbformat

from helpers.press import notebook, sittings

PAGE = notebook.BOOK / "book" / "first-kernel.md"
PROGRAM = notebook.BOOK / "helpers" / "programs" / "first_kernel.py"
NAME = "first_kernel.ipynb"
ANSWER, STUB = "mend", "outside"  # what the reader writes, and the part that it begins from
FRAGMENT = re.compile(r"```\{include\} generated/first/(\w+)\.md\n```\n*")
ONLY_HERE = re.compile(r"<!-- not in the notebook -->.*?(?:<!-- so far -->\n*|\Z)", re.S)


def parts():
    """Return {name: code} of the program's parts, in order."""
    text = PROGRAM.read_text(encoding="utf-8")
    found = re.split(r"^# %% (\w+)\n", text, flags=re.M)
    return {name: code.strip() for name, code in zip(found[1::2], found[2::2], strict=True)}


def run():
    """Run the parts one after another; return {name: what it prints, or its error's last lines}.

    An error ends its part alone, as it does in a notebook.
    """
    space, said = {"__name__": "__main__"}, {}
    for name, code in parts().items():
        printed, error = io.StringIO(), ""
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, PROGRAM.name, "exec"), space)
            except Exception as raised:
                error = "".join(traceback.format_exception_only(raised))
        said[name] = (printed.getvalue() + error).strip()
    return said


@functools.cache
def standin():
    """Return what run() returns on the stand-in, in a process of its own."""
    code = "import helpers, json; from helpers.press import first_page as f; "
    command = [sys.executable, "-c", f"{code}print('\\n' + json.dumps(f.run()))"]
    environment = {**os.environ, "CUPY_STANDIN": "always"}
    options = {"cwd": notebook.BOOK, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(command, **options)
    if done.returncode:
        raise RuntimeError(f"{PROGRAM.name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def fragments():
    """Return {part: its code, the lines that are new in it marked, and what it prints}."""
    found, before = {}, []
    for name, code in parts().items():
        lines = code.splitlines()
        new = [k for k, line in enumerate(lines, 1) if line.strip() and line not in before]
        mark = f":emphasize-lines: {','.join(map(str, new))}\n" if before and new else ""
        before = before or lines
        shown = code.replace("\n\n\n", "\n\n") if not mark else code
        block = f"```{{code-block}} python\n{mark}\n{shown}\n```"
        said = f"```{{code-block}} text\n:class: message\n{standin()[name]}\n```"
        found[name] = f"{block}\n\n{said}"
    return found


def pieces():
    """Return the page in order, as ("text", Markdown) and ("code", name of a part)."""
    text = ONLY_HERE.sub("", PAGE.read_text(encoding="utf-8"))
    found = FRAGMENT.split(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S))
    kinds = ("text", "code")
    return [(kinds[k % 2], piece.strip()) for k, piece in enumerate(found) if piece.strip()]


def minutes():
    """Return the minutes that the page takes, by the rule of sittings.py.

    What a heading says, "(4 min)", is for what the reader writes.
    """
    seconds = 0
    for kind, piece in pieces():
        if kind == "text":
            asked = sum(map(int, re.findall(r"^##+ .*\((\d+) min\)$", piece, re.M)))
            seconds += 60 * asked + 60 * sittings.count_words(piece) / sittings.WORDS_A_MINUTE
        else:
            python, cuda = sittings.count_lines(parts()[piece])
            seconds += sittings.PYTHON_SECONDS * python + sittings.CUDA_SECONDS * cuda
    return round(seconds / 60)


def as_notebook():
    """Return the page as a notebook: its text without links, the setup cell, and its code."""
    cells = []
    for kind, piece in pieces():
        if kind == "code" and piece == ANSWER:
            start = "# Mend this one, and change what it computes.\n" + parts()[STUB]
            cells.append(_code(start, "raises-exception"))
            cells.append(_code(f"# @title The answer\n{parts()[piece]}", "solution", "hide-input"))
        elif kind == "code":
            cells.append(
                _code(parts()[piece], *["raises-exception"] * ("Error" in standin()[piece]))
            )
        else:
            words = re.sub(r"(?<!!)\[([^\]]+)\]\([^)]+\)", r"\1", piece)
            cells.append(nbformat.v4.new_markdown_cell(words))
    cells.insert(1, nbformat.v4.new_code_cell(notebook.SETUP_CELL))
    return notebook.canonical(nbformat.v4.new_notebook(cells=cells))


def _code(source, *tags):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {})


def write(folder, change=lambda book: book):
    """Write the notebook, after `change` (book -> book), into `folder`; return its path."""
    path = Path(folder) / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook.write(change(as_notebook()), path)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print(write(sys.argv[1]))
