"""The search's index: one entry for each section of each page, and for each term of the glossary.

It is written to searchindex.js, which search.js (in _static) fetches when somebody searches. An
entry has the text between two headings; the setup cell, the code of drawings, receipts and lists of
contents are left out; of code, the names are kept. search.toml says what else people call a thing,
and what to show last.
"""

import json
import re
import tomllib
from pathlib import Path

import glossary
from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError

WORDS = Path(__file__).parents[1] / "search.toml"
SETUP = "# Setup, the same in every chapter"
SKIPPED = (addnodes.toctree, addnodes.index, nodes.topic, nodes.raw, nodes.image, nodes.comment)
SKIPPED += (nodes.math, nodes.math_block)
MESSAGE = "message"  # the class of blocks that are read as text
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
DEEPEST = 3  # sections below an h3 belong to it
INDEX = "searchindex.js"


def hidden(node):
    """Say whether the search passes over `node`: what a page shows only to those who ask."""
    if isinstance(node, SKIPPED):
        return True
    if node.get("nb_element") != "cell_code":
        return False
    code = next(iter(node.findall(nodes.literal_block)), None)
    drawing = "tag_hide-input" in node["classes"] and "tag_solution" not in node["classes"]
    return drawing or (code is not None and code.astext().startswith(SETUP))


class Reader:
    """Reads what stands between two headings; notes the `sections` it met, the `names` in code."""

    def __init__(self, deep):
        self.deep, self.sections, self.names = deep, [], set()

    def text(self, node):
        """Return the words of `node`. Of code, an output too, the names are kept, each once."""
        if isinstance(node, nodes.Text):
            return str(node)
        if not isinstance(node, nodes.Element) or hidden(node):
            return ""
        if isinstance(node, nodes.section) and not self.deep:
            self.sections.append(node)
            return ""
        if isinstance(node, nodes.literal_block) and MESSAGE not in node["classes"]:
            self.names.update(NAME.findall(node.astext()))
            return ""
        between = "" if isinstance(node, nodes.TextElement) else " "
        return between.join(map(self.text, node.children))


def walk(section, above=(), level=1):
    """Yield (id, title, the titles above it, text, names in code) of a section and those in it."""
    reader, title = Reader(level == DEEPEST), section[0].astext()
    said = " ".join(" ".join(map(reader.text, section.children[1:])).split())
    prose = set(NAME.findall(said))
    yield section["ids"][0], title, above, said, " ".join(sorted(reader.names - prose))
    for child in reader.sections:
        yield from walk(child, (*above, title), level + 1)


def entries(doctree):
    """Return [(id, title, the titles above it, text, names in code)] of a page, in order."""
    top = next(iter(doctree.findall(nodes.section)), None)
    return list(walk(top)) if top is not None else []


def terms(doctree):
    """Return the same of the glossary's terms."""
    title = next(iter(doctree.findall(nodes.title))).astext()
    found = []
    for item in doctree.findall(nodes.definition_list_item):
        for term in item.findall(nodes.term):
            said = " ".join(Reader(True).text(item[-1][0]).split())
            found.append((term["ids"][0], next(term.findall(nodes.Text)), (title,), said, ""))
    return found


class Index:
    """What has been read of the pages, by their names."""

    def __init__(self, app):
        self.app, self.pages = app, {}
        self.words = tomllib.loads(WORDS.read_text(encoding="utf-8"))

    def read(self, pagename, doctree):
        """Take in a page."""
        found = entries(doctree)
        if pagename == glossary.GLOSSARY:
            found = found[:1] + terms(doctree)
        self.pages[pagename] = found

    def write(self):
        """Return the text of searchindex.js."""
        called, last = self.called(), self.words["last"]
        rows = []
        for page, found in sorted(self.pages.items()):
            for anchor, title, above, said, code in found:
                if title in last["left out"]:
                    continue
                place = f"{page}#{anchor}"
                weight = last["sections"].get(title, 1) * last["pages"].get(page, 1)
                words = "; ".join(called.pop(place, []))
                rows.append([page, anchor, title, " › ".join(above), said, code, words, weight])
        if called:
            raise ExtensionError(f"{WORDS.name} names what is no section: {sorted(called)}")
        data = {"sections": rows, "synonyms": self.words["synonyms"]}
        return f"Search.take({json.dumps(data, ensure_ascii=False, separators=(',', ':'))});\n"

    def called(self):
        """Return {place: what people also call it}, from search.toml and the glossary's links."""
        called = {place: list(words) for place, words in self.words["called"].items()}
        for page, places in glossary.explained(self.app).items():
            for term, anchor in places:
                if anchor and page in self.pages:
                    called.setdefault(f"{page}#{anchor}", []).append(term)
        return called


def take_over(app):
    """Put the book's index in the place of Sphinx's, which knows pages only."""
    builder = app.builder
    if builder.format != "html" or not hasattr(builder, "index_page") or not builder.search:
        return
    index = Index(app)
    builder.index_page = lambda pagename, doctree, title: index.read(pagename, doctree)

    def dump():
        Path(app.outdir, INDEX).write_text(index.write(), encoding="utf-8")

    builder.dump_search_index = dump


def setup(app):
    app.connect("builder-inited", take_over)
