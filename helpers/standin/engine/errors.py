"""What can go wrong in the engine."""

from __future__ import annotations


class CompileError(Exception):
    """A source is rejected; ``str()`` has the messages, by the reader's file and line."""
