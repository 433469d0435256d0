"""The page "Which tool, and when": its numbers, from the evidence "tools".

python -m helpers.press.tools_page --measure [--numpy-for-numba FOLDER]

measures anew where there is a GPU with all the tools, and stores the evidence. It takes four
minutes. Numba may need a NumPy older than the others': put one into a folder, by
`pip install --target FOLDER numpy==2.4.6`.
"""

import argparse
import sys

from helpers import device, report
from helpers.press import evidence
from helpers.programs import tools
from helpers.programs.tools import __main__ as runner
from helpers.programs.tools.jobs import JOBS
from helpers.timing import format_rate, format_seconds

NAME = "tools"
ABOUT = ["helpers/programs/tools/*.py"]
WAYS = {
    "eager": "PyTorch, eager",
    "compiled": "PyTorch, compiled",
    "kernels": "two RawKernels in a Function",
}


def tables(chapters):
    """Return the tables of the four jobs as pieces of Markdown."""
    stored = evidence.load(NAME)
    if stored is None:
        return ["Nothing is measured yet."]
    made, ceilings = stored["receipt"], stored["ceilings"]
    on, rates = made["on"], stored["rates"]
    text = [
        f"Measured on one {on['gpu']} (driver {on['driver']}, CUDA {on['cuda']}) on "
        f"{made['date']}, in one run. A copy of 1 GiB moved "
        f"{format_rate(rates['copy'])} there, and cuBLAS made a product of float16 matrices at "
        f"{format_rate(rates['cublas'], 'FLOP/s')}: {_drift(ceilings)}.",
    ]
    for job, about in JOBS.items():
        rows = {name: stored["tools"][name][job] for name in tools.TOOLS if name in stored["tools"]}
        ordered = sorted(rows, key=lambda name: -rows[name].get("share", 0))
        head = ["Tool", _ceiling(about), "Time", "First call", "Lines"]
        text += [
            f"### {about.title}",
            _size(job),
            _table([head, *(_row(n, rows[n]) for n in ordered)]),
        ]
    return [*text, _versions(stored)]


def gate(chapters):
    """Return what the operation with a RawKernel inside PyTorch takes, as pieces of Markdown."""
    stored = (evidence.load(NAME) or {}).get("gate")
    if not stored:
        return ["Nothing is measured yet."]
    if "failed" in stored:
        return [f"It was not measured: {stored['failed']}"]
    eager = stored["eager"]["median"]
    rows = [["Forward and backward", "Time", "Against eager"]]
    for way, words in WAYS.items():
        took = stored[way]
        rows.append([words, _spread(took), f"{eager / took['median']:.2f} ×"])
    rate = stored["bytes"] / stored["kernels"]["median"]
    said = "accepts" if stored["gradcheck"] else "refuses"
    return [
        f"`gradcheck` {said} it in float64, for arrays that are odd, strided, unaligned or empty; "
        "in float32, on a stream of its own and at an odd length, it is "
        f"{stored['error']:.0e} from PyTorch in float64. On two matrices of {stored['side']:,} × "
        f"{stored['side']:,} float32:",
        _table(rows),
        f"The two kernels move each array once, at {format_rate(rate)}.",
    ]


def _ceiling(about):
    return "Share of " + {"copy": "a copy's rate", "cublas": "cuBLAS's rate"}[about.ceiling]


def _size(job):
    size = JOBS[job].full
    if job == "dense":
        return "{} × {} times {} × {}, float16, added in float32.".format(*size[:2], *size[1:])
    if job == "add_twice":
        return f"{size[0]:,} numbers, float32."
    return "{:,} × {:,} numbers, float32.".format(*size)


def _row(name, row):
    if "failed" in row:
        return [tools.TOOLS[name], "–", f"not measured: {row['failed']}", "–", row["lines"]]
    first = f"{row['first']:.2g} s"
    return [tools.TOOLS[name], f"{row['share']:.2f}", _spread(row), first, row["lines"]]


def _spread(row):
    """A median with its quartiles."""
    low, high = format_seconds(row["low"]), format_seconds(row["high"])
    return f"{format_seconds(row['median'])} ({low.split()[0]} to {high})"


def _drift(ceilings):
    """What two runs of the ceilings, before and after the tools, say of the machine."""
    apart = {}
    for kind in ceilings[0]:
        times = [end[kind]["median"] for end in ceilings]
        apart[kind] = max(times) / min(times) - 1
    return "measured before and after, they were {copy:.1%} and {cublas:.1%} apart".format(**apart)


def _versions(stored):
    found, numpys = {}, {}
    for name, jobs in stored["tools"].items():
        for row in jobs.values():
            for package, version in row.get("versions", {}).items():
                if package == "NumPy":
                    numpys.setdefault(version, set()).add(name)
                else:
                    found[package] = version
    said = ", ".join(f"{package} {version}" for package, version in found.items())
    common = max(numpys, key=lambda version: len(numpys[version]), default="")
    others = [
        f"{', '.join(tools.TOOLS[n] for n in sorted(numpys[version]))} with {version}"
        for version in numpys
        if version != common
    ]
    besides = f" ({'; '.join(others)})" if others else ""
    return f"With {said}, and NumPy {common}{besides}."


def _table(lines):
    rule = ["---", *["---:"] * (len(lines[0]) - 1)]
    cells = [
        [str(cell).replace("|", "\\|") for cell in line] for line in (lines[0], rule, *lines[1:])
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def measure(numpy_for_numba=None):
    """Measure all tools and store the evidence; return its path.

    RuntimeError where there is no GPU. A tool whose results are not NumPy's has no times, and the
    page says so.
    """
    if not device.on_gpu:
        raise RuntimeError("the tools need a GPU, and here is none")
    facts = report.facts()
    del facts["date"]  # the receipt has one of its own
    found = runner.measure([], numpy_for_numba)
    made = evidence.receipt("python -m helpers.press.tools_page --measure", facts, ABOUT)
    return evidence.store(NAME, found, made)


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.tools_page")
    parser.add_argument("--measure", action="store_true", required=True)
    parser.add_argument("--numpy-for-numba", metavar="FOLDER")
    options = parser.parse_args(arguments)
    try:
        print(measure(options.numpy_for_numba))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
