"""Chapter 60's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("60_error_diffusion")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [("/ len(x)", "")], "expected"),
    (1, [("* s ", "")], "expected"),
    (1, [("y * (1 - y)", "y")], "expected"),
    (1, [("x.T @ (", "x.T @ abs(")], "expected"),
    (2, [("< 0, 0, V", "> 0, 0, V")], "expected"),
    (2, [("cp.where(V * pattern < 0, 0, V)", "abs(V) * pattern")], "expected"),
    (
        2,
        [("n, m = V.shape[1] // 2, V.shape[2] // 2", "n = m = V.shape[1] // 2")],
        "shape|broadcast",
    ),
    (3, [(" - X.mean(axis=0)", "")], "expected"),
    (3, [("axis=0", "axis=1, keepdims=True")], "expected"),
    (3, [("(C**2).sum()", "(cp.diag(C) ** 2).sum()")], "expected"),
    (1, [("y.shape[1] // 2", "x.shape[1] // 2")], "broadcast"),
    (3, [("C = X.T @ X", "C = X @ X.T * 0 + cp.diag((X**2).sum(axis=1))")], "expected"),
    (4, [('!= "hidden"', '!= "inner"')], "expected"),
    (4, [('    if frozen != "output":\n', "    if True:\n")], "expected"),
    (4, [("first.copy(), layers.copy(), last.copy()", "first, layers, last")], "changed argument"),
    (4, [("        first[-1] += push.sum(axis=0)\n", "")], "expected"),
]
LAZY = {
    "loops by get, 1": (
        1,
        "def step_of_layer(x, y, error):\n"
        "    return cp.asarray(step_of_layer_loops(x.get(), y.get(), error.get()))",
        "leave the device",
    ),
    "one row at a time, 1": (
        1,
        "def step_of_layer(x, y, error):\n"
        "    s = signs_on_device(y.shape[1] // 2)\n"
        "    g = error[:, None] * s * y * (1 - y) / len(x)\n"
        "    return cp.stack([(x[:, i, None] * g).sum(axis=0) for i in range(x.shape[1])])",
        "asked",
    ),
    "by NumPy, 3": (
        3,
        "def directions(X):\n    return cp.asarray(directions_by_eigenvalues(X.get()))",
        "leave the device",
    ),
    "loops by get, 2": (
        2,
        "def keep_signs(V):\n    return cp.asarray(keep_signs_loops(V.get()))",
        "leave the device",
    ),
    "hard-coded, 3": (3, "def directions(X):\n    return cp.asarray(3.0)", "expected"),
}
RIGHT = {
    "einsum, 1": (
        1,
        "def step_of_layer(x, y, error):\n"
        "    s = signs_on_device(y.shape[1] // 2)\n"
        "    g = error[:, None] * s * y * (1 - y)\n"
        "    return cp.einsum('bi,bo->io', x, g) / len(error)",
    ),
    "maximum, 2": (
        2,
        "def keep_signs(V):\n"
        "    p = cp.outer(*(signs_on_device(k // 2) for k in V.shape[1:]))\n"
        "    return cp.maximum(V * p, 0) * p",
    ),
    "covariance, 3": (
        3,
        "def directions(X):\n    C = cp.cov(X.T)\n    return cp.trace(C) ** 2 / (C * C).sum()",
    ),
}


@pytest.mark.parametrize(("number", "changes", "said"), WRONG)
def test_slips_are_refused(chapter, number, changes, said):
    verdict = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in verdict and re.search(said, verdict), verdict


@pytest.mark.parametrize("what", LAZY)
def test_lazy_answers_are_refused(chapter, what):
    number, answer, said = LAZY[what]
    verdict = chapter.judged(number, answer)
    assert "correct" not in verdict and re.search(said, verdict), verdict


@pytest.mark.parametrize("what", RIGHT)
def test_right_answers_pass(chapter, what):
    number, answer = RIGHT[what]
    assert "correct" in chapter.judged(number, answer)
