"""Further reading that one can follow: titles named there lead to where references.bib says.

A title stands in quotation marks or in italics, or begins the entry ("CuPy documentation"); what is
short for it stands in the field shorttitle. A number of arXiv's is its own address.
"""

import functools
import re
from pathlib import Path

from docutils import nodes
from pybtex.database import parse_file

BOOK = Path(__file__).parents[1] / "references.bib"
SECTION = "Further reading"
QUOTED = re.compile(r"[“\"]([^“”\"]{3,}?)[,.]?[”\"]")
ARXIV = re.compile(r"arXiv[: ](\d{4}\.\d{4,5})")
BEGIN = re.compile(r"^([^,:;(]{3,60}?)(?=[,:;(]| \()")
SHORTEST = 20  # letters of a title, from which its beginning is enough


def plain(title):
    """Return the letters and digits of a title, in lower case, between single spaces."""
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"\\\W|[{}]", "", title).lower()))


@functools.cache
def addresses():
    """Return {plain title: address} of the entries that have one; a DOI goes first."""
    found = {}
    for entry in parse_file(str(BOOK)).entries.values():
        fields = entry.fields
        address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url")
        for name in ("title", "shorttitle"):
            if address and name in fields:
                found[plain(fields[name])] = address
    return found


def lookup(title):
    """Return the address of a title, whole or its beginning; None where none is known."""
    title = plain(title)
    if title in addresses():
        return addresses()[title]
    for known, address in addresses().items():
        short, long = sorted((title, known), key=len)
        if len(short) >= SHORTEST and long.startswith(short):
            return address
    return None


def link(text, address):
    return nodes.reference(text, text, refuri=address, internal=False)


def places(text, begins):
    """Return [(start, end, address)] of what can be followed in `text`, none within another."""
    found = [(*m.span(1), lookup(m[1])) for m in QUOTED.finditer(text)]
    found += [(*m.span(), f"https://arxiv.org/abs/{m[1]}") for m in ARXIV.finditer(text)]
    if begins and (m := BEGIN.match(text)):
        found.append((*m.span(1), lookup(m[1])))
    return sorted(place for place in found if place[2])


def follow(app, doctree):
    """Link the titles under "Further reading"."""
    for section in doctree.findall(nodes.section):
        if section[0].astext() != SECTION:
            continue
        for item in section.findall(nodes.list_item):
            first = next(item.findall(nodes.Text), None)
            for node in list(item.findall(nodes.emphasis)):
                title, linked = node.astext(), isinstance(node.parent, nodes.reference)
                if not linked and (address := lookup(title)):
                    node.clear()
                    node += link(title, address)
            for text in list(item.findall(nodes.Text)):
                if isinstance(text.parent, nodes.reference | nodes.literal):
                    continue
                pieces, end = [], 0
                for start, stop, address in places(str(text), text is first):
                    pieces += [nodes.Text(text[end:start]), link(text[start:stop], address)]
                    end = stop
                if pieces:
                    pieces.append(nodes.Text(text[end:]))
                    text.parent.replace(text, [piece for piece in pieces if piece.astext()])


def setup(app):
    app.connect("doctree-read", follow)
