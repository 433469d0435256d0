"""The few things the site needs that Jupyter Book does not do.

- the repository's address decides whether there are Colab, edit and repository buttons;
- pages are quick to load (light.py);
- where there is an address, the notebooks to download know where the helpers are;
- what a chapter's page folds, says of outputs and shows of figures (cells.py);
- chapters are called by number (chapter_numbers.py);
- kernels in strings are coloured as the CUDA C that they are (kernel_lexer.py);
- the first mention of a glossary term on a page shows its definition.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import cells
import chapter_numbers
import light
from docutils import nodes
from kernel_lexer import KernelLexer
from pygments.lexers.c_like import CudaLexer
from sphinx.errors import ExtensionError

GLOSSARY = "book/glossary"
COLAB_BRANCH = "colab"  # where the publishing workflow puts the notebooks stamped for Colab
COLAB = "https://colab.research.google.com/github"


def use_address(app, config):
    """Switch on the buttons that need the repository's address, where there is one."""
    options = config.html_theme_options
    address = os.environ.get("BOOK_REPOSITORY") or options.get("repository_url") or ""
    parts = urlsplit(address.rstrip("/"))
    if address and (parts.scheme != "https" or len(parts.path.strip("/").split("/")) != 2):
        raise ExtensionError(f"BOOK_REPOSITORY is not https://host/owner/name: {address!r}")
    options["repository_url"] = address.rstrip("/")
    for button in ("use_repository_button", "use_edit_page_button", "use_issues_button"):
        options[button] = bool(address)
    options["navbar_persistent"] = []  # else a second search field in a bar of its own
    options["launch_buttons"] = {}  # the theme's own would point at the unstamped notebooks


def adjust_buttons(app, pagename, templatename, context, doctree):
    """Give every notebook a Colab button where the address is known; generated pages, no edit."""
    buttons = context["header_buttons"]
    address = app.config.html_theme_options["repository_url"]
    if address and app.env.doc2path(pagename).endswith(".ipynb"):
        path = urlsplit(address).path.strip("/")
        button = {
            "type": "link",
            "url": f"{COLAB}/{path}/blob/{COLAB_BRANCH}/{pagename}.ipynb",
            "text": "Colab",
            "tooltip": "Open in Colab",
            "icon": "_static/images/logo_colab.png",
            "label": "colab-button",
        }
        buttons.insert(0, button)
    if "/generated/" in pagename:
        for group in buttons:
            inner = group.get("buttons", [])
            inner[:] = [b for b in inner if b.get("label") != "source-edit-button"]


def mend_bibliography(app, pagename, templatename, context, doctree):
    """Take off docutils' list role from the bibliography: its entries have no list item role."""
    body = context.get("body", "")
    context["body"] = body.replace('role="list" class="citation-list"', 'class="citation-list"')


def stamp_downloads(app, exception):
    """Fill in, in the notebooks to download, where their first cell finds the helpers.

    They become the very copies that the Colab buttons open, stamped with the commit checked out.
    """
    address = app.config.html_theme_options["repository_url"]
    if exception is not None or not address or app.builder.format != "html":
        return
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=app.srcdir, capture_output=True, text=True
    )
    if commit.returncode:
        raise ExtensionError(
            "a site with an address is built from a git checkout, because its notebooks fetch the "
            f"helpers of one commit: {commit.stderr.strip()}"
        )
    command = [sys.executable, "-m", "helpers.press.publish", "--repository", address]
    command += ["--revision", commit.stdout.strip(), "--output", str(Path(app.outdir, "_sources"))]
    made = subprocess.run(command, cwd=app.srcdir, capture_output=True, text=True)
    if made.returncode:
        raise ExtensionError(made.stderr.strip())


def glossary_terms(app):
    """Return {term in lower case: (its anchor, its definition)} of the glossary page."""
    terms = {}
    for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        definition = item[-1][0].astext().replace("\n", " ")
        for term in item.findall(nodes.term):
            terms[term.astext().lower()] = (term["ids"][0], definition)
    return terms


def link_glossary(app, doctree, docname):
    """Turn the first mention of every glossary term on a page into a link with a tooltip."""
    if docname == GLOSSARY or GLOSSARY not in app.env.found_docs or app.builder.format != "html":
        return
    terms = glossary_terms(app)
    pattern = re.compile(
        r"\b(" + "|".join(map(re.escape, sorted(terms, key=len, reverse=True))) + r")s?\b", re.I
    )
    skip = (nodes.reference, nodes.literal, nodes.table, nodes.citation, nodes.raw)
    target = app.builder.get_relative_uri(docname, GLOSSARY)
    seen = set()
    for text in list(doctree.findall(nodes.Text)):
        around, node = [], text.parent
        while node is not None:
            around.append(type(node))
            node = node.parent
        if nodes.paragraph not in around or any(issubclass(kind, skip) for kind in around):
            continue
        pieces, end = [], 0
        for match in pattern.finditer(text):
            term = match[1].lower()
            if term not in seen:
                seen.add(term)
                anchor, definition = terms[term]
                link = nodes.reference(
                    match[0],
                    match[0],
                    refuri=f"{target}#{anchor}",
                    reftitle=definition,
                    internal=True,
                    classes=["glossary-link"],
                )
                pieces += [nodes.Text(text[end : match.start()]), link]
                end = match.end()
        if pieces:
            pieces.append(nodes.Text(text[end:]))
            text.parent.replace(text, [piece for piece in pieces if piece.astext()])


def reread_with_glossary(app, env, added, changed, removed):
    """A changed definition shows on every page, so every page is written again."""
    return env.found_docs if GLOSSARY in changed else []


def setup(app):
    # Jupyter Book sets this for an extension that _config.yml leaves out.
    app.add_config_value("comments_config", {}, "")
    for module in (cells, light):
        module.setup(app)
    app.connect("config-inited", use_address)
    app.connect("html-page-context", adjust_buttons, priority=600)
    app.connect("html-page-context", mend_bibliography)
    app.connect("build-finished", stamp_downloads)
    # Before Sphinx collects the titles.
    app.connect("doctree-read", chapter_numbers.number_titles, priority=400)
    app.connect("doctree-resolved", chapter_numbers.link_mentions)
    app.connect("doctree-resolved", link_glossary)
    app.connect("env-get-outdated", reread_with_glossary)
    app.connect("env-get-outdated", chapter_numbers.reread_with_chapters)
    for language in ("ipython3", "python"):
        app.add_lexer(language, KernelLexer)
    for language in ("c", "cpp", "c++"):
        app.add_lexer(language, CudaLexer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
