"""On a machine with a GPU: x-ray in a second Python process, where ``cupy`` is the stand-in."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import gpuless
from gpuless.xray.job import Job
from gpuless.xray.result import XRay
from gpuless.xray.run import run

_ROOT = Path(__file__).parents[2]


def run_elsewhere(job: Job, seconds: float | None = None) -> XRay:
    """What ``run.run`` returns or raises for the job; takes a second or two more.

    RuntimeError if it has not ended after so many seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "job"), Path(folder, "found")
        given.write_bytes(pickle.dumps(job))
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "CUPY_STANDIN": "always",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        command = [sys.executable, "-m", "gpuless.xray.worker", str(given), str(found)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"the x-ray did not end in {seconds:g} s") from None
        if not found.exists():
            raise RuntimeError(f"the x-ray's process ended: {done.stderr.strip()[-2000:]}")
        kind, value = pickle.loads(found.read_bytes())
    if kind == "error":
        raise value
    return value


def main(given: str, found: str) -> None:
    """Be that process: read a Job, write ("xray", XRay) or ("error", exception)."""
    try:
        answer = ("xray", run(pickle.loads(Path(given).read_bytes())))
    except Exception as error:  # it is told in the process that asked
        answer = ("error", _plain(error))
    Path(found).write_bytes(pickle.dumps(answer))


def _plain(error: Exception) -> Exception:
    """The error, of a class that the other process knows."""
    if type(error).__module__ == "builtins":
        return error
    kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    return kinds[0](text)


if __name__ == "__main__":
    gpuless.install()
    main(*sys.argv[1:])
