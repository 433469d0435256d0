"""Code on the page: kernels in strings look like the C that they are, and all of it can be read."""

import html
import re

import pytest
from conftest import CHAPTERS, notebook

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
    # Python has no tokens for types, C has.
    assert any(kind == "kt" for kind, _ in pairs) == any("Kernel(" in s for s in sources)
    names = {text: kind for kind, text in spans}
    for word, kind in {"__global__": "kr", "blockIdx": "nb", "threadIdx": "nb"}.items():
        assert names.get(word, kind) == kind, word
    assert "err" not in names.values()
    assert ("kn", "import") in pairs  # the Python around it
