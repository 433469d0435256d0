"""The cells of a chapter on its page: what is folded, what is said of an output, its figures.

- a solution is folded with what it prints, the setup cell and long code of tables are folded, and
  so is what answers a question: all that is printed from there to the next text;
- the outputs of exercises are called what they are, those of the stored run, and their lines wrap:
  the end of a line says what is wrong;
- headline results are shown in words (headlines.json, from helpers.press.pages);
- in tables a number keeps its unit beside it;
- figures are numbered, with their text alternatives, as sentences, for captions; one without is
  an error.
"""

import ast
import base64
import functools
import hashlib
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)

WORDS = Path(__file__).parents[1] / "generated" / "headlines.json"
HEADLINE = re.compile(r"^(?:.*: )?([a-z][a-z0-9]*\.[a-z]\w+) = \S+ .*$", re.S)
QUESTION = re.compile(r"\bPredict\b|\b[Bb]efore you (?:look|run)\b|\bGuess, then run\b")
DICTIONARY = re.compile(r"\{'[^{}]*\}")
QUANTITY = re.compile(r"(<td[^>]*>\s*[\d.,]+) (\S{1,7}\s*</td>)")  # a number and its unit
LONG = 8  # lines of code about a table, from which it is folded
FIRST_RUN = (
    "What is stored here is a run in which nobody had written the exercise yet. "
    "Run the cell, on Colab or on your computer, and it speaks of your own answer."
)


def code_cells(doctree):
    """Return the containers of the code cells in `doctree`."""
    cells = doctree.findall(nodes.container)
    return [cell for cell in cells if cell.get("nb_element") == "cell_code"]


def part(cell, name):
    """Return the "source" or the "output" of a code cell, or None."""
    found = (p for p in cell.children if p.get("nb_element") == f"cell_code_{name}")
    return next(found, None)


def fold(cell, what, show, hide):
    """Fold `what` of a cell ("all", "input" or "output") under a line with these words."""
    cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = what, show, hide


def is_long_table(source):
    """Say whether `source` is long code that only measures and shows a table."""
    lines = source.rstrip().splitlines()
    return (
        len(lines) >= LONG
        and "helpers.table(" in source
        and not re.search(r"^\s*def |Kernel\(|RawModule\(|__global__", source, re.M)
    )


def asks(node):
    """Say whether `node` is a paragraph that asks for a guess: "Predict", or a bold "predict"."""
    if not isinstance(node, nodes.paragraph):
        return False
    bold = " ".join(strong.astext() for strong in node.findall(nodes.strong))
    return bool(QUESTION.search(node.astext()) or re.search(r"\bpredict\b", bold))


def answers(doctree):
    """Return the code cells between a paragraph that asks what comes out and the next text."""
    found = []
    for section in doctree.findall(nodes.section):
        asked = False
        for child in section.children:
            if child.get("nb_element") != "cell_code":
                asked = asks(child)
            elif asked:
                found.append(child)
    return found


def fold_cells(app, doctree):
    """Fold what a reader does not need to see at once, under words that say what it is."""
    predicted = answers(doctree)
    for cell in code_cells(doctree):
        source = part(cell, "source")
        code = source.astext() if source else ""
        if "tag_solution" in cell["classes"]:
            fold(cell, "all", "Show the solution", "Hide the solution")
        elif code.startswith("# Setup, the same in every chapter"):
            fold(cell, "input", "Setup", "Hide the setup")
        elif part(cell, "output") and cell in predicted:
            cell["classes"].append("prediction")
            what = "all" if cell.get("hide_mode") else "output"  # its code may be folded already
            fold(cell, what, "Show what it prints", "Hide what it prints")
        elif not cell.get("hide_mode") and is_long_table(code):
            fold(cell, "input", "Show the code of the table", "Hide the code of the table")


def name_stored_runs(app, doctree):
    """Say above the output of an exercise that it is the stored run's, not the reader's."""
    first = True
    for cell in code_cells(doctree):
        output = part(cell, "output")
        if output and re.search(r"^Exercise \S+: ", output.astext(), re.M):
            output["classes"].append("message")
        if output and re.search(r"^Exercise \S+: (?:not done yet|wrong)", output.astext(), re.M):
            said = FIRST_RUN if first else "The stored run, with nothing written yet:"
            output.insert(0, nodes.paragraph("", said, classes=["stored-run"]))
            first = False


@functools.cache
def words():
    """Return {name of a headline result: the result in words}; empty without that file."""
    return json.loads(WORDS.read_text(encoding="utf-8")) if WORDS.exists() else {}


def say_headlines(app, doctree):
    """Show headline results in words, with the name in the press as a tooltip."""
    for block in list(doctree.findall(nodes.literal_block)):
        found = HEADLINE.match(block.astext().strip())
        if found and found[1] in words():
            text = nodes.abbreviation("", words()[found[1]], explanation=found[1])
            block.replace_self(nodes.paragraph("", "", text, classes=["headline-result"]))


def keep_units(app, doctree):
    """Let no line of a table break between a number and its unit."""
    for node in list(doctree.findall(nodes.raw)):
        kept = QUANTITY.sub("\\1\N{NO-BREAK SPACE}\\2", node.astext())
        if kept != node.astext():
            node.clear()
            node += nodes.Text(kept)


def alternatives(source):
    """Return {SHA-256 of a stored figure: its text alternative} of the notebook at `source`.

    MyST-NB names a stored image by the SHA-256 of its bytes.
    """
    alts = {}
    for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                png = base64.b64decode("".join(output["data"]["image/png"]))
                alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                alts[hashlib.sha256(png).hexdigest()] = alt
    return alts


def sentence(text):
    """Return a text alternative as the sentence of a caption.

    It begins with a capital, unless with a name of one letter, and ends with a full stop. One of
    Python's dictionaries is told in words: "{'a': 1, 'b': 2}" becomes "a: 1, b: 2".
    """
    text = DICTIONARY.sub(
        lambda found: ", ".join(f"{k}: {v}" for k, v in ast.literal_eval(found[0]).items()), text
    ).strip()
    if re.match(r"[^\W\d_]{2}", text):
        text = text[0].upper() + text[1:]
    return text if text[-1:] in ("", ".", "?", "!") else f"{text}."


def number_figures(app, doctree):
    """Give the figures stored in a chapter their text alternatives, numbers and captions."""
    source = Path(app.env.doc2path(app.env.docname))
    alts = alternatives(source) if source.suffix == ".ipynb" else {}
    count = 0
    for image in list(doctree.findall(nodes.image)):
        stored = Path(image["uri"]).stem
        image.setdefault("alt", alts.get(stored, ""))
        if not image["alt"].strip():
            logger.warning("figure without a text alternative: %s", image["uri"], location=image)
        if stored not in alts:
            continue
        count += 1
        number = f"{source.name[:2]}.{count}"
        caption = nodes.paragraph(classes=["figure-caption"], ids=[f"figure-{number}"])
        caption += nodes.strong("", f"Figure {number}")
        caption += nodes.inline("", f" {sentence(image['alt'])}", classes=["caption-text"])
        output = image.parent
        while output.parent.get("nb_element") != "cell_code_output":
            output = output.parent
        output.parent.insert(output.parent.index(output) + 1, caption)


def setup(app):
    app.connect("doctree-read", fold_cells)
    app.connect("doctree-read", say_headlines)
    app.connect("doctree-read", keep_units)
    app.connect("doctree-read", name_stored_runs)
    app.connect("doctree-read", number_figures)
