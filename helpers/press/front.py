"""The book's front: its chapters as stops on the landing page and as a table in the README.

python -m helpers.press.front            print the README's part
python -m helpers.press.front --readme   write it into README.md, between its two marks

Titles, times and results come from the notebooks, the rest from book/chapters.toml.
"""

import sys
from html import escape

from helpers.press import hero, labels, notebook, results, routes, sittings

README = notebook.BOOK / "README.md"
MARKS = ("<!-- made by `python -m helpers.press.front --readme`: begin -->", "<!-- end -->")
ROUTES = {  # in book/routes.toml: where on the page How to read this book, in what words
    "time": ("by-time", "You have"),
    "aim": ("by-aim", "You want"),
    "machine": ("by-machine", "You run it on"),
}


def duration(book):
    """Return how long the chapter `book` takes with its exercises, in words: "75 minutes"."""
    return sittings.words(sittings.minutes(book)[None])


def claim(book, entry):
    """Return the result that a chapter's stop shows, in words; "" where it shows none.

    `entry` is the chapter's in book/chapters.toml. KeyError for a result that is not in `book`.
    """
    if "headline" not in entry:
        return ""
    found = {x["name"]: x for x in results.headlines(book)}[entry["headline"]]
    return entry["claim"].format(labels.number(found))


def _written(chapters):
    return {path.stem[:2]: (path, book) for path, book in chapters.values()}


def _stop(number, entry, written):
    """Return a chapter's stop on the road; one that is not written is grey, without a link."""
    side = " side" * (int(number) in routes.plan()["roads"]["side"])
    stop = f'<span class="number">{number}</span>'
    build = f'<span class="build">{escape(entry["build"])}</span>'
    if number not in written:
        title = f'<span class="title">{escape(entry["title"])} (to come)</span>'
        words = f'<span class="words">{title}{build}</span>'
        return f'<li class="planned{side}"><span class="stop">{stop}{words}</span></li>'
    path, book = written[number]
    title = f'<span class="title">{escape(notebook.title(book))}</span>'
    short = duration(book).replace(" minutes", " min").replace(" hours", " h")
    facts = " · ".join(filter(None, (short, claim(book, entry))))
    facts = f'<span class="facts">{escape(facts)}</span>'
    words = f'<span class="words">{title}{facts}{build}</span>'
    link = f'<a class="stop" href="../notebooks/{path.stem}.html">{stop}{words}</a>'
    return f'<li class="written{side}">{link}</li>'


def _road(written):
    """Return the road, part by part: a stop for each chapter, those of side roads set back."""
    text = ['<div class="road">']
    for part, name in labels.plan()["parts"].items():
        stops = [
            _stop(number, entry, written)
            for number, entry in labels.plan()["chapters"].items()
            if entry["part"] == part and (number in written or "title" in entry)
        ]
        if stops:
            heading = f"<h2>{part}. {escape(name)}</h2>"
            text += ["<section>", heading, "<ol>", *stops, "</ol>", "</section>"]
    return [*text, "</div>"]


def _routes():
    """Return the ways in, each kind a line of links to the page that has them."""
    kinds = []
    for kind, (anchor, words) in ROUTES.items():
        links = [
            f'<a href="{_place(route, anchor)}">{escape(route["name"])}</a>'
            for route in routes.plan()[kind]
        ]
        kinds.append(f"<p><b>{words}</b> {' · '.join(links)}</p>")
    return ['<nav class="routes" aria-label="Ways through the book">', *kinds, "</nav>"]


def _place(route, anchor):
    return f"{route['page']}.html" if "page" in route else f"how-to-read.html#{anchor}"


def landing(chapters):
    """Return what the landing page shows, as a fragment of a page.

    `chapters` maps links to (path, notebook).
    """
    if not chapters:
        return ["No chapter is written yet."]
    written = _written(chapters)
    links = {number: f"../notebooks/{path.stem}.html" for number, (path, _) in written.items()}
    entries, gpu = hero.recorded()
    number, first = min(links.items())
    text = [
        '<div class="landing">',
        '<div class="pitch">',
        "<p>Write a GPU program as a string in Python, predict how fast it can be, measure how "
        "fast it is, and make up the difference: from one thread to networks built by hand, "
        "where you know what every microsecond does.</p>",
        '<p><b>No GPU needed.</b> What you read was recorded on one; <a href="standin.html">a '
        "stand-in</a> runs the same kernels on your CPU. Python and some NumPy are enough.</p>",
        '<p class="start"><a class="begin" href="first-kernel.html">A kernel in ten minutes</a>'
        f'<a class="other" href="{first}">Read chapter {number}</a><!-- colab -->'
        '<a class="other" href="setup.html">Setup</a></p>',
        "</div>",
        f'<a class="hero" href="../notebooks/47_oja_on_chip.html">{hero.svg(entries, gpu, "site")}'
        "</a>",
        "</div>",
        *_routes(),
        *_road(written),
    ]
    return ["```{raw} html\n" + "\n".join(text) + "\n```"]


def readme(chapters):
    """Return the README's part: the picture and the table of the chapters."""
    written = _written(chapters)
    entries, _ = hero.recorded()
    alt = escape(hero.alternative(entries), quote=True)
    lines = [
        "<picture>",
        '  <source media="(prefers-color-scheme: dark)" srcset="book/hero-dark.svg">',
        f'  <img src="book/hero-light.svg" width="{hero.WIDTH}" alt="{alt}">',
        "</picture>",
        "",
        "| | Chapter | What you build | Time | A result |",
        "| --- | --- | --- | --- | --- |",
    ]
    part = None
    for number, entry in labels.plan()["chapters"].items():
        if entry["part"] != part:
            part = entry["part"]
            lines.append(f"| **{part}** | **{labels.plan()['parts'][part]}** | | | |")
        if number in written:
            path, book = written[number]
            title = f"[{notebook.title(book)}](notebooks/{path.name})"
            side = int(number) in routes.plan()["roads"]["side"]
            build = entry["build"] + " (a side road)" * side
            cells = [number, title, build, duration(book), claim(book, entry)]
            lines.append(f"| {' | '.join(cells)} |")
        elif "title" in entry:
            lines.append(f"| {number} | {entry['title']} | {entry['build']} | | |")
    return "\n".join(lines) + "\n"


def with_front(text, part):
    """Return the README `text` with `part` between its marks; ValueError if it has none."""
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not begin or not end:
        raise ValueError(f"README.md has not the lines {MARKS[0]!r} and {MARKS[1]!r}")
    return f"{before}{begin}\n{part}{end}{after}"


def main(arguments):
    """Run the command line; return the exit status."""
    if arguments not in ([], ["--readme"]):
        print(__doc__, file=sys.stderr)
        return 2
    part = readme({path.name: (path, notebook.read(path)) for path in notebook.paths()})
    if arguments:
        README.write_text(with_front(README.read_text(encoding="utf-8"), part), encoding="utf-8")
    else:
        print(part, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
