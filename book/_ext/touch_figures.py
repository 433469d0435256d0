"""Pages with a figure that one can touch get its script; every page, the reader's own marks.

A figure is `<div class="touch-figure" data-figure="NAME">` around its picture for paper, and
book/_static/figures/NAME.js is its script.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError

PLACE = re.compile(r'<div[^>]*\bdata-figure="([\w-]+)"')
NEEDS_CEILINGS = "roofline"


def figures(doctree):
    """Return the names of the figures on a page, in order."""
    raws = doctree.findall(nodes.raw) if doctree is not None else []
    return [name for raw in raws for name in PLACE.findall(raw.astext())]


def ceilings():
    """Return the recorded GPUs' ceilings; ExtensionError where they cannot be read."""
    from helpers.press import figures

    try:
        return figures.ceilings()
    except ValueError as error:
        raise ExtensionError(str(error)) from error


def add_scripts(app, pagename, templatename, context, doctree):
    """Load what the page's figures need, and nothing on a page without one."""
    app.add_css_file("progress.css")
    app.add_js_file("progress.js", loading_method="defer")
    names = figures(doctree)
    if not names:
        return
    app.add_css_file("figures/touch.css")
    if NEEDS_CEILINGS in names:
        app.add_js_file(None, body=f"window.touchCeilings = {json.dumps(ceilings())};")
    # Deferred scripts run in their order, the common one before the figures'.
    for name in ["touch", *dict.fromkeys(names)]:
        if not Path(app.srcdir, "book", "_static", "figures", f"{name}.js").exists():
            raise ExtensionError(f"{pagename}: there is no figure {name!r}")
        app.add_js_file(f"figures/{name}.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
