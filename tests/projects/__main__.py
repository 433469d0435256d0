"""Run other people's projects, their kernels and their own tests, on the stand-in alone.

python -m tests.projects            all, compared with what is stored; status 1 if it differs
python -m tests.projects --store    the same, and store it
python -m tests.projects thinc ...  these alone

What is stored is the evidence "projects". A project that cannot be fetched, since the package index
is out of reach or has nothing of it for this Python, is skipped and said so.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from helpers.press import evidence

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "_build" / "projects"
PROJECTS = {p["name"]: p for p in tomllib.loads((HERE / "projects.toml").read_text())["project"]}
NAME, COMMAND = "projects", "python -m tests.projects --store"
ABOUT = ["tests/projects/*", "standin/gpuless/engine/**/*", "standin/gpuless/packages/**/*"]
ABOUT += ["standin/gpuless/names.toml"]
REFUSED = re.compile(r"([\w.]+) is not covered by the CPU stand-in")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Unavailable(Exception):
    """The project cannot be had here."""


def pip(python: Path, *arguments: str | Path) -> None:
    """Run pip in an environment; Unavailable with its last line where it fails."""
    command = [python, "-m", "pip", *arguments]
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(([*done.stderr.strip().splitlines()] or ["pip failed"])[-1])


def prepare(project: dict, folder: Path) -> tuple[Path, Path]:
    """An environment with the stand-in, the project and what its tests need: its Python, and where
    the project lies. Unavailable where that cannot be made.
    """
    if PYTHON not in project.get("pythons", [PYTHON]):
        raise Unavailable(f"there is no wheel of it for Python {PYTHON}")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python, source = folder / "venv" / "bin" / "python", folder / "source"
    standin = shutil.copytree(
        ROOT / "standin", folder / "standin", ignore=shutil.ignore_patterns("build", "*.egg-info")
    )
    pip(python, "install", "--quiet", f"{standin}[scipy]", "pytest", *project["needs"])
    fixed = f"{project['name']}=={project['version']}"
    text = fixed + "".join(f" --hash=sha256:{one}" for one in project["hashes"])
    wanted = folder / "requirement.txt"
    wanted.write_text(text, encoding="utf-8")
    source.mkdir()
    if project.get("wheel"):
        pip(python, "install", "--quiet", "--no-deps", "--only-binary", ":all:", "-r", wanted)
        pip(python, "install", "--quiet", fixed)  # and what it depends on
        (source / "pytest.ini").write_text("[pytest]\n")  # or the book's settings would count
        return python, source
    fetch = ("download", "--quiet", "--no-deps", "--no-binary", project["name"])
    pip(python, *fetch, "--dest", folder, "-r", wanted)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(source, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = source.iterdir()
    if "build" in project:
        done = subprocess.run([python, *project["build"]], cwd=source, capture_output=True)
        if done.returncode:
            raise Unavailable(f"it does not build: {done.stderr.decode()[-300:]}")
    return python, source


def run(project: dict, python: Path, source: Path, folder: Path) -> tuple[Counter, int]:
    """Its tests on the stand-in: how many of each outcome, and how many kernel sources it had."""
    results, kernels = folder / "results.xml", folder / "kernels"
    kernels.mkdir()
    path = [source / one for one in project.get("path", [])]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CUPY_", "PYTEST_"))}
    environment |= {
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONHASHSEED": "0",
        "CUPY_STANDIN": "always",
        "CUPY_STANDIN_LISTENER": str(HERE / "listener.py"),
        "PROJECT_KERNELS": str(kernels),
    }
    command = [python, "-m", "gpuless", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-W", "ignore", f"--junitxml={results}", *project["tests"]]
    with (folder / "said.txt").open("w") as said:
        subprocess.run(
            command, cwd=source, env=environment, stdout=said, stderr=said, timeout=900, check=False
        )
    return outcomes(results, project.get("reasons", {})), len(list(kernels.iterdir()))


def outcomes(results: Path, reasons: dict[str, str]) -> Counter:
    """{"passed", "skipped", "refused: what is not covered" or "failed: why": number} of the cases
    that pytest wrote down. Of a file that cannot be read the whole counts once.
    """
    found: Counter = Counter()
    for case in ElementTree.parse(results).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        if bad:
            text = f"{bad[0].get('message')}\n{bad[0].text}"
            refused = REFUSED.search(text)
            why = next((why for piece, why in reasons.items() if piece in text), "not explained")
            found[f"refused: {refused[1]}" if refused else f"failed: {why}"] += 1
        else:
            found["skipped" if case.find("skipped") is not None else "passed"] += 1
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m tests.projects")
    parser.add_argument("names", nargs="*", metavar="project", help=", ".join(PROJECTS))
    parser.add_argument("--store", action="store_true", help="store what was found")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(PROJECTS):
        parser.error(f"no such project: {', '.join(sorted(unknown))}")
    before = (evidence.load(NAME) or {"projects": {}})["projects"]
    found, bad = {}, False
    for name in options.names or PROJECTS:
        project, folder = PROJECTS[name], FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            counts, kernels = run(project, *prepare(project, folder), folder)
        except Unavailable as error:
            print(f"{name}: skipped: {error}", flush=True)
            continue
        found[name] = {
            "version": project["version"],
            "about": project["about"],
            "kernels": kernels,
            "cases": dict(sorted(counts.items())),
        }
        differs = not options.store and before.get(name) != found[name]
        said = "; ".join(f"{count} {label}" for label, count in found[name]["cases"].items())
        print(f"{name}: {kernels} kernels; {said}" + " (not as stored)" * differs, flush=True)
        bad |= differs or any("not explained" in label for label in counts) or not counts
    if options.store and not bad:
        made = evidence.receipt(COMMAND, evidence.cpu(), ABOUT)
        evidence.store(
            NAME,
            {
                "projects": {
                    n: found.get(n) or before[n] for n in PROJECTS if n in found or n in before
                }
            },
            made,
        )
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
