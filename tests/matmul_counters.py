"""What a GPU's counters say of the rungs of chapter 15, beside what the chapter counts.

python tests/matmul_counters.py        where there are a GPU and ncu: run each rung once under ncu,
                                       store the evidence "matmul_counters"
python tests/matmul_counters.py --run  launch each rung once (what ncu is given)

The chapter reads the file and shows it. It takes less than a minute.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys

import helpers  # noqa: F401  first: it decides who answers to `import cupy`

# isort: split
import cupy as cp

from helpers import report
from helpers.press import evidence, export

chapter = export.load("matmul_fast")

ABOUT = ["notebooks/15_matmul_fast.ipynb#export"]
N = 4096
# Sums are over the GPU, shares are of what could be while the kernel runs, in percent.
METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "fma_unit": "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "tensor_unit": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
NUMBERS = {"instructions", "passes"}  # of a warp-FMA; the others are shares


def run() -> None:
    """Launch the kernel of every rung once, in their order."""
    for name, rung in chapter.rungs.items():
        A, B = (cp.ones((N, N), rung.dtype) for _ in range(2))
        chapter.product(name, A, B)
    cp.cuda.Device().synchronize()


def counters(text: str, names: list[str]) -> dict[str, dict[str, float]]:
    """{rung: {count: number}} from what `ncu --csv` prints; sums are for one warp-FMA.

    ValueError if there are not as many kernels as names.
    """
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith('"ID"'))
    kernels: dict[str, dict[str, float]] = {}
    said = {metric: count for count, metric in METRICS.items()}
    for row in csv.DictReader(lines[first:]):
        count = said[row["Metric Name"]]
        value = float(row["Metric Value"].replace(",", ""))
        value = value / (N**3 / 32) if count in NUMBERS else value / 100
        kernels.setdefault(row["ID"], {})[count] = round(value, 4)
    if len(kernels) != len(names):
        raise ValueError(f"{len(kernels)} kernels were counted, {len(names)} rungs are there")
    return dict(zip(names, kernels.values(), strict=True))


def main() -> None:
    """Count, and write the file."""
    command = ["ncu", "--clock-control", "none", "--csv", "--kernel-name", "matmul"]
    command += ["--metrics", ",".join(METRICS.values()), sys.executable, __file__, "--run"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    found = counters(done.stdout, list(chapter.rungs))
    facts = report.facts()
    del facts["date"]  # the receipt has one of its own
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    facts["ncu"] = re.search(r"Version (\S+)", version)[1]
    made = evidence.receipt("python tests/matmul_counters.py", facts, ABOUT)
    evidence.store("matmul_counters", {"gpu": facts["gpu"], "n": N, "rungs": found}, made)
    print(f"{len(found)} rungs, {facts['gpu']}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--run"]:
        run()
    elif not sys.argv[1:]:
        main()
    else:
        sys.exit(__doc__)
