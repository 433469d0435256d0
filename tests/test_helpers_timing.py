"""The clock is right, waits, repeats as said, and knows what it measured on."""

import time

import numpy as np
import pytest

import helpers
from helpers import device


class Counted:
    def __init__(self, seconds=0.0):
        self.calls, self.seconds = 0, seconds

    def __call__(self):
        self.calls += 1
        time.sleep(self.seconds)


@pytest.fixture(autouse=True)
def full_sizes(monkeypatch):
    monkeypatch.delenv("HELPERS_SIZES", raising=False)


@pytest.mark.parametrize("how", [{"clock": "device"}, {"clock": "host"}, {"where": "cpu"}])
def test_a_known_sleep_is_measured(how):
    timing = helpers.measure(lambda: time.sleep(0.02), n_repeat=3, **how)
    assert 0.0199 < timing.median < 0.06
    assert timing.low <= timing.median <= timing.high
    assert timing.samples.shape == (3,)


def test_short_work_is_looped_over_and_long_work_is_not(monkeypatch):
    now = [0.0]  # a clock that only the work moves: a busy machine changes nothing
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    short, long = Counted(1e-5), Counted(0.003)
    helpers.measure(short, where="cpu", n_warmup=2, n_repeat=5, min_seconds=2e-3)
    assert short.calls > 50
    assert 5 * 2e-3 < 1e-5 * (short.calls - 2)  # every sample lasts as long as was asked
    helpers.measure(long, where="cpu", n_warmup=2, n_repeat=5, min_seconds=2e-3)
    assert long.calls == 2 + 1 + 5  # warm-up, one to size the loop, five samples


def test_time_per_call_does_not_depend_on_the_loop():
    timing = helpers.measure(Counted(0.001), where="cpu", n_repeat=3, min_seconds=0.02)
    assert 0.001 < timing.median < 0.004


def test_small_sizes_run_once(monkeypatch):
    monkeypatch.setenv("HELPERS_SIZES", "cpu")
    work = Counted()
    timing = helpers.measure(work, n_repeat=10)
    assert work.calls == 1 and len(timing.samples) == 1


def test_the_result_knows_its_device():
    on_device = helpers.measure(Counted(), n_repeat=1)
    assert on_device.device == device.device_name()
    if not helpers.on_gpu:
        assert on_device.device == "CPU stand-in, no GPU"
    on_cpu = helpers.measure(Counted(), where="cpu", n_repeat=1)
    assert on_cpu.device == device.cpu_name() and on_cpu.clock == "host"


@pytest.mark.parametrize(
    "bad",
    [{"clock": "wall"}, {"where": "gpu"}, {"n_repeat": 0}, {"n_warmup": -1}, {"min_seconds": -1}],
)
def test_bad_input(bad):
    with pytest.raises(ValueError):
        helpers.measure(lambda: None, **bad)


def test_an_error_in_the_work_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        helpers.measure(lambda: 1 / 0, where="cpu")


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0.03375, "33.75 ms"),
        (75, "75.00 s"),
        (999.96e-6, "1.000 ms"),
        (4.8e-6, "4.800 µs"),
        (1e-9, "1.000 ns"),
        (3e-10, "0.3000 ns"),
        (1234.5, "1234 s"),
    ],
)
def test_seconds(seconds, text):
    assert helpers.format_seconds(seconds) == text


def test_rates():
    assert helpers.format_rate(2.966e12) == "2.966 TB/s"
    assert helpers.format_rate(60.6e12, "FLOP/s") == "60.60 TFLOP/s"
    assert helpers.format_rate(12.0) == "12.00 B/s"


def test_text():
    samples = np.array([33.5, 33.75, 34.0]) / 1e3
    text = str(helpers.Timing(samples, "A GPU", "device"))
    assert text == "33.75 ms (33.62 to 33.88, 3 runs, A GPU)"
    text = str(helpers.Timing(np.array([0.0009, 0.001, 0.0011]), "A GPU", "device"))
    assert text == "1.000 ms (950.0 µs to 1.050 ms, 3 runs, A GPU)"
