"""Where the GPU begins to win is computed from the timings, and said in words."""

import numpy as np
import pytest

import helpers
from helpers import Timing
from helpers.crossover import first_win


def timings(*seconds):
    return [Timing(np.array([0.9, 1.0, 1.2]) * s, "a device", "host") for s in seconds]


@pytest.mark.parametrize(
    ("fast", "expected"),
    [
        ((1, 1, 1), 10),
        ((9, 1, 1), 20),
        ((1, 9, 1), 30),  # a win that is lost again does not count
        ((1, 1, 9), None),
        ((5, 5, 5), None),  # as fast is not faster
    ],
)
def test_first_win(fast, expected):
    assert first_win([10, 20, 30], timings(*fast), timings(5, 5, 5)) == expected


def test_curves_of_other_lengths_are_refused():
    with pytest.raises(ValueError):
        first_win([10, 20, 30], timings(1, 2), timings(1, 2, 3))


def test_crossover_says_and_returns_where_each_curve_wins(capsys):
    curves = {"NumPy": timings(1, 4, 16), "GPU": timings(3, 3, 3), "copies": timings(20, 20, 20)}
    wins = helpers.crossover([8, 1024, 2048], curves, baseline="NumPy", xlabel="n")
    assert wins == {"GPU": 1024, "copies": None}
    alt, *verdicts = capsys.readouterr().out.strip().splitlines()
    assert verdicts == [
        "GPU is faster than NumPy from 1,024 on",
        "copies is not faster than NumPy at the largest size, 2,048",
    ]
    assert "on a device" in alt and all(verdict in alt for verdict in verdicts)
