"""Where a chapter runs with one click: on Colab with a GPU, on Binder or in a codespace without.

All three need the repository's address; where it is not known there is none of them. Binder
installs what binder/ says, a codespace what .devcontainer/ says.
"""

from urllib.parse import quote, urlsplit

FIRST = "first_kernel"  # its notebook's name: helpers/press/first_page.py
COLAB_BRANCH = "colab"  # where the publishing workflow puts the notebooks stamped for Colab


def colab(address, branch, name):
    """Return where Colab opens the notebook `name`, published from the repository `address`."""
    path = urlsplit(address).path.strip("/")
    return f"https://colab.research.google.com/github/{path}/blob/{COLAB_BRANCH}/{name}.ipynb"


def binder(address, branch, name):
    """Return where Binder opens the notebook `name` of a branch in JupyterLab."""
    path = urlsplit(address).path.strip("/")
    place = quote(f"lab/tree/{name}.ipynb", safe="")
    return f"https://mybinder.org/v2/gh/{path}/{quote(branch, safe='')}?urlpath={place}"


def codespace(address, branch, name):
    """Return where GitHub makes a codespace of a branch."""
    return f"https://codespaces.new{urlsplit(address).path}/tree/{quote(branch)}"


WAYS = {  # by what stands in a page's text: what is written on the link
    "<!-- colab -->": ("Run it on Colab", colab),
    "<!-- binder -->": ("Open it on Binder", binder),
    "<!-- codespace -->": ("Make a codespace", codespace),
}
BUTTONS = [
    ("Colab", "Open in Colab, with a GPU", "_static/images/logo_colab.png", colab),
    ("Binder", "Open on Binder, without a GPU", "fas fa-flask", binder),
    ("Codespace", "Make a codespace, without a GPU", "fas fa-terminal", codespace),
]
LABELS = [f"{text.lower()}-button" for text, *_ in BUTTONS]


def links(app, pagename, templatename, context, doctree):
    """Put the links where a page has places for them: they open the first chapter."""
    address, branch = repository(app)
    first = min((name for name in app.env.found_docs if name.startswith("notebooks/")), default="")
    body = context.get("body", "").replace("<!-- first -->", first_kernel(app, pagename))
    for place, (text, way) in WAYS.items():
        link = f'<a class="other" href="{way(address, branch, first)}">{text}</a>'
        body = body.replace(place, link if address and first else "")
    clone = f"git clone {address}" if address else "git clone ADDRESS-OF-THE-REPOSITORY"
    body = body.replace("git clone THE-ADDRESS", clone)
    if address:
        body = body.replace("https://github.com/OWNER/NAME", address)
    context["body"] = body


def first_kernel(app, pagename):
    """Return the links to the notebook of the first kernel, beside the chapters' folder."""
    address, branch = repository(app)
    static = app.builder.get_relative_uri(pagename, "index").removesuffix("index.html")
    file = (
        f'<a class="other" href="{static}_static/{FIRST}.ipynb" download>Download the notebook</a>'
    )
    if not address:
        return file
    on_colab = f'<a class="begin" href="{colab(address, branch, FIRST)}">Run it on Colab</a>'
    return (
        on_colab + f'<a class="other" href="{binder(address, branch, FIRST)}">On Binder</a>' + file
    )


def buttons(app, pagename, templatename, context, doctree):
    """Put the buttons before all others of a chapter."""
    address, branch = repository(app)
    if not address or not app.env.doc2path(pagename).endswith(".ipynb"):
        return
    context["header_buttons"][:0] = [
        {
            "type": "link",
            "url": way(address, branch, pagename),
            "text": text,
            "tooltip": tip,
            "icon": icon,
            "label": f"{text.lower()}-button",
        }
        for text, tip, icon, way in BUTTONS
    ]


def repository(app):
    """Return the address of the repository, "" where it is not known, and its branch."""
    options = app.config.html_theme_options
    return options["repository_url"], options.get("repository_branch") or "main"


def setup(app):
    app.connect("html-page-context", buttons, priority=600)
    app.connect("html-page-context", links)
