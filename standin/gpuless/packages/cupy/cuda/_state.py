"""What everything about devices rests on: the runtime's errors, the count, the current device."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator

DEVICES = "CUPY_STANDIN_DEVICES"

_TEXT = {
    1: ("cudaErrorInvalidValue", "invalid argument"),
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    3: ("cudaErrorInitializationError", "initialization error"),
    20: ("cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"),
    21: ("cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"),
    26: ("cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"),
    27: (
        "cudaErrorInvalidNormSetting",
        "read as normalized float not supported for data type",
    ),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    217: (
        "cudaErrorPeerAccessUnsupported",
        "peer access is not supported between these two devices",
    ),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    401: ("cudaErrorIllegalState", "the operation cannot be performed in the present state"),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    704: ("cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"),
    705: ("cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"),
    800: ("cudaErrorNotPermitted", "operation not permitted"),
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

_local = threading.local()
threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # that have chosen a device


class CUDARuntimeError(RuntimeError):
    """``CUDARuntimeError(101)`` reads ``cudaErrorInvalidDevice: invalid device ordinal``."""

    __module__ = "cupy.cuda.runtime"

    def __init__(self, status: int):
        self.status = status
        super().__init__(": ".join(_TEXT.get(status, ("cudaErrorUnknown", "unknown error"))))

    def __reduce__(self):
        return type(self), (self.status,)


_used, _lost = False, False


def use() -> None:
    """Begin, or go on, to use the devices. CUDARuntimeError (initialization error) in a process
    that was forked from one that had begun: CUDA does not live through it."""
    global _used
    if _lost:
        error = CUDARuntimeError(3)
        error.add_note(
            "This process was forked from one that had used the GPU. Use a process that is started "
            "anew, as by multiprocessing.get_context('spawn'), or fork before."
        )
        raise error
    if getattr(_local, "called", False):
        error = CUDARuntimeError(800)
        error.add_note("A function that a stream calls must not use the GPU: keep it to the host.")
        raise error
    _used = True


@contextlib.contextmanager
def called() -> Iterator[None]:
    """Inside a ``with`` block a stream calls a function of the host's, in which ``use`` raises."""
    _local.called = True
    try:
        yield
    finally:
        _local.called = False


def _forked() -> None:
    global _lost
    _lost = _lost or _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def getDeviceCount() -> int:
    """Number of logical devices: ``CUPY_STANDIN_DEVICES``, 1 when unset."""
    given = os.environ.get(DEVICES) or "1"
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{DEVICES} must be a number of devices, 1 or more, not {given!r}")
    return int(given)


def getDevice() -> int:
    return getattr(_local, "device", 0)


def setDevice(device: int) -> None:
    check_ordinal(device)
    if not hasattr(_local, "device"):
        threads.add(threading.current_thread())
    _local.device = device


def check_ordinal(device: int) -> None:
    """CUDARuntimeError (invalid device ordinal) unless there is such a device."""
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101)
