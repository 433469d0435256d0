"""A timeline names each statement once, in order, and draws what the host and the device did."""

import numpy as np
import pytest

import helpers
from helpers import timeline


@pytest.fixture
def shown(monkeypatch):
    texts = []
    monkeypatch.setattr(timeline_module().display, "show", lambda fig, alt: texts.append(alt))
    return texts


def timeline_module():
    import sys

    return sys.modules[timeline.__module__]


def example(x, calls):
    """Its docstring is no statement."""
    import cupy as cp

    calls.append(1)
    y = cp.concatenate(
        [x, x],
    )
    for _ in range(3):
        y = y + 1
    if y.sum() > 0:
        y = y * 2
    return y


def test_each_outermost_statement_is_a_step(shown):
    import cupy as cp

    calls = []
    steps = helpers.timeline(example, cp.arange(5), calls)
    assert [step.text for step in steps] == [
        "import cupy as cp",
        "calls.append(1)",
        "y = cp.concatenate(",
        "for _ in range(3):",
        "if y.sum() > 0:",
        "return y",
    ]
    assert len(calls) == 2  # three times where there is a GPU
    assert "6 statements" in shown[0] and "the host waits in: none of them" in shown[0]


def test_times_are_in_order(shown):
    import cupy as cp

    steps = helpers.timeline(example, cp.arange(5), [])
    for step, after in zip(steps, steps[1:], strict=False):
        assert 0 <= step.asked <= step.back <= after.asked
        assert step.begun <= step.finished == after.begun
    assert steps[0].begun == 0


def test_an_error_passes_and_tracing_ends(shown):
    import sys

    before = sys.gettrace()

    def fails():
        x = np.ones(2)
        raise ValueError(x.size)

    with pytest.raises(ValueError, match="2"):
        helpers.timeline(fails)
    assert sys.gettrace() is before


def test_long_lines_are_cut(shown):
    def one():
        a_name_that_is_longer_than_most = np.ones(3, np.float64)
        return a_name_that_is_longer_than_most

    steps = helpers.timeline(one, widest=12)
    assert steps[0].text.startswith("a_name_that_is_longer_than_most = np.ones")
