"""Rounds and their verdicts, and the clock of launches in a graph."""

import numpy as np
import pytest

import helpers


def test_a_verdict_needs_every_round():
    two, three = np.array([2.0, 2.0]), np.array([3.0, 3.0])
    faster = "faster in every round: 0.667 to 0.667 of the time"
    assert helpers.verdict(two, three) == faster
    assert helpers.verdict(three, two) == "slower in every round: 1.500 to 1.500 of the time"
    mixed = "undecided, faster in 1 of 2 rounds: 0.667 to 1.500 of the time"
    assert helpers.verdict(np.array([2.0, 3.0]), np.array([3.0, 2.0])) == mixed
    assert helpers.verdict(two, two).startswith("undecided, faster in 0 of 2 rounds")
    with pytest.raises(ValueError, match="2 and 3 rounds"):
        helpers.verdict(two, np.ones(3))


def test_a_spread_is_in_microseconds():
    assert helpers.spread(np.array([3e-6, 1e-6, 2.5e-6])) == "2.50 (1.00 to 3.00)"


def test_jobs_take_turns_and_keep_their_arrays():
    log = []

    def make_jobs():
        log.append("made")
        return {name: (lambda name=name: log.append(name), 4) for name in ("a", "b")}

    took = helpers.in_rounds(make_jobs)
    names = list(dict.fromkeys(log))
    assert names == ["made", "a", "b"]
    rounds = log.count("made")
    assert rounds > 1 and all(len(seconds) == rounds for seconds in took.values())
    assert log.index("b") < len(log) - 1 - log[::-1].index("a")  # a's second turn is after b's


def test_a_launch_is_timed_in_a_graph():
    cupy = pytest.importorskip("cupy")
    kernel = cupy.RawKernel('extern "C" __global__ void one(int* x) { x[0] += 1; }', "one")
    x = cupy.zeros(1, np.int32)
    assert helpers.time_in_graph(lambda: kernel((1,), (1,), (x,))) > 0
    assert int(x[0]) > 3  # replayed, and more than once
