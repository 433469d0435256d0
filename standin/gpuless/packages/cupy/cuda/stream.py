"""Streams, events and graphs on a machine where nearly all work is done at once.

Work on every stream runs when it is submitted. Two things wait: copies to and from pinned memory
(``_late``); and a capture: between ``begin_capture`` and ``end_capture`` work goes into the graph
and runs at each ``launch``.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
import threading
import time
import weakref
from collections.abc import Callable, Iterator

from cupy.cuda import _late
from cupy.cuda._state import CUDARuntimeError, called, getDevice, getDeviceCount, use
from gpuless import not_covered

_local = threading.local()
_numbers = itertools.count(1)
_by_pointer: weakref.WeakValueDictionary[int, Stream] = weakref.WeakValueDictionary()
# The captures of graphs in progress, each alive as long as its stream.
captures: weakref.WeakSet[_Capture] = weakref.WeakSet()


class _Capture:
    """The work captured so far, and how it depends on itself.

    ``tips`` has, for each stream in the capture, the numbers of the pieces of work that its next
    piece will wait for; ``ends`` the pieces that nothing waits for yet.
    """

    def __init__(self, owner: Stream, mode: int):
        self.work: list[Callable[[], None]] = []
        self.owner, self.mode, self.thread = owner, mode, threading.get_ident()
        self.tips: dict[Stream, set[int]] = {}
        self.ends: set[int] = set()
        self.valid = True
        captures.add(self)
        self.join(owner, set())

    def join(self, stream: Stream, tips: set[int]) -> None:
        """Work of ``stream`` from now on belongs to the capture and waits for ``tips``."""
        stream._capture = self
        self.tips[stream] = self.tips.get(stream, set()) | tips

    def add(self, stream: Stream, work: list[Callable[[], None]]) -> None:
        if not self.valid:
            raise CUDARuntimeError(901)
        number = len(self.work)
        self.work += work
        self.ends = (self.ends - self.tips[stream]) | {number}
        self.tips[stream] = {number}

    def fail(self, status: int) -> CUDARuntimeError:
        """The error ``status``, after which the capture is of no use."""
        self.valid = False
        return CUDARuntimeError(status)

    def close(self) -> None:
        """Give all streams back; CUDARuntimeError where the capture cannot become a graph."""
        captures.remove(self)
        for stream in self.tips:
            stream._capture = None
        if not self.valid:
            raise CUDARuntimeError(901)
        if self.ends - self.tips[self.owner]:
            raise CUDARuntimeError(904)


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
            current._capture.add(current, self._work)
            return
        _local.launching = current
        try:
            for work in self._work:
                catch_up(current)
                work()
        finally:
            del _local.launching

    def upload(self, stream=None) -> None:
        """Nothing to prepare."""

    def debug_dot_str(self, flags=0) -> str:
        raise not_covered("cupy.cuda.Graph.debug_dot_str")


class Event:
    """A moment on the host's clock; it belongs to the device that is current when it is made."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        _ = (
            (block and 1) | (disable_timing and 2) | (interprocess and 4)
        )  # flags, as CuPy makes them
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.ptr = next(_numbers)
        self._device_id = getDevice()
        self._timed = not disable_timing
        self._time: float | None = None
        self._capture: _Capture | None = None
        self._tips: set[int] = set()
        self._stream: Stream | None = None  # the one it was recorded on last, and when
        self._moment = 0

    @property
    def done(self) -> bool:
        """True, and False of an event that is part of a graph; in the capture itself, asking is an
        error that spoils it."""
        self._catch_up()
        _spoiled(self._capture)
        return self._capture is None

    def _catch_up(self) -> None:
        if self._stream is not None and _late.is_behind():
            on = self._stream
            _late.finish(on.ptr, not on.is_non_blocking, self._moment)

    def record(self, stream=None) -> None:
        current = get_current_stream() if stream is None else stream
        of = getDevice() if current.device_id == -1 else current.device_id
        if of != self._device_id:
            raise CUDARuntimeError(400)
        self._capture, self._stream = current._capture, current
        self._moment = _late.now()
        self._time = time.perf_counter() if self._capture is None else None
        self._tips = set() if self._capture is None else set(self._capture.tips[current])

    def synchronize(self) -> None:
        _spoiled(self._capture)
        if self._capture is not None:
            raise CUDARuntimeError(907)
        self._catch_up()


def refuse_unsafe() -> None:
    """CUDARuntimeError where a capture is lost by an allocation: its mode is "global", or that of
    its thread."""
    for capture in captures:
        if capture.mode == 0 or capture.mode == 1 and capture.thread == threading.get_ident():
            raise capture.fail(900)


def _spoiled(capture: _Capture | None) -> bool:
    """Whether ``capture`` is in progress; if so it is lost, for a device was waited for."""
    if capture is not None and capture in captures:
        capture.valid = False
        return True
    return False


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two recorded events of one device, by the host's clock."""
    if start_event._device_id != end_event._device_id:
        raise CUDARuntimeError(400)
    for event in (start_event, end_event):
        if not event._timed or event._time is None:
            raise CUDARuntimeError(400)
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
            non_blocking, priority = False, 0  # they are what they are
        else:
            use()
            self.ptr, self.device_id = 0x1000 + 16 * next(_numbers), getDevice()
        _by_pointer.setdefault(self.ptr, self)
        self.is_non_blocking = bool(non_blocking)
        self.priority = min(max(operator.index(priority or 0), -5), 0)  # an H200 has six
        self._capture: _Capture | None = None

    def __eq__(self, other) -> bool:
        return self.ptr == other.ptr if isinstance(other, Stream) else NotImplemented

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device {self.device_id})>"

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version and pointer, for libraries that take any stream."""
        return 0, self.ptr

    def _check_device(self) -> int:
        current = getDevice()
        if self.device_id not in (-1, current):
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with "
                f"the current device ({current})"
            )
        return current

    def __enter__(self):
        device = self._check_device()
        _entered(device).append(self)
        _local.__dict__.setdefault("devices", []).append(device)
        _currents()[device] = self
        return self

    def __exit__(self, *args) -> None:
        device = _local.devices.pop()
        _entered(device).pop()
        # Not what `use` made current since: `with` goes back to the `with` around it, as in CuPy.
        _currents()[device] = _entered(device)[-1] if _entered(device) else Stream.null

    def use(self):
        _currents()[self._check_device()] = self
        return self

    @property
    def done(self) -> bool:
        """True, and False in a capture, where asking is an error that spoils the capture."""
        _late.finish(self.ptr, behind_null=False)
        return not _spoiled(self._capture)

    def synchronize(self) -> None:
        if _spoiled(self._capture):
            raise CUDARuntimeError(900)
        _late.finish(self.ptr, behind_null=False)

    def add_callback(self, callback, arg) -> None:
        if _spoiled(self._capture):
            raise CUDARuntimeError(900)
        catch_up(self)
        with called():
            callback(self, 0, arg)

    def launch_host_func(self, callback, arg) -> None:
        def work() -> None:
            with called():
                callback(arg)

        submit(work, self)

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What was put off before the event is done; a capturing stream's capture is joined."""
        on, moment = event._stream, event._moment
        if on is not None and _late.is_behind():

            def wait() -> None:
                _late.finish(on.ptr, not on.is_non_blocking, moment)

            if not _late.put_behind(self, wait):
                wait()
        theirs = event._capture
        if theirs is not None and theirs not in captures:
            theirs = None  # that capture is over
        if self._capture is not None and theirs is not self._capture:
            if theirs is not None:
                raise self._capture.fail(902)
            if event._time is not None:
                raise self._capture.fail(905)
        elif theirs is not None:
            theirs.join(self, event._tips)

    def begin_capture(self, mode=None) -> None:
        if self.ptr in (0, 1):
            raise RuntimeError("cannot capture on the default (legacy) stream")
        if mode not in (None, 0, 1, 2):
            raise CUDARuntimeError(1)
        if self._capture is not None:
            raise self._capture.fail(401)
        _Capture(self, 2 if mode is None else mode)

    def end_capture(self) -> Graph:
        capture = self._capture
        if capture is None:
            raise CUDARuntimeError(401)
        if capture.owner is not self:
            raise capture.fail(903)
        capture.close()
        return Graph._from_work(capture.work)

    def is_capturing(self) -> bool:
        """Whether work becomes part of a graph; RuntimeError where an error spoiled the capture."""
        if _awaited_by(self) is not None:
            raise CUDARuntimeError(906)
        if self._capture is not None and not self._capture.valid:
            raise RuntimeError(
                "the stream was capturing, but an error has invalidated the capture sequence"
            )
        return self._capture is not None


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def _currents() -> dict[int, Stream]:
    return _local.__dict__.setdefault("current", {})


def _entered(device: int) -> list[Stream]:
    """The streams of a device's open ``with`` blocks, the innermost last."""
    return _local.__dict__.setdefault("entered", {}).setdefault(device, [])


def get_current_stream(device_id: int = -1) -> Stream:
    """The current stream of a device, by default of the current device."""
    device = getDevice() if device_id == -1 else device_id
    if not 0 <= device < getDeviceCount():
        raise IndexError("list index out of range")
    return _currents().get(device, Stream.null)


def _awaited_by(stream: Stream) -> _Capture | None:
    """The capture that forbids work on ``stream``: the null stream waits for blocking streams."""
    for capture in captures if stream.ptr == 0 else ():
        if not all(other.is_non_blocking for other in capture.tips):
            return capture
    return None


def by_pointer(ptr: int) -> Stream:
    """The stream with that ``ptr``; CUDARuntimeError (invalid resource handle) without one."""
    try:
        return _by_pointer[ptr]
    except KeyError:
        raise CUDARuntimeError(400) from None


def given_stream(stream) -> Stream | None:
    """The stream that an argument of a launch names: one of ours, or that of another library by its
    ``ptr``; AttributeError for what has none."""
    return stream if stream is None or isinstance(stream, Stream) else by_pointer(stream.ptr)


def synchronize_device() -> None:
    """Do what was put off; while a graph is captured, an error that spoils the capture."""
    use()
    _late.finish()
    for capture in list(captures):
        capture.valid = False
    if captures:
        raise CUDARuntimeError(900)


def catch_up(stream: Stream | None = None) -> None:
    """Do what ``stream`` (default: the current one) has put off, before its next work."""
    use()
    if _late.is_behind():
        on = get_current_stream() if stream is None else stream
        _late.finish(on.ptr, not on.is_non_blocking)


def capturing() -> bool:
    """True when the current stream is capturing a graph."""
    return bool(captures) and get_current_stream()._capture is not None


def submit(work: Callable[[], None], stream: Stream | None = None) -> None:
    """Run ``work`` now or, where ``stream`` (default: the current one) is capturing, put it off.

    Everything that changes an array's contents ends here.
    """
    catch_up(stream)
    if not captures:
        work()
        return
    stream = get_current_stream() if stream is None else stream
    if stream._capture is not None:
        stream._capture.add(stream, [work])
        return
    capture = _awaited_by(stream)
    if capture is not None:
        raise capture.fail(906)
    work()


def move(target: int, source: int, size: int, stream: Stream | None, memory) -> None:
    """Copy bytes between an address of the host's and one in ``memory``, in ``stream``'s order:
    late where the host's is page-locked."""
    on = get_current_stream() if stream is None else stream

    def work() -> None:  # a graph's is done by the stream that the graph is launched on
        _late.move(target, source, size, getattr(_local, "launching", on), memory)

    submit(work, on)


_told: list[list[str]] = []  # who is told of transfers


def transfers_matter() -> bool:
    """Whether a transfer would be refused or told of."""
    return capturing() or bool(_told)


@contextlib.contextmanager
def transfers_told(words: list[str]) -> Iterator[None]:
    """Inside a ``with`` block each transfer between host and device is added to ``words``."""
    _told.append(words)
    try:
        yield
    finally:
        _told.remove(words)


def refuse_while_capturing(what: str = "D2H transfers", stream: Stream | None = None) -> None:
    """RuntimeError, as CuPy's, for a transfer on ``stream`` (default: the current one)."""
    for words in _told:
        words.append(what)
    if capturing() if stream is None else stream._capture is not None:
        raise RuntimeError(f"the current stream is capturing, so {what} are disallowed")


def refuse_library_while_capturing(library: str) -> None:
    """NotImplementedError, as CuPy's, for a call of NVIDIA's ``library`` in a capture."""
    if capturing():
        raise NotImplementedError(
            f"calling {library} API during stream capture is currently unsupported"
        )
