"""Random programs with one mistake each. Every one must raise an exception that names its kernel.

They run in a process of their own (``worker.py``): one that ends the interpreter is a failure too.
"""

from __future__ import annotations

import math

from hypothesis import strategies as st

from .cases import Case
from .expressions import CTYPES

TYPES = list("fdiqbhBHIQ")
FAR = 2**20  # bytes: how far outside an access is found


def distance(draw, itemsize: int) -> int:
    """Elements past the end: the very next one, any near one, or any up to a megabyte away."""
    most = FAR // itemsize - 1
    return draw(st.sampled_from([0, 1, 2, 7]) | st.integers(0, 600) | st.integers(0, most))


def _raw(name: str, parameters: str, body: str, launch: str, before: str = "") -> Case:
    source = f'extern "C" __global__ void {name}({parameters}) {{\n{body}\n}}'
    code = f"{before}\nkernel = cp.RawKernel('''\n{source}\n''', {name!r})\nkernel({launch})"
    return Case(code.strip(), error=name)


@st.composite
def outside_array(draw) -> Case:
    """A RawKernel reads or writes one element before or after an array, near or far."""
    type_, length = draw(st.sampled_from(TYPES)), draw(st.integers(1, 300))
    size = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4}.get(type_, 8)
    ctype, far = CTYPES[type_], distance(draw, size)
    index = draw(st.sampled_from([f"{length + far}", f"-{far + 1}"]))
    reads = draw(st.booleans())
    access = f"y[0] = x[{index}];" if reads else f"x[{index}] = y[0];"
    threads = draw(st.integers(1, 40))
    body = f"  if (threadIdx.x == {draw(st.integers(0, threads - 1))}) {access}"
    return _raw(
        "outside", f"{ctype} *x, {ctype} *y", body, f"(1,), ({threads},), (x, y)",
        f"x = cp.ones({length}, '{type_}')\ny = cp.ones(1, '{type_}')",
    )  # fmt: skip


@st.composite
def no_bounds_test(draw) -> Case:
    """A copy whose grid is larger than the array, in one, two or three dimensions."""
    type_, dims = draw(st.sampled_from(TYPES)), draw(st.integers(1, 3))
    sides = [draw(st.integers(1, {1: 3000, 2: 150, 3: 25}[dims])) for _ in range(dims)]
    blocks = {1: [(32,), (256,), (100,)], 2: [(16, 16), (32, 32), (7, 5)], 3: [(4, 4, 4)]}[dims]
    block = draw(st.sampled_from(blocks))
    grid = tuple(-(-n // b) + draw(st.integers(0, 1)) for n, b in zip(sides, block, strict=True))
    if all(g * b == n for g, b, n in zip(grid, block, sides, strict=True)):
        grid = (grid[0] + 1, *grid[1:])
    index = [f"i{axis}" for axis in "xyz"[:dims]]
    lines = [
        f"  long long i{axis} = (long long)blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis};"
        for axis in "xyz"[:dims]
    ]
    at = index[-1]
    for name, side in zip(index[-2::-1], sides[-2::-1], strict=True):
        at = f"({at} * {side} + {name})"
    shape, ctype = tuple(sides[::-1]), CTYPES[type_]
    lines.append(f"  y[{at}] = x[{at}];")
    arrays = f"x = cp.ones({shape}, '{type_}')\ny = cp.zeros({shape}, '{type_}')"
    return _raw(
        "unbounded", f"const {ctype} *x, {ctype} *y", "\n".join(lines), f"{grid}, {block}, (x, y)",
        arrays,
    )  # fmt: skip


@st.composite
def outside_shared(draw) -> Case:
    """Shared memory, static or dynamic, read or written outside."""
    type_, length = draw(st.sampled_from(TYPES)), draw(st.integers(1, 200))
    size = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4}.get(type_, 8)
    far = draw(st.sampled_from([0, 1, 5]) | st.integers(0, 10_000))
    index = draw(st.sampled_from([f"{length + far}", f"-{far + 1}"]))
    ctype, dynamic = CTYPES[type_], draw(st.booleans())
    array = f"extern __shared__ {ctype} s[];" if dynamic else f"__shared__ {ctype} s[{length}];"
    through = draw(st.booleans())
    pointer, name = (f" {ctype} *p = s;", "p") if through else ("", "s")
    access = f"y[0] = {name}[k];" if draw(st.booleans()) else f"{name}[k] = y[0];"
    wait = " __syncthreads();" if draw(st.booleans()) else ""
    body = (
        f"  {array}{pointer}\n  s[threadIdx.x % {length}] = 1;{wait}\n"
        f"  if (threadIdx.x == 0) {access}"
    )
    shared = f", shared_mem={length * size}" if dynamic else ""
    return _raw(
        "tile", f"{ctype} *y, int k", body,
        f"(1,), ({draw(st.integers(1, 64))},), (y, np.int32({index})){shared}",
        f"y = cp.ones(1, '{type_}')",
    )  # fmt: skip


@st.composite
def outside_raw_argument(draw) -> Case:
    """A ``raw`` array of an ElementwiseKernel, perhaps a view inside a larger array."""
    type_, dims = draw(st.sampled_from([*TYPES, "e", "?", "F", "D"])), draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 6)) for _ in range(dims))
    base, view = f"cp.ones({shape}, '{type_}')", ""
    if draw(st.booleans()):  # the index stays inside the parent
        base = f"cp.ones({tuple(4 * n + 4 for n in shape)}, '{type_}')"
        cuts = []
        for n in shape:
            start, step = draw(st.integers(0, 3)), draw(st.sampled_from([1, 2, 3, -1]))
            first = start if step > 0 else start + n - 1
            stop = first + step * n
            cuts.append(f"{first}:{stop if stop >= 0 else ''}:{step}")
        view = f"[{', '.join(cuts)}]"
        if draw(st.booleans()):
            view += ".T"
            shape = shape[::-1]
    size = math.prod(shape)
    if draw(st.booleans()):
        far = draw(st.sampled_from([0, 1]) | st.integers(0, 10**6) | st.integers(0, 2**40))
        index = draw(st.sampled_from([f"{size + far}", f"-{far + 1}"])) + "ll"
        place = f"[{index}]"
    else:
        wrong = draw(st.integers(0, dims - 1))
        far = draw(st.integers(0, 1000))
        index = [
            draw(st.sampled_from([n + far, -far - 1]))
            if k == wrong
            else draw(st.integers(0, n - 1))
            for k, n in enumerate(shape)
        ]
        place = "[{" + ", ".join(map(str, index)) + "}]"
    if draw(st.booleans()):
        kernel = f"'raw T x', 'T y', 'y = x{place}'"
    else:
        kernel = f"'T y', 'raw T x', 'x{place} = y'"
    call = "kernel(x, y)" if kernel.startswith("'raw") else "kernel(y, x)"
    code = (
        f"x = {base}{view}\ny = cp.zeros({draw(st.integers(1, 5))}, '{type_}')\n"
        f"kernel = cp.ElementwiseKernel({kernel}, 'gather')\n{call}"
    )
    return Case(code, error="gather")


@st.composite
def unequal_barriers(draw) -> Case:
    """Some threads of a block wait where others never come."""
    threads = draw(st.integers(2, 200))
    some = draw(st.integers(1, threads - 1))
    body = draw(
        st.sampled_from(
            [
                "  if (threadIdx.x < {some}) __syncthreads();\n  x[threadIdx.x] = 1;",
                "  if (threadIdx.x >= {some}) return;\n  __syncthreads();\n  x[threadIdx.x] = 1;",
                "  for (int k = 0; k < (threadIdx.x < {some} ? 3 : 2); ++k) __syncthreads();",
                "  if (threadIdx.x < {some}) x[0] = __syncthreads_count(1);",
                "  if (threadIdx.x >= {some}) return;\n  x[0] = __syncthreads_or(0);",
            ]
        )
    ).replace("{some}", str(some))
    before = f"x = cp.zeros({threads}, 'i')"
    grid = draw(st.integers(1, 4))
    return _raw("divergent", "int *x", body, f"({grid},), ({threads},), (x,)", before)


@st.composite
def unequal_warps(draw) -> Case:
    """A warp primitive whose mask names lanes that wait elsewhere, or not the calling lane."""
    some = draw(st.integers(1, 31))
    mask, otherwise = draw(
        st.sampled_from([("0xffffffff", "__syncthreads()"), ("0x80000000", "x[v] = 2")])
    )
    call = draw(
        st.sampled_from(
            [
                "__shfl_xor_sync(MASK, v, 1)",
                "__shfl_down_sync(MASK, v, 1)",
                "(int)__ballot_sync(MASK, v)",
                "__any_sync(MASK, v)",
                "(__syncwarp(MASK), 1)",
            ]
        )
    ).replace("MASK", mask)
    body = f"  int v = threadIdx.x;\n  if (v < {some}) x[v] = {call};\n  else {otherwise};"
    return _raw("lanes", "int *x", body, "(1,), (32,), (x,)", "x = cp.zeros(32, 'i')")


@st.composite
def wrong_arguments(draw) -> Case:
    """A number of arguments or a type that does not fit."""
    count = draw(st.integers(1, 4))
    types = [draw(st.sampled_from(["int *", "float *", "double *", "int ", "float ", "double "]))
             for _ in range(count)]  # fmt: skip
    good = {
        "int *": "cp.zeros(4, 'i')", "float *": "cp.zeros(4, 'f')", "double *": "cp.zeros(4)",
        "int ": "np.int32(3)", "float ": "np.float32(3)", "double ": "3.0",
    }  # fmt: skip
    bad = {
        "int *": ["cp.zeros(4, 'f')", "cp.zeros(4, 'q')", "np.int32(0)", "5"],
        "float *": ["cp.zeros(4)", "cp.zeros(4, 'i')", "1.5", "np.float32(1)"],
        "double *": ["cp.zeros(4, 'f')", "cp.zeros(4, 'q')", "2.0"],
        "int ": ["1.0", "cp.zeros(4, 'i')", "np.float32(1)", "None", "np.int16(1)", "True"],
        "float ": ["1.0", "3", "np.float64(1)", "cp.zeros(4, 'f')"],
        "double ": ["np.float32(1)", "3", "cp.zeros(1)", "True"],
    }
    arguments = [good[t] for t in types]
    change = draw(st.sampled_from(["type", "missing", "extra"]))
    if change == "type":
        k = draw(st.integers(0, count - 1))
        arguments[k] = draw(st.sampled_from(bad[types[k]]))
    elif change == "missing":
        arguments = arguments[: draw(st.integers(0, count - 1))]
    else:
        arguments += ["np.int32(1)"] * draw(st.integers(1, 3))
    parameters = ", ".join(f"{t}p{k}" for k, t in enumerate(types))
    passed = "".join(f"{a}, " for a in arguments)
    return _raw("misfit", parameters, "", f"(1,), (1,), ({passed})")


@st.composite
def wrong_generated_call(draw) -> Case:
    """An ElementwiseKernel or a ReductionKernel called with what it cannot take."""
    kind = draw(st.sampled_from(["count", "reduction count", "empty", "index"]))
    n = draw(st.integers(1, 40))
    arguments = ", ".join(["x"] * draw(st.sampled_from([0, 1, 4, 5])))
    if kind == "count":
        kernel = f"cp.ElementwiseKernel('T a, T b', 'T z', 'z = a + b', 'misfit')({arguments})"
    elif kind == "reduction count":
        kernel = "cp.ReductionKernel('T a, T b', 'T z', 'a * b', 'a + b', 'z = a', '0', 'misfit')"
        kernel += f"({arguments})"
    elif kind == "empty":
        kernel = "cp.ReductionKernel('T a', 'T z', 'a', 'a + b', 'z = a', None, 'misfit')(x[:0])"
    else:
        at = draw(st.sampled_from([f"i + {n}", f"{n}", "-1 - i", "i * 2 + 1", f"{2**33}ll"]))
        expression = f"'x[{at}]', 'a + b', 'z = a', '0', 'misfit')(x, x)"
        kernel = f"cp.ReductionKernel('T y, raw T x', 'T z', {expression}"
        if "i" in at:
            kernel = kernel.replace("x[i", "x[_i").replace("- i", "- _i").replace("_i", "_j")
    return Case(f"x = cp.ones({n})\n{kernel}", error="misfit")


@st.composite
def bad_arithmetic(draw) -> Case:
    """What a CPU traps on: division by zero, the null pointer, an endless recursion, a trap."""
    body = draw(
        st.sampled_from(
            [
                "x[0] = 7 / (x[1] - x[2]);",
                "x[0] = 7 % (x[1] - x[2]);",
                "x = nullptr; x[threadIdx.x] = 1;",
                "__trap();",
                "assert(x[0] == 12345);",
                "int a[8]; a[threadIdx.x + 8 + x[1]] = 3; x[0] = a[x[2]];",
            ]
        )
    )
    n = draw(st.integers(3, 50))
    threads = draw(st.integers(1, 40))
    return _raw("broken", "int *x", "  " + body, f"(1,), ({threads},), (x,)",
                f"x = cp.ones({n}, 'i')")  # fmt: skip


BOUNDS = [outside_array, no_bounds_test, outside_shared, outside_raw_argument]
OTHERS = [unequal_barriers, unequal_warps, wrong_arguments, wrong_generated_call, bad_arithmetic]


def bounds():
    """A program that leaves an array."""
    return st.one_of(*(kind() for kind in BOUNDS))


def others():
    """A program with another mistake."""
    return st.one_of(*(kind() for kind in OTHERS))
