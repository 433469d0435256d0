"""Code on the page: kernels in strings look like the C that they are, and all of it can be read."""

import re

import pytest
from conftest import CHAPTERS, notebook

# Tokens that are no comments: class, colour and ground of each kind, as the browser paints them.
COLOURS = """() => {
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
  };
  const kinds = {};
  for (const e of document.querySelectorAll("article .highlight pre span[class]"))
    if (e.textContent.trim()) kinds[e.className] ??= [getComputedStyle(e).color, ground(e)];
  return kinds;
}"""


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
@pytest.mark.parametrize("chapter", [CHAPTERS[0], CHAPTERS[-1]])
def test_code_has_contrast_and_comments_step_back(reader, chapter, theme):
    colours = reader(color_scheme=theme).open(f"{chapter}.html").evaluate(COLOURS)
    weak = {kind: pair for kind, pair in colours.items() if contrast(*pair) < 4.5}
    assert weak == {}
    comments = {contrast(*pair) for kind, pair in colours.items() if kind in ("c1", "cm")}
    code = [contrast(*pair) for kind, pair in colours.items() if kind not in ("c1", "cm")]
    plain = contrast(*colours["n"])
    assert comments and max(comments) < (min(code) if theme == "dark" else plain)


@pytest.mark.parametrize("site", ["built"], indirect=True)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_kernel_in_a_string_is_coloured_as_c(site, reader, chapter):
    page = reader().open(f"{chapter}.html")
    spans = page.eval_on_selector_all(
        "article .highlight pre span[class]", "all => all.map(e => [e.className, e.textContent])"
    )
    strings = " ".join(text for kind, text in spans if kind in ("s", "s1", "s2"))
    assert "__global__" not in strings and "__device__" not in strings
    assert not re.search(r";\s*\n", strings)
    pairs = set(map(tuple, spans))
    sources = ["".join(c["source"]) for c in notebook(chapter)["cells"]]
    # Python has no tokens for types, C has.
    assert any(kind == "kt" for kind, _ in pairs) == any("Kernel(" in s for s in sources)
    names = {text: kind for kind, text in spans}
    for word, kind in {"__global__": "kr", "blockIdx": "nb", "threadIdx": "nb"}.items():
        assert names.get(word, kind) == kind, word
    assert "err" not in names.values()
    assert ("kn", "import") in pairs  # the Python around it
