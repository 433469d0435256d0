"""X-ray a Job: in this process, or in one that has the stand-in."""

from __future__ import annotations

import contextlib

import gpuless
from gpuless.xray.job import Job
from gpuless.xray.result import XRay
from gpuless.xray.run import run
from gpuless.xray.worker import run_elsewhere


def look(job: Job, seconds: float | None = None) -> XRay:
    """X-ray it here or, where ``cupy`` is not the stand-in, in a process of its own.

    RuntimeError if that takes more than ``seconds``; None: it may take as long as it will.
    """
    if not gpuless.is_active():
        return run_elsewhere(job, seconds)
    with contextlib.nullcontext() if seconds is None else gpuless.time_limit(seconds):
        return run(job)
