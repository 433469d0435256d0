"""X-ray a Job: in this process, or in one that has the stand-in."""

from __future__ import annotations

import contextlib

from helpers import standin
from helpers.xray.job import Job
from helpers.xray.result import XRay
from helpers.xray.run import run
from helpers.xray.worker import run_elsewhere


def look(job: Job, seconds: float | None = None) -> XRay:
    """X-ray it here or, where ``cupy`` is not the stand-in, in a process of its own.

    RuntimeError if that takes more than ``seconds``; None: it may take as long as it will.
    """
    if not standin.is_active():
        return run_elsewhere(job, seconds)
    with contextlib.nullcontext() if seconds is None else standin.time_limit(seconds):
        return run(job)
