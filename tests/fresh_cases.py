"""Kernels that the x-ray was not made with: 40 to be counted, and 60 races with their cures.

As xray_cases.py; `XRAY_TRUTH_CASES=fresh_cases python tests/xray_truth.py FILE.json` holds them
against a GPU's counters and racecheck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xray_cases import GLOBAL, INDEX, SHARED, WAIT
from xray_cases import Case as Plain

import helpers  # noqa: F401  first: it decides who answers to `import cupy`

# isort: split
import cupy as cp

_random = np.random.default_rng(2027)


@dataclass(frozen=True)
class Case(Plain):
    """One with a ``head`` before the kernel; ``counted``: a profiler counts it, else only races are
    looked for."""

    head: str = ""
    counted: bool = True

    def kernel(self, name: str = "k"):
        return cp.RawKernel(f"{self.head}{super().kernel(name).code}", name)


N = 2048
GRID, BLOCK = (8,), (256,)
FLAT = (GRID, BLOCK, (8 * N, np.zeros(N, "f4")))
PLACES = _random.integers(0, 4096, N).astype("i4")
KEYS = _random.integers(0, 32, N).astype("i4")
SQUARE = ((4, 4), (16, 16), (4096,) * 3, "const float *a, const float *b, float *c")
AT = "int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;\n"
PIPELINE = "#include <cuda_pipeline.h>\n"
GROUPS = (
    "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n"
    "namespace cg = cooperative_groups;\n"
)


def flat(body, **more):
    """A kernel of one thread an element: x has 8 N of them, y has N."""
    return Case(INDEX + body, *FLAT, **more)


def square(body, **more):
    """A kernel of one thread for each element of a 64 x 64 matrix."""
    return Case(AT + body, *SQUARE, **more)


def typed(kind, body, head="", words=1):
    """A kernel whose x and y are arrays of ``kind``, of so many words an element."""
    empty = np.zeros(N * words, "f4")
    parameters = f"const {kind} *x, {kind} *y"
    return Case(INDEX + body, GRID, BLOCK, (empty, empty), parameters, head=head)


COUNTED = {
    # products
    "product, a transposed": square(
        """float sum = 0;
#pragma unroll 1
for (int k = 0; k < 64; k++) sum += a[k * 64 + row] * b[k * 64 + col];
c[row * 64 + col] = sum;"""
    ),
    "product, b transposed": square(
        """float sum = 0;
#pragma unroll 1
for (int k = 0; k < 64; k++) sum += a[row * 64 + k] * b[col * 64 + k];
c[row * 64 + col] = sum;"""
    ),
    "product of two rows a thread": square(
        """float one = 0, two = 0;
if (y >= 8) return;
int top = blockIdx.y * 16 + y;
#pragma unroll 1
for (int k = 0; k < 64; k++) {
    float v = b[k * 64 + col];
    one += a[top * 64 + k] * v, two += a[(top + 8) * 64 + k] * v;
}
c[top * 64 + col] = one, c[(top + 8) * 64 + col] = two;"""
    ),
    "matrix times vector, a warp a row": square(
        """int warp = (y * 16 + x) / 32, lane = (y * 16 + x) % 32;
int line = (blockIdx.y * 4 + blockIdx.x) * 4 + warp;
if (warp >= 4) return;
float sum = a[line * 64 + lane] * b[lane] + a[line * 64 + lane + 32] * b[lane + 32];
for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
if (lane == 0) c[line] = sum;"""
    ),
    # tiles
    "tiles that overlap": square(
        """__shared__ float s[18][20];
s[y + 1][x + 1] = a[row * 64 + col];
if (y == 0 && row > 0) s[0][x + 1] = a[(row - 1) * 64 + col];
if (y == 15 && row < 63) s[17][x + 1] = a[(row + 1) * 64 + col];
__syncthreads();
float above = row > 0 ? s[y][x + 1] : 0, below = row < 63 ? s[y + 2][x + 1] : 0;
c[row * 64 + col] = above + s[y + 1][x + 1] + below;"""
    ),
    "tiles of a product, rows of 17": square(
        """__shared__ float ta[16][17], tb[16][17];
float sum = 0;
#pragma unroll 1
for (int start = 0; start < 64; start += 16) {
    ta[x][y] = a[row * 64 + start + x];
    tb[y][x] = b[(start + y) * 64 + col];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 16; k++) sum += ta[k][y] * tb[k][x];
    __syncthreads();
}
c[row * 64 + col] = sum;"""
    ),
    "a tile of double": square(
        """__shared__ double s[16][16];
s[x][y] = a[row * 64 + col];
__syncthreads();
c[row * 64 + col] = s[y][x];"""
    ),
    "a tile of bytes": square(
        """__shared__ unsigned char s[16][16];
s[x][y] = (int)a[row * 64 + col];
__syncthreads();
c[row * 64 + col] = s[y][x];"""
    ),
    # transposes
    "transpose, written by rows": square("c[row * 64 + col] = a[col * 64 + row] + b[0];"),
    "transpose by tiles of 16": square(
        """__shared__ float s[16][16];
s[y][x] = a[row * 64 + col];
__syncthreads();
c[(blockIdx.x * 16 + y) * 64 + blockIdx.y * 16 + x] = s[x][y];"""
    ),
    "transpose by shifted tiles": square(
        """__shared__ float s[16][16];
s[y][(x + y) % 16] = a[row * 64 + col];
__syncthreads();
c[(blockIdx.x * 16 + y) * 64 + blockIdx.y * 16 + x] = s[x][(x + y) % 16];"""
    ),
    # strides
    "stride 5, backwards": flat("y[i] = x[5 * (2047 - i)];"),
    "stride 6, from 3": flat("y[i] = x[6 * i + 3];"),
    "grid stride": flat(
        """#pragma unroll 1
for (int k = i; k < 2048; k += 512) if (i < 512) y[k] = 2 * x[k];"""
    ),
    # gathers
    "gather of pairs": Case(
        INDEX + "y[i] = x[at[i]] + x[at[i] ^ 1];",
        GRID, BLOCK, (4096, PLACES, N), "const float *x, const int *at, float *y",
    ),
    "gather by two arrays": Case(
        INDEX + "y[i] = x[at[at[i] % 2048]];",
        GRID, BLOCK, (4096, PLACES, N), "const float *x, const int *at, float *y",
    ),
    "gather of some": Case(
        INDEX + "if (at[i] % 3 == 0) y[i] = x[at[i] / 3];",
        GRID, BLOCK, (4096, PLACES, N), "const float *x, const int *at, float *y",
    ),
    # reductions
    "sum by shuffles": flat(
        """float v = x[i];
for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
if (t % 32 == 0) y[i / 32] = v;"""
    ),
    "sum by shuffles and a word a warp": flat(
        """__shared__ float part[8];
float v = x[i];
for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
if (t % 32 == 0) part[t / 32] = v;
__syncthreads();
if (t < 8) {
    v = part[t];
    for (int d = 4; d; d /= 2) v += __shfl_down_sync(0xff, v, d);
    if (t == 0) y[blockIdx.x] = v;
}"""
    ),
    "largest by shared memory": flat(
        """__shared__ float part[256];
part[t] = x[i];
__syncthreads();
#pragma unroll 1
for (int s = 128; s; s /= 2) {
    if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    __syncthreads();
}
if (t == 0) y[blockIdx.x] = part[0];"""
    ),
    "sum of the last block": flat(
        """__shared__ bool last;
if (t == 0) y[blockIdx.x] = x[i];
__threadfence();
if (t == 0) last = atomicAdd((int *)&y[2000], 1) == gridDim.x - 1;
__syncthreads();
if (last && t == 0) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; k++) sum += ((volatile float *)y)[k];
    y[100] = sum;
}"""
    ),
    "sums of columns": square(
        """if (y > 0) return;
float sum = 0;
#pragma unroll 1
for (int k = 0; k < 16; k++) sum += a[(blockIdx.y * 16 + k) * 64 + col];
c[blockIdx.y * 64 + col] = sum;"""
    ),
    # histograms
    "histogram in shared memory, two copies": Case(
        INDEX + """__shared__ int part[64];
if (t < 64) part[t] = 0;
__syncthreads();
atomicAdd(&part[key[i] + 32 * (t % 2)], 1);
__syncthreads();
if (t < 32) bins[32 * blockIdx.x + t] = part[t] + part[t + 32];""",
        GRID, BLOCK, (KEYS, 256), "const int *key, int *bins",
    ),
    "histogram, each lane its own": Case(
        INDEX + "atomicAdd(&bins[key[i] * 32 + t % 32], 1);",
        GRID, BLOCK, (KEYS, 1024), "const int *key, int *bins",
    ),
    "largest by an atomic function, spread": Case(
        INDEX + "atomicMax(&bins[i % 96], key[i]);",
        GRID, BLOCK, (KEYS, 96), "const int *key, int *bins",
    ),
    # divergence
    "two branches": flat("if (t % 4 < 2) y[i] = x[i]; else y[i] = x[2 * i + 1];"),
    "a loop as long as the lane": flat(
        """float sum = 0;
#pragma unroll 1
for (int k = 0; k <= t % 7; k++) sum += x[k * 64 + t];
y[i] = sum;"""
    ),
    "early return": flat("if (i % 5 == 0) return;\nif (x[i] < 400) return;\ny[i] = x[i + 1];"),
    "a switch": flat(
        """float v;
switch (t % 3) {
case 0: v = x[i]; break;
case 1: v = x[4 * i]; break;
default: v = x[N - i];
}
y[i] = v;""".replace("N", str(N))
    ),
    # vectors
    "float2": typed("float2", "float2 v = x[i]; y[i] = make_float2(v.y, v.x);", words=2),
    "double2, every other": typed("double2", "if (t % 2) y[i] = x[i];", words=4),
    "float4 by a cast": flat(
        """float4 v = ((const float4 *)x)[i];
y[i] = v.x + v.y + v.z + v.w;"""
    ),
    "one of four": typed("float4", "y[i].y = x[i].z;", words=4),
    # structs
    "float3": typed("float3", "y[i] = x[i];", words=3),
    "a struct of five": typed(
        "five", "y[i] = x[i];", "struct five { float a, b, c, d; int e; };\n", 5
    ),
    "two of a struct of four": typed(
        "four", "y[i].b = x[i].a; y[i].d = x[i].c;", "struct four { float a, b, c, d; };\n", 4
    ),
    # constant memory
    "a filter of constants": flat(
        """float sum = 0;
#pragma unroll 1
for (int k = 0; k < 5; k++) sum += c[k] * x[i + k];
y[i] = sum;""",
        head="__constant__ float c[5];\n",
    ),
    # asynchronous copies
    "copies of 4 bytes": flat(
        """__shared__ float s[256];
__pipeline_memcpy_async(&s[t], &x[i], 4);
__pipeline_commit();
__pipeline_wait_prior(0);
__syncthreads();
y[i] = s[255 - t];""",
        head=PIPELINE,
    ),
    "copies of 16 bytes in two stages": flat(
        """__shared__ __align__(16) float s[2][1024];
float sum = 0;
__pipeline_memcpy_async(&s[0][4 * t], &x[4 * t], 16);
__pipeline_commit();
#pragma unroll 1
for (int k = 0; k < 4; k++) {
    if (k < 3) __pipeline_memcpy_async(&s[(k + 1) % 2][4 * t], &x[1024 * (k + 1) + 4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 2][1023 - t];
    __syncthreads();
}
y[i] = sum;""",
        head=PIPELINE,
    ),
    # scans
    "scan of a block": flat(
        """__shared__ float s[2][256];
s[0][t] = x[i];
__syncthreads();
int from = 0;
#pragma unroll 1
for (int d = 1; d < 256; d *= 2) {
    s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    from = 1 - from;
    __syncthreads();
}
y[i] = s[from][t];"""
    ),
}  # fmt: skip

# ---- races --------------------------------------------------------------------------------------
# A name: memory, the body with @, what stands there in the racing kernel, what in the right one. A
# tuple's further elements are what comes before the kernel.
TILE = "__shared__ float s[256];\n"
SUM = """__shared__ float s[256];
s[t] = x[i];
{0}
#pragma unroll 1
for (int d = 128; d; d /= 2) {{
    if (t < d) s[t] += s[t + d];
    {1}
}}
if (t == 0) y[blockIdx.x] = s[0];"""
WARP = """__shared__ float s[256];
s[t] = x[i];
__syncwarp();
{0}
y[i] = s[t];"""
MEET = """unsigned *count = (unsigned *)(y + 2047);
if (t < 128) y[blockIdx.x * 128 + t] = x[i];
__syncthreads();
if (t == 0) {{ {0} atomicAdd(count, 1u); while ({1} < gridDim.x); {2} }}
__syncthreads();
if (t < 100) y[1024 + blockIdx.x * 100 + t] = y[(blockIdx.x + 1) % 8 * 128 + t];"""
LOOK, ADD, FENCE = "*(volatile unsigned *)count", "atomicAdd(count, 0u)", "__threadfence();"
STAGES = """__shared__ float s[2][256];
float sum = 0;
__pipeline_memcpy_async(&s[0][t], &x[t], 4);
__pipeline_commit();
#pragma unroll 1
for (int k = 0; k < 4; k++) {{
    if (k < 3) __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[256 * (k + 1) + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior({0});
    {1}
    sum += s[k % 2][255 - t];
    {2}
}}
y[i] = sum;"""
COPY = "__pipeline_memcpy_async(&s[t], &x[i], 4); __pipeline_commit();\n"
READY = "__pipeline_wait_prior(0);"
SHARE = f"{TILE}s[t] = x[i];\n@\n"

PLANTED = {
    # no barrier where one must be
    "mirror": (SHARED, SHARE + "y[i] = s[255 - t];", "", WAIT),
    "neighbour": (SHARED, SHARE + "y[i] = s[t] + s[(t + 1) % 256];", "", WAIT),
    "broadcast": (SHARED, SHARE + "y[i] = s[0];", "", WAIT),
    "a warp alone meets": (SHARED, SHARE + "y[i] = s[t ^ 32];", "__syncwarp();", WAIT),
    "a fence is no barrier": (SHARED, SHARE + "y[i] = s[t ^ 64];", "__threadfence_block();", WAIT),
    "by columns": (SHARED, SHARE + "y[i] = s[t % 16 * 16 + t / 16];", "", WAIT),
    "first barrier of a sum": (SHARED, SUM.format("@", WAIT), "", WAIT),
    "second barrier of a sum": (SHARED, SUM.format(WAIT, "@"), "", WAIT),
    "a sum that meets by warps": (SHARED, SUM.format(WAIT, "@"), "__syncwarp();", WAIT),
    "used again too early": (
        SHARED,
        TILE + "float v = 0;\n#pragma unroll 1\nfor (int k = 0; k < 3; k++) {\ns[t] = x[i + k];\n"
        "__syncthreads();\nv += s[255 - t];\n@\n}\ny[i] = v;",
        "", WAIT,
    ),
    "in place, one to the left": (
        SHARED,
        TILE + "s[t] = x[i];\n__syncthreads();\nfloat v = s[(t + 255) % 256];\n@\ns[t] = v;\n"
        "__syncthreads();\ny[i] = s[255 - t];",
        "", WAIT,
    ),
    "swap of two elements": (
        SHARED,
        TILE + "s[t] = x[i];\n__syncthreads();\nfloat v = s[t ^ 128];\n@\ns[t] = v;\ny[i] = v;",
        "", WAIT,
    ),
    "zeros and counts": (
        SHARED,
        "__shared__ int s[16];\nif (t < 16) s[t] = 0;\n@\natomicAdd(&s[t % 16], 1);\n"
        "__syncthreads();\ny[i] = s[t % 16];",
        "", WAIT,
    ),
    "counts and their reading": (
        SHARED,
        "__shared__ int s[16];\nif (t < 16) s[t] = 0;\n__syncthreads();\n"
        "atomicAdd(&s[t % 16], 1);\n@\ny[i] = s[t % 16];",
        "", WAIT,
    ),
    "counts without atomics": (
        SHARED,
        "__shared__ int s[16];\nif (t < 16) s[t] = 0;\n__syncthreads();\n@;\n__syncthreads();\n"
        "y[i] = s[t % 16];",
        "s[t % 16] += 1", "atomicAdd(&s[t % 16], 1)",
    ),
    "everybody writes another value": (
        SHARED, "__shared__ float s;\n@ s = x[i];\n__syncthreads();\ny[i] = s;", "", "if (t == 0)",
    ),
    "two threads an element": (
        SHARED, TILE + "s[t @] = x[i];\n__syncthreads();\ny[i] = s[t / 2];", "/ 2", "",
    ),
    "a scan in place": (
        SHARED,
        TILE + "s[t] = x[i];\n__syncthreads();\n#pragma unroll 1\n"
        "for (int d = 1; d < 256; d *= 2) {\nfloat v = t >= d ? s[t - d] : 0;\n@\ns[t] += v;\n"
        "__syncthreads();\n}\ny[i] = s[t];",
        "", WAIT,
    ),
    "dynamic part of a tile": (
        SHARED,
        "__shared__ float s[2][128];\ns[t / 128][t % 128] = x[i];\n@\n"
        "y[i] = s[1 - t / 128][t % 128];",
        "", WAIT,
    ),
    "flag for the block": (
        SHARED,
        "__shared__ int found;\nif (t == 0) found = 0;\n@\nif (x[i] == 5) found = 1;\n"
        "__syncthreads();\ny[i] = found;",
        "", WAIT,
    ),
    "bytes of other threads": (
        SHARED,
        "__shared__ unsigned char s[256];\ns[t] = (int)x[i];\n@\ny[i] = s[t ^ 40];", "", WAIT,
    ),
    "wide words of other threads": (
        SHARED,
        "__shared__ float4 s[256];\ns[t] = make_float4(x[i], 1, 2, 3);\n@\ny[i] = s[t ^ 33].x;",
        "", WAIT,
    ),
    "a struct of other threads": (
        SHARED,
        "struct P { float a, b, c; };\n__shared__ P s[256];\ns[t] = {x[i], 1, 2};\n@\n"
        "y[i] = s[255 - t].b;",
        "", WAIT,
    ),
    "the last warp does not wait": (
        SHARED,
        TILE + "s[t] = x[i];\n@\nif (t < 32) y[i] = s[t] + s[t + 224];", "", WAIT,
    ),
    # within a warp
    "neighbour in a warp": (SHARED, WARP.format("float v = s[t ^ 1];\n@\ns[t] = v;"), "",
                            "__syncwarp();"),
    "a sum of the last warp": (
        SHARED,
        TILE + "s[t] = x[i];\n__syncthreads();\nif (t < 32) {\ns[t] += s[t + 32];\n__syncwarp();\n"
        "float v = t < 16 ? s[t + 16] : 0;\n@\ns[t] += v;\n}\n__syncthreads();\ny[i] = s[0];",
        "", "__syncwarp();",
    ),
    "shuffles order nothing": (
        SHARED,
        TILE + "s[t] = x[i];\nfloat v = __shfl_sync(~0u, x[i], 0);\n@\ny[i] = s[t ^ 3] + v;",
        "", "__syncwarp();",
    ),
    # volatile
    "volatile mirror": (
        SHARED, "__shared__ volatile float s[256];\ns[t] = x[i];\n@\ny[i] = s[255 - t];", "", WAIT,
    ),
    "volatile sum of a warp": (
        SHARED,
        "__shared__ volatile float s[256];\ns[t] = x[i];\n__syncthreads();\nif (t < 32) {\n"
        "#pragma unroll 1\nfor (int d = 32; d; d /= 2) {\nfloat v = s[t + d];\n@\n"
        "s[t] = s[t] + v;\n@\n}\n}\nif (t == 0) y[blockIdx.x] = s[0];",
        "", "__syncwarp();",
    ),
    "volatile counter": (
        GLOBAL, "volatile float *v = y;\n@ v[3] = v[3] + 1;", "", "if (i == 0)",
    ),
    "volatile counter of a block": (
        SHARED,
        "__shared__ volatile int n;\nif (t == 0) n = 0;\n__syncthreads();\n@ n = n + 1;\n"
        "__syncthreads();\ny[i] = n;",
        "", "if (t == 0)",
    ),
    # asynchronous copies
    "no wait for a copy": (SHARED, TILE + COPY + "@\n__syncthreads();\ny[i] = s[t];", "", READY,
                           PIPELINE),
    "no barrier behind a copy": (SHARED, TILE + COPY + READY + "@\ny[i] = s[255 - t];", "", WAIT,
                                 PIPELINE),
    "no commit": (
        SHARED,
        TILE + "__pipeline_memcpy_async(&s[t], &x[i], 4);\n@\n" + READY + WAIT + "\ny[i] = s[t];",
        "", "__pipeline_commit();", PIPELINE,
    ),
    "one group too few": (SHARED, STAGES.format("@", WAIT, WAIT), "2", "1", PIPELINE),
    "no barrier before a stage": (SHARED, STAGES.format("1", "@", WAIT), "", WAIT, PIPELINE),
    "no barrier behind a stage": (SHARED, STAGES.format("1", WAIT, "@"), "", WAIT, PIPELINE),
    "a copy into what is read": (
        SHARED,
        TILE + "s[t] = x[i];\n__syncthreads();\nfloat v = s[255 - t];\n@\n" + COPY + READY + WAIT
        + "\ny[i] = v + s[t];",
        "", WAIT, PIPELINE,
    ),
    "a group that syncs and does not wait": (
        SHARED,
        TILE + "auto b = cg::this_thread_block();\ncg::memcpy_async(b, s, x + i - t, 1024);\n@;\n"
        "y[i] = s[255 - t];",
        "b.sync()", "cg::wait(b)", GROUPS,
    ),
    "a copy of its own that is not there": (
        SHARED, TILE + COPY + "@\ny[i] = s[t];", "", READY, PIPELINE,
    ),
    # memcpy and memset
    "memset and then": (
        SHARED, TILE + "if (t == 0) memset(s, 0, sizeof s);\n@\ny[i] = s[t];", "", WAIT,
    ),
    "memcpy across warps": (
        SHARED, TILE + "memcpy(&s[t], &x[i], 4);\n@\ny[i] = s[t ^ 96];", "", WAIT,
    ),
    "memcpy to one element": (GLOBAL, "@ memcpy(&y[7], &x[i], 4);", "", "if (i == 9)"),
    # between the threads of a grid
    "sum without atomics": (GLOBAL, "@;", "y[0] += x[i]", "atomicAdd(&y[0], x[i])"),
    "counts of a grid": (
        GLOBAL, "@;", "y[(int)x[i] % 5] += 1", "atomicAdd(&y[(int)x[i] % 5], 1.f)",
    ),
    "neighbours in place": (
        GLOBAL, "float v = y[(i + 1) % 2048];\ny[@] = v + 1;", "i", "i * 0 + 2048 + i",
    ),
    "an output for two": (GLOBAL, "y[i @] = x[i];", "/ 2", ""),
    "rows that overlap": (GLOBAL, "y[i] = 1;\nif (t == 0) y[i + @] = x[i];", "256", "0"),
    "a plain store beside atomics": (
        GLOBAL, "atomicAdd(&y[i % 8], 1.f);\nif (i == 77) @;", "y[3] = 0", "atomicExch(&y[3], 0.f)",
    ),
    "reading beside atomics": (
        GLOBAL, "atomicAdd(&y[i % 8], 1.f);\nif (i == 200) y[1000] = @;", "y[2]",
        "atomicAdd(&y[2], 0.f)",
    ),
    "blocks that wait without a fence": (GLOBAL, MEET.format("@", LOOK, FENCE), "", FENCE),
    "blocks that look without a fence": (GLOBAL, MEET.format(FENCE, LOOK, "@"), "", FENCE),
    "blocks that wait by atomics": (GLOBAL, MEET.format("@", ADD, FENCE), "", FENCE),
    "a fence for the block alone": (
        GLOBAL, MEET.format("@", LOOK, FENCE), "__threadfence_block();", FENCE,
    ),
    "blocks that do not wait": (GLOBAL, MEET.format(FENCE, "@", FENCE), "gridDim.x * 0 + 9u", LOOK),
    "the last block without a fence": (
        GLOBAL,
        "__shared__ bool last;\nif (t == 0) {\ny[blockIdx.x] = x[i];\n@\n"
        "last = atomicAdd(&y[2047], 1.f) == gridDim.x - 1;\n}\n__syncthreads();\n"
        "if (last && t < 8) y[100 + t] = y[t];",
        "", FENCE,
    ),
    "a lock without fences": (
        GLOBAL,
        "int *lock = (int *)&y[2047];\nif (t % 64 == 0) {\nwhile (atomicCAS(lock, 0, 1));\n@\n"
        "y[0] += x[i];\n@\natomicExch(lock, 0);\n}",
        "", FENCE,
    ),
    "memory of malloc": (
        GLOBAL,
        "__shared__ float *p;\nif (t == 0) p = (float *)malloc(1024);\n__syncthreads();\n"
        "p[t] = x[i];\n@\ny[i] = p[255 - t];\n__syncthreads();\nif (t == 0) free(p);",
        "", WAIT,
    ),
    "a variable of the module": (
        GLOBAL, "@;\ny[i] = i;", "total += 1", "atomicAdd(&total, 1)", "__device__ int total;\n",
    ),
    "what was never written": (
        SHARED, TILE + "if (t @) s[t] = x[i];\n__syncthreads();\ny[i] = s[t];", "> 0", ">= 0",
    ),
}  # fmt: skip


def _pair(memory, body, racing, right, head=""):
    more = {"head": head, "counted": False}
    arrays = (8 * N, np.zeros(2 * N, "f4"))
    one, other = (
        Case(INDEX + body.replace("@", text), GRID, BLOCK, arrays, races=races, **more)
        for text, races in ((racing, memory), (right, ""))
    )
    return one, other


CASES = dict(COUNTED)
for _name, _parts in PLANTED.items():
    CASES[f"race: {_name}"], CASES[f"cure: {_name}"] = _pair(*_parts)
