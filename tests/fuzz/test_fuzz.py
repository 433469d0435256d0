"""Random kernels, few and more, the same ones every time, and what is stored of a long run."""

import pytest

from helpers.press import evidence

from . import runs

CASES = {
    "ElementwiseKernel": 40,
    "RawKernel": 15,
    "ReductionKernel": 8,
    "fuse": 12,
    "outside an array": 8,
    "other mistakes": 8,
}


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", CASES)
def test_random_programs(kind, times, monkeypatch):
    monkeypatch.delenv("CUPY_STANDIN_LISTENER", raising=False)  # here the results matter
    cases = times * CASES[kind]
    done, failures = runs.run(kind, cases)
    assert done >= cases
    assert not failures, "\n\n".join(failures)


def test_the_stored_run():
    """The site prints it: 10,000 programs of today's kinds, in their shares, and none failed."""
    stored = evidence.load("fuzz")
    assert list(stored["by kind"]) == list(runs.KINDS)
    for kind, (_, _, share) in runs.KINDS.items():
        assert stored["by kind"][kind] >= round(10_000 * share)
    assert stored["cases"] == sum(stored["by kind"].values())
    assert stored["failures"] == 0
