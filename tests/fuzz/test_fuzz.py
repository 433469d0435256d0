"""A short run of random kernels, the same ones every time, and what is stored of a long one."""

import json

import pytest

from . import __main__ as long_run
from . import runs

CASES = {
    "ElementwiseKernel": 150,
    "RawKernel": 90,
    "ReductionKernel": 25,
    "fuse": 40,
    "outside an array": 30,
    "other mistakes": 30,
}


@pytest.mark.parametrize("kind", CASES)
def test_random_programs(kind, monkeypatch):
    monkeypatch.delenv("CUPY_STANDIN_LISTENER", raising=False)  # here the results matter
    done, failures = runs.run(kind, CASES[kind])
    assert done >= CASES[kind]
    assert not failures, "\n\n".join(failures)


def test_the_stored_run():
    """The site prints it: 10,000 programs of today's kinds, in their shares, and none failed."""
    stored = json.loads(long_run.RESULT.read_text(encoding="utf-8"))
    assert list(stored["by kind"]) == list(runs.KINDS)
    for kind, (_, _, share) in runs.KINDS.items():
        assert stored["by kind"][kind] >= round(10_000 * share)
    assert stored["cases"] == sum(stored["by kind"].values())
    assert stored["failures"] == 0
