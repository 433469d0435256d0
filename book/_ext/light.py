"""Pages that are quick to load: what a page does not need is not in it.

- of the theme's icons, thousands in a script, a font and rules, the dozen that are used are left;
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

ICON_SCRIPT = re.compile(r'\s*<script[^>]*src="[^"]*/fontawesome\.js[^"]*"></script>')
SEARCH_SCRIPT = re.compile(
    r'\s*<script[^>]*src="[^"]*/?(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
SCRIPT = re.compile(r'<script (?!defer|async)((?:[\w-]+="[^"]*" )*)src="([^"]+)"')
# The size that a notebook asks for, of a figure with more pixels than that.
STYLED = re.compile(r' style="width: (\d+)px; height: (\d+)px;"')
FIRST = "documentation_options.js"  # what it says is read by scripts inside the page
ICON = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'(?<=[}])(?:\.fa-[a-z0-9-]+::?before,?)+\{content:"[^"]*"\}')
ICON_FONTS = [
    ("Font Awesome 6 Free", 900, "fa-solid-900.ttf"),
    ("Font Awesome 6 Brands", 400, "fa-brands-400.ttf"),
]
ALWAYS = {"xmark"}  # put in by a script of the theme


def lighten(app):
    """Let every page pass through `slim` on its way to its file."""
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
        if name not in files or " width=" in tag:
            return tag
        if given := STYLED.search(tag):  # as a style they would forbid a telephone to shrink it
            tag, (width, height) = tag.replace(given[0], ""), given.groups()
        elif "style=" in tag:
            return tag
        else:
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

    def kept(rule):
        return rule[0] if used & set(re.findall(r"\.fa-([a-z0-9-]+)", rule[0])) else ""

    sheet = ICON_RULE.sub(kept, theme.read_text(encoding="utf-8"))
    (static / "styles" / theme.name).write_text(sheet, encoding="utf-8")
    sheets = [path.read_text(encoding="utf-8") for path in (static / "styles").glob("*.css")]
    letters = {int(c, 16) for text in sheets for c in re.findall(r'content:"\\([ef]\w{3})"', text)}
    # Of two fonts of one name the browser takes the later, and does not fetch the first.
    (static / "icons.css").write_text(
        "".join(
            f"@font-face {{ font-family: '{family}'; font-weight: {weight}; font-style: normal;"
            f" src: url(data:font/woff;base64,{thinned(font, letters)}) format('woff'); }}\n"
            for family, weight, file in ICON_FONTS
            for font in package.rglob(file)
            if letters & TTFont(font).getBestCmap().keys()
        )
    )


def thinned(font, letters):
    """Return the font file `font` with these `letters`, code points, alone: WOFF in base64."""
    subset = Subsetter()
    subset.populate(unicodes=letters)
    small, file = TTFont(font), io.BytesIO()
    subset.subset(small)
    small.flavor = "woff"
    small.save(file)
    return base64.b64encode(file.getvalue()).decode()


def setup(app):
    app.connect("builder-inited", lighten)
    app.connect("html-page-context", size_pictures)
    app.connect("build-finished", pack_pictures)
    app.connect("build-finished", keep_icons)
    app.add_css_file("icons.css")
