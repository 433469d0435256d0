"""The stand-in installed alone, into an empty environment, without the book: its own tests there,
its example, and the commands that the example's README and workflow name.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

STANDIN = Path(__file__).parents[1] / "standin"
EXAMPLE = STANDIN / "example"
INSTALLS = re.compile(
    r'pip install pytest "gpuless\[compiler\] @ git\+https://\S+#subdirectory=standin"'
)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The Python of an environment that has the stand-in, pytest and what they ask for."""
    folder = tmp_path_factory.mktemp("alone")
    made = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    shutil.copytree(STANDIN, folder / "standin", ignore=made)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", folder / "standin", "pytest"]
    subprocess.run(command, check=True)
    return python


def run(python, *command, cwd):
    """What a command gives in the environment, in which `python` is the environment's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CUPY_", "PYTEST_"))}
    environment["PATH"] = os.pathsep.join([str(python.parent), environment["PATH"]])
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [*command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def example(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example"))


def test_the_book_is_not_there(alone, tmp_path):
    names = "helpers matplotlib IPython skimage".split()
    code = f"import importlib.util as u; print([n for n in {names} if u.find_spec(n)])"
    assert run(alone, alone, "-c", code, cwd=tmp_path).stdout == "[]\n"


def test_its_own_tests_pass_there(alone, tmp_path):
    done = run(alone, alone, "-m", "pytest", "-q", STANDIN / "tests", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert re.search(r"\b\d\d+ passed", done.stdout) and "skipped" not in done.stdout


def test_what_the_example_says_to_run(alone, example):
    said = (EXAMPLE / "README.md").read_text("utf-8")
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", said, re.DOTALL)).splitlines()
    install, first, plant, second = filter(None, lines)
    assert INSTALLS.fullmatch(install)
    done = run(alone, "sh", "-c", first, cwd=example)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert "gpuless: `cupy` is the CPU stand-in" in done.stdout
    assert run(alone, "sh", "-c", plant, cwd=example).returncode == 0
    done = run(alone, "sh", "-c", second, cwd=example)
    assert done.returncode == 1 and "1 failed" in done.stdout
    quoted = re.search(r"^> (.*)", said, re.M)[1]
    assert quoted in done.stdout


def test_the_examples_workflow_runs_its_tests_on_both(alone, example):
    workflow = yaml.safe_load((EXAMPLE / ".github/workflows/ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["tests"]
    assert [one["cupy"] for one in job["strategy"]["matrix"]["include"]] == [
        "",
        "cupy-cuda13x[ctk]",
    ]
    install, tests = (step["run"] for step in job["steps"] if "run" in step)
    assert INSTALLS.match(install)
    done = run(alone, "sh", "-c", tests, cwd=example)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_installed_carries_the_licence(alone, tmp_path):
    ours = (STANDIN / "LICENSE").read_text("utf-8")
    assert ours == (STANDIN.parent / "LICENSE").read_text("utf-8")
    code = (
        "from importlib.metadata import files; "
        "print(*(f.read_text() for f in files('gpuless') if f.name == 'LICENSE'), end='')"
    )
    assert run(alone, alone, "-c", code, cwd=tmp_path).stdout == ours


def test_the_manual_shows_the_message_that_its_test_gives(alone, tmp_path):
    said = (STANDIN.parent / "book/gpuless.md").read_text("utf-8")
    test = re.search(r"```python\n# test_axpy.py\n(.*?)```", said, re.DOTALL)[1]
    quoted = re.search(r"^kernel 'axpy'.*$", said, re.M)[0]
    file = tmp_path / "test_axpy.py"
    command = re.search(r"`pytest (--gpuless=strict test_axpy.py)` fails", said)[1].split()
    for text, end in ((test, 1), (test.replace("    y[i] +=", "    if (i < n) y[i] +="), 0)):
        file.write_text(text)
        done = run(alone, alone, "-m", "pytest", *command, cwd=tmp_path)
        assert done.returncode == end, done.stdout
        assert (quoted in done.stdout) == bool(end)


def test_the_example_is_small():
    files = [EXAMPLE / name for name in ("axpy.py", "test_axpy.py", "pyproject.toml")]
    lines = [line for f in files for line in f.read_text("utf-8").splitlines() if line.strip()]
    assert len(lines) <= 32


BY_HAND = "import gpuless; gpuless.install(); import cupy"


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("python -m gpuless script.py", ["-m", "gpuless", "script.py"]),
        ("`python -m gpuless` prints", ["-m", "gpuless"]),
        (f'python -c "{BY_HAND}"', ["-c", BY_HAND]),
    ],
)
def test_what_the_readme_says_to_run(alone, tmp_path, said, command):
    assert said in (STANDIN / "README.md").read_text("utf-8")
    (tmp_path / "script.py").write_text("import cupy; assert cupy.is_standin")
    done = run(alone, alone, *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
