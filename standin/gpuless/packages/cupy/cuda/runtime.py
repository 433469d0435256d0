"""The part of the CUDA runtime API that the book uses, answered for a machine with no GPU."""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import dataclass

from cupy.cuda import _card, _late, _ownership
from cupy.cuda._state import (  # noqa: F401
    CUDARuntimeError,
    check_ordinal,
    getDevice,
    getDeviceCount,
    setDevice,
)
from cupy.cuda.stream import by_pointer, move, refuse_while_capturing, submit
from cupy.cuda.stream import synchronize_device as deviceSynchronize  # noqa: F401
from gpuless import missing

is_hip = False

streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = 0, 1, 2

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost = 0, 1, 2
memcpyDeviceToDevice, memcpyDefault = 3, 4
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned = 0, 1
cudaChannelFormatKindFloat, cudaChannelFormatKindNone = 2, 3
cudaResourceTypeArray, cudaResourceTypeMipmappedArray = 0, 1
cudaResourceTypeLinear, cudaResourceTypePitch2D = 2, 3
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = 0, 1, 2, 3
cudaFilterModePoint, cudaFilterModeLinear = 0, 1
cudaReadModeElementType, cudaReadModeNormalizedFloat = 0, 1
cudaArrayDefault, cudaArraySurfaceLoadStore = 0, 2
memoryTypeUnregistered, memoryTypeHost, memoryTypeDevice, memoryTypeManaged = 0, 1, 2, 3


# Devices


def getDeviceProperties(device: int) -> dict:
    """Properties by CUDA's names; the limits are those of current GPUs, the name says CPU."""
    check_ordinal(device)
    total = memory_info(device)[1]
    place = {"pciBusID": device + 1, "pciDeviceID": 0, "pciDomainID": 0}
    return {**_card.properties(), "totalGlobalMem": total, **place}


def deviceGetAttribute(attribute: int, device: int) -> int:
    """One property by the number of its ``cudaDevAttr...``."""
    properties = getDeviceProperties(device)
    for number, name in _card.ATTRIBUTES.values():
        if number == attribute:
            return _card.attribute(properties, name)
    raise CUDARuntimeError(1)


def deviceGetPCIBusId(device: int) -> str:
    check_ordinal(device)
    return f"0000:{device + 1:02X}:00.0"


def deviceGetByPCIBusId(pci_bus_id: str) -> int:
    if not re.fullmatch(
        "([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-9a-fA-F]", pci_bus_id
    ):
        raise CUDARuntimeError(1)
    for device in range(getDeviceCount()):
        if deviceGetPCIBusId(device).endswith(pci_bus_id.upper()):
            return device
    raise CUDARuntimeError(101)


def memory_info(device: int) -> tuple[int, int]:
    """(free, total) bytes of a device: this machine's memory, or the simulated card's."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        free, total = page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        free = total = 0
    limit = _card.memory_limit()
    return (free, total) if limit is None else (limit - _ownership.used(device), limit)


def memGetInfo() -> tuple[int, int]:
    """(free, total) bytes of the current device."""
    return memory_info(getDevice())


# One device and another's memory


def deviceCanAccessPeer(device: int, peer: int) -> int:
    check_ordinal(device)
    check_ordinal(peer)
    return int(device != peer and _card.has_peers())


def deviceEnablePeerAccess(peer: int) -> None:
    """Let kernels of the current device touch the memory of device ``peer``."""
    check_ordinal(peer)
    device = getDevice()
    if device == peer:
        raise CUDARuntimeError(101)
    if _ownership.may_touch(device, peer):
        raise CUDARuntimeError(704)
    if not _ownership.enable(device, peer):
        raise CUDARuntimeError(217)


def deviceDisablePeerAccess(peer: int) -> None:
    check_ordinal(peer)
    if getDevice() == peer or not _ownership.may_touch(getDevice(), peer):
        raise CUDARuntimeError(705)
    _ownership.disable(getDevice(), peer)


# Copies between addresses, which are integers


def _check_range(address: int, size: int, device: int | None = None) -> None:
    """CUDARuntimeError (invalid argument) unless the bytes are there, on that device if any."""
    found = _ownership.find(address)
    if found is None and device is None and (address or not size):
        return  # the host's
    if found is None or found[1] < size or device not in (None, found[0]):
        error = CUDARuntimeError(1)
        wanted = f"{size} bytes" + (f" on device {device}" if device is not None else "")
        have = f"{found[1]} bytes on device {found[0]}" if found else "no device's memory"
        error.add_note(f"{wanted} are asked for at address {address:#x}; there are {have}.")
        raise error


def _copy(dst: int, src: int, size: int, stream_ptr: int | None) -> None:
    _ownership.check_apart(dst, src, size)
    if stream_ptr is None:
        refuse_while_capturing("synchronous API calls")
        submit(lambda: ctypes.memmove(dst, src, size), by_pointer(0))
        return
    ends = _ownership.memory_at(dst), _ownership.memory_at(src)
    if ends.count(None) == 1:
        move(dst, src, size, by_pointer(stream_ptr), ends)
    else:  # from the host to the host CUDA waits, too
        submit(lambda: ctypes.memmove(dst, src, size), by_pointer(stream_ptr))


def _check_kind(dst: int, src: int, kind: int) -> None:
    """CUDARuntimeError where the addresses lie elsewhere than ``kind`` says, which CUDA leaves
    undefined. Pinned and managed memory are the host's and a device's; what nobody has allocated
    may be a variable of a module."""
    if not memcpyHostToHost <= kind <= memcpyDefault:
        raise CUDARuntimeError(21)
    for end, address, kinds in (
        ("target", dst, (memcpyHostToHost, memcpyDeviceToHost)),
        ("source", src, (memcpyHostToHost, memcpyHostToDevice)),
    ):
        if kind in kinds and pointerGetMemoryType(address) == memoryTypeDevice:
            error = CUDARuntimeError(1)
            error.add_note(f"By the kind of the copy its {end} is the host's; it is a device's.")
            raise error


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy ``size`` bytes between two addresses; ``kind`` as ``memcpyDefault``."""
    _check_range(dst, size)
    _check_range(src, size)
    _check_kind(dst, src, kind)
    _copy(dst, src, size, None)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """``memcpy`` on the stream with that pointer."""
    _check_range(dst, size)
    _check_range(src, size)
    _check_kind(dst, src, kind)
    _copy(dst, src, size, stream)


def memcpyPeer(dst: int, dstDevice: int, src: int, srcDevice: int, size: int) -> None:
    """Copy ``size`` bytes from one device to another; peer access is not needed."""
    _check_peers(dst, dstDevice, src, srcDevice, size)
    _copy(dst, src, size, None)


def memcpyPeerAsync(
    dst: int, dstDevice: int, src: int, srcDevice: int, size: int, stream: int
) -> None:
    """``memcpyPeer`` on the stream with that pointer."""
    _check_peers(dst, dstDevice, src, srcDevice, size)
    _copy(dst, src, size, stream)


def _check_peers(dst: int, dst_device: int, src: int, src_device: int, size: int) -> None:
    check_ordinal(dst_device)
    check_ordinal(src_device)
    if size:
        _check_range(dst, size, dst_device)
        _check_range(src, size, src_device)


@dataclass
class PointerAttributes:
    """What CUDA knows of an address: the device that owns it, and ``memoryTypeDevice`` or other."""

    device: int
    devicePointer: int
    hostPointer: int
    type: int = memoryTypeUnregistered


def pointerGetAttributes(ptr: int) -> PointerAttributes:
    found = _ownership.memory_at(ptr)
    if found is not None and found.managed:
        return PointerAttributes(found.device_id, ptr, ptr, memoryTypeManaged)
    if found is not None:
        return PointerAttributes(found.device_id, ptr, 0, memoryTypeDevice)
    if _late.pinned_at(ptr) is not None:
        return PointerAttributes(0, ptr, ptr, memoryTypeHost)
    return PointerAttributes(-2, 0, ptr)  # cudaInvalidDeviceId: an address of the host's


def pointerGetMemoryType(ptr: int) -> int:
    return pointerGetAttributes(ptr).type


# The rest


def runtimeGetVersion() -> int:
    """0, as CUDA answers where there is no driver."""
    return 0


driverGetVersion = runtimeGetVersion


def profilerStart() -> None:
    """Nothing to start: no profiler watches a CPU."""


profilerStop = profilerStart


def __getattr__(name: str):
    attribute = _card.ATTRIBUTES.get(name.removeprefix("cudaDevAttr"))
    if name.startswith("cudaDevAttr") and attribute is not None:
        return attribute[0]
    raise missing("cupy.cuda.runtime", name)
