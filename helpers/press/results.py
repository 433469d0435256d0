"""The headline results: those stored in the notebooks, and those of every GPU, side by side.

python -m helpers.press.results [notebooks…]        print what is stored, one JSON object a line
python -m helpers.press.results --gather [notebooks…]     bring it into book/results/<GPU>.jsonl
python -m helpers.press.results --run [notebooks…]  run chapters on the GPU at hand, change none of
                                                    them, and write that GPU's file
python -m helpers.press.results --compare A B       compare two such files, headline by headline

--run --output FILE writes another file. A run for results holds no claim about speed to account.
"""

import argparse
import datetime
import json
import math
import os
import re
import sys
from pathlib import Path

from helpers import device, report
from helpers.press import execute, host, labels, notebook, used

FOLDER = notebook.BOOK / "book" / "results"
AGAIN = "again"  # the folder, beside the results, of second runs on the same kind of GPU
FACTS = ("gpu", "driver", "cuda", "nvrtc", "cupy", "numpy", "python", "date")  # of the first line
BEFORE_NVRTC = tuple(key for key in FACTS if key != "nvrtc")  # of files that are older than it
FIELDS = ("name", "value", "unit", "against", "notebook", "date")  # of all its other lines


def headlines(book):
    """Return the headlines stored in the notebook `book`: name, value, unit, against and label."""
    outputs = [output for cell in notebook.code_cells(book) for output in cell.outputs]
    entries = [output.get("data", {}).get(report.MIME) for output in outputs]
    keys = ("name", "value", "unit", "against", "label")
    return [{key: entry.get(key) for key in keys} for entry in entries if entry is not None]


def own(path, book):
    """Return the headlines of the chapter `book` at `path` but those that it repeats.

    What a chapter measures again of another's is listed as `repeats` in book/chapters.toml: shown
    where a reader needs it, and stored once.
    """
    repeats = labels.plan()["chapters"].get(path.stem[:2], {}).get("repeats", [])
    return [entry for entry in headlines(book) if entry["name"] not in repeats]


def stored(notebooks=()):
    """Return all headlines stored in the `notebooks` (paths; default: all chapters).

    Each is a dictionary of name, value, unit, against, label, device and date (from the notebook's
    receipt, None without one) and notebook, the file's name without its ending. ValueError when
    one name is stored twice.
    """
    found = {}
    for path in notebook.paths(notebooks):
        book = notebook.read(path)
        recorded = book.metadata.get("receipt", {})
        where = {"device": recorded.get("gpu"), "date": recorded.get("date"), "notebook": path.stem}
        for entry in own(path, book):
            if entry["name"] in found:
                raise ValueError(f"{path.name}: the headline {entry['name']} is stored twice")
            found[entry["name"]] = entry | where
    return list(found.values())


def file(gpu, folder=None):
    """Return the path of the results of the GPU named `gpu`; its name has no blanks or slashes."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", gpu).strip("-.")
    return Path(folder or FOLDER) / f"{plain}.jsonl"


def load(path):
    """Return the receipt and the list of headlines of the results file at `path`."""
    first, *rest = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    return first, rest


def merge(path, facts, entries, stem):
    """Put the `entries` of the notebook `stem`, measured on `facts`, into the file at `path`.

    They replace all that the file has of that notebook; the newest receipt is kept. ValueError when
    the file is another GPU's.
    """
    path = Path(path)
    keys = FACTS if "nvrtc" in facts else BEFORE_NVRTC
    facts = {key: facts[key] for key in keys}
    new = [entry | {"notebook": stem, "date": facts["date"]} for entry in entries]
    if facts["gpu"] == device.STANDIN_NAME:
        raise ValueError("the stand-in's numbers say nothing about a GPU")
    lines = []
    if path.exists():
        before, lines = load(path)
        if before["gpu"] != facts["gpu"]:
            raise ValueError(f"{path} has the results of {before['gpu']}, not of {facts['gpu']}")
        facts = max(facts, before, key=lambda receipt: receipt["date"])
        names = {entry["name"] for entry in entries}
        lines = [x for x in lines if x["notebook"] != stem and x["name"] not in names]
    lines += [{key: entry[key] for key in FIELDS} for entry in new]
    lines.sort(key=lambda line: line["notebook"])  # stable: within a chapter, its own order
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [facts, *lines])
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
    return path


def gather(notebooks=(), folder=None):
    """Bring the headlines recorded in the `notebooks` (default: all) into the files of their GPUs.

    Return the names of the notebooks left out because their outputs are not as recorded.
    """
    left_out = []
    for path in notebook.paths(notebooks):
        book = notebook.read(path)
        receipt = book.metadata.get("receipt", {})
        if receipt.get("outputs_sha256") != used.outputs_sha256(book):
            left_out.append(path.name)
            continue
        entries, target = own(path, book), file(receipt["gpu"], folder)
        if entries or target.exists():
            merge(target, receipt, entries, path.stem)
    return left_out


def run(notebooks=(), output=None):
    """Run the `notebooks` (default: all) and write their headlines to `output`; return the status.

    A chapter with a failing cell is named and left out. Without `output` it is the file of this
    GPU in book/results, unless that holds the recordings of the book itself.
    """
    facts = report.facts()
    chapters = [notebook.read(path).metadata.get("receipt", {}) for path in notebook.paths()]
    if output is None and any(receipt.get("gpu") == facts["gpu"] for receipt in chapters):
        print(
            f"results: the book's own recordings are of {facts['gpu']}; give --output FILE, and "
            "--compare it with the book's",
            file=sys.stderr,
        )
        return 1
    output = output or file(facts["gpu"])
    print(device.description(), flush=True)
    failed = 0
    for path in notebook.paths(notebooks):
        print(f"{path.name}: running …", flush=True)
        try:
            book, found = execute.run(path)
        except Exception as error:  # the other chapters are run all the same
            print(f"{path.name}: FAILED: {error}", flush=True)
            failed += 1
            continue
        entries = headlines(book)
        merge(output, facts, entries, path.stem)
        print(f"{path.name}: {found['seconds']} s, {len(entries)} headlines", flush=True)
        print(f"{path.name}: {host.text(found)}", flush=True)
    print(f"{output}: written" if Path(output).exists() else "nothing was measured")
    return int(failed > 0)


def compare(first, second):
    """Return rows of name, unit, the value in each of two results files, and their ratio.

    What only one file has is None in the other, and so is the ratio then, or by a zero.
    """
    a, b = ({line["name"]: line for line in load(path)[1]} for path in (first, second))
    rows = []
    for name in a | b:
        values = [found[name]["value"] if name in found else None for found in (a, b)]
        ratio = values[1] / values[0] if values[0] and values[1] is not None else None
        rows.append([name, (a.get(name) or b[name])["unit"], *values, ratio])
    return rows


def same_way(one, other):
    """Say whether two lines of one name, each from a results file, measured it in the same way.

    They did when the unit and the partner (what `against` says before a semicolon, but for its
    numbers) are the same, and neither is older than the `same_since` in book/chapters.toml of
    either's chapter (a chapter that was split has another number now). Otherwise neither is a
    repeat of the other.
    """
    plan = labels.plan()["chapters"]
    since = max(plan.get(x["notebook"][:2], {}).get("same_since", "") for x in (one, other))
    words = [(line["against"] or "").partition(";")[0] for line in (one, other)]
    words = [re.sub(r"-?\d[\d.,]*", "#", text) for text in words]
    same = one["unit"] == other["unit"] and words[0] == words[1]
    return same and min(one["date"], other["date"]) >= since


def problems(path):
    """Return what is wrong with the form of the results file at `path`, as sentences."""
    try:
        facts, lines = load(path)
    except ValueError as error:
        return [f"is not one JSON object a line, the first a receipt: {error}"]
    if not all(isinstance(line, dict) for line in (facts, *lines)):
        return ["has a line that is no JSON object"]
    found = []
    texts = FACTS if "nvrtc" in facts else BEFORE_NVRTC
    if tuple(facts) != texts or not all(isinstance(x, str) and x for x in facts.values()):
        found.append(f"line 1 is not the texts {', '.join(texts)}, in this order")
    elif facts["gpu"] == device.STANDIN_NAME or file(facts["gpu"]).name != Path(path).name:
        found.append(f"the file of {facts['gpu']} is to be named {file(facts['gpu']).name}")
    if not _is_date(facts.get("date")):
        found.append("line 1: the date is not like 2026-11-21")
    for number, line in enumerate(lines, 2):
        found += [f"line {number}: {what}" for what in _line_problems(line)]
    names = [line.get("name") for line in lines]
    found += [
        f"{name} is there twice" for name in sorted({str(n) for n in names if names.count(n) > 1})
    ]
    return found


def _line_problems(line):
    if tuple(line) != FIELDS:
        yield f"has not the fields {', '.join(FIELDS)}, in this order"
        return
    if not re.fullmatch(report.NAME, str(line["name"])):
        yield f"{line['name']!r} is no name of a headline"
    if type(line["value"]) not in (int, float) or not math.isfinite(line["value"]):
        yield f"{line['value']!r} is no finite number"
    if not isinstance(line["unit"], str) or not line["unit"]:
        yield "has no unit"
    if not isinstance(line["against"], str | None):
        yield "`against` is neither a text nor null"
    if not re.fullmatch(r"\d\d_\w+", str(line["notebook"])):
        yield f"{line['notebook']!r} is no chapter's file name without its ending"
    if not _is_date(line["date"]):
        yield "the date is not like 2026-11-21"


def _is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.results")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--gather", action="store_true", help="update the files of the GPUs")
    what.add_argument("--run", action="store_true", help="run chapters, write this GPU's file")
    what.add_argument("--compare", nargs=2, type=Path, metavar="FILE", help="compare two files")
    parser.add_argument("--output", type=Path, metavar="FILE", help="what --run writes")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    if options.compare:
        from tabulate import tabulate

        headers = ["headline", "unit", *(path.stem for path in options.compare), "ratio"]
        rows = compare(*options.compare)
        print(tabulate(rows, headers, floatfmt=".4g", missingval="–"))
        return 0
    if options.run:
        if why := execute.refusal():
            print(f"results: {why}", file=sys.stderr)
            return 1
        return run(options.notebooks, options.output)
    if options.gather:
        left_out = gather(options.notebooks)
        for name in left_out:
            print(f"{name}: the stored outputs are not those of a recording: left out")
        return int(bool(left_out))
    for entry in stored(options.notebooks):
        print(json.dumps(entry, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
