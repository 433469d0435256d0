"""The kernels whose counts and races are held against a GPU's: see xray_truth.py.

Each has the accesses that its source has (``#pragma unroll 1`` keeps the compiler from merging
them) or says in ``differs`` what a compiler makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import helpers  # noqa: F401  first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
from xray_reasons import KEPT, MERGED

SHARED = "shared"  # where a race is
GLOBAL = "global"


@dataclass(frozen=True)
class Case:
    """A kernel by its ``body``, and a launch of it.

    ``arrays``: for each pointer among the ``parameters`` the array, or the length of one that
    counts up. ``races``: in which memory two threads race, "" for a right kernel. ``differs``: why
    a GPU's counters may tell of other accesses than the source.
    """

    body: str
    grid: tuple
    block: tuple
    arrays: tuple
    parameters: str = "const float *x, float *y"
    races: str = ""
    differs: str = ""

    @property
    def why(self) -> str:
        """Why counters may differ from the source; "" if they must not."""
        return self.differs or (KEPT if self.races else "")

    def kernel(self, name: str = "k"):
        """The kernel, under a name by which a profiler can tell it."""
        code = f'extern "C" __global__ void {name}({self.parameters}) {{\n{self.body}\n}}'
        return cp.RawKernel(code, name)

    def arguments(self) -> tuple:
        kinds = (part.split()[-2] for part in self.parameters.replace("*", "").split(","))
        dtypes = {"float": "f4", "double": "f8", "int": "i4", "float4": "f4"}
        return tuple(
            cp.arange(given, dtype=dtypes[kind]) if isinstance(given, int) else cp.asarray(given)
            for given, kind in zip(self.arrays, kinds, strict=True)
        )


INDEX = "int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
WAIT = "__syncthreads();"
PLAIN = "#pragma unroll 1\n"
N = 128  # of the products


def product(x, y, block=(16, 16), real="float", line=N):
    """Of two N x N matrices whose rows begin ``line`` elements apart.

    A power of two brings a column into one bank, an odd number deals it out to all: there a rule
    for passes that goes by lines of 128 bytes and one that goes by banks give different counts.
    """
    body = f"""const int n = {N}, line = {line};
int {x} = blockIdx.x * blockDim.x + threadIdx.x, {y} = blockIdx.y * blockDim.y + threadIdx.y;
{real} sum = 0;
#pragma unroll 1
for (int k = 0; k < n; k++) sum += a[row * line + k] * b[k * line + col];
c[row * line + col] = sum;"""
    parameters = f"const {real} *a, const {real} *b, {real} *c"
    return Case(body, (N // block[0], N // block[1]), block, (N * line,) * 3, parameters)


def tiled(
    side=16, pad=0, real="float", unroll="#pragma unroll 1\n", first=WAIT, second=WAIT, **more
):
    body = f"""const int n = {N};
__shared__ {real} ta[{side}][{side + pad}], tb[{side}][{side + pad}];
int x = threadIdx.x, y = threadIdx.y;
int col = blockIdx.x * {side} + x, row = blockIdx.y * {side} + y;
{real} sum = 0;
#pragma unroll 1
for (int start = 0; start < n; start += {side}) {{
    ta[y][x] = a[row * n + start + x];
    tb[y][x] = b[(start + y) * n + col];
    {first}
    {unroll}for (int k = 0; k < {side}; k++) sum += ta[y][k] * tb[k][x];
    {second}
}}
c[row * n + col] = sum;"""
    parameters = f"const {real} *a, const {real} *b, {real} *c"
    grid = (N // side, N // side)
    return Case(body, grid, (side, side), (N * N,) * 3, parameters, **more)


def transpose(pad, tile=True, wait=WAIT, **more):
    body = f"""__shared__ float tile[32][{32 + pad}];
int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
tile[threadIdx.y][threadIdx.x] = x[row * 256 + col];
{wait}
col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
y[row * 256 + col] = tile[threadIdx.x][threadIdx.y];"""
    if not tile:
        body = """int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
y[col * 256 + row] = x[row * 256 + col];"""
    return Case(body, (8, 8), (32, 32), (256 * 256,) * 2, **more)


LINE = ((16,), (256,), (32 * 4096 + 1, 4096))


def total(first=WAIT, second=WAIT, who="t < s", loop="int s = 128; s; s /= 2", **more):
    body = f"""{INDEX}__shared__ float part[256];
part[t] = x[i];
{first}
#pragma unroll 1
for ({loop}) {{
    if ({who}) part[t] += part[t + s];
    {second}
}}
if (t == 0) y[blockIdx.x] = part[0];"""
    return Case(body, *LINE, **more)


def wide(index, kind="float4"):
    """Reads of 8 or 16 bytes from shared memory by a warp."""
    value = "v.x + v.y + v.z + v.w" if kind == "float4" else "(float)v"
    make = "make_float4(j, j + 1, j + 2, j + 3)" if kind == "float4" else "j"
    body = f"""__shared__ {kind} s[128];
int t = threadIdx.x;
#pragma unroll 1
for (int j = t; j < 128; j += 32) s[j] = {make};
{WAIT}
{kind} v = s[{index}];
y[t] = {value};"""
    return Case(body, (1,), (32,), (32,), "float *y")


def stencil(wait=WAIT, **more):
    body = f"""{INDEX}__shared__ float s[258];
s[t + 1] = x[i + 1];
if (t == 0) s[0] = x[i];
if (t == 255) s[257] = x[i + 2];
{wait}
y[i] = s[t] + s[t + 1] + s[t + 2];"""
    return Case(body, (16,), (256,), (4098, 4096), **more)


def shared_histogram(add, **more):
    body = f"""{INDEX}__shared__ int part[64];
if (t < 64) part[t] = 0;
{WAIT}
{add};
{WAIT}
if (t < 64) atomicAdd(&bins[t], part[t]);"""
    return Case(body, (16,), (256,), (KEYS, 64), "const int *key, int *bins", **more)


_random = np.random.default_rng(13)
PLACES = _random.integers(0, 8192, 4096).astype("i4")
KEYS = _random.integers(0, 64, 4096).astype("i4")
GATHER = ((16,), (256,), (8192, PLACES, 4096), "const float *x, const int *at, float *y")

CASES = {
    "product, x the column": product("col", "row"),
    "product, x the row": product("row", "col"),
    "product, blocks of (32, 8)": product("col", "row", (32, 8)),
    "product, float64": product("col", "row", real="double"),
    "product, float64, x the row": product("row", "col", real="double"),
    "product, odd rows": product("col", "row", line=N + 1),
    "product, odd rows, x the row": product("row", "col", line=N + 1),
    "product, odd rows, float64": product("col", "row", real="double", line=N + 1),
    "product, odd rows, float64, x the row": product("row", "col", real="double", line=N + 1),
    "product by tiles": tiled(),
    "product by padded tiles": tiled(pad=1),
    "product by tiles, float64": tiled(real="double"),
    "product by padded tiles, float64": tiled(pad=1, real="double"),
    "product by tiles of 32": tiled(32),
    "product by tiles, unrolled": tiled(unroll="", differs=MERGED),
    "product by padded tiles, unrolled": tiled(pad=1, unroll=""),
    "transpose": transpose(0, tile=False),
    "transpose by tiles": transpose(0),
    "transpose by padded tiles": transpose(1),
    **{f"stride {s}": Case(f"{INDEX}y[i] = x[{s} * i];", *LINE) for s in (1, 2, 3, 4, 8, 13, 32)},
    "off by one": Case(f"{INDEX}y[i] = x[i + 1];", *LINE),
    "float4": Case(f"{INDEX}y[i] = x[i];", (4,), (256,), (4096,) * 2, "const float4 *x, float4 *y"),
    "gather at random": Case(f"{INDEX}y[i] = x[at[i]];", *GATHER),
    "scatter at random": Case(
        f"{INDEX}y[at[i]] = x[i];",
        (16,),
        (256,),
        (4096, _random.permutation(8192)[:4096].astype("i4"), 8192),
        "const float *x, const int *at, float *y",
    ),
    "some lanes": Case(f"{INDEX}if (t % 3) y[i] = x[5 * i];", *LINE),
    "sum": total(),
    "sum, interleaved": total(who="t % (2 * s) == 0", loop="int s = 1; s < 256; s *= 2"),
    "stencil": stencil(),
    "stencil from memory": Case(
        f"{INDEX}y[i] = x[i] + x[i + 64] + x[i + 65] + x[i + 66] + x[i + 130];",
        (16,),
        (256,),
        (4096 + 131, 4096),
    ),
    "histogram": Case(
        f"{INDEX}atomicAdd(&bins[key[i]], 1);",
        (16,),
        (256,),
        (KEYS, 64),
        "const int *key, int *bins",
    ),
    "histogram in shared memory": shared_histogram("atomicAdd(&part[key[i]], 1)"),
    **{
        f"16 bytes from shared memory, {index}": wide(index)
        for index in ("t", "0", "t / 2", "t & ~2", "t / 4", "t ^ 1", "t % 8", "2 * t", "3 * t")
    },
    **{
        f"8 bytes from shared memory, {index}": wide(index, "double")
        for index in ("t", "0", "t / 2", "t & ~2", "2 * t", "3 * t", "t % 16")
    },
    # Planted races; of each kind there is a right kernel above.
    "sum without the first barrier": total(first="", races=SHARED),
    "sum without the second barrier": total(second="", races=SHARED),
    "tiles without the first barrier": tiled(first="", races=SHARED),
    "tiles without the second barrier": tiled(second="", races=SHARED),
    "transpose without the barrier": transpose(1, wait="", races=SHARED),
    "stencil without the barrier": stencil(wait="", races=SHARED),
    "histogram in shared memory, not atomic": shared_histogram("part[key[i]] += 1", races=SHARED),
    "a double buffer that is one": Case(
        f"""{INDEX}__shared__ float s[256];
s[t] = x[i];
{WAIT}
#pragma unroll 1
for (int k = 0; k < 3; k++) {{
    float v = s[(t + 33) % 256];
    s[t] = v;
    {WAIT}
}}
y[i] = s[t];""",
        *LINE,
        races=SHARED,
    ),
    "a tile one place too far": Case(
        f"{INDEX}__shared__ float s[257];\nif (t == 0) s[256] = 0;\ns[t] = x[i];\ny[i] = s[t + 1];",
        *LINE,
        races=SHARED,
    ),
    "a warp without __syncwarp": Case(
        f"""{INDEX}__shared__ float s[256];
s[t] = x[i];
{WAIT}
if (t < 16) s[t] += s[t + 16];
if (t < 8) s[t] += s[t + 8];
{WAIT}
y[i] = s[0];""",
        *LINE,
        races=SHARED,
    ),
    "an output that two threads share": Case(f"{INDEX}y[i / 2] += x[i];", *LINE, races=GLOBAL),
    "a histogram, not atomic": Case(
        f"{INDEX}bins[key[i]] += 1;",
        (16,),
        (256,),
        (KEYS, 64),
        "const int *key, int *bins",
        races=GLOBAL,
    ),
}
