"""The card that a logical device seems to be: CUDA's limits, and CUPY_STANDIN_CARD's smaller ones.

``CUPY_STANDIN_CARD="sms=10,memory=2GiB,shared=64KiB,cooperative=0"`` makes every logical device a
smaller card, so that what a program does where a card cannot do all can be tried without one:

``sms``          multiprocessors
``memory``       bytes of device memory; an allocation past it is out of memory
``shared``       bytes of shared memory that a block may have at most, 48 KiB or more
``l2``           bytes of level-2 cache
``cooperative``  1 or 0: whether a kernel may be launched with grid-wide barriers
``peers``        1 or 0: whether a device can be given access to another one's memory
``capability``   compute capability, such as 7.5

Bytes are numbers with or without KiB, MiB or GiB.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable

VARIABLE = "CUPY_STANDIN_CARD"

MAX_THREADS = 1024  # a block
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
SHARED_DEFAULT = 48 * 1024  # bytes of shared memory for a block that asks for no more
_RESERVED = 1024  # bytes of shared memory that CUDA keeps of each block's

_PROPERTIES = {
    "name": b"CPU stand-in (no GPU)",
    "sharedMemPerBlock": SHARED_DEFAULT,
    "sharedMemPerBlockOptin": 227 * 1024,  # static and dynamic together, as on an H100
    "reservedSharedMemPerBlock": _RESERVED,
    "sharedMemPerMultiprocessor": 228 * 1024,
    "regsPerBlock": 65536,
    "regsPerMultiprocessor": 65536,
    "warpSize": 32,
    "maxThreadsPerBlock": MAX_THREADS,
    "maxThreadsDim": MAX_BLOCK,
    "maxGridSize": MAX_GRID,
    "maxThreadsPerMultiProcessor": 2048,
    "maxBlocksPerMultiProcessor": 32,
    "multiProcessorCount": 4,
    "clockRate": 0,
    "memoryClockRate": 0,
    "memoryBusWidth": 0,
    "l2CacheSize": 0,
    "persistingL2CacheMaxSize": 0,
    "totalConstMem": 65536,
    "major": 0,
    "minor": 0,
    "singleToDoublePrecisionPerfRatio": 2,
    "cooperativeLaunch": 1,
    "cooperativeMultiDeviceLaunch": 0,
    "concurrentKernels": 0,
    "asyncEngineCount": 0,
    "deviceOverlap": 0,
    "streamPrioritiesSupported": 0,
    "computePreemptionSupported": 0,
    "computeMode": 0,
    "ECCEnabled": 0,
    "tccDriver": 0,
    "kernelExecTimeoutEnabled": 0,
    "isMultiGpuBoard": 0,
    "canMapHostMemory": 1,
    "integrated": 1,
    "unifiedAddressing": 1,
    "managedMemory": 1,
    "concurrentManagedAccess": 1,
    "memoryPoolsSupported": 1,
    "pageableMemoryAccess": 1,
    "hostNativeAtomicSupported": 1,
    "globalL1CacheSupported": 1,
    "localL1CacheSupported": 1,
}

# ``cudaDevAttr...`` of the runtime's: its number, and the property with its value.
ATTRIBUTES = {
    "MaxThreadsPerBlock": (1, "maxThreadsPerBlock"),
    **{f"MaxBlockDim{c}": (2 + i, f"maxThreadsDim.{c}") for i, c in enumerate("XYZ")},
    **{f"MaxGridDim{c}": (5 + i, f"maxGridSize.{c}") for i, c in enumerate("XYZ")},
    "MaxSharedMemoryPerBlock": (8, "sharedMemPerBlock"),
    "TotalConstantMemory": (9, "totalConstMem"),
    "WarpSize": (10, "warpSize"),
    "MaxRegistersPerBlock": (12, "regsPerBlock"),
    "ClockRate": (13, "clockRate"),
    "GpuOverlap": (15, "deviceOverlap"),
    "MultiProcessorCount": (16, "multiProcessorCount"),
    "KernelExecTimeout": (17, "kernelExecTimeoutEnabled"),
    "Integrated": (18, "integrated"),
    "CanMapHostMemory": (19, "canMapHostMemory"),
    "ComputeMode": (20, "computeMode"),
    "ConcurrentKernels": (31, "concurrentKernels"),
    "EccEnabled": (32, "ECCEnabled"),
    "TccDriver": (35, "tccDriver"),
    "MemoryClockRate": (36, "memoryClockRate"),
    "GlobalMemoryBusWidth": (37, "memoryBusWidth"),
    "L2CacheSize": (38, "l2CacheSize"),
    "MaxThreadsPerMultiProcessor": (39, "maxThreadsPerMultiProcessor"),
    "AsyncEngineCount": (40, "asyncEngineCount"),
    "UnifiedAddressing": (41, "unifiedAddressing"),
    "StreamPrioritiesSupported": (78, "streamPrioritiesSupported"),
    "GlobalL1CacheSupported": (79, "globalL1CacheSupported"),
    "LocalL1CacheSupported": (80, "localL1CacheSupported"),
    "MaxSharedMemoryPerMultiprocessor": (81, "sharedMemPerMultiprocessor"),
    "MaxRegistersPerMultiprocessor": (82, "regsPerMultiprocessor"),
    "ManagedMemory": (83, "managedMemory"),
    "IsMultiGpuBoard": (84, "isMultiGpuBoard"),
    "HostNativeAtomicSupported": (86, "hostNativeAtomicSupported"),
    "SingleToDoublePrecisionPerfRatio": (87, "singleToDoublePrecisionPerfRatio"),
    "PageableMemoryAccess": (88, "pageableMemoryAccess"),
    "ConcurrentManagedAccess": (89, "concurrentManagedAccess"),
    "ComputePreemptionSupported": (90, "computePreemptionSupported"),
    "CooperativeLaunch": (95, "cooperativeLaunch"),
    "CooperativeMultiDeviceLaunch": (96, "cooperativeMultiDeviceLaunch"),
    "MaxSharedMemoryPerBlockOptin": (97, "sharedMemPerBlockOptin"),
    "MaxBlocksPerMultiprocessor": (106, "maxBlocksPerMultiProcessor"),
    "ReservedSharedMemoryPerBlock": (111, "reservedSharedMemPerBlock"),
    "MemoryPoolsSupported": (115, "memoryPoolsSupported"),
}


def attribute(properties: dict, name: str) -> int:
    """A property by its name in ``ATTRIBUTES``: "maxGridSize.X" is one of three numbers."""
    name, _, axis = name.partition(".")
    return properties[name]["XYZ".index(axis)] if axis else properties[name]


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]*", text):
        raise ValueError("a number, 1 or more")
    return int(text)


def _size(text: str) -> int:
    found = re.fullmatch("([1-9][0-9]*) ?(|KiB|MiB|GiB)", text)
    if not found:
        raise ValueError("bytes, such as 65536, 64KiB, 512MiB or 2GiB")
    return int(found[1]) << {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[found[2]]


def _shared(text: str) -> int:
    size = _size(text)
    if size < SHARED_DEFAULT:
        raise ValueError("48KiB or more: no card has less")
    return size


def _yes(text: str) -> int:
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return int(text)


def _capability(text: str) -> tuple[int, int]:
    found = re.fullmatch("([0-9]+)[.]([0-9])", text)
    if not found:
        raise ValueError("two numbers with a point, such as 7.5")
    return int(found[1]), int(found[2])


_KEYS: dict[str, Callable[[str], object]] = {
    "sms": _count,
    "memory": _size,
    "shared": _shared,
    "l2": _size,
    "cooperative": _yes,
    "peers": _yes,
    "capability": _capability,
}


@functools.cache
def _parse(text: str) -> dict:
    """What the variable says, by its own keys; ValueError says what is wrong."""
    said = {}
    for entry in filter(None, text.split(",")):
        key, equals, value = (part.strip() for part in entry.partition("="))
        if key not in _KEYS or not equals or key in said:
            raise ValueError(
                f"{VARIABLE}={text!r}: {entry.strip()!r} is not one of "
                f"{', '.join(f'{k}=...' for k in _KEYS)}, each at most once, with commas between"
            )
        try:
            said[key] = _KEYS[key](value)
        except ValueError as error:
            raise ValueError(f"{VARIABLE}={text!r}: {key} must be {error}, not {value!r}") from None
    return said


def _said() -> dict:
    return _parse(os.environ.get(VARIABLE, ""))


def properties() -> dict:
    """The properties by CUDA's names, but for the size of the memory."""
    return dict(_properties(os.environ.get(VARIABLE, "")))


@functools.cache
def _properties(text: str) -> dict:
    said = _parse(text)
    card = dict(_PROPERTIES)
    if "sms" in said:
        card["multiProcessorCount"] = said["sms"]
    if "l2" in said:
        card["l2CacheSize"] = said["l2"]
    if "cooperative" in said:
        card["cooperativeLaunch"] = said["cooperative"]
    if "capability" in said:
        card["major"], card["minor"] = said["capability"]
    if "shared" in said:
        card["sharedMemPerBlockOptin"] = said["shared"]
        card["sharedMemPerMultiprocessor"] = said["shared"] + _RESERVED
    return card


def shared_limit() -> int:
    """Bytes of shared memory, static and dynamic together, that a block can have at most."""
    return _properties(os.environ.get(VARIABLE, ""))["sharedMemPerBlockOptin"]


def memory_limit() -> int | None:
    """Bytes of memory of each device; None: as much as this machine has."""
    return _said().get("memory")


def has_peers() -> bool:
    """Whether a device can be given access to another one's memory."""
    return bool(_said().get("peers", 1))


_said()  # a mistake in the variable is shown when cupy is imported
