"""Chapter 35's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from marks import long_but

NUMPY = (
    "def {0}(*args):\n    return cp.asarray({1}(*[getattr(a, 'get', lambda: a)() for a in args]))"
)
TURNED = "def shift_right(x, k):\n    return roll(x, k, cp.empty_like(x))\n"

chapter = Chapter.fixture("35_indexing")


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.parametrize("number", long_but([1, 3, 5, 6], range(1, 8)))
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [("int64 k", "int16 k")], "OverflowError|expected"),
    (1, [("(i - k", "(short(i) - k")], "outside|expected"),
    (1, [("i - k + x.size()", "i + k")], "expected"),
    (2, [("row = i / height", "row = short(i / height)")], "outside|expected"),
    (2, [("i / height, col = i % height", "i / width, col = i % width")], "outside|expected"),
    (2, [("width - 1 - row", "width - row")], "outside|expected"),
    (2, [("col, width - 1 - row", "height - 1 - col, row")], "expected"),
    (3, [("if (dr || dc) ", "")], "expected"),
    (3, [("(row + dr + height)", "(row + dr)")], "outside|expected"),
    (3, [("row = i / width, col = i %", "row = i / height, col = i %")], "outside|expected"),
    (3, [("cp.empty(x.shape, x.dtype)", "x")], "race|changed|argument|expected"),
    (3, [("row = i / width", "row = short(i / width)")], "outside|expected"),
    (4, [("sqrt(across * across + along * along)", "fabs(across) + fabs(along)")], "expected"),
    (4, [("max(col - 1, 0)", "max(col - 1, 1)")], "outside|expected"),
    (4, [("row = i / width, col = i %", "row = i / height, col = i %")], "outside|expected"),
    (4, [("T along", "float along")], "expected"),
    (5, [("ptrdiff_t width", "short width")], "outside|expected|zero|divi"),
    (5, [("i / width * width", "short(i / width) * width")], "outside|expected"),
    (5, [("x.shape()[1]", "x.shape()[0]")], "outside|expected"),
    (6, [("heat(a, 0.2, b)", "heat(a, 0.2, a)")], "race|expected"),
    (6, [("a, b = x.copy(), cp", "a, b = x, cp")], "changed|argument"),
    (6, [("heat(a, 0.2, b)", "b = cp.empty_like(x); heat(a, 0.2, b)")], "array"),
    (
        7,
        [("z = T", "short r2 = row; z = 0 * r2 + T"), ("{row, col, 0}", "{int(r2), col, 0}")],
        "out",
    ),
]


HASHED = [(number, tuple(changes), says) for number, changes, says in WRONG]


@pytest.mark.parametrize("number, changes, says", long_but(HASHED[::4], HASHED))
def test_wrong_answers_are_refused(chapter, number, changes, says):
    refused(chapter.judged(number, chapter.answer(number, *changes)), says)


LAZY = {
    "NumPy, 1": (1, NUMPY.format("shift_right", "np.roll")),
    "NumPy, 2": (2, NUMPY.format("quarter_turn", "np.rot90")),
    "NumPy, 3": (3, NUMPY.format("life", "life_in_numpy")),
    "NumPy, 4": (4, NUMPY.format("edges", "edges_in_numpy")),
    "NumPy, 5": (5, NUMPY.format("less_first", "less_first_in_numpy")),
    "NumPy, 6": (6, NUMPY.format("spread", "spread_in_numpy")),
    "NumPy, 7": (7, NUMPY.format("grey", "grey_in_numpy")),
    "functions, 1": (1, "shift_right = cp.roll"),
    "functions, 2": (2, "def quarter_turn(x):\n    return x.T[::-1].copy()"),
    "functions, 5": (5, "def less_first(x):\n    return x - x[:, :1]"),
    "functions, 7": (
        7,
        "def grey(x):\n    return 0.2125 * x[..., 0] + 0.7154 * x[..., 1] + 0.0721 * x[..., 2]",
    ),
    "two kernels": (1, TURNED.replace("return", "roll(x, k, cp.empty_like(x))\n    return")),
}


@pytest.mark.parametrize("name", long_but(["NumPy, 3", "functions, 2", "two kernels"], LAZY))
def test_lazy_answers_are_refused(chapter, name):
    number, answer = LAZY[name]
    refused(chapter.judged(number, answer), "leave the device|kernel")


RIGHT = {
    "a scatter": (
        1,
        'roll = cp.ElementwiseKernel("T x, int64 k, int64 n", "raw T z", "z[(i + k) % n] = x")\n'
        "def shift_right(x, k):\n    return roll(x, k, x.size, cp.empty_like(x))",
    ),
    "a choice": (
        1,
        'roll = cp.ElementwiseKernel("raw T x, int64 k", "T z", '
        '"z = i < k ? x[i - k + x.size()] : x[i - k]")\n' + TURNED,
    ),
    "64 bits": (5, [("i / width * width", "(ptrdiff_t)(i / width) * width")]),
    "a view": (1, [("cp.empty_like(x)", "cp.zeros(x.size)[::-1]")]),
    "copies back": (6, [("a, b = b, a", "a[...] = b")]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    number, answer = RIGHT[name]
    if isinstance(answer, list):
        answer = chapter.answer(number, *answer)
    assert "correct" in chapter.judged(number, answer)
