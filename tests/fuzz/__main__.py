"""The long run: ``python -m tests.fuzz --cases 10000 --store``.

Each kind runs in a process of its own, so a kernel that ends it is found and printed as well.
``--store`` writes what came out into the evidence "fuzz", which the stand-in's page shows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helpers.press import evidence

from . import runs

# What the programs run on: translation, compiler and memory, arrays and the kinds of kernels.
ABOUT = [
    "standin/gpuless/engine/**/*",
    "standin/gpuless/packages/cupy/_core/*",
    "standin/gpuless/packages/cupy/cuda/_guarded.py",
    "standin/gpuless/packages/cupy/cuda/function.py",
    "standin/gpuless/packages/cupy/cuda/memory.py",
]
PIECE = 200  # cases that one process runs; a process has seeds of its own
_FAILED = "\n---- a failure ----\n"


def _child(kind: str, cases: int, seed: int) -> tuple[int, list[str]]:
    """Run a kind in another process: the number of cases, the failures."""
    with tempfile.TemporaryDirectory() as folder:
        trace, answer = Path(folder, "program.py"), Path(folder, "answer.json")
        command = [sys.executable, "-m", __package__, "--kind", kind]
        command += ["--cases", str(cases), "--seed", str(seed), "--folder", folder]
        status = subprocess.run(command, check=False).returncode
        if answer.exists():
            return tuple(json.loads(answer.read_text(encoding="utf-8")))
        return 0, [f"{trace.read_text(encoding='utf-8')}\n# the interpreter ended: {status}"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first cases (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--kind", choices=runs.KINDS, help="only this one")
    parser.add_argument("--store", action="store_true", help="store what came out")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # of a child
    options = parser.parse_args()
    if options.folder is not None:
        trace = options.folder / "program.py"
        answer = runs.run(options.kind, options.cases, options.seed, trace)
        (options.folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
        return 0

    start = time.monotonic()
    shares = {kind: share for kind, (_, _, share) in runs.KINDS.items()}
    if options.kind:
        shares = {options.kind: 1.0}
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting: dict[str, list] = {kind: [] for kind in shares}
        for kind, share in shares.items():
            cases, seed = round(share * options.cases), options.seed
            while cases > 0:  # in pieces, so that all processes have work to the end
                waiting[kind].append(pool.submit(_child, kind, min(cases, PIECE), seed))
                cases, seed = cases - PIECE, seed + PIECE
        answers = {kind: [f.result() for f in futures] for kind, futures in waiting.items()}
    failures = [text for pieces in answers.values() for _, found in pieces for text in found]
    counts = {kind: sum(count for count, _ in pieces) for kind, pieces in answers.items()}
    result = {
        "cases": sum(counts.values()),
        "by kind": counts,
        "seconds": round(time.monotonic() - start),
        "failures": len(failures),
    }
    text = json.dumps(result, indent=2) + "\n"
    print(_FAILED.join(["", *failures]), text, sep="\n")
    if options.store:
        command = f"python -m tests.fuzz --cases {options.cases} --store"
        evidence.store("fuzz", result, evidence.receipt(command, evidence.cpu(), ABOUT))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
