"""Pages that are quick to load: what a page does not need is not in it.

- icons are drawn from the theme's own font, the dozen that are used, in place of a script with
  thousands;
- MathJax is one file without its menu, on pages with formulas alone;
- scripts of the search stay on the page of the search, and others do not hold up the text;
- pictures have their sizes, so that the text below them does not move, and wait until
  they are near.
"""

import importlib.util
import re
from pathlib import Path
from urllib.parse import quote

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.util.fileutil import copy_asset

ICON_SCRIPT = re.compile(r'\s*<script[^>]*src="[^"]*/fontawesome\.js[^"]*"></script>')
SEARCH_SCRIPT = re.compile(
    r'\s*<script[^>]*src="[^"]*/?(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
SCRIPT = re.compile(r'<script (?!defer|async)((?:[\w-]+="[^"]*" )*)src="([^"]+)"')
FIRST = "documentation_options.js"  # what it says is read by scripts inside the page
ICON = re.compile(r"\bfa-solid fa-([a-z-]+)|\bfa-([a-z-]+) fa-solid")
NO_PICTURE = {"lg", "solid", "fw"}
ALWAYS = {"xmark"}  # put in by a script of the theme
MATHJAX = ["core", "input/tex", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml"]


def lighten(app):
    """Let every page pass through `slim` on its way to its file."""
    app.set_html_assets_policy("per_page")  # MathJax where there are formulas
    templates = app.builder.templates
    if hasattr(templates, "render"):
        render = templates.render
        templates.render = lambda name, context: slim(render(name, context), context)


def slim(page, context):
    """Return the HTML of a page less the scripts that it does not need."""
    page = ICON_SCRIPT.sub("", page)
    if context.get("pagename") != "search":
        page = SEARCH_SCRIPT.sub("", page)
    return SCRIPT.sub(
        lambda m: m[0] if FIRST in m[2] else f'<script defer {m[1]}src="{m[2]}"', page
    )


def size_pictures(app, pagename, templatename, context, doctree):
    """Give the pictures of a page their width and height, and load them when they are near."""

    def sized(match):
        tag, name = match[0], Path(match[1]).name
        if name not in files or " width=" in tag or "style=" in tag:
            return tag
        with Image.open(files[name]) as picture:
            width, height = picture.size
        return f'{tag[:-1].rstrip(" /")} width="{width}" height="{height}" loading="lazy" />'

    files = {name: Path(app.srcdir, source) for source, (_, name) in app.env.images.items()}
    files = {name: path for name, path in files.items() if path.suffix == ".png"}
    if "body" in context:
        context["body"] = re.sub(r'<img [^>]*src="([^"]+)"[^>]*>', sized, context["body"])


def draw_icons(app, exception):
    """Write _static/icons.css with the icons that the pages use, as masks of one colour."""
    if exception is not None or app.builder.format != "html":
        return
    used = set(ALWAYS)
    for page in Path(app.outdir).rglob("*.html"):
        used |= {a or b for a, b in ICON.findall(page.read_text(encoding="utf-8"))} - NO_PICTURE
    package = Path(importlib.util.find_spec("pydata_sphinx_theme").origin).parent
    (path,) = package.rglob("fa-solid-900.ttf")
    font = TTFont(path)
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    rules = [
        ".fa-solid { display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;"
        " background: currentColor; mask: var(--icon) center / contain no-repeat; }",
        ".fa-lg { font-size: 1.25em; }",
    ]
    missing = used - set(glyphs.keys()) - set(names.values())
    if missing:
        raise ValueError(f"icons that the theme's font has not: {sorted(missing)}")
    size, ascent = font["head"].unitsPerEm, font["hhea"].ascent
    for name in sorted(used):
        pen = SVGPathPen(glyphs, ntos=lambda x: f"{x:.0f}")
        glyphs[name].draw(pen)
        width = max(glyphs[name].width, size)
        picture = (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {size}'>"
            f"<path transform='translate({(width - glyphs[name].width) / 2:.0f} {ascent})"
            f" scale(1 -1)' d='{pen.getCommands()}'/></svg>"
        )
        rules.append(
            f'.fa-{name} {{ --icon: url("data:image/svg+xml,{quote(picture, " =:/")}"); }}'
        )
    Path(app.outdir, "_static", "icons.css").write_text("\n".join(rules) + "\n")


def copy_mathjax(app, exception):
    """Put MathJax together from its package: the parts that the book needs, and the fonts."""
    if exception is not None or app.builder.format != "html":
        return
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    source, target = package / "static" / "mathjax", Path(app.outdir, "_static", "mathjax")
    copy_asset(source / "output" / "chtml" / "fonts", target / "output" / "chtml" / "fonts")
    parts = [source / f"{name}.js" for name in ("startup", *MATHJAX)]
    loaded = ", ".join(f'"{name}"' for name in MATHJAX)
    texts = [part.read_text(encoding="utf-8") for part in parts]
    # It starts when the file is read to its end; the parts are there by then.
    texts.insert(1, f"MathJax.loader.preLoad({loaded});")
    target.mkdir(parents=True, exist_ok=True)
    (target / "book.js").write_text("\n".join(texts), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", lighten)
    app.connect("html-page-context", size_pictures)
    app.connect("build-finished", draw_icons, priority=400)
    app.connect("build-finished", copy_mathjax)
    app.add_css_file("icons.css")
