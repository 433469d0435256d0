"""A launch whose arguments have been checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Plan(NamedTuple):
    """What ``Kernel.launch(*plan)`` takes; who makes one has checked it as a GPU's driver would.

    ``values``: one for each parameter, as ``Kernel.launch`` says. ``shared_bytes`` of dynamic
    shared memory for a block. ``cooperative``: all blocks run at once.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    values: Sequence
    shared_bytes: int = 0
    cooperative: bool = False
