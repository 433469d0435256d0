"""The foot of a chapter: where a reader who is stuck finds the error message."""

PAGE = "book/when-it-goes-wrong"
WORDS = "Stuck? {link} answers error messages, in their own words."


def lead_on(app, pagename, templatename, context, doctree):
    """Put a line to the page of messages under every chapter."""
    if not pagename.startswith("notebooks/") or PAGE not in app.env.found_docs:
        return
    address = app.builder.get_relative_uri(pagename, PAGE)
    link = f'<a class="reference internal" href="{address}">When it goes wrong</a>'
    context["body"] += f'<p class="stuck">{WORDS.format(link=link)}</p>\n'


def setup(app):
    app.connect("html-page-context", lead_on)
