"""Markers for NVIDIA's profilers; there is nobody to read them here."""

from __future__ import annotations


def Mark(message: str, color: int = -1) -> None:
    """Accepted and of no effect."""


def MarkC(message: str, color: int = 0) -> None:
    """Accepted and of no effect."""


def RangePush(message: str, color: int = -1) -> None:
    """Accepted and of no effect."""


def RangePushC(message: str, color: int = 0) -> None:
    """Accepted and of no effect."""


def RangePop() -> None:
    """Accepted and of no effect."""
