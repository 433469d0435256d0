"""Device memory: raw bytes behind fences (shim/memory.h).

An ``Allocation`` is memory that kernels may touch; nothing around it is, for a megabyte on either
side. Freed memory is closed, so that a kernel which still uses it is found out, and kept for the
next allocation of its size.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import math
import re
import threading

from gpuless.engine import compiler

SPARE_LIMIT = 1 << 28  # bytes of freed memory that stay with the process
LARGE = 1 << 20  # bytes; the system is asked whether it has so many
RESERVE = 1 << 28  # bytes that it should keep: one that has none left ends whole programs


class NoMemory(MemoryError):
    """There are no addresses, or no memory, left for an allocation."""


@functools.cache
def _functions():
    """standin_extend, standin_open and standin_close."""
    library = compiler.runtime()
    compiler.has_shadow()  # which reserves the addresses
    library.standin_extend.restype = ctypes.c_void_p
    library.standin_extend.argtypes = [ctypes.c_size_t]
    library.standin_open.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.standin_close.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library.standin_extend, library.standin_open, library.standin_close


class _Freed:
    """Addresses of freed memory by the size it was made for, and how many bytes that is in all."""

    def __init__(self):
        self.addresses: dict[int, list[int]] = {}
        self.bytes = 0

    def take(self, size: int) -> int | None:
        try:
            address = self.addresses[size].pop()
        except (KeyError, IndexError):
            return None
        self.bytes -= size
        return address

    def keep(self, size: int, address: int) -> None:
        self.addresses.setdefault(size, []).append(address)
        self.bytes += size


_spare = _Freed()
_returned = _Freed()  # the system has the memory back, the addresses are kept
_live: dict[int, int] = {}  # size by address
_extending = threading.RLock()  # while C runs, Python lets other threads in


def _held(size: int) -> int:
    """Bytes set aside for an allocation, so that others of about its size can follow it there.

    Without a shadow its end must meet the page that faults, so nothing is added.
    """
    unit = 16 if not compiler.has_shadow() else 512 if size <= 4096 else 4096
    return max(unit, -(-size // unit) * unit)


def _available() -> float:
    """Bytes that the system can still give; infinite where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"MemAvailable: *(\d+) kB", file.read())
    except OSError:
        found = None
    return 1024 * int(found[1]) if found else math.inf


class Allocation:
    """``size`` bytes at ``address``, open to kernels for as long as this object lives.

    ValueError for a negative size, NoMemory where the system has not as much.

    NumPy sees them through ``numpy.asarray(allocation)``, a uint8 array that keeps it alive.
    """

    __slots__ = ("address", "size")

    def __init__(self, size: int):
        extend, open_memory, _ = _functions()
        if size < 0:
            raise ValueError(f"an allocation of {size} bytes: it cannot be negative")
        held = _held(size)
        address = _spare.take(held)
        if address is None and (held < LARGE or held + RESERVE < _available()):
            with _extending:
                address = _returned.take(held) or extend(held)
        if address is None:
            raise NoMemory(f"there is no room for {size:,} bytes")
        open_memory(address, size)
        self.address, self.size = address, size
        _live[address] = size

    @property
    def __array_interface__(self) -> dict:
        return {
            "version": 3,
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self.address, False),
        }

    def __del__(self, functions=_functions, spare=_spare, live=_live, held_by=_held) -> None:
        if not hasattr(self, "size"):
            return  # it was never made
        held = held_by(self.size)
        del live[self.address]
        keep = spare.bytes + held <= SPARE_LIMIT
        functions()[2](self.address, self.size, not keep)
        (spare if keep else _returned).keep(held, self.address)


def release() -> None:
    """Give the memory behind all freed allocations back to the system."""
    for held in list(_spare.addresses):
        while address := _spare.take(held):
            _functions()[2](address, held, 1)
            _returned.keep(held, address)


def is_freed(address: int) -> bool:
    """Whether an allocation began here that is no more."""
    lists = [*_spare.addresses.values(), *_returned.addresses.values()]
    return any(address in addresses for addresses in lists)


def live() -> list[tuple[int, int]]:
    """(address, size) of every allocation."""
    # Of a copy: while a list is made the collector of garbage may free allocations.
    return list(_live.copy().items())


def shut(address: int, size: int) -> None:
    """Let no kernel touch an allocation until ``reopen``."""
    _functions()[2](address, size, 0)


def reopen(address: int, size: int) -> None:
    _functions()[1](address, size)


def holding(address: int) -> tuple[int, int] | None:
    """(address, size) of the allocation that an address lies in, or at the end of."""
    known = sorted(live())
    at = bisect.bisect_right(known, (address, 1 << 63)) - 1
    return known[at] if at >= 0 and address <= sum(known[at]) else None
