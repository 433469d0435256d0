"""The book's front: its chapters as cards on the landing page and as a table in the README.

python -m helpers.press.front            print the README's part
python -m helpers.press.front --readme   write it into README.md, between its two marks

Titles, times, pictures and results come from the notebooks, the rest from book/chapters.toml.
"""

import base64
import io
import sys
from html import escape

from PIL import Image

from helpers.press import hero, labels, notebook, results, sittings

README = notebook.BOOK / "README.md"
MARKS = ("<!-- made by `python -m helpers.press.front --readme`: begin -->", "<!-- end -->")
SIZE = (176, 132)  # of a card's picture, in pixels: twice what is shown
DOORS = [  # who opens it, where it leads, in what words
    ("New to GPUs", "10", "one thread"),
    ("You know CuPy", "30", "write kernels"),
    ("You know CUDA", "45", "find the time"),
]


def duration(book):
    """Return how long the chapter `book` takes with its exercises, in words: "75 minutes"."""
    return sittings.words(sittings.minutes(book)[None])


def claim(book, entry):
    """Return the result that a chapter's card shows, in words; "" where it shows none.

    `entry` is the chapter's in book/chapters.toml. KeyError for a result that is not in `book`.
    """
    if "headline" not in entry:
        return ""
    found = {x["name"]: x for x in results.headlines(book)}[entry["headline"]]
    return entry["claim"].format(labels.quantity(found["value"], found["unit"])[0])


def picture(path, book):
    """Return the picture of a chapter's card, a PNG file's bytes, and its text alternative.

    None for a chapter that book/chapters.toml gives no picture.
    """
    entry = labels.plan()["chapters"].get(path.stem[:2], {})
    if "picture" not in entry:
        return None
    shown = [
        (output["data"]["image/png"], output["metadata"]["image/png"]["alt"])
        for cell in notebook.code_cells(book)
        if "remove-cell" not in notebook.tags(cell)
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    stored, alt = shown[entry["picture"]]
    image = Image.open(io.BytesIO(base64.b64decode("".join(stored)))).convert("RGB")
    image.thumbnail(SIZE, Image.Resampling.LANCZOS)
    card, file = Image.new("RGB", SIZE, "white"), io.BytesIO()
    card.paste(image, ((SIZE[0] - image.width) // 2, (SIZE[1] - image.height) // 2))
    card.quantize(64).save(file, format="png", optimize=True)
    return file.getvalue(), alt


def _written(chapters):
    return {path.stem[:2]: (path, book) for path, book in chapters.values()}


def _road(written):
    """Return the stops of the road, written and not, as links and as text.

    The tab key passes them by: the cards below are the same links.
    """
    stops = []
    for number, entry in labels.plan()["chapters"].items():
        if number in written:
            path, book = written[number]
            title = escape(notebook.title(book), quote=True)
            attributes = f'href="../notebooks/{path.stem}.html" title="{title}" tabindex="-1"'
            link = f"<a {attributes}>{number}</a>"
            stops.append(f"<li>{link}</li>")
        elif "title" in entry:
            words = f"{entry['title']}: still to come"
            stops.append(f'<li class="planned" title="{escape(words, quote=True)}">{number}</li>')
    return ['<ol class="road" aria-label="The road through the chapters">', *stops, "</ol>"]


def _card(number, entry, written):
    """Return the card of one chapter; of one that is not written, a grey one without a link."""
    build = f'<span class="build">{escape(entry["build"])}</span>'
    if number not in written:
        title = f'<span class="title">{number} · {escape(entry["title"])} (to come)</span>'
        return f'<li><span class="card-planned">{title}{build}</span></li>'
    path, book = written[number]
    title = f'<span class="title">{number} · {escape(notebook.title(book))}</span>'
    facts = " · ".join(filter(None, (duration(book), claim(book, entry))))
    facts = f'<span class="facts">{escape(facts)}</span>'
    image = ""
    if found := picture(path, book):
        size = f'width="{SIZE[0]}" height="{SIZE[1]}" loading="lazy"'
        alt = escape(found[1], quote=True)
        image = f'<img src="../_static/cards/{path.stem}.png" {size} alt="{alt}">'
    text = f'<span class="words">{title}{build}{facts}</span>'
    return f'<li><a href="../notebooks/{path.stem}.html">{image}{text}</a></li>'


def landing(chapters):
    """Return what the landing page shows, as a fragment of a page.

    `chapters` maps links to (path, notebook).
    """
    if not chapters:
        return ["No chapter is written yet."]
    written = _written(chapters)
    planned = labels.plan()["chapters"]
    links = {number: f"../notebooks/{path.stem}.html" for number, (path, _) in written.items()}
    doors = [
        f'<a href="{links[number]}"><b>{who}?</b> {number}: {what}</a>'
        for who, number, what in DOORS
        if number in links
    ]
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
        f'<p class="start"><a class="begin" href="{first}">Read chapter {number}</a>'
        '<!-- colab --><a class="other" href="setup.html">Run it yourself</a></p>',
        "</div>",
        f'<a class="hero" href="../notebooks/47_oja_on_chip.html">{hero.svg(entries, gpu, "site")}'
        "</a>",
        "</div>",
        f'<nav class="doors" aria-label="Where to start">{"".join(doors)}</nav>',
        *_road(written),
    ]
    cards = [
        _card(number, entry, written)
        for number, entry in planned.items()
        if number in written or "title" in entry
    ]
    text += ['<ul class="cards" aria-label="The chapters">', *cards, "</ul>"]
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
            cells = [number, title, entry["build"], duration(book), claim(book, entry)]
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
