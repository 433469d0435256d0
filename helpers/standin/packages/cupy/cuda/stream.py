"""Streams, events and graphs on a machine where all work is done at once.

Work on every stream runs when it is submitted. The one thing that waits is a capture: between
``begin_capture`` and ``end_capture`` work goes into the graph and runs at each ``launch``.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable

from cupy.cuda import runtime

_local = threading.local()
_numbers = itertools.count(1)
_by_pointer: weakref.WeakValueDictionary[int, Stream] = weakref.WeakValueDictionary()


class _Capture:
    """The work captured so far, the stream that began, and those that joined by its events."""

    def __init__(self, owner: Stream):
        self.work: list[Callable[[], None]] = []
        self.streams = [owner]


class Graph:
    """Captured work; ``launch`` does all of it in the order in which it was captured."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "currently this class cannot be initiated by the user and must be created via stream "
            "capture"
        )

    @classmethod
    def _from_work(cls, work: list[Callable[[], None]]) -> Graph:
        graph = cls.__new__(cls)
        graph._work = work
        return graph

    def launch(self, stream=None) -> None:
        current = get_current_stream() if stream is None else stream
        if current._capture is not None:  # a graph launched inside a capture becomes part of it
            current._capture.work.extend(self._work)
            return
        for work in self._work:
            work()

    def upload(self, stream=None) -> None:
        """Nothing to prepare."""


class Event:
    """A moment on the host's clock; it belongs to the device that is current when it is made."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.ptr = next(_numbers)
        self._device_id = runtime.getDevice()
        self._timed = not disable_timing
        self._time: float | None = None
        self._capture: _Capture | None = None

    done = True

    def record(self, stream=None) -> None:
        current = get_current_stream() if stream is None else stream
        of = runtime.getDevice() if current.device_id == -1 else current.device_id
        if of != self._device_id:
            raise runtime.CUDARuntimeError(400)
        self._capture = current._capture
        self._time = None if self._capture is not None else time.perf_counter()

    def synchronize(self) -> None:
        if self._capture is not None:
            raise runtime.CUDARuntimeError(900)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two recorded events of one device, by the host's clock."""
    if start_event._device_id != end_event._device_id:
        raise runtime.CUDARuntimeError(400)
    for event in (start_event, end_event):
        if not event._timed or event._time is None:
            raise runtime.CUDARuntimeError(400)
    return (end_event._time - start_event._time) * 1e3


class Stream:
    """``Stream()`` makes a new stream; ``Stream.null`` is the default one.

    ``device_id`` is -1 for the null streams, which every device has.
    """

    null: Stream
    ptds: Stream

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        if null or ptds:
            self.ptr, self.device_id = 0 if null else 2, -1
        else:
            self.ptr, self.device_id = 0x1000 + 16 * next(_numbers), runtime.getDevice()
        _by_pointer.setdefault(self.ptr, self)
        self.is_non_blocking = bool(non_blocking)
        self.priority = priority or 0
        self._capture: _Capture | None = None

    def __eq__(self, other) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device {self.device_id})>"

    def _check_device(self) -> int:
        current = runtime.getDevice()
        if self.device_id not in (-1, current):
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with "
                f"the current device ({current})"
            )
        return current

    def __enter__(self):
        device = self._check_device()
        _stack().append((device, get_current_stream(device)))
        _currents()[device] = self
        return self

    def __exit__(self, *args) -> None:
        device, before = _stack().pop()
        _currents()[device] = before

    def use(self):
        _currents()[self._check_device()] = self
        return self

    done = True

    def synchronize(self) -> None:
        if self._capture is not None:
            raise runtime.CUDARuntimeError(900)

    def add_callback(self, callback, arg) -> None:
        if self._capture is not None:
            raise runtime.CUDARuntimeError(900)
        callback(self, 0, arg)

    def launch_host_func(self, callback, arg) -> None:
        submit(lambda: callback(arg), self)

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Order is kept anyway; waiting for a capturing stream's event joins its capture."""
        if event._capture is not None and self._capture is None:
            self._capture = event._capture
            event._capture.streams.append(self)

    def begin_capture(self, mode=None) -> None:
        if self.ptr in (0, 1):
            raise RuntimeError("cannot capture on the default (legacy) stream")
        if self._capture is not None:
            raise runtime.CUDARuntimeError(1)
        self._capture = _Capture(self)

    def end_capture(self) -> Graph:
        capture = self._capture
        if capture is None or capture.streams[0] is not self:
            raise runtime.CUDARuntimeError(1)
        for stream in capture.streams:
            stream._capture = None
        return Graph._from_work(capture.work)

    def is_capturing(self) -> bool:
        return self._capture is not None


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def _currents() -> dict[int, Stream]:
    return _local.__dict__.setdefault("current", {})


def _stack() -> list[tuple[int, Stream]]:
    return _local.__dict__.setdefault("stack", [])


def get_current_stream(device_id: int = -1) -> Stream:
    """The current stream of a device, by default of the current device."""
    device = runtime.getDevice() if device_id < 0 else device_id
    return _currents().get(device, Stream.null)


def by_pointer(ptr: int) -> Stream:
    """The stream with that ``ptr``; CUDARuntimeError (invalid resource handle) without one."""
    try:
        return _by_pointer[ptr]
    except KeyError:
        raise runtime.CUDARuntimeError(400) from None


def capturing() -> bool:
    """True when the current stream is capturing a graph."""
    current = _local.__dict__.get("current")
    return bool(current) and get_current_stream()._capture is not None


def submit(work: Callable[[], None], stream: Stream | None = None) -> None:
    """Run ``work`` now or, where ``stream`` (default: the current one) is capturing, put it off.

    Everything that changes an array's contents ends here.
    """
    if stream is None and not _local.__dict__.get("current"):
        work()  # no stream was ever made current: the null stream, which cannot capture
        return
    capture = (get_current_stream() if stream is None else stream)._capture
    if capture is None:
        work()
    else:
        capture.work.append(work)


def refuse_while_capturing() -> None:
    """Raise what CUDA raises for an operation that has to wait for the device in a capture."""
    if capturing():
        raise runtime.CUDARuntimeError(900)
