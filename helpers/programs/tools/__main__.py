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


class Process:
    """A worker with these arguments, and with empty caches; it waits until `finish` is called."""

    def __init__(self, *arguments, numpy_for_numba=None):
        self.folder = tempfile.TemporaryDirectory()
        caches = {key: str(Path(self.folder.name, at)) for key, at in CACHES.items()}
        environment = os.environ | caches
        environment |= {"JAX_ENABLE_COMPILATION_CACHE": "false", "HELPERS_TOOLS_WAIT": "1"}
        if numpy_for_numba and arguments[0] == "numba_kernels":
            paths = [str(numpy_for_numba), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "helpers.programs.tools.worker", *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self):
        """Let it go on; return what it says at its end, or {"failed": why}."""
        try:
            said, errors = self.process.communicate("go\n", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {SECONDS} s"}
        finally:
            self.end()
        found = [line for line in said.splitlines() if line.startswith("{")]
        if self.process.returncode or not found:
            return {"failed": (errors.strip() or "it said nothing").splitlines()[-1][:300]}
        return json.loads(found[-1])

    def end(self):
        """End it, whether it is done or not, and empty its caches."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.folder.cleanup()


def one_by_one(tasks, numpy_for_numba=None, say=print):
    """Run workers, one for each list of arguments; yield what they say.

    Only one is at work. The next one has begun meanwhile, and waits when it has imported its tool
    and made its inputs, which takes longer than many a measurement.
    """
    ahead = Process(*tasks[0], numpy_for_numba=numpy_for_numba)
    try:
        for task, following in zip(tasks, [*tasks[1:], None], strict=True):
            process = ahead
            ahead = following and Process(*following, numpy_for_numba=numpy_for_numba)
            found = process.finish()
            say(*task, found)
            yield found
    finally:
        if ahead:
            ahead.end()


def measure(names, numpy_for_numba=None, say=print):
    """Return what the tools `names` take for all jobs, with the ceilings and what they reach.

    {"ceilings": [before, after], "rates": ..., "tools": {name: {job: {...}}}, "gate": {...}}.
    `share` is the rate of the work over that of its ceiling: of the faster of the two runs of it.
    RuntimeError where a ceiling could not be measured.
    """
    names = tools.known(names)
    pairs = [(name, job) for name in names for job in JOBS]
    tasks = [("ceilings",), *pairs, ("gate",), ("ceilings",)]
    before, *rows, gate, after = one_by_one(tasks, numpy_for_numba, say)
    for end in (before, after):
        if "failed" in end:
            raise RuntimeError(f"no ceiling was measured: {end['failed']}")
    ends = [before, after]
    rates = {kind: max(end[kind]["work"] / end[kind]["median"] for end in ends) for kind in before}
    found = {name: {} for name in names}
    for (name, job), row in zip(pairs, rows, strict=True):
        row["lines"] = lines.count(Path(__file__).with_name(f"{name}.py"), job)
        if "median" in row:
            rate = work(job, JOBS[job].full) / row["median"]
            row["share"] = rate / rates[JOBS[job].ceiling]
        found[name][job] = row
    return {"ceilings": ends, "rates": rates, "tools": found, "gate": gate}


def check(names, numpy_for_numba=None):
    """Hold the tools `names` against NumPy at odd sizes, side by side; return {name: found}."""
    names = tools.known(names)
    with ThreadPoolExecutor() as pool:
        begun = [Process(name, "check", numpy_for_numba=numpy_for_numba) for name in names]
        found = pool.map(Process.finish, begun)
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
