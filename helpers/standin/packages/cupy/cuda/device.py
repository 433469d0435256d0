"""Logical devices: numbers that arrays and streams carry."""

from __future__ import annotations

import threading

from cupy.cuda import runtime

_local = threading.local()


class Device:
    """Device number ``device`` (default: the current one); ``with Device(1):`` makes it current."""

    def __init__(self, device: int | Device | None = None):
        if device is None:
            self.id = runtime.getDevice()
        else:
            self.id = int(device)
        if not 0 <= self.id < runtime.getDeviceCount():
            raise runtime.CUDARuntimeError(101)

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __lt__(self, other: Device) -> bool:
        return self.id < other.id

    def __hash__(self) -> int:
        return hash(("Device", self.id))

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __enter__(self):
        _local.__dict__.setdefault("stack", []).append(runtime.getDevice())
        self.use()
        return self

    def __exit__(self, *args) -> None:
        runtime.setDevice(_local.stack.pop())

    def use(self) -> None:
        runtime.setDevice(self.id)

    def synchronize(self) -> None:
        """Wait for the device; nothing is ever pending, but a capture refuses to wait."""
        runtime.deviceSynchronize()

    @property
    def compute_capability(self) -> str:
        """'00': no GPU, so no capability."""
        return "00"

    @property
    def attributes(self) -> dict[str, int]:
        """Those of CUDA's attributes that ``getDeviceProperties`` knows, by CUDA's names."""
        properties = runtime.getDeviceProperties(self.id)
        return {
            "MaxThreadsPerBlock": properties["maxThreadsPerBlock"],
            "MaxSharedMemoryPerBlock": properties["sharedMemPerBlock"],
            "MaxSharedMemoryPerBlockOptin": properties["sharedMemPerBlockOptin"],
            "MultiProcessorCount": properties["multiProcessorCount"],
            "MaxThreadsPerMultiProcessor": properties["maxThreadsPerMultiProcessor"],
            "WarpSize": properties["warpSize"],
            "CooperativeLaunch": properties["cooperativeLaunch"],
            "L2CacheSize": properties["l2CacheSize"],
            "ClockRate": properties["clockRate"],
        }

    @property
    def mem_info(self) -> tuple[int, int]:
        """(free, total) bytes."""
        return runtime.memGetInfo()


def get_device_id() -> int:
    return runtime.getDevice()


def get_compute_capability() -> str:
    return Device().compute_capability
