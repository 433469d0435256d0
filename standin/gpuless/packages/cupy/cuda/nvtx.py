"""Markers for NVIDIA's profilers; there is nobody to read them here."""

from __future__ import annotations

import operator

available = True


def MarkC(message: str, color: int = 0) -> None:
    message.encode()
    operator.index(color)


def Mark(message: str, id_color: int = -1) -> None:
    MarkC(message, id_color)


def RangePushC(message: str, color: int = 0) -> None:
    MarkC(message, color)


def RangePush(message: str, id_color: int = -1) -> None:
    MarkC(message, id_color)


def RangePop() -> None:
    pass


def RangeStart(message: str | None, color: int | None) -> int:
    """A number for ``RangeEnd``: without a profiler always 0."""
    MarkC("" if message is None else message, 0 if color is None else color)
    return 0


def RangeEnd(range_id: int) -> None:
    operator.index(range_id)
