"""Hold the x-ray against the truth: a GPU's counters, and NVIDIA's detector of races.

python tests/xray_truth.py FILE.json    where there are a GPU, ncu and compute-sanitizer: count each
                                        kernel both ways, write the file, print what differs
python tests/xray_truth.py --run NAME   launch one kernel (what those two programs are given)

A kernel is here if a compiler keeps the accesses of its source: then the counts must be equal.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp

# What ncu calls our counts: of global loads and stores, and of shared ones.
METRICS = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


@dataclass(frozen=True)
class Case:
    """A kernel `k` by its `body`, and a launch of it.

    `arrays` are the lengths of its float arrays x, y; `races` whether racecheck must find one in
    shared memory.
    """

    body: str
    grid: tuple
    block: tuple
    arrays: tuple
    races: bool = False

    def kernel(self):
        return cp.RawKernel(
            f'extern "C" __global__ void k(const float *x, float *y) {{\n{self.body}\n}}', "k"
        )

    def arguments(self):
        return tuple(cp.arange(n, dtype="f4") for n in self.arrays)


INDEX = "int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
PRODUCT = """const int n = 256;
int ACROSS = blockIdx.x * 16 + threadIdx.x, DOWN = blockIdx.y * 16 + threadIdx.y;
const float *b = x + n * n;
float sum = 0;
#pragma unroll 1
for (int k = 0; k < n; k++) sum += x[row * n + k] * b[k * n + col];
y[row * n + col] = sum;"""
TRANSPOSE = """__shared__ float tile[32][PITCH];
int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
tile[threadIdx.y][threadIdx.x] = x[row * 256 + col];
__syncthreads();
col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
y[row * 256 + col] = tile[threadIdx.x][threadIdx.y];"""
SUM = (
    INDEX
    + """__shared__ float part[256];
part[t] = x[i];
FIRST
#pragma unroll 1
for (int s = 128; s; s /= 2) {
    if (t < s) part[t] += part[t + s];
    SECOND
}
if (t == 0) y[blockIdx.x] = part[0];"""
)
WAIT = "__syncthreads();"
SQUARE = ((16, 16), (16, 16), (2 * 256 * 256, 256 * 256))
TILES = ((8, 8), (32, 32), (256 * 256, 256 * 256))
LINE = ((16,), (256,), (32 * 4096 + 1, 4096))
CASES = {
    "product, x the column": Case(PRODUCT.replace("ACROSS", "col").replace("DOWN", "row"), *SQUARE),
    "product, x the row": Case(PRODUCT.replace("ACROSS", "row").replace("DOWN", "col"), *SQUARE),
    "transpose by tiles": Case(TRANSPOSE.replace("PITCH", "32"), *TILES),
    "transpose by padded tiles": Case(TRANSPOSE.replace("PITCH", "33"), *TILES),
    **{f"stride {s}": Case(f"{INDEX}y[i] = x[{s} * i];", *LINE) for s in (1, 2, 3, 4, 8, 13, 32)},
    "off by one": Case(f"{INDEX}y[i] = x[i + 1];", *LINE),
    "wide": Case(f"{INDEX}((float4 *)y)[i] = ((const float4 *)x)[i];", (4,), (256,), (4096, 4096)),
    "sum": Case(SUM.replace("FIRST", WAIT).replace("SECOND", WAIT), *LINE),
    "sum without the first barrier": Case(
        SUM.replace("FIRST", "").replace("SECOND", WAIT), *LINE, races=True
    ),
    "sum without the second barrier": Case(
        SUM.replace("FIRST", WAIT).replace("SECOND", ""), *LINE, races=True
    ),
    "some lanes": Case(f"{INDEX}if (t % 3) y[i] = x[5 * i];", *LINE),
}


def xrayed(case: Case) -> tuple[dict[str, int], bool]:
    """Our counts by the names of METRICS, and whether there is a race in shared memory."""
    found = helpers.xray(case.kernel(), case.grid, case.block, case.arguments())
    counts = {}
    for name in METRICS:
        where, kind, what = name.split()
        counts[name] = found.total(what, kind=kind, shared=where == "shared")
    return counts, any(race.shared and not race.harmless for race in found.races)


def counters(text: str) -> dict[str, int]:
    """The counts in what `ncu --csv` prints for one kernel."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    rows = csv.DictReader(lines[first:])
    values = {row["Metric Name"]: row["Metric Value"].replace(",", "") for row in rows}
    return {name: int(float(values[metric])) for name, metric in METRICS.items()}


def measured(name: str) -> tuple[dict[str, int], bool]:
    """The same as `xrayed`, from a GPU."""
    launch = [sys.executable, __file__, "--run", name]
    ncu = ["ncu", "--csv", "--metrics", ",".join(METRICS.values()), "--kernel-name", "k", *launch]
    counted = subprocess.run(ncu, capture_output=True, text=True, check=True).stdout
    sanitizer = ["compute-sanitizer", "--tool", "racecheck", "--error-exitcode", "9", *launch]
    raced = subprocess.run(sanitizer, capture_output=True, text=True, check=False)
    if raced.returncode not in (0, 9):
        raise RuntimeError(f"racecheck ended with {raced.returncode}: {raced.stdout[-500:]}")
    return counters(counted), raced.returncode == 9


def run(name: str) -> None:
    """Launch a case's kernel once."""
    case = CASES[name]
    case.kernel()(case.grid, case.block, case.arguments())
    cp.cuda.Device().synchronize()


def main(target: str) -> None:
    """Count every case both ways and write the file."""
    cases = {}
    for name, case in CASES.items():
        ours, our_race = xrayed(case)
        theirs, their_race = measured(name)
        cases[name] = {"x-ray": ours, "counters": theirs, "races": [our_race, their_race]}
        different = {k: (v, theirs[k]) for k, v in ours.items() if v != theirs[k]}
        agree = our_race == their_race == case.races
        print(f"{name}: {different or 'equal'}{'' if agree else ', races differ'}")
    device = helpers.description()
    Path(target).write_text(json.dumps({"device": device, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--run":
        run(sys.argv[2])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
