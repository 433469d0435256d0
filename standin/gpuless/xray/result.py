"""What an x-ray found, by line of the reader's source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

SECTOR = 32  # bytes that global memory moves at least
BANKS = 32
#: How an XRay is shown: "text" (made a string), "table" (displayed), "picture" (of an Access), and
#: "occupancy" (an Occupancy, displayed). Put in from above, so that what was found needs nothing
#: that draws.
SHOWN: dict[str, Callable] = {}


@dataclass(frozen=True)
class Access:
    """What one access of the source did, summed over all warps that were looked at.

    ``line`` counts from 1 in ``file``; ``code`` is that line, ``text`` the access in it, ``array``
    what it touches, ``kind`` is load, store, atomic or (either end of an asynchronous) copy, and
    ``memory`` global, shared, constant or malloc (what a kernel took for itself).
    ``requests`` of warps had ``lanes`` active lanes in all, which asked for ``bytes`` bytes.
    ``sectors`` of 32 bytes moved, in which ``distinct`` bytes were asked for. ``passes`` are those
    of shared memory, for a global load of L1, for constant memory different addresses;
    ``ideal_passes`` without conflicts.
    ``turns`` are of an atomic function: lanes at one address wait for each other. ``addresses``
    are of the costliest request: by lane, in bytes from the array's start, None where the lane had
    no part; ``block`` and ``warp`` say whose it was.
    """

    file: str
    line: int
    column: int
    code: str
    text: str
    array: str
    kind: str
    memory: str
    item_bytes: int
    requests: int
    lanes: int
    bytes: int
    sectors: int
    distinct: int
    passes: int
    ideal_passes: int
    turns: int
    addresses: tuple[int | None, ...]
    phase: int  # bytes from the sector's or bank's start to the array's
    block: tuple[int, int, int]
    warp: int

    @property
    def shared(self) -> bool:
        """Whether it touches shared memory."""
        return self.memory == "shared"

    @property
    def used(self) -> float | None:
        """Share of the moved bytes that were asked for, 0 to 1; None for shared memory."""
        return self.distinct / (SECTOR * self.sectors) if self.sectors else None

    @property
    def ways(self) -> float | None:
        """Passes for one that would do, on average; None where there are no passes."""
        return self.passes / self.ideal_passes if self.ideal_passes else None


@dataclass(frozen=True)
class Branch:
    """A condition in ``line`` at which ``splits`` of ``passages`` warps went different ways."""

    file: str
    line: int
    code: str
    splits: int
    passages: int


@dataclass(frozen=True)
class Toucher:
    """One side of a race: a ``kind`` of access, in which line, by which thread of which block."""

    kind: str
    line: int
    code: str
    text: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        verb = {
            "load": "reads",
            "store": "writes",
            "copy": "copies into",
            "atomic": "changes by an atomic function",
        }[self.kind]
        who = f"thread {self.thread} of block {self.block}"
        return f"{who} {verb} it in line {self.line} (`{self.code}`)"


@dataclass(frozen=True)
class Race:
    """Two threads at element ``index`` of ``array`` in no certain order, at least one writing.

    ``kind`` is "race"; for shared memory that is read and was never written "unwritten"; where an
    asynchronous copy fills it (or, of global memory, reads it) that nobody has waited for,
    "unwaited".
    ``count``: how often it was seen. ``harmless``: every write left what was there already.
    """

    kind: str
    array: str
    index: int
    shared: bool
    first: Toucher
    second: Toucher
    harmless: bool
    count: int
    shape: tuple[int, ...] = ()

    @property
    def element(self) -> str:
        """``array[index]``, or with an index for each axis where ``shape`` is known."""
        index, indices = self.index, ""
        for length in reversed(self.shape[1:]):
            index, last = divmod(index, length)
            indices = f"[{last}]{indices}"
        return f"{self.array}[{index}]{indices}"

    def __str__(self) -> str:
        place = self.element
        first, second = str(self.first), str(self.second)
        if not self.shared:  # the other end of a copy
            first, second = (s.replace("copies into", "copies from") for s in (first, second))
        if self.kind == "unwritten":
            return (
                f"{place} is read before anybody has written it: {second}. Write it first, "
                "and let a __syncthreads() stand between"
            )
        if self.kind == "unwaited" and not self.shared:
            return (
                f"{place} is overwritten before the copy that reads it is waited for: {first}, "
                f"{second}. Let the thread that copies wait first, as by __pipeline_wait_prior(0)"
            )
        if self.kind == "unwaited":
            return (
                f"{place} is touched before the copy that fills it is waited for: {first}, "
                f"{second}. Let the thread that copies wait, as by __pipeline_wait_prior(0), "
                "and let a __syncthreads() stand behind that"
            )
        between = "no barrier lies between"
        remedy = ". Let a __syncthreads() stand between them, or use an atomic function"
        if self.first.block != self.second.block:
            between = "no barrier holds between blocks"
            reads = "load" in (self.first.kind, self.second.kind)
            better = "Write to a second array" if reads else "Let one thread write each element"
            remedy = (
                f". {better}, use an atomic function, or let a barrier of the whole grid stand "
                "between them"
            )
        if self.harmless:
            remedy = "; all write the same value, so here it does no harm."
        elif self.first.kind != "load" and self.second.kind == "atomic":
            remedy = "; an atomic function orders atomic functions only."
        return f"a race at {place}: {first}, {second}, and {between}{remedy}"


@dataclass(frozen=True)
class XRay:
    """What a launch does with memory. Counts are of the blocks that were looked at.

    ``accesses`` (by line), ``branches`` (those that split warps) and ``races``; ``blocks`` of
    ``grid_blocks`` blocks were looked at. ``unavoidable_read`` and ``unavoidable_written`` are the
    bytes that must come from memory and go there even if caches hold all the rest; for the whole
    grid, if the blocks that were not looked at do as the others.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: int
    grid_blocks: int
    accesses: tuple[Access, ...] = ()
    branches: tuple[Branch, ...] = ()
    races: tuple[Race, ...] = ()
    unavoidable_read: int = 0
    unavoidable_written: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)

    def __str__(self) -> str:
        return SHOWN["text"](self)

    def _ipython_display_(self) -> None:
        SHOWN["table"](self)

    def picture(self, number: int) -> None:
        """Show the costliest request of ``accesses[number]``: 32 lanes over sectors or banks.

        NotImplementedError where nothing that draws has been put into ``SHOWN``.
        """
        if "picture" not in SHOWN:
            raise NotImplementedError("nothing that draws is in gpuless.xray.result.SHOWN")
        SHOWN["picture"](self.accesses[number])

    def whole(self, what: str, *, kind: str | None = None, shared: bool = False) -> float:
        """``total`` for the whole grid, if the blocks that were not looked at do the same."""
        return self.total(what, kind=kind, shared=shared) * self.grid_blocks / max(1, self.blocks)

    def least_seconds(
        self, *, bytes_per_second: float, passes_per_second: float
    ) -> dict[str, float]:
        """How long the whole grid takes at least, by what may bind it.

        "memory": the unavoidable bytes; "passes": those of L1 (for global loads) and of shared
        memory, which share a multiprocessor's load and store unit: one a clock cycle, so that a GPU
        has as many a second as multiprocessors times the clock's rate.
        """
        passes = self.whole("passes", kind="load") + self.whole("passes", shared=True)
        least = self.unavoidable_read + self.unavoidable_written
        return {"memory": least / bytes_per_second, "passes": passes / passes_per_second}

    def total(self, what: str, *, kind: str | None = None, shared: bool = False) -> int:
        """Sum of a count of ``accesses``, such as "sectors", over one kind (or all of them).

        ``shared`` chooses between shared and global memory. What malloc gave is global;
        ``__constant__`` variables are neither, and in no total.
        """
        memories = ("shared",) if shared else ("global", "malloc")
        return sum(
            getattr(a, what)
            for a in self.accesses
            if a.memory in memories and kind in (None, a.kind)
        )
