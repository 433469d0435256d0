"""Hold the x-ray against the truth: a GPU's counters, and NVIDIA's detector of races.

python tests/xray_truth.py               where there are a GPU, ncu and compute-sanitizer: count
                                         the kernels of xray_cases.py both ways, look for races in
                                         them and in the chapters, store it all as the evidence
                                         "xray", say what differs
python tests/xray_truth.py --go-on       run again what chapters have not done, and those whose
                                         kernels are others by now: the x-ray and, where there is a
                                         GPU, racecheck
python tests/xray_truth.py --x-ray       x-ray all cases and chapters anew; no GPU is needed
python tests/xray_truth.py --explain     store anew why counts differ, in the words of
                                         xray_reasons.py
python tests/xray_truth.py --run N …     launch cases by their numbers (what those programs watch)
python tests/xray_truth.py --chapter F   run a chapter's cells; on the stand-in, x-ray its kernels

It is stored anew after every step, so what is cut off keeps what was done. The cases take about a
minute on 16 cores, racecheck of all chapters more than five; XRAY_TRUTH_SECONDS says how many
seconds it may take (600). With XRAY_TRUTH_CASES=fresh_cases it is about the kernels of that file,
without the chapters, and the evidence is "xray_fresh".
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

STARTED = time.monotonic()

import helpers  # noqa: E402  first: it decides who answers to `import cupy`

# isort: split
import cupy as cp  # noqa: E402
from xray_cases import SHARED, Case  # noqa: E402
from xray_reasons import POLLED, RACING  # noqa: E402

import gpuless  # noqa: E402
from helpers.press import evidence  # noqa: E402
from helpers.press.fingerprint import fingerprint  # noqa: E402

WHICH = os.environ.get("XRAY_TRUTH_CASES", "xray_cases")
CASES: dict[str, Case] = importlib.import_module(WHICH).CASES
FRESH = WHICH != "xray_cases"
NAME = "xray_fresh" if FRESH else "xray"
COMMAND = f"XRAY_TRUTH_CASES={WHICH} " * FRESH + "python tests/xray_truth.py"
ROOT = Path(__file__).parents[1]
SECONDS = float(os.environ.get("XRAY_TRUTH_SECONDS", "600"))
# What ncu calls our counts: of global and of shared memory.
_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_"
_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
_PASSES = "l1tex__data_pipe_lsu_wavefronts"
METRICS = {
    "global load requests": (f"{_REQUESTS}ld.sum",),
    "global load sectors": (f"{_SECTORS}ld.sum",),
    "global store requests": (f"{_REQUESTS}st.sum",),
    "global store sectors": (f"{_SECTORS}st.sum",),
    "global atomic requests": (f"{_REQUESTS}red.sum", f"{_REQUESTS}atom.sum"),
    "global atomic sectors": (f"{_SECTORS}red.sum", f"{_SECTORS}atom.sum"),
    "shared load passes": (f"{_PASSES}_mem_shared_op_ld.sum",),
    "shared store passes": (f"{_PASSES}_mem_shared_op_st.sum",),
}
# Counted besides. Of asynchronous copies, where ncu has counters of their own. Of L1's data: the
# passes of all kinds of access together, for none tells those of global loads alone. Of L1's tags,
# where it looks up lines: those of global loads.
COPIES = {
    "global copy requests": (f"{_REQUESTS}ldgsts.sum",),
    "global copy sectors": (f"{_SECTORS}ldgsts.sum",),
}
BESIDES = {
    **COPIES,
    "all passes": (f"{_PASSES}.sum",),
    "global load tag passes": ("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",),
}


def left() -> float:
    """Seconds that are left."""
    return SECONDS - (time.monotonic() - STARTED)


def say(*words) -> None:
    print(f"[{time.monotonic() - STARTED:5.1f} s]", *words, flush=True)


def name_of(number: int) -> str:
    """The name of the kernel of a case, by the case's place in CASES."""
    return f"case_{number:02}"


def xrayed(case: Case) -> tuple[dict[str, int], list[str]]:
    """Our counts by the names of METRICS, and the memories ("shared", "global") that have races."""
    found = helpers.xray(case.kernel(), case.grid, case.block, case.arguments())
    counts = {}
    for name in METRICS:
        where, kind, what = name.split()
        counts[name] = found.total(what, kind=kind, shared=where == "shared")
        if name.startswith("global load"):  # ncu's counter has those of asynchronous copies
            counts[name] += found.total(what, kind="copy", shared=False)
    counts["L1 load passes"] = found.total("passes", kind="load")
    for name in COPIES if any(a.kind == "copy" for a in found.accesses) else ():
        counts[name] = found.total(name.split()[2], kind="copy")
    races = {"shared" if r.shared else "global" for r in found.races if not r.harmless}
    return counts, sorted(races)


def counters(text: str) -> dict[int, dict[str, int]]:
    """By the number of the case, the counts in what ``ncu --csv`` prints.

    ncu has a line for each metric or, as its page "raw", a column; what it could not count is left
    out.
    """
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    values: dict[int, dict[str, float]] = {}
    if first is None:
        return {}
    for row in csv.DictReader(lines[first:]):
        found = re.search(r"case_(\d+)", row.get("Kernel Name") or "")
        if not found:
            continue
        told = {row["Metric Name"]: row["Metric Value"]} if "Metric Name" in row else row
        for metric, value in told.items():
            try:
                number = float((value or "").replace(",", ""))
            except ValueError:
                continue
            values.setdefault(int(found[1]), {})[metric] = number
    counts: dict[int, dict[str, int]] = {}
    for number, metrics in values.items():
        counts[number] = {
            name: round(sum(metrics[m] for m in wanted))
            for name, wanted in (METRICS | BESIDES).items()
            if all(m in metrics for m in wanted)
        }
    return counts


def reported(text: str) -> dict[int | None, list[str]]:
    """By the number of the case, racecheck's reports; under None those that name no case."""
    found: dict[int | None, list[str]] = {}
    for block in re.split(r"(?m)^(?==+ (?:Error|Warning): )", text):
        if "Race reported" in block:
            report = " ".join(block.replace("=", " ").split("RACECHECK SUMMARY")[0].split())
            case = re.search(r"case_(\d+)", report)
            found.setdefault(int(case[1]) if case else None, []).append(report[:300])
    return found


def launch(numbers: list[int]) -> None:
    """Launch cases once each; say of each how it went."""
    cases = list(CASES.values())
    for number in numbers:
        case = cases[number]
        try:
            case.kernel(name_of(number))(case.grid, case.block, case.arguments())
            cp.cuda.Device().synchronize()
            print("launched", number, flush=True)
        except Exception as error:  # the others are launched all the same
            print("failed", number, error, flush=True)


def command(*words: str) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), *words]


def watched(tool: list[str], arguments: list[str], seconds: float, **environment: str) -> str:
    """What a program prints while a tool watches it, for so many seconds at most."""
    if tool and not shutil.which(tool[0]):
        return f"failed: there is no {tool[0]}\n"
    if seconds < 2:
        return "cut off: out of time\n"
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [*tool, *command(*arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=ROOT,
        start_new_session=True,
        env={
            **os.environ,
            "LC_ALL": "C",
            "MPLBACKEND": "Agg",
            "OPENBLAS_NUM_THREADS": "2",
            "PYTHONPATH": os.pathsep.join(paths),
            **environment,
        },
    )
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + "\ncut off: out of time\n"


def ncu(metrics: list[str]) -> list[str]:
    return [
        *("ncu", "--csv", "--print-units", "base", "--clock-control", "none"),
        *("--target-processes", "all", "--kernel-name", "regex:case_"),
        *("--metrics", ",".join(metrics)),
    ]


def profiled() -> str:
    """What ncu prints for all cases; a metric that it does not know is left out."""
    metrics = [m for several in (METRICS | BESIDES).values() for m in several]
    for _ in range(3):
        text = all_watched(
            ncu(metrics), min(75, left() - 40), lambda case: getattr(case, "counted", True)
        )
        unknown = [m for m in metrics if re.search(rf"(?i)(?:find|unknown).*{re.escape(m)}", text)]
        if not unknown or counters(text):
            break
        say("ncu does not know", unknown)
        metrics = [m for m in metrics if m not in unknown]
    return text


RACECHECK = [
    *("compute-sanitizer", "--tool", "racecheck"),
    *("--racecheck-report", "analysis", "--print-limit", "1000"),
]


XRAY = {"x-ray": ([], "always")}


def chapter_watched(book: Path, tool: list[str], choice: str, gpu: int = 0) -> str:
    """What is printed when a chapter runs at its small sizes, within the time that is left."""
    environment = {
        "HELPERS_SIZES": "cpu",
        "CUPY_STANDIN": choice,
        "CUDA_VISIBLE_DEVICES": str(gpu),
    }
    return watched(tool, ["--chapter", str(book)], left() - 5, **environment)


def all_watched(tool: list[str], seconds: float, wanted=lambda case: True) -> str:
    """Every case under a tool: in one process and, where one of them ended it, the rest anew."""
    numbers = [n for n, case in enumerate(CASES.values()) if wanted(case)]
    text, end = "", time.monotonic() + seconds
    while numbers and time.monotonic() < end - 5:
        new = watched(tool, ["--run", *map(str, numbers)], end - time.monotonic())
        text += new
        done = [int(n) for n in re.findall(r"^launched (\d+)", new, re.MULTILINE)]
        if not done:
            say(f"{tool[0]}: nothing was launched:\n{new[-1500:]}")
            break
        # The first that was not launched may be the culprit: it is given up.
        numbers = [n for n in numbers if n not in done][1:]
    for line in re.findall(r"(?m)^(?:failed .*|==ERROR==.*|==WARNING==.*)$", text)[:12]:
        say(tool[0], line[:300])
    return text


def kernels_of(stem: str) -> str:
    """A chapter's kernels, as the subject of a receipt."""
    return f"notebooks/{stem}.ipynb#kernels"


def write(results: dict) -> None:
    """Store all of it, with what differs."""
    finish(results)
    data = {key: value for key, value in results.items() if key != "receipt"}
    evidence.store(NAME, data, results["receipt"])


def explain() -> None:
    """Find and explain the differences in what is stored anew; say what is left."""
    results = evidence.load(NAME)
    write(results)
    summary(results)


class Results:
    """What is stored."""

    def __init__(self):
        books = [] if FRESH else sorted((ROOT / "notebooks").glob("*.ipynb"))
        about = [f"tests/{WHICH}.py", *(kernels_of(book.stem) for book in books)]
        made = evidence.receipt(COMMAND, bookkeeping(), about)
        self.all = {"receipt": made, "cases": {name: {} for name in CASES}, "chapters": {}}
        for name, case in CASES.items():
            self.all["cases"][name]["planted"] = case.races

    def case(self, name: str, **found) -> None:
        self.all["cases"][name].update(found)

    def take(self, name: str, job) -> None:
        """What became of the x-ray of a case."""
        try:
            counts, races = job.result()
            self.case(name, **{"x-ray": counts, "races": races})
        except Exception as error:
            self.case(name, error=f"{type(error).__name__}: {error}"[:400])
            say(name, "not x-rayed:", str(error)[:300])

    def save(self) -> None:
        write(self.all)


def bookkeeping() -> dict[str, str]:
    from gpuless.engine import compiler
    from helpers import device

    def version(tool: str) -> str:
        if not shutil.which(tool):
            return "not found"
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
        found = re.search(r"(?i)version (\d[\w.]*)", done.stdout)
        return found[1] if found else done.stdout.strip()[-80:]

    try:
        gxx = compiler.find_compiler().version.splitlines()[0]
    except RuntimeError as error:
        gxx = str(error)
    return {
        "gpu": device.device_name(),
        "driver": device.driver_version(),
        "cuda": device.cuda_version(),
        "cupy": cp.__version__,
        "ncu": version("ncu"),
        "compute-sanitizer": version("compute-sanitizer"),
        "compiler": gxx,
    }


def finish(results: dict) -> None:
    """Add what differs: in each case, the largest of all, and what is not explained."""
    worst, where, open_ones = 0.0, "", []
    for name, found in results["cases"].items():
        ours, theirs = found.get("x-ray"), found.get("counters")
        if ours is None or theirs is None:
            continue
        differs = {k: [v, theirs[k]] for k, v in ours.items() if k in theirs and v != theirs[k]}
        found["differs"] = differs
        found["explained"] = CASES[name].why if differs else ""
        for count, (a, b) in differs.items():
            share = abs(a - b) / max(a, b)
            if share > worst:
                worst, where = share, f"{name}: {count}, {a} against {b}"
        if differs and not found["explained"]:
            open_ones.append(name)
    for stem, kinds in results["chapters"].items():
        for kind, said, why in (("racecheck", "reports", POLLED), ("x-ray", "races", RACING)):
            if found := kinds.get(kind):
                found["explained"] = why.get(stem, "") if found[said] else ""
                if found[said] and not found["explained"]:
                    open_ones.append(f"{stem}, {kind}")
    results["worst difference"] = {"share": round(worst, 4), "where": where}
    results["not explained"] = open_ones


@contextlib.contextmanager
def _xrays_are_no_launches(noted: list):
    """A chapter may x-ray a kernel that races, and show it: that is not noted."""
    before = helpers.xray

    def xray(*args, **keywords):
        count = len(noted)
        try:
            return before(*args, **keywords)
        finally:
            del noted[count:]

    helpers.xray = xray
    try:
        yield
    finally:
        helpers.xray = before


def chapter(path: str) -> None:
    """Run a chapter's cells; where ``cupy`` is the stand-in, x-ray its kernels and print races."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from gpuless.xray import watch

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    os.chdir(Path(path).parent)
    noting = watch.launches(chapter) if gpuless.is_active() else contextlib.nullcontext([])
    with noting as noted, _xrays_are_no_launches(noted):
        for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                done = shell.run_cell("".join(cell["source"]))
                if done.error_before_exec or done.error_in_exec:
                    print("\nfailed:", done.error_before_exec or done.error_in_exec, flush=True)
    print("\nkernels:", len(noted), flush=True)
    for job in noted:
        if found := watch.first_race([job]):
            print(f"race: {found[0]}: {found[1]}", flush=True)
    print("chapter done", flush=True)


def chapter_found(text: str) -> dict:
    """What ``chapter`` printed."""
    kernels = re.search(r"(?m)^kernels: (\d+)$", text)
    return {
        "done": "chapter done" in text,
        "kernels": int(kernels[1]) if kernels else None,
        "races": re.findall(r"(?m)^race: (.*)$", text),
        "failed": re.findall(r"(?m)^failed: (.*)$", text)[:3],
        "reports": [r for several in reported(text).values() for r in several][:5],
    }


def main() -> None:
    """Count every case both ways, look for races, and store what comes out."""
    results = Results()
    say(results.all["receipt"]["on"])
    names = list(CASES)
    books = [] if FRESH else sorted((ROOT / "notebooks").glob("*.ipynb"))
    pool = ThreadPoolExecutor(2 if gpuless.is_active() else 1 + os.cpu_count())
    jobs, tasks = {}, {}
    profiling = pool.submit(profiled)
    try:
        first = xrayed(CASES[names[0]])  # alone: it builds what the others share
        say("the first x-ray:", first)
        jobs = {pool.submit(xrayed, CASES[name]): name for name in names}
        for book in books:  # after the cases, beside what the GPU does
            task = pool.submit(chapter_watched, book, [], "always")
            tasks[task] = book.stem, "x-ray"
    except Exception:
        say("the x-ray fails:\n" + traceback.format_exc())
    text = profiling.result()
    for number, counts in counters(text).items():
        results.case(names[number], counters=counts)
    say("counters of", len(counters(text)), "of", len(names), "cases")
    if not counters(text):
        say(text[-2000:])
    results.save()
    try:
        for job in as_completed(jobs, timeout=max(1, left() - 40)):
            results.take(jobs[job], job)
    except TimeoutError:
        say("some cases are not x-rayed yet")
    results.save()
    text = all_watched(RACECHECK, min(60 if books else 90, left() - 20))
    reports = reported(text)
    launched = {int(n) for n in re.findall(r"(?m)^launched (\d+)", text)}
    if None in reports:  # they name no kernels: somebody has to read them
        results.all["racecheck said"] = text[:20000]
        say("racecheck names no kernels:", reports[None][0])
    else:
        for number in launched:
            results.case(names[number], racecheck=reports.get(number, [])[:3])
    say("racecheck on", len(launched), "cases:", len(reports), "with reports")
    results.save()
    n_gpus = cp.cuda.runtime.getDeviceCount()
    for number, book in enumerate(books):
        task = pool.submit(chapter_watched, book, RACECHECK, "never", number % n_gpus)
        tasks[task] = book.stem, "racecheck"
    take_chapters(tasks, results.all, results.save)
    for job, name in jobs.items():
        if job.done() and "x-ray" not in results.all["cases"][name]:
            results.take(name, job)
    results.save()
    summary(results.all)
    sys.stdout.flush()
    os._exit(0)  # without those that may still be at work


def take_chapters(tasks: dict, results: dict, save) -> None:
    """Bring what became of chapters into the results, one by one; tasks: (chapter, kind)."""
    for task in as_completed(tasks):
        stem, kind = tasks[task]
        found = chapter_found(task.result())
        results["chapters"].setdefault(stem, {})[kind] = found
        say(stem, kind, {k: v for k, v in found.items() if v not in ([], None)})
        save()


def go_on(kinds: dict | None = None, every: bool = False) -> None:
    """Run again what chapters have not done, and those whose kernels have changed, or `every` one
    and every case.

    These are as stored, and no longer stale, when racecheck has seen them too: that takes a GPU.
    """
    results = evidence.load(NAME)
    about = results["receipt"]["about"]
    books = [] if FRESH else sorted((ROOT / "notebooks").glob("*.ipynb"))
    for stem in results["chapters"].keys() - {book.stem for book in books}:
        del results["chapters"][stem]  # there is no such chapter any more
        about.pop(kernels_of(stem), None)
    if kinds is None:
        kinds = XRAY if gpuless.is_active() else XRAY | {"racecheck": (RACECHECK, "never")}
    for name in CASES if every else ():
        counts, races = xrayed(CASES[name])
        results["cases"][name] |= {"x-ray": counts, "races": races}
    tasks, n_gpus = {}, cp.cuda.runtime.getDeviceCount()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for book in books:
            subject = kernels_of(book.stem)
            same = fingerprint(subject) == about.get(subject)
            if not same:  # what was found of other kernels says nothing of these
                results["chapters"].pop(book.stem, None)
            for kind, (tool, choice) in kinds.items():
                if (
                    same
                    and not every
                    and results["chapters"].get(book.stem, {}).get(kind, {}).get("done")
                ):
                    continue
                task = pool.submit(chapter_watched, book, tool, choice, len(tasks) % n_gpus)
                tasks[task] = book.stem, kind
        take_chapters(tasks, results, lambda: write(results))
    again = {stem for stem, kind in tasks.values() if kind == "racecheck"}
    about |= {kernels_of(stem): fingerprint(kernels_of(stem)) for stem in sorted(again)}
    write(results)
    summary(results)


def summary(results: dict) -> None:
    for name, found in results["cases"].items():
        words = [f"{k} {a} / {b}" for k, (a, b) in found.get("differs", {}).items()]
        counted = "x-ray" in found and "counters" in found
        ours, theirs = SHARED in found.get("races", []), bool(found.get("racecheck"))
        planted = found["planted"] == SHARED
        if "racecheck" in found and not ours == theirs == planted:
            words.append(f"races: x-ray {ours}, racecheck {theirs}, planted {planted}")
        print(f"{name}: {'; '.join(words) or ('equal' if counted else 'not counted')}")
    print("worst difference:", results["worst difference"])
    print("not explained:", results["not explained"])


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--run":
        launch([int(word) for word in sys.argv[2:]])
    elif len(sys.argv) == 3 and sys.argv[1] == "--chapter":
        chapter(sys.argv[2])
    elif sys.argv[1:] == ["--go-on"]:
        go_on()
    elif sys.argv[1:] == ["--x-ray"]:
        go_on(XRAY, every=True)
    elif sys.argv[1:] == ["--explain"]:
        explain()
    elif not sys.argv[1:]:
        main()
    else:
        sys.exit(__doc__)
