"""The glossary: the first mention of a term on a page shows its definition, and the search
(sections.py) leads to the place that explains it, which the glossary names by a link.
"""

import re

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "book/glossary"
SKIP = (nodes.reference, nodes.literal, nodes.table, nodes.citation, nodes.raw, nodes.title)
QUIET = {"figure-caption", "headline-result", "stored-run"}  # paragraphs without links
# "One stream of instructions", "a block of memory": words of every day; and other senses.
EVERYDAY = re.compile(
    r"(?:stream|block|grid)s? of (?![^.,;]{0,25}(?:thread|block))"
    r"|ranks? correlation|caches? on disk|(?<=empty )caches|(?<=fills )caches|(?<=On )clusters",
    re.I,
)


def glossary_terms(app):
    """Return {term in lower case: (its anchor, its definition, the term)} of the glossary."""
    terms = {}
    for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        definition = item[-1][0].astext().replace("\n", " ")
        for term in item.findall(nodes.term):
            terms[term.astext().lower()] = (term["ids"][0], definition, term.astext())
    return terms


def is_prose(text):
    """Say whether `text` stands in a paragraph, and not in a list of sources."""
    around, node = [], text.parent
    while node is not None:
        around.append(node)
        node = node.parent
    paragraphs = [node for node in around if isinstance(node, nodes.paragraph)]
    sections = [node for node in around if isinstance(node, nodes.section)]
    return (
        bool(paragraphs)
        and not any(isinstance(node, SKIP) for node in around)
        and not any(QUIET & set(node["classes"]) for node in paragraphs)
        and not any(node[0].astext() == "Further reading" for node in sections)
    )


def is_meant(match, term):
    """Say whether a word found is the glossary's `term`: STREAM is a benchmark, no stream."""
    word = match[1]
    if word.isupper() and not term.isupper() and len(word) > 1:
        return False
    if term.isupper() and not word.isupper():
        return False
    return EVERYDAY.match(match.string, match.start()) is None


def link_glossary(app, doctree, docname):
    """Turn the first mention of every glossary term on a page into a link with a tooltip."""
    if docname == GLOSSARY or GLOSSARY not in app.env.found_docs or app.builder.format != "html":
        return
    terms = glossary_terms(app)
    pattern = re.compile(
        r"\b(" + "|".join(map(re.escape, sorted(terms, key=len, reverse=True))) + r")s?\b", re.I
    )
    target = app.builder.get_relative_uri(docname, GLOSSARY)
    seen = set()
    for text in list(doctree.findall(nodes.Text)):
        if not is_prose(text):
            continue
        pieces, end = [], 0
        for match in pattern.finditer(text):
            term = match[1].lower()
            if term not in seen and is_meant(match, terms[term][2]):
                seen.add(term)
                anchor, definition, _ = terms[term]
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


def explained(app):
    """Return {name of a page: [(term, id or None)]}: the places that the glossary links to."""
    places = {}
    for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        for link in item.findall(addnodes.pending_xref):
            name = link["reftarget"]
            for term in item.findall(nodes.term):
                word = next(term.findall(nodes.Text)).astext()
                places.setdefault(name, []).append((word, link.get("reftargetid")))
    return places


def setup(app):
    app.connect("doctree-resolved", link_glossary)
    app.connect("env-get-outdated", reread_with_glossary)
