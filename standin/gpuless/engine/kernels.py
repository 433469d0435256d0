"""A compiled module, its kernels, and what becomes of a launch.

What a GPU would hang on, read as garbage or overwrite is a ``KernelError`` that says which thread
did it, in which line, to which array; what the kernel printed is written to ``sys.stdout``.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import hashlib
import os
import re
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gpuless.engine import compiler, memory, reports, translate
from gpuless.engine.errors import CompileError, KernelError
from gpuless.engine.options import parse
from gpuless.engine.reports import Pointer, View

KEPT_LIMIT = 1 << 28  # bytes of arrays that are kept where a launch may have to be begun again
SPIN_LIMIT = 20.0  # seconds of the processor in which threads only go round a loop
RESIDENT_LIMIT = 65536  # threads whose blocks may run at once though no cooperative launch asks

# Of shim/runtime.h.
_IN_TURN, _AT_ONCE, _COOPERATIVE = range(3)  # StandinResidence
_SPINNING, _INTERRUPTED = 4, 5  # StandinCode
_PRINTED = 256

_lock = threading.RLock()  # the runtime runs one launch at a time; no process is forked inside one
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


CONSTANT_LIMIT = 65536  # bytes of a module's __constant__ variables


class Parameter(ctypes.Structure):
    """StandinParameter: one parameter as the compiled kernel describes it.

    ``kind`` is p(ointer), i(nteger), u(nsigned), c(haracter), f(loat), b(ool) or s(truct);
    ``target_...`` are of what a pointer points to; sizes and alignment are in bytes.
    """

    _fields_ = [
        ("kind", ctypes.c_char),
        ("target_kind", ctypes.c_char),
        ("size", ctypes.c_int),
        ("target_size", ctypes.c_int),
        ("target_alignment", ctypes.c_int),
        ("type_text", ctypes.c_char_p),
    ]

    @property
    def type(self) -> str:
        """The type in C: what the compiler says of a template function of that type."""
        found = re.search(r"T = (.*?)[\];]", self.type_text.decode())
        ours = r"standin_user::|\(anonymous namespace\)::|\{anonymous\}::|<unnamed>::"
        return re.sub(ours, "", found[1]).replace(" *", "*") if found else "?"

    @property
    def format(self) -> str:
        """For ``struct.pack``: structs by their bytes, and integers of any size too."""
        plain = {b"p": "Q", b"f": "f" if self.size == 4 else "d", b"b": "?"}
        return plain.get(self.kind, f"{self.size}s") + f"{-self.size % 16}x"


class _Slot(ctypes.Structure):
    """StandinSlot."""


_Slot._fields_ = [
    ("bytes", ctypes.c_size_t),
    ("number", ctypes.c_int),
    ("next", ctypes.POINTER(_Slot)),
    *((name, ctypes.c_size_t) for name in ("offset", "here", "alignment", "element")),
]


class _Kernel(ctypes.Structure):
    """StandinKernel."""

    _fields_ = [
        ("call", ctypes.c_void_p),
        ("loop", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(Parameter)),
        ("parameter_count", ctypes.c_int),
        ("slots", ctypes.POINTER(_Slot)),
        ("constants", ctypes.c_void_p),
        ("constants_end", ctypes.c_void_p),
    ]


@functools.cache
def _runtime() -> ctypes.CDLL:
    library = compiler.runtime()
    compiler.has_shadow()
    numbers = [ctypes.c_uint] * 6 + [ctypes.c_size_t, ctypes.c_int]
    library.standin_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *numbers]
    library.standin_guard.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.standin_output.argtypes = [ctypes.POINTER(ctypes.c_size_t)] * 2
    library.standin_output.restype = ctypes.c_void_p
    return library


@contextlib.contextmanager
def _setting(kind: type, name: str, value) -> Iterator[None]:
    """Set a variable of the runtime inside a ``with`` block."""
    variable = kind.in_dll(_runtime(), name)
    before, variable.value = variable.value, value
    try:
        yield
    finally:
        variable.value = before


def time_limit(seconds: float) -> contextlib.AbstractContextManager:
    """End every launch inside a ``with`` block after so many seconds of the processor."""
    return _setting(ctypes.c_double, "standin_time_limit", seconds)


def backwards() -> contextlib.AbstractContextManager:
    """Inside a ``with`` block the last block runs first and, where the kernel has no barrier, the
    last thread of a block too: a result that depends on the order becomes another one."""
    return _setting(ctypes.c_int, "standin_backwards", 1)


@contextlib.contextmanager
def without(pieces: Sequence[tuple[int, int]]) -> Iterator[None]:
    """Inside a ``with`` block kernels may not touch some memory, given as (address, size)."""
    with _lock:
        for piece in pieces:
            memory.shut(*piece)
        try:
            yield
        finally:
            for piece in pieces:
                memory.reopen(*piece)


def guarded(
    name: str, function: int, argument: int, given: Callable[[], Sequence[Pointer]] = list
) -> None:
    """Call the C function at address ``function``, ``void (*)(void *)``, as a kernel is called.

    ``name`` is the kernel's and, with ``.cu``, its source's; ``given()`` are its arrays.
    Raises KernelError for a fault.
    """
    with _lock:
        if code := _runtime().standin_guard(function, argument):
            _finish(code, name, given(), f"{name}.cu", [])


def _finish(
    code: int,
    name: str,
    pointers: Sequence[Pointer],
    source: str,
    shared: Sequence[translate.SharedVariable],
) -> None:
    """Hand on what was printed; raise if the launch ended early."""
    library = _runtime()
    if code & _PRINTED:
        length, lost = ctypes.c_size_t(), ctypes.c_size_t()
        text = library.standin_output(ctypes.byref(length), ctypes.byref(lost))
        print(ctypes.string_at(text, length.value).decode(errors="replace"), end="")
        if lost.value:
            print(
                f"\n[{lost.value:,} more bytes of what '{name}' printed are lost: a GPU keeps "
                "about 1 MiB of a launch's output]"
            )
        code -= _PRINTED
    if not code:
        return
    if code == _INTERRUPTED:
        signal.raise_signal(signal.SIGINT)  # the program's handler: KeyboardInterrupt, as a rule
        raise KernelError(f"kernel '{name}': interrupted")
    report = reports.Report.in_dll(library, "standin_report")
    where, line, what = reports.told(report, source, pointers, shared)
    raise KernelError(f"kernel '{name}'{where}: {what}", line, ord(report.unwritten) != 0)


class Kernel:
    """A kernel of a module. ``name`` is the kernel's name or, for a template, its expression."""

    def __init__(self, module: Module, name: str):
        self.module = module  # keeps the library loaded
        self.name = name
        translation = module.translation
        entry = getattr(module.library, f"standin_kernel_{translation.kernels.index(name)}")
        entry.restype = ctypes.POINTER(_Kernel)
        kernel = entry().contents
        self._address = ctypes.addressof(kernel)
        self._launch = _runtime().standin_launch
        self.parameters = [kernel.parameters[i] for i in range(kernel.parameter_count)]
        plain = re.match(r"\w+", name.rpartition("::")[2])
        known = translation.parameters.get(plain[0] if plain else "", [])
        self.parameter_names = known[: len(self.parameters)] or [
            f"argument {i + 1}" for i in range(len(self.parameters))
        ]
        packing = struct.Struct("=" + "".join(p.format for p in self.parameters))
        self._pack_into = packing.pack_into
        self._arguments = memory.Allocation(packing.size)  # of the launch that runs
        self._packed = np.asarray(self._arguments)
        self.max_threads: int | None = translation.max_threads.get(name)  # __launch_bounds__
        self.shared_bytes = self._shared_bytes(kernel.slots, plain[0] if plain else name)

    def _shared_bytes(self, slot, name: str) -> int:
        """Static shared memory of a block; of a function that several kernels call, all of it."""
        sizes: dict[int, int] = {}
        while slot:
            one = slot.contents
            if self.module.translation.shared[one.number].kernel in (name, None):
                sizes[one.number] = max(sizes.get(one.number, 0), one.bytes)
            slot = one.next
        return sum(sizes.values())

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        values: Sequence,
        shared_bytes: int = 0,
        cooperative: bool = False,
        views: Sequence[View] = (),
    ) -> None:
        """Run ``grid`` blocks of ``block`` threads and wait for them.

        Args:
            values: one for each parameter: the address or the Allocation for a pointer, an int, a
                float, a bool, or the bytes of a struct.
            shared_bytes: dynamic shared memory of a block.
            cooperative: all blocks run at once and may wait for each other.
            views: of allocations that are given in part; a write to the rest is a warning.

        Raises:
            KernelError: a fault, a barrier that some threads skip, a wait without an end.
        """
        values = [_plain(v, p) for v, p in zip(values, self.parameters, strict=True)]
        residence = _IN_TURN
        if cooperative:
            residence = _COOPERATIVE
        elif self.module.translation.spins:
            threads = 1
            for n in (*grid, *block):
                threads *= n
            residence = _AT_ONCE if threads <= RESIDENT_LIMIT else _IN_TURN
        with _lock, self._constants_kept(values):
            restore = self._keep(values) if residence == _IN_TURN else None
            ctypes.c_double.in_dll(_runtime(), "standin_spin_limit").value = SPIN_LIMIT
            self._pack_into(self._packed, 0, *values)
            at = self._arguments.address
            with reports.watched(_runtime(), views) as overrun:
                code = self._launch(self._address, at, *grid, *block, shared_bytes, residence)
            if code & ~_PRINTED == _SPINNING and restore:
                # It may have waited for a block that had not begun: all of them at once, then.
                restore()
                _runtime().standin_output(ctypes.c_size_t(), ctypes.c_size_t())
                with self.module.spinning() as module:
                    module.kernel(self.name).launch(grid, block, values, shared_bytes)
            elif code:
                shared = self.module.translation.shared
                _finish(code, self.name, self._arrays(values), f"{self.module.name}.cu", shared)
            if overrun:
                text = reports.outside_view(overrun[0], self._arrays(values), self.module.name)
                warnings.warn(f"kernel '{self.name}', {text}", RuntimeWarning, stacklevel=7)

    def _keep(self, values: Sequence) -> Callable[[], None] | None:
        """What puts back the arrays as they are now; None where it will not be needed, or they are
        too large."""
        if not (self.module.translation.may_spin and self.module._made_of):
            return None
        held = {memory.holding(p.address) for p in self._arrays(values)} - {None}
        if sum(size for _, size in held) > KEPT_LIMIT:
            return None
        held |= {self.module.variable(name) for name in self.module.translation.globals}
        kept = [(address, ctypes.string_at(address, size)) for address, size in held]

        def restore() -> None:
            for address, data in kept:
                ctypes.memmove(address, data, len(data))

        return restore

    @contextlib.contextmanager
    def _constants_kept(self, values: Sequence) -> Iterator[None]:
        """KernelError, and what they held before, where a launch changed constant variables: for
        who cannot close their pages (shim/constants.h). It may where it is given their address."""
        closed = _Kernel.from_address(self._address).constants
        names = () if closed else self.module.translation.constants
        found = {name: self.module.variable(name) for name in names}
        given = [value for value in values if isinstance(value, int)]
        if any(address <= value < address + n for address, n in found.values() for value in given):
            found = {}
        kept = {name: ctypes.string_at(*where) for name, where in found.items()}
        yield
        for name, (address, size) in found.items():
            if ctypes.string_at(address, size) != kept[name]:
                ctypes.memmove(address, kept[name], size)
                text = f"kernel '{self.name}': writes to '{name}', which is {reports.CONSTANT}"
                raise KernelError(text, 0, False)

    def _arrays(self, values: Sequence) -> list[Pointer]:
        """What the pointers point to; a struct may begin with one, as CuPy's arrays do."""
        arrays = []
        for name, value, p in zip(self.parameter_names, values, self.parameters, strict=True):
            if p.kind == b"p":
                arrays.append(Pointer(name, value, p.target_size or 1))
            elif p.kind == b"s" and p.size >= 8:
                arrays.append(Pointer(name, int.from_bytes(value[:8], sys.byteorder), 1))
        return arrays


def _plain(value, parameter: Parameter):
    """What ``struct.pack`` stores."""
    if isinstance(value, memory.Allocation):
        return value.address
    if isinstance(value, int) and parameter.kind in b"iuc":
        return (value % (1 << 8 * parameter.size)).to_bytes(parameter.size, sys.byteorder)
    return value


class Module:
    """A compiled source.

    Args:
        source: CUDA C.
        options: of NVRTC, such as ``("-DTILE=16",)``.
        name: what messages call the source, without ``.cu``.
        expressions: template kernels to compile, such as ``("scale<float>",)``.
        copy: modules of one source share its variables if this is the same, too.

    Raises:
        CompileError: the source is rejected.
        NotImplementedError: it uses a part of CUDA that is not covered.
    """

    _made_of: tuple | None = None  # source, options, expressions
    _spinning: Module | None = None  # see spinning()

    def __init__(
        self,
        source: str,
        options: Sequence[str] = (),
        *,
        name: str = "module",
        expressions: Sequence[str] = (),
        copy: int = 0,
    ):
        self.name, self._copy = name, copy
        self._made_of = source, tuple(options), tuple(expressions)
        self._make()

    def _make(self, spins: bool = False) -> None:
        source, options, expressions = self._made_of
        parsed = parse(options)
        self.translation = translate.translate(
            source,
            name=self.name,
            expressions=expressions,
            options=parsed,
            spins=spins,
        )
        # A library of its own for each source, though comments be all that differs: it holds the
        # variables, which two sources do not share.
        own = hashlib.sha256(repr(self._made_of).encode()).hexdigest()[:16]
        if self._copy and (self.translation.globals or re.search(r"\bstatic\b", source)):
            own += f" {self._copy}"
        text = f"{self.translation.text}\n// {own}\n"
        self.library = compiler.build(text, options=parsed.arguments, name=self.name)
        size = sum(self.variable(name)[1] for name in self.translation.constants)
        if size > CONSTANT_LIMIT:
            raise CompileError(
                "ptxas error   : File uses too much global constant data "
                f"({size:#x} bytes, {CONSTANT_LIMIT:#x} max)"
            )

    @contextlib.contextmanager
    def spinning(self) -> Iterator[Module]:
        """The module with every loop a place where a thread may wait for one of another block; it
        has the values of this one's variables, and these have its values afterwards."""
        if self._spinning is None:
            self._spinning = copy.copy(self)
            self._spinning._make(spins=True)
        pairs = [
            (self.variable(name), self._spinning.variable(name))
            for name in self.translation.globals
        ]
        for (here, size), (there, _) in pairs:
            ctypes.memmove(there, here, size)
        try:
            yield self._spinning
        finally:
            for (here, size), (there, _) in pairs:
                ctypes.memmove(here, there, size)

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name; KeyError if there is none declared ``extern "C"``."""
        if name not in self.translation.kernels:
            raise KeyError(name)
        return Kernel(self, name)

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__constant__`` or ``__device__`` variable; KeyError."""
        if name not in self.translation.globals:
            raise KeyError(name)
        find = getattr(self.library, f"standin_global_{name}")
        find.restype, size = ctypes.c_void_p, ctypes.c_size_t()
        return find(ctypes.byref(size)), size.value
