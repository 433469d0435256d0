"""What the last whole run gave, by file, in ``results.json``: ``{label: number of cases}``."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import rules
import sdist

RESULTS = Path(__file__).with_name("results.json")
Counts = dict[str, Counter]


def read() -> dict:
    """The stored results; without a file, results without files."""
    if not RESULTS.exists():
        return {"files": {}}
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def write(counts: Counts, every_file: list[str]) -> None:
    """Store the counts of these files; the other files of the suite keep theirs."""
    files = {name: entry for name, entry in read()["files"].items() if name in every_file}
    files |= {name: dict(sorted(found.items())) for name, found in counts.items()}
    results = {
        "cupy": sdist.VERSION,
        "numpy": version("numpy"),
        "date": datetime.date.today().isoformat(),
        "files": dict(sorted(files.items())),
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


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
    if lines and before.get("numpy") != version("numpy"):
        lines.insert(0, f"stored with NumPy {before.get('numpy')}, run with {version('numpy')}")
    return lines
