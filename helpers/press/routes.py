"""Ways through the book: by time, by aim, by machine, and a map of what needs what.

They are named in book/routes.toml; titles, minutes and what a chapter needs, in the notebooks.
"""

import functools
import re
import tomllib
from dataclasses import dataclass

from helpers.press import first_page, map_picture, notebook, sittings
from helpers.press.tables import table

PATH = notebook.BOOK / "book" / "routes.toml"
NEED = re.compile(r"^\*\*You need\*\*.*?(?=\n\n|\Z)", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.,])([1-9]\d)(?!\w|[.,]\d)")
CAPABILITY = re.compile(r"needs compute capability (\d+\.\d)")


@functools.cache
def plan():
    """Return book/routes.toml; numbers of chapters are integers there, and keys are texts."""
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Chapter:
    """A chapter that is written: its number, file's name, title, minutes and what it needs.

    capabilities   the compute capabilities that its kernels ask for, besides those of any GPU
    """

    number: int
    stem: str
    title: str
    minutes: int
    needs: tuple
    capabilities: tuple
    side: bool

    @property
    def link(self):
        """Its number with its title, as a link from a page in book/."""
        return f"[{self.number} · {self.title}](../notebooks/{self.stem}.ipynb)"


def chapters(found):
    """Return {number: Chapter}, in order; `found` maps links to (path, notebook)."""
    books = {int(path.stem[:2]): (path, book) for path, book in found.values()}
    result = {}
    for number, (path, book) in sorted(books.items()):
        beside = plan()["beside"].get(str(number), [])
        asked = set(NUMBER.findall(need(book)))
        source = "\n".join(cell.source for cell in book.cells)
        result[number] = Chapter(
            number,
            path.stem,
            notebook.title(book),
            sittings.minutes(book)[None],
            tuple(
                n for n in sorted(map(int, asked)) if n in books and n < number and n not in beside
            ),
            tuple(sorted(set(map(float, CAPABILITY.findall(source))))),
            number in plan()["roads"]["side"],
        )
    return result


def need(book):
    """Return the paragraph **You need** of the notebook `book`, "" where there is none."""
    for cell in book.cells:
        if found := NEED.search(cell.source):
            return found[0]
    return ""


def before(known, numbers):
    """Return the numbers of all that the chapters `numbers` build on, themselves left out."""
    found, waiting = set(), list(numbers)
    while waiting:
        for number in known[waiting.pop()].needs:
            if number not in found:
                found.add(number)
                waiting.append(number)
    return sorted(found - set(numbers))


def members(known, route):
    """Return the numbers of the written chapters of a route, in its order."""
    named = route.get("chapters", [])
    if named == "all":
        return list(known)
    if named == "road":
        return [number for number, chapter in known.items() if not chapter.side]
    return [number for number in named if number in known]


def hours(known, numbers):
    """Return the minutes of the chapters `numbers` together, in words."""
    return sittings.words(sum(known[number].minutes for number in numbers))


def _links(known, numbers):
    return ", ".join(f"[{n}](../notebooks/{known[n].stem}.ipynb)" for n in numbers) or "–"


def by_time(known):
    """Return the table of routes by time."""
    rows = []
    for route in plan()["time"]:
        if "page" in route:
            links = f"[A first kernel]({route['page']}.md)"
            rows.append([f"**{route['name']}**", links, f"{first_page.minutes()} minutes"])
        else:
            numbers = members(known, route)
            links = f"{len(numbers)} chapters" if len(numbers) > 5 else _links(known, numbers)
            rows.append([f"**{route['name']}**", links, hours(known, numbers)])
        rows[-1].append(route["says"])
    return table(["You have", "Read", "Takes", "You get"], rows)


def by_aim(known):
    """Return the table of routes by aim, each with what it builds on."""
    rows = []
    for route in plan()["aim"]:
        numbers = members(known, route)
        base = before(known, numbers)
        more = f"{_links(known, base)} ({hours(known, base)})" if base else "–"
        words = f"**{route['name']}**: {route['says']}"
        rows.append([words, _links(known, numbers), hours(known, numbers), more])
    return table(["You want", "Read", "Takes", "Which builds on"], rows)


def by_machine(known):
    """Return a paragraph for each kind of machine, with what it cannot run."""
    text = []
    for route in plan()["machine"]:
        words = [f"**{route['name']}.** {route['says']}"]
        above = [
            number
            for number, chapter in known.items()
            if route["capability"] and max(chapter.capabilities, default=0) > route["capability"]
        ]
        if above:
            words.append(
                f"Some kernels of {_links(known, above)} are for newer GPUs; there the recorded "
                "results stand."
            )
        if route["gpus"] == 1 and (several := _several(known)):
            words.append(f"{_links(known, several)}: two GPUs are played by one.")
        if numbers := members(known, route):
            words.append(f"Look at {_links(known, numbers)}.")
        text.append(" ".join(words))
    return text


def _several(known):
    """Return the numbers of the chapters for several GPUs."""
    found = [route for route in plan()["machine"] if route["gpus"] > 1]
    return [number for route in found for number in members(known, route)]


def all_chapters(known):
    """Return the table of all chapters: minutes, what they need, road or side road."""
    rows = [
        [c.link, f"{c.minutes} min", _links(known, c.needs), "side road" if c.side else "road"]
        for c in known.values()
    ]
    return table(["Chapter", "Takes", "Needs", ""], rows)


def routes(found):
    """Return the routes, as a fragment of a page; `found` maps links to (path, notebook)."""
    known = chapters(found)
    if not known:
        return ["No chapter is written yet."]
    picture = map_picture.draw({n: (c.stem, c.title, c.needs, c.side) for n, c in known.items()})
    return [
        "### By time",
        by_time(known),
        "### By aim",
        by_aim(known),
        "### By machine",
        *by_machine(known),
        "### What needs what",
        "An arrow leads from a chapter to one that needs it. Dashed: a side road. What is needed "
        "through another chapter has no arrow of its own.",
        f"<div class='map' style='overflow-x: auto'>\n{picture}\n</div>",
        "<details>\n<summary>The same as a table</summary>\n\n"
        + all_chapters(known)
        + "\n\n</details>",
    ]
