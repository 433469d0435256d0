"""The few things the site needs that Jupyter Book does not do.

- the repository's address decides whether there are edit and repository buttons;
- and whether a chapter runs with one click, on Colab, on Binder, in a codespace (elsewhere.py);
- pages are quick to load (light.py);
- a chapter's buttons stand in one line (buttons.py);
- where there is an address, the notebooks to download know where the helpers are;
- what a chapter's page folds, says of outputs and shows of figures (cells.py);
- chapters are called by number (chapter_numbers.py);
- kernels in strings are coloured as the CUDA C that they are (kernel_lexer.py);
- the first mention of a glossary term on a page shows its definition (glossary.py);
- the search knows sections (sections.py), and a browser may keep nothing (storage.py);
- a chapter's foot leads to the page of error messages (foot.py);
- what is named under Further reading can be followed (reading.py);
- pages say what they are to search machines and to other sites (found.py).
"""

import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import buttons
import cells
import chapter_numbers
import elsewhere
import foot
import found
import glossary
import light
import reading
import sections
import storage
from kernel_lexer import KernelLexer
from pygments.lexers.c_like import CudaLexer
from sphinx.errors import ExtensionError


def use_address(app, config):
    """Switch on the buttons that need the repository's address, where there is one."""
    options = config.html_theme_options
    address = os.environ.get("BOOK_REPOSITORY") or options.get("repository_url") or ""
    parts = urlsplit(address.rstrip("/"))
    if address and (parts.scheme != "https" or len(parts.path.strip("/").split("/")) != 2):
        raise ExtensionError(f"BOOK_REPOSITORY is not https://host/owner/name: {address!r}")
    options["repository_url"] = address.rstrip("/")
    if parts.netloc == "github.com":
        owner, name = parts.path.strip("/").split("/")
        config.html_baseurl = f"https://{owner.lower()}.github.io/{name}/"
    for button in ("use_repository_button", "use_edit_page_button", "use_issues_button"):
        options[button] = bool(address)
    options["navbar_persistent"] = []  # else a second search field in a bar of its own
    options["show_navbar_depth"] = 0  # of the sidebar's parts, the one of the page is open
    options["launch_buttons"] = {}  # the theme's own would point at the unstamped notebooks


def adjust_buttons(app, pagename, templatename, context, doctree):
    """Take the edit button from generated pages, and from notebooks, whose raw JSON it opens."""
    if "/generated/" in pagename or pagename.startswith("notebooks/"):
        for group in context["header_buttons"]:
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
    from helpers.press import first_page, publish

    archive = publish.archive(address, commit.stdout.strip())
    publish.publish(archive, Path(app.outdir, "_sources"))
    first_page.write(Path(app.outdir, "_static"), lambda book: publish.stamp(book, archive))


def setup(app):
    # Jupyter Book sets this for an extension that _config.yml leaves out.
    app.add_config_value("comments_config", {}, "")
    for module in (
        buttons,
        cells,
        elsewhere,
        foot,
        found,
        glossary,
        light,
        reading,
        sections,
        storage,
    ):
        module.setup(app)
    app.connect("config-inited", use_address)
    app.connect("html-page-context", adjust_buttons, priority=600)
    app.connect("html-page-context", mend_bibliography)
    app.connect("build-finished", stamp_downloads)
    # Before Sphinx collects the titles.
    app.connect("doctree-read", chapter_numbers.number_titles, priority=400)
    app.connect("doctree-resolved", chapter_numbers.link_mentions)
    app.connect("env-get-outdated", chapter_numbers.reread_with_chapters)
    for language in ("ipython3", "python"):
        app.add_lexer(language, KernelLexer)
    for language in ("c", "cpp", "c++"):
        app.add_lexer(language, CudaLexer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
