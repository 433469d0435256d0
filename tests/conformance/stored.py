"""What the last whole run gave, by file: ``{label: number of cases}``, the evidence of its name."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version

import rules
import sdist

from helpers.press import evidence

NAME = "conformance"
COMMAND = "python -m pytest tests/conformance --whole --store"
ABOUT = [
    "standin/gpuless/engine/**/*",
    "standin/gpuless/packages/**/*",
    "standin/gpuless/names.toml",
]
Counts = dict[str, Counter]


def read() -> dict:
    """The stored results; without a file, results without files."""
    return evidence.load(NAME) or {"files": {}}


def write(counts: Counts, every_file: list[str]) -> None:
    """Store the counts of these files; the other files of the suite keep theirs.

    The receipt stays that of the last run in which all files had counts: it speaks of all of them.
    """
    before = read()
    files = {name: entry for name, entry in before["files"].items() if name in every_file}
    files |= {name: dict(sorted(found.items())) for name, found in counts.items()}
    made = before.get("receipt")
    if made is None or set(counts) == set(every_file):
        made = evidence.receipt(COMMAND, evidence.cpu() | {"cupy": sdist.VERSION}, ABOUT)
    evidence.store(NAME, {"files": dict(sorted(files.items()))}, made)


def misfits(suite: rules.Suite, files: list[str]) -> list[str]:
    """Where the stored results do not fit the rules and the files of the suite."""
    entries = read()["files"]
    found = [f"{name}: no results are stored" for name in files if name not in entries]
    found += [f"{name}: stored, but not in the suite" for name in entries if name not in files]
    labels = {label for entry in entries.values() for label in entry}
    unused = [f"{rule.kind}: {rule.reason!r} fits nothing" for rule in suite.unused(labels)]
    kinds = {label.split(":")[0] for label in labels}
    unknown = kinds - {*rules.KINDS, rules.PASSED, rules.SKIPPED}
    return found + unused + [f"unknown kind of result: {kind}" for kind in sorted(unknown)]


def differences(counts: Counts) -> list[str]:
    """Where the counts of a whole run are not the stored ones, a line each."""
    before = read()
    lines = []
    for name, found in counts.items():
        entry = before["files"].get(name, {})
        lines += [
            f"{name}: {label}: {entry.get(label, 0)} stored, {found.get(label, 0)} now"
            for label in sorted({*entry, *found})
            if entry.get(label, 0) != found.get(label, 0)
        ]
    numpy = before["receipt"]["on"]["numpy"] if "receipt" in before else "?"
    if lines and numpy != version("numpy"):
        lines.insert(0, f"stored with NumPy {numpy}, run with {version('numpy')}")
    return lines
