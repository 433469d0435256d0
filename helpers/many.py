"""Several devices at once: a clock that waits for all of them, sums by copies, the rate of a link.

A place has a `device` and a `stream`, and is entered by `with`: chapter 90's Place.
"""

import time

import cupy as cp
import numpy as np

from helpers import device
from helpers.timing import Timing


def wait():
    """Wait until all devices have done what they were given."""
    for number in range(cp.cuda.runtime.getDeviceCount()):
        cp.cuda.Device(number).synchronize()


def on_each(places, make):
    """Return what make() makes at each place, as a list."""
    made = []
    for place in places:
        with place:
            made.append(make())
    return made


def seconds_of(f, n_calls):
    """Return the seconds of a call of f(), of n_calls in a row, from idle devices to idle ones."""
    wait()
    start = time.perf_counter()
    for _ in range(n_calls):
        f()
    wait()
    return (time.perf_counter() - start) / n_calls


def timing(f):
    """Return a Timing of f() by the host's clock, which waits for all devices.

    f() is called 5 to 200 times in a row, as long as they take 0.3 s together, in 3 to 5 rounds.
    """
    f()
    n_calls = int(min(max(5, 0.3 / seconds_of(f, 1)), 200))
    n_calls, n_rounds = device.pick(gpu=(n_calls, 5 if n_calls > 10 else 3), cpu=(1, 1))
    samples = [seconds_of(f, n_calls) for _ in range(n_rounds)]
    return Timing(np.array(samples), device.device_name(), "host")


def seconds_to_ask(f):
    """Return the seconds in which Python asks for f(), all queues empty: the median of some."""
    samples = []
    for _ in range(device.pick(gpu=7, cpu=1)):
        wait()
        start = time.perf_counter()
        f()  # nobody is waited for
        samples.append(time.perf_counter() - start)
    wait()
    return float(np.median(samples))


def check_sums(arrays):
    """Refuse what NCCL cannot take before it is asked: ValueError.

    arrays  a list of arrays for each rank
    """
    for a in (a for mine in arrays for a in mine):
        in_one_piece = a.flags.c_contiguous or a.flags.f_contiguous
        if not in_one_piece or a.dtype not in (np.dtype("f4"), np.dtype("f8")):
            raise ValueError(f"contiguous floats, not {a.dtype} with strides {a.strides}")


def sum_by_copies(places, arrays):
    """All to the first place, added up there, and copied back; arrays as for `check_sums`."""
    wait()
    for same in zip(*arrays, strict=True):
        with places[0]:
            total = sum(cp.asarray(a) for a in same)
        wait()
        for place, a in zip(places, same, strict=True):
            with place:
                a[...] = cp.asarray(total)
        wait()


def open_peers(places):
    """Let all devices of the places touch each other's memory; False where they cannot."""
    numbers = sorted({place.device.id for place in places})
    for a, b in ((a, b) for a in numbers for b in numbers if a != b):
        if not cp.cuda.runtime.deviceCanAccessPeer(a, b):
            return False
        with cp.cuda.Device(a):
            try:
                cp.cuda.runtime.deviceEnablePeerAccess(b)
            except cp.cuda.runtime.CUDARuntimeError as error:
                if error.status != 704:  # it has access already
                    raise
    return True


def copy_rate(places):
    """Return the bytes a second of a large copy from the first place's device to the second's.

    By the direct way where there is one; without peer access a copy goes through the host.
    """
    open_peers(places[:2])
    n_bytes = device.pick(gpu=2**28, cpu=2**12)
    source, to = on_each(places[:2], lambda: cp.ones(n_bytes, cp.uint8))
    numbers = [place.device.id for place in places[:2]]

    def copy_over():
        route = to.data.ptr, numbers[1], source.data.ptr, numbers[0], n_bytes
        cp.cuda.runtime.memcpyPeerAsync(*route, places[1].stream.ptr)

    return n_bytes / timing(copy_over).median


def in_graph(places, f):
    """Return a Timing of f() in a CUDA graph over all places, from launches of a hundred of it.

    f() puts work into the streams of the places. None where it cannot be recorded.
    """
    copies = device.pick(gpu=100, cpu=1)
    f()  # kernels are loaded and ranks connected by the first call, which no graph can hold
    wait()
    first, *others = places
    with first:
        first.stream.begin_capture()
        try:
            start = first.stream.record()
            for place in others:
                place.stream.wait_event(start)
            for _ in range(copies):
                f()
            for place in others:
                with place:
                    end = place.stream.record()
                first.stream.wait_event(end)
        except BaseException as error:
            try:
                first.stream.end_capture()
            except cp.cuda.runtime.CUDARuntimeError:
                pass  # the capture is over either way; the first error is the one to see
            if isinstance(error, NotImplementedError):
                return None
            raise
        graph = first.stream.end_capture()
    t = timing(lambda: graph.launch(first.stream))
    return Timing(t.samples / copies, t.device, t.clock)
