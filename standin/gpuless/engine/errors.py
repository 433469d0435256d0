"""What can go wrong in the engine."""

from __future__ import annotations


class CompileError(Exception):
    """A source is rejected; ``str()`` has the messages, by the reader's file and line."""


class KernelError(RuntimeError):
    """A launch ended early: ``str()`` says where and why; ``line`` of the source, 0 if unknown.

    ``unwritten``: it read shared memory that no thread of its block had written.
    """

    def __init__(self, message: str, line: int = 0, unwritten: bool = False):
        super().__init__(message)
        self.line = line
        self.unwritten = unwritten
