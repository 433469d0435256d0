"""A process group's communication, on top of ``cupy.cuda.nccl``."""

from __future__ import annotations

import importlib.util

import numpy as np
from cupy._core._ndarray import ndarray
from cupy.cuda import nccl
from cupy.cuda._nccl import wire
from cupy.cuda.stream import get_current_stream

from gpuless import not_covered

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 13333

_mpi_available = importlib.util.find_spec("mpi4py") is not None

_TYPES = {
    np.dtype(np.int8): nccl.NCCL_INT8,
    np.dtype(np.uint8): nccl.NCCL_UINT8,
    np.dtype(np.int32): nccl.NCCL_INT32,
    np.dtype(np.uint32): nccl.NCCL_UINT32,
    np.dtype(np.int64): nccl.NCCL_INT64,
    np.dtype(np.uint64): nccl.NCCL_UINT64,
    np.dtype(np.float16): nccl.NCCL_FLOAT16,
    np.dtype(np.float32): nccl.NCCL_FLOAT32,
    np.dtype(np.float64): nccl.NCCL_FLOAT64,
    np.dtype(np.complex64): nccl.NCCL_FLOAT32,  # two of them
    np.dtype(np.complex128): nccl.NCCL_FLOAT64,
}
_OPERATIONS = {
    "sum": nccl.NCCL_SUM,
    "prod": nccl.NCCL_PROD,
    "max": nccl.NCCL_MAX,
    "min": nccl.NCCL_MIN,
}


def _operation(name: str, array: ndarray) -> int:
    if name not in _OPERATIONS:
        raise RuntimeError(f"Unknown op {name} for NCCL")
    if array.dtype.kind == "c" and name != "sum":
        raise ValueError("Only nccl.SUM is supported for complex arrays")
    return _OPERATIONS[name]


def _count(array: ndarray, elements: int | None = None) -> tuple[int, int]:
    """Number of elements for NCCL, and NCCL's type of them."""
    if array.dtype not in _TYPES:
        raise TypeError(f"Unknown dtype {array.dtype} for NCCL")
    elements = array.size if elements is None else elements
    return elements * (2 if array.dtype.kind == "c" else 1), _TYPES[array.dtype]


def _check(*arrays: ndarray) -> None:
    for array in arrays:
        if not isinstance(array, ndarray):
            raise not_covered(f"cupyx.distributed with a {type(array).__name__}")
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise RuntimeError("NCCL requires arrays to be either c- or f-contiguous")


def _stream(stream) -> int:
    return (get_current_stream() if stream is None else stream).ptr


class NCCLBackend:
    """Rank ``rank`` of ``n_devices``; arrays are contiguous, of NCCL's types, on its device.

    Waits until all ranks are there. ``op`` is sum, prod, max or min (complex arrays: sum); ``root``
    and ``peer`` are ranks.
    """

    def __init__(
        self,
        n_devices: int,
        rank: int,
        host: str = DEFAULT_HOST,
        port: int = DEFAULT_PORT,
        use_mpi: bool = False,
    ):
        self._n_devices, self.rank = n_devices, rank
        self._mpi = None
        if use_mpi and _mpi_available:
            from mpi4py import MPI

            self._mpi = MPI.COMM_WORLD
            name = nccl.get_unique_id() if self._mpi.Get_rank() == 0 else None
            name = self._mpi.bcast(name, root=0)
        else:
            find = wire.open_hub if rank == 0 else wire.named_id
            name = find(host, port, "group")
        self._comm = nccl.NcclCommunicator(n_devices, name, rank)
        self._stopped = False

    def all_reduce(self, in_array, out_array, op="sum", stream=None) -> None:
        """The arrays of all ranks, reduced, into every rank's ``out_array``."""
        _check(in_array, out_array)
        count, kind = _count(in_array)
        function = _operation(op, in_array)
        self._comm.allReduce(
            in_array.data.ptr, out_array.data.ptr, count, kind, function, _stream(stream)
        )

    def reduce(self, in_array, out_array, root=0, op="sum", stream=None) -> None:
        """``all_reduce`` into the ``out_array`` of ``root`` alone."""
        _check(in_array)
        if self.rank == root:
            _check(out_array)
        count, kind = _count(in_array)
        function = _operation(op, in_array)
        self._comm.reduce(
            in_array.data.ptr, out_array.data.ptr, count, kind, function, root, _stream(stream)
        )

    def broadcast(self, in_out_array, root=0, stream=None) -> None:
        """The array of ``root`` into everybody's."""
        _check(in_out_array)
        pointer = in_out_array.data.ptr
        self._comm.broadcast(pointer, pointer, *_count(in_out_array), root, _stream(stream))

    def reduce_scatter(self, in_array, out_array, count, op="sum", stream=None) -> None:
        """Of ``n_devices * count`` elements reduced, each rank gets its ``count``."""
        _check(in_array, out_array)
        count, kind = _count(in_array, count)
        function = _operation(op, in_array)
        self._comm.reduceScatter(
            in_array.data.ptr, out_array.data.ptr, count, kind, function, _stream(stream)
        )

    def all_gather(self, in_array, out_array, count, stream=None) -> None:
        """``count`` elements of each rank, one after another, into every ``out_array``."""
        _check(in_array, out_array)
        count, kind = _count(in_array, count)
        self._comm.allGather(in_array.data.ptr, out_array.data.ptr, count, kind, _stream(stream))

    def send(self, array, peer, stream=None) -> None:
        """Send to rank ``peer``, which must call ``recv``."""
        _check(array)
        self._comm.send(array.data.ptr, *_count(array), peer, _stream(stream))

    def recv(self, out_array, peer, stream=None) -> None:
        """Receive what rank ``peer`` sends."""
        _check(out_array)
        self._comm.recv(out_array.data.ptr, *_count(out_array), peer, _stream(stream))

    def send_recv(self, in_array, out_array, peer, stream=None) -> None:
        """Send ``in_array`` to rank ``peer`` and receive what it sends, at once."""
        _check(in_array, out_array)
        self._exchange([(in_array, peer)], [(out_array, peer)], stream)

    def scatter(self, in_array, out_array, root=0, stream=None) -> None:
        """Row ``i`` of the root's ``in_array``, of ``n_devices`` rows, to rank ``i``."""
        self._check_rows("scatter", "in_array", in_array)
        _check(in_array, out_array)
        sent = list(zip(in_array, range(self._n_devices), strict=True)) if self.rank == root else []
        self._exchange(sent, [(out_array, root)], stream)

    def gather(self, in_array, out_array, root=0, stream=None) -> None:
        """The array of rank ``i`` into row ``i`` of the root's ``out_array``."""
        self._check_rows("gather", "out_array", out_array)
        _check(in_array, out_array)
        rows = list(zip(out_array, range(self._n_devices), strict=True))
        self._exchange([(in_array, root)], rows if self.rank == root else [], stream)

    def all_to_all(self, in_array, out_array, stream=None) -> None:
        """Row ``i`` of ``in_array`` to rank ``i``; what rank ``i`` sends into row ``i``."""
        self._check_rows("all_to_all", "in_array", in_array)
        self._check_rows("all_to_all", "out_array", out_array)
        _check(in_array, out_array)
        ranks = range(self._n_devices)
        sent = list(zip(in_array, ranks, strict=True))
        self._exchange(sent, list(zip(out_array, ranks, strict=True)), stream)

    def barrier(self) -> None:
        """Wait for all ranks, on the host."""
        if self._mpi is not None:
            self._mpi.Barrier()
        elif self._stopped:
            raise RuntimeError("TCPStore is not available")
        else:
            self._comm._barrier()

    def stop(self) -> None:
        """End the barriers; rank 0 calls it when all is done."""
        self._stopped = self._stopped or self.rank == 0

    def _check_rows(self, what: str, name: str, array: ndarray) -> None:
        if array.shape[:1] != (self._n_devices,):
            raise RuntimeError(
                f"{what} requires {name} to have {self._n_devices} elements in its first "
                f"dimension, found {array.shape}"
            )

    def _exchange(self, sent, received, stream) -> None:
        """Pairs of an array and a rank, all at once."""
        pointer = _stream(stream)
        sent = [(array.data.ptr, *_count(array), peer, pointer) for array, peer in sent]
        received = [(array.data.ptr, *_count(array), peer, pointer) for array, peer in received]
        nccl.groupStart()
        for call in sent:
            self._comm.send(*call)
        for call in received:
            self._comm.recv(*call)
        nccl.groupEnd()
