"""Chapter 62's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("62_against_backprop")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [("d < 0", "d > 0"), ("g * (d > 0)[:, None])\n    return", "g)\n    return")], "expected"),
    (1, [("d > 0", "d < 0")], "expected"),
    (1, [("half, step = x.shape[1] // 2", "half, step = g.shape[1] // 2")], "expected"),
    (1, [("(d < 0)[:, None]", "(g < 0)")], "expected"),
    (1, [("g * (d > 0)[:, None]", "g.clip(0)")], "expected"),
    (2, [("answers.max(axis=1)", "answers[:, 0]")], "expected"),
    (2, [("< 0.01", "<= 0.5")], "expected"),
    (2, [("max(axis=1)", "min(axis=1)")], "expected"),
    (2, [("max(axis=1)", "mean(axis=1)")], "expected"),
    (2, [("reshape(-1, 10).sum(axis=1)", "reshape(10, -1).sum(axis=0)")], "expected"),
    (2, [("sum(axis=1)", "any(axis=1)")], "dtype"),
    (3, [("mean(axis=1)", "max(axis=1)")], "expected"),
    (3, [("mean(axis=1)", "min(axis=1)")], "expected"),
    (3, [("mean(axis=1)", "mean(axis=0)")], "expected"),
    (3, [(".mean(axis=1)", "[:, 0]")], "expected"),
    (3, [("found.mean(axis=1)", "cp.median(found, axis=1)")], "expected|asked"),
    (3, [("found.mean(axis=1)", "cp.sort(found, axis=1)[:, 1]")], "expected"),
    (4, [("< 0", "> 0")], "expected"),
    (4, [("axis=(1, 2)", "axis=1")], "shape"),
    (4, [("V * pattern", "V")], "expected"),
]
LAZY = {
    "plain rule, 1": (1, "def kaneko_step(x, g, d):\n    return x.T @ g", "expected"),
    "by get, 1": (
        1,
        "def kaneko_step(x, g, d):\n"
        "    return cp.asarray(kaneko_loops(*map(cp.asnumpy, (x, g, d))))",
        "NumPy|leave",
    ),
    "by get, 2": (
        2,
        "def count_dead(answers):\n    return cp.asarray(count_dead_loops(answers.get()))",
        "leave the device",
    ),
    "none is dead, 2": (
        2,
        "def count_dead(answers):\n    return cp.zeros(len(answers) // 10, cp.int64)",
        "expected",
    ),
    "the first, 3": (3, "def choose(found):\n    return cp.asarray(0)", "expected"),
    "a loop, 4": (
        4,
        "def wrong_signs(V):\n"
        "    n, m = V.shape[1] // 2, V.shape[2] // 2\n"
        "    p = cp.outer(signs_on_device(n), signs_on_device(m))\n"
        "    return cp.stack([(W * p < 0).mean() for W in V])",
        "asked",
    ),
}
RIGHT = {
    "clipped inputs, 1": (
        1,
        "def kaneko_step(x, g, d):\n"
        "    plus = np.arange(x.shape[1]) < x.shape[1] // 2\n"
        "    xp = cp.get_array_module(x)\n"
        "    fits = xp.where(xp.asarray(plus), (d > 0)[:, None], (d < 0)[:, None])\n"
        "    return (x * fits).T @ g",
        "correct|device",
    ),
    "all, 2": (
        2,
        "def count_dead(answers):\n"
        "    return (answers < 0.01).all(axis=1).reshape(-1, 10).sum(axis=1)",
        "correct",
    ),
    "sum, 3": (3, "def choose(found):\n    return found.sum(axis=1).argmax()", "correct"),
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
    number, answer, said = RIGHT[what]
    assert re.search(said, chapter.judged(number, answer))


def test_fujita_differs_by_its_start(chapter):
    run = chapter.names["fujita_run"]
    chapter.names["kaneko_step"]  # the chapter ran to its end
    assert abs(run(1, (1,))[1][0] - 0.0951) < 4e-4 < 0.0951 - run(1, (1,), init_scale=1)[1][0]
