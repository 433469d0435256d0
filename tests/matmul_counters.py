"""What a GPU's counters say of the products of chapters 38 and 39, beside what the x-ray counts.

python tests/matmul_counters.py        where there are a GPU and ncu: run each rung once under ncu,
                                       store the evidence "matmul_counters"
python tests/matmul_counters.py --run  launch each rung once (what ncu is given)

It takes about a minute.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys

import helpers  # noqa: F401  first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
from parts_of_products import rungs

from helpers import report
from helpers.press import evidence

ABOUT = [
    *("notebooks/38_matmul_fast.ipynb#kernels", "notebooks/39_matmul_limits.ipynb#kernels"),
    *("helpers/tiles.py", "helpers/products.py"),
]
N = 4096
# Sums are over the GPU, shares are of what could be while the kernel runs, in percent.
METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l2_bytes": "lts__t_bytes_srcunit_tex.sum",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "fma_unit": "smsp__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "tensor_unit": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
NUMBERS = {"instructions", "passes", "l2_bytes"}  # of a warp-FMA; the others are shares


def run() -> None:
    """Launch the kernel of every rung once, in their order."""
    for product in rungs().values():
        A, B = (cp.ones((N, N), product.dtype) for _ in range(2))
        product(A, B)
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
        if row["Metric Value"] == "n/a":  # nothing to divide by, or not to be read on this machine
            continue
        count = said[row["Metric Name"]]
        value = float(row["Metric Value"].replace(",", ""))
        value = value / (N**3 / 32) if count in NUMBERS else value / 100
        kernels.setdefault(row["ID"], {})[count] = round(value, 4)
    if len(kernels) < len(names):
        raise ValueError(f"{len(kernels)} kernels were counted, {len(names)} rungs are there")
    # The chapters' own tests of their rungs come first.
    return dict(zip(names, list(kernels.values())[-len(names) :], strict=True))


def main() -> None:
    """Count, and write the file."""
    command = ["ncu", "--clock-control", "none", "--csv", "--kernel-name", "matmul"]
    command += ["--metrics", ",".join(METRICS.values()), sys.executable, __file__, "--run"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    found = counters(done.stdout, list(rungs()))
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
