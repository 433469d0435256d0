"""Chapter 42's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import numpy as np
import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("42_plasticity")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert chapter.verdict(number, chapter.answer(number)).startswith("correct")
    assert not chapter.verdict(number, chapter.stub(number)).startswith("correct")


BAR = "means[least] + standard_errors[least]"
WRONG = [
    (1, [("x[experiment * n + i % n]", "x[i % n]")], "expected"),  # the first experiment's
    (1, [("eta[experiment]", "eta[row]")], "outside|expected"),
    (1, [("eta[experiment]", "eta[0]")], "expected"),
    (1, [("experiment = row / n", "experiment = i / n")], "outside|expected|nan"),
    (1, [("post * post * w", "pre * pre * w")], "expected"),
    (1, [("long long row", "short row")], "outside|expected|nan|declared|error"),
    (1, [("int64 n", "int8 n")], "OverflowError|outside|expected|nan"),
    (1, [("double post", "float post")], "expected"),
    (2, [(BAR, "means[least] + standard_errors.max()")], "wrong: means"),
    (2, [(BAR, "means[least] + standard_errors.mean()")], "wrong: means"),
    (2, [(BAR, "means[least] + errors[:, least].std()")], "wrong: means"),  # of one, not the mean
    (2, [(BAR, "means[least] + errors[:, least].std() / np.sqrt(len(errors))")], "wrong: means"),
    (2, [(BAR, "means[least]")], "wrong: means"),
    (2, [("min(rate", "max(rate")], "wrong: means"),
    (2, [("np.argmin(means)", "0")], "wrong: means"),
    (2, [("mean <= bar", "mean < 0.354")], "wrong"),
    (3, [("diagonal(W).copy()", "diagonal(W)")], "expected"),  # a view, which learns along
    (3, [("diagonal(W)[...] = kept", "diagonal(W)[...] = 0")], "expected"),
    (3, [("    oja_batch(W, x, eta)\n", "")], "expected"),
    (3, [("diagonal(W)[...] = kept", "diagonal(W)[0] = kept[0]")], "expected"),
]
LAZY = {
    "oja_batch itself, 1": (
        1,
        "def batch_step(W, x, eta):\n    W = W.copy()\n    oja_batch(W, x, eta)\n    return W",
    ),
    "array functions, 1": (
        1,
        "def batch_step(W, x, eta):\n    post, pre = x[:, :, None], x[:, None, :]\n"
        "    return W + eta[:, None, None] * (post * pre - post**2 * W)",
    ),
    "a kernel a reservoir, 1": (
        1,
        "from helpers.chapters.oja_reservoir import oja_kernel\n"
        "def batch_step(W, x, eta):\n    new = cp.empty(W.shape)\n    n = W.shape[-1]\n"
        "    for s in range(len(W)):\n"
        "        oja_kernel(W[s], x[s], n, eta[s], new[s], size=n * n)\n    return new + W",
    ),
    "NumPy, 1": (
        1,
        "def batch_step(W, x, eta):\n"
        "    return cp.asarray(batch_oracle(W.get(), x.get(), eta.get()))",
    ),
    "NumPy, 3": (
        3,
        "def only_off_diagonal(W, x, eta):\n"
        "    W.set(off_diagonal_oracle(W.get(), x.get(), eta.get()))",
    ),
    "a loop over neurons, 3": (
        3,
        "def only_off_diagonal(W, x, eta):\n"
        "    kept = [W[:, i, i].copy() for i in range(W.shape[-1])]\n"
        "    oja_batch(W, x, eta)\n"
        "    for i, w in enumerate(kept):\n        W[:, i, i] = w",
    ),
}


@pytest.mark.parametrize("number, changes, says", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.verdict(number, chapter.answer(number, *changes))
    assert not line.startswith("correct") and re.search(says, line), line


@pytest.mark.parametrize("name", LAZY)
def test_lazy_answers_are_refused(chapter, name):
    line = chapter.verdict(*LAZY[name])
    assert not line.startswith("correct"), line


RIGHT = {
    "broadcasting, 1": (
        1,
        "plain = cp.ElementwiseKernel('float64 w, float64 post, float64 pre, float64 eta',"
        " 'float64 W', 'W = w + eta * post * (pre - post * w)', 'plain')\n"
        "def batch_step(W, x, eta):\n"
        "    return plain(W, x[:, :, None], x[:, None, :], eta[:, None, None])",
    ),
    "the first that is within, 2": (
        2,
        "def cautious(errors, rates):\n    means, errors = mean_and_error(errors)\n"
        "    return rates[np.argmax(means <= means.min() + errors[means.argmin()])]",
    ),
    "a change masked out, 3": (
        3,
        "def only_off_diagonal(W, x, eta):\n"
        "    push = (eta[:, None] * x)[:, :, None]\n"
        "    change = push * (x[:, None, :] - x[:, :, None] * W)\n"
        "    change *= 1 - cp.eye(W.shape[-1])\n    W += change",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    line = chapter.verdict(*RIGHT[name])
    assert line.startswith("correct"), line


def test_the_running_mean_is_taken_away_before_anything_is_learnt(chapter):
    """`centred` against a plain loop, one reservoir at a time."""
    rng = np.random.default_rng(6)
    chapter.names["settle"] = 3
    W, states, eta = rng.uniform(-1, 1, (2, 3, 3)), rng.uniform(0, 1, (9, 2, 3)), np.array([0.1, 1])
    expected, mean, learn = W.copy(), np.zeros((2, 3)), chapter.names["centred"]()
    for step, x in enumerate(states, 1):
        learn(W, x, eta)
        mean = 0.99 * mean + 0.01 * x
        for s in range(2):
            y = x[s] - mean[s]
            if step > 3:
                expected[s] += eta[s] * (np.outer(y, y) - (y**2)[:, None] * expected[s])
    np.testing.assert_allclose(W, expected, rtol=1e-12)
