"""Give each access to memory in a kernel's assembly a number: its place.

The compiler calls ``__tsan_read4(p)`` and the like before each access. Here such a call gets one
more argument, its place, which tells the line and column without a look at debugging information
and is the order in which a warp comes to it (see ``graph``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpuless.xray.machine.graph import order

_FILE = re.compile(r'\s*\.file (\d+) (?:"[^"]*" )?"([^"]*)"')
_LOCATION = re.compile(r"\s*\.loc (\d+) (\d+) (\d+)")
_LABEL = re.compile(r"(\.L\d+):")
_JUMP = re.compile(r"\s*j(\w+)\s+(\.L\w+)")
_LEAVE = re.compile(r"\s*(?:ret|ud2|jmp\s+[^.])")
_CALL = re.compile(
    r"\s*(?:call|jmp)\s+"
    r"(__tsan_\w+|__sanitizer_cov_trace_pc|standin_xray_(?:barrier|memcpy|memset|copy))(?:@PLT)?\s*$"
)
# The register of the argument behind those that the compiler passes itself.
_REGISTERS = {
    "__sanitizer_cov_trace_pc": "edi",
    "__tsan_read_range": "edx",
    "__tsan_write_range": "edx",
    "standin_xray_barrier": "ecx",
    "standin_xray_memcpy": "ecx",
    "standin_xray_memset": "ecx",
    "standin_xray_copy": "r9d",
}
_BUSY = re.compile(
    r"\s*(?:call|jmp)\s+(?:__tsan_(?:volatile_)?write|__tsan_atomic|standin_xray_(?:barrier|mem|copy))"
)
LABEL = "standin_xray_place_"  # before each numbered call
_ANY_CALL = re.compile(r"\s*(?:call|jmp)\s+(?!\.|__tsan_func)")
_MARK = "__sanitizer_cov_trace_pc"
# These have no place; that of an atomic store would stand where the value is.
_WITHOUT = re.compile(r"__tsan_(?:func|init|vptr|atomic\d+_store)")


@dataclass(frozen=True)
class Place:
    """Where in the source: ``file``, ``line`` and ``column``, all counted from 1.

    ``inlined``: the code is of another file, and this is only the place before it.
    ``branch`` is the line in ``file`` of the condition that ends the stretch of code which holds
    the place; 0 if none does. ``waits``: it is in a loop that reads memory and does nothing else to
    it, as one that waits for another thread.
    """

    file: str
    line: int
    column: int
    branch: int
    inlined: bool = False
    waits: bool = False


@dataclass
class Annotated:
    """Assembly with places in it; ``loops`` are the first and the last place of each loop."""

    text: str
    places: list[Place]
    loops: list[tuple[int, int]]


@dataclass
class _Function:
    """A function's stretches of code (blocks), and which follows which."""

    edges: list[list[int]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    jumps: list[tuple[int, str]] = field(default_factory=list)
    branches: dict[int, tuple[str, int]] = field(default_factory=dict)  # file and line, by block
    busy: set[int] = field(default_factory=set)  # blocks that write memory or meet at a barrier
    calls: int = 0  # of all but those that tell where the function begins and ends

    def open(self, falls: bool) -> None:
        """Begin another block, behind the last one if that ``falls`` through."""
        if self.edges and falls:
            self.edges[-1].append(len(self.edges))
        self.edges.append([])

    @property
    def current(self) -> int:
        return len(self.edges) - 1

    def connect(self) -> None:
        for block, label in self.jumps:
            if label in self.labels:
                self.edges[block].append(self.labels[label])


def annotate(text: str, files: tuple[str, ...]) -> Annotated:
    """Put places into x86-64 assembly.

    Args:
        text: what the compiler makes with ``-S``.
        files: the names that the reader's files begin with. What was built in from other files
            counts as the reader's line before it.
    """
    lines = text.split("\n")
    functions, calls = _parse(lines, files)
    ranks, spans = [], {}
    for function in functions:
        function.connect()
        ranks.append(order(function.edges))
    calls.sort(key=lambda c: (c[0], ranks[c[0]][0][c[1]], c[2]))
    places, before, dropped = [Place("", 0, 0, 0)], {}, set()
    busy = [function.busy for function in functions]
    for number, block, at, where, name in calls:
        function = functions[number]
        if function.calls == 1 and name == _MARK and lines[at].lstrip().startswith("call"):
            dropped.add(at)  # nothing happens in the function, and there is one way through it
            continue
        for i, inside in enumerate(ranks[number][1]):
            if block in inside:
                first, _ = spans.get((number, i), (len(places), 0))
                spans[number, i] = first, len(places)
        atomic = re.match(r"__tsan_atomic\d+_load", name)
        register = _REGISTERS.get(name, "edx" if atomic else "esi")
        before[at] = f"{LABEL}{len(places)}:\n\tmovl ${len(places)}, %{register}"
        file, line = function.branches.get(block, ("", 0))
        loops = [inside for inside in ranks[number][1] if block in inside]
        waits = any(not busy[number] & inside for inside in loops)
        places.append(Place(*where[:3], line if file == where[0] else 0, where[3], waits))
    new = []
    for at, line in enumerate(lines):
        if at in before:
            new.append(before[at])
        if at not in dropped:
            new.append(line)
    loops = sorted(spans.values(), key=lambda span: (span[0], -span[1]))
    return Annotated("\n".join(new), places, loops)


def _parse(lines: list[str], files: tuple[str, ...]) -> tuple[list[_Function], list[tuple]]:
    """The functions, and of each call: function, block, number of the line, where, and whom."""
    mine: dict[str, str] = {}
    functions: list[_Function] = []
    calls: list[tuple] = []
    here = ("", 0, 0, False)
    function = None
    for at, line in enumerate(lines):
        if function and _ANY_CALL.match(line):
            function.calls += 1
        if found := _FILE.match(line):
            if found[2].startswith(files):
                mine[found[1]] = found[2]
        elif found := _LOCATION.match(line):
            if found[1] in mine:
                here = (mine[found[1]], int(found[2]), int(found[3]), False)
            else:
                here = (*here[:3], True)
        elif line.startswith("\t.cfi_startproc"):
            function = _Function()
            functions.append(function)
            function.open(False)
        elif function is None:
            continue
        elif found := _LABEL.match(line):
            function.open(True)
            function.labels[found[1]] = function.current
        elif found := _JUMP.match(line):
            function.jumps.append((function.current, found[2]))
            if found[1] != "mp" and not here[3]:
                function.branches[function.current] = here[:2]
            function.open(found[1] != "mp")
        elif _BUSY.match(line) and not _CALL.match(line):
            function.busy.add(function.current)
        elif (found := _CALL.match(line)) and not _WITHOUT.match(found[1]):
            if _BUSY.match(line):
                function.busy.add(function.current)
            calls.append((len(functions) - 1, function.current, at, here, found[1]))
            if line.lstrip().startswith("jmp"):
                function.open(False)
        elif _LEAVE.match(line):
            function.open(False)
    return functions, calls
