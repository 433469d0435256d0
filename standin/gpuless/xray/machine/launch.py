"""Run a launch under the x-ray and fetch what it saw, still by places and spaces."""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gpuless.engine import kernels, listening, translate
from gpuless.engine.plan import Plan
from gpuless.xray.machine import build
from gpuless.xray.machine.source import array_shape

#: Accesses that one x-ray looks at, about: a second on one core. More blocks are sampled.
MOST_ACCESSES = 40_000_000
FEW_BLOCKS = 16  # so many are looked at in any case
NO_TEXTURES = "the x-ray does not see what a kernel reads by textures, or writes by surfaces"
#: Of a place that touched memory which no space holds (Unseen of cpp/state.h).
WROTE_UNKNOWN, ANOTHERS_LOCAL = 1, 2
WRITES = (1, 2)  # a store and an atomic function among Kind of cpp/state.h
MEMORIES = ("global", "shared", "constant", "malloc")  # Memory of cpp/state.h


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
        *(
            (name, ctypes.c_int32)
            for name in "granule read_only memory alignment widest aside".split()
        ),
    ]


@dataclass
class Space:
    """Memory with a name. Element ``k`` lies at byte ``origin + k * item_bytes`` of it.

    ``base`` is its address (0 for shared memory), ``size`` its bytes; ``memory`` is one of
    MEMORIES. ``read_only``: the kernel says that it does not write there. ``alignment`` in bytes is
    that of its elements, 16 where nothing is known, and ``widest`` what one access to such an
    element can move at most. ``shape`` is known of some shared arrays. ``aside``: it is no
    argument, and no copy of anything either.
    """

    name: str
    base: int = 0
    size: int = 0
    item_bytes: int = 4
    origin: int = 0
    read_only: bool = False
    memory: str = "global"
    alignment: int = 16
    widest: int = 16
    shape: tuple[int, ...] = ()
    aside: bool = False

    @property
    def shared(self) -> bool:
        return self.memory == "shared"


@dataclass
class Seen:
    """What the x-ray saw of one launch: ``stats`` and ``races`` as the library has them.

    ``splits`` and ``passages`` are by place; ``sample`` are the numbers of the blocks looked at,
    None for all. ``sectors_read`` (by space) are those that were read before they were
    written, each once. ``unseen``, by place: WROTE_UNKNOWN or ANOTHERS_LOCAL.
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
    unseen: bytes = b""


class XRayedKernel:
    """A kernel of a translated module, compiled for the x-ray; arguments as ``Kernel.launch``."""

    def __init__(self, translation: translate.Translation, options: Sequence[str], name: str):
        if '#include "texture.h"' in translation.text:
            raise NotImplementedError(NO_TEXTURES)
        self.translation = translation
        self._options, self._name = tuple(options), name
        self.library = build.build(translation.text, options=self._options, name=name)
        self._module = listening.module(name, translation, self.library.loaded)

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a variable of the module, in the x-ray's own copy of it."""
        return self._module.variable(name)

    def parameters(self, entry: str) -> list[kernels.Parameter]:
        """Of the kernel ``entry``."""
        return self._module.kernel(entry).parameters

    def launch(
        self,
        entry: str,
        plan: Plan,
        arrays: Sequence[Space],
        check: Callable[[list[int] | None], None],
        *,
        blocks: int | None = None,
        accesses: int = MOST_ACCESSES,
    ) -> Seen:
        """Run the kernel ``entry`` and look at all its blocks or, of many, at a sample.

        Args:
            arrays: every array that the plan's values point to. None may overlap another.
            check: is called with the numbers of blocks (None: all) before these are run, and should
                run them in the ordinary way, since an x-rayed kernel has no fences.
            blocks: how many blocks to look at; None: as many as have so many ``accesses``.

        Raises:
            KernelError: as for a launch; races are no error.
        """
        kernel = self._module.kernel(entry)
        count = math.prod(plan.grid)
        alone = not (plan.cooperative or self.translation.spins)

        def run(sample: list[int] | None) -> Seen:
            check(sample)
            kept = _kept(arrays)
            seen = self._run(kernel, plan, arrays, sample)
            if not (written := _written(seen, arrays)):
                return seen
            # Who has read what is written past its const was not noted: so once more.
            _restore(kept)
            for array in written:
                array.read_only = False
            return self._run(kernel, plan, arrays, sample)

        if blocks is None:
            blocks = count
            if count > FEW_BLOCKS and alone:
                with _restored(arrays):
                    first = run([0])
                blocks = max(2, accesses // max(1, first.accesses))
        return run(None if blocks >= count or not alone else _spread(count, blocks))

    def _run(self, kernel, plan: Plan, arrays, sample) -> Seen:
        library = build.listener()
        threads = math.prod(plan.block)
        resident = False
        if not listening.structure(kernel).loop:
            few = math.prod(plan.grid) * threads <= kernels.RESIDENT_LIMIT
            resident = plan.cooperative or (self.translation.spins and few)
        taken = Space("memory from malloc", memory="malloc")
        spaces = [*self._shared(kernel, plan.shared_bytes), *arrays, taken]
        given = (_GivenSpace * max(1, len(arrays)))(
            *(
                _GivenSpace(
                    a.base,
                    a.size,
                    _granule(a),
                    a.read_only,
                    MEMORIES.index(a.memory),
                    a.alignment,
                    a.widest,
                    a.aside,
                )
                for a in arrays
            )
        )
        # One line of the source may be several places: a loop's first turn stands before the loop.
        places = self.library.places
        first: dict[tuple, int] = {}
        same = [
            first.setdefault((place.file, place.line, place.column), n)
            for n, place in enumerate(places)
        ]
        waits = bytearray(len(places))
        for n, place in zip(same, places, strict=True):
            waits[n] |= place.waits
        spans = [place for loop in self.library.loops for place in loop]
        with gated(kernel, plan.grid, sample) as plain:
            library.xray_begin(
                ctypes.c_void_p(plain),
                ctypes.c_size_t(plan.shared_bytes),
                threads,
                int(resident),
                len(places),
                len(arrays),
                given,
                len(self.library.loops),
                (ctypes.c_int32 * max(1, len(spans)))(*spans),
                (ctypes.c_int32 * len(places))(*same),
                bytes(waits),
            )
            complete = 0
            try:
                kernel.launch(*plan)
                complete = 1
            finally:
                library.xray_end(complete)
            return self._fetch(library, spaces, sample)

    def _shared(self, kernel, dynamic: int) -> list[Space]:
        """The shared variables in the order of the module's slots, and the dynamic memory."""
        spaces = []
        for size, number, element in listening.slots(kernel):
            name = self.translation.shared[number].name
            shape = array_shape(self.translation.text, f"standin_type_{number}")
            # Of a struct that is alone its parts say more.
            item = element if element < size or element <= 16 else 0
            spaces.append(Space(name, size=size, item_bytes=item, memory="shared", shape=shape))
        dynamic = Space("dynamic shared memory", size=dynamic, item_bytes=0, memory="shared")
        return [*spaces, dynamic]

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
        library.xray_unseen.restype = ctypes.c_void_p
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
            unseen=ctypes.string_at(library.xray_unseen(), len(places)) if places else b"",
        )


@contextlib.contextmanager
def gated(kernel: kernels.Kernel, grid: tuple[int, int, int], sample: list[int] | None):
    """Inside a ``with`` block the kernel's launches run these blocks only; None: all of them.

    Yields the address of the kernel as it was.
    """
    gate, numbers = listening.Structure(), sample or []
    with listening.replaced(kernel, gate) as plain:
        build.listener().xray_gate(
            ctypes.c_void_p(plain),
            ctypes.byref(gate),
            *grid,
            (ctypes.c_uint32 * max(1, len(numbers)))(*numbers),
            -1 if sample is None else len(numbers),
        )
        yield plain


@contextlib.contextmanager
def _restored(arrays: Sequence[Space]):
    """What the arrays hold is the same behind a ``with`` block as before it."""
    kept = _kept(arrays)
    try:
        yield
    finally:
        _restore(kept)


def _kept(arrays: Sequence[Space]) -> list[tuple[Space, bytes]]:
    """What the arrays hold."""
    return [
        (a, ctypes.string_at(a.base, a.size))
        for a in arrays
        if a.memory != "constant" and not a.aside
    ]


def _restore(kept: list[tuple[Space, bytes]]) -> None:
    for array, data in kept:
        ctypes.memmove(array.base, data, array.size)


def _written(seen: Seen, arrays: Sequence[Space]) -> list[Space]:
    """Arrays that a kernel may only read, and has written by a pointer that says otherwise."""
    touched = [seen.spaces[stat.space] for stat in seen.stats if stat.kind in WRITES]
    return [
        array
        for array in arrays
        if array.read_only and array.memory == "global" and any(array is one for one in touched)
    ]


def _granule(space: Space) -> int:
    """Bytes that the races' books tell of together: an element, as far as they can."""
    size = space.item_bytes
    return size if size in (1, 2, 4, 8, 16) else 4


def _spread(count: int, wanted: int) -> list[int]:
    """Numbers of ``wanted`` blocks: the first, the last, and those evenly between."""
    wanted = max(2, min(wanted, count))
    return sorted({round(k * (count - 1) / (wanted - 1)) for k in range(wanted)})
