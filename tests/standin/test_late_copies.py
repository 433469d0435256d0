"""Copies between pinned memory and the device are late, and right programs never notice."""

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.cuda import runtime

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="how late a GPU is, nobody can promise")
NUMBERS = np.arange(37, dtype=np.float32) ** 2 - 5


def pinned(like=NUMBERS):
    array = cupyx.empty_like_pinned(like)
    array[...] = like
    return array


def stream(**options):
    return cp.cuda.Stream(**{"non_blocking": True} | options)


def test_a_result_that_is_read_too_early_is_none():
    lane, out = stream(), cupyx.empty_pinned(NUMBERS.shape, np.float32)
    device = cp.asarray(NUMBERS)
    assert device.get(stream=lane, out=out, blocking=False) is out
    assert np.isnan(out).all()
    lane.synchronize()
    assert np.array_equal(out, NUMBERS)


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float64", "complex64"])
def test_canaries_of_each_kind(dtype):
    lane, values = stream(), np.arange(5).astype(dtype)
    out = pinned(values)
    cp.asarray(values).get(stream=lane, out=out, blocking=False)
    assert not np.array_equal(out, values)
    lane.synchronize()
    assert np.array_equal(out, values)


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_that_is_read_too_early_is_the_wrong_one(flag):
    lane, host = stream(), pinned(np.array([flag]))
    device = cp.array([not flag])
    device.set(host, stream=lane)
    assert device.get(stream=stream()).item() is not flag
    out = pinned(np.array([flag]))
    assert device.get(stream=lane, out=out, blocking=False) is out
    lane.synchronize()
    assert device.get().item() is flag and out.item() is flag
    device.get(stream=lane, out=out, blocking=False)
    assert out.item() is not flag
    lane.synchronize()


def test_an_array_of_another_library_is_waited_for():
    """By the stream that it names, as the protocol has it."""
    lane, buffer = stream(), pinned()
    device = cp.zeros(37, np.float32)
    with lane:
        device.set(buffer)
        described = device.__cuda_array_interface__

    class Offer:
        __cuda_array_interface__ = described

    with stream() as other:
        twice = cp.asarray(Offer()) * 2
    assert np.array_equal(twice.get(stream=other), 2 * NUMBERS)


def test_a_buffer_that_is_filled_too_early_gives_the_new_numbers():
    lane, buffer = stream(), pinned()
    device = cp.zeros(37, np.float32)
    device.set(buffer, stream=lane)
    buffer[...] = -1
    lane.synchronize()
    assert (device.get() == -1).all()


def test_a_buffer_that_was_waited_for_may_be_filled_anew():
    lane, buffer = stream(), pinned()
    device = cp.zeros(37, np.float32)
    device.set(buffer, stream=lane)
    lane.synchronize()
    buffer[...] = -1
    assert np.array_equal(device.get(), NUMBERS)


def test_another_stream_that_does_not_wait_finds_canaries():
    lane, other, buffer = stream(), stream(), pinned()
    device = cp.zeros(37, np.float32)
    device.set(buffer, stream=lane)
    with other:
        twice = device * 2
    assert np.isnan(twice.get(stream=other)).all()


def waited_by_event(lane, other):
    other.wait_event(lane.record())


def by_the_stream(lane, other):
    lane.synchronize()


def by_the_device(lane, other):
    cp.cuda.Device().synchronize()


def by_the_hosts_event(lane, other):
    lane.record().synchronize()


def by_asking(lane, other):
    assert lane.done


@pytest.mark.parametrize(
    "wait", [waited_by_event, by_the_stream, by_the_device, by_the_hosts_event, by_asking]
)
def test_who_waits_finds_the_numbers(wait):
    lane, other, buffer = stream(), stream(), pinned()
    device = cp.zeros(37, np.float32)
    device.set(buffer, stream=lane)
    wait(lane, other)
    with other:
        twice = device * 2
    assert np.array_equal(twice.get(stream=other), 2 * NUMBERS)


@pytest.mark.parametrize("same", [True, False])
def test_what_is_read_first_is_read_before_it_is_written(same):
    lane, device, out = stream(), cp.asarray(NUMBERS), pinned(NUMBERS * 0)
    other = lane if same else stream()
    device.get(stream=lane, out=out, blocking=False)
    other.wait_event(lane.record())
    device.set(next_one := pinned(NUMBERS + 1), stream=other)  # no canaries there too early
    other.wait_event(other.record())
    more = pinned(NUMBERS * 0)
    device.get(stream=other, out=more, blocking=False)
    device.data.copy_from_host_async(out.ctypes.data, out.nbytes, other)
    out2 = device.get(stream=other, out=out, blocking=False)
    other.synchronize()
    assert np.array_equal(out2, NUMBERS) and np.array_equal(more, next_one)


def test_an_event_stands_for_what_came_before_it():
    for wait in (lambda event: event.synchronize(), lambda event: event.done):
        lane, first, second = stream(), pinned(NUMBERS * 0), pinned(NUMBERS * 0)
        device = cp.asarray(NUMBERS)
        device.get(stream=lane, out=first, blocking=False)
        event = lane.record()
        device.get(stream=lane, out=second, blocking=False)
        wait(event)
        assert np.array_equal(first, NUMBERS) and np.isnan(second).all()
        lane.synchronize()
        assert np.array_equal(second, NUMBERS)


def test_a_stream_that_waits_for_an_event_keeps_nobody_else_waiting():
    lane, other, out, device = stream(), stream(), pinned(), cp.asarray(NUMBERS)
    device.get(stream=lane, out=out, blocking=False)
    event = lane.record()
    other.wait_event(event)
    assert np.isnan(out).all()
    event.record(other)  # the stream waits for what the event was
    other.synchronize()
    assert np.array_equal(out, NUMBERS)


def test_a_stream_waits_for_no_more_than_the_event():
    lane, other, device = stream(), stream(), cp.zeros(37, np.float32)
    event = lane.record()
    device.set(pinned(), stream=lane)
    other.wait_event(event)
    with other:
        twice = device * 2
    assert np.isnan(twice.get(stream=other)).all()


KERNEL = cp.ElementwiseKernel("float32 x", "float32 z", "z = 2 * x", "late_twice")
RAW = cp.RawKernel(
    """extern "C" __global__ void late_raw(const float* x, float* z) {
    z[threadIdx.x] = 2 * x[threadIdx.x];
}""",
    "late_raw",
)


def by_raw(device):
    result = cp.empty_like(device)
    RAW((1,), (37,), (device, result))
    return result


@pytest.mark.parametrize(
    "work",
    [lambda x: x * 2, lambda x: x + x, KERNEL, by_raw, lambda x: cp.stack([x, x]).sum(0)],
)
def test_a_stream_keeps_its_order(work):
    lane, buffer, out = stream(), pinned(), cupyx.empty_pinned((37,), np.float32)
    device = cp.zeros(37, np.float32)
    with lane:
        device.set(buffer)
        work(device).get(out=out, blocking=False)
        assert np.isnan(out).all()
        device.set(buffer)
    lane.synchronize()
    assert np.array_equal(out, 2 * NUMBERS)


def test_the_null_stream_waits_for_blocking_streams_only():
    for options, is_there in (({"non_blocking": False}, True), ({}, False)):
        lane, buffer = stream(**options), pinned()
        device = cp.zeros(37, np.float32)
        device.set(buffer, stream=lane)
        assert np.array_equal((device + 0).get(), NUMBERS) == is_there
        lane.synchronize()


@pytest.mark.parametrize("on", [stream(), cp.cuda.Stream.null])
def test_ordinary_memory_is_not_late(on):
    device, host = cp.zeros(37, np.float32), NUMBERS.copy()
    device.set(host, stream=on)
    host[...] = 0
    on.synchronize()
    assert np.array_equal(device.get(), NUMBERS)


def test_ordinary_memory_comes_after_what_the_stream_was_given_before():
    lane, device, host = stream(), cp.zeros(37, np.float32), pinned()
    device.set(host, stream=lane)
    device.set(NUMBERS + 1, stream=lane)
    lane.synchronize()
    assert np.array_equal(device.get(), NUMBERS + 1)


def upload(device, host, lane):
    device.set(host, stream=lane)
    return device


def upload_bytes(device, host, lane):
    device.data.copy_from_host_async(host.ctypes.data, host.nbytes, lane)
    return device


def upload_any(device, host, lane):
    device.data.copy_from_async(host.ctypes.data, host.nbytes, lane)
    return device


def upload_by_address(device, host, lane):
    runtime.memcpyAsync(
        device.data.ptr, host.ctypes.data, host.nbytes, runtime.memcpyHostToDevice, lane.ptr
    )
    return device


def upload_new(device, host, lane):
    with lane:
        return cp.asarray(host)


UPLOADS = [upload, upload_bytes, upload_any, upload_by_address, upload_new]


@pytest.mark.parametrize("on_null", [False, True])
@pytest.mark.parametrize("way", UPLOADS)
def test_every_way_to_the_device_is_late(way, on_null):
    lane, host = cp.cuda.Stream.null if on_null else stream(), pinned()
    device = way(cp.zeros(37, np.float32), host, lane)
    with stream() as other:
        early = device * 2
    assert np.isnan(early.get(stream=other)).all()
    host += 1
    lane.synchronize()
    assert np.array_equal(device.get(), NUMBERS + 1)
    device, host[...] = way(cp.zeros(37, np.float32), host, lane), NUMBERS
    with lane:
        twice = device * 2
    assert np.array_equal(twice.get(stream=lane), 2 * NUMBERS)


def download(device, out, lane):
    device.get(stream=lane, out=out, blocking=False)


def download_bytes(device, out, lane):
    device.data.copy_to_host_async(out.ctypes.data, out.nbytes, lane)


def download_by_address(device, out, lane):
    runtime.memcpyAsync(
        out.ctypes.data, device.data.ptr, out.nbytes, runtime.memcpyDeviceToHost, lane.ptr
    )


@pytest.mark.parametrize("way", UPLOADS)
def test_memory_that_is_freed_before_it_was_copied(way):
    """CuPy's pool gives it to the next who wants as much; ``asarray`` keeps it."""
    for wanted, is_there in ((0, True), (20_000, True), (120, way is upload_new)):
        lane = stream()
        device = way(cp.zeros(37, np.float32), pinned(), lane)
        cp.cuda.alloc_pinned_memory(wanted)
        lane.synchronize()
        assert np.array_equal(device.get(), NUMBERS) == is_there
        assert np.isnan(device.get()).all() != is_there


@pytest.mark.parametrize("on_null", [False, True])
@pytest.mark.parametrize("way", [download, download_bytes, download_by_address])
def test_every_way_to_the_host_is_late(way, on_null):
    lane = cp.cuda.Stream.null if on_null else stream()
    out = cupyx.empty_pinned((2, 37), np.float32)
    way(cp.asarray(NUMBERS), out[1], lane)  # nothing else refers to that array
    cp.empty(37, np.float32)
    assert np.isnan(out[1]).all()
    lane.synchronize()
    assert np.array_equal(out[1], NUMBERS)


def test_a_copy_in_a_graph_is_late():
    lane, out = stream(), pinned()
    device = cp.asarray(NUMBERS)
    with lane:
        lane.begin_capture()
        device += 1
        download_by_address(device, out, lane)
        device += 1
        download_by_address(device, out, lane)
        graph = lane.end_capture()
    other = stream()
    graph.launch(stream=other)
    assert np.isnan(out).all()
    lane.synchronize()
    assert np.isnan(out).all()
    other.synchronize()
    assert np.array_equal(out, NUMBERS + 2)


def test_from_the_host_to_the_host_nothing_is_late():
    out = pinned(NUMBERS * 0)
    for lane in (stream(), cp.cuda.Stream.null):
        host = pinned()
        runtime.memcpyAsync(out.ctypes.data, host.ctypes.data, out.nbytes, 0, lane.ptr)
        assert np.array_equal(out, NUMBERS)


@pytest.mark.parametrize("copy", [runtime.memcpy, runtime.memcpyAsync])
def test_a_copy_by_address_to_a_variable_of_a_module(copy):
    module = cp.RawModule(code="__constant__ float of_a_module[37];")
    held = module.get_global("of_a_module")
    for host in (NUMBERS, pinned(NUMBERS + 1)):
        rest = (cp.cuda.Stream.null.ptr,) if copy is runtime.memcpyAsync else ()
        copy(held.ptr, host.ctypes.data, host.nbytes, runtime.memcpyHostToDevice, *rest)
        assert np.array_equal(cp.ndarray(37, np.float32, held).get(), host)


def test_what_waits_is_not_late():
    device, out = cp.asarray(NUMBERS), pinned(NUMBERS * 0)
    device.data.copy_to_host(out.ctypes.data, out.nbytes)
    assert np.array_equal(out, NUMBERS)
    runtime.memcpy(device.data.ptr, (more := pinned(NUMBERS + 1)).ctypes.data, out.nbytes, 1)
    more[...] = 0
    assert np.array_equal(device.get(), NUMBERS + 1)
    assert np.array_equal(device.get(out=out), NUMBERS + 1)
    more[...] = 3
    device = cp.asarray(more, blocking=True)
    more[...] = 4
    assert (device.get() == 3).all()


@pytest.mark.parametrize("change", [lambda x: x[::2], lambda x: x.astype(int), lambda x: x.T])
def test_what_the_host_copies_first_is_not_late(change):
    host = cupyx.zeros_pinned((6, 8), np.float32)
    device = cp.array(change(host) if change(host).base is not None else host, int, order="C")
    host += 1
    assert not device.get().any()


def test_the_hosts_copies_to_the_null_stream_wait_for_blocking_streams_alone():
    for options, is_there in (({"non_blocking": False}, True), ({}, False)):
        device, out = cp.zeros(37, np.float32), np.empty(37, np.float32)
        with stream(**options) as lane:
            device.set(pinned())
            device.data.copy_to_host(out.ctypes.data, out.nbytes)
        assert np.array_equal(out, NUMBERS) == is_there
        lane.synchronize()


def test_transfers_of_the_hosts_are_not_captured():
    device, host = cp.asarray(NUMBERS), pinned()
    with stream() as lane:
        lane.begin_capture()
        for copy, what in (
            (device.data.copy_from_host_async, "H2D transfers"),
            (device.data.copy_to_host_async, "D2H transfers"),
            (device.data.copy_from_host, "synchronous API calls"),
            (device.data.copy_to_host, "synchronous API calls"),
        ):
            with pytest.raises(RuntimeError, match=f"is capturing, so {what} are disallowed"):
                copy(host.ctypes.data, host.nbytes)
        lane.end_capture()


@pytest.mark.parametrize(
    "work",
    [
        lambda x: cp.array([x, x])[0],
        lambda x: x[cp.arange(37)],
        lambda x: cp.arange(37)[(x * 0).astype(int) + cp.arange(37)] * 0 + x,
        lambda x: cp.apply_along_axis(lambda row: row + 0, 0, x),
        lambda x: cp.asarray(np.array(cp.array_str(x[:1]).strip("[]"), np.float32)) + x - x[0],
    ],
)
def test_what_reads_at_once_waits_for_the_stream(work):
    device = cp.zeros(37, np.float32)
    device.set(pinned())
    assert np.array_equal(work(device).get(), NUMBERS)


def test_views_of_pinned_memory_are_late_too():
    lane, buffer = stream(), cupyx.empty_pinned((3, 37), np.float32)
    device = cp.full(37, 7, np.float32)
    device.get(stream=lane, out=buffer[1], blocking=False)
    assert np.isnan(buffer[1]).all()
    lane.synchronize()
    assert (buffer[1] == 7).all()


def test_a_pipeline_of_two_buffers_that_waits_is_right():
    chunks = np.arange(12 * 37, dtype=np.float32).reshape(12, 37)
    buffers, lanes = [pinned(chunks[0]) for _ in range(2)], [stream() for _ in range(2)]
    results = cupyx.empty_pinned(chunks.shape, np.float32)
    for k, chunk in enumerate(chunks):
        lane, buffer = lanes[k % 2], buffers[k % 2]
        lane.synchronize()
        buffer[...] = chunk
        with lane:
            device = cp.empty(37, np.float32)
            device.set(buffer)
            (device * 3).get(out=results[k], blocking=False)
    cp.cuda.Device().synchronize()
    assert np.array_equal(results, 3 * chunks)


def test_what_a_stream_put_off_is_done_when_it_goes():
    device, buffer = cp.zeros(37, np.float32), pinned()
    device.set(buffer, stream=stream())
    assert np.array_equal(device.get(), NUMBERS)


def test_a_get_that_does_not_wait_is_late_on_the_null_stream_too():
    """As on an H200; into ordinary memory it is not."""
    device, out, plain = cp.asarray(NUMBERS), cupyx.empty_pinned((37,), np.float32), NUMBERS * 0
    device.get(out=plain, blocking=False)
    assert np.array_equal(plain, NUMBERS)
    for wait in (
        cp.cuda.Stream.null.synchronize,
        cp.cuda.Device().synchronize,
        cp.cuda.get_current_stream().synchronize,
        lambda: cp.cuda.Stream.null.record().synchronize(),
        lambda: device.get(),
        lambda: cp.asnumpy(device),
    ):
        assert device.get(out=out, blocking=False) is out
        assert np.isnan(out).all()
        wait()
        assert np.array_equal(out, NUMBERS)


def test_the_null_streams_copies_and_blocking_streams_keep_their_order():
    first, second = (cupyx.empty_pinned((37,), np.float32) for _ in range(2))
    device, lane = cp.asarray(NUMBERS), cp.cuda.Stream()
    device.get(out=first, blocking=False)
    device.get(out=second, blocking=False)
    assert np.isnan(first).all() and np.isnan(second).all()
    with lane:
        device += 1  # waits for the null stream's copies
    assert np.array_equal(first, NUMBERS) and np.array_equal(second, NUMBERS)
    with lane:
        device.set(pinned(NUMBERS * 2))
    device.get(out=first, blocking=False)  # waits for that one
    other = stream()
    with other:
        cp.zeros(3)  # waits for nobody
    assert np.isnan(first).all()
    lane.synchronize()  # it has no work behind that
    assert np.isnan(first).all()
    lane.record().synchronize()  # now it has
    assert np.array_equal(first, NUMBERS * 2)
