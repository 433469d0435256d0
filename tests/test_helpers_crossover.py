"""Where the GPU begins to win is computed from the timings, and said in words."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import helpers
from helpers import Timing
from helpers.crossover import _ticks, compare, first_win, last_loss


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


def rounds(*seconds):
    """A Timing for each size, with its samples, one for each round."""
    return [Timing(np.array(samples, float), "a device", "host") for samples in seconds]


# Three rounds at each of four sizes: lost in all, lost in two, won on the median only, won in all.
TURNS = (9, 9, 9), (6, 4, 6), (4, 6, 4), (4, 4, 4)


@pytest.mark.parametrize("which, expected", [(0, -1), (1, 0), (2, 0), (3, 1)])
def test_rounds_have_to_agree(which, expected):
    (time,), (base,) = rounds(TURNS[which]), rounds((5, 5, 5))
    assert compare(time, base, by_turns=True) == expected
    assert compare(time, base) == (-1 if np.median(TURNS[which]) > 5 else 1)


def test_a_round_is_compared_with_the_same_round():
    (time,), (base,) = rounds((2, 20, 200)), rounds((3, 30, 300))
    assert compare(time, base, by_turns=True) == 1
    assert compare(*rounds((20, 2, 200), (3, 30, 300)), by_turns=True) == 0
    assert compare(*rounds((1, 30, 1), (3, 30, 300)), by_turns=True) == 0  # one as fast


def test_other_numbers_of_rounds_are_refused():
    with pytest.raises(ValueError, match="by turns: 2 and 3 samples"):
        compare(*rounds((1, 2), (3, 3, 3)), by_turns=True)


@pytest.mark.parametrize(
    "order, won, lost",
    [
        ((0, 1, 2, 3), 40, 10),
        ((0, 1, 0, 3), 40, 30),  # a loss after a size where the rounds disagree
        ((3, 0, 3, 3), 30, 20),
        ((3, 3, 3, 3), 10, None),
        ((0, 1, 1, 1), None, 10),
        ((0, 0, 0, 0), None, 40),
        ((1, 2, 2, 3), 40, None),
    ],
)
def test_the_crossing_is_a_range(order, won, lost):
    sizes, base = [10, 20, 30, 40], rounds(*[(5, 5, 5)] * 4)
    times = rounds(*(TURNS[k] for k in order))
    assert first_win(sizes, times, base, by_turns=True) == won
    assert last_loss(sizes, times, base, by_turns=True) == lost


def test_by_medians_the_range_is_two_neighbours():
    sizes, base = [10, 20, 30, 40], rounds(*[(5, 5, 5)] * 4)
    assert first_win(sizes, rounds(*TURNS), base) == 30
    assert last_loss(sizes, rounds(*TURNS), base) == 20


@pytest.mark.parametrize(
    "order, verdict",
    [
        ((0, 1, 2, 3), "GPU is faster than NumPy in every round from 4,096 on; in no round at 8"),
        (
            (1, 2, 2, 3),
            "GPU is faster than NumPy in every round from 4,096 on; in some rounds at every size",
        ),
        ((3, 3, 3, 3), "GPU is faster than NumPy in every round from 8 on"),
        (
            (0, 1, 1, 2),
            "GPU is not faster than NumPy in every round at the largest size, 4,096; "
            "in no round at 8",
        ),
        ((0, 1, 3, 0), "GPU is faster than NumPy in no round at the largest size, 4,096"),
    ],
)
def test_crossover_says_the_range(order, verdict, capsys):
    curves = {"NumPy": rounds(*[(5, 5, 5)] * 4), "GPU": rounds(*(TURNS[k] for k in order))}
    sizes = [8, 64, 512, 4096]
    wins = helpers.crossover(sizes, curves, baseline="NumPy", xlabel="n", by_turns=True)
    alt, said = capsys.readouterr().out.strip().splitlines()
    assert said == verdict and verdict in alt
    assert wins["GPU"] == first_win(sizes, curves["GPU"], curves["NumPy"], by_turns=True)


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0.8, 2e6, [1, 10, 100, 1e3, 1e4, 1e5, 1e6]),
        (0.03, 2.9, [0.03, 0.1, 0.3, 1]),
        (1.7e3, 4.5e4, [2e3, 5e3, 1e4, 2e4]),
        (1500, 7000, [2e3, 3e3, 4e3, 5e3, 6e3, 7e3]),
        (4100, 4900, [4200, 4400, 4600, 4800]),
    ],
)
def test_ticks_are_round_and_inside(low, high, expected):
    assert _ticks(low, high) == pytest.approx(expected)


def test_the_axis_of_times_has_several_labels(monkeypatch):
    shown = []
    monkeypatch.setattr(helpers.display, "show", lambda fig, alt: shown.append(fig))
    curves = {"NumPy": timings(2e-3, 3e-3, 0.04), "GPU": timings(3e-3, 3e-3, 4e-3)}
    helpers.crossover([8, 64, 512], curves, baseline="NumPy", xlabel="n")
    (axes,) = shown[0].axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    plt.close(shown[0])
    assert labels == ["2,000", "5,000", "10,000", "20,000", "50,000"]
