"""Chapter 40's exercises refuse wrong and lazy answers, and take right ones that look unusual; its
readout is the textbook's, its series are NARMA10."""

import re

import numpy as np
import pytest
from chapter_cells import Chapter
from marks import long_but

chapter = Chapter.fixture("40_oja_reservoir")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert chapter.verdict(number, chapter.answer(number)).startswith("correct")
    assert not chapter.verdict(number, chapter.stub(number)).startswith("correct")


WRONG = [
    (1, [("y[i / n]", "y[i % n]"), ("x[i % n]", "x[i / n]")], "expected|outside|nan"),  # swapped
    (1, [("y[i / n]", "y[i / m]"), ("int64 n,", "int64 n, int64 m,"), ("y, n,", "y, n, m,")], ""),
    (1, [("post * post * W[i]", "x[i % n] * x[i % n] * W[i]")], "expected"),
    (1, [("int64 n,", "int16 n,")], "OverflowError|expected|outside|nan"),
    (1, [("double post =", "short row = i / n; double post ="), ("y[i / n]", "y[row]")], "outside"),
    (1, [("x[i % n]", "x[(short)(i % n)]")], "outside|expected|nan"),
    (1, [("size=m * n", "size=m * n - 1")], "nan|expected"),
    (1, [("double post", "float post")], "expected"),
    (1, [("cp.empty((m, n)), size", "W, size")], "argument|changed"),
    (2, [("+ 1", "+ 2")], "it is step 1415"),
    (2, [("+ 1", "")], "wrong"),
    (2, [("int(np.sqrt(2 / eta)) + 1", "1415")], "for a rate of 0.0003"),
    (2, [("2 / eta", "1 / eta")], "wrong"),
    (2, [("int(np.sqrt(2 / eta)) + 1", "int(np.ceil(np.sqrt(2 / eta)))")], "for a rate of 0.02"),
    (3, [("seen[:, k:, k] = u[:, : steps - k]", "seen[..., k] = xp.roll(u, k, 1)")], "expected 0"),
    (3, [("k] = u", "count - 1 - k] = u")], "expected"),
    (3, [("seen[:, k:, k] = u[:, : steps - k]", "seen[:, k:, k] = u[:, k:]")], "expected"),
    (3, [("range(count)", "range(1, count)")], "expected"),
    (3, [("seen[:, k:, k] = u[:, : steps - k]", "seen[k:, :, k] = u[: len(u) - k]")], "expected"),
    (3, [("xp = cp.get_array_module(u)", "xp = cp")], "NumPy|numpy|wrong"),
    (4, [("post**2", "post")], "is not right"),
    (4, [("range(0, len(x), rows)", "range(0, len(x) - rows, rows)")], "is not right"),
    (4, [("rows = max(1, 2**15 // len(x))", "rows = 1")], "it goes to W"),
    (4, [("rows = max(1, 2**15 // len(x))", "rows = len(x)")], "temporary blocks"),
    (4, [("part *= 1 - eta * post**2", "part[...] = part - eta * post**2 * part")], "temporary"),
    (4, [("    part += eta * post * x", "    W = W + 0")], "is not right|wrong"),
    (5, [("post * post * W", "pre * pre * W")], "expected"),
    (6, [("k <= row", "k < row")], "expected"),
    (6, [("long long k = 0", "long long k = 1")], "expected"),
    (6, [("W[k * n + col]", "W[k * n + row]")], "expected|outside"),
]  # fmt: skip
LAZY = {
    "array functions, 1": (
        1,
        "def oja_between(W, x, y, eta):\n"
        "    return W + eta * (cp.outer(y, x) - (y**2)[:, None] * W)",
        "",
    ),
    "NumPy, 1": (
        1,
        "def oja_between(W, x, y, eta):\n"
        "    return cp.asarray(oja_between_oracle(W.get(), x.get(), y.get(), eta))",
        "",
    ),
    "a change and a sum, 1": (1, "", "W + eta * (post * x[i % n] - post * post * W[i])"),
    "a row at a time, 1": (
        1,
        "",
        "rows",
    ),
    "the rows of the source, 4": (4, "oja_blocks = oja_rows", ""),
    "the whole matrix, 4": (4, "oja_blocks = oja_matrix", ""),
    "two loops, 4": (4, "oja_blocks = oja_loops", ""),
    "array functions, 5": (
        5,
        "def oja_step(W, x, eta):\n"
        "    return W + eta * (x[:, None] * x[None, :] - (x**2)[:, None] * W)",
        "",
    ),
    "cumsum, 6": (
        6,
        "def sanger(W, x, y, eta):\n"
        "    return W + eta * y[:, None] * (x - cp.cumsum(y[:, None] * W, axis=0))",
        "",
    ),
    "NumPy, 3": (
        3,
        "def delays(u, count):\n    return cp.asarray(delays_oracle(cp.asnumpy(u), count))",
        "",
    ),
}


@pytest.mark.parametrize("number, changes, says", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.verdict(number, chapter.answer(number, *changes))
    assert not line.startswith("correct") and re.search(says, line), line


SLOW = {"two loops, 4", "cumsum, 6", "a row at a time, 1"}


@pytest.mark.parametrize("name", long_but(LAZY.keys() - SLOW, LAZY))
def test_lazy_answers_are_refused(chapter, name):
    number, answer, kind = LAZY[name]
    if kind == "rows":  # the kernel once for each row
        text = chapter.answer(1)
        call = "return between_kernel(W, x, y, n, eta, cp.empty((m, n)), size=m * n)"
        loop = (
            "new = cp.empty((m, n))\n    for k in range(m):\n"
            "        between_kernel(W[k], x, y[k:], n, eta, new[k], size=n)\n    return new"
        )
        answer = text.replace(call, loop).replace("y[i / n]", "y[0]")
    elif kind:  # two launches: what changes, and a sum
        text = chapter.answer(1, ("W[i] + eta", "eta"))
        answer = text.replace("return between", "return W + between")
    line = chapter.verdict(number, answer)
    assert not line.startswith("correct"), line


RIGHT = {
    "broadcasting, 1": (
        1,
        [],
        "plain = cp.ElementwiseKernel('float64 W, float64 x, float64 y, float64 eta', 'float64 z',"
        " 'z = W + eta * y * (x - y * W)', 'plain')\n"
        "def oja_between(W, x, y, eta):\n    return plain(W, x, y[:, None], eta)",
    ),
    "other parentheses, 1": (
        1,
        [("post * x[i % n] - post * post * W[i]", "post * (x[i % n] - post * W[i])")],
        "",
    ),
    "a loop, 2": (
        2,
        [],
        "def step_of_ruin(eta):\n    x = 0\n    while eta * x**2 <= 2:\n        x += 1\n"
        "    return x",
    ),
    "a float, 2": (2, [("int(np.sqrt(2 / eta)) + 1", "np.floor(np.sqrt(2 / eta)) + 1")], ""),
    "padded, 3": (
        3,
        [],
        "def delays(u, count):\n    xp = cp.get_array_module(u)\n"
        "    padded = xp.pad(u, ((0, 0), (count - 1, 0)))\n    steps = u.shape[1]\n"
        "    columns = [padded[:, count - 1 - k : count - 1 - k + steps] for k in range(count)]\n"
        "    return xp.stack(columns, -1)",
    ),
    "other blocks, 4": (4, [("2**15 // len(x)", "2**14 // len(x)")], ""),
    "room kept, 4": (
        4,
        [
            (
                "part += eta * post * x",
                "part += np.multiply(eta * post, x, out=room[: len(post)])",
            ),
            ("    for k in", "    room = np.empty((rows, len(x)))\n    for k in"),
        ],
        "",
    ),
    "from left to right, 6": (
        6,
        [("left = x[col]", "left = 0"), ("y[row] * left", "y[row] * (x[col] + left)")],
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    number, changes, answer = RIGHT[name]
    line = chapter.verdict(number, answer or chapter.answer(number, *changes))
    assert line.startswith("correct"), line


def test_the_readout_solves_the_ridge_problem(chapter):
    rng = np.random.default_rng(2)
    features, target = rng.standard_normal((31, 7)), rng.standard_normal(31)
    penalties = np.array([0, 1e-3, 0.5])
    got = chapter.names["ridge"](features, target, penalties)
    power = np.linalg.eigvalsh(features.T @ features).mean()
    for weights, penalty in zip(got, penalties, strict=True):
        # The gradient of |F w - y|^2 + penalty * power * |w|^2 is zero.
        slope = features.T @ (features @ weights - target) + penalty * power * weights
        assert abs(slope).max() < 1e-10


def test_the_error_of_the_mean_is_one(chapter):
    target = np.random.default_rng(3).uniform(0, 1, 50)
    assert abs(chapter.names["nrmse"](target, target.mean()) - 1) < 1e-12
    assert chapter.names["nrmse"](target, target) == 0


def test_narma10_follows_its_formula_one_number_at_a_time(chapter):
    u = np.random.default_rng(4).uniform(0, 0.5, (3, 60))
    got = chapter.names["narma10"](u)
    for series, row in zip(u, got, strict=True):
        y = [0.0] * 61
        for t in range(9, 60):
            past = sum(y[t - k] for k in range(10))
            y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * past + 1.5 * series[t - 9] * series[t] + 0.1
        np.testing.assert_allclose(row, y[1:], rtol=1e-12)


def test_the_score_uses_no_number_of_the_test_part(chapter):
    rng = np.random.default_rng(5)
    states, target, ends = rng.standard_normal((90, 4)), rng.standard_normal(90), [10, 50, 70, 90]
    validation, test = chapter.names["score"](states, target, ends)
    other = target.copy()
    other[70:] = rng.standard_normal(20)
    again, changed = chapter.names["score"](states, other, ends)
    assert validation == again and test != changed
