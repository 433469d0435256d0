"""What one that listens to a launch, such as an x-ray, needs of the engine.

It compiles a translated source in its own way, and puts a kernel of its own in a kernel's place.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from gpuless.engine import kernels, translate

Structure = kernels._Kernel  # StandinKernel of shim/runtime.h


def module(name: str, translation: translate.Translation, library: ctypes.CDLL) -> kernels.Module:
    """The module of a translated source whose library was made elsewhere."""
    made = kernels.Module.__new__(kernels.Module)
    made.name, made.translation, made.library = name, translation, library
    return made


def structure(kernel: kernels.Kernel) -> Structure:
    """What the runtime is given to launch; its ``slots`` are the module's shared variables."""
    return Structure.from_address(kernel._address)


def slots(kernel: kernels.Kernel) -> Iterator[tuple[int, int, int]]:
    """Bytes, number among ``translation.shared``, and bytes of an element, of each shared variable
    of the module."""
    slot = structure(kernel).slots
    while slot:
        one = slot.contents
        yield one.bytes, one.number, one.element
        slot = one.next


@contextlib.contextmanager
def replaced(kernel: kernels.Kernel, other: Structure) -> Iterator[int]:
    """Inside a ``with`` block ``other`` is launched in the kernel's place, and nothing else.

    Yields the address of the kernel as it was. ``other`` may be filled inside the block.
    """
    with kernels._lock:
        before = kernel._address
        kernel._address = ctypes.addressof(other)
        try:
            yield before
        finally:
            kernel._address = before
