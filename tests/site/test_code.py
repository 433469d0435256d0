"""Code on the page: kernels in strings look like the C that they are, and all of it can be read."""

import html
import re

import pytest
from conftest import CHAPTERS, notebook
from marks import long_but

TOKEN = r'(?s)<span class="([^"]+)">(.*?)</span>'


def luminance(colour):
    """Return the relative luminance of a CSS colour, rgb(…), as WCAG 2 defines it."""
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast("rgb(255, 255, 255)", "rgb(0, 0, 0)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_code_has_contrast_and_comments_step_back(seen, chapter, theme):
    tokens = [(kind, contrast(*pair)) for kind, *pair in seen(theme, f"{chapter}.html")["tokens"]]
    assert [token for token in tokens if token[1] < 4.5] == []
    comments = [ratio for kind, ratio in tokens if kind in ("c1", "cm")]
    code = [ratio for kind, ratio in tokens if kind not in ("c1", "cm")]
    plain = [ratio for kind, ratio in tokens if kind == "n"]
    assert comments and max(comments) < min(code if theme == "dark" else plain)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_kernel_in_a_string_is_coloured_as_c(site, chapter):
    page = (site / f"{chapter}.html").read_text(encoding="utf-8")
    code = re.findall(r'(?s)<div class="highlight"><pre>(.*?)</pre>', page)
    found = [span for text in code for span in re.findall(TOKEN, text)]
    spans = [(kind, html.unescape(text)) for kind, text in found]
    strings = " ".join(text for kind, text in spans if kind in ("s", "s1", "s2"))
    assert "__global__" not in strings and "__device__" not in strings
    assert not re.search(r";\s*\n", strings)
    pairs = set(map(tuple, spans))
    sources = ["".join(c["source"]) for c in notebook(chapter)["cells"]]
    # Python has no tokens for types, C has: no kernel without one.
    if any("__global__" in s for s in sources):
        assert any(kind == "kt" for kind, _ in pairs)
    names = {text: kind for kind, text in spans}
    for word, kind in {"__global__": "kr", "blockIdx": "nb", "threadIdx": "nb"}.items():
        assert names.get(word, kind) == kind, word
    assert "err" not in names.values()
    assert ("kn", "import") in pairs  # the Python around it


# Of the code in sight, the blocks that are wider than their box, and the size of the letters.
FITS = """() => {
  const blocks = [...document.querySelectorAll("article .cell_input pre")]
    .filter(e => e.checkVisibility());
  return [
    blocks.length,
    blocks.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 80)),
    Math.min(...blocks.map(e => parseFloat(getComputedStyle(e).fontSize))),
  ];
}"""
# The left edge of each row of letters in a block, from the edge of its text.
EDGES = """e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  const rows = new Map();
  for (const box of range.getClientRects())
    if (box.width > 1) rows.set(Math.round(box.bottom / 4), Math.min(
      rows.get(Math.round(box.bottom / 4)) ?? 1e9, box.left));
  const edge = e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft);
  return [...rows.values()].map(left => left - edge);
}"""
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("chapter", long_but(CHAPTERS[:1], CHAPTERS))
def test_code_that_is_read_fits_a_telephone(site, reader, chapter):
    page = reader(**PHONE).open(f"{chapter}.html")
    count, wide, smallest = page.evaluate(FITS)
    assert count > 10 and wide == [] and smallest >= 11


@pytest.mark.parametrize("site", ["built"], indirect=True)
def test_a_line_that_goes_on_is_set_in_and_output_keeps_its_columns(site, reader):
    page = reader(**PHONE).open(f"{CHAPTERS[0]}.html")
    long = page.locator("article .cell_input pre", has_text='extern "C" __global__').first
    rows = long.evaluate(EDGES)
    lines = [line for line in long.text_content().splitlines() if line.strip()]
    assert len(rows) > len(lines)
    assert min(rows) >= -1 and max(rows) > 10
    style = "e => getComputedStyle(e).whiteSpace"
    assert page.eval_on_selector("article .cell_output pre", style) == "pre"
