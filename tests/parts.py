"""Run the tests part by part, cheap first, and end with a table.

python tests/parts.py               the parts of `make test`
python tests/parts.py --rest        what `make test-all` has beyond them; goes on with their table
python tests/parts.py --all         both: `make test-all`
python tests/parts.py --chapter 35  what one chapter must pass, its number or name: `make check`

A part that fails is shown whole and the others are run all the same. What each printed, its results
and the kernels that were compiled are in ``_build/tests``, which a run of the first parts empties.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build" / "tests"
CHAPTERS = ROOT / "notebooks"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
COLUMNS = ("passed", "failed", "skipped", "xfailed")

PYTHON = (sys.executable,)
RUFF = (*PYTHON, "-m", "ruff")
PYTEST = (*PYTHON, "-m", "pytest", "-q", "-rfE")
WORKERS = (*PYTEST, "-n", str(min(CORES, 8)))
SPREAD = (*WORKERS, "--dist", "worksteal")
BY_FILE = (*WORKERS, "--dist", "loadfile")  # the cells of a chapter build on each other
BY_GROUP = (*WORKERS, "--dist", "loadgroup")  # a page is opened once for several tests
QUICK, LONG = ("-m", "not long"), ("-m", "long")
STANDIN = {"CUPY_STANDIN": "always"}
LISTENER = "CUPY_STANDIN_LISTENER"
KEPT = {LISTENER: str(ROOT / "tests/units_kernels.py")}
# What a compiler may see otherwise than another: these are run with a second one, ziglang.
COMPILED = """rawkernel elementwise reduction carray fences compiler translate fibers active_lanes
    local_memory float_casts foreign half ptx strict wmma async_copy mathematics otherwise
    published"""


@dataclass(frozen=True)
class Part:
    """Commands under a name, each one test; a run of pytest counts as its own tests.

    ``cores`` is how many it keeps busy. It begins when one is free and those in
    ``after``, whose results it needs, are done.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    cores: int = CORES
    environment: dict[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()


FIRST = (
    Part("ruff", ((*RUFF, "check", "."), (*RUFF, "format", "--check", ".")), 1),
    Part("chapters: form", ((*PYTEST, *QUICK, "tests/test_notebooks.py"),), 1),
    # CuPy's own tests warn, and hundreds fail for listed reasons.
    Part("CuPy's own tests", ((*PYTEST, "tests/conformance", "--disable-warnings"),), 1),
    Part(
        "units",
        (
            (*SPREAD, *QUICK, "tests", "--ignore=tests/site", "--ignore=tests/conformance")
            + ("--ignore=tests/test_notebooks.py",),
        ),
        environment=KEPT,
    ),
    Part(
        "chapters: cells",
        ((*BY_FILE, "--nbval", "notebooks"),),
        environment=STANDIN | {LISTENER: str(ROOT / "tests/chapters_kernels.py")},
    ),
    Part(
        "chapters: kernels",
        ((*PYTHON, "tests/chapters_kernels.py"),),
        after=("chapters: cells",),
    ),
    Part("site", (("make", "--no-print-directory", "sites"),)),
    Part("pages", ((*BY_GROUP, *QUICK, "tests/site"),), after=("site",)),
)
REST = (
    Part(
        "CuPy's own, all",
        ((*PYTEST, "tests/conformance", "--whole", "--disable-warnings"),),
        1,
    ),
    Part(
        "second compiler",
        ((*PYTEST, *(f"tests/standin/test_{name}.py" for name in COMPILED.split())),),
        1,
        KEPT | {"CXX": f"{sys.executable} -m ziglang c++"},
    ),
    Part("other projects", ((*PYTHON, "-m", "tests.projects"),), 1),
    Part("units, long", ((*SPREAD, *LONG, "tests", "--ignore=tests/site"),), environment=KEPT),
    Part("chapters: limits", ((*PYTHON, "tests/chapters_kernels.py", "--limits"),)),
    Part(
        "units: kernels",
        ((*PYTHON, "tests/units_kernels.py"),),
        after=("units, long", "second compiler"),
    ),
    Part("pages, long", ((*BY_GROUP, *LONG, "tests/site"),)),
)


def of_chapter(path: Path) -> tuple[Part, ...]:
    """What the chapter at ``path`` must pass."""
    name, press = str(path.relative_to(ROOT)), (*PYTHON, "-m")
    number = path.stem.partition("_")[0]
    return (
        Part("ruff", ((*RUFF, "check", name), (*RUFF, "format", "--check", name)), 1),
        Part("form", ((*press, "helpers.press.notebook", "--check", name),), 1),
        Part("exports", ((*press, "helpers.press.export", "--check"),), 1),
        Part("freshness", ((*press, "helpers.press.record", "--check", name),), 1),
        Part("cells", ((*PYTEST, "--nbval", name),), 1, STANDIN),
        Part("page", ((*press, "helpers.press.site", "--only", number),), 1),
    )


@dataclass
class Row:
    """What came of a part: numbers of tests, seconds by the clock and of all processors."""

    part: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    xfailed: int = 0
    seconds: float = 0
    cpu: float = 0

    def count(self, path: Path) -> None:
        """Add the results that pytest wrote to ``path``."""
        for case in ElementTree.parse(path).iter("testcase"):
            found = {child.tag: child.get("type") for child in case}
            if {"failure", "error"} & found.keys():
                self.failed += 1
            elif "skipped" in found:
                if found["skipped"] == "pytest.xfail":
                    self.xfailed += 1
                else:
                    self.skipped += 1
            else:
                self.passed += 1


class Runner:
    """Runs parts side by side on the machine's cores; what they leave behind is in ``folder``."""

    def __init__(self, folder: Path, environment: dict[str, str]):
        self.folder, self.environment = folder, os.environ | environment
        self.running: set[int] = set()
        self.free, self.stopped = CORES, False
        self.changed = threading.Condition()

    def run(self, parts: Iterable[Part]) -> list[Row]:
        """Run them, begun in this order; their rows in the same."""
        self.folder.mkdir(parents=True, exist_ok=True)
        begun: dict[str, Future[Row]] = {}
        with ThreadPoolExecutor() as pool:
            try:
                for part in parts:
                    for name in part.after:
                        begun[name].result()
                    with self.changed:
                        self.changed.wait_for(lambda: self.free > 0)
                        self.free -= part.cores
                    print(f"{part.name} ...", flush=True)
                    begun[part.name] = pool.submit(self._part, part)
                return [row.result() for row in begun.values()]
            except KeyboardInterrupt:
                self._stop()
                raise

    def _stop(self) -> None:
        with self.changed:
            self.stopped = True
            for process in self.running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGTERM)

    def _part(self, part: Part) -> Row:
        try:
            return self._all_of(part)
        finally:
            with self.changed:
                self.free += part.cores
                self.changed.notify()

    def _all_of(self, part: Part) -> Row:
        row, began = Row(part.name), time.monotonic()
        written = self.folder / f"{part.name.replace(': ', '-').replace(' ', '-')}.txt"
        with written.open("w", encoding="utf-8") as output:
            for number, command in enumerate(part.commands):
                self._command(command, part, row, output, written.with_suffix(f".{number}.xml"))
        row.seconds = time.monotonic() - began
        if row.failed and not self.stopped:
            said = f"\n{f' {part.name}: failed ':=^100}\n{written.read_text(encoding='utf-8')}"
            print(said, flush=True)
        else:
            print(f"{part.name}: {row.passed} passed, {row.seconds:.0f} s", flush=True)
        return row

    def _command(self, command, part, row, output, results) -> None:
        is_pytest = "pytest" in command
        if is_pytest:
            results.unlink(missing_ok=True)
            command = (*command, f"--junitxml={results}")
        with self.changed:
            if self.stopped:
                return
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment | part.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that it can be stopped with all that it has started
            )
            self.running.add(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        with self.changed:
            self.running.discard(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        row.cpu += usage.ru_utime + usage.ru_stime
        failed, is_done = row.failed, not process.returncode
        if not is_pytest:
            row.passed += is_done
        elif results.exists():
            row.count(results)
        else:
            is_done = False
        if not is_done and row.failed == failed:  # also what pytest counts as no test
            row.failed += 1
            output.write(f"ended with status {process.returncode}: {' '.join(command)}\n")


def table(rows: list[Row], seconds: float) -> str:
    """The table of the parts and of all, and on a line of its own what came of all.

    ``seconds`` is what they took together: some run side by side.
    """
    total = Row("all", seconds=seconds)
    for row in rows:
        for name in (*COLUMNS, "cpu"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
    lines = [("part", *COLUMNS, "seconds", "CPU s")]
    for row in (*rows, total):
        counts = (f"{getattr(row, name):,}" for name in COLUMNS)
        lines.append((row.part, *counts, f"{row.seconds:,.0f}", f"{row.cpu:,.0f}"))
    text = "\n".join(f"{first:<20}" + "".join(f"{x:>9}" for x in rest) for first, *rest in lines)
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    return f"{text}\n\n{total.passed} passed, {total.failed} failed{skipped}"


def chapter(name: str) -> Path | None:
    """The chapter of that number, name or file; None if there is none."""
    wanted = Path(name).name.removesuffix(".ipynb")
    for path in CHAPTERS.glob("*.ipynb"):
        if wanted in (path.stem, path.stem.partition("_")[0]):
            return path
    return None


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 1 if a test failed, 2 for a chapter that there is not."""
    parser = argparse.ArgumentParser(prog="python tests/parts.py")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rest", action="store_true", help="only the parts beyond `make test`")
    which.add_argument("--all", action="store_true", help="the parts of `make test`, then those")
    which.add_argument("--chapter", metavar="CHAPTER", help="what this one must pass")
    options = parser.parse_args(arguments)
    # NumPy's own threads would only get in the workers' way.
    environment, folder = {"OPENBLAS_NUM_THREADS": "1"}, FOLDER
    rows, began = [], time.monotonic()
    kept = FOLDER / "rows.json"
    if options.chapter is not None:
        path = chapter(options.chapter)
        if path is None:
            names = "\n".join(f"  {path.stem}" for path in sorted(CHAPTERS.glob("*.ipynb")))
            print(f"CHAPTER is the number or the name of one of these:\n{names}", file=sys.stderr)
            return 2
        parts, folder = of_chapter(path), FOLDER / path.stem
    else:
        # Nothing of another run: what is compiled is kept from part to part, but not longer.
        environment["GPULESS_CACHE"] = str(FOLDER / "cache")
        parts = REST if options.rest else FIRST + REST if options.all else FIRST
        if not options.rest:
            for made in (FOLDER, ROOT / "_build" / "kernels"):
                shutil.rmtree(made, ignore_errors=True)
        elif kept.exists():
            before = json.loads(kept.read_text(encoding="utf-8"))
            rows = [Row(**row) for row in before["first"]]
            began -= before["seconds"]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        rows += Runner(folder, environment).run(parts)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    seconds = time.monotonic() - began
    if parts is FIRST:
        first = {"first": [asdict(row) for row in rows], "seconds": seconds}
        kept.write_text(json.dumps(first), encoding="utf-8")
    print(f"\n{table(rows, seconds)}")
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
