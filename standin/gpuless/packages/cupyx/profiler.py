"""``benchmark`` and profiler ranges. Everything timed here is work of the CPU, and says so."""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import time

import numpy as np
from cupy.cuda import nvtx, runtime


class _PerfCaseResult:
    """Times of one benchmark, in seconds.

    ``cpu_times`` has shape ``(n_repeat,)``; ``gpu_times`` ``(len(devices), n_repeat)``, and holds
    the same times: the work is done on the CPU before the call returns.
    """

    def __init__(self, name: str, ts: np.ndarray, devices: tuple[int, ...]):
        assert ts.ndim == 2
        assert ts.shape[0] == len(devices) + 1
        assert ts.shape[1] > 0
        self.name = name
        self._ts = ts
        self._devices = devices

    @property
    def cpu_times(self) -> np.ndarray:
        return self._ts[0]

    @property
    def gpu_times(self) -> np.ndarray:
        return self._ts[1:]

    @staticmethod
    def _to_str_per_item(device_name: str, t: np.ndarray) -> str:
        micro = t * 1e6
        text = f"    {device_name}: {micro.mean():9.03f} us"
        if t.size > 1:
            text += f"   +/- {micro.std():6.03f} "
            text += f"(min: {micro.min():9.03f} / max: {micro.max():9.03f}) us"
        return text

    def to_str(self, show_gpu: bool = False) -> str:
        parts = [self._to_str_per_item("CPU", self._ts[0])]
        if show_gpu:
            parts += [
                self._to_str_per_item(f"CPU standing in for GPU-{device}", times)
                for device, times in zip(self._devices, self._ts[1:], strict=True)
            ]
        return f"{self.name:<20s}:{' '.join(parts)}"

    def __str__(self) -> str:
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func,
    args=(),
    kwargs={},  # noqa: B006  (CuPy's signature; never changed)
    n_repeat=10000,
    *,
    name=None,
    n_warmup=10,
    max_duration=math.inf,
    devices=None,
) -> _PerfCaseResult:
    """Time ``func(*args, **kwargs)``: ``n_warmup`` calls untimed, then at most ``n_repeat``.

    Stops early once ``max_duration`` seconds are used. Raises ValueError for arguments of a wrong
    type.
    """
    if name is None:
        name = func.__name__
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    if devices is None:
        devices = (runtime.getDevice(),)
    for value, kind, message in (
        (args, tuple, "`args` should be of tuple type."),
        (kwargs, dict, "`kwargs` should be of dict type."),
        (n_repeat, int, "`n_repeat` should be an integer."),
        (name, str, "`name` should be a string."),
        (n_warmup, int, "`n_warmup` should be an integer."),
        (max_duration, numbers.Real, "`max_duration` should be given in seconds"),
        (devices, tuple, "`devices` should be of tuple type"),
    ):
        if not isinstance(value, kind):
            raise ValueError(message)
    current = runtime.getDevice()
    for device in devices:  # CuPy has events on each
        runtime.setDevice(device)
    runtime.setDevice(current)
    for _ in range(n_warmup):
        func(*args, **kwargs)
    times: list[float] = []
    spent = 0.0
    while len(times) < n_repeat and spent <= max_duration:
        start = time.perf_counter()
        func(*args, **kwargs)
        times.append(time.perf_counter() - start)
        runtime.deviceSynchronize()
        spent += times[-1]
    return _PerfCaseResult(name, np.array([times] * (1 + len(devices))), devices)


@contextlib.contextmanager
def profile():
    """Mark a region for NVIDIA's profilers; there is none here."""
    runtime.profilerStart()
    try:
        yield
    finally:
        runtime.profilerStop()


class time_range:
    """Name a region for NVIDIA's profilers; there is none here."""

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        if color_id is not None and argb_color is not None:
            raise ValueError("Only either color_id or argb_color can be specified")
        self.message, self.sync = message, sync
        self._color, self._argb = -1 if color_id is None else color_id, argb_color

    def __enter__(self):
        if self.message is None:
            raise ValueError("where it is no decorator, a time_range has a message")
        if self.sync:
            runtime.deviceSynchronize()
        if self._argb is None:
            nvtx.RangePush(self.message, self._color)
        else:
            nvtx.RangePushC(self.message, self._argb)
        return self

    def __exit__(self, *exc) -> None:
        if self.sync:
            runtime.deviceSynchronize()
        nvtx.RangePop()

    def __call__(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if self.message is None:
                self.message = function.__name__
            with self:
                return function(*args, **kwargs)

        return call
