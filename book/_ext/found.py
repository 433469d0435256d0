"""Pages that are found: a description, a picture for links, a map of the site, an error page."""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.fileutil import copy_asset

PICTURE = "hero.png"  # in book/
LANDING = "book/index"
ABOUT = (
    "A free book of notebooks on GPU computing with CuPy: from one thread of a CUDA C kernel to "
    "neural networks built by hand, every number measured. No GPU needed."
)
LONGEST = 160  # letters, of a description
ERROR = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>No such page — {title}</title>
<style>
body {{ font: 1.1rem/1.6 system-ui; max-width: 36rem; margin: 3rem auto; padding: 1rem }}
a {{ color: inherit }}
</style>
</head>
<body>
<main>
<h1>No such page</h1>
<p>The page was moved, or the address has a slip in it.</p>
<ul>
<li><a href="{base}book/index.html">The book's first page</a></li>
<li><a href="{base}search.html">Search the book</a></li>
</ul>
</main>
</body>
</html>
"""


def description(doctree):
    """Return the first sentences of a page as one line; of a chapter, what a reader will do."""
    for node in doctree.findall(lambda n: isinstance(n, nodes.paragraph | nodes.bullet_list)):
        if isinstance(node, nodes.bullet_list):
            text = "You will " + " ".join(item.astext() for item in node)
        else:
            text = node.astext()
        text = " ".join(text.split())
        if len(text) > 40:
            return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
    return ABOUT


def describe(app, pagename, templatename, context, doctree):
    """Write a page's description, and what other sites show beside a link to it, into its head."""
    if doctree is None:
        return
    text = ABOUT if pagename == LANDING else description(doctree)
    title = re.sub(r"<[^>]+>", "", context["title"])
    if pagename == LANDING:  # else it would be the book's title twice
        context["title"] = "GPU computing with CuPy"
    tags = {"description": text, "og:title": title, "og:description": text, "og:type": "article"}
    tags["og:site_name"] = app.config.html_title or app.config.project
    base = app.config.html_baseurl
    if base:
        tags["og:url"] = f"{base}{pagename}.html"
        tags["og:image"] = f"{base}_static/{PICTURE}"
        tags["twitter:card"] = "summary_large_image"
    for name, content in tags.items():
        kind = "property" if name.startswith("og:") else "name"
        context["metatags"] += f'<meta {kind}="{name}" content="{escape(content, quote=True)}" />\n'


def write_map(app, exception):
    """Write 404.html, the picture for links and, where the address is known, sitemap.xml."""
    if exception is not None or app.builder.format != "html":
        return
    base, out = app.config.html_baseurl, Path(app.outdir)
    path = re.sub(r"https://[^/]+", "", base) if base else "/"
    error = ERROR.format(title=app.config.project, base=path)
    (out / "404.html").write_text(error, encoding="utf-8")
    copy_asset(Path(app.srcdir, "book", PICTURE), out / "_static")
    if base:
        pages = "\n".join(
            f"<url><loc>{base}{name}.html</loc></url>" for name in sorted(app.env.found_docs)
        )
        (out / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{pages}\n</urlset>\n'
        )
        (out / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n")


def setup(app):
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_map)
