"""Measure the tools one after another, each job in a process of its own with empty caches."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helpers import device
from helpers.programs import tools
from helpers.programs.tools import lines
from helpers.programs.tools.jobs import JOBS, work

SECONDS = 180  # for one process
# Where compilers keep what they made: a first call finds none of it.
CACHES = {
    "CUPY_CACHE_DIR": "cupy",
    "CUDA_CACHE_PATH": "driver",
    "NUMBA_CACHE_DIR": "numba",
    "TRITON_CACHE_DIR": "triton",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "JAX_COMPILATION_CACHE_DIR": "jax",
}


def run(*arguments, numpy_for_numba=None):
    """Run the worker with these arguments and return what it says, or {"failed": why}."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {key: str(Path(folder, at)) for key, at in CACHES.items()}
        environment["JAX_ENABLE_COMPILATION_CACHE"] = "false"
        if numpy_for_numba and arguments[0] == "numba_kernels":
            paths = [str(numpy_for_numba), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        command = [sys.executable, "-m", "helpers.programs.tools.worker", *arguments]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {SECONDS} s"}
    said = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not said:
        return {"failed": (done.stderr.strip() or "it said nothing").splitlines()[-1][:300]}
    return json.loads(said[-1])


def measure(names, numpy_for_numba=None, say=print):
    """Return what the tools `names` take for all jobs, with the ceilings and what they reach.

    {"ceilings": [before, after], "tools": {name: {job: {...}}}, "gate": {...}}. `share` is the rate
    of the work over that of the ceiling: of the faster of the two runs of it. RuntimeError where a
    ceiling could not be measured.
    """
    names = tools.known(names)
    ends = [run("ceilings")]
    found = {name: {} for name in names}
    for name in names:
        for job in JOBS:
            row = run(name, job, numpy_for_numba=numpy_for_numba)
            row["lines"] = lines.count(Path(__file__).with_name(f"{name}.py"), job)
            found[name][job] = row
            say(f"{name:16} {job:10} {row}")
    gate = run("gate")
    say(f"gate {gate}")
    ends.append(run("ceilings"))
    for end in ends:
        if "failed" in end:
            raise RuntimeError(f"no ceiling was measured: {end['failed']}")
    rates = {kind: max(end[kind]["work"] / end[kind]["median"] for end in ends) for kind in ends[0]}
    for rows in found.values():
        for job, row in rows.items():
            if "median" in row:
                rate = work(job, JOBS[job].full) / row["median"]
                row["share"] = rate / rates[JOBS[job].ceiling]
    return {"ceilings": ends, "rates": rates, "tools": found, "gate": gate}


def check(names, numpy_for_numba=None):
    """Hold the tools `names` against NumPy at odd sizes, side by side; return {name: found}."""
    names = tools.known(names)
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda n: run(n, "--check", numpy_for_numba=numpy_for_numba), names)
        return dict(zip(names, found, strict=True))


def wrong(found):
    """Return what in the result of `check` is not right, as lines."""
    said = []
    for name, jobs in found.items():
        for job in jobs if "failed" in jobs else JOBS:
            got = jobs[job]
            if not (isinstance(got, float) and got < JOBS[job].tolerance):
                said.append(f"{name}, {job}: {got}")
    return said


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.programs.tools")
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(tools.TOOLS))
    parser.add_argument("--check", action="store_true", help="odd sizes against NumPy, no times")
    parser.add_argument(
        "--numpy-for-numba", metavar="FOLDER", help="a folder with a NumPy, for Numba alone"
    )
    options = parser.parse_args(arguments)
    try:
        names = tools.known(options.tools)
    except ValueError as error:
        parser.error(str(error))
    if not device.on_gpu:
        print("The tools need a GPU, and here is none.", file=sys.stderr)
        return 1
    if options.check:
        found = check(names, options.numpy_for_numba)
        print(json.dumps(found, indent=1))
        return int(bool([print(line, file=sys.stderr) for line in wrong(found)]))
    measure(names, options.numpy_for_numba)
    return 0


if __name__ == "__main__":
    sys.exit(main())
