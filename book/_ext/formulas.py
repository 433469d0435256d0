"""Formulas as MathML, set while the book is built: they are there with the text, without a script.

Browsers set MathML themselves, and screen readers read it. Telephones have no font that knows how
formulas are set, so the site brings one, STIX Two Math, less the letters that no page has. A
formula that the converter does not understand is a warning, and so an error of the build.
"""

import importlib.util
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
MATHML = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", MATHML)
# LaTeX's `aligned` is known to the converter by the name of the whole block.
# A browser shows one letter in <mi> as that of the italic mathematical alphabet.
ITALIC = [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
MATH = re.compile(r"<math.*?</math>", re.DOTALL)
ENDS = re.compile(r"[,.;:!?)]+")
ALIGNED = re.compile(r"(\\(?:begin|end)\{align)ed\}")


def mathml(formula, display):
    """Return LaTeX as MathML, `display` "inline" or "block".

    ValueError where it is not understood.
    """
    try:
        made = ElementTree.fromstring(convert(ALIGNED.sub(r"\1*}", formula), display=display))
    except Exception as error:  # the converter raises what comes its way
        raise ValueError(f"not a formula: {formula!r} ({type(error).__name__})") from None
    if unknown := re.findall(r"\\\w+", "".join(made.itertext())):
        raise ValueError(f"no formula has {unknown[0]}: {formula!r}")
    for over in made.iter(f"{{{MATHML}}}mover"):
        if over[1].text == "\u2015":  # no font stretches it: the style sheet draws it
            over.tag = f"{{{MATHML}}}mrow"
            over.set("class", "overline")
            over.attrib.pop("accent", None)
            del over[1]
    return ElementTree.tostring(made, encoding="unicode")


def take_signs(app, doctree, docname):
    """Give each formula the sign that ends its clause, so that no line begins with it."""
    for node in doctree.findall(nodes.math):
        after = node.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (found := ENDS.match(after)):
            node["sign"] = found[0]
            after.parent.replace(after, nodes.Text(after[found.end() :]))


def _write(translator, node, tag, display):
    try:
        formula = mathml(node.astext(), display)
    except ValueError as error:
        LOGGER.warning("%s", error, location=node)
        formula = translator.encode(node.astext())
    translator.body.append(translator.starttag(node, tag, "", CLASS="math notranslate nohighlight"))
    translator.body.append(f"{formula}{node.get('sign', '')}</{tag}>")
    raise nodes.SkipNode


def _inline(translator, node):
    _write(translator, node, "span", "inline")


def _block(translator, node):
    _write(translator, node, "div", "block")


def bring_font(app, exception):
    """Write the font with the letters of all formulas, and the sizes in which they grow."""
    if exception is not None or app.builder.format != "html":
        return
    pages = (path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html"))
    formulas = itertools.chain.from_iterable(map(MATH.findall, pages))
    letters = {ord(c) for f in formulas for c in "".join(ElementTree.fromstring(f).itertext())}
    subset = Subsetter(Options(layout_features=["ssty"]))
    subset.populate(unicodes=letters | set(ITALIC))
    package = Path(importlib.util.find_spec("ziamath").origin).parent
    font = TTFont(package / "fonts" / "STIXTwoMath-Regular.ttf")
    subset.subset(font)
    font.flavor = "woff"
    font.save(Path(app.outdir, "_static", "math.woff"))


def setup(app):
    app.connect("doctree-resolved", take_signs)
    app.connect("build-finished", bring_font)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
