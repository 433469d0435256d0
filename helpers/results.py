"""Headline results, stored in the notebooks where they were measured, and the receipt of a run.

python -m helpers.results      print all stored headlines, one JSON object a line
"""

import datetime
import json
import math
import platform
import re
import sys

import numpy as np

from helpers import device
from helpers.display import publish

MIME = "application/vnd.from-kernel-to-network.headline+json"


def headline(name, value, unit, *, against=None):
    """Show a headline result and store it in the cell's output, where `stored` finds it.

    `name` is "chapter.what", `value` a finite number, `unit` its unit ("ratio" when it has none),
    `against` what it was compared with. ValueError for a bad name, a number that is not finite,
    or no unit.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*\.[a-z0-9_]+", name):
        raise ValueError(f"a headline's name is like matmul.naive_f64_vs_cublas, not {name!r}")
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}: a result must be a finite number")
    if not unit:
        raise ValueError(f"{name} needs a unit; for a ratio say 'ratio'")
    text = f"{name} = {value:.4g} {unit}" + (f" (against {against})" if against else "")
    data = {"name": name, "value": value, "unit": unit, "against": against}
    publish({MIME: data, "text/plain": text})


def facts():
    """Return what this run runs on: gpu, driver, cuda, cupy, numpy, python and date, all text."""
    import cupy

    return {
        "gpu": device.device_name(),
        "driver": device.driver_version() if device.on_gpu else "none",
        "cuda": device.cuda_version() if device.on_gpu else "none",
        "cupy": cupy.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
    }


def receipt():
    """Print what this run ran on: device, driver, CUDA, CuPy, NumPy, Python and the date."""
    names = {"gpu": "Device", "driver": "Driver", "cuda": "CUDA", "cupy": "CuPy", "numpy": "NumPy"}
    for key, value in facts().items():
        print(f"{names.get(key, key.capitalize()):<7} {value}")


def stored(notebooks=()):
    """Return all headlines stored in the `notebooks` (paths; default: all chapters).

    Each is a dictionary of name, value, unit, against, device and date (from the notebook's
    receipt, None without one) and notebook, the file's name without its ending. ValueError when
    one name is stored twice.
    """
    from helpers import notebook

    found = {}
    for path in notebook.paths(notebooks):
        book = notebook.read(path)
        recorded = book.metadata.get("receipt", {})
        for cell in notebook.code_cells(book):
            for output in cell.outputs:
                entry = output.get("data", {}).get(MIME)
                if entry is None:
                    continue
                if entry["name"] in found:
                    raise ValueError(f"{path.name}: the headline {entry['name']} is stored twice")
                found[entry["name"]] = {
                    **{key: entry[key] for key in ("name", "value", "unit", "against")},
                    "device": recorded.get("gpu"),
                    "date": recorded.get("date"),
                    "notebook": path.stem,
                }
    return list(found.values())


if __name__ == "__main__":
    for entry in stored(sys.argv[1:]):
        print(json.dumps(entry, ensure_ascii=False))
