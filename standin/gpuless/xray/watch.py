"""Note the kernels that a function launches, so that they can be x-rayed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import gpuless
from gpuless.xray.job import Job
from gpuless.xray.look import look
from gpuless.xray.machine.build import can_compile
from gpuless.xray.make import make
from gpuless.xray.result import Race, XRay

ACCESSES = 2_000_000  # of a launch are looked at
BUFFERS = 1 << 26  # bytes; a launch with larger arrays is not noted
SECONDS = 60  # an x-ray in another process takes at most


@contextlib.contextmanager
def launches(function: Callable) -> Iterator[list[Job]]:
    """Yield a list that is filled, in a ``with`` block, with the first launch of every kernel.

    These are RawKernels, functions of RawModules, ElementwiseKernels and ReductionKernels: on the
    stand-in all of them; with CuPy, whose classes cannot be taught to tell, those that are made in
    the block, and those among the global variables of ``function`` and the variables around it.
    Nothing is noted without a compiler.
    """
    noted: list[Job] = []
    if not can_compile():
        yield noted
        return
    note = _Noter(noted)
    replacements = _in_classes(note) if gpuless.is_active() else _in_variables(function, note)
    with contextlib.ExitStack() as stack:
        for replace, before, new in replacements:
            stack.callback(replace, before)
            replace(new)
        try:
            yield noted
        finally:
            note.listening = False  # kernels that were made in the block live on


class _Noter:
    """Called with each launch before it happens."""

    def __init__(self, noted: list[Job]):
        self.noted = noted
        self.known: list = []  # kernels
        self.listening = True

    def raw(self, kernel, grid, block, args, *, shared_mem=0, **_) -> None:
        self._note(kernel, grid, block, args, shared_mem, {})

    def generated(self, kernel, *args, **keywords) -> None:
        keywords.pop("stream", None)
        self._note(kernel, None, None, args, 0, keywords)

    def _note(self, kernel, grid, block, args, shared_mem, keywords) -> None:
        if not self.listening or any(kernel is one for one in self.known) or _too_large(args):
            return
        self.known.append(kernel)
        try:
            job = make(
                kernel,
                grid,
                block,
                args,
                shared_mem=shared_mem,
                blocks=None,
                keywords=keywords,
                accesses=ACCESSES,
            )
        except Exception:  # the launch itself will say what is wrong with it
            return
        self.noted.append(job)


def _too_large(args) -> bool:
    return sum(a.data.mem.size for a in args if hasattr(a, "data") and hasattr(a, "get")) > BUFFERS


def _kinds(note: _Noter):
    """Each kind of kernel, and what is told of its launches."""
    import cupy

    return (
        ("RawKernel", cupy.RawKernel, note.raw),
        ("ElementwiseKernel", cupy.ElementwiseKernel, note.generated),
        ("ReductionKernel", cupy.ReductionKernel, note.generated),
    )


def _in_classes(note: _Noter):
    """For the stand-in: the calls of all kernels. As (function to set it, before, new)."""
    for _, kind, told in _kinds(note):

        def replace(call, kind=kind):
            kind.__call__ = call

        yield replace, kind.__call__, _telling(kind.__call__, told)


def _telling(call: Callable, told: Callable) -> Callable:
    def launch(self, *args, **keywords):
        told(self, *args, **keywords)
        return call(self, *args, **keywords)

    return launch


def _in_variables(function: Callable, note: _Noter):
    """For CuPy: its names for the kinds of kernels, and the kernels that the function can see."""
    import cupy

    kinds = list(_kinds(note))
    for name, kind, told in kinds:
        yield _setter(vars(cupy), name), kind, _telling_kind(kind, told)
    module = cupy.RawModule
    yield _setter(vars(cupy), "RawModule"), module, _telling_module(module, note)

    def proxy(value):
        told = next((told for _, kind, told in kinds if isinstance(value, kind)), None)
        if told:
            return _Kernel(value, told)
        return _Module(value, note) if isinstance(value, module) else None

    variables = getattr(function, "__globals__", {})
    for name, value in list(variables.items()):
        if new := proxy(value):
            yield _setter(variables, name), value, new
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty cell
            if new := proxy(cell.cell_contents):

                def replace(kernel, cell=cell):
                    cell.cell_contents = kernel

                yield replace, cell.cell_contents, new


def _setter(variables: dict, name: str) -> Callable:
    return lambda value: variables.__setitem__(name, value)


def _family(kind: type, **methods: Callable) -> type:
    """A subclass with other methods, to which those count that CuPy's own class made."""

    class Family(type(kind)):
        def __instancecheck__(cls, value) -> bool:
            return isinstance(value, kind)

    return Family(kind.__name__, (kind,), methods)


def _telling_kind(kind: type, told: Callable) -> type:
    return _family(kind, __call__=_telling(kind.__call__, told))


def _telling_module(kind: type, note: _Noter) -> type:
    def get_function(self, name):
        return _Kernel(kind.get_function(self, name), note.raw)

    return _family(kind, get_function=get_function)


class _Proxy:
    """Stands for an object of CuPy's in all but what a subclass has of its own."""

    def __init__(self, value):
        object.__setattr__(self, "_value", value)

    @property
    def __class__(self):
        return type(self._value)

    def __getattr__(self, name: str):
        return getattr(self._value, name)

    def __setattr__(self, name: str, value) -> None:
        setattr(self._value, name, value)


class _Kernel(_Proxy):
    def __init__(self, kernel, told: Callable):
        super().__init__(kernel)
        object.__setattr__(self, "_told", told)

    def __call__(self, *args, **keywords):
        self._told(self._value, *args, **keywords)
        return self._value(*args, **keywords)


class _Module(_Proxy):
    def __init__(self, module, note: _Noter):
        super().__init__(module)
        object.__setattr__(self, "_note", note)

    def get_function(self, name: str):
        return _Kernel(self._value.get_function(name), self._note.raw)


def found(noted: list[Job]) -> Iterator[XRay]:
    """The x-ray of each of these launches, less those that the stand-in cannot run.

    Whoever launched such a one has heard of it, or has a GPU that runs what the stand-in does not.
    """
    for job in noted:
        with contextlib.suppress(Exception):
            yield look(job, SECONDS)


def first_race(noted: list[Job]) -> tuple[str, Race] | None:
    """The name of the first of these kernels that races, and its race; None if none does harm."""
    for one in found(noted):
        for race in one.races:
            if not race.harmless:
                return one.kernel, race
    return None
