"""The buttons above a chapter, in one line and none in a menu: where it runs (elsewhere.py),
download, source, print.

The source needs the repository's address, too; where it is not known there are two.
"""

import elsewhere

NAMES = {  # by the theme's labels: what is written on a button, and its icon
    "download-source-button": ("Download", "fas fa-download"),
    "download-pdf-button": ("Print", "fas fa-print"),
}
TIPS = {"download-source-button": "Download this notebook", "download-pdf-button": "Print the page"}


def source(address, branch, pagename):
    """Return the button that leads to a chapter in its repository."""
    return {
        "type": "link",
        "url": f"{address}/blob/{branch}/{pagename}.ipynb",
        "text": "Source",
        "tooltip": "The notebook in its repository",
        "icon": "fas fa-code",
        "label": "source-file-button",
    }


def line_up(app, pagename, templatename, context, doctree):
    """Take the download and the print button of a chapter out of their menu."""
    if not pagename.startswith("notebooks/") or doctree is None:
        return
    options, buttons = app.config.html_theme_options, context["header_buttons"]
    at = next((k for k, b in enumerate(buttons) if b.get("label") == "download-buttons"), None)
    if at is None:
        return
    inner = {button["label"]: button for button in buttons[at]["buttons"]}
    line = []
    for label, (text, icon) in NAMES.items():
        line.append(inner[label] | {"text": text, "icon": icon, "tooltip": TIPS[label]})
    if address := options["repository_url"]:
        line.insert(1, source(address, options.get("repository_branch") or "main", pagename))
    del buttons[at]
    ways = sum(button.get("label") in elsewhere.LABELS for button in buttons)
    buttons[ways:ways] = line


def setup(app):
    app.connect("html-page-context", line_up, priority=700)  # after all have put theirs in
