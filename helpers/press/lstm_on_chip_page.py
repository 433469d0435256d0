"""What an LSTM's step takes with weights on the chip: evidence "lstm_on_chip" as Markdown."""

import numpy as np

from helpers.lstm_checks import operations_by_shapes
from helpers.press import evidence
from helpers.press.tables import table
from helpers.timing import format_seconds


def times(chapters):
    """Return the table of times and rates, with the gradients' errors."""
    stored = evidence.load("lstm_on_chip")
    if not stored:
        return ["It has not been measured yet."]
    on, sizes = stored["receipt"]["on"], [stored[key] for key in ("units", "batch", "steps")]
    general, one_number = operations_by_shapes(*sizes)
    peak = stored["multiprocessors"] * 128 * 2 * stored["clock_hz"]
    medians = {name: np.median(seconds) for name, seconds in stored["seconds"].items()}
    best = min(t for name, t in medians.items() if "PyTorch" in name)
    rows = []
    for name, t in medians.items():
        seconds = stored["seconds"][name]
        spread = f"{min(seconds) / t:.2f} to {max(seconds) / t:.2f}"
        work = one_number if "one number" in name else general
        share = f"{work / t / peak:.0%}" if peak else None
        error = f"{stored['gradient_errors'][name]:.0e}"
        rows.append([name, format_seconds(t), spread, f"{t / best:.3f}", share, error])
    heads = ["", "a step", "of the middle one", "of PyTorch's best", "of the peak"]
    units, batch, steps = sizes
    return [
        f"On one {on['gpu']}, {units} units, batch {batch}, {steps} steps, `float32` without TF32; "
        f"{stored.get('torch', 'no PyTorch')}; {stored['receipt']['date']}. All are CUDA graphs "
        f"but PyTorch's eager way. On the chip: {stored['blocks']} blocks on "
        f"{stored['multiprocessors']} multiprocessors, {stored['shared_bytes']:,} bytes of shared "
        "memory each.",
        table([*heads, "gradients off by"], rows),
        "The peak is a multiply-add by each of 128 units of a multiprocessor in every cycle of the "
        "clock that the driver states; counted are the products. *Off by* is the largest relative "
        "error of the seven gradients, against `float64`.",
    ]
