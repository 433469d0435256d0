"""Pages that are quick to load: what a page does not need is not in it.

- of the theme's icons, thousands in a script, a font and rules, the dozen that are used are left;
- MathJax is one file without its menu, on pages with formulas alone, and nothing waits for it;
- scripts of the search stay on the page of the search, and others do not hold up the text;
- pictures have their sizes, so that the text below them does not move, wait until they are near,
  and come as WebP without loss where that is smaller: the same pixels, a fifth fewer bytes.
"""

import base64
import importlib.util
import io
import re
from pathlib import Path

from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.util.fileutil import copy_asset

MATHJAX_SCRIPT = re.compile(r'\s*<script[^>]*src="[^"]*mathjax/book\.js[^"]*"></script>')
ICON_SCRIPT = re.compile(r'\s*<script[^>]*src="[^"]*/fontawesome\.js[^"]*"></script>')
SEARCH_SCRIPT = re.compile(
    r'\s*<script[^>]*src="[^"]*/?(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
SCRIPT = re.compile(r'<script (?!defer|async)((?:[\w-]+="[^"]*" )*)src="([^"]+)"')
FIRST = "documentation_options.js"  # what it says is read by scripts inside the page
ICON = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'(?<=[}])(?:\.fa-[a-z0-9-]+::?before,?)+\{content:"[^"]*"\}')
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
    if 'class="math' not in page:  # Sphinx also gives it to the page whose contents lead to some
        page = MATHJAX_SCRIPT.sub("", page)
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


def pack_pictures(app, exception):
    """Put the pages' pictures into WebP, pixel for pixel, where the file becomes smaller."""
    if exception is not None or app.builder.format != "html":
        return
    packed = {}
    for path in Path(app.outdir, "_images").glob("*.png"):
        target = path.with_suffix(".webp")
        with Image.open(path) as picture:
            picture.save(target, lossless=True, exact=True, quality=100)
        smaller = target.stat().st_size < path.stat().st_size
        (path if smaller else target).unlink()
        if smaller:
            packed[path.name] = target.name
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        named = re.compile(r"(?<=_images/)[\w.-]+\.png")
        page.write_text(named.sub(lambda m: packed.get(m[0], m[0]), text), encoding="utf-8")


def keep_icons(app, exception):
    """Leave in the theme's style sheet and font the icons that the pages use, out of thousands."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    used = set(ALWAYS)
    for page in Path(app.outdir).rglob("*.html"):
        used |= set(ICON.findall(page.read_text(encoding="utf-8")))
    package = Path(importlib.util.find_spec("pydata_sphinx_theme").origin).parent
    (theme,) = package.rglob("pydata-sphinx-theme.css")
    (font,) = package.rglob("fa-solid-900.ttf")

    def kept(rule):
        return rule[0] if used & set(re.findall(r"\.fa-([a-z0-9-]+)", rule[0])) else ""

    sheet = ICON_RULE.sub(kept, theme.read_text(encoding="utf-8"))
    (static / "styles" / theme.name).write_text(sheet, encoding="utf-8")
    sheets = [path.read_text(encoding="utf-8") for path in (static / "styles").glob("*.css")]
    letters = {int(c, 16) for text in sheets for c in re.findall(r'content:"\\([ef]\w{3})"', text)}
    subset = Subsetter()
    subset.populate(unicodes=letters)
    small, file = TTFont(font), io.BytesIO()
    subset.subset(small)
    small.flavor = "woff"
    small.save(file)
    # Of two fonts of one name the browser takes the later, and does not fetch the first.
    data = base64.b64encode(file.getvalue()).decode()
    (static / "icons.css").write_text(
        "@font-face { font-family: 'Font Awesome 6 Free'; font-weight: 900; font-style: normal;"
        f" src: url(data:font/woff;base64,{data}) format('woff'); }}\n"
    )


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
    app.connect("build-finished", pack_pictures)
    app.connect("build-finished", keep_icons)
    app.connect("build-finished", copy_mathjax)
    app.add_css_file("icons.css")
