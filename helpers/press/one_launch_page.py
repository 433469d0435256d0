"""What an epoch in one launch takes, from the evidence "one_launch", as pieces of Markdown."""

import numpy as np

from helpers.press import evidence
from helpers.press.tables import table
from helpers.timing import format_seconds


def times(chapters):
    """Return the table of times, and what else was found."""
    stored = evidence.load("one_launch")
    if not stored:
        return ["It has not been measured yet."]
    on, steps = stored["receipt"]["on"], stored["steps"]
    sides = {f"PyTorch, {way}": t for way, t in stored["torch_epoch_seconds"].items()}
    best = min(np.median(t) for t in sides.values())
    rows = []
    for name, seconds in (sides | {"one launch": stored["epoch_seconds"]}).items():
        middle = np.median(seconds)
        spread = f"{min(seconds) / middle:.2f} to {max(seconds) / middle:.2f}"
        one = format_seconds(middle / steps)
        rows.append([name, format_seconds(middle), spread, one, f"{middle / best:.3f}"])
    heads = ["", "an epoch", "of the middle one", "a step", "of PyTorch's best"]
    read = ", ".join(f"{x:.2f} %" for x in stored["test_accuracy_percent"])
    are = "are equal" if stored["two runs are equal"] else "are NOT equal"
    return [
        f"On one {on['gpu']}, {steps:,} steps of batch 8, `float32`; {stored['torch']}; "
        f"{stored['receipt']['date']}:",
        table(heads, rows),
        f"After five epochs three networks read {read} of the test images. Two runs from the same "
        f"weights {are} to the last bit.",
    ]
