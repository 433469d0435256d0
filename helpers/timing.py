"""One way of timing for the whole book: warm up, wait for the device, repeat, show the spread."""

import math
import time
from dataclasses import dataclass

import numpy as np

from helpers import device


@dataclass(frozen=True)
class Timing:
    """Seconds per call, one sample a run, with the device they were measured on and the clock."""

    samples: np.ndarray  # (runs,) float64, seconds per call
    device: str
    clock: str  # "device" or "host"

    @property
    def median(self):
        """Median of the samples, in seconds."""
        return float(np.median(self.samples))

    @property
    def low(self):
        """Lower quartile of the samples, in seconds."""
        return float(np.quantile(self.samples, 0.25))

    @property
    def high(self):
        """Upper quartile of the samples, in seconds."""
        return float(np.quantile(self.samples, 0.75))

    def __str__(self):
        low, high = format_seconds(self.low), format_seconds(self.high)
        if low.split()[1] == high.split()[1] == format_seconds(self.median).split()[1]:
            low, high = low.split()[0], high.split()[0]
        runs = f"{len(self.samples)} run{'s' if len(self.samples) > 1 else ''}"
        return f"{format_seconds(self.median)} ({low} to {high}, {runs}, {self.device})"


def measure(f, *, clock="device", where="device", n_warmup=2, n_repeat=10, min_seconds=1e-3):
    """Time `f()`, which takes no arguments, and return a Timing.

    Each of the `n_repeat` samples times a loop over as many calls as last `min_seconds` (one, if
    one does), after `n_warmup` calls that are not counted. The first call of a kernel compiles it.

    clock="device" reads CUDA events recorded before and after the loop: what the device needs.
    clock="host" reads the host's clock and waits for the device before and after: what the caller
    waits. where="cpu" is for work which the device has no part in, NumPy's for example: host clock,
    no waiting, and the CPU's name on the result.

    With HELPERS_SIZES=cpu there is one run of one call, and on the stand-in, whose times mean
    nothing, at most three runs of one call.
    """
    if clock not in ("device", "host") or where not in ("device", "cpu"):
        raise ValueError(
            f"clock is 'device' or 'host', where is 'device' or 'cpu'; got {clock!r}, {where!r}"
        )
    if n_repeat < 1 or n_warmup < 0 or min_seconds < 0:
        raise ValueError("n_repeat must be at least 1, n_warmup and min_seconds not negative")
    if where == "cpu":
        clock, name = "host", device.cpu_name()
    else:
        name = device.device_name()
    if device.small_sizes():
        n_warmup, n_repeat, min_seconds = 0, 1, 0
    elif where == "device" and not device.on_gpu:
        n_warmup, n_repeat, min_seconds = min(n_warmup, 1), min(n_repeat, 3), 0

    run = _by_events if clock == "device" else _by_host_clock
    wait = device.synchronise if where == "device" else lambda: None
    for _ in range(n_warmup):
        f()
    calls = 1
    if min_seconds:
        # Grow the loop until it lasts long enough for the clock.
        while (seconds := run(f, calls, wait)) < min_seconds and calls < 100_000:
            calls = min(
                max(2 * calls, math.ceil(1.2 * calls * min_seconds / max(seconds, 1e-9))), 100_000
            )
    samples = np.array([run(f, calls, wait) / calls for _ in range(n_repeat)])
    return Timing(samples, name, clock)


def _by_events(f, calls, wait):
    import cupy

    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    wait()
    start.record()
    for _ in range(calls):
        f()
    stop.record()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) / 1e3  # it counts milliseconds


def _by_host_clock(f, calls, wait):
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        f()
    wait()
    return time.perf_counter() - start


def format_seconds(seconds):
    """Write a time in seconds with four digits and its unit: 0.03375 becomes "33.75 ms"."""
    return _with_prefix(seconds, "s", ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")))


def format_rate(rate, unit="B/s"):
    """Write a rate in `unit` with four digits and a decimal prefix: 2.966e12 becomes "2.966 TB/s".

    `unit` is "B/s" for bytes or "FLOP/s" for floating-point operations a second.
    """
    prefixes = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    return _with_prefix(rate, unit, prefixes)


def _with_prefix(value, unit, prefixes):
    size = float(f"{abs(value):.3e}")  # rounded first, so that 999.96 µs is 1.000 ms
    scale, prefix = next((pair for pair in prefixes if size >= pair[0]), prefixes[-1])
    return f"{value / scale:#.4g}".rstrip(".") + f" {prefix}{unit}"
