"""The worked examples of the page on the x-ray, run when the page is made."""

from __future__ import annotations

import base64
import html
import io
import json
from pathlib import Path

import numpy as np

import helpers
from helpers.standin.xray import build
from helpers.xray import picture, table

TRUTH = Path(__file__).parents[2] / "tests" / "xray_truth.json"
PRODUCT = r"""
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    int X = blockIdx.x * blockDim.x + threadIdx.x;
    int Y = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}""".strip()
SHIFT = r"""
extern "C" __global__ void shift(const float *x, float *y) {
    __shared__ float tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = tile[127 - threadIdx.x];
}""".strip()
TRANSPOSE = r"""
extern "C" __global__ void transpose(const float *x, float *y, int n) {
    __shared__ float tile[32][32];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * n + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    y[row * n + col] = tile[threadIdx.x][threadIdx.y];
}""".strip()


def examples(chapters) -> list[str]:
    """Return the examples as pieces of Markdown; one that says why there are none without g++."""
    if not build.can_compile():
        return [f"The examples were not run: {build.NO_COMPILER.format(found='none')}"]
    parts, sectors = [], []
    for x, y, what in (
        ("col", "row", "Neighbouring threads take neighbouring **columns**:"),
        ("row", "col", "The same kernel, but neighbouring threads take neighbouring **rows**:"),
    ):
        code = PRODUCT.replace("X", x).replace("Y", y)
        found = _look(code, "product", (4, 4), (16, 16), 64)
        loads = [a for a in found.accesses if a.array == "a" and a.kind == "load"]
        parts += [what, _cpp(code), *_shown(found), _picture(loads[0])]
        sectors.append(loads[0].sectors)
    ratio = sectors[1] / sectors[0]
    parts.append(f"For `a` the second kernel moves {ratio:g} times as many sectors as the first.")
    found = _look(TRANSPOSE, "transpose", (2, 2), (32, 32), 64)
    reads = [a for a in found.accesses if a.shared and a.kind == "load"]
    parts += ["## Banks", "A transpose by way of shared memory:", _cpp(TRANSPOSE)]
    parts += [*_shown(found), _picture(reads[0])]
    found = _look(SHIFT, "shift", (2,), (128,))
    parts += ["## A race", "Each block turns 128 elements round. One line is missing:", _cpp(SHIFT)]
    parts += [f"> {race}" for race in found.races]
    return [*parts, *_truth()]


def _truth() -> list[str]:
    """The x-ray's counts beside those of a GPU, where these are stored."""
    if not TRUTH.exists():
        return []
    stored = json.loads(TRUTH.read_text(encoding="utf-8"))
    lines = [("Kernel", "Count", "X-ray", "GPU")]
    for name, case in stored["cases"].items():
        for what, count in case["x-ray"].items():
            if count or case["counters"][what]:
                lines.append((name, what, f"{count:,}", f"{case['counters'][what]:,}"))
    return [f"## Held against a GPU\n\nCounters of {stored['device']}.", _table(lines)]


def _table(lines) -> str:
    lines = [lines[0], ["---", "---", *["---:"] * (len(lines[0]) - 2)], *lines[1:]]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _shown(found) -> list[str]:
    """The table and the sentences as Markdown."""
    lines = [table.HEADERS]
    for line, source, *numbers in table.rows(found):
        source = source.removeprefix("· ")
        code = f"`{source}`" if line else source.replace("*", "\\*").replace("_", "\\_")
        lines.append((line, code, *numbers))
    return [_table(lines), *table.sentences(found)[:-1]]


def _look(code, name, grid, block, n=None):
    import cupy as cp

    if n is None:
        size = grid[0] * block[0]
        arguments = (cp.arange(size, dtype="f4"), cp.zeros(size, "f4"))
    else:
        arrays = [cp.zeros((n, n), "f4") for _ in range(code.split(")")[0].count("*"))]
        arguments = (*arrays, np.int32(n))
    return helpers.xray(cp.RawKernel(code, name), grid, block, arguments)


def _cpp(code: str) -> str:
    return f"```cpp\n{code}\n```"


def _picture(access) -> str:
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, alt = picture.draw(access)
    drawn, image = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(64).save(image, format="png", optimize=True)
    data = base64.b64encode(image.getvalue()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'
