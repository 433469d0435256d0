"""The host, measured: how long one small array operation takes from Python.

Chapters time work that waits for the host, so a recording says how fast the host was, and whether
something else kept it busy.
"""

from helpers import timing

ELEMENTS = 1_000
WARMUP = 20_000  # a good tenth of a second: the clocks of an idle machine rise first
SAMPLES = 200
LIMIT = (
    1.5  # a quartile or a median above this many times its median is no spread but a disturbance
)


def measure():
    """Time a + a on 1,000 elements, host clock; return its median, low and high quartile in µs."""
    import cupy

    a = cupy.ones(ELEMENTS, dtype=cupy.float32)
    found = timing.measure(lambda: a + a, clock="host", n_warmup=WARMUP, n_repeat=SAMPLES)
    values = {"median": found.median, "low": found.low, "high": found.high}
    return {name: round(1e6 * seconds, 3) for name, seconds in values.items()}


def disturbed(before, after):
    """Say whether two measurements of the host, one on each side of a run, show a disturbance.

    They do when one scatters (its upper quartile is above 1.5 times its median), or when they
    differ (one's median is above 1.5 times the other's).
    """
    medians = sorted(found["median"] for found in (before, after))
    scattered = any(found["high"] > LIMIT * found["median"] for found in (before, after))
    return scattered or medians[1] > LIMIT * medians[0]


def text(receipt):
    """Return what `receipt` says of the host, in words; None when it says nothing."""
    if "host_us" not in receipt:
        return None
    found = [receipt["host_us"][when] for when in ("before", "after")]
    before, after = (f"{m['median']:.3g} ({m['low']:.3g} to {m['high']:.3g})" for m in found)
    verdict = "the host was disturbed: " if receipt["disturbed"] else ""
    return f"{verdict}{before} µs before, {after} µs after"
