"""How a rank reaches the hub: a call in the hub's own process, a socket from another one.

A communicator's id says where its hub listens. A message is a line of JSON and the data it counts.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing.util
import os
import secrets
import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict

from cupy.cuda._nccl.calls import Call, NcclError, failure, patience
from cupy.cuda._nccl.hub import Hub

ID_BYTES = 128
_ENDED = "its process has ended"

_hubs: dict[bytes, tuple[int, Hub]] = {}  # by id, with the process: a fork has hubs of its own
_listeners: dict[bytes, socket.socket] = {}
_remotes: weakref.WeakSet[Remote] = weakref.WeakSet()
_ordered: set[int] = set()  # processes that will call _end
_lock = threading.Lock()


def new_id() -> bytes:
    """The id of a new communicator, whose hub is in this process."""
    return open_hub("127.0.0.1", 0, secrets.token_hex(16))


def named_id(host: str, port: int, word: str) -> bytes:
    """The id of the hub at that address."""
    text = f"{host} {port} {word}".encode()
    if len(text) > ID_BYTES:
        raise ValueError(f"The name of the host is too long: {host!r}")
    return text.ljust(ID_BYTES, b"\0")


def open_hub(host: str, port: int, word: str) -> bytes:
    """Make a hub that listens at that address (port 0: any that is free), and give its id."""
    try:
        listener = socket.create_server((host, port), backlog=128)
    except OSError as error:
        raise RuntimeError(
            f"Cannot listen at {host}, port {port} ({error.strerror}). Another program, or an "
            "earlier run of this one, may use it: give another port"
        ) from None
    _end_in_order()
    name = named_id(host, listener.getsockname()[1], word)
    hub = Hub(new_id)
    with _lock:
        _hubs[name] = os.getpid(), hub
        _listeners[name] = listener
    threading.Thread(target=_accept, args=(listener, name, hub), daemon=True).start()
    return name


def close_listener(name: bytes) -> None:
    """Take no more ranks of other processes."""
    with _lock:
        listener = _listeners.pop(name, None)
    if listener is not None:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept()
        listener.close()


def link(name: bytes, rank: int) -> Link:
    """The way of one rank to its hub."""
    pid, hub = _hubs.get(name, (0, None))
    if pid != os.getpid() or hub.is_full():  # full: an earlier group that met at the same port
        return Remote(name, rank)
    return Local(hub, name, rank)


# Messages


def _send(connection: socket.socket, message: dict, data: Sequence[bytes] = ()) -> None:
    head = json.dumps({**message, "sizes": [len(part) for part in data]}).encode()
    connection.sendall(b"".join([struct.pack("!I", len(head)), head, *data]))


def _receive(connection: socket.socket) -> tuple[dict, list[bytes]]:
    """A message and its data; ConnectionError where the other side has ended."""
    (length,) = struct.unpack("!I", _exactly(connection, 4))
    message = json.loads(_exactly(connection, length))
    return message, [_exactly(connection, size) for size in message["sizes"]]


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        if not got:
            raise ConnectionResetError
        view = view[got:]
    return bytes(data)


# The hub's side


def _accept(listener: socket.socket, name: bytes, hub: Hub) -> None:
    while True:
        try:
            connection = listener.accept()[0]
        except OSError:  # closed
            return
        threading.Thread(target=_serve, args=(connection, name, hub), daemon=True).start()


def _serve(connection: socket.socket, name: bytes, hub: Hub) -> None:
    """Speak for a rank of another process until it leaves."""
    rank, joined, why = -1, False, _ENDED
    with connection, contextlib.suppress(OSError, ValueError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hello, _ = _receive(connection)
        if hello["id"] != name.hex():
            return
        rank = hello["rank"]
        while True:
            message, data = _receive(connection)
            if "leave" in message:
                why = message["leave"]
                break
            try:
                calls = [Call(**call) for call in message["calls"]]
                posted = hub.post(rank, list(zip(calls, data, strict=True)))
                if not joined:  # the first call of all
                    joined = True
                    hub.remote.add(rank)
                    _close_if_full(name, hub)
                answer = hub.wait(rank, posted, lambda: False)
            except NcclError as error:
                _send(connection, {"status": error.status, "note": error.__notes__[0]})
            else:
                _send(connection, {}, answer)
    if joined:
        hub.leave(rank, why)
        if hub.is_empty():
            _forget(name, hub)


def _close_if_full(name: bytes, hub: Hub) -> None:
    if hub.is_full():
        close_listener(name)


def _forget(name: bytes, hub: Hub) -> None:
    with _lock:
        if _hubs.get(name, (0, None))[1] is hub:
            del _hubs[name]


# A rank's side


class Local:
    """A rank in the hub's own process."""

    def __init__(self, hub: Hub, name: bytes, rank: int):
        self._hub, self._name, self.rank = hub, name, rank
        self._posted: list = []
        self._pid = os.getpid()
        self._joined = False

    def post(self, calls: Sequence[tuple[Call, bytes]]) -> None:
        """Bring the data of some calls to the hub; ``wait`` gives the results."""
        self._posted = self._hub.post(self.rank, calls)
        if not self._joined:  # the first call of all
            self._joined = True
            self._hub.local.add(self.rank)
            _close_if_full(self._name, self._hub)

    def wait(self, alone: Callable[[], bool]) -> list[bytes]:
        return self._hub.wait(self.rank, self._posted, alone)

    def leave(self, why: str) -> None:
        if self._joined and self._pid == os.getpid():  # a fork has a copy of this link
            self._hub.leave(self.rank, why)
            if self._hub.is_empty() or not self._hub.is_full():  # and will never be
                close_listener(self._name)
                _forget(self._name, self._hub)


class Remote:
    """A rank whose hub is in another process."""

    def __init__(self, name: bytes, rank: int):
        self.rank = rank
        self._pid = os.getpid()
        _end_in_order()
        try:
            host, port, _ = name.rstrip(b"\0").decode().split(" ")
            address = host, int(port)
        except ValueError:
            raise failure(4, "commId is not an id that get_unique_id() gave") from None
        self._connection = self._connect(address)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._speak(_send, {"id": name.hex(), "rank": rank})
        _remotes.add(self)

    def _connect(self, address: tuple[str, int]) -> socket.socket:
        """Try until the other process listens."""
        deadline = time.monotonic() + patience()
        while True:
            try:
                return socket.create_connection(address, timeout=patience())
            except OSError:
                if time.monotonic() > deadline:
                    raise failure(
                        6,
                        f"Rank {self.rank} found nobody at {address[0]}, port {address[1]}, within "
                        f"{patience():g} s: has the process that made the communicator's id (rank "
                        "0, for init_process_group) started, and does it still run?",
                    ) from None
                time.sleep(0.05)

    def _speak(self, function: Callable, *args):
        try:
            return function(self._connection, *args)
        except OSError:
            raise failure(
                6,
                f"Rank {self.rank} has lost the process that made the communicator's id (rank 0, "
                "for init_process_group): it has ended",
            ) from None

    def post(self, calls: Sequence[tuple[Call, bytes]]) -> None:
        self._connection.settimeout(None)
        message = {"calls": [asdict(call) for call, _ in calls]}
        self._speak(_send, message, [data for _, data in calls])

    def wait(self, alone: Callable[[], bool]) -> list[bytes]:
        # The hub gives up first, with a better message, unless its process is stopped.
        self._connection.settimeout(patience() + 10)
        message, data = self._speak(_receive)
        if "status" in message:
            raise failure(message["status"], message["note"])
        return data

    def leave(self, why: str) -> None:
        if self._pid == os.getpid():
            with contextlib.suppress(OSError):
                _send(self._connection, {"leave": why})
        self._connection.close()


Link = Local | Remote


def _end_in_order() -> None:
    """See that ``_end`` runs when the program ends, or a process that multiprocessing started."""
    if os.getpid() not in _ordered:
        _ordered.add(os.getpid())
        multiprocessing.util.Finalize(None, _end, exitpriority=0)


def _end() -> None:
    """When this process ends: its own ranks leave, and the hub stays until the others have left."""
    for remote in list(_remotes):
        remote.leave(_ENDED)
    for name, (pid, hub) in list(_hubs.items()):
        if pid != os.getpid():
            continue
        close_listener(name)
        for rank in list(hub.local):
            hub.leave(rank, _ENDED)
        while hub.remote and time.monotonic() < hub.moved + patience():
            time.sleep(0.02)
