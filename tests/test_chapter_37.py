"""Chapter 37's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("37_pace")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


@needs_xray
def test_loads_are_counted(chapter):
    assert "there are 3.00 loads a result" in chapter.judged(4, chapter.stub(4))


@needs_xray
def test_a_kernel_without_float4_is_not_one_with(chapter):
    plain = "def add_twice(x, y):\n    return add(x, y, cp.empty_like(x))\n"
    assert "few bytes at once" in chapter.judged(2, plain)


WRONG = [
    (1, [("n / each / block", "n / block")], "4 a thread"),
    (1, [("n / each / block", "n / each / 128")], "256"),
    (1, [("n / each / block", "n * each / block")], "4 a thread"),
    (1, [("4 * n * passes", "8 * n * passes")], "bytes"),
    (1, [("n * instructions / slots", "n / each * instructions / slots")], "instructions"),
    (2, [("i + 3 * fours", "i + 4 * fours")], "outside|nan|NaN"),
    (2, [("x.size // 4 + x.size % 4", "x.size")], "outside"),
    (2, [("a.w + 2 * b.w", "a.w + 2 * b.z")], "expected"),
    (2, [("ptrdiff_t fours = z.size() / 4", "signed char fours = z.size() / 4")], "outside|NaN"),
    (3, [("col = 0; row++", "col = 0")], "expected"),
    (3, [("if (++col == width)", "if (++col > width)")], "expected"),
    (3, [("s[last / width]", "s[row]")], "error|declared"),
    (3, [("int row = 4 * i", "short row = 4 * i")], "outside|expected"),
]
DIVISION = ("int row = 4 * i / width, col = 4 * i % width;", "")
NO_COLUMN = ("if (++col == width) { col = 0; row++; }", "")
DIVIDES = [
    [("e[k] *= s[row];", "e[k] *= s[(4 * i + k) / width];")],
    [("e[k] *= s[row];", "ptrdiff_t r = 4 * i + k; r /= x.shape()[1]; e[k] *= s[r];")],
]
LAZY = {
    "NumPy, 2": (2, "def add_twice(x, y):\n    return cp.asarray(x.get() + 2 * y.get())"),
    "functions, 2": (2, "def add_twice(x, y):\n    return x + 2 * y"),
    "NumPy, 3": (3, "def scale_rows(x, s):\n    return cp.asarray(x.get() * s.get()[:, None])"),
    "functions, 3": (3, "def scale_rows(x, s):\n    return x * s[:, None]"),
    "two launches, 2": (
        2,
        "def add_twice(x, y):\n    z = cp.empty_like(x)\n    add(x, y, z)\n    return add(x, y, z)",
    ),
    "by columns, 4": (
        4,
        "def column_mean(x):\n    p = cp.pad(x, ((1, 1), (0, 0)), mode='edge')\n"
        "    return (p[:-2] + p[1:-1] + p[2:]) / 3",
    ),
}


@pytest.mark.parametrize("number, changes, says", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line and re.search(says, line), line


@needs_xray
@pytest.mark.parametrize("changes", DIVIDES)
def test_divisions_for_each_element_are_counted(chapter, changes):
    line = chapter.judged(3, chapter.answer(3, DIVISION, NO_COLUMN, *changes))
    assert "for 369 elements it divides (or takes a remainder) 369 times" in line, line


@needs_xray
def test_a_remainder_for_each_element_is_counted(chapter):
    every = ("if (++col == width) { col = 0; row++; }", "row += ++col == width; col %= width;")
    line = chapter.judged(3, chapter.answer(3, every))
    assert "once each for four will do" in line, line


@needs_xray
def test_one_float_a_thread_is_not_four(chapter):
    line = chapter.judged(3, chapter.answer(3, ("if not fits(x, z):", "if True:")))
    assert "one float a thread" in line, line


@pytest.mark.parametrize("name", LAZY)
def test_lazy_answers_are_refused(chapter, name):
    number, answer = LAZY[name]
    line = chapter.judged(number, answer)
    assert "correct" not in line, line


@pytest.mark.parametrize(
    "number, changes",
    [
        (1, [("blocks = n / each / block", "blocks = -(-n // (each * block))")]),
        (2, [("x.size % 4", "3"), ("} else {", "} else if (i + 3 * fours < z.size()) {")]),
        (3, [("if (++col == width) { col = 0; row++; }",
              "row += ++col == width; if (col == width) col = 0;")]),
        (3, [('raw float32 x, raw float32 s"', 'raw T x, raw T s, int32 width"'),
             ('"raw float32 z"', '"raw T z"'), ("int width = x.shape()[1];", ""),
             ("scale_four(x, s, z,", "scale_four(x, s, x.shape[1], z,")]),
    ],
)  # fmt: skip
def test_right_answers_pass(chapter, number, changes):
    assert "correct" in chapter.judged(number, chapter.answer(number, *changes))
