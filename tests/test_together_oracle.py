"""Chapter 36's kernels at odd sizes, tails and edges, against oracles of another kind; no races."""

import itertools
import math

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest
from chapter_cells import Chapter

TILE = 8192
SIZES = (1, 2, 3, 4, 5, 31, 32, 33, 127, 1023, TILE - 1, TILE, TILE + 1, 3 * TILE + 5, 70_001)


@pytest.fixture(scope="module")
def names():
    return Chapter("36_work_together").names


def draw(size, kind="normal"):
    rng = np.random.default_rng(size + 7)
    values = {
        "normal": lambda: rng.standard_normal(size),
        "whole": lambda: rng.integers(-3, 4, size),
        "positive": lambda: rng.random(size) + 0.5,
        "negative": lambda: -rng.random(size) - 0.5,
    }
    return values[kind]().astype(np.float32)


@pytest.mark.parametrize("function", ["total", "total_atomic"])
def test_sums_are_those_of_fsum(names, function):
    for size in (0, *SIZES):
        x = draw(size)
        bound = 1e-6 * math.fsum(abs(x)) + 1e-12
        assert abs(float(names[function](cp.asarray(x))) - math.fsum(x)) <= bound, size


def test_a_sum_of_whole_numbers_is_exact(names):
    for size in SIZES:
        x = draw(size, "whole")
        assert float(names["total"](cp.asarray(x))) == sum(map(int, x)), size


@pytest.mark.parametrize("function", ["scan", "scan_by_levels", "plainly"])
def test_scans_are_those_of_python(names, function):
    """Whole numbers, so that every order of additions gives the same; and no number past n."""
    if function == "plainly":
        names = names | {"plainly": lambda x: names["scan"](x, names["scan_plainly"])}
    for size in SIZES:
        x = draw(size, "whole")
        want = list(itertools.accumulate(map(int, x)))
        assert names[function](cp.asarray(x)).tolist() == want, size


def test_a_scan_of_nothing_and_of_a_million(names):
    assert names["scan"](cp.empty(0, np.float32)).shape == (0,)
    x = draw(10**6 + 1)
    right = np.cumsum(x, dtype=np.float64)
    error = abs(names["scan"](cp.asarray(x)).get() - right).max()
    assert error < 2e-6 * np.cumsum(abs(x), dtype=np.float64).max()


def test_infinity_reaches_what_comes_after_it_alone(names):
    x = draw(TILE + 100)
    x[5000] = np.inf
    y = names["scan"](cp.asarray(x)).get()
    assert np.isfinite(y[:5000]).all() and (y[5000:] == np.inf).all()


def test_one_scan_after_another_starts_anew(names):
    x = cp.asarray(draw(3 * TILE, "whole"))
    assert (names["scan"](x) == names["scan"](x)).all()


@pytest.mark.parametrize("kind", ["normal", "whole", "positive", "negative"])
def test_compaction_and_partition_keep_the_order(names, kind):
    for size in SIZES:
        x = draw(size, kind)
        keep = [v for v in x.tolist() if v > 0]
        rest = [v for v in x.tolist() if not v > 0]
        y, count = names["compact"](cp.asarray(x))
        assert int(count[0]) == len(keep) and y[: len(keep)].tolist() == keep, size
        y, count = names["partition"](cp.asarray(x))
        assert int(count[0]) == len(keep) and y.tolist() == keep + rest[::-1], size


def test_what_is_no_number_is_not_kept(names):
    x = np.array([1, np.nan, -0.0, 0.0, 2, -np.inf, np.inf], np.float32)
    y, count = names["compact"](cp.asarray(x))
    assert y[: int(count[0])].tolist() == [1, 2, math.inf]
    y, count = names["compact"](cp.empty(0, np.float32))
    assert int(count[0]) == 0


@pytest.mark.parametrize("name", ["in memory", "own bins", "own, a weight", "8 copies, a weight"])
def test_histograms_count_each_number_once(names, name):
    for size in SIZES:
        x = np.random.default_rng(size).random(size, np.float32) ** 3
        want = [0] * 256
        for v in x.tolist():
            want[math.floor(256 * v)] += 1
        assert names["counters"][name](cp.asarray(x)).tolist() == want, size


def test_numbers_outside_are_not_counted(names):
    x = np.array([0, 1, -1e-9, 0.99999994, np.nan, np.inf, -np.inf, 3, 0.5], np.float32)
    for function in list(names["counters"].values())[:4]:
        bins = function(cp.asarray(x)).get()
        assert bins.sum() == 3 and bins[0] == bins[128] == bins[255] == 1


@pytest.mark.long
@pytest.mark.skipif(not helpers.can_xray(), reason="needs g++ on x86-64")
def test_no_kernel_of_the_chapter_has_a_race(names):
    """Three tiles, the last one short; but for the one that is to have one."""
    n = 2 * TILE + 77
    x, y = cp.asarray(draw(n)), cp.empty(n, np.float32)
    size, state = np.int32(n), cp.zeros(4, np.uint64)
    count = cp.zeros(1, np.int32)
    launches = {
        "sum_kernel": ((3,), (512,), (x, size, y)),
        "sum_kernel_atomic": ((3,), (512,), (x, size, cp.zeros(1, np.float32))),
        "scan_tiles": ((3,), (256,), (x, y, size, cp.empty(3, np.float32))),
        "add_sums": ((2,), (256,), (y, size, cp.zeros(3, np.float32))),
        "scan_kernel": ((3,), (256,), (x, y, size, state)),
        "compact_kernel": ((3,), (256,), (x, y, size, count, state)),
        "partition_kernel": ((3,), (256,), (x, y, size, count, state)),
        "own": ((3,), (512,), (x, size, cp.zeros(256, np.uint32), np.uint32(1))),
        "copied": ((3,), (512,), (x, size, cp.zeros(256, np.uint32), np.uint32(1))),
    }
    for name, launch in launches.items():
        state.fill(0)
        assert not helpers.xray(names[name], *launch).races, name
    few = (x[:500], np.int32(500), cp.empty(2, np.float32))
    assert helpers.xray(names["racing"], (2,), (256,), few).races
    assert not helpers.xray(names["neighbours"], (2,), (256,), few).races
