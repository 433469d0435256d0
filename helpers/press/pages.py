"""Pages of the site that are made from the chapters: what was measured, the sources, the status.

python -m helpers.press.pages FOLDER    write measured.md, sources.md, status.md, coverage.md,
                                        conformance.md, fuzz.md, xray.md, tools*.md, one_launch.md,
                                        lstm_on_chip.md, landing.md, routes.md, teaching.md, one for
                                        each message in wrong/ and for each part in first/, a
                                        notebook in static/ and headlines.json there
"""

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

import gpuless
from helpers.press import (
    evidence,
    first_page,
    front,
    host,
    labels,
    measured_page,
    notebook,
    record,
    results,
    routes,
    stays_page,
    teaching,
    tools_page,
    wrong_page,
    xray_page,
)
from helpers.press.measured_page import PACKAGES
from helpers.press.tables import table

OUTCOMES = {
    "passed": "Passed",
    "by design": "Fail by design",
    "not covered": "Not covered",
    "differs": "Differ",
    "not run": "Not run",
    "skipped by CuPy": "Skipped by CuPy",
}


def section(book, heading):
    """Return the Markdown of the notebook `book` under `## heading`, with the texts of its outputs.

    A figure is represented by its text alternative; code and hidden cells are left out.
    """
    parts = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif "remove-cell" not in notebook.tags(cell):
            for output in cell.outputs:
                data = output.get("data", {})
                text = data.get("text/plain", output.get("text", "")).rstrip()
                if text:
                    parts.append(f"*{text}*" if "image/png" in data else f"```text\n{text}\n```")
    pattern = rf"^## {re.escape(heading)}\s*?\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, "\n\n".join(parts), re.M | re.S)
    return found.group(1).strip() if found else ""


def sources(chapters):
    """Return the page of what the chapters say on their sources' measurements.

    A chapter's source and the verdict in a line come from book/chapters.toml.
    """
    text = [
        "# What we found when we measured again",
        "Each chapter goes back to a published article or talk and measures its claims again. "
        "Mistakes are easy to make in timing and parallel code; whoever publishes code and numbers "
        "makes it possible to find them, and that is how this book could be written. "
        "[References](../references.md) has their titles and what is known of their authors.",
    ]
    for link, (path, book) in chapters.items():
        found = section(book, "What the original measured")
        entry = labels.plan()["chapters"].get(path.stem[:2], {})
        if found or "source" in entry:
            text.append(f"## [{notebook.title(book)}]({link})")
        if "source" in entry:
            text.append(f"*{entry['source']}*")
        if "verdict" in entry:
            text.append(f"**{entry['verdict']}**")
        if found:
            folder = os.path.dirname(link)
            found = re.sub(r"\]\((?!\w+:|#|/)", f"]({folder}/", found)
            found = found.replace("](#", f"]({link}#")
            summary = "<summary>What the chapter says</summary>"
            text.append(f"<details>{summary}\n\n{found}\n\n</details>")
    if len(text) == 2:
        text.append("No chapter says anything on this yet.")
    return text


def status(chapters):
    """Return the page of all receipts; what most of them share is said once."""
    receipts = [book.metadata.get("receipt") for _, book in chapters.values()]
    common = Counter(fact for receipt in receipts if receipt for fact in _facts(receipt).items())
    usual = dict(fact for fact, count in reversed(common.most_common()) if count > 1)
    rows, ran = [], []
    for link, (path, book) in chapters.items():
        receipt = book.metadata.get("receipt")
        title, waits = f"[{notebook.title(book)}]({link})", record.waits(path)
        row = [title, record.state(book) + (f"; waits for {waits}" if waits else "")]
        if receipt:
            ran.append([title, *_ran(receipt)])
            memory = (receipt["sanitizer"].get(key) for key in ("verdict", "version"))
            facts = _facts(receipt)
            row += [
                f"{receipt['date']}, {receipt['duration_seconds']} s",
                ", ".join(filter(None, memory)),
                host.text(receipt),
                ", ".join(f"{k} {v}" for k, v in facts.items() if usual.get(k) != v) or None,
            ]
        rows.append(row + [None] * (6 - len(row)))
    headers = ["Chapter", "Recording", "Date and time", "Memory check", "Host", "Otherwise"]
    return [
        "# Status",
        "The receipt of each chapter: what its outputs were recorded on. *Fresh* means that code "
        "and outputs are those of the recording, byte for byte, and that the book's modules which "
        "the chapter runs do what they did. *Memory check* is "
        "compute-sanitizer's verdict on the chapter's kernels, and its version. *Host* is the time "
        "of one small array operation from Python, median and quartiles, before and after the run; "
        "where it says *disturbed*, trust times that wait for the host less.",
        "Where *Otherwise* says nothing else, a chapter was recorded with "
        f"{', '.join(f'{name} {usual[name]}' for name in _NAMED if name in usual)}."
        if usual
        else "",
        table(headers, rows) if rows else "No chapter is recorded yet.",
        "## What ran",
        "The book's modules behind the cells, the libraries that the chapter imports, the host, "
        "and the switches that trade digits for speed: those that the code sets, and how they "
        "stood at the end. Recordings from before this was kept have *unknown* in its place.",
        table(["Chapter", "Modules", "Libraries", "Host", "Switches"], ran),
        *_evidence(),
    ]


_NAMED = ("GPU", "driver", *PACKAGES)


def _facts(receipt):
    """Return what `receipt` tells of the machine and the versions, by name."""
    return {name: found for name in _NAMED if (found := receipt.get(name.lower()))}


def _ran(receipt):
    """Return what `receipt` tells of modules, libraries, host and switches, each in words or None.

    What is not known of a whole group is the word "unknown" in its place.
    """
    # As code: a name that ends in .py would become a link to a host of that name.
    modules = [f"`{path.removeprefix('helpers/')}`" for path in receipt.get("modules", ())]
    libraries = [f"{name} {version}" for name, version in receipt.get("libraries", {}).items()]
    host = receipt.get("host")
    if isinstance(host, dict):
        host = f"{host['cpu']}, {host['cores']} cores, {host['blas']}"
    switches = receipt.get("switches", {})
    told, end = switches.get("in the code", []), switches.get("at the end")
    if isinstance(end, dict):
        end = ", ".join(f"{name} {value}" for name, value in end.items())
    told = [f"`{text}`" for text in told] + ([f"at the end: {end}"] if end else [])
    return [
        text or None for text in (", ".join(modules), ", ".join(libraries), host, "; ".join(told))
    ]


def _evidence():
    """Return what was counted beside the chapters, and its state, as pieces of Markdown."""
    rows = []
    for name in evidence.names():
        made = (evidence.load(name) or {}).get("receipt") or {}
        on = ", ".join(f"{key} {value}" for key, value in made.get("on", {}).items())
        by = made.get("made by") and f"`{made['made by']}`"
        state = evidence.state(name).replace("*", r"\*")  # of patterns
        if name in evidence.WAITS:
            state += f"; it waits: {evidence.WAITS[name]}"
        rows.append([name, state, by, on or None, made.get("date")])
    return [
        "## Evidence",
        "What was counted or measured beside the chapters: the kernels' counters, the x-ray held "
        "against a GPU, the tests and random programs that the stand-in passes, the weight of "
        "pages. It is *fresh* while the code that it is about is as it was then.",
        table(["Evidence", "State", "Made by", "On", "Date"], rows),
    ]


def coverage(chapters):
    """Return what the stand-in covers and what it does not, as a fragment of a page."""
    text = []
    for heading, entries in (("Covered", gpuless.COVERED), ("Not covered", gpuless.NOT_COVERED)):
        items = [f"- **{name}**: {what}." for name, what in entries.items()]
        text += [f"## {heading}", "\n".join(items)]
    return text


def conformance(chapters):
    """Return how CuPy's own tests fare on the stand-in, by folder, as a fragment of a page."""
    stored = evidence.load("conformance")
    if stored is None:
        return ["No run of CuPy's own tests is stored."]
    made = stored["receipt"]
    folders, reasons = {}, {kind: Counter() for kind in OUTCOMES}
    for file, counts in stored["files"].items():
        folder = "/".join(Path(file).parent.parts[:2]).replace("_tests", "")
        for label, count in counts.items():
            kind, _, reason = label.partition(": ")
            folders.setdefault(folder, Counter())[kind] += count
            if reason:
                reasons[kind][reason] += count
    folders["together"] = sum(folders.values(), Counter())
    rows = [
        [f"`{name}`", *(f"{n[kind]:,}" if n[kind] else None for kind in OUTCOMES)]
        for name, n in folders.items()
    ]
    text = [
        f"CuPy {made['on']['cupy']}'s own tests, run with NumPy {made['on']['numpy']} on "
        f"{made['date']}. "
        "The numbers are test cases; a file that is not run as a whole counts once.",
        table(["Folder", *OUTCOMES.values()], rows),
    ]
    for kind, found in reasons.items():
        if found:
            items = "\n".join(f"- {reason}: {count:,}" for reason, count in found.most_common())
            title = f"{OUTCOMES[kind]}: why, and how many"
            text += [f"<details>\n<summary>{title}</summary>\n\n{items}\n\n</details>"]
    return text


def fuzz(chapters):
    """Return what the last long run of random programs found, as a fragment of a page."""
    stored = evidence.load("fuzz")
    if stored is None:
        return ["No long run is stored."]
    made = stored["receipt"]
    kinds = stored["by kind"] | {"together": stored["cases"]}
    return [
        f"{stored['cases']:,} random programs, run on {made['date']} in {stored['seconds']:,} s "
        f"with NumPy {made['on']['numpy']}: {stored['failures']:,} had another result than NumPy's "
        "or, where the program was wrong on purpose, not the error that names the mistake.",
        table(["Kind", "Programs"], [[kind, f"{count:,}"] for kind, count in kinds.items()]),
    ]


def projects(chapters):
    """Return how other people's projects fare on the stand-in, as a fragment of a page."""
    stored = evidence.load("projects")
    if stored is None:
        return ["No run of other people's projects is stored."]
    made, rows, reasons = stored["receipt"], [], []
    for name, project in stored["projects"].items():
        sums = Counter()
        for label, count in project["cases"].items():
            kind, _, why = label.partition(": ")
            sums[kind] += count
            if why:
                what = f"`{why}`" if kind == "refused" else why
                reasons.append(f"- **{name}**, {kind} ({count:,}): {what}.")
        kinds = ("passed", "failed", "refused", "skipped")
        rows.append(
            [f"{name} {project['version']}", project["about"], project["kernels"] or None]
            + [f"{sums[kind]:,}" if sums[kind] else None for kind in kinds]
        )
    heads = ["Project", "What it does", "Kernels", "Passed", "Failed", "Refused", "Skipped"]
    return [
        f"Their own tests, with the stand-in installed alone, run on {made['date']}. The numbers "
        "are test cases, also those that need no array of CuPy's; a file that imports what is "
        "refused cannot be read, and counts once. Kernels are the different sources that were "
        "compiled.",
        table(heads, rows),
        "\n".join(reasons),
    ]


PAGES = {
    "measured": measured_page.page,
    "sources": sources,
    "status": status,
    "coverage": coverage,
    "conformance": conformance,
    "fuzz": fuzz,
    "projects": projects,
    "one_launch": stays_page.one_launch,
    "lstm_on_chip": stays_page.lstm_on_chip,
    "xray": xray_page.examples,
    "tools": tools_page.tables,
    "tools_cannot": tools_page.cannot,
    "tools_gate": tools_page.gate,
    "tools_picture": tools_page.picture,
    "landing": front.landing,
    "routes": routes.routes,
    "teaching": teaching.teaching,
}


def write(folder, notebooks=()):
    """Write the pages on the `notebooks` (default: all) to `folder`; return their paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    chapters = {
        Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix(): (
            path,
            notebook.read(path),
        )
        for path in notebook.paths(notebooks)
    }
    written = []
    for name, page in PAGES.items():
        text = "\n\n".join(page(chapters)) + "\n"
        written.append(_keep(folder / f"{name}.md", text.encode()))
    for name, text in wrong_page.fragments().items():
        _keep(folder / "wrong" / f"{name}.md", f"{text}\n".encode())
    for name, text in first_page.fragments().items():
        _keep(folder / "first" / f"{name}.md", f"{text}\n".encode())
    first_page.write(folder / "static")
    found = results.stored([path for path, _ in chapters.values()])
    words = {entry["name"]: labels.sentence(entry) for entry in found}
    _keep(folder / "headlines.json", json.dumps(words, ensure_ascii=False, indent=1).encode())
    return written


def _keep(path, content):
    """Write the bytes `content` to `path`, which it returns.

    An unchanged file keeps its time, so that the site is not built anew for it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write(sys.argv[1])
