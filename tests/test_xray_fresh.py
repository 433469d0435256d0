"""Kernels that the x-ray was not made with: every planted race is found, no right kernel is blamed.

XRAY_FRESH=all looks at all of them, a minute on one core; else a part is tried.
"""

import os

import pytest
import xray_truth
from fresh_cases import CASES, COUNTED, PLANTED

from gpuless.xray.machine.build import can_compile

pytestmark = [
    pytest.mark.long,  # the kernels are compiled for the x-ray, one by one
    pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64"),
]
STEP = 1 if os.environ.get("XRAY_FRESH") == "all" else 6


def test_there_are_forty_and_sixty():
    assert (len(COUNTED), len(PLANTED)) == (40, 60)
    assert len(CASES) == 40 + 2 * 60


@pytest.mark.parametrize("name", list(PLANTED)[::STEP])
def test_a_race_is_found_and_its_cure_is_not_blamed(name):
    racing, right = CASES[f"race: {name}"], CASES[f"cure: {name}"]
    assert xray_truth.xrayed(racing)[1] == [racing.races]
    assert xray_truth.xrayed(right)[1] == []


@pytest.mark.parametrize("name", list(COUNTED)[::STEP])
def test_a_right_kernel_is_counted_and_not_blamed(name):
    counts, races = xray_truth.xrayed(COUNTED[name])
    assert races == []
    assert counts["global store requests"] + counts["global atomic requests"] > 0
