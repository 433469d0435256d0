"""Devices, streams, events, graphs, and the profiler's benchmark."""

import cupy as cp
import cupyx.profiler
import numpy as np
import pytest
from cupy.cuda.runtime import CUDARuntimeError

CAPTURING = "cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing"


@pytest.fixture
def two_devices(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")


@pytest.fixture
def stream():
    made = cp.cuda.Stream(non_blocking=True)
    yield made
    if made.is_capturing():
        made.end_capture()


def test_current_stream():
    null = cp.cuda.Stream.null
    assert cp.cuda.get_current_stream() is null and null.ptr == 0
    a, b = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    assert a != b and b.is_non_blocking and not a.is_non_blocking
    with a:
        assert cp.cuda.get_current_stream() is a
        with b:
            assert cp.cuda.get_current_stream() is b
        assert cp.cuda.get_current_stream() is a
    assert cp.cuda.get_current_stream() is null
    a.use()
    assert cp.cuda.get_current_stream() is a
    null.use()
    assert repr(null) == "<Stream 0 (device -1)>"


def test_events_measure_time():
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    cp.linalg.svd(cp.ones((60, 60)))
    end.record()
    end.synchronize()
    assert 0 < cp.cuda.get_elapsed_time(start, end) < 60_000
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        cp.cuda.get_elapsed_time(start, cp.cuda.Event())
    with pytest.raises(CUDARuntimeError):
        cp.cuda.get_elapsed_time(cp.cuda.Event(disable_timing=True), end)


def test_a_graph_replays_what_was_captured(stream):
    x = cp.arange(4.0)
    y = cp.zeros(4)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        z = x * 2  # new memory, filled at each launch
        y += z
        y[0] = 7
        total = y.sum()
        picked = y[cp.array([3, 1])]
        cp.copyto(z, 1)
        graph = stream.end_capture()
    assert y.tolist() == [0, 0, 0, 0], "nothing runs while capturing"
    assert np.isnan(float(total))
    graph.upload()
    graph.launch(stream=stream)
    assert y.tolist() == [7, 2, 4, 6]
    x += 1
    graph.launch()
    stream.synchronize()
    assert y.tolist() == [7, 6, 10, 14]
    assert float(total) == 37 and picked.tolist() == [14, 6]
    assert z.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "wait",
    [
        lambda a, s: a.get(),
        lambda a, s: float(a[0]),
        lambda a, s: bool(a[0] > 0),
        lambda a, s: print(a),
        lambda a, s: cp.nonzero(a),
        lambda a, s: a[a > 1],
        lambda a, s: s.synchronize(),
        lambda a, s: cp.cuda.Device().synchronize(),
        lambda a, s: cp.cuda.runtime.deviceSynchronize(),
        lambda a, s: cp.asnumpy(a),
    ],
)
def test_what_waits_for_the_device_is_refused_while_capturing(stream, wait):
    a = cp.ones(3)
    with stream:
        stream.begin_capture()
        with pytest.raises(CUDARuntimeError) as caught:
            wait(a, stream)
        stream.end_capture()
    assert str(caught.value) == CAPTURING


def test_a_second_stream_joins_a_capture(stream):
    other = cp.cuda.Stream(non_blocking=True)
    a = cp.zeros(2)
    with stream:
        stream.begin_capture()
        other.wait_event(stream.record())
        with other:
            assert other.is_capturing()
            a += 1
            done = other.record()
        stream.wait_event(done)
        graph = stream.end_capture()
    assert not other.is_capturing()
    assert a.tolist() == [0, 0]
    graph.launch()
    assert a.tolist() == [1, 1]


def test_capture_errors():
    with pytest.raises(RuntimeError, match="cannot capture on the default"):
        cp.cuda.Stream.null.begin_capture()
    with pytest.raises(NotImplementedError, match="must be created via stream capture"):
        cp.cuda.Graph()
    with pytest.raises(CUDARuntimeError):
        cp.cuda.Stream().end_capture()


def test_host_functions_and_callbacks(stream):
    seen = []
    stream.launch_host_func(seen.append, 1)
    stream.add_callback(lambda s, status, arg: seen.append((s is stream, status, arg)), 2)
    with stream:
        stream.begin_capture()
        stream.launch_host_func(seen.append, 3)
        graph = stream.end_capture()
    assert seen == [1, (True, 0, 2)]
    graph.launch()
    assert seen[-1] == 3


def test_logical_devices(two_devices):
    assert cp.cuda.runtime.getDeviceCount() == 2
    with cp.cuda.Device(1) as device:
        assert cp.cuda.Device() == device == cp.cuda.Device(1)
        b = cp.ones(3)
        s = cp.cuda.Stream()
    assert cp.cuda.Device().id == 0
    assert b.device.id == 1 and b[1:].device.id == 1
    with pytest.warns(cp._core.PerformanceWarning, match=r"resides \(1\) is different from the"):
        c = b + 1
    assert c.device.id == 0
    assert cp.asarray(b).device.id == 0
    with pytest.raises(RuntimeError, match=r"created on \(1\) does not match with the current"):
        s.use()
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice: invalid device ordinal"):
        cp.cuda.Device(2).use()
    assert cp.cuda.runtime.deviceCanAccessPeer(0, 1) == 1


def test_one_device_by_default(monkeypatch):
    monkeypatch.delenv("CUPY_STANDIN_DEVICES", raising=False)
    assert cp.cuda.runtime.getDeviceCount() == 1
    with pytest.raises(CUDARuntimeError):
        cp.cuda.Device(1).use()


def test_benchmark_counts_and_labels():
    calls = []
    result = cupyx.profiler.benchmark(calls.append, (1,), n_repeat=5, n_warmup=2, name="append")
    assert len(calls) == 7
    assert result.cpu_times.shape == (5,) and result.gpu_times.shape == (1, 5)
    text = str(result)
    assert text.startswith("append              :    CPU:")
    assert "CPU standing in for GPU-0:" in text
    slow = cupyx.profiler.benchmark(lambda: sum(range(1000)), name="s", max_duration=0.001)
    assert 1 <= slow.cpu_times.size < 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"func": None}, "`func` should be a callable object."),
        ({"args": [1]}, "`args` should be of tuple type."),
        ({"kwargs": ()}, "`kwargs` should be of dict type."),
        ({"n_repeat": 1.5}, "`n_repeat` should be an integer."),
        ({"n_warmup": "1"}, "`n_warmup` should be an integer."),
        ({"name": 3}, "`name` should be a string."),
        ({"max_duration": "1"}, "`max_duration` should be given in seconds"),
        ({"devices": [0]}, "`devices` should be of tuple type"),
    ],
)
def test_benchmark_checks_its_arguments(arguments, message):
    arguments = {"func": int, "name": "int", **arguments}
    with pytest.raises(ValueError) as caught:
        cupyx.profiler.benchmark(**arguments)
    assert str(caught.value) == message


def test_ranges_do_nothing():
    with cupyx.profiler.profile(), cupyx.profiler.time_range("part"):
        cp.cuda.nvtx.RangePush("x")
        cp.cuda.nvtx.RangePop()

    @cupyx.profiler.time_range()
    def f():
        return 3

    assert f() == 3
