"""The page "Kernels that stay": its numbers, from the evidence "one_launch" and "lstm_on_chip".

python -m helpers.press.stays_page --measure [one_launch] [lstm_on_chip]    a minute each, on a GPU
"""

import argparse
import importlib
import sys

import numpy as np

from helpers import report
from helpers.lstm_checks import operations_by_shapes
from helpers.press import evidence
from helpers.press.tables import table
from helpers.timing import format_seconds

ABOUT = {
    "one_launch": [
        "helpers/programs/one_launch/*",
        "helpers/programs/cnn_step.py",
        "helpers/programs/torch_cnn.py",
        "helpers/chapters/training_kernels.py",
    ],
    "lstm_on_chip": [
        "helpers/programs/lstm_on_chip/*",
        "helpers/chapters/lstm_kernels.py",
        "helpers/chapters/lstm_sine.py",
        "helpers/chapters/autograd.py",
        *(f"helpers/{name}.py" for name in "flat_adam gemm tiles torch_lstm".split()),
    ],
}


def one_launch(chapters):
    """Return what an epoch in one launch takes, as pieces of Markdown."""
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


def lstm_on_chip(chapters):
    """Return what an LSTM's step takes with weights on the chip, as pieces of Markdown."""
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
        "error of the seven gradients, against `float64`. *One number* groups its products as "
        "chapter 85 does, which an input of one number a step allows; the line before it takes any "
        "input, and is the one to hold against PyTorch.",
    ]


def measure(name):
    """Run the program `name`, store what it finds, return the path; RuntimeError if it cannot."""
    program = importlib.import_module(f"helpers.programs.{name}.__main__")
    if why := program.why_not():
        raise RuntimeError(f"{name}: {why}")
    facts = report.facts()
    del facts["date"]  # the receipt has one of its own
    command = f"python -m helpers.press.stays_page --measure {name}"
    return evidence.store(name, program.measured(), evidence.receipt(command, facts, ABOUT[name]))


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.stays_page")
    parser.add_argument("--measure", nargs="*", choices=ABOUT, required=True, metavar="NAME")
    try:
        for name in parser.parse_args(arguments).measure or ABOUT:
            print(measure(name), flush=True)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
