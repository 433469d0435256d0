"""Run a launch under the x-ray and fetch what it saw, still by places and spaces."""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from helpers.standin.engine import kernels, translate
from helpers.standin.xray import build
from helpers.standin.xray.source import array_shape

#: Accesses that one x-ray looks at, about: a second on one core. More blocks are sampled.
MOST_ACCESSES = 40_000_000
FEW_BLOCKS = 16  # so many are looked at in any case


class _Stat(ctypes.Structure):
    """Stat of cpp/state.h."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("place", "space", "kind", "size")),
        *(
            (name, ctypes.c_int64)
            for name in (
                "requests lanes bytes sectors distinct passes ideal_passes turns worst".split()
            )
        ),
        *((name, ctypes.c_uint32) for name in ("mask", "block", "warp", "thread")),
        ("address", ctypes.c_uint64 * 32),
    ]


class _Race(ctypes.Structure):
    """Race of cpp/state.h."""

    _fields_ = [
        ("place", ctypes.c_int32 * 2),
        ("kind", ctypes.c_int32 * 2),
        *((name, ctypes.c_int32) for name in ("space", "type", "same_value")),
        ("block", ctypes.c_uint32 * 2),
        ("thread", ctypes.c_uint32 * 2),
        ("offset", ctypes.c_int64),
        ("count", ctypes.c_int64),
    ]


class _GivenSpace(ctypes.Structure):
    """GivenSpace of cpp/xray.cpp."""

    _fields_ = [
        ("base", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("granule", ctypes.c_int32),
        ("constant", ctypes.c_int32),
    ]


@dataclass
class Space:
    """Memory with a name. Element ``k`` lies at byte ``origin + k * item_bytes`` of it.

    ``base`` is its address (0 for shared memory), ``size`` its bytes; ``constant``: the kernel
    cannot write there; ``shape`` is known of some shared arrays.
    """

    name: str
    base: int = 0
    size: int = 0
    item_bytes: int = 4
    origin: int = 0
    constant: bool = False
    shared: bool = False
    shape: tuple[int, ...] = ()


@dataclass
class Seen:
    """What the x-ray saw of one launch: ``stats`` and ``races`` as the library has them.

    ``splits`` and ``passages`` are by place; ``sample`` are the numbers of the blocks looked at,
    None for all. ``sectors_read`` (by space) are those that were read before they were
    written, each once.
    """

    stats: list[_Stat]
    races: list[_Race]
    splits: list[int]
    passages: list[int]
    spaces: list[Space]
    sample: list[int] | None
    accesses: int
    sectors_read: list[int]
    sectors_written: list[int]
    places: list = field(default_factory=list)


class XRayedKernel:
    """A kernel of a translated module, compiled for the x-ray; arguments as ``Kernel.launch``."""

    def __init__(self, translation: translate.Translation, options: Sequence[str], name: str):
        self.translation = translation
        self._options, self._name = tuple(options), name
        self.library = build.build(translation.text, options=self._options, name=name)
        self._module = kernels.Module.__new__(kernels.Module)  # one whose library is ours
        self._module.name = name
        self._module.translation = translation
        self._module.library = self.library.loaded

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a variable of the module, in the x-ray's own copy of it."""
        return self._module.variable(name)

    def parameters(self, entry: str) -> list[kernels.Parameter]:
        """Of the kernel ``entry``."""
        return self._module.kernel(entry).parameters

    def launch(
        self,
        entry: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        values: Sequence,
        arrays: Sequence[Space],
        check: Callable[[list[int] | None], None],
        *,
        shared_bytes: int = 0,
        cooperative: bool = False,
        blocks: int | None = None,
        accesses: int = MOST_ACCESSES,
    ) -> Seen:
        """Run the kernel ``entry`` and look at all its blocks or, of many, at a sample.

        Args:
            arrays: every array that the values point to. None may overlap another.
            check: is called with the numbers of blocks (None: all) before these are run, and should
                run them in the ordinary way, since an x-rayed kernel has no fences.
            blocks: how many blocks to look at; None: as many as have so many ``accesses``.

        Raises:
            KernelError: as for a launch; races are no error.
        """
        kernel = self._module.kernel(entry)
        count = math.prod(grid)
        alone = not (cooperative or self.translation.spins)

        def run(sample: list[int] | None) -> Seen:
            check(sample)
            return self._run(kernel, grid, block, values, arrays, shared_bytes, cooperative, sample)

        if blocks is None:
            blocks = count
            if count > FEW_BLOCKS and alone:
                with _restored(arrays):
                    first = run([0])
                blocks = max(2, accesses // max(1, first.accesses))
        return run(None if blocks >= count or not alone else _spread(count, blocks))

    def _run(self, kernel, grid, block, values, arrays, shared_bytes, cooperative, sample) -> Seen:
        library = build.listener()
        resident = False
        if not _structure(kernel).loop:
            threads = math.prod(grid) * math.prod(block)
            spins = self.translation.spins and threads <= kernels.RESIDENT_LIMIT
            resident = cooperative or spins
        spaces = [*self._shared(kernel, shared_bytes), *arrays]
        given = (_GivenSpace * max(1, len(arrays)))(
            *(_GivenSpace(a.base, a.size, _granule(a), a.constant) for a in arrays)
        )
        spans = [place for loop in self.library.loops for place in loop]
        with gated(kernel, grid, sample) as plain:
            library.xray_begin(
                ctypes.c_void_p(plain),
                ctypes.c_size_t(shared_bytes),
                math.prod(block),
                int(resident),
                len(self.library.places),
                len(arrays),
                given,
                len(self.library.loops),
                (ctypes.c_int32 * max(1, len(spans)))(*spans),
            )
            complete = 0
            try:
                kernel.launch(grid, block, values, shared_bytes, cooperative)
                complete = 1
            finally:
                library.xray_end(complete)
            return self._fetch(library, spaces, sample)

    def _shared(self, kernel, dynamic: int) -> list[Space]:
        """The shared variables in the order of the module's slots, and the dynamic memory."""
        spaces = []
        slot = _structure(kernel).slots
        while slot:
            one = slot.contents
            name = self.translation.shared[one.number].name
            shape = array_shape(self.translation.text, f"standin_type_{one.number}")
            spaces.append(Space(name, size=one.bytes, shared=True, shape=shape))
            slot = one.next
        return [*spaces, Space("dynamic shared memory", size=dynamic, shared=True)]

    def _fetch(self, library, spaces, sample) -> Seen:
        count = ctypes.c_int()

        def all_of(function, kind):
            function.restype = ctypes.POINTER(kind)
            found = function(ctypes.byref(count))
            return [kind.from_buffer_copy(found[i]) for i in range(count.value)]

        def numbers(function, many):
            function.restype = ctypes.POINTER(ctypes.c_int64)
            return function()[: len(many)]

        places = self.library.places
        library.xray_events.restype = ctypes.c_int64
        return Seen(
            stats=all_of(library.xray_stats, _Stat),
            races=all_of(library.xray_races, _Race),
            splits=numbers(library.xray_splits, places),
            passages=numbers(library.xray_passages, places),
            spaces=spaces,
            sample=sample,
            accesses=library.xray_events(),
            sectors_read=numbers(library.xray_sectors_read, spaces),
            sectors_written=numbers(library.xray_sectors_written, spaces),
            places=places,
        )


@contextlib.contextmanager
def gated(kernel: kernels.Kernel, grid: tuple[int, int, int], sample: list[int] | None):
    """Inside a ``with`` block the kernel's launches run these blocks only; None: all of them.

    Yields the address of the kernel as it was.
    """
    gate, plain = kernels._Kernel(), kernel._address
    numbers = sample or []
    with kernels._lock:
        build.listener().xray_gate(
            ctypes.c_void_p(plain),
            ctypes.byref(gate),
            *grid,
            (ctypes.c_uint32 * max(1, len(numbers)))(*numbers),
            -1 if sample is None else len(numbers),
        )
        kernel._address = ctypes.addressof(gate)
        try:
            yield plain
        finally:
            kernel._address = plain


@contextlib.contextmanager
def _restored(arrays: Sequence[Space]):
    """What the arrays hold is the same behind a ``with`` block as before it."""
    kept = [(a, ctypes.string_at(a.base, a.size)) for a in arrays if not a.constant]
    try:
        yield
    finally:
        for array, data in kept:
            ctypes.memmove(array.base, data, array.size)


def _structure(kernel: kernels.Kernel) -> kernels._Kernel:
    address = ctypes.c_void_p(kernel._address)
    return ctypes.cast(address, ctypes.POINTER(kernels._Kernel)).contents


def _granule(space: Space) -> int:
    """Bytes that the races' books tell of together: an element, as far as they can."""
    size = space.item_bytes
    return size if size in (1, 2, 4, 8, 16) else 4


def _spread(count: int, wanted: int) -> list[int]:
    """Numbers of ``wanted`` blocks: the first, the last, and those evenly between."""
    wanted = max(2, min(wanted, count))
    return sorted({round(k * (count - 1) / (wanted - 1)) for k in range(wanted)})
