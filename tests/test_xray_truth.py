"""The kernels that are held against a GPU's counters: what the x-ray counts for them."""

import json
from pathlib import Path

import pytest
import xray_truth

from helpers.standin.xray.build import can_compile

pytestmark = pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")
STORED = Path(__file__).parent / "xray_truth.json"


@pytest.mark.parametrize("name", [n for n in xray_truth.CASES if not n.startswith("product")])
def test_a_case(name):
    case = xray_truth.CASES[name]
    counts, races = xray_truth.xrayed(case)
    assert races == case.races
    assert counts["global load requests"] > 0 and counts["global store sectors"] > 0
    if STORED.exists():
        assert counts == json.loads(STORED.read_text())["cases"][name]["counters"]


def test_what_ncu_prints_is_read():
    rows = "\n".join(
        f'"0","123","python","k","1","7","(256, 1, 1)","(16, 1, 1)","0","9.0","Command line",'
        f'"{metric}","","{number:,}"'
        for number, metric in enumerate(xray_truth.METRICS.values(), 1048576)
    )
    heading = (
        '"ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size",'
        '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
    )
    found = xray_truth.counters(f"==PROF== Connected to process 123\nhello\n{heading}\n{rows}\n")
    assert found["global load requests"] == 1048576
    assert found["shared store passes"] == 1048581
