"""Note the kernels that a function launches, so that they can be x-rayed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from helpers import standin
from helpers.standin.engine.errors import KernelError
from helpers.standin.xray.build import can_compile
from helpers.standin.xray.result import Race
from helpers.xray import job as jobs

ACCESSES = 2_000_000  # of a launch are looked at
BUFFERS = 1 << 26  # bytes; a launch with larger arrays is not noted


@contextlib.contextmanager
def launches(function: Callable) -> Iterator[list[jobs.Job]]:
    """Yield a list that is filled, in a ``with`` block, with the first launch of every kernel.

    On the stand-in these are RawKernels, ElementwiseKernels and ReductionKernels, with real CuPy
    the RawKernels among the global variables of ``function``. Nothing is noted without a compiler.
    """
    noted: list[jobs.Job] = []
    if not can_compile():
        yield noted
        return
    with contextlib.ExitStack() as stack:
        note = _Noter(noted)
        for where, name, watched in _watched(function, note):
            stack.enter_context(_replaced(where, name, watched))
        yield noted


@contextlib.contextmanager
def _replaced(where: type | dict, name: str, new) -> Iterator[None]:
    """In a class or among global variables, ``name`` is ``new`` inside a ``with`` block."""
    if isinstance(where, type):
        before = getattr(where, name)
        setattr(where, name, new)
    else:
        before, where[name] = where[name], new
    try:
        yield
    finally:
        if isinstance(where, type):
            setattr(where, name, before)
        elif where.get(name) is new:
            where[name] = before


class _Noter:
    """Called with each launch before it happens."""

    def __init__(self, noted: list[jobs.Job]):
        self.noted = noted
        self.known: set[int] = set()

    def raw(self, kernel, grid, block, args, shared_mem=0, **_) -> None:
        self._note(kernel, grid, block, args, shared_mem, {})

    def generated(self, kernel, *args, **keywords) -> None:
        keywords.pop("stream", None)
        self._note(kernel, None, None, args, 0, keywords)

    def _note(self, kernel, grid, block, args, shared_mem, keywords) -> None:
        if id(kernel) in self.known or _too_large(args):
            return
        self.known.add(id(kernel))
        self.noted.append(
            jobs.make(
                kernel,
                grid,
                block,
                args,
                shared_mem=shared_mem,
                blocks=None,
                keywords=keywords,
                accesses=ACCESSES,
            )
        )


def _too_large(args) -> bool:
    return sum(a.data.mem.size for a in args if hasattr(a, "data") and hasattr(a, "get")) > BUFFERS


def _watched(function: Callable, note: _Noter):
    """What to put where: (a class and a method's name, or globals and a variable's name, new)."""
    import cupy

    if not standin.is_active():
        variables = getattr(function, "__globals__", {})
        for name, value in list(variables.items()):
            if isinstance(value, cupy.RawKernel):
                yield variables, name, _Proxy(value, note)
        return
    kinds = (cupy.RawKernel, note.raw), (cupy.ElementwiseKernel, note.generated)
    for kind, told in (*kinds, (cupy.ReductionKernel, note.generated)):
        yield kind, "__call__", _telling(kind.__call__, told)


def _telling(call: Callable, told: Callable) -> Callable:
    def launch(self, *args, **keywords):
        told(self, *args, **keywords)
        return call(self, *args, **keywords)

    return launch


class _Proxy:
    """A RawKernel that tells of its launches; CuPy's own class cannot be taught to."""

    def __init__(self, kernel, note: _Noter):
        self._kernel, self._note = kernel, note

    def __call__(self, grid, block, args, **keywords):
        self._note.raw(self._kernel, grid, block, args, **keywords)
        return self._kernel(grid, block, args, **keywords)

    def __getattr__(self, name: str):
        return getattr(self._kernel, name)


def first_race(noted: list[jobs.Job]) -> tuple[str, Race] | None:
    """The name of the first of these kernels that races, and its race; None if none does harm.

    A launch that the stand-in cannot run is passed over: whoever launched it has heard of that.
    """
    for job in noted:
        try:
            found = jobs.look(job)
        except (KernelError, NotImplementedError, RuntimeError, TypeError, ValueError):
            continue
        for race in found.races:
            if not race.harmless:
                return found.kernel, race
    return None
