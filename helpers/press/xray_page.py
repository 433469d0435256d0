"""The worked examples of the page on the x-ray, run when the page is made."""

from __future__ import annotations

import base64
import html

import numpy as np

import helpers
from gpuless.xray import table
from gpuless.xray.machine import build
from helpers import display
from helpers.press import evidence
from helpers.xray import picture

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


# The columns of the table: the counts in one.
COUNTS = {
    "global loads": ("global load requests", "global load sectors"),
    "global stores": ("global store requests", "global store sectors"),
    "atomics": ("global atomic requests", "global atomic sectors"),
    "shared loads": ("shared load passes",),
    "shared stores": ("shared store passes",),
}


def _truth() -> list[str]:
    """The x-ray beside a GPU's counters and racecheck, where what these said is stored."""
    stored = evidence.load("xray")
    if stored is None:
        return []
    made, cases = stored["receipt"], stored["cases"]
    on = made["on"]
    counted = {name: c for name, c in cases.items() if "x-ray" in c and "counters" in c}
    equal = sum(not c["differs"] for c in counted.values())
    lines = [("Kernel", *COUNTS)]
    lines += [
        (name, *(_cell(c, names) for names in COUNTS.values())) for name, c in counted.items()
    ]
    parts = [
        "## Held against a GPU",
        f"Counted on an {on['gpu']} (driver {on['driver']}, CUDA {on['cuda']}) by "
        f"NVIDIA's profiler, ncu {on['ncu']}, on {made['date']}. Of {len(counted)} kernels "
        f"{equal} have equal counts throughout. For global memory a field says requests / sectors, "
        "for shared memory passes; where the two sides differ, the x-ray's number stands first, "
        "and the GPU's "
        "behind ≠.",
        _folded("The counts of all kernels", _table(lines, 1)),
    ]
    differing = {name: c["explained"] for name, c in counted.items() if c["differs"]}
    parts += [f"*{name}*: {why or 'not explained'}." for name, why in differing.items()]
    if differing:
        share, where = (stored["worst difference"][k] for k in ("share", "where"))
        parts.append(f"The largest difference is {share:.1%} of the larger number: {where}.")
    parts += _l1(counted)
    return [*parts, *_races(cases, on), *_chapters(stored.get("chapters", {}))]


def _cell(case: dict, names: tuple[str, ...]) -> str:
    pairs = [(case["x-ray"][n], case["counters"].get(n)) for n in names]
    if not any(ours or theirs for ours, theirs in pairs):
        return ""
    return " / ".join(
        f"{ours:,}" if ours == theirs else f"{ours:,} ≠ {'?' if theirs is None else f'{theirs:,}'}"
        for ours, theirs in pairs
    )


def _races(cases: dict, on: dict) -> list[str]:
    """How the x-ray and racecheck agree; racecheck looks at shared memory alone."""
    seen = {name: c for name, c in cases.items() if "races" in c and "racecheck" in c}
    if not seen:
        return []
    planted = [name for name, c in seen.items() if c["planted"] == "shared"]
    found = [name for name in planted if "shared" in seen[name]["races"]]
    agreed = [name for name in planted if seen[name]["racecheck"]]
    alarms = [n for n, c in seen.items() if not c["planted"] and c["races"]]
    theirs = [n for n, c in seen.items() if c["planted"] != "shared" and c["racecheck"]]
    parts = [
        f"NVIDIA's detector of races, racecheck {on['compute-sanitizer']}, looks at shared "
        f"memory. Of {len(planted)} races planted there the x-ray finds {len(found)} and "
        f"racecheck {len(agreed)}. Of the {len(seen) - len(planted)} others the x-ray blames "
        f"{len(alarms)} that are right, racecheck {len(theirs)}."
    ]
    missed = [n for n in planted if n not in found or n not in agreed]
    if missed or alarms or theirs:
        parts.append("They differ on: " + ", ".join([*missed, *alarms, *theirs]) + ".")
    return parts


def _chapters(chapters: dict) -> list[str]:
    """What both say of the chapters, run whole."""
    parts = []
    for kind, said, words in (
        ("x-ray", "races", "X-rayed whole, at their small sizes: {n} chapters with {k} kernels"),
        ("racecheck", "reports", "To the end through racecheck went {n} chapters"),
    ):
        found = {
            stem: c[kind] for stem, c in sorted(chapters.items()) if c.get(kind, {}).get("done")
        }
        if not found:
            continue
        text = words.format(n=len(found), k=sum(c["kernels"] or 0 for c in found.values()))
        told = [
            f"chapter {stem.partition('_')[0]} ({c['explained'] or 'not explained'})"
            for stem, c in found.items()
            if c[said]
        ]
        text = f"{text}. It reports {'; '.join(told) or 'none of them'}."
        cut = [
            stem.partition("_")[0]
            for stem, c in sorted(chapters.items())
            if kind in c and not c[kind]["done"]
        ]
        if cut:
            text += f" Not to the end, and so not counted: {', '.join(cut)}."
        parts.append(text)
    return parts


def _l1(counted: dict) -> list[str]:
    """How the passes of L1 compare where a kernel does little but load."""
    found = {
        name: (c["x-ray"]["L1 load passes"], c["counters"]["all passes"])
        for name, c in counted.items()
        if c["x-ray"].get("L1 load passes", 0) > 50 * c["x-ray"]["global store requests"] > 0
        and not c["x-ray"]["shared load passes"]
        and c["counters"].get("all passes")
    }
    if not found:
        return []
    lines = [("Kernel", "Passes of loads, x-ray", "All passes, GPU", "Share")]
    lines += [(name, f"{a:,}", f"{b:,}", f"{a / b:.1%}") for name, (a, b) in found.items()]
    return [
        "No counter tells the passes of L1 for loads alone. These kernels do little else:",
        _table(lines, 1),
    ]


def _folded(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _table(lines, n_texts=2) -> str:
    """A table of Markdown: a heading and rows, of which the first columns are texts."""
    rule = ["---"] * n_texts + ["---:"] * (len(lines[0]) - n_texts)
    lines = [lines[0], rule, *lines[1:]]
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
    figure, alt = picture.draw(access)
    image, size = display.drawn(figure, colours=64)
    sizes = " ".join(f'{side}="{pixels}"' for side, pixels in size.items())
    data = base64.b64encode(image).decode()
    return f'<img alt="{html.escape(alt)}" {sizes} src="data:image/png;base64,{data}">'
