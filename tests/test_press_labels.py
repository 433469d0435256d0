"""Results in words: their units, and which side is better."""

import pytest

from helpers.press import labels, results


@pytest.mark.parametrize("path", sorted(results.FOLDER.glob("*.jsonl")), ids=lambda p: p.stem)
def test_every_result_has_a_unit_and_a_better_side(path):
    for line in results.load(path)[1]:
        assert labels.unit(line) != "ratio" and labels.short(line), line["name"]
        assert labels.better(line) in ("higher", "lower"), (line["name"], line["unit"])


def test_a_bare_ratio_is_of_what_the_book_says():
    line = {"name": "gpus.allreduce_vs_link", "value": 0.767, "unit": "ratio", "against": "a copy"}
    assert labels.short(line) == "76.7 % of its bandwidth" and labels.better(line) == "higher"


def test_of_a_unit_that_nobody_placed_no_side_is_better():
    assert labels.better({"name": "x.y", "value": 2, "unit": "furlongs"}) is None
