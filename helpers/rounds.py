"""Times of short kernels, and of programs that differ by little: in graphs, and in rounds."""

import numpy as np

from helpers import device
from helpers.timing import measure


def time_in_graph(launch):
    """Return the seconds of one of many launches that the device finds in its own queue.

    `launch()` is called a hundred times in a stream capture, and the recording replayed. On the
    stand-in and at small sizes there are three.
    """
    import cupy

    launch()  # compiled now
    count = device.pick(gpu=100, cpu=3)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        for _ in range(count):
            launch()
        graph = stream.end_capture()
    return measure(graph.launch).median / count


def in_rounds(make_jobs):
    """Time jobs by turns, in five rounds; return {name: seconds a step, one for each round}.

    `make_jobs()` returns {name: (job, steps)} with arrays of their own, which are kept to the end:
    no two rounds use the same places. Two rounds on the stand-in and at small sizes.
    """
    kept, took = [], {}
    for _ in range(device.pick(gpu=5, cpu=2)):
        kept.append(make_jobs())
        for name, (job, steps) in kept[-1].items():
            t = measure(job, n_repeat=1, min_seconds=0.01)
            took.setdefault(name, []).append(t.median / steps)
    return {name: np.array(seconds) for name, seconds in took.items()}


def spread(seconds):
    """Write rounds in microseconds: the median, and the smallest and the largest."""
    middle, low, high = (1e6 * f(seconds) for f in (np.median, np.min, np.max))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def verdict(new, old):
    """Say whether the rounds `new` were all faster than the rounds `old`, all slower, or neither.

    ValueError: their numbers differ.
    """
    if len(new) != len(old):
        raise ValueError(f"{len(new)} and {len(old)} rounds, not the same")
    ratio = np.asarray(new) / np.asarray(old)
    word = f"undecided, faster in {(ratio < 1).sum()} of {len(ratio)} rounds"
    if (ratio < 1).all() or (ratio > 1).all():
        word = f"{'faster' if ratio[0] < 1 else 'slower'} in every round"
    return f"{word}: {ratio.min():.3f} to {ratio.max():.3f} of the time"
