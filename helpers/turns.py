"""Time several jobs by turns, so that they meet the same clock rate of the device.

A GPU changes its clock with load and temperature. Two times taken a minute apart cannot be
compared to a percent; the ratio of two from one round can.
"""

import numpy as np

from helpers import device

SECONDS, MOST_ROUNDS = 0.2, 100


def by_turns(jobs, least=10):
    """Call each of `jobs`, functions without arguments, once a round; return their seconds.

    The result has the shape (rounds, jobs), float64: CUDA events around every call. Each round has
    another order. There are as many rounds as fill 0.2 s, at least `least` and at most 100; half
    as many before them, which warm up, are left out. Without a GPU there is one round.
    """
    warm = _rounds(jobs, 1 if device.small_sizes() else 2)
    if device.small_sizes() or not device.on_gpu:
        return warm[-1:]
    count = int(np.clip(SECONDS / warm[-1].sum(), least, MOST_ROUNDS))
    return _rounds(jobs, count + count // 2)[count // 2 :]


def _rounds(jobs, count):
    """Ask for all rounds at once: with large jobs the device's queue never runs empty."""
    import cupy

    rng = np.random.default_rng(38)
    pairs = [[(cupy.cuda.Event(), cupy.cuda.Event()) for _ in jobs] for _ in range(count)]
    for row in pairs:
        for place in rng.permutation(len(jobs)):
            start, stop = row[place]
            start.record()
            jobs[place]()
            stop.record()
    device.synchronise()
    ms = [[cupy.cuda.get_elapsed_time(*pair) for pair in row] for row in pairs]
    return np.array(ms) / 1e3


def against_last(seconds):
    """Return the quartiles of the last job's time over each other's, round by round.

    `seconds` are (rounds, jobs), as from `by_turns`; the result is (jobs - 1, 3): lower quartile,
    median, upper quartile. Above 1: faster than the last job.
    """
    ratios = seconds[:, -1:] / seconds[:, :-1]
    return np.quantile(ratios, (0.25, 0.5, 0.75), axis=0).T


def spread(quartiles, digits=3):
    """Write three quartiles as "median (lower to upper)"."""
    low, middle, high = quartiles
    return f"{middle:#.{digits}g} ({low:#.{digits}g} to {high:#.{digits}g})"


def alone(job, seconds=2.0, queued=0.05):
    """Return the seconds of a `job()` that runs alone for `seconds`, from its last quarter.

    So long a run lowers the clock as far as the device's power asks for. No more than about
    `queued` seconds of work, and at most a hundred jobs, wait in the queue. Without a GPU it runs
    once.
    """
    import cupy

    each = float(np.median(by_turns([job])))
    small = device.small_sizes() or not device.on_gpu
    calls = 1 if small else int(seconds / each) + 1
    room, events = min(100, 1 + int(queued / each)), []
    for k in range(calls + 1):
        if k:
            job()
        events.append(cupy.cuda.Event())
        events[-1].record()
        events[max(0, k - room)].synchronize()
    events[-1].synchronize()
    first = 3 * calls // 4
    return cupy.cuda.get_elapsed_time(events[first], events[-1]) / 1e3 / (calls - first)
