"""Every kernel of the chapters as machine code for each kind of GPU.

While the chapters run this file is the stand-in's listener: it writes down each source it is told,
into ``_build/kernels``. As a command it then has all of them compiled, each distinct one once and
on all cores, and ends with status 1 if one is refused:

    CUPY_STANDIN_LISTENER=$PWD/tests/chapters_kernels.py pytest --nbval notebooks
    python tests/chapters_kernels.py            by what would read it on the oldest GPU (nvrtc.py)
    python tests/chapters_kernels.py --limits   for every kind of GPU, held against it (cubins.py)
"""

import hashlib
import importlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "_build" / "kernels"


def check(*told):
    """Write down what the stand-in tells a listener: source, options, name and expressions."""
    keep(FOLDER, told)


def keep(folder, told):
    """Write down what a listener is told, the same but once."""
    text = json.dumps(told)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.json").write_text(text)


def prepare(folder):
    """Make a fresh process one that compiles; its temporary files go into ``folder``."""
    os.environ.update(TMPDIR=folder, CUPY_STANDIN="always")
    import gpuless

    gpuless.install()


def refusals(judge, paths):
    """Why the module ``judge`` refuses sources kept at ``paths``: a text for each."""
    check = importlib.import_module(judge).check
    from cupy.cuda.compiler import CompileException

    found = []
    for path in paths:
        source, options, name, expressions = json.loads(path.read_text())
        try:
            check(source, tuple(options), name, tuple(expressions))
        except CompileException as error:
            found.append(f"{name}: {error}\n{source}")
    return found


def judged(folder, judge):
    """Show what the module ``judge`` refuses of the sources in ``folder``.

    Return the status: 1 if one is refused or there are none.
    """
    started, paths = time.perf_counter(), sorted(folder.glob("*.json"))
    if not paths:
        print(f"{folder} has no kernels: run their tests first, with this file as the listener")
        return 1
    # Those with headers of CUDA's go to one process: the others are done before it gets through.
    slow = [path for path in paths if "#include <" in path.read_text()]
    tasks = [slow, *([path] for path in paths if path not in slow)]
    # Fresh processes; the precompiled headers that NVRTC leaves behind in them go with the folder.
    with tempfile.TemporaryDirectory() as scratch:
        with ProcessPoolExecutor(
            mp_context=multiprocessing.get_context("spawn"),
            initializer=prepare,
            initargs=(scratch,),
        ) as pool:
            refused = [
                text for found in pool.map(partial(refusals, judge), tasks) for text in found
            ]
    print(*refused, sep="\n\n")
    took = time.perf_counter() - started
    print(f"{len(paths)} sources compiled by {judge}.py, {took:.0f} s; {len(refused)} refused")
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(judged(FOLDER, "cubins" if "--limits" in sys.argv else "nvrtc"))
