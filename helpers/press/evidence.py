"""What was counted or measured beside the chapters: files of JSON, each with a receipt.

python -m helpers.press.evidence            say what there is, what made it, and its state
python -m helpers.press.evidence --check    the same; status 1 if something is stale

A receipt says what made the file (a command), on what, when, at which commit, and what it is about:
subjects as fingerprint.py has them, with their hashes. Where one has changed since, it is stale.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

from gpuless.engine import compiler
from helpers import device
from helpers.press import notebook
from helpers.press.fingerprint import files, fingerprint

FOLDER = notebook.BOOK / "book" / "evidence"
# Evidence that is known to be stale and cannot be had anew yet, with the reason.
WAITS = {}
FIELDS = ("made by", "on", "date", "commit", "about")  # of a receipt


def names():
    """Return the names of all evidence, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def path(name):
    """Return the path of the evidence called `name`, whether it is there or not."""
    return FOLDER / f"{name}.json"


def load(name):
    """Return the evidence called `name`, its receipt under "receipt"; None where there is none."""
    file = path(name)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def cpu():
    """Return what this machine is, for the receipt of what no GPU has part in."""
    try:
        found = compiler.find_compiler().version.splitlines()[0]
    except RuntimeError:
        found = "none"
    return {
        "processor": device.cpu_name(),
        "compiler": found,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def commit(subjects, root=notebook.BOOK):
    """Return the commit at `root`, with a plus where a file of the `subjects` differs from it.

    "unknown" without git.
    """
    changed = [str(file) for subject in subjects for file in files(subject, root)]
    try:
        run = {"cwd": root, "capture_output": True, "text": True, "check": True}
        head = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], **run).stdout.strip()
        status = subprocess.run(["git", "status", "--porcelain", "--", *changed], **run).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+" if status else head


def receipt(made_by, on, about):
    """Return the receipt of what the command `made_by` finds here and now.

    `on` is a dictionary of texts, as report.facts() or cpu() return them; `about` lists subjects.
    ValueError for a subject without files.
    """
    hashes = {subject: fingerprint(subject) for subject in about}
    if gone := [subject for subject, found in hashes.items() if found is None]:
        raise ValueError(f"there is nothing at {', '.join(gone)}")
    today = datetime.date.today().isoformat()
    parts = (made_by, on, today, commit(about), hashes)
    return dict(zip(FIELDS, parts, strict=True))


def store(name, data, made):
    """Write the evidence `name` (or the file at a path), `data` with the receipt `made`.

    Whoever reads the file sees the old text or the new, no mixture. Return its path.
    """
    target = name if isinstance(name, Path) else path(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    text = json.dumps({"receipt": made} | data, indent=1, ensure_ascii=False)
    scratch.write_text(text + "\n", encoding="utf-8")
    scratch.replace(target)
    return target


def changed(made):
    """Return the subjects of the receipt `made` that are not as they were."""
    return [subject for subject, found in made["about"].items() if fingerprint(subject) != found]


def state(name):
    """Return "fresh" if what the evidence `name` is about is as it was, else what has changed."""
    found = load(name)
    if found is None:
        return "not there"
    made = found.get("receipt")
    if not made or tuple(made) != FIELDS or not made["about"]:
        return "without a receipt"
    if not (since := changed(made)):
        return "fresh"
    return f"stale: since {made['date']} (commit {made['commit']}), changed: {', '.join(since)}"


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.evidence")
    parser.add_argument("--check", action="store_true", help="status 1 if something is stale")
    options = parser.parse_args(arguments)
    states = {name: state(name) for name in names()}
    for name, found in states.items():
        print(f"{name}: {found}" + (f"; waits: {WAITS[name]}" if name in WAITS else ""))
        if made := (load(name) or {}).get("receipt"):
            on = ", ".join(f"{key} {value}" for key, value in made["on"].items())
            print(f"    {made['date']}, on {on}\n    {made['made by']}")
    stale = {name for name, found in states.items() if found != "fresh"}
    return int(options.check and bool(stale - WAITS.keys()))


if __name__ == "__main__":
    sys.exit(main())
