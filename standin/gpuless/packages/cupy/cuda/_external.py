"""A stream that somebody else made, by its pointer."""

from __future__ import annotations

import warnings

from cupy.cuda.stream import Stream, by_pointer


def _pointer(owner) -> int:
    """What ``owner`` says of its stream by the protocol of CUDA's streams; else a TypeError."""
    try:
        version, ptr = owner.__cuda_stream__()
    except AttributeError as error:
        raise TypeError(
            f"Object of type {type(owner).__name__} does not implement the CUDA stream protocol "
            "(__cuda_stream__ method)"
        ) from error
    except (TypeError, ValueError) as error:
        raise TypeError(
            "__cuda_stream__() must return a 2-tuple of (version, stream_ptr)"
        ) from error
    if not isinstance(version, int) or not isinstance(ptr, int):
        raise TypeError(
            f"__cuda_stream__() must return (int, int), got "
            f"({type(version).__name__}, {type(ptr).__name__})"
        )
    if version != 0:
        raise TypeError(
            f"__cuda_stream__() returned unsupported version {version}, only version 0 is supported"
        )
    return ptr


class ForeignStream(Stream):
    """What ``Stream.from_external(owner)`` gives. It keeps the owner, and is one stream with the
    one of that pointer; without such a stream its use is an error (invalid resource handle)."""

    def __init__(self, owner):
        self.ptr, self.device_id, self._foreign_stream_ref = _pointer(owner), -1, owner

    @property
    def is_non_blocking(self) -> bool:
        return by_pointer(self.ptr).is_non_blocking

    @property
    def priority(self) -> int:
        return by_pointer(self.ptr).priority

    @property
    def _capture(self):
        return by_pointer(self.ptr)._capture

    @_capture.setter
    def _capture(self, capture) -> None:
        by_pointer(self.ptr)._capture = capture

    def _check_device(self) -> int:
        return by_pointer(self.ptr)._check_device()

    def begin_capture(self, mode=None) -> None:
        by_pointer(self.ptr).begin_capture(mode)

    def end_capture(self):
        return by_pointer(self.ptr).end_capture()


def _from_external(cls, obj) -> Stream:
    """The stream of any library, told by ``obj.__cuda_stream__()``; TypeError without that."""
    return ForeignStream(obj)


Stream.from_external = classmethod(_from_external)  # here, since a ForeignStream is a Stream


class ExternalStream:
    """The stream with that ``ptr``. As in CuPy nobody looks whether there is one until it is used,
    and it does not keep that one alive."""

    def __init__(self, ptr: int, device_id: int = -1):
        warnings.warn(
            "ExternalStream is deprecated. Use Stream.from_external() instead to interoperate with "
            "external streams that implement the CUDA stream protocol.",
            DeprecationWarning,
            stacklevel=2,
        )
        self.ptr, self.device_id = ptr, device_id

    @property
    def _stream(self) -> Stream:
        return by_pointer(self.ptr)

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def __enter__(self) -> ExternalStream:
        self._stream.__enter__()
        return self

    def __exit__(self, *args) -> None:
        self._stream.__exit__(*args)

    def use(self) -> ExternalStream:
        self._stream.use()
        return self

    def __eq__(self, other) -> bool:
        return isinstance(other, (Stream, ExternalStream)) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<ExternalStream {self.ptr} (device {self.device_id})>"
