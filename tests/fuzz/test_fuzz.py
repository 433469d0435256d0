"""A short run of random kernels, the same ones every time."""

import pytest

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
