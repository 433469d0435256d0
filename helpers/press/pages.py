"""Pages of the site that are made from the chapters: what was measured, the sources, the status.

python -m helpers.press.pages FOLDER    write measured.md, sources.md, status.md, coverage.md,
                                        conformance.md, fuzz.md, xray.md, landing.md, the cards'
                                        pictures and headlines.json there
"""

import json
import os
import re
import sys
from collections import Counter
from html import escape
from pathlib import Path

from helpers import standin
from helpers.press import front, host, labels, notebook, record, results, xray_page

PACKAGES = ("CUDA", "NVRTC", "CuPy", "NumPy", "Python")
TESTS = Path(__file__).parents[2] / "tests"
CONFORMANCE = TESTS / "conformance" / "results.json"
FUZZ = TESTS / "fuzz" / "result.json"
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


def table(headers, rows):
    """Return a Markdown table; None becomes a dash."""
    lines = [headers, ["---"] * len(headers), *rows]
    cells = [["–" if x is None else str(x).replace("|", "\\|") for x in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def measured(chapters):
    """Return the page of all headline results; `chapters` maps links to (path, notebook)."""
    files = [results.FOLDER, results.FOLDER / results.AGAIN]
    paths = sorted(path for folder in files for path in folder.glob("*.jsonl"))
    paths.sort(key=lambda path: path.name)  # stable: a second run stands after its first
    gpus = [results.load(path) for path in paths]
    again = [path.parent.name == results.AGAIN for path in paths]
    names = [facts["gpu"] for facts, _ in gpus]
    text = [
        "# What was measured",
        "The headline results of all chapters, on every GPU that the book was run on. A ratio "
        "compares two measurements of one run on one machine. A dash: not measured there. "
        "*Again* is a second run on a GPU of the same kind, to see what of a number stays.",
    ]
    for link, (path, book) in chapters.items():
        rows, notes = _side_by_side(results.stored([path]), path.stem, gpus, again)
        if rows:
            text.append(f"## [{notebook.title(book)}]({link})")
            heads = ["again" if second else name for name, second in zip(names, again, strict=True)]
            text.append(table(["Result", "Unit", *heads, "Against"], rows))
            text += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    if len(text) == 2:
        return [*text, "No result is stored yet."]
    text += ["## The machines", "What each GPU's newest results were measured with."]
    headers = ["GPU", "Driver", *PACKAGES, "Date"]
    keys = ("gpu", "driver", *(name.lower() for name in PACKAGES), "date")
    rows = [[facts.get(key) for key in keys] for facts, _ in gpus]  # no nvrtc before it was kept
    for row, second in zip(rows, again, strict=True):
        row[0] += ", again" if second else ""
    return [*text, table(headers, rows)]


def _side_by_side(entries, stem, gpus, again):
    """Return the rows on one chapter, and notes on what a GPU measured against something else.

    The rows are what the chapter stores now or, when it stores nothing yet, what the GPUs have.
    """
    measured = [{x["name"]: x for x in lines if x["notebook"] == stem} for _, lines in gpus]
    known = {name: line for lines in measured for name, line in lines.items()}
    wanted = {entry["name"]: entry for entry in entries} or known
    rows, notes = [], []
    for name, entry in wanted.items():
        words = f'<span title="{name}">{escape(labels.label(entry))}</span>'
        row = [words, labels.quantity(entry["value"], entry["unit"])[1]]
        for lines, second in zip(measured, again, strict=True):
            line = lines.get(name)
            row.append(line and labels.quantity(line["value"], line["unit"])[0])
            here, there = ((x["unit"], x["against"]) for x in (entry, line or entry))
            if here != there and not second:
                note = f"There in another way: {line['unit']}, against {line['against']}"
                if note not in notes:
                    notes.append(note)
                row[-1] += f" ({notes.index(note) + 1})"
        rows.append([*row, entry["against"]])
    return rows, notes


def sources(chapters):
    """Return the page of what the chapters say on their sources' measurements.

    A chapter's source and the verdict in a line come from book/chapters.toml.
    """
    text = [
        "# What we found when we measured again",
        "Each chapter goes back to a published article or talk and measures its claims again. "
        "Mistakes are easy to make in timing and parallel code; whoever publishes code and numbers "
        "makes it possible to find them, and that is how this book could be written.",
    ]
    for link, (path, book) in chapters.items():
        found = section(book, "What the original measured")
        if found:
            folder = os.path.dirname(link)
            found = re.sub(r"\]\((?!\w+:|#|/)", f"]({folder}/", found)
            found = found.replace("](#", f"]({link}#")
            entry = labels.plan()["chapters"].get(path.stem[:2], {})
            text.append(f"## [{notebook.title(book)}]({link})")
            if "source" in entry:
                text.append(f"*{entry['source']}*")
            if "verdict" in entry:
                text.append(f"**{entry['verdict']}**")
            summary = "<summary>What the chapter says</summary>"
            text.append(f"<details>{summary}\n\n{found}\n\n</details>")
    if len(text) == 2:
        text.append("No chapter says anything on this yet.")
    return text


def status(chapters):
    """Return the page of all receipts."""
    rows = []
    for link, (_, book) in chapters.items():
        receipt = book.metadata.get("receipt")
        row = [f"[{notebook.title(book)}]({link})", record.state(book)]
        if receipt:
            found = ((name, receipt.get(name.lower())) for name in PACKAGES)
            versions = [f"{name} {version}" for name, version in found if version]
            memory = (receipt["sanitizer"].get(key) for key in ("verdict", "version"))
            row += [
                f"{receipt['gpu']}, driver {receipt['driver']}",
                ", ".join(versions),
                f"{receipt['date']}, {receipt['duration_seconds']} s",
                ", ".join(filter(None, memory)),
                host.text(receipt),
            ]
        rows.append(row + [None] * (7 - len(row)))
    headers = ["Chapter", "Recording", "Machine", "Versions", "Date and time", "Memory check"]
    headers.append("Host")
    return [
        "# Status",
        "The receipt of each chapter: what its outputs were recorded on. *Fresh* means that code "
        "and outputs are those of the recording, byte for byte. *Memory check* is "
        "compute-sanitizer's verdict on the chapter's kernels, and its version. *Host* is the time "
        "of one small array operation from Python, median and quartiles, before and after the run; "
        "where it says *disturbed*, trust times that wait for the host less.",
        table(headers, rows) if rows else "No chapter is recorded yet.",
    ]


def coverage(chapters):
    """Return what the stand-in covers and what it does not, as a fragment of a page."""
    text = []
    for heading, entries in (("Covered", standin.COVERED), ("Not covered", standin.NOT_COVERED)):
        items = [f"- **{name}**: {what}." for name, what in entries.items()]
        text += [f"## {heading}", "\n".join(items)]
    return text


def conformance(chapters):
    """Return how CuPy's own tests fare on the stand-in, by folder, as a fragment of a page."""
    stored = json.loads(CONFORMANCE.read_text(encoding="utf-8"))
    folders, reasons = {}, {kind: Counter() for kind in OUTCOMES}
    for file, counts in stored["files"].items():
        folder = "/".join(Path(file).parent.parts[:2]).replace("_tests", "")
        for label, count in counts.items():
            kind, _, reason = label.partition(": ")
            folders.setdefault(folder, Counter())[kind] += count
            if reason:
                reasons[kind][reason] += count
    folders["together"] = sum(folders.values(), Counter())
    rows = [[f"`{name}`", *(n[kind] or None for kind in OUTCOMES)] for name, n in folders.items()]
    text = [
        f"CuPy {stored['cupy']}'s own tests, run with NumPy {stored['numpy']} on {stored['date']}. "
        "The numbers are test cases; a file that is not run as a whole counts once.",
        table(["Folder", *OUTCOMES.values()], rows),
    ]
    for kind, found in reasons.items():
        if found:
            items = "; ".join(f"{reason} ({count})" for reason, count in found.most_common())
            text += [f"**{OUTCOMES[kind]}**: {items}."]
    return text


def fuzz(chapters):
    """Return what the last long run of random programs found, as a fragment of a page."""
    if not FUZZ.exists():
        return ["No long run is stored: `python -m tests.fuzz --cases 10000 --store` makes one."]
    stored = json.loads(FUZZ.read_text(encoding="utf-8"))
    kinds = stored["by kind"] | {"together": stored["cases"]}
    return [
        f"{stored['cases']:,} random programs, run on {stored['date']} in {stored['seconds']:,} s "
        f"with NumPy {stored['numpy']}: {stored['failures']:,} had another result than NumPy's or, "
        "where the program was wrong on purpose, not the error that names the mistake.",
        table(["Kind", "Programs"], [[kind, f"{count:,}"] for kind, count in kinds.items()]),
    ]


PAGES = {
    "measured": measured,
    "sources": sources,
    "status": status,
    "coverage": coverage,
    "conformance": conformance,
    "fuzz": fuzz,
    "xray": xray_page.examples,
    "landing": front.landing,
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
    found = results.stored([path for path, _ in chapters.values()])
    words = {entry["name"]: labels.sentence(entry) for entry in found}
    _keep(folder / "headlines.json", json.dumps(words, ensure_ascii=False, indent=1).encode())
    for path, book in chapters.values():
        if picture := front.picture(path, book):
            _keep(folder / "static" / "cards" / f"{path.stem}.png", picture[0])
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
