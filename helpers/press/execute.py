"""Run the code of a chapter: a fresh kernel, the helpers of this checkout, a real GPU."""

import os
import re
import time

import nbformat

from helpers import device
from helpers.press import asserts, host, notebook, surroundings, used

CELL_SECONDS = 900
FAILED = notebook.BOOK / "_build" / "failed"  # what came out of runs that failed


def refusal():
    """Return why chapters cannot be measured here, or None when they can."""
    if not device.on_gpu:
        return "there is no GPU here; chapters are recorded on a real GPU at full size only"
    if device.small_sizes():
        return "HELPERS_SIZES=cpu is set; chapters are recorded on a real GPU at full size only"
    return None


def run(path, *, recording=False, all_asserts=False):
    """Run the notebook at `path` in a fresh kernel; the file stays as it is.

    Return the notebook with its new outputs, and a dictionary of `seconds` (what it took),
    `host_us` and `disturbed` (the host before and after) and `surroundings` (what the kernel says
    of itself after the last cell). `recording` sets the switch under which hidden cells hold claims
    about speed to account; with `all_asserts` the run goes on after a failed one, so that all of
    them are seen. RuntimeError when a cell or an assert fails; it names the file that keeps what
    came out.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    book = notebook.read(path)
    for cell in notebook.code_cells(book):
        cell.outputs = []
    sources = asserts.instrument(book) if all_asserts else None
    imported = sorted(used.libraries(book))
    ask = f"from helpers.press import surroundings\nsurroundings.tell({imported!r})"
    last = nbformat.v4.new_code_cell(ask)
    book.cells.append(last)
    client = NotebookClient(
        book,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        record_timing=False,
        resources={"metadata": {"path": str(path.resolve().parent)}},
    )
    before, start, problems = host.measure(), time.perf_counter(), []
    try:
        client.execute(env=environment() | {"HELPERS_RECORDING": "1" if recording else "0"})
    except CellExecutionError as error:
        problems.append(f"a cell failed\n{plain(str(error))}")
    seconds, after = time.perf_counter() - start, host.measure()
    book.cells.remove(last)
    if all_asserts:
        problems += [plain(problem) for problem in asserts.failures(book)]
        asserts.restore(book, sources)
    if problems:
        kept = keep(book, path)
        raise RuntimeError(f"{'; '.join(problems)}\nafter {seconds:.1f} s; what came out: {kept}")
    return book, {
        "seconds": round(seconds, 1),
        "host_us": {"before": before, "after": after},
        "disturbed": host.disturbed(before, after),
        "surroundings": _told(last),
    }


def _told(cell):
    """Return what `surroundings.tell` displayed in the last cell of a run."""
    (data,) = (
        output.data for output in cell.outputs if surroundings.MIME in output.get("data", {})
    )
    return data[surroundings.MIME]


def keep(book, path):
    """Write `book`, what came out of a run of the notebook at `path` that failed; return where."""
    kept = FAILED / path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    notebook.write(book, kept)
    return kept


def environment():
    """The environment for the chapters' processes: there, too, these helpers are the ones found."""
    path = os.pathsep.join(filter(None, [str(notebook.BOOK), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path}


def plain(text):
    """Return the end of `text` without a terminal's colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)[-4000:]
