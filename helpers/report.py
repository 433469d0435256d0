"""What a chapter reports: its headline results, and the receipt of the run."""

import datetime
import math
import platform
import re

import numpy as np

from helpers import device
from helpers.display import emit

MIME = "application/vnd.from-kernel-to-network.headline+json"
NAME = r"[a-z][a-z0-9]*\.[a-z][A-Za-z0-9_]*"


def headline(name, value, unit, *, against=None, label=None):
    """Show a headline result and store it in the cell's output, where the press finds it.

    `name` is "chapter.what", `value` a finite number, `unit` its unit ("ratio" when it has none),
    `against` what it was compared with, `label` the name in words, for tables. ValueError for a bad
    name, a number that is not finite, or no unit.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(f"a headline's name is like matmul.naive_f64_vs_cublas, not {name!r}")
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}: a result must be a finite number")
    if not unit:
        raise ValueError(f"{name} needs a unit; for a ratio say 'ratio'")
    text = f"{label}: " if label else ""
    text += f"{name} = {value:.4g} {unit}" + (f" (against {against})" if against else "")
    data = {"name": name, "value": value, "unit": unit, "against": against, "label": label}
    emit({MIME: data, "text/plain": text})


def facts():
    """Return what this run runs on, all text: gpu, driver, cuda, nvrtc, cupy, numpy, python, date.

    cuda is the version of the runtime, nvrtc that of the compiler: they may come from different
    releases, and another compiler may give a kernel other registers.
    """
    import cupy

    return {
        "gpu": device.device_name(),
        "driver": device.driver_version() if device.on_gpu else "none",
        "cuda": device.cuda_version() if device.on_gpu else "none",
        "nvrtc": device.nvrtc_version() if device.on_gpu else "none",
        "cupy": cupy.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    }


def receipt():
    """Print what this run ran on: device, driver, CUDA, its compiler, CuPy and the rest."""
    names = {"gpu": "Device", "cuda": "CUDA", "nvrtc": "NVRTC", "cupy": "CuPy", "numpy": "NumPy"}
    for key, value in facts().items():
        print(f"{names.get(key, key.capitalize()):<7} {value}")
