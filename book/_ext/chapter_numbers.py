"""Chapters are called by number: the number of a notebook's file stands before its title on the
site, and "chapter 35" in a text is a link where there is such a chapter.

The notebooks' own titles stay as they are in Jupyter, on Colab and on GitHub.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

CHAPTER = re.compile(r"notebooks/(\d\d)_\w+")
MENTION = re.compile(
    r"\bchapter\s+\d\d\b(?!\.\d)|\bchapters\s+\d\d(?:(?:,|,?\s+(?:and|or|to))\s+\d\d)*\b(?!\.\d)",
    re.I,
)
# What is a link already, is no running text, or is a heading, which the contents repeat.
SKIP = (nodes.reference, nodes.literal, nodes.literal_block, nodes.title, nodes.citation, nodes.raw)


def chapters(env):
    """Return {number, two digits: name of the chapter's document} of the chapters there are."""
    return {m[1]: name for name in sorted(env.found_docs) if (m := CHAPTER.fullmatch(name))}


def letters(text):
    """Return `text` without what is no letter or digit: quotation marks are curled on the site."""
    return re.sub(r"\W", "", text)


def own_title(path):
    """Return the title of the notebook at `path`, its first heading, without its number."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    return re.match(r"# +(.+)", "".join(cells[0]["source"])).group(1)


def number_titles(app, doctree):
    """Put the number before a chapter's title, and before that title where a link repeats it."""
    if found := CHAPTER.fullmatch(app.env.docname):
        title = next(doctree.findall(nodes.title))
        title.insert(0, nodes.Text(f"{found[1]} · "))
    titles = {}
    for link in doctree.findall(addnodes.pending_xref):
        name = link["reftarget"]
        if found := CHAPTER.fullmatch(name):
            if name not in titles:
                titles[name] = own_title(app.env.doc2path(name))
            if letters(link.astext()) == letters(titles[name]):
                link[0].insert(0, nodes.Text(f"{found[1]} · "))


def part(node):
    """Return the id of the section below the page's title that `node` stands in, or None."""
    found = None
    while node.parent is not None:
        if isinstance(node, nodes.section) and isinstance(node.parent.parent, nodes.document):
            found = node["ids"][0]
        node = node.parent
    return found


def link_mentions(app, doctree, docname):
    """Turn "chapter 35" into a link where chapter 35 is written, and is not this page.

    Once in a section of a page: the tab key stops at every link.
    """
    written, linked = chapters(app.env), set()
    for text in list(doctree.findall(nodes.Text)):
        node = text.parent
        while node is not None and not isinstance(node, SKIP):
            node = node.parent
        if node is not None:
            continue
        pieces, end = [], 0
        for mention in MENTION.finditer(text):
            alone = len(re.findall(r"\d\d", mention[0])) == 1
            for number in re.finditer(r"\d\d", mention[0]):
                target = written.get(number[0])
                if target is None or target == docname or (part(text), target) in linked:
                    continue
                linked.add((part(text), target))
                # One chapter is linked with its word, several are linked one by one.
                start = mention.start() + (0 if alone else number.start())
                stop = mention.start() + number.end()
                label = str(text[start:stop])
                uri = app.builder.get_relative_uri(docname, target)
                link = nodes.reference(label, label, refuri=uri, internal=True)
                link["classes"].append("chapter-link")
                pieces += [nodes.Text(text[end:start]), link]
                end = stop
        if pieces:
            pieces.append(nodes.Text(text[end:]))
            text.parent.replace(text, [piece for piece in pieces if piece.astext()])


def reread_with_chapters(app, env, added, changed, removed):
    """A chapter that comes or goes changes links on every page, so every page is written again."""
    return env.found_docs if any(map(CHAPTER.fullmatch, {*added, *removed})) else []
