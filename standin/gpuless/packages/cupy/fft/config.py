"""The plan cache: which transforms have been asked for, in order of last use.

A CPU needs no plans kept, so only the book-keeping is here: one entry for each transform, shape and
dtype, on each device.
"""

from __future__ import annotations

import operator
import sys
import types
import warnings
from collections import OrderedDict

from cupy.cuda import runtime
from gpuless import not_covered


class _Config(types.ModuleType):
    """The module's switches, which are more than values."""

    _nd_planning = True

    @property
    def enable_nd_planning(self) -> bool:
        """Whether several axes are transformed at once, as the strides of the result show. It is
        warned of: CuPy 14 is about to drop it."""
        _warn_of_nd_planning()
        return self._nd_planning

    @enable_nd_planning.setter
    def enable_nd_planning(self, value: bool) -> None:
        _warn_of_nd_planning()
        self._nd_planning = value

    @property
    def use_multi_gpus(self) -> bool:
        return False

    @use_multi_gpus.setter
    def use_multi_gpus(self, value: bool) -> None:
        if value:
            raise not_covered("cupy.fft.config.use_multi_gpus")


def _warn_of_nd_planning() -> None:
    text = "enable_nd_planning is deprecated: transforms over several axes are always planned whole"
    warnings.warn(text, DeprecationWarning, stacklevel=3)


sys.modules[__name__].__class__ = _Config


def _limit(size: int) -> int:
    if operator.index(size) < -1:
        raise ValueError(f"a size is -1 for none, 0 to switch the cache off, or positive: {size}")
    return size


class PlanCache:
    """At most ``size`` entries; the one used longest ago goes first."""

    def __init__(self, size: int = 16, memsize: int = -1, dev: int = -1):
        self._size, self._memsize = _limit(size), _limit(memsize)
        self._device = dev
        self._plans: OrderedDict = OrderedDict()
        self._hits = self._misses = 0

    def touch(self, key) -> None:
        """Note one use of the plan ``key``, unless the cache is off."""
        if not (self._size and self._memsize):
            return
        if key in self._plans:
            self._hits += 1
            self._plans.move_to_end(key)
            return
        self._misses += 1
        self._plans[key] = None
        self._trim()

    def _trim(self) -> None:
        while 0 <= self._size * bool(self._memsize) < len(self._plans):
            self._plans.popitem(last=False)

    def get_size(self) -> int:
        return self._size

    def set_size(self, size: int) -> None:
        self._size = _limit(size)
        self._trim()

    def get_curr_size(self) -> int:
        return len(self._plans)

    def get_memsize(self) -> int:
        return self._memsize

    def set_memsize(self, memsize: int) -> None:
        self._memsize = _limit(memsize)
        self._trim()

    def get_curr_memsize(self) -> int:
        """0: no plan holds memory here."""
        return 0

    def clear(self) -> None:
        self._plans.clear()
        self._hits = self._misses = 0

    def show_info(self) -> None:
        print(self)

    def __repr__(self) -> str:
        limits = ["(unlimited)" if n < 0 else str(n) for n in (self._size, self._memsize)]
        lines = [
            f"---------- FFT plan cache of the CPU stand-in (device {self._device}) ----------",
            f"cache enabled? {self._size != 0 != self._memsize}",
            f"current / max size   : {len(self._plans)} / {limits[0]} (counts)",
            f"current / max memsize: 0 / {limits[1]} (bytes)",
            f"hits / misses: {self._hits} / {self._misses} (counts)",
            "",
            "cached plans (most recently used first):",
        ]
        return "\n".join(lines + [f"key: {key}" for key in reversed(self._plans)]) + "\n"


_caches: dict[int, PlanCache] = {}


def get_plan_cache() -> PlanCache:
    """The plan cache of the current device."""
    device = runtime.getDevice()
    return _caches.setdefault(device, PlanCache(dev=device))


def clear_plan_cache() -> None:
    get_plan_cache().clear()


def show_plan_cache_info() -> None:
    """Print the plan caches of all devices that have one."""
    for _, cache in sorted(_caches.items()):
        cache.show_info()
