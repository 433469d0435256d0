"""Chapter 55's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("55_bottleneck")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


SUM = "def sum_check(parts, clock):\n    both = lambda: [p() for p in parts]\n    return "
PAIR = "def written(n_rows, index):\n    return "
SHARE = "def share_among_ties(w, g):\n    m = w == w.max(axis=1, keepdims=True)\n    return "
LEARN = """
def learn_mended(x, t, w):
    x = {centre}
    wanted = {wanted}
    grad = x.T @ ((x @ w - wanted) / len(x))
    length = {length}
    return w - 0.5 * grad * {factor}
"""
RIGHT = {
    "centre": "x - x.mean(axis=1, keepdims=True)",
    "wanted": "cp.eye(10, dtype=x.dtype)[t]",
    "length": "cp.linalg.norm(grad)",
    "factor": "cp.minimum(1, 1 / length)",
}
WRONG = {
    "swapped": (1, SUM + "clock(both), sum(map(clock, parts))"),
    "the same twice": (1, SUM + "clock(both), clock(both)"),
    "not added up": (1, SUM + "[clock(p) for p in parts], clock(both)"),
    "the longest": (1, SUM + "max(map(clock, parts)), clock(both)"),
    "backwards": (
        1,
        SUM + "sum(map(clock, parts)), clock(lambda: [p() for p in parts[::-1]])",
    ),
    "run before": (1, SUM + "(both(), sum(map(clock, parts)), clock(both))[1:]"),
    "always one": (2, PAIR + "len(index), len(index)"),
    "each with each, twice": (2, PAIR + "n_rows * len(index), n_rows * len(index)"),
    "the square": (2, PAIR + "len(index) ** 2, len(index)"),
    "distinct ones": (2, PAIR + "n_rows * len(set(index)), len(index)"),
    "a float": (2, PAIR + "n_rows * len(index) / 1, len(index)"),
    "not shared": (3, SHARE + "m * g[:, None]"),
    "shared by four": (3, SHARE + "m * g[:, None] / 4"),
    "the first only": (
        3,
        SHARE + "(cp.arange(4) == w.argmax(axis=1)[:, None]) * g[:, None]",
    ),
    "counted by columns": (3, SHARE + "m * g[:, None] / m.sum(axis=0)"),
    "the oracle on the host": (3, SHARE + "cp.asarray(share_in_loops(w.get(), g.get()))"),
    "a loop": (3, SHARE + "cp.stack([m[k] * g[k] / m[k].sum() for k in range(len(g))])"),
    "two of three": (4, "accused = {('centred', 'C', 'asks'), ('gradient', 'D', 'type')}"),
    "an innocent": (4, "accused = {('gradient', 'E', 'type'), ('clipped', 'F', 'waits')}"),
    "letters only": (4, "accused = ['DBF']"),
    "the wrong kind": (4, "accused = {('clipped', 'F', 'type')}"),
    "everything": (
        4,
        "accused = {(f, l, k) for f in ('centred', 'gradient', 'clipped', 'learn')"
        " for l in 'ABCDEFGHIJ' for k in ('asks', 'type', 'waits')}",
    ),
    "as it was": (5, "learn_mended = learn"),
    "in double": (5, {"wanted": "cp.eye(10)[t]"}),
    "waits": (5, {"factor": "min(1, 1 / float(length))"}),
    "asks": (5, {"centre": "cp.stack([row - row.mean() for row in x])"}),
    "never clipped": (5, {"factor": "1"}),
    "always clipped": (5, {"factor": "1 / length"}),
    "the mean of all": (5, {"centre": "x - x.mean()"}),
    "NumPy": (
        5,
        "def learn_mended(x, t, w):\n    return cp.asarray(learn_numpy(x.get(), t.get(), w.get()))",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_refused(chapter, name):
    number, answer = WRONG[name]
    if isinstance(answer, dict):
        answer = LEARN.format(**RIGHT | answer)
    line = chapter.judged(number, answer)
    assert "correct" not in line and "Error" not in line, line


@pytest.mark.parametrize(
    "number, answer",
    [
        (1, SUM + "[sum(map(clock, parts)), clock(both)]"),
        (1, SUM + "(lambda whole: (sum(map(clock, parts)), whole))(clock(both))"),
        (2, PAIR + "[len(index) * n_rows, index.size]"),
        (3, SHARE + "cp.where(m, g[:, None] / m.sum(axis=1)[:, None], 0)"),
        (4, "accused = [['centred', 'C', 'asks'], ['gradient', 'D', 'type'],"
            " ['clipped', 'F', 'waits'], ['centred', 'B', 'asks']]"),
        (5, LEARN.format(**RIGHT)),
    ],
)  # fmt: skip
def test_right_answers_pass(chapter, number, answer):
    line = chapter.judged(number, answer)
    assert "correct" in line, line
