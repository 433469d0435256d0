"""The page "Which tool, and when": its numbers, from the evidence "tools".

python -m helpers.press.tools_page --measure [--numpy-for-numba FOLDER]
python -m helpers.press.tools_page --measure --gate

The first measures anew where there is a GPU with all the tools, and stores the evidence "tools" and
"torch_gate"; the second only this. They take three minutes, and half of one. Numba may need a NumPy
older than the others': put one into a folder, by `pip install --target FOLDER numpy==2.4.6`.
"""

import argparse
import ast
import sys
from pathlib import Path

from helpers import device, report
from helpers.press import evidence, tools_picture
from helpers.programs import tools
from helpers.programs.tools import __main__ as runner
from helpers.programs.tools.jobs import JOBS
from helpers.timing import format_rate, format_seconds

NAME, GATE = "tools", "torch_gate"
FOLDER = Path(tools.__file__).parent
PARTS = {
    NAME: ["__init__", "__main__", "jobs", "lines", "worker", *tools.TOOLS],
    GATE: ["gate", "torch_gate", "gate_measured", "worker"],
}
WAYS = {
    "eager": "PyTorch, eager",
    "compiled": "PyTorch, compiled",
    "kernels": "two RawKernels in a Function",
}


def tables(chapters):
    """Return a table of all tools, and one for each job, folded, as pieces of Markdown."""
    stored = evidence.load(NAME)
    if stored is None:
        return ["Nothing is measured yet."]
    made, ceilings = stored["receipt"], stored["ceilings"]
    on, rates = made["on"], stored["rates"]
    text = [
        _summary(stored["tools"]),
        "A share in bold is the best of its job, or within three hundredths of it.",
        f"Measured on one {on['gpu']} (driver {on['driver']}, CUDA {on['cuda']}) on "
        f"{made['date']}, in one run. A copy of 1 GiB moved {format_rate(rates['copy'])}, and "
        f"cuBLAS made a product of float16 matrices at {format_rate(rates['cublas'], 'FLOP/s')}: "
        f"{_drift(ceilings)}. {_versions(stored)}",
    ]
    for job, about in JOBS.items():
        rows = {name: stored["tools"][name][job] for name in stored["tools"]}
        ordered = sorted(rows, key=lambda name: -rows[name].get("share", 0))
        head = ["Tool", _ceiling(about), "Time", "Spread", "First call", "Lines"]
        table = _table([head, *(_row(name, rows[name]) for name in ordered)])
        text.append(f"<details><summary>{about.title}: {_size(job)}</summary>")
        text += [table, "</details>"]
    return text


def _summary(found):
    """The shares of all tools, with how long their first calls and their programs are."""
    best = {job: max(rows[job].get("share", 0) for rows in found.values()) for job in JOBS}
    lines = [["Tool", *(about.title for about in JOBS.values()), "First call", "Lines"]]
    for name, rows in found.items():
        shares = []
        for job in JOBS:
            share = rows[job].get("share")
            words = "–" if share is None else f"{share:.2f}"
            shares.append(f"**{words}**" if share and share > best[job] - 0.03 else words)
        firsts = [row["first"] for row in rows.values() if "first" in row] or [0]
        counts = [row["lines"] for row in rows.values()]
        first = f"{min(firsts):.1g}–{max(firsts):.1g} s"
        lines.append([tools.TOOLS[name], *shares, first, f"{min(counts)}–{max(counts)}"])
    return _table(lines)


def gate(chapters):
    """Return what the operation with a RawKernel inside PyTorch takes, as pieces of Markdown."""
    stored = evidence.load(GATE)
    if not stored:
        return ["Nothing is measured yet."]
    large, small, on = stored["large"], stored["small"], stored["receipt"]["on"]
    rows = [["Forward and backward", *(f"{x['side']:,} × {x['side']:,}" for x in (large, small))]]
    for way, words in WAYS.items():
        rows.append([words, *(format_seconds(x[way]["median"]) for x in (large, small))])
    gain, cost = (x["eager"]["median"] / x["kernels"]["median"] for x in (large, small))
    rate = large["bytes"] / large["kernels"]["median"]
    said = "accepts" if stored["gradcheck"] else "refuses"
    return [
        f"`gradcheck` {said} it in float64, for arrays that are odd, strided or unaligned; in "
        f"float32, on a stream of its own and at an odd length, it is {stored['error']:.0e} from "
        f"PyTorch in float64. On one {on['gpu']}, with PyTorch {stored['versions']['PyTorch']}:",
        _table(rows),
        f"On the large matrices the GPU decides: the kernels are {gain:.2f} times as fast as eager "
        f"PyTorch, and move each array once, at {format_rate(rate)}. `torch.compile` fuses this "
        f"expression too. On the small ones the host decides, and they are {1 / cost:.1f} times as "
        "slow: an operation with a gradient of its own costs Python's time, compiled or not.",
    ]


def picture(chapters):
    """Return the picture that ends the page, as a piece of Markdown."""
    stored = evidence.load(NAME)
    return [tools_picture.picture(stored) if stored else "Nothing is measured yet."]


def cannot(chapters):
    """Return what each measured tool cannot do, as its file says, as a list in Markdown."""
    said = {name: _said(name) for name in tools.TOOLS}
    return ["\n".join(f"- **{tools.TOOLS[name]}**. {words}" for name, words in said.items())]


def _said(name):
    """CANNOT in the file of a tool, whose packages need not be here."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    [value] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CANNOT"
    ]
    return ast.literal_eval(value)


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
        return [tools.TOOLS[name], "–", f"not measured: {row['failed']}", "–", "–", row["lines"]]
    first = f"{row['first']:.2g} s"
    return [tools.TOOLS[name], f"{row['share']:.2f}", *_spread(row), first, row["lines"]]


def _spread(row):
    """A median in words, and how far apart the quartiles are."""
    return format_seconds(row["median"]), f"{(row['high'] - row['low']) / row['median']:.1%}"


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


def measure(numpy_for_numba=None, gate_alone=False):
    """Measure all tools and the operation inside PyTorch, or this alone; store the evidence.

    Return the paths. RuntimeError where there is no GPU, or where the operation fails. A tool whose
    results are not NumPy's has no times, and the page says so.
    """
    if not device.on_gpu:
        raise RuntimeError("the tools need a GPU, and here is none")
    facts = report.facts()
    del facts["date"]  # the receipt has one of its own
    if gate_alone:
        found = {GATE: next(runner.one_by_one([("gate",)]))}
    else:
        found = {NAME: runner.measure([], numpy_for_numba)}
        found[GATE] = found[NAME].pop("gate")
    if "failed" in found[GATE]:
        raise RuntimeError(f"the operation inside PyTorch: {found[GATE]['failed']}")
    return [_store(name, part, facts) for name, part in found.items()]


def _store(name, found, facts):
    command = "python -m helpers.press.tools_page --measure" + " --gate" * (name == GATE)
    about = [f"helpers/programs/tools/{stem}.py" for stem in PARTS[name]]
    return evidence.store(name, found, evidence.receipt(command, facts, about))


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.tools_page")
    parser.add_argument("--measure", action="store_true", required=True)
    parser.add_argument("--gate", action="store_true", help="only the operation inside PyTorch")
    parser.add_argument("--numpy-for-numba", metavar="FOLDER", help="a NumPy, for Numba alone")
    options = parser.parse_args(arguments)
    try:
        print(*measure(options.numpy_for_numba, options.gate), sep="\n")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
