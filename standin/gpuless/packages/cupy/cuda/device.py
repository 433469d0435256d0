"""Logical devices: numbers that arrays and streams carry."""

from __future__ import annotations

import functools
import threading

from cupy.cuda import _card, runtime
from cupy.cuda.runtime import getDevice as get_device_id  # noqa: F401
from gpuless import missing, not_covered

_local = threading.local()


@functools.total_ordering
class Device:
    """Device number ``device`` (default: the current one); ``with Device(1):`` makes it current."""

    __slots__ = ("id",)  # as of a class of Cython's, which takes no other attribute and has no hash

    def __init__(self, device: int | Device | None = None):
        self.id = runtime.getDevice() if device is None else int(device)

    @classmethod
    def from_pci_bus_id(cls, pci_bus_id: str) -> Device:
        """The device with a PCI bus number such as '0000:01:00.0'."""
        return cls(runtime.deviceGetByPCIBusId(pci_bus_id))

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __lt__(self, other: Device) -> bool:
        return self.id < other.id if isinstance(other, Device) else NotImplemented

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __enter__(self) -> Device:
        before = runtime.getDevice()
        self.use()
        _local.__dict__.setdefault("stack", []).append(before)
        return self

    def __exit__(self, *args) -> None:
        runtime.setDevice(_local.stack.pop())

    def use(self) -> Device:
        """Make it current; CUDARuntimeError (invalid device ordinal) where there is none."""
        runtime.setDevice(self.id)
        return self

    def synchronize(self) -> None:
        """Wait for the device; nothing is ever pending, but a capture refuses to wait."""
        with self:
            runtime.deviceSynchronize()

    @property
    def compute_capability(self) -> str:
        """'00': no GPU, so no capability, unless CUPY_STANDIN_CARD gives one."""
        properties = runtime.getDeviceProperties(self.id)
        return f"{properties['major']}{properties['minor']}"

    @property
    def attributes(self) -> dict[str, int]:
        """Those of CUDA's attributes that ``getDeviceProperties`` knows, by CUDA's names."""
        properties = runtime.getDeviceProperties(self.id)
        return {
            name: _card.attribute(properties, where)
            for name, (_, where) in _card.ATTRIBUTES.items()
        }

    @property
    def pci_bus_id(self) -> str:
        return runtime.deviceGetPCIBusId(self.id)

    @property
    def mem_info(self) -> tuple[int, int]:
        """(free, total) bytes."""
        with self:
            return runtime.memGetInfo()

    def __getattr__(self, name: str):
        if name in ("cublas_handle", "cusolver_handle", "cusolver_sp_handle", "cusparse_handle"):
            raise not_covered(f"cupy.cuda.Device.{name}")
        raise AttributeError(f"'Device' object has no attribute {name!r}")


def get_compute_capability() -> str:
    return Device().compute_capability


def from_pointer(ptr: int) -> Device:
    """The device that owns an address."""
    return Device(runtime.pointerGetAttributes(ptr).device)


def __getattr__(name: str):
    raise missing("cupy.cuda.device", name)
