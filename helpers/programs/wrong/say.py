"""Run one of the programs beside this file, and print as JSON what it said.

python helpers/programs/wrong/say.py PROGRAM.py [mended]

It imports nothing of the book's, so that a program meets CuPy as it is: no stand-in, no first cell.
"""

import contextlib
import io
import json
import re
import sys
import traceback
import warnings
from pathlib import Path

PARTS = ("setup", "wrong", "mended")


def parts(path):
    """Return {"setup", "wrong", "mended"} of the program at `path`, texts without its docstring."""
    text = re.sub(r'\A""".*?"""\n', "", Path(path).read_text(encoding="utf-8"), flags=re.S)
    found = re.split(r"^# %% (\w+)\n", text, flags=re.M)
    named = dict(zip(("setup", *found[1::2]), (part.strip() for part in found[::2]), strict=True))
    if not set(named) <= set(PARTS) or "wrong" not in named:
        raise ValueError(f"{path} has the parts {', '.join(named)}, not some of {', '.join(PARTS)}")
    return named


def run(path, part="wrong"):
    """Run setup and `part` of the program at `path`.

    Return {"printed": its stdout, "warned": its warnings, "error": the last lines of a traceback},
    each a text, "" where there is nothing.
    """
    texts, printed, error = parts(path), io.StringIO(), ""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            code = f"{texts['setup']}\n{texts[part]}\n"
            exec(compile(code, Path(path).name, "exec"), {"__name__": "__main__"})
        except Exception as raised:
            error = "".join(traceback.format_exception_only(raised))
    warned = [f"{w.category.__name__}: {str(w.message).strip()}" for w in caught]
    said = {"printed": printed.getvalue(), "warned": "\n".join(warned), "error": error}
    return {key: text.strip() for key, text in said.items()}


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    print("\n" + json.dumps(run(*sys.argv[1:])), flush=True)
