"""Record the chapters on a real GPU: run them, store their outputs and a receipt.

python -m helpers.press.record [notebooks…]     record what is not fresh (default: all chapters
                                                but those that wait, in book/chapters.toml)
python -m helpers.press.record --force [notebooks…]          record in any case
python -m helpers.press.record --all-asserts [notebooks…]    go on after a hidden assert fails
python -m helpers.press.record --no-sanitizer [notebooks…]   leave compute-sanitizer out
python -m helpers.press.record --memcheck [notebooks…]  run it for chapters recorded without
python -m helpers.press.record --check [notebooks…]    say what is not fresh; needs no GPU
python -m helpers.press.record --run-only NOTEBOOK     run the code in this process, store nothing

A chapter that is recorded also brings its headlines into book/results/<GPU>.jsonl. One with a
failed assert is not recorded; --all-asserts names all that fail at once.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat

from helpers import device, report
from helpers.press import execute, host, labels, notebook, results, surroundings, used

SANITIZER_SECONDS = 540
MEMORY_ERRORS = 99  # the exit status we ask compute-sanitizer for
CELL_FAILED = 3  # the exit status of --run-only when a cell raises


def state(book, root=notebook.BOOK):
    """Return "fresh" if the receipt of the notebook `book` fits it, else what is wrong.

    It fits as long as the cells' code, the stored outputs and the book's modules that the cells use
    (below the folder `root`; see `used`) are those of the recording.
    """
    receipt = book.metadata.get("receipt")
    if not receipt:
        return "not recorded"
    if device.STANDIN_NAME in receipt.get("gpu", device.STANDIN_NAME):
        return "not recorded on a GPU"
    if receipt.get("code_sha256") != used.code_sha256(book):
        return "stale: the code is not the code that was recorded"
    if receipt.get("outputs_sha256") != used.outputs_sha256(book):
        return "stale: the stored outputs are not those that were recorded"
    if "modules" not in receipt:
        return "stale: the receipt does not tell the book's modules that ran"
    now, then = used.hashes(book, root), receipt["modules"]
    if changed := sorted(path for path in now | then if now.get(path) != then.get(path)):
        has = "has" if len(changed) == 1 else "have"
        return f"stale: {', '.join(changed)} {has} changed since it was recorded"
    return "fresh"


def waits(path):
    """Return what the chapter at `path` waits for to be recorded (book/chapters.toml), or None."""
    return labels.plan()["chapters"].get(path.stem[:2], {}).get("waits")


def seal(book):
    """Return what a receipt of `book`, as it is now, says of code, outputs and modules."""
    return {
        "code_sha256": used.code_sha256(book),
        "outputs_sha256": used.outputs_sha256(book),
        "modules": used.hashes(book),
    }


def record(path, *, all_asserts=False, memcheck=True):
    """Run the notebook at `path` in a fresh kernel and store its outputs and receipt.

    RuntimeError when a cell fails or the sanitizer finds an error; the file is then left as it was.
    With `all_asserts` hidden cells that fail are all named at once; without `memcheck` the
    sanitizer does not run, and the receipt says so.
    """
    book, run = execute.run(path, recording=True, all_asserts=all_asserts)
    unseen = set(filter(used.COUNTED.fullmatch, run["surroundings"]["modules"]))
    unseen -= {*used.paths(book), *used.paths_of_helpers()}
    try:
        if unseen:
            raise RuntimeError(
                f"the run imported {', '.join(sorted(unseen))}, and the receipt would not tell: "
                "import it by its name, or give the name in one string"
            )
        verdict = sanitize(path) if memcheck else _verdict("not run")
    except RuntimeError as error:
        raise RuntimeError(f"{error}\nwhat came out: {execute.keep(book, path)}") from error
    if run["disturbed"]:
        _tell_disturbed(book, run["host_us"])
    notebook.canonical(book)
    around = run["surroundings"]
    book.metadata.receipt = report.facts() | {
        **seal(book),
        "libraries": around["libraries"],
        "switches": {
            "in the code": surroundings.in_the_code(used.sources(book)),
            "at the end": around["switches"],
        },
        "duration_seconds": run["seconds"],
        "host": around["host"],
        "host_us": run["host_us"],
        "disturbed": run["disturbed"],
        "sanitizer": verdict,
    }
    notebook.write(book, path)
    if (found := state(notebook.read(path))) != "fresh":
        raise RuntimeError(f"what was written does not read back the same: {found}")
    return book.metadata.receipt


def _tell_disturbed(book, host_us):
    """Add a line to what the last cell of `book`, helpers.receipt(), has printed."""
    before, after = (host_us[when]["median"] for when in ("before", "after"))
    said = f"Host    disturbed: {before:.1f} µs for one operation before, {after:.1f} µs after\n"
    last = notebook.code_cells(book)[-1]
    last.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=said))


def check_memory(path):
    """Run the sanitizer for the recorded notebook at `path`; put its verdict into the receipt.

    ValueError when the notebook is not fresh, RuntimeError when errors are found or a cell fails.
    """
    book = notebook.read(path)
    if (found := state(book)) != "fresh":
        raise ValueError(f"the memory check goes with a fresh recording; this is {found}")
    book.metadata.receipt.sanitizer = sanitize(path)
    notebook.write(book, path)
    return book.metadata.receipt.sanitizer["verdict"]


def sanitize(path):
    """Run the notebook's code, with small sizes, under compute-sanitizer's memcheck.

    Return a dictionary of tool, version and verdict. RuntimeError when it finds errors or a cell
    fails; it tells the first error and the last cell, and names the file with all that was said.
    """
    tool = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if tool is None:
        return _verdict("not run: no compute-sanitizer")
    about = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"Version (\S+)|(\d+\.\d+\S*)", about)
    command = [tool, "--tool", "memcheck", "--error-exitcode", str(MEMORY_ERRORS)]
    # Some chapters show launches that CUDA refuses, on purpose; here only memory matters.
    command += ["--report-api-errors", "no"]
    command += ["--target-processes", "application-only"]  # not what a chapter starts
    command += [sys.executable, "-u", "-m", "helpers.press.record"]
    command += ["--run-only", str(path.resolve())]
    log = execute.FAILED / f"{path.stem}.memcheck.txt"  # grows as it runs; kept unless all is well
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        process = subprocess.Popen(
            command,
            # Processes that a chapter starts are not looked at: they would only take time.
            env=execute.environment() | {"HELPERS_SIZES": "cpu", "HELPERS_LAUNCH": "no"},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the program it runs can be ended with it
        )
        try:
            process.wait(timeout=SANITIZER_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            timed_out = f"timed out after {SANITIZER_SECONDS} s"
        else:
            timed_out = None
    text = log.read_text(errors="replace")
    if timed_out:
        cells = re.findall(r"^code cell \d+ of \d+$", text, re.M)
        verdict = ", in ".join([timed_out, *cells[-1:]])
    else:
        if process.returncode == MEMORY_ERRORS:
            raise RuntimeError(f"compute-sanitizer found errors\n{_told(text)}\nall of it: {log}")
        if process.returncode == CELL_FAILED:
            told = f"{_told(text)}\nall of it: {log}"
            raise RuntimeError(f"a cell failed with HELPERS_SIZES=cpu\n{told}")
        summary = re.search(r"ERROR SUMMARY: (\d+ errors?)", text)
        finished = summary and process.returncode == 0
        tail = execute.plain("\n".join(text.splitlines()[-40:]))
        verdict = summary.group(1) if finished else f"could not run: {tail[-200:]}"
        if finished:
            log.unlink()
    name = next((group for group in version.groups() if group), None) if version else None
    return _verdict(verdict, name)


def _told(text):
    """Return of the sanitizer's output its first complaint, and the last cell with what it said."""
    lines = text.splitlines()
    complaint = re.compile(r"========= (?!COMPUTE-SANITIZER|ERROR SUMMARY)\S")
    cells = [k for k, line in enumerate(lines) if re.fullmatch(r"code cell \d+ of \d+", line)]
    first = next((k for k, line in enumerate(lines) if complaint.match(line)), None)
    parts = [] if first is None else [execute.plain("\n".join(lines[first : first + 20])), "..."]
    last = lines[cells[-1] if cells else -40 :]
    parts.append(execute.plain("\n".join(line for line in last if not line.startswith("====="))))
    return "\n".join(parts)


def _verdict(verdict, version=None):
    return {"tool": "memcheck", "version": version, "verdict": verdict}


def run_only(path):
    """Run the code cells of the notebook at `path` in this process; return the exit status.

    Hidden cells are left out: they assert on results and times at full size.
    """
    # For what the cells start, too: the folder changes below.
    os.environ |= execute.environment() | {"MPLBACKEND": "agg"}
    from IPython.core.interactiveshell import InteractiveShell

    cells = notebook.code_cells(notebook.read(path))
    shell = InteractiveShell.instance()
    os.chdir(path.resolve().parent)
    for number, cell in enumerate(cells, 1):
        if "remove-cell" in notebook.tags(cell):
            continue
        print(f"code cell {number} of {len(cells)}", flush=True)
        result = shell.run_cell(cell.source)
        if not result.success:
            error = result.error_before_exec or result.error_in_exec
            what = " ".join(str(error).split())[:1000]
            print(f"code cell {number} failed: {type(error).__name__}: {what}", flush=True)
            return CELL_FAILED
    return 0


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.record")
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--force", action="store_true", help="record fresh notebooks too")
    parser.add_argument("--check", action="store_true", help="say what is not fresh, run nothing")
    parser.add_argument("--all-asserts", action="store_true", help="go on after failed claims")
    parser.add_argument(
        "--no-sanitizer", action="store_false", dest="sanitizer", help="no memcheck"
    )
    parser.add_argument("--memcheck", action="store_true", help="only that, for what is recorded")
    parser.add_argument("--run-only", type=Path, metavar="NOTEBOOK", help="run, store nothing")
    options = parser.parse_args(arguments)
    if options.run_only:
        return run_only(options.run_only)
    states = {path: state(notebook.read(path)) for path in notebook.paths(options.notebooks)}
    if options.check:
        for path, found in states.items():
            print(f"{path.name}: {found}" + (f"; waits for {why}" if (why := waits(path)) else ""))
        # One that waits is not to be fresh: its line in book/chapters.toml would be out of date.
        return int(any((found == "fresh") == bool(waits(path)) for path, found in states.items()))
    if why := execute.refusal():
        print(f"record: {why}", file=sys.stderr)
        return 1
    print(device.description(), flush=True)
    failed = 0
    for path, found in states.items():
        if options.memcheck:
            try:
                print(f"{path.name}: memcheck: {check_memory(path)}", flush=True)
            except (ValueError, RuntimeError) as error:
                print(f"{path.name}: FAILED: {error}", flush=True)
                failed += 1
            continue
        if found == "fresh" and not options.force:
            print(f"{path.name}: fresh", flush=True)
            continue
        if (why := waits(path)) and not options.notebooks:
            print(f"{path.name}: {found}; left out, it waits for {why}", flush=True)
            continue
        print(f"{path.name}: {found}; recording …", flush=True)
        try:
            receipt = record(path, all_asserts=options.all_asserts, memcheck=options.sanitizer)
        except Exception as error:  # the other chapters are recorded all the same
            print(f"{path.name}: FAILED: {error}", flush=True)
            failed += 1
            continue
        verdict = receipt["sanitizer"]["verdict"]
        print(f"{path.name}: {receipt['duration_seconds']} s, memcheck: {verdict}", flush=True)
        print(f"{path.name}: {host.text(receipt)}", flush=True)
        for problem in notebook.problems(path):
            print(f"{path.name}: {problem}", flush=True)
        results.gather([path])
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
