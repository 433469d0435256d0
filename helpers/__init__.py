"""The book's plumbing: device, timing, display, checks, data, results, and the CPU stand-in.

``import helpers`` prints one line: what was found or, where no kernel runs on the GPU, what to do.
What the book teaches is in the notebooks; here is only what they all share.
"""

import multiprocessing
import sys

import gpuless

gpuless.install()  # before anything imports cupy

from gpuless.xray.occupancy import occupancy  # noqa: E402
from helpers import first_kernel  # noqa: E402
from helpers.busy import busy_bars  # noqa: E402
from helpers.checks import check, judge  # noqa: E402
from helpers.crossover import crossover  # noqa: E402
from helpers.data import astronaut, digits  # noqa: E402
from helpers.device import description, logical_devices, on_gpu, pick, recording  # noqa: E402
from helpers.display import attempt, figure, progress, show, table  # noqa: E402
from helpers.drawn import microscope, seismograms  # noqa: E402
from helpers.fetch import mnist  # noqa: E402
from helpers.launcher import launch  # noqa: E402
from helpers.report import headline, receipt  # noqa: E402
from helpers.rounds import in_rounds, spread, time_in_graph, verdict  # noqa: E402
from helpers.timeline import timeline  # noqa: E402
from helpers.timing import Timing, format_rate, format_seconds, measure  # noqa: E402
from helpers.xray import can_xray, xray  # noqa: E402
from helpers.xray.ceilings import ceilings  # noqa: E402

__all__ = [
    "Timing",
    "astronaut",
    "attempt",
    "busy_bars",
    "can_xray",
    "ceilings",
    "check",
    "crossover",
    "description",
    "digits",
    "figure",
    "format_rate",
    "format_seconds",
    "headline",
    "in_rounds",
    "judge",
    "launch",
    "logical_devices",
    "measure",
    "microscope",
    "mnist",
    "occupancy",
    "on_gpu",
    "pick",
    "progress",
    "receipt",
    "recording",
    "seismograms",
    "show",
    "spread",
    "table",
    "time_in_graph",
    "timeline",
    "verdict",
    "xray",
]

# A program of the book, as `python -m helpers.press.record` (or `python -m mpi4py -m` and a program
# of the book), prints its own lines only; what the reader's process starts prints none of its own.
if sys.argv[0] != "-m" and not sys.argv[0].startswith("helpers."):
    if multiprocessing.parent_process() is None:
        print(on_gpu and first_kernel.trouble() or description())
