"""The part of the CUDA runtime API that the book uses, answered for a machine with no GPU."""

from __future__ import annotations

import os
import threading
import weakref

from helpers.standin import missing

_TEXT = {
    1: ("cudaErrorInvalidValue", "invalid argument"),
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    401: ("cudaErrorIllegalState", "the operation cannot be performed in the present state"),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    900: (
        "cudaErrorStreamCaptureUnsupported",
        "operation not permitted when stream is capturing",
    ),
    901: (
        "cudaErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
    ),
    902: (
        "cudaErrorStreamCaptureMerge",
        "operation would result in a merge of separate capture sequences",
    ),
    903: (
        "cudaErrorStreamCaptureUnmatched",
        "capture was not ended in the same stream as it began",
    ),
    904: ("cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"),
    905: (
        "cudaErrorStreamCaptureIsolation",
        "dependency created on uncaptured work in another stream",
    ),
    906: (
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    907: (
        "cudaErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream",
    ),
}

streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = 0, 1, 2

# The captures of graphs in progress, each alive as long as its stream; cupy.cuda.stream adds them.
captures: weakref.WeakSet = weakref.WeakSet()
_local = threading.local()


class CUDARuntimeError(RuntimeError):
    """``CUDARuntimeError(101)`` reads ``cudaErrorInvalidDevice: invalid device ordinal``."""

    def __init__(self, status: int):
        self.status = status
        super().__init__(": ".join(_TEXT.get(status, ("cudaErrorUnknown", "unknown error"))))

    def __reduce__(self):
        return type(self), (self.status,)


def getDeviceCount() -> int:
    """Number of logical devices: ``CUPY_STANDIN_DEVICES``, 1 when unset."""
    return int(os.environ.get("CUPY_STANDIN_DEVICES") or 1)


def getDevice() -> int:
    return getattr(_local, "device", 0)


def setDevice(device: int) -> None:
    _check_device(device)
    _local.device = device


def _check_device(device: int) -> None:
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101)


def getDeviceProperties(device: int) -> dict:
    """Properties by CUDA's names; the limits are those of current GPUs, the name says CPU."""
    _check_device(device)
    return {
        "name": b"CPU stand-in (no GPU)",
        "totalGlobalMem": memGetInfo()[1],
        "sharedMemPerBlock": 49152,
        "sharedMemPerBlockOptin": 232448,
        "sharedMemPerMultiprocessor": 233472,
        "regsPerBlock": 65536,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (2147483647, 65535, 65535),
        "maxThreadsPerMultiProcessor": 2048,
        "multiProcessorCount": 4,
        "clockRate": 0,
        "memoryClockRate": 0,
        "memoryBusWidth": 0,
        "l2CacheSize": 0,
        "totalConstMem": 65536,
        "major": 0,
        "minor": 0,
        "cooperativeLaunch": 1,
        "concurrentKernels": 0,
        "canMapHostMemory": 1,
        "integrated": 1,
        "unifiedAddressing": 1,
    }


def memGetInfo() -> tuple[int, int]:
    """(free, total) bytes of this machine's memory."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0, 0


def deviceSynchronize() -> None:
    """Nothing is ever pending; while a graph is captured, an error that spoils the capture."""
    for capture in captures:
        capture.valid = False
    if captures:
        raise CUDARuntimeError(900)


def deviceCanAccessPeer(device: int, peer: int) -> int:
    _check_device(device)
    _check_device(peer)
    return int(device != peer)


def deviceEnablePeerAccess(peer: int) -> None:
    _check_device(peer)


def runtimeGetVersion() -> int:
    """0, as CUDA answers where there is no driver."""
    return 0


driverGetVersion = runtimeGetVersion


def profilerStart() -> None:
    """Nothing to start: no profiler watches a CPU."""


profilerStop = profilerStart


def __getattr__(name: str):
    raise missing("cupy.cuda.runtime", name)
