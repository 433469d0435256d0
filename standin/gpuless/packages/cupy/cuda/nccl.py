"""``cupy.cuda.nccl`` over logical devices: ranks are threads, processes, or one thread's groups.

Pointers are addresses, counts are in elements. Work is done when the call, or the group's end,
returns. Where a GPU would hang or mix data, NcclError says which rank did not come or agree.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
import weakref

import numpy as np

from cupy.cuda import _ownership, _state, stream
from cupy.cuda._nccl import wire
from cupy.cuda._nccl.calls import OPERATIONS, TYPES, Call, NcclError, failure
from gpuless import not_covered

available = True

NCCL_INT8 = NCCL_CHAR = 0
NCCL_UINT8 = 1
NCCL_INT32 = NCCL_INT = 2
NCCL_UINT32 = 3
NCCL_INT64 = 4
NCCL_UINT64 = 5
NCCL_FLOAT16 = NCCL_HALF = 6
NCCL_FLOAT32 = NCCL_FLOAT = 7
NCCL_FLOAT64 = NCCL_DOUBLE = 8
NCCL_BFLOAT16 = 9
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG = range(5)

_local = threading.local()  # .depth of groups, .queue of what they hold
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # that have used NCCL


def get_version() -> int:
    """22707: the version whose behaviour is followed, 2.27.7."""
    return 22707


get_build_version = get_version


def check_status(status: int) -> None:
    if status:
        raise NcclError(status)


def get_unique_id() -> bytes:
    """128 bytes that name a new communicator, for all its ranks on this machine."""
    return wire.new_id()


class NcclConfig:
    """Accepted and kept: nothing is shared between communicators here."""

    def __init__(self, split_share: int = 0):
        self.split_share = int(split_share)


# Groups


def groupStart() -> None:
    """From here on NCCL's calls of this thread are kept until ``groupEnd``."""
    _local.depth = getattr(_local, "depth", 0) + 1


def groupEnd() -> None:
    """Do all that the group holds, at once."""
    if not getattr(_local, "depth", 0):
        raise failure(5, "groupEnd() without groupStart()")
    _local.depth -= 1
    if not _local.depth:
        queue, _local.queue = getattr(_local, "queue", []), []
        _perform(queue)


def _submit(work: _Work) -> None:
    if getattr(_local, "depth", 0):
        _local.__dict__.setdefault("queue", []).append(work)
    else:
        _perform([work])


class _Work:
    """A call, its communicator, and the bytes it brings.

    ``source`` and ``target`` are address and size in bytes; None: no buffer.
    """

    def __init__(self, link, call: Call, data: bytes = b"", source=None, target=None):
        self.link, self.call, self._data = link, call, data
        self._source, self._target = source, target
        self.result = b""

    def data(self) -> bytes:
        """What the rank brings; NcclError where a buffer was freed since the call."""
        for place in (self._source, self._target):
            if place and (_ownership.find(place[0]) or (0, 0))[1] < place[1]:
                raise failure(
                    4,
                    f"{self.call}: an array was deleted before groupEnd(); keep it in a variable",
                )
        return ctypes.string_at(*self._source) if self._source else self._data

    def finish(self, result: bytes) -> None:
        self.result = result
        if self._target and result:
            ctypes.memmove(self._target[0], result, len(result))


def _perform(queue: list[_Work]) -> None:
    """Bring the data of all ranks in the queue before waiting for any of them."""
    _threads.add(threading.current_thread())
    data = [work.data() for work in queue]
    error = None
    posted = []
    for link in dict.fromkeys(work.link for work in queue):
        mine = [(w.call, d) for w, d in zip(queue, data, strict=True) if w.link is link]
        try:
            link.post(mine)
            posted.append(link)
        except NcclError as new:
            error = error or new
    for link in posted:
        try:
            results = link.wait(_alone)
        except NcclError as new:
            error = error or new
            continue
        for work, result in zip((w for w in queue if w.link is link), results, strict=True):
            work.finish(result)
    if error:
        raise error


def _alone() -> bool:
    """Whether no other living thread has made a device current or used NCCL."""
    known = _threads | _state.threads
    return not any(t.is_alive() for t in known if t is not threading.current_thread())


# Communicators


class NcclCommunicator:
    """One rank of a communicator of ``ndev``, on the device that is current now.

    ``commId`` comes from ``get_unique_id()``, ``0 <= rank < ndev``. Waits for the other ranks, or,
    in a group, for the group's end.
    """

    _link: wire.Link | None = None

    def __init__(self, ndev: int, commId: bytes, rank: int, config: NcclConfig | None = None):
        if not isinstance(commId, bytes):
            kind = type(commId).__name__
            raise TypeError(f"Argument 'commId' has incorrect type (expected bytes, got {kind})")
        if len(commId) != wire.ID_BYTES:
            raise ValueError(f"commId length {len(commId)} != {wire.ID_BYTES}.")
        if not 0 <= rank < ndev:
            raise _refuse(4, f"There is no rank {rank} among {ndev}")
        self._join(ndev, commId, rank)

    def _join(self, size: int, name: bytes, rank: int) -> None:
        self._size, self._rank, self._device = size, rank, _state.getDevice()
        self._link = wire.link(name, rank)
        device = str(self._device).encode()
        try:
            _submit(_Work(self._link, Call("join", size), device))
        except NcclError:
            self.abort()
            raise

    @staticmethod
    def initAll(devices: int | list[int]) -> list[NcclCommunicator]:
        """Communicators for all ranks, one on each device: a number of devices or a list."""
        if isinstance(devices, int):
            devices = list(range(devices))
        if not isinstance(devices, list):
            raise ValueError('"devices" should be an int or a list of int.')
        have = _state.getDeviceCount()
        for device in devices:
            if not 0 <= device < have:
                remedy = f"; there are {have}. CUPY_STANDIN_DEVICES=n gives more"
                raise _refuse(4, f"There is no device {device}" + remedy)
        if len(set(devices)) < len(devices):
            raise _refuse(5, f"{devices} names a device twice")
        comms = [NcclCommunicator.__new__(NcclCommunicator) for _ in devices]
        name, before = get_unique_id(), _state.getDevice()
        groupStart()
        try:
            for rank, (comm, device) in enumerate(zip(comms, devices, strict=True)):
                _state.setDevice(device)
                comm._join(len(devices), name, rank)
        finally:
            _state.setDevice(before)
            groupEnd()
        return comms

    def __del__(self, ending=sys.is_finalizing) -> None:
        if not ending():
            self.destroy()

    def destroy(self) -> None:
        """Leave the communicator; the other ranks' calls that need this one fail from now on."""
        self._leave("it has called destroy()")

    def abort(self) -> None:
        """``destroy``, for use after an error."""
        self._leave("it has called abort()")

    def _leave(self, why: str) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.leave(why)

    @property
    def comm(self) -> int:
        """A number for the communicator; 0 once it is destroyed."""
        return 0 if self._link is None else id(self)

    def _alive(self) -> wire.Link:
        if self._link is None:
            raise _refuse(4, "The communicator has been destroyed")
        return self._link

    def device_id(self) -> int:
        self._alive()
        return self._device

    def rank_id(self) -> int:
        self._alive()
        return self._rank

    def size(self) -> int:
        self._alive()
        return self._size

    def check_async_error(self) -> None:
        """Nothing: an error is raised where it happens."""
        self._alive()

    def commSplit(
        self, color: int, key: int, config: NcclConfig | None = None
    ) -> NcclCommunicator | None:
        """A communicator of the ranks with the same color, in the order of their keys.

        ``color`` -1: none. All ranks must call it.
        """
        if getattr(_local, "depth", 0):
            raise not_covered("NcclCommunicator.commSplit inside a group")
        work = _Work(self._alive(), Call("split"), json.dumps([color, key]).encode())
        _perform([work])
        if not work.result:
            return None
        name, size, rank = json.loads(work.result)
        comm = NcclCommunicator.__new__(NcclCommunicator)
        comm._join(size, bytes.fromhex(name), rank)
        return comm

    def _barrier(self) -> None:
        """Wait for all ranks."""
        _perform([_Work(self._alive(), Call("barrier"))])

    def allReduce(
        self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int
    ) -> None:
        """``count`` elements of all ranks, reduced, into every rank's ``recvbuf``."""
        self._call("allReduce", sendbuf, recvbuf, count, datatype, stream, op=op)

    def reduce(
        self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, root: int, stream: int
    ) -> None:
        """``allReduce`` into the ``recvbuf`` of rank ``root`` alone."""
        if self._alive() and self._rank != root:
            recvbuf = None
        self._call("reduce", sendbuf, recvbuf, count, datatype, stream, op=op, peer=root)

    def broadcast(
        self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int
    ) -> None:
        """``count`` elements of rank ``root`` into every rank's ``recvbuff``."""
        if self._alive() and self._rank != root:
            sendbuff = None
        self._call("broadcast", sendbuff, recvbuff, count, datatype, stream, peer=root)

    def bcast(self, buff: int, count: int, datatype: int, root: int, stream: int) -> None:
        """``broadcast`` in place."""
        self.broadcast(buff, buff, count, datatype, root, stream)

    def reduceScatter(
        self, sendbuf: int, recvbuf: int, recvcount: int, datatype: int, op: int, stream: int
    ) -> None:
        """Of ``size() * recvcount`` elements reduced, each rank gets its ``recvcount``."""
        times = self.size(), 1
        self._call("reduceScatter", sendbuf, recvbuf, recvcount, datatype, stream, times, op=op)

    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None:
        """``count`` elements of each rank, one after another, into every rank's ``recvbuf``."""
        self._call("allGather", sendbuf, recvbuf, count, datatype, stream, (1, self.size()))

    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Send ``count`` elements to rank ``peer``, which must call ``recv``."""
        self._call("send", sendbuf, None, count, datatype, stream, peer=peer)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Receive ``count`` elements that rank ``peer`` sends."""
        self._call("recv", None, recvbuf, count, datatype, stream, peer=peer)

    def _call(
        self,
        kind: str,
        source: int | None,
        target: int | None,
        count: int,
        datatype: int,
        stream_ptr: int,
        times: tuple[int, int] = (1, 1),
        op: int | None = None,
        peer: int | None = None,
    ) -> None:
        """Check, then do or keep. ``times`` the count are sent and received; None: no buffer."""
        link = self._alive()
        if datatype == NCCL_BFLOAT16:
            raise not_covered("NCCL_BFLOAT16")
        if datatype not in TYPES:
            raise _refuse(4, f"{kind}: there is no datatype {datatype}; NCCL_FLOAT32 is 7")
        if op is not None and op not in OPERATIONS:
            raise _refuse(4, f"{kind}: there is no operation {op}; NCCL_SUM is 0")
        if peer is not None and not 0 <= peer < self._size:
            raise _refuse(4, f"{kind}: there is no rank {peer} among {self._size}")
        if _integer(count, "count") < 0:
            raise _refuse(4, f"{kind}: {count} elements")
        dtype = TYPES[datatype]
        operation = "" if op is None else OPERATIONS[op]
        call = Call(kind, int(count), dtype.name, operation, -1 if peer is None else int(peer))
        sizes = [int(count) * n * dtype.itemsize for n in times]
        self._check_stream(kind, stream_ptr)
        places = [
            self._buffer(call, name, address, size)
            for name, address, size in zip(
                ("sendbuf", "recvbuf"), (source, target), sizes, strict=True
            )
        ]
        self._check_overlap(call, *places)
        _submit(_Work(link, call, b"", *places))

    def _check_overlap(self, call: Call, source, target) -> None:
        """Both buffers may be one, or the smaller the rank's own part of the larger."""
        if not source or not target:
            return
        (small, part), (large, whole) = sorted((source, target), key=lambda place: place[1])
        own = large if part == whole else large + self._rank * part
        if small != own and small < large + whole and large < small + part:
            raise _refuse(
                4,
                f"{call}: sendbuf and recvbuf overlap, and a GPU reads the one while it writes the "
                "other. They may be the same, or the smaller the rank's own part of the larger",
            )

    def _check_stream(self, kind: str, ptr: int) -> None:
        used = stream.by_pointer(_integer(ptr, "stream"))
        if used.device_id not in (-1, self._device):
            raise _refuse(
                1,
                f"{kind}: the stream is of device {used.device_id}, rank {self._rank} is on device "
                f"{self._device}",
            )
        if used._capture is not None:
            raise not_covered("a call of NCCL inside a graph's capture")
        stream.catch_up(used)

    def _buffer(self, call: Call, name: str, address, size: int) -> tuple[int, int] | None:
        """Address and size of a buffer that is where it should be; None where there is none."""
        if address is None or not size:
            return None
        address = _integer(address, name)
        found = _ownership.find(address)
        if found is None:
            raise _refuse(4, f"{call}: {name} is no device memory; pass array.data.ptr")
        device, room = found
        if device != self._device:
            raise _refuse(
                4,
                f"{call}: {name} is memory of device {device}, rank {self._rank} is on device "
                f"{self._device}. Make the array inside `with cupy.cuda.Device({self._device}):`",
            )
        if room < size:
            note = f"{name} needs {size} bytes, and {room} are there. A count is in elements"
            raise _refuse(4, f"{call}: {note}")
        return address, size


def _integer(value, name: str) -> int:
    if not isinstance(value, (int, np.integer)):
        kind = type(value).__name__
        raise TypeError(f"an integer is required for {name}, not {kind} (array.data.ptr is one)")
    return int(value)


def _refuse(status: int, note: str) -> NcclError:
    """The error of a call; the group that it was in, if any, is given up."""
    _local.depth, _local.queue = 0, []
    return failure(status, note)
