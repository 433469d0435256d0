"""Chapter 45's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import numpy as np
import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("45_oja_fast")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert chapter.verdict(number, chapter.answer(number)).startswith("correct")
    assert not chapter.verdict(number, chapter.stub(number)).startswith("correct")


PASS, TWICE = "u, 0, eta, one_pass_f32)", "u, 0, 2 * eta, one_pass_f32)"
REPLAY, SWAP = "        graph.launch()\n", "        x, x_next = x_next, x\n"
HELD = "u_held[...] = u[start : start + portion]"
PAYS = "int(recording // (otherwise - replay)) + 1"
WRONG = [
    (1, [("6 * 8", "5 * 8")], "5 trips"),
    (1, [("6 * 8", "2 * 8")], "2 trips"),
    (1, [("6 * 8", "6 * 4")], "3 trips"),
    (1, [("9 * t_call", "3 * t_call")], "3 calls"),
    (1, [("max(9 * t_call, 6", "(9 * t_call + 6")], "overlap"),
    (1, [("max(", "min(")], "wrong"),
    (1, [("n * n", "n")], "trips"),
    (2, [("-Dreal=float", "-Dreal=double")], "double.*float32"),
    (2, [("W.copy(), ", "W, ")], "argument|changed"),
    (2, [("cp.full(1, drive, cp.float32)", "cp.full(1, drive)")], "float.*float64"),
    (2, [(PASS, TWICE)], "expected"),
    (2, [("return W, x_next", "return W, x")], "expected"),
    (2, [(PASS, PASS + "\n    step(W, x, x_next, win, " + PASS)], "expected"),
    (3, [("range(whole, len(u))", "range(len(u) - whole)")], "is off"),  # t from 0 again
    (3, [("range(0, whole, portion)", "range(0, len(u), portion)")], "replays|error|wrong"),
    (3, [(HELD, "u_held[...] = u[:portion]")], "another input"),
    (3, [("    return x\n", "    return x_next\n")], "is off"),
    (3, [(SWAP, "")], "is off"),
    (3, [("len(u) // portion * portion", "0")], "0 replays"),  # single launches only
    (3, [(REPLAY, REPLAY + SWAP)], "is off|another"),
    (3, [(REPLAY, 2 * REPLAY)], "replays"),
    (4, [(PAYS, "int(np.ceil(recording / (otherwise - replay)))")], "is 5, not 4"),
    (4, [(PAYS, "round(recording / (otherwise - replay)) + 1")], "wrong"),
    (4, [("<= replay", "< replay")], "ZeroDivision|wrong"),
    (4, [("return None", "return 0")], "is None"),
    (4, [("otherwise - replay)", "otherwise)")], "wrong"),
    (4, [("+ 1", "")], "wrong"),
    (5, [("w[j] + push * x[j]", "w[j] * (1 - push * xi) + push * x[j]")], "expected"),
    (5, [("hebb_kernel)", "one_pass)")], "expected"),
    (5, [("j += 32", "j += 31")], "expected"),
    (5, [("if (row >= n) return;", "")], "outside|illegal|wrong"),
]  # fmt: skip
LAZY = {
    "through float64, 2": (
        2,
        "def oja_pass_f32(W, x, win, drive, eta):\n"
        "    W, x, win = (a.astype(cp.float64) for a in (W, x, win))\n"
        "    x_next, u = cp.empty_like(x), cp.full(1, drive)\n"
        "    step(W, x, x_next, win, u, 0, eta)\n"
        "    return W.astype(cp.float32), x_next.astype(cp.float32)",
    ),
    "array functions, 2": (
        2,
        "def oja_pass_f32(W, x, win, drive, eta):\n"
        "    W = W + np.float32(eta) * (cp.outer(x, x) - (x * x)[:, None] * W)\n"
        "    heard = W @ x + win * np.float32(drive)\n"
        "    return W, np.float32(KEEP) * x + np.float32(GAIN) * cp.tanh(heard)",
    ),
    "NumPy, 2": (
        2,
        "def oja_pass_f32(W, x, win, drive, eta):\n"
        "    found = oja_oracle_f32(W.get(), x.get(), win.get(), drive, eta)\n"
        "    return cp.asarray(found[0]), cp.asarray(found[1])",
    ),
    "NumPy and replays for show, 3": (
        3,
        "def run_any(graph, held, u, eta, portion):\n"
        "    case = held[0].get(), held[3].get(), u.get()\n"
        "    for _ in range(len(u) // portion):\n        graph.launch()\n"
        "    return cp.asarray(run_numpy(*case, eta, KEEP, GAIN)[1])",
    ),
    "CuPy's loop, 3": (
        3,
        "def run_any(graph, held, u, eta, portion):\n"
        "    return run_cupy(held[0], held[3], u, eta, KEEP, GAIN)[1]",
    ),
    "a new graph of the length, 3": (
        3,
        "def run_any(graph, held, u, eta, portion):\n"
        "    n = len(held[1])\n    new, own = record_steps(n, eta, len(u))\n"
        "    own[0][...], own[3][...], own[4][...] = held[0], held[3], u\n    new.launch()\n"
        "    return own[1 + len(u) % 2]",
    ),
    "array functions, 5": (
        5,
        "def hebb_pass(W, x, win, drive, eta):\n    W = W + eta * cp.outer(x, x)\n"
        "    return W, KEEP * x + GAIN * cp.tanh(W @ x + win * drive)",
    ),
    "two passes, 5": (
        5,
        "def hebb_pass(W, x, win, drive, eta):\n"
        "    W, x_next, u = W + eta * cp.outer(x, x), cp.empty_like(x), cp.full(1, drive)\n"
        "    step(W.copy(), x, x_next, win, u, 0, 0.0)\n    return W, x_next",
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
    "float32 by another text, 2": (
        2,
        "mine = cp.RawKernel('#define real float\\n' + one_pass_code, 'one_pass')\n"
        "def oja_pass_f32(W, x, win, drive, eta):\n"
        "    new, x_next = W.copy(), cp.empty_like(x)\n"
        "    step(new, x, x_next, win, cp.full(1, drive, cp.float32), 0, eta, mine)\n"
        "    return new, x_next",
    ),
    "the rest by a while, 3": (
        3,
        "def run_any(graph, held, u, eta, portion):\n    W, x, x_next, win, u_held = held\n"
        "    t = 0\n    while t + portion <= len(u):\n"
        "        u_held[:] = u[t : t + portion]\n        graph.launch()\n        t += portion\n"
        "    while t < len(u):\n        step(W, x, x_next, win, u, t, eta)\n"
        "        x, x_next, t = x_next, x, t + 1\n    return x.copy()",
    ),
    "by counting, 4": (
        4,
        "def replays_to_pay(recording, replay, otherwise):\n    if replay >= otherwise:\n"
        "        return None\n    k = 1\n"
        "    while recording + k * replay >= k * otherwise:\n        k += 1\n    return k",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    line = chapter.verdict(*RIGHT[name])
    assert line.startswith("correct"), line


@pytest.mark.parametrize("portion, steps", [(1, 4), (3, 9), (5, 40), (8, 41), (4, 6), (41, 41)])
def test_a_graph_refuses_what_it_would_get_wrong(chapter, portion, steps):
    names = chapter.names
    W, win, u = names["to_device"](names["make_reservoir"](7, steps, seed=1))
    with pytest.raises(ValueError, match="portion must be even"):
        names["run_graph"](W, win, u, 1e-3, portion=portion)


def test_the_control_is_the_same_step(chapter):
    names = chapter.names
    n, rng = 37, np.random.default_rng(9)
    arrays = rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    results = []
    for one_step in (names["step"], names["two_steps"]):
        W, x, win = names["to_device"](arrays)
        u, x_next = names["to_device"]([np.array([0.4, -0.7])])[0], x.copy()
        one_step(W, x, x_next, win, u, 1, 0.05)
        results.append((W.get(), x_next.get()))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
