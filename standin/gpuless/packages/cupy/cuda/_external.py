"""A stream that somebody else made, by its pointer."""

from __future__ import annotations

import warnings

from cupy.cuda.stream import Stream, by_pointer


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
