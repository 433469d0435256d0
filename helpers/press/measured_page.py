"""The page "What was measured": the headline results of all chapters, a column for each GPU."""

from html import escape

from helpers.press import labels, notebook, results, tables

PACKAGES = ("CUDA", "NVRTC", "CuPy", "NumPy", "Python")
SHOWN = 3  # rows of a chapter that are seen at once


def page(chapters):
    """Return the page, as pieces of Markdown; `chapters` maps links to (path, notebook)."""
    gpus = _gpus()
    text = [
        "# What was measured",
        "The headline results of all chapters, on every GPU that the book was run on. A ratio "
        "compares two measurements of one run on one machine. A dash: not measured there. "
        "*Again*: a second run on a GPU of that kind, to see what of a number stays. A star: "
        "measured there against something else, or in another way, which stands below the table.",
    ]
    for link, (path, book) in chapters.items():
        rows, notes = _rows(results.stored([path]), path.stem, gpus)
        if rows:
            heads = ["Result", "Against", "Unit", "Better", *(first["gpu"] for first, *_ in gpus)]
            text += [f"## [{notebook.title(book)}]({link})", tables.table(heads, rows[:SHOWN])]
            if more := rows[SHOWN:]:
                text += [f"<details><summary>{len(more)} more</summary>"]
                text += [tables.table(heads, more), "</details>"]
            if notes:
                text += ["<details><summary>What the stars say</summary>"]
                text += ["\n".join(f"- {note}" for note in notes), "</details>"]
    if len(text) == 2:
        return [*text, "No result is stored yet."]
    headers = ["GPU", "Driver", *PACKAGES, "Date"]
    keys = ("gpu", "driver", *(name.lower() for name in PACKAGES), "date")
    machines = []
    for first, _, second, _ in gpus:
        machines.append([first.get(key) for key in keys])  # no nvrtc before it was kept
        if second:
            machines.append([f"{second['gpu']}, again", *map(second.get, keys[1:])])
    text += ["## The machines", "What each GPU's newest results were measured with."]
    return [*text, tables.table(headers, machines)]


def _gpus():
    """Return (facts, lines, facts of a second run or None, its lines) for each GPU, by name."""
    found = []
    for path in sorted(results.FOLDER.glob("*.jsonl")):
        second = results.FOLDER / results.AGAIN / path.name
        found.append(
            (*results.load(path), *(results.load(second) if second.exists() else (None, [])))
        )
    return found


def _rows(entries, stem, gpus):
    """Return the rows on one chapter, and notes on what a GPU measured in another way.

    The rows are what the chapter stores now or, when it stores nothing yet, what the GPUs have.
    """

    def by_name(lines):
        return {line["name"]: line for line in lines if line["notebook"] == stem}

    measured = [(by_name(lines), by_name(again)) for _, lines, _, again in gpus]
    known = {name: line for pair in measured for lines in pair for name, line in lines.items()}
    wanted = {entry["name"]: entry for entry in entries} or known
    rows, notes = [], []
    for name, entry in wanted.items():
        words = f'<span title="{name}">{escape(labels.label(entry))}</span>'
        unit = labels.quantity(entry["value"], labels.unit(entry))[1]
        row = [words, entry["against"], unit, labels.better(entry)]
        for lines, again in measured:
            row.append(_cell(entry, lines.get(name), again.get(name), notes))
        rows.append(row)
    return rows, notes


def _cell(entry, first, second, notes):
    """Return what a GPU measured, and again, in words; None where it did not."""
    if not first:
        return None
    text = labels.number(first)
    if note := _difference(entry, first):
        text += "\\*"
        if note not in notes:
            notes.append(note)
    if second and results.same_way(first, second):
        text += f", again {labels.number(second)}"
    return text


def _difference(entry, line):
    """Return a note on what `line`, a GPU's, was measured against, where `entry` says otherwise."""
    if (entry["unit"], entry["against"]) == (line["unit"], line["against"]):
        return None
    what = labels.label(entry)
    if results.same_way(entry | {"date": line["date"]}, line):
        return f"{what}: there against {line['against']}"
    return f"{what}: there in another way, {line['unit']}, against {line['against']}"
