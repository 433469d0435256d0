"""Every kernel of the chapters as machine code for each kind of GPU.

While the chapters run this file is the stand-in's listener: it writes down each source it is told,
into ``_build/kernels``. As a command it then has all of them compiled (cubins.py), each distinct
one once and on all cores, and ends with status 1 if a kernel is past a GPU's limits:

    CUPY_STANDIN_LISTENER=$PWD/tests/chapters_kernels.py pytest --nbval notebooks
    python tests/chapters_kernels.py
"""

import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "_build" / "kernels"


def check(*told):
    """Write down what the stand-in tells a listener: source, options, name and expressions."""
    text = json.dumps(told)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.json").write_text(text)


def prepare(folder):
    """Make a fresh process one that compiles; its temporary files go into ``folder``."""
    os.environ.update(TMPDIR=folder, CUPY_STANDIN="always")
    import helpers.standin

    helpers.standin.install()


def refusal(path):
    """Why a GPU would not run the source kept at ``path``; "" if all that it names would."""
    import cubins
    from cupy.cuda.compiler import CompileException

    source, options, name, expressions = json.loads(path.read_text())
    try:
        cubins.check(source, tuple(options), name, tuple(expressions))
    except CompileException as error:
        return f"{name}: {error}\n{source}"
    return ""


def main():
    """Return the status: 1 if a kernel is refused or there are none."""
    started, paths = time.perf_counter(), sorted(FOLDER.glob("*.json"))
    if not paths:
        print(f"{FOLDER} has no kernels: run the chapters with this file as the listener first")
        return 1
    # Fresh processes; the precompiled headers that NVRTC leaves behind in them go with the folder.
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(
            mp_context=multiprocessing.get_context("spawn"),
            initializer=prepare,
            initargs=(folder,),
        ) as pool:
            refused = [text for text in pool.map(refusal, paths) if text]
    print(*refused, sep="\n\n")
    took = time.perf_counter() - started
    print(
        f"{len(paths)} sources compiled for every kind of GPU, {took:.0f} s; {len(refused)} refused"
    )
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
