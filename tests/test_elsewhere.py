"""Machines that others lend: what Binder and a codespace install gives a book that runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import helpers, cupy as cp
kernel = cp.ElementwiseKernel("T x", "T y", "y = 3 * x + 1", "triple")
print(kernel(cp.arange(5)).tolist())
"""


@pytest.fixture
def clone(tmp_path):
    """Return the folder of a fresh clone: what is committed, and nothing else."""
    folder = tmp_path / "book"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    return folder


def runs(python, folder):
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    ran = subprocess.run(
        [python, "-c", PROGRAM], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def with_first(python):
    """Return an environment in which `python` is the one that is found first."""
    return {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPATH": ""}


@pytest.mark.long
def test_what_binder_installs_runs_a_kernel(clone, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*install, "-r", "binder/requirements.txt"], cwd=clone, check=True)
    assert "[1, 4, 7, 10, 13]" in runs(python, clone / "notebooks")
    subprocess.run(["bash", "binder/postBuild"], cwd=clone, check=True, env=with_first(python))
    assert '"mine"' in (clone / "first_kernel.ipynb").read_text().replace("\\", "")
    lab = [python, "-m", "jupyterlab", "--version"]
    assert subprocess.run(lab, capture_output=True, check=True).stdout[:1] >= b"4"


@pytest.mark.long
def test_what_a_codespace_installs_runs_a_kernel(clone):
    container = json.loads((clone / ".devcontainer" / "devcontainer.json").read_text())
    command = container["postCreateCommand"].split()
    subprocess.run([*command, f"PYTHON={sys.executable}"], cwd=clone, check=True)
    settings = container["customizations"]["vscode"]["settings"]
    python = settings["python.defaultInterpreterPath"].replace(
        "${containerWorkspaceFolder}", str(clone)
    )
    assert "[1, 4, 7, 10, 13]" in runs(python, clone / "notebooks")


def test_binder_takes_the_versions_that_are_tested_and_a_python_that_is():
    lines = (ROOT / "binder" / "requirements.txt").read_text().splitlines()
    assert "--constraint ../constraints.txt" in lines
    asked = {re.split(r"[><=\[]", line)[0] for line in lines if line and line[0] not in "#-"}
    tested = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().split()}
    assert asked <= tested
    version = (ROOT / "binder" / "runtime.txt").read_text().removeprefix("python-")
    assert (3, 11) <= tuple(map(int, version.split("."))) <= (3, 13)
