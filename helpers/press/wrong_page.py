"""The page "When it goes wrong": what the programs of helpers/programs/wrong said, and where.

python -m helpers.press.wrong_page --record     run those that this machine can run, store it

On a machine with a GPU it stores the evidence "messages" (two minutes; with what compute-sanitizer
says of four programs, where it is installed), on one without a driver but with CuPy the evidence
"messages_no_driver" (half a minute). What the stand-in says is not stored: the build runs it.
"""

import argparse
import functools
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder
from pathlib import Path

from helpers import device, report
from helpers.press import evidence, notebook
from helpers.programs import wrong
from helpers.programs.wrong import say

NAMES = {wrong.GPU: "messages", wrong.NO_DRIVER: "messages_no_driver"}
COMMAND = "python -m helpers.press.wrong_page --record"
SAY = wrong.FOLDER / "say.py"
WAIT = 120  # seconds for a program
ENDLESS = {("endless", "wrong"): 30, ("hang", "wrong"): 30}  # of which CuPy needs some to start
TIMED = ("first_call", "clock_too_fast")  # run with nothing beside them
AT_ONCE = 4  # the others
SHIPPED = ("cupy", "cupy_backends", "cupyx", "fastrlock", "numpy")  # of what CuPy needs to start
NOT_YET = "What a GPU says is not recorded yet."


def record():
    """Run what this machine can run, store it as evidence; return the name of that."""
    where = wrong.GPU if device.on_gpu else wrong.NO_DRIVER
    names = [name for name, places in wrong.PROGRAMS.items() if where in places]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        environment = {**os.environ, "CUPY_CACHE_DIR": str(scratch / "cache")}
        parts = [
            (name, part)
            for name in sorted(names, key=lambda name: name not in TIMED)
            for part in say.parts(wrong.path(name))
            if part != "setup" and (part == "wrong" or where == wrong.GPU)
        ]
        timed = [job for job in parts if job[0] in TIMED]
        said = [_said(*job, environment, scratch) for job in timed]
        others = [job for job in parts if job not in timed]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            said += pool.map(lambda job: _said(*job, environment, scratch), others)
        found = {name: {} for name in names}
        for (name, part), words in zip(timed + others, said, strict=True):
            found[name][part] = words
        checked, version = _sanitized(environment) if where == wrong.GPU else ({}, None)
    on = report.facts() if where == wrong.GPU else _without()
    on.pop("date", None)
    if version:
        on["compute-sanitizer"] = version
    about = [str(path.relative_to(notebook.BOOK)) for path in map(wrong.path, names)]
    made = evidence.receipt(COMMAND, on, [str(SAY.relative_to(notebook.BOOK)), *about])
    evidence.store(NAMES[where], {"said": found} | ({"checked": checked} if checked else {}), made)
    return NAMES[where]


def _without():
    """What a machine without a driver is, for the receipt."""
    [cupy] = _wheels()
    return {
        "gpu": "none",
        "driver": "none",
        "cupy": f"{cupy.version} ({cupy.name})",
        "python": platform.python_version(),
    }


def _wheels():
    """The distributions of CuPy that are installed."""
    found = {d.name: d for d in importlib.metadata.distributions() if d.name.startswith("cupy")}
    return list(found.values())


def _said(name, part, environment, scratch):
    """What the program says in a process of its own, as say.run() has it; and "stopped", where it
    had to be stopped.
    """
    start, environment = [sys.executable], dict(environment)
    path = environment.get("PYTHONPATH", "")
    if name == "two_wheels":
        folder = _second_wheel(scratch / "two")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), path]))
    if name == "no_nvrtc":
        for variable in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
            environment.pop(variable, None)
        environment["PYTHONPATH"] = str(_bare(scratch / "bare"))
        start += ["-S"]
    wait = ENDLESS.get((name, part), WAIT)
    command = [*start, str(SAY), str(wrong.path(name)), part]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=wait
        )
    except subprocess.TimeoutExpired:
        return {"printed": "", "warned": "", "error": "", "stopped": f"after {wait} s"}
    lines = done.stdout.splitlines()
    answer = [line for line in lines if line.startswith('{"printed"')]
    if not answer:
        raise RuntimeError(f"{name}: no answer, status {done.returncode}\n{done.stderr}")
    words = json.loads(answer[0])
    # A kernel prints past Python's stdout, also after it, and an assert in a kernel to stderr.
    printed = [line for line in lines if line.strip() and line not in answer]
    device_says = re.findall(r".*Assertion.*", done.stderr)
    words["printed"] = "\n".join(filter(None, [words["printed"], *printed, *device_says]))
    return {key: _without_paths(text, scratch) for key, text in words.items()}


def _without_paths(text, scratch):
    """`text` without the folders of this machine and of this run."""
    text = re.sub(r"/\S*?/tmp\w+/\w+\.cubin\.cu\b", "kernel.cu", text)
    for folder in (scratch, tempfile.gettempdir(), notebook.BOOK, Path.home(), sys.prefix):
        text = text.replace(f"{folder}/", "")
    return text


def _second_wheel(folder):
    """A folder that says of the other build of CuPy that it is installed, too."""
    [ours] = _wheels()
    other = "cupy-cuda12x" if "13" in ours.name else "cupy-cuda13x"
    info = folder / f"{other.replace('-', '_')}-{ours.version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {other}\nVersion: {ours.version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    return folder


def _bare(folder):
    """A folder with CuPy and what it needs to be imported, and none of NVIDIA's libraries."""
    (folder / "cuda").mkdir(parents=True, exist_ok=True)
    for name in SHIPPED:
        [place] = PathFinder.find_spec(name).submodule_search_locations[:1]
        links = [Path(place), Path(f"{place}.libs")]
        for link in links:
            if link.exists() and not (folder / link.name).exists():
                (folder / link.name).symlink_to(link)
    for place in PathFinder.find_spec("cuda").submodule_search_locations:
        if (Path(place) / "pathfinder").exists() and not (folder / "cuda" / "pathfinder").exists():
            (folder / "cuda" / "pathfinder").symlink_to(Path(place) / "pathfinder")
    return folder


def _sanitized(environment):
    """What compute-sanitizer says of the programs that name a tool of it, and its version; ({},
    None) where it is not installed.
    """
    tool = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if tool is None:
        return {}, None
    checks = [
        (name, *checkers)
        for name, places in wrong.PROGRAMS.items()
        if (checkers := set(places) & set(wrong.TOOLS))
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(lambda check: _checked(tool, *check, environment), checks)
        found = {name: said for (name, _), said in zip(checks, told, strict=True)}
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    return found, next(iter(re.findall(r"[Vv]ersion (\S+)", version)), "unknown")


def _checked(tool, name, checker, environment):
    """What one tool of compute-sanitizer says of one program."""
    options = ["--tool", checker, "--show-backtrace", "no", "--print-limit", "2"]
    command = [tool, *options, sys.executable, str(SAY), str(wrong.path(name))]
    run = {"env": environment, "capture_output": True, "text": True, "timeout": 5 * WAIT}
    done = subprocess.run(command, **run)
    lines = (done.stdout + done.stderr).splitlines()
    told = [line for line in lines if line.startswith("=========")]
    if not any("SUMMARY" in line for line in told):
        raise RuntimeError(f"{checker} of {name}:\n{done.stdout}\n{done.stderr}")
    return {"tool": checker, "said": _without_paths("\n".join(told), "/nowhere")}


@functools.cache
def standin():
    """Return {program: {"wrong": …, "mended": …}}: what the stand-in says, run now."""
    command = [sys.executable, "-m", "helpers.programs.wrong"]
    run = {"env": {**os.environ, "CUPY_STANDIN": "always"}, "cwd": notebook.BOOK, "text": True}
    done = subprocess.run(command, capture_output=True, **run)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def text(said):
    """Return what a program said, in the order in which it stands in a notebook."""
    stopped = said.get("stopped")
    ended = f"(nothing more; it was stopped {stopped})" if stopped else ""
    return "\n".join(filter(None, [said["printed"], said["warned"], said["error"], ended]))


def fragment(name):
    """Return one program and what it said everywhere, as Markdown."""
    parts, places = say.parts(wrong.path(name)), wrong.PROGRAMS[name]
    code = "\n\n".join(filter(None, [parts.get("setup", ""), parts["wrong"]]))
    pieces = [_code(code)]
    if wrong.STANDIN in places:
        pieces += ["On the stand-in:", _message(text(standin()[name]["wrong"]))]
    for place, stored in NAMES.items():
        if place in places:
            pieces += _recorded(name, evidence.load(stored))
    if "mended" in parts:
        pieces += ["Mended:", _code(parts["mended"])]
    return "\n\n".join(pieces)


def _recorded(name, stored):
    if stored is None or name not in stored["said"]:
        return [NOT_YET]
    on = stored["receipt"]["on"]
    machine = on["gpu"] if on["gpu"] != "none" else "a machine without a driver"
    said = text(stored["said"][name]["wrong"]) or "(nothing)"
    pieces = [f"On {machine}, with CuPy {on['cupy'].split()[0]}:", _message(said)]
    if checked := stored.get("checked", {}).get(name):
        tool = f"`compute-sanitizer --tool {checked['tool']}`"
        pieces += [f"Under {tool}:", _message(checked["said"])]
    return pieces


def _code(code):
    return f"```python\n{code}\n```"


def _message(said):
    """A block of text whose long lines wrap."""
    return f"```{{code-block}} text\n:class: message\n{said}\n```"


def fragments():
    """Return {program: its fragment}, for the page to include."""
    return {name: fragment(name) for name in wrong.PROGRAMS if name != "words"}


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.wrong_page")
    parser.add_argument("--record", action="store_true", required=True, help="run and store")
    parser.parse_args(arguments)
    if not device.on_gpu and not _wheels():
        print("wrong_page: there is neither a GPU nor CuPy here", file=sys.stderr)
        return 1
    print(f"stored: {evidence.path(record())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
