"""One tool, one job, in a process of its own: the first call, its result, warm calls.

python -m helpers.programs.tools.worker cupy_raw softmax    prints one line of JSON
python -m helpers.programs.tools.worker cupy_raw check      all jobs at odd sizes, no times
python -m helpers.programs.tools.worker ceilings            a copy, and cuBLAS's product
python -m helpers.programs.tools.worker gate                the operation of torch_gate.py

With HELPERS_TOOLS_WAIT=1 it does all that needs no GPU, says "ready", and goes on when it is given
a line: so one process starts while another is measured.
"""

import json
import os
import sys
import time

import numpy as np

from helpers.programs import tools
from helpers.programs.tools.jobs import JOBS, answer, error, inputs, samples, work

SECONDS = 0.02  # the least that a sample lasts: the host's clock is sure of microseconds
SAMPLES = 15


def warm(call, wait):
    """Time `call()`, which returns what `wait` waits for; return seconds a call and their spread.

    The host's clock, from an idle device to an idle device, around as many calls as last SECONDS:
    the one clock that all tools have. JAX works in streams of its own, where no other tool's
    events can be recorded.
    """
    call()
    wait(call())

    def sample(calls):
        start = time.perf_counter()
        for _ in range(calls):
            result = call()
        wait(result)
        return time.perf_counter() - start

    calls = max(1, round(SECONDS / (sample(3) / 3) + 0.5))
    low, median, high = np.quantile(
        [sample(calls) / calls for _ in range(SAMPLES)], (0.25, 0.5, 0.75)
    )
    return {"median": float(median), "low": float(low), "high": float(high), "calls": calls}


def measure(name, job):
    """Return what the tool `name` takes for `job`, in seconds: import, first call, warm calls.

    The first call is timed with its inputs on the device: it compiles, loads and runs. ValueError
    if a part of its result is not NumPy's, or the whole of one at an odd size.
    """
    start = time.perf_counter()
    tool = tools.load(name)
    took = {"import": time.perf_counter() - start}
    arrays, shape, dtype = inputs(job, JOBS[job].full)
    wait_for_turn()
    given = [*map(tool.put, arrays), tool.put(np.full(shape, np.nan, dtype))]
    tool.wait(given[-1])
    function = getattr(tool, job)
    start = time.perf_counter()
    result = function(*given)
    tool.wait(result)
    took["first"] = time.perf_counter() - start
    took["error"] = max(
        error(tool.get(result[rows]), answer(job, arrays, rows))
        for rows in samples(job, len(arrays[0]))
    )
    del result
    took |= warm(lambda: function(*given), tool.wait)
    took["odd"] = odd_sizes(tool, job)
    if not max(took["error"], took["odd"]) < JOBS[job].tolerance:
        raise ValueError(f"{name}, {job}: {took['error']}, {took['odd']} from NumPy's answer")
    return took | {"versions": tool.versions() | {"NumPy": np.__version__}}


def odd_sizes(tool, job):
    """Return the largest error of the module `tool` in `job` at its odd sizes."""
    errors = []
    for size in JOBS[job].odd:
        arrays, shape, dtype = inputs(job, size)
        out = tool.put(np.full(shape, np.nan, dtype))
        result = getattr(tool, job)(*map(tool.put, arrays), out)
        tool.wait(result)
        errors.append(error(tool.get(result), answer(job, arrays)))
    return max(errors)


def check(name):
    """Return {job: the largest error at the odd sizes}, or the job's exception as a text."""
    tool, found = tools.load(name), {}
    wait_for_turn()
    for job in JOBS:
        try:
            found[job] = odd_sizes(tool, job)
        except Exception as wrong:  # the others are tried all the same
            found[job] = f"{type(wrong).__name__}: {str(wrong)[:300]}"
    return found


def wait_for_turn():
    """Where it is asked for, say "ready" and wait for a line."""
    if os.environ.get("HELPERS_TOOLS_WAIT") == "1":
        print("ready", flush=True)
        sys.stdin.readline()


def ceilings():
    """Return the times of a copy of the size of `add_twice`'s arrays, and of cuBLAS's product."""
    import cupy as cp

    def wait(result):
        cp.cuda.Device().synchronize()

    (m, k, n), count = JOBS["dense"].full, JOBS["add_twice"].full[0]
    numbers, matrices = inputs("add_twice", (count,))[0], inputs("dense", (m, k, n))[0]
    wait_for_turn()
    x = cp.asarray(numbers[0])
    y = cp.empty_like(x)
    a, b, _ = map(cp.asarray, matrices)
    c = cp.empty((m, n), cp.float16)
    return {
        "copy": warm(lambda: cp.copyto(y, x), wait) | {"work": 8 * count},
        "cublas": warm(lambda: cp.matmul(a, b, out=c), wait) | {"work": work("dense", (m, k, n))},
    }


def main(arguments):
    """Run what the arguments ask for and print it as a line of JSON."""
    if arguments == ["ceilings"]:
        found = ceilings()
    elif arguments == ["gate"]:
        from helpers.programs.tools import gate_measured

        wait_for_turn()
        found = gate_measured.measure()
    elif len(arguments) == 2 and arguments[1] == "check":
        found = check(arguments[0])
    elif len(arguments) == 2 and arguments[1] in JOBS:
        found = measure(*arguments)
    else:
        sys.exit(__doc__)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
