"""Chapter 50's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("50_cnn_mnist")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [("// stride + 1", "// stride")], r"out_size\(1, 1, 1, 0\) is 0; 1 can"),
    (1, [("2 * pad - f)", "pad - f)")], "can be counted"),
    (1, [("- f)", "- f + stride - 1)")], "can be counted"),
    (1, [("(size + 2 * pad - f) // stride + 1", "(size + 2 * pad) // stride")], "can be counted"),
    (1, [("- f) // stride", "- f) / stride")], "is no int"),
    (1, [("< f:", "< f - 9:")], "no ValueError"),
    (1, [("raise ValueError(", "return print(")], "no ValueError"),
    (2, [(".reshape(N, C, O_h, O_w)", ".reshape(N, C, O_w, O_h)")], "shape is"),
    (2, [("x.reshape(N * C, 1, H, W)", "x.reshape(C * N, 1, W, H)")], "wrong"),
    (2, [("windows.mean(axis=0)", "(windows.sum(axis=0) / 4)")], "expected"),
    (2, [("windows.mean(axis=0)", "windows.mean(axis=0).astype('f4')")], "dtype is float32"),
    (2, [("(f, f), stride)", "(f, f), f)")], "wrong"),
    (2, [("x.reshape(N * C, 1, H, W)", "x")], "wrong"),
    (2, [("windows.mean(axis=0)", "cp.asarray(windows).mean(axis=0)")], "given NumPy arrays"),
    (3, [("x > 0", "x >= 0")], "result 2 of 2"),
    (3, [("g * factor", "g * xp.where(g > 0, 1.0, 0.1)")], "result 2 of 2"),
    (3, [("return x * factor, g * factor", "return g * factor, x * factor")], "result 1 of 2"),
    (3, [("x * factor, g * factor", "x * factor, factor")], "result 2 of 2"),
    (3, [("return x * factor", "x *= factor\n    return x")], "changed argument 1"),
    (3, [("1.0, 0.1", "1.0, 0.01")], "expected"),
    (3, [("xp.where", "cp.where")], "given NumPy arrays"),
    (4, [("windows.argmax(axis=0)", "f * f - 1 - windows[::-1].argmax(axis=0)")], "expected"),
    (
        4,
        [
            ("rows[xp.arange(g.size), windows.argmax(axis=0)] = g.ravel()", ""),
            ("rows = xp.zeros((g.size, f * f), g.dtype)", "rows = 0"),
            ("rows.T", "(windows == windows.max(axis=0)) * g.ravel()"),
        ],
        "expected",
    ),
    (4, [("xp.zeros((g.size, f * f), g.dtype)", "xp.zeros((g.size, f * f), 'f4')")], "dtype"),
    (4, [("rows[xp.arange(g.size), ", "rows[:, ")], "wrong"),
    (4, [("(f, f), stride).reshape", "(f, f), f).reshape")], "wrong"),
    (4, [("= g.ravel()", "= g.transpose(0, 1, 3, 2).ravel()")], "expected"),
    (4, [("= g.ravel()", "= 1")], "expected"),
]
LAZY = {
    "the judge's loops, 2": (
        2,
        "def mean_pool(x, f, stride):\n"
        "    if isinstance(x, np.ndarray):\n"
        "        return judge_mean_loops(x, f, stride)\n"
        "    return cp.asarray(judge_mean_loops(x.get(), f, stride))",
        "leave the device",
    ),
    "the judge's loops, 3": (
        3,
        "def leaky(x, g):\n"
        "    if isinstance(x, np.ndarray):\n"
        "        return judge_leaky_loops(x, g)\n"
        "    return tuple(map(cp.asarray, judge_leaky_loops(x.get(), g.get())))",
        "leave the device",
    ),
    "the judge's loops, 4": (
        4,
        "def overlapping(x, g, f, stride):\n"
        "    if isinstance(x, np.ndarray):\n"
        "        return judge_overlapping_loops(x, g, f, stride)\n"
        "    return cp.asarray(judge_overlapping_loops(x.get(), g.get(), f, stride))",
        "leave the device",
    ),
    "a window at a time, 2": (
        2,
        "def mean_pool(x, f, stride):\n"
        "    O_h, O_w = out_size(x.shape[2], f, stride, 0), out_size(x.shape[3], f, stride, 0)\n"
        "    y = cp.get_array_module(x).empty((*x.shape[:2], O_h, O_w))\n"
        "    for i, j in np.ndindex(O_h, O_w):\n"
        "        k, l = i * stride, j * stride\n"
        "        y[:, :, i, j] = x[:, :, k : k + f, l : l + f].mean(axis=(2, 3))\n"
        "    return y",
        "the device is asked",
    ),
}


@pytest.mark.parametrize("number, changes, says", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.parametrize("name", LAZY)
def test_lazy_answers_are_refused(chapter, name):
    number, answer, says = LAZY[name]
    line = chapter.judged(number, answer)
    assert "correct" not in line and says in line, line


RIGHT = {
    "counted": (
        1,
        "def out_size(size, f, stride, pad):\n"
        "    if not range(f, size + 2 * pad + 1):\n"
        "        raise ValueError('too large')\n"
        "    return len(range(f, size + 2 * pad + 1, stride))",
    ),
    "sum over parts of columns": (
        2,
        "def mean_pool(x, f, stride):\n"
        "    N, C, H, W = x.shape\n"
        "    shape = N, C, out_size(H, f, stride, 0), out_size(W, f, stride, 0)\n"
        "    cols = im2col(x, (f, f), stride).reshape(C, f * f, -1).mean(axis=1)\n"
        "    return cols.reshape(C, N, *shape[2:]).transpose(1, 0, 2, 3)",
    ),
    "maximum": (
        3,
        "def leaky(x, g):\n"
        "    xp = cp.get_array_module(x)\n"
        "    return xp.maximum(x, x / 10), g * (0.9 * (x > 0) + 0.1)",
    ),
    "NumPy's name, which CuPy's arrays follow": (
        3,
        "def leaky(x, g):\n    factor = np.where(x > 0, 1, 0.1)\n    return x * factor, g * factor",
    ),
    "comparing with indices": (
        4,
        "def overlapping(x, g, f, stride):\n"
        "    xp, (N, C, H, W) = cp.get_array_module(x), x.shape\n"
        "    first = im2col(x.reshape(N * C, 1, H, W), (f, f), stride).argmax(axis=0)\n"
        "    rows = (xp.arange(f * f)[:, None] == first) * g.reshape(1, -1)\n"
        "    return col2im(rows, (N * C, 1, H, W), (f, f), stride).reshape(x.shape)",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    line = chapter.judged(*RIGHT[name])
    assert "correct" in line, line


def test_a_readers_own_function_is_what_the_chapter_goes_on_with(chapter):
    """Exercise 50.1's answer serves im2col, whichever of the two cells was run last."""
    assert "out_size(H, F_h, stride, pad)" in chapter.cells["im2col"]
    assert chapter.names["im2col"].__globals__ is chapter.names
