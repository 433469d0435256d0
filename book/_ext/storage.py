"""For a browser that keeps nothing: the theme's scripts ask its storage before they ask whether
there is one, and stop at the error. In its place they find one that is empty.
"""

EMPTY = (
    "<script>try { localStorage.length } catch { const nothing = { getItem: () => null,"
    " setItem() {}, removeItem() {} }; for (const name of ['localStorage', 'sessionStorage'])"
    " Object.defineProperty(window, name, { value: nothing }) }</script>"
)


def lend(app):
    """Let every page try the storage before any other script."""
    templates = app.builder.templates
    if hasattr(templates, "render"):
        render = templates.render
        templates.render = lambda name, context: render(name, context).replace(
            "<head>", f"<head>\n{EMPTY}", 1
        )


def setup(app):
    app.connect("builder-inited", lend)
