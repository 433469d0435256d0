"""The page "Teaching with it": lessons, exercises with their minutes, terms by chapter.

Plans are named in book/routes.toml, terms in book/glossary.md; the rest comes from the notebooks.
"""

import re

from helpers.press import notebook, routes, sittings
from helpers.press.tables import table

GLOSSARY = notebook.BOOK / "book" / "glossary.md"
HEADING = re.compile(r"### ((?:Exercise|Optional) \d+\.\d+[^\n]*?)(?: \(\d+ min\))?\s*$", re.M)
EXPLAINED = re.compile(r"Explained in .*?\((?:\.\./notebooks/(\d\d)_|[\w-]+\.md)")


def units(book):
    """Return [(heading, minutes)] of the sittings of `book`, or of its sections where it has none.

    What precedes the first counts with it; exercises count where they stand.
    """
    sections, names = [], {}
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^## +(.+)", cell.source, re.M):
                sections.append([re.sub(r"[`*$]", "", heading.strip()), 0.0])
        names[cell.id] = max(len(sections) - 1, 0)
    if not sections:
        sections.append([notebook.title(book), 0.0])
    for piece in sittings.pieces(book):
        sections[names[piece.cell]][1] += piece.minutes
    if notebook.is_in_sittings(book):
        first = next(k for k, (words, _) in enumerate(sections) if words.startswith("Sitting"))
        sections[first][1] += sum(minutes for _, minutes in sections[:first])
        sections = [entry for entry in sections if entry[0].startswith("Sitting")]
    return [(heading, minutes) for heading, minutes in sections if minutes >= 0.5]


def lesson(book, length, pace):
    """Return what of `book` fits into a lesson of `length` minutes at `pace` times the reading.

    ([headings], minutes of teaching, minutes of reading left for home); the first is always in.
    """
    taken, spent, left = [], 0.0, 0.0
    for heading, minutes in units(book):
        if not left and (not taken or spent + pace * minutes <= length):
            taken.append(heading)
            spent += pace * minutes
        else:
            left += minutes
    return taken, round(spent), round(left)


def exercises(book):
    """Return [(number and title, minutes or None for an optional one)] of `book`, in order."""
    minutes = {p.name: p.minutes for p in sittings.pieces(book) if p.what == "exercise"}
    found = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for words in HEADING.findall(cell.source):
                number = re.search(r"\d+\.\d+", words)[0]
                found.append((words, round(minutes[number]) if number in minutes else None))
    return found


def terms(known):
    """Return {number: [terms]} that a chapter explains, as the glossary says; None: no chapter."""
    text = GLOSSARY.read_text(encoding="utf-8").partition("```{glossary}\n")[2]
    entries = re.findall(r"^(\S[^\n]*(?:\n\S[^\n]*)*)\n((?:  [^\n]+\n|\n)+)", text, re.M)
    found = {}
    for names, body in entries:
        for place in EXPLAINED.findall(body):
            number = int(place) if place and int(place) in known else None
            found.setdefault(number, []).append(names.split("\n")[0])
    return found


def _plans(known, books):
    """Return the plans, as pieces of Markdown."""
    length, pace = (routes.plan()["teaching"][key] for key in ("lesson", "pace"))
    text = []
    for plan in routes.plan()["plan"]:
        rows = []
        for place, number in enumerate(routes.members(known, plan), 1):
            taken, spent, left = lesson(books[number], length, pace)
            done = [minutes for _, minutes in exercises(books[number]) if minutes]
            told = "; ".join(taken)
            rows.append(
                [
                    str(place),
                    known[number].link,
                    f"{told} ({spent} min)",
                    f"{left} min" if left else "–",
                    f"{len(done)} ({sum(done)} min)",
                ]
            )
        text += [
            f"### {plan['name']}",
            plan["says"],
            table(["", "Chapter", "In the lesson", "At home", "Exercises"], rows),
        ]
    return text


def teaching(found):
    """Return the plans, the exercises and the terms, as a fragment of a page."""
    known = routes.chapters(found)
    if not known:
        return ["No chapter is written yet."]
    books = {int(path.stem[:2]): book for path, book in found.values()}
    text = ["## Plans", *_plans(known, books)]
    text += [
        "## Exercises",
        "Minutes are a reader's. Each exercise has a check, which says of a wrong answer what is "
        "wrong, and a solution that the tests run.",
    ]
    for number, chapter in known.items():
        lines = [
            f"- {words}: {'optional' if minutes is None else f'{minutes} min'}"
            for words, minutes in exercises(books[number])
        ]
        if lines:
            counted = sum(minutes or 0 for _, minutes in exercises(books[number]))
            head = f"{number} · {chapter.title}: {len(lines)} exercises, {counted} min"
            text.append(
                f"<details>\n<summary>{head}</summary>\n\n" + "\n".join(lines) + "\n\n</details>"
            )
    explained = terms(known)
    rows = [
        [known[number].link, ", ".join(sorted(explained[number], key=str.lower))]
        for number in known
        if number in explained
    ]
    text += [
        "## Terms by chapter",
        "Where a term is explained; the [glossary](glossary.md) has them all, with a line each.",
        table(["Chapter", "Terms"], rows),
    ]
    return text
