"""Random modules of CUDA C: whole grids in step, with shared memory, shuffles, votes, atomics.

NumPy runs all threads of the grid at once, so a barrier is the end of a line. Nothing depends on
the order of threads: an exchange is fenced by barriers, and atomics are of integers.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from .bodies import Body
from .cases import Array, Case, numbers
from .elementwise import python_scalar
from .expressions import CTYPES, Expression, cast, variable
from .grammar import Pointer

TYPES = list("ifdbhqBHIQ?")
SHUFFLED = list("ifdIqQ")
ATOMICS = {
    "atomicAdd": np.add, "atomicMax": np.maximum, "atomicMin": np.minimum,
    "atomicAnd": np.bitwise_and, "atomicOr": np.bitwise_or, "atomicXor": np.bitwise_xor,
}  # fmt: skip
PLACES = """\
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int id = block * (blockDim.x * blockDim.y * blockDim.z) + t;
"""


class Kernel(Body):
    """Statements of a kernel, of which some let the threads of a block work together."""

    def __init__(self, draw, scope, pointers, number, grid, block):
        super().__init__(draw, scope, pointers)
        self.number = number
        self.grid, self.block = math.prod(grid), math.prod(block)
        self.dynamic = 0  # bytes of dynamic shared memory
        self.accumulators: dict[str, tuple[str, int]] = {}

    def statements(self, most: int) -> None:
        kinds = [self.exchange, self.histogram, self.count, self.accumulate]
        if self.block % 32 == 0:
            kinds += [self.shuffle, self.vote]
        for _ in range(self.within(0, most)):
            if self.within(0, 1):
                super().statements(1)
            else:
                self.pick(*kinds)(f"v{len(self.lines)}")

    def all(self, value: np.ndarray) -> np.ndarray:
        """A value of every thread, one row a block."""
        return np.broadcast_to(value, self.grid * self.block).reshape(self.grid, self.block)

    def index(self, length: int) -> Expression:
        e = cast(self.integer(1), "I")
        return Expression(
            "I", f"({e.text} % {length}u)", lambda env: e.value(env) % np.uint32(length)
        )

    def exchange(self, name: str) -> None:
        """Write to shared memory, wait, read what another thread of the block wrote."""
        e, at = self.expression(2), self.index(self.block)
        ctype, shared = CTYPES[e.type], f"s{self.number}_{name}"
        place = f"__shared__ {ctype} {shared}[{self.block}];"
        if not self.dynamic and self.within(0, 1):
            self.dynamic = self.block * np.dtype(e.type).itemsize
            place = f"extern __shared__ {ctype} {shared}[];"
        mirrored = self.within(0, 1)
        cell = f"{self.block - 1} - t" if mirrored else "t"

        def step(env):
            values, index = self.all(e.value(env)), self.all(at.value(env)).astype("q")
            values = values[:, ::-1] if mirrored else values
            env[name] = np.take_along_axis(values, index, 1).ravel()

        self.add(
            name,
            e.type,
            f"{place} {shared}[{cell}] = {e.text}; __syncthreads();"
            f" const {ctype} {name} = {shared}[{at.text}]; __syncthreads();",
            step,
        )

    def histogram(self, name: str) -> None:
        """Atomics on shared memory."""
        type_, length = self.pick("i", "I", "Q"), self.within(1, 9)
        call = self.pick("atomicAdd", "atomicMax", "atomicXor", "atomicOr")
        value, at, look = cast(self.expression(1), type_), self.index(length), self.index(length)
        ctype, shared = CTYPES[type_], f"s{name}"

        def step(env):
            table = np.zeros((self.grid, length), type_)
            rows = np.arange(self.grid)[:, None]
            at_, value_ = self.all(at.value(env)), self.all(value.value(env))
            ATOMICS[call].at(table, (rows, at_), value_)
            env[name] = np.take_along_axis(table, self.all(look.value(env)).astype("q"), 1).ravel()

        self.add(
            name,
            type_,
            f"__shared__ {ctype} {shared}[{length}];"
            f" for (int k = t; k < {length}; k += {self.block}) {shared}[k] = 0; __syncthreads();"
            f" {call}(&{shared}[{at.text}], {value.text}); __syncthreads();"
            f" const {ctype} {name} = {shared}[{look.text}]; __syncthreads();",
            step,
        )

    def count(self, name: str) -> None:
        """A barrier that counts, or asks all or any thread of the block."""
        function, condition = self.pick("count", "and", "or"), self.condition(2)

        def step(env):
            votes = self.all(condition.value(env)).sum(axis=1)
            wanted = {"count": votes, "and": votes == self.block, "or": votes > 0}[function]
            env[name] = np.repeat(wanted.astype("i"), self.block)

        call = f"__syncthreads_{function}({condition.text})"
        text = call if function == "count" else f"{call} != 0"  # any number but 0 is true
        self.add(name, "i", f"const int {name} = {text};", step)

    def accumulate(self, name: str) -> None:
        """Atomics on global memory, perhaps not by all threads."""
        type_, length = self.pick("i", "I", "Q"), self.within(1, 9)
        call = self.pick(*ATOMICS)
        value, at = cast(self.expression(1), type_), self.index(length)
        condition, array = self.condition(1), f"a{self.number}_{name}"
        self.accumulators[array] = (type_, length)

        def step(env):
            asked = self.all(condition.value(env)).ravel()
            index, added = (self.all(e.value(env)).ravel()[asked] for e in (at, value))
            ATOMICS[call].at(env[array], index, added)

        self.lines.append(f"if ({condition.text}) {call}(&{array}[{at.text}], {value.text});")
        self.steps.append(step)

    def shuffle(self, name: str) -> None:
        type_, width = self.pick(*SHUFFLED), self.pick(32, 16, 8, 4, 2)
        e = cast(self.expression(2), type_)
        kind = self.pick("", "_up", "_down", "_xor")
        lane = self.index(32) if not kind else None
        offset = 0 if lane else self.within(0, width - 1)
        source = lane.text if lane else f"{offset}"

        def step(env):
            values = self.all(e.value(env)).reshape(-1, 32)
            me = np.arange(32)
            base = me // width * width
            if lane:
                origin = base + self.all(lane.value(env)).reshape(-1, 32).astype("q") % width
            else:
                origin = {"_up": me - offset, "_down": me + offset, "_xor": me ^ offset}[kind]
                inside = (origin >= base) & (origin < base + width)
                origin = np.where(inside, origin, me)
            origin = np.broadcast_to(origin, values.shape)
            env[name] = np.take_along_axis(values, origin, 1).ravel()

        call = f"__shfl{kind}_sync(0xffffffffu, {e.text}, {source}, {width})"
        self.add(name, type_, f"const {CTYPES[type_]} {name} = {call};", step)

    def vote(self, name: str) -> None:
        function, condition = self.pick("ballot", "any", "all"), self.condition(2)

        def step(env):
            votes = self.all(condition.value(env)).reshape(-1, 32)
            bits = (votes.astype("I") << np.arange(32, dtype="I")).sum(axis=1, dtype="I")
            wanted = {"ballot": bits, "any": bits != 0, "all": bits == np.uint32(2**32 - 1)}
            env[name] = np.repeat(wanted[function].astype("I"), 32)

        call = f"__{function}_sync(0xffffffffu, {condition.text})"
        text = call if function == "ballot" else f"({call} != 0)"
        self.add(name, "I", f"const unsigned int {name} = {text};", step)


def dimensions(draw, most: int) -> tuple[int, ...]:
    """One to three sizes whose product is at most ``most``."""
    sizes = []
    for _ in range(draw(st.integers(1, 3))):
        sizes.append(draw(st.integers(1, max(1, min(most // math.prod(sizes), 70)))))
    return tuple(sizes)


def places(grid: tuple[int, ...], block: tuple[int, ...]) -> dict[str, np.ndarray]:
    """``threadIdx.x`` and the like of every thread, block after block."""
    env = {}
    grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
    numbers_ = np.unravel_index(
        np.arange(math.prod(grid) * math.prod(block)), (*grid[::-1], *block[::-1])
    )
    for k, axis in enumerate("zyx"):
        env[f"blockIdx.{axis}"] = numbers_[k].astype("I")
        env[f"threadIdx.{axis}"] = numbers_[3 + k].astype("I")
        env[f"gridDim.{axis}"] = np.array([grid[2 - k]], "I")
        env[f"blockDim.{axis}"] = np.array([block[2 - k]], "I")
    return env


def one_kernel(draw, number: int, case: Case) -> tuple[str, str]:
    """Draw a kernel and add its arrays to the case; its source and its launch."""
    block = dimensions(draw, 96)
    if draw(st.integers(0, 2)) == 2:
        block = draw(st.sampled_from([(32,), (8, 4), (64,), (4, 8, 2), (96,)]))
    grid = dimensions(draw, 6)
    threads = math.prod(grid) * math.prod(block)
    env = places(grid, block)
    scope = [variable(name, "I") for name in env]
    env["id"] = np.arange(threads, dtype="i")
    env["t"] = np.tile(np.arange(math.prod(block), dtype="i"), math.prod(grid))
    scope += [variable("t", "i"), variable("id", "i")]
    parameters, arguments, pointers = [], [], []
    for k in range(draw(st.integers(0, 2))):
        type_, length = draw(st.sampled_from(TYPES)), draw(st.integers(1, 40))
        name, start = f"x{number}_{k}", draw(st.integers(0, 3))
        rng = np.random.default_rng(draw(st.integers(0, 999)))
        base = numbers(rng, (start + length,), type_)
        case.arrays[name] = Array(base, f"{name}_base[{start}:]")
        env[name] = base[start:]
        pointers.append(Pointer(name, type_, (length,), False))
        parameters.append(f"const {CTYPES[type_]} *{name}")
        arguments.append(name)
    if draw(st.booleans()):
        type_ = draw(st.sampled_from(TYPES))
        _, env["s"] = python_scalar(draw, type_)
        scope.append(variable("s", type_))
        parameters.append(f"{CTYPES[type_]} s")
        arguments.append(f"np.dtype('{type_}').type({env['s'][0].item()!r})")

    body = Kernel(draw, scope, pointers, number, grid, block)
    body.statements(4)
    count, stores = draw(st.integers(1, threads)), []
    outs = []
    for k in range(draw(st.integers(1, 2))):
        name, type_ = f"z{number}_{k}", draw(st.sampled_from(TYPES))
        e = body.root(type_, 2)
        outs.append((name, type_, e))
        stores.append(f"  if (id < {count}) {name}[id] = {e.text};")
    for name, type_, length in [
        *((name, type_, count) for name, type_, _ in outs),
        *((name, *rest) for name, rest in body.accumulators.items()),
    ]:
        case.arrays[name] = Array(np.zeros(length, type_), f"{name}_base")
        parameters.append(f"{CTYPES[type_]} *{name}")
        arguments.append(name)
        env.setdefault(name, np.zeros(length, type_))
    with np.errstate(all="ignore"):
        body.run(env)
        for name, _, e in outs:
            value = np.broadcast_to(e.value(env), threads)[:count]
            case.expect(name, value, e.rough)
    for name in body.accumulators:
        case.expect(name, env[name])
    lines = "".join(f"  {line}\n" for line in body.lines) + "\n".join(stores)
    source = (
        f'extern "C" __global__ void fuzz{number}({", ".join(parameters)}) {{\n'
        f"{PLACES}{lines}\n}}\n"
    )
    launch = f"{grid}, {block}, ({''.join(a + ', ' for a in arguments)})"
    return source, launch + (f", shared_mem={body.dynamic}" if body.dynamic else "")


@st.composite
def raw(draw) -> Case:
    """A module of a few kernels and a launch of each."""
    case = Case("", count=draw(st.integers(1, 6)))
    kernels = [one_kernel(draw, number, case) for number in range(case.count)]
    sources = "".join(source for source, _ in kernels)
    case.code = f"module = cp.RawModule(code='''\n{sources}''')\n" + "\n".join(
        f"module.get_function('fuzz{number}')({launch})"
        for number, (_, launch) in enumerate(kernels)
    )
    return case
