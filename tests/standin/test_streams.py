"""Devices, streams, events, graphs, and the profiler's benchmark."""

import cupy as cp
import cupyx.profiler
import numpy as np
import pytest
from cupy.cuda.runtime import CUDARuntimeError

CAPTURING = "cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing"
SPOILED = "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during"


@pytest.fixture
def two_devices(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")


@pytest.fixture
def stream():
    made = cp.cuda.Stream(non_blocking=True)
    yield made
    left_open = list(cp.cuda.stream.captures)
    cp.cuda.stream.captures.clear()
    assert not left_open


def test_current_stream():
    null = cp.cuda.Stream.null
    assert cp.cuda.get_current_stream() is null and null.ptr == 0
    with pytest.raises(IndexError):
        cp.cuda.get_current_stream(-2)
    a, b = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    assert a != b and b.is_non_blocking and not a.is_non_blocking
    with a:
        assert cp.cuda.get_current_stream() is a
        with b:
            assert cp.cuda.get_current_stream() is b
        assert cp.cuda.get_current_stream() is a
    assert cp.cuda.get_current_stream() is null
    with a:
        b.use()
        with b:
            pass
        assert cp.cuda.get_current_stream() is a, "a block ends in the block around it"
    a.use()
    assert cp.cuda.get_current_stream() is a
    null.use()
    assert repr(null) == "<Stream 0 (device -1)>"
    same = cp.cuda.Stream(null=True, non_blocking=True, priority=-1)
    assert same == null and (same.is_non_blocking, same.priority) == (False, 0)


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
    where = cp.array([3, 1])
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        z = x * 2  # new memory, filled at each launch
        y += z
        y[0] = 7
        total = y.sum()
        picked = y[where]
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
        lambda a: a.get(),
        lambda a: float(a[0]),
        lambda a: bool(a[0] > 0),
        lambda a: print(a),
        lambda a: cp.nonzero(a),
        lambda a: cp.where(a > 1),
        lambda a: cp.unique(a),
        lambda a: a.compress(a > 1),
        lambda a: a[a > 1],
        lambda a: cp.asnumpy(a),
        lambda a: cp.array([1, 2]),
        lambda a: cp.asarray(np.ones(3)),
        lambda a: a.set(np.ones(3)),
        lambda a: a[[0, 2]],
    ],
)
def test_copies_between_host_and_device_are_refused_while_capturing(stream, wait):
    a = cp.ones(3)
    with stream:
        stream.begin_capture()
        with pytest.raises(RuntimeError, match="is capturing, so (D2H|H2D) transfers are disallow"):
            wait(a)
        stream.end_capture()  # CuPy looks first, so that the capture is still good


@pytest.mark.parametrize(
    "wait",
    [
        lambda s: s.synchronize(),
        lambda s: cp.cuda.Device().synchronize(),
        lambda s: cp.cuda.runtime.deviceSynchronize(),
        lambda s: s.add_callback(print, 1),
        lambda s: s.begin_capture(),
        lambda s: s.record().synchronize(),
        lambda s: s.wait_event(cp.cuda.Stream.null.record()),
    ],
)
def test_waiting_for_the_device_spoils_a_capture(stream, wait):
    with stream:
        stream.begin_capture()
        with pytest.raises(CUDARuntimeError):
            wait(stream)
        with pytest.raises(RuntimeError, match="an error has invalidated the capture sequence"):
            stream.is_capturing()
        with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
            cp.ones(2)
        with pytest.raises(CUDARuntimeError, match=SPOILED):
            stream.end_capture()
    assert not stream.is_capturing()
    stream.synchronize()


@pytest.mark.parametrize("ask", [lambda s: s.done, lambda s: s.record().done])
def test_asking_whether_work_is_done_spoils_a_capture(stream, ask):
    assert ask(stream)
    stream.begin_capture()
    assert not ask(stream)
    with pytest.raises(CUDARuntimeError, match=SPOILED):
        stream.end_capture()
    assert ask(stream)


def test_what_a_capture_says_of_a_wait(stream):
    stream.begin_capture()
    with pytest.raises(CUDARuntimeError) as caught:
        stream.synchronize()
    assert str(caught.value) == CAPTURING
    with pytest.raises(CUDARuntimeError):
        stream.end_capture()


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("cuBLAS", lambda a, i: a @ a),
        ("cuBLAS", lambda a, i: cp.matmul(a, a)),
        ("cuBLAS", lambda a, i: a.dot(a)),
        ("cuBLAS", lambda a, i: cp.tensordot(a, a, 1)),
        ("cuBLAS", lambda a, i: cp.inner(a, a)),
        ("cuBLAS", lambda a, i: cp.einsum("ij,jk->ik", a, a)),
        ("cuBLAS", lambda a, i: i @ a),
        ("cuBLAS", lambda a, i: a[None] @ a[None]),
        ("cuBLAS", lambda a, i: cp.einsum("ij,ij->", a, a)),
        ("cuBLAS", lambda a, i: cp.einsum(a, [0, 1], a, [1, 2])),
        ("cuBLAS", lambda a, i: cp.linalg.matrix_power(a, 2)),
        ("cuSOLVER", lambda a, i: cp.linalg.inv(a)),
        ("cuSOLVER", lambda a, i: cp.linalg.solve(a, a)),
        ("cuSOLVER", lambda a, i: cp.linalg.svd(a)),
        ("cuSOLVER", lambda a, i: cp.linalg.cholesky(a)),
        ("cuSOLVER", lambda a, i: cp.linalg.eigh(a)),
        ("cuRAND", lambda a, i: cp.random.rand(3)),
        ("cuRAND", lambda a, i: cp.random.normal(size=3)),
        ("cuRAND", lambda a, i: cp.random.randint(3, size=3)),
    ],
)
def test_libraries_that_cupy_does_not_capture(stream, library, call):
    a, i = cp.ones((3, 3)), cp.ones((3, 3), int)
    with stream:
        stream.begin_capture()
        with pytest.raises(NotImplementedError, match=f"calling {library} API during stream capt"):
            call(a, i)
        stream.end_capture()
    call(a, i)


def test_products_that_need_no_library_are_captured(stream):
    rng = np.random.default_rng(0)
    host, whole = rng.random((2, 3)), rng.integers(0, 9, (2, 3))
    a, i = cp.asarray(host), cp.asarray(whole)
    with stream:
        stream.begin_capture()
        results = [
            a[0] @ a[1],
            cp.vdot(a, a),
            cp.einsum("ij,ij->ij", a, a),
            cp.einsum("ij->j", a),
            i @ i.T,
            cp.outer(a, a),
            cp.fft.fft(a),
            cp.linalg.norm(a),
        ]
        graph = stream.end_capture()
    graph.launch()
    expected = [
        host[0] @ host[1],
        np.vdot(host, host),
        host * host,
        host.sum(0),
        whole @ whole.T,
        np.outer(host, host),
        np.fft.fft(host),
        np.linalg.norm(host),
    ]
    for ours, theirs in zip(results, expected, strict=True):
        np.testing.assert_allclose(ours.get(), theirs)


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


def test_a_fork_that_is_not_joined(stream):
    other = cp.cuda.Stream(non_blocking=True)
    a = cp.zeros(2)
    stream.begin_capture()
    other.wait_event(stream.record())
    with other:
        a += 1
        early = other.record()
        a += 1
    stream.wait_event(early)  # not the last work of the other stream
    with pytest.raises(CUDARuntimeError, match="StreamCaptureUnjoined: capturing stream has unjo"):
        stream.end_capture()
    assert not stream.is_capturing() and not other.is_capturing()
    a += 1
    assert a.tolist() == [1, 1]


def test_a_capture_ends_where_it_began(stream):
    other = cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    other.wait_event(stream.record())
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureUnmatched"):
        other.end_capture()
    with pytest.raises(CUDARuntimeError, match=SPOILED):
        stream.end_capture()


def test_two_captures_do_not_merge(stream):
    other = cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    other.begin_capture()
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureMerge"):
        stream.wait_event(other.record())
    with pytest.raises(CUDARuntimeError, match=SPOILED):
        stream.end_capture()
    other.end_capture()


def test_an_event_of_a_finished_capture_joins_nothing(stream):
    stream.begin_capture()
    event = stream.record()
    stream.end_capture()
    other = cp.cuda.Stream(non_blocking=True)
    other.wait_event(event)
    assert not other.is_capturing()


def test_work_on_the_null_stream_spoils_the_capture_of_a_blocking_stream():
    blocking = cp.cuda.Stream()
    a = cp.zeros(2)
    blocking.begin_capture()
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureImplicit"):
        cp.cuda.Stream.null.is_capturing()
    assert blocking.is_capturing()
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureImplicit"):
        a += 1  # the current stream is the null stream still
    with pytest.raises(CUDARuntimeError, match=SPOILED):
        blocking.end_capture()
    a += 1
    assert a.tolist() == [1, 1]


def test_capture_errors():
    with pytest.raises(RuntimeError, match="cannot capture on the default"):
        cp.cuda.Stream.null.begin_capture()
    with pytest.raises(NotImplementedError, match="must be created via stream capture"):
        cp.cuda.Graph()
    with pytest.raises(CUDARuntimeError, match="cudaErrorIllegalState"):
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


def test_a_function_that_a_stream_calls_has_no_gpu(stream):
    x = cp.zeros(3)
    for call in (lambda arg: x.sum(), lambda arg: x.get(), lambda arg: cp.zeros(2)):
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="not permitted"):
            stream.launch_host_func(call, None)
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="not permitted"):
            stream.add_callback(lambda s, status, arg, call=call: call(arg), None)
    assert x.get().tolist() == [0, 0, 0]


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
        assert cp.cuda.nvtx.RangePush("x", id_color=3) is None
        assert cp.cuda.nvtx.RangePop() is None
    with pytest.raises(TypeError), cupyx.profiler.time_range("part", argb_color="red"):
        pass
    assert cp.cuda.nvtx.RangeEnd(cp.cuda.nvtx.RangeStart("x", None)) is None
    with pytest.raises(AttributeError):
        cp.cuda.nvtx.Mark(3)

    @cupyx.profiler.time_range()
    def f():
        return 3

    assert f() == 3


def test_a_stream_by_its_pointer():
    """As on an H200, but that a pointer to nothing is an error when it is used."""
    stream = cp.cuda.Stream(non_blocking=True)
    with pytest.warns(DeprecationWarning, match="^ExternalStream is deprecated. Use Stream.from_"):
        other = cp.cuda.ExternalStream(stream.ptr)
        nothing, null = cp.cuda.ExternalStream(12345), cp.cuda.ExternalStream(0)
    assert repr(other) == f"<ExternalStream {stream.ptr} (device -1)>"
    assert other == stream and stream == other and hash(other) == hash(stream)
    assert null == cp.cuda.Stream.null and null != stream
    assert not isinstance(other, cp.cuda.Stream)
    with other as entered:
        assert entered is other and cp.cuda.get_current_stream() == stream
        x = cp.zeros(3)
        other.begin_capture()
        x += 1
    graph = stream.end_capture()
    assert x.get().tolist() == [0, 0, 0]
    graph.launch(stream=other)
    other.synchronize()
    assert x.get(stream=other).tolist() == [1, 1, 1]
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="InvalidResourceHandle"):
        nothing.synchronize()


class Foreign:
    """A stream of another library."""

    def __init__(self, *said):
        self.said = said

    def __cuda_stream__(self):
        return self.said


def test_a_stream_of_another_library():
    stream = cp.cuda.Stream(non_blocking=True)
    owner = Foreign(0, stream.ptr)
    other = cp.cuda.Stream.from_external(owner)
    assert isinstance(other, cp.cuda.Stream) and other == stream and other.device_id == -1
    assert repr(other) == f"<Stream {stream.ptr} (device -1)>" and other.is_non_blocking
    with other:
        assert cp.cuda.get_current_stream() == stream
        x = cp.zeros(3)
        other.begin_capture()
        x += 1
        assert stream.is_capturing() and other.is_capturing()
    graph = stream.end_capture()
    assert not other.is_capturing() and x.get().tolist() == [0, 0, 0]
    graph.launch(stream=other)
    with stream:
        stream.begin_capture()
        x += 2
        graph = other.end_capture()
        graph.launch()
    assert x.get(stream=other).tolist() == [3, 3, 3]


def test_late_copies_on_a_stream_of_another_library():
    stream = cp.cuda.Stream(non_blocking=True)
    other = cp.cuda.Stream.from_external(stream)
    host = cupyx.zeros_pinned(4, "f4")
    x = cp.full(4, 3, "f4")
    x.get(stream=other, out=host, blocking=False)
    assert host.tolist() != [3] * 4
    other.synchronize()
    assert host.tolist() == [3] * 4


def test_a_stream_that_no_library_has():
    nothing = cp.cuda.Stream.from_external(Foreign(0, 12345))
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="InvalidResourceHandle"):
        nothing.synchronize()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="InvalidResourceHandle"), nothing:
        pass
    for said, why in (((), "2-tuple"), (("a", 1), "int, int"), ((1, 1), "unsupported version 1")):
        with pytest.raises(TypeError, match=why):
            cp.cuda.Stream.from_external(Foreign(*said))
    with pytest.raises(TypeError, match="type int does not implement the CUDA stream protocol"):
        cp.cuda.Stream.from_external(3)


def test_what_a_graph_is_to_make_is_not_there_before():
    stream = cp.cuda.Stream()
    with stream:
        stream.begin_capture()
        made = [cp.zeros(1000), cp.ones(1000) + 1, cp.zeros(1000).reshape(10, 100)[1:]]
        graph = stream.end_capture()
    assert all(np.isnan(array.get()).all() for array in made)
    graph.launch()
    stream.synchronize()
    assert [float(array.sum()) for array in made] == [0, 2000, 0]


def test_a_benchmark_waits_for_its_devices():
    host, device = cupyx.zeros_pinned(3), cp.ones(3)
    cupyx.profiler.benchmark(lambda: device.get(out=host, blocking=False), n_repeat=1, n_warmup=0)
    assert host.tolist() == [1, 1, 1]
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="invalid device"):
        cupyx.profiler.benchmark(len, ([],), n_repeat=1, devices=(99,))


def test_a_range_waits_for_the_device():
    x, stream = cp.arange(3), cp.cuda.Stream(non_blocking=True)
    target = cupyx.empty_pinned(3, int)
    x.get(stream=stream, out=target, blocking=False)
    with cupyx.profiler.time_range("part", sync=True):
        assert target.tolist() == [0, 1, 2]


def test_a_range_has_a_message_where_it_is_no_decorator():
    with pytest.raises(ValueError, match="message"), cupyx.profiler.time_range():
        pass


def test_a_capture_has_a_mode_of_cudas():
    stream = cp.cuda.Stream()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="invalid argument"):
        stream.begin_capture(5)
    stream.begin_capture(cp.cuda.runtime.streamCaptureModeRelaxed)
    stream.end_capture()


@pytest.mark.parametrize("mode", ["Global", "ThreadLocal", "Relaxed"])
def test_a_pool_grows_in_a_relaxed_capture_alone(stream, mode):
    cp.get_default_memory_pool().free_all_blocks()
    with stream:
        stream.begin_capture(getattr(cp.cuda.runtime, f"streamCaptureMode{mode}"))
        if mode == "Relaxed":
            cp.zeros(100_003)
            stream.end_capture()
            return
        with pytest.raises(CUDARuntimeError, match=CAPTURING):
            cp.zeros(100_003)
        with pytest.raises(CUDARuntimeError, match=SPOILED):
            stream.end_capture()


def test_an_event_of_a_graph_is_never_done(stream):
    with stream:
        stream.begin_capture()
        event = stream.record()
        stream.end_capture().launch()
    assert not event.done
    with pytest.raises(CUDARuntimeError, match="cudaErrorCapturedEvent"):
        event.synchronize()
