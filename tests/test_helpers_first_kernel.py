"""The kernel that `import helpers` runs on a GPU, and the line that it prints where that fails."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import helpers
from gpuless.engine import compiler
from helpers import fetch, first_kernel

OWNER = "Someone"
PUBLISHED = f"https://{OWNER.lower()}.github.io/book/{{}}.html"
PAGE = Path(first_kernel.ROOT, "book", "when-it-goes-wrong.md")
DRIVER = 'extern "C" int cuInit(unsigned) { return 0; }\n'
DRIVER += 'extern "C" int cuDeviceGetCount(int *n) { *n = 1; return 0; }\n'
CUPY = """
__version__ = "14.2.0"
class cuda:
    class runtime:
        getDeviceProperties = lambda number: {"name": b"A GPU"}
        runtimeGetVersion = lambda: 13000
    class Device:
        id = 0
class Array(list):
    pass
def zeros(n, dtype):
    return Array([0])
def RawKernel(source, name):
    def launch(grid, block, arguments):
        LAUNCH
    return launch
"""
FAILS = {
    "raise RuntimeError('nvrtc: error: invalid value for --gpu-architecture (-arch)\\nmore')": (
        "No kernel runs on this GPU. RuntimeError: nvrtc: error: invalid value for "
        "--gpu-architecture (-arch). "
    ),
    "pass  # it wrote nothing": "No kernel runs on this GPU. RuntimeError: it wrote 0, not 42. ",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A folder with a driver that offers one GPU, and a function that puts a CuPy beside it."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "driver.cpp").write_text(DRIVER)
    command = [*compiler.find_compiler().command, "-shared", "-fPIC", "driver.cpp"]
    subprocess.run([*command, "-o", "libcuda.so.1"], cwd=folder, check=True)

    def run(launch, also=""):
        shutil.rmtree(folder / "cupy", ignore_errors=True)
        (folder / "cupy").mkdir()
        text = also + CUPY.replace("LAUNCH", launch)
        (folder / "cupy" / "__init__.py").write_text(text)
        known = {k: v for k, v in os.environ.items() if k not in ("CUPY_STANDIN",)}
        known |= {"LD_LIBRARY_PATH": str(folder), "PYTHONPATH": str(folder)}
        command = [sys.executable, "-c", "import helpers; assert helpers.on_gpu"]
        return subprocess.run(command, env=known, capture_output=True, text=True)

    return run


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the driver here is Linux's")


@pytest.mark.skipif(helpers.on_gpu, reason="there is a driver here")
@pytest.mark.parametrize("launch", FAILS)
def test_a_kernel_that_fails_is_one_line_with_the_pages_address(machine, launch):
    done = machine(launch)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert line == f"{FAILS[launch]}What it means, and the cure: {PAGE}"


@pytest.mark.skipif(helpers.on_gpu, reason="there is a driver here")
def test_a_cupy_that_cannot_be_imported_is_one_line_too(machine):
    """CuPy frames what it could not import with lines of ="""
    frame = "raise ImportError('''\n=====\nFailed to import CuPy.\n=====''')\n"
    [line] = machine("pass", also=frame).stdout.splitlines()
    assert line.startswith("No kernel runs on this GPU. ImportError: Failed to import CuPy. What")


@pytest.mark.skipif(helpers.on_gpu, reason="there is a driver here")
def test_a_kernel_that_runs_says_what_was_found(machine):
    [line] = machine("arguments[0][0] = 42").stdout.splitlines()
    assert line.startswith("A GPU, driver ") and line.endswith("CuPy 14.2.0")


def test_two_builds_of_cupy_are_named(monkeypatch):
    monkeypatch.setattr(first_kernel, "installed", lambda: ["cupy-cuda12x", "cupy-cuda13x"])
    said = first_kernel.trouble()
    assert said.startswith("Multiple CuPy packages are installed: cupy-cuda12x, cupy-cuda13x. What")
    monkeypatch.setattr(first_kernel, "installed", lambda: ["cupy-cuda13x"])
    assert first_kernel.trouble() == ""


def test_the_stand_in_runs_no_first_kernel():
    code = "from helpers import first_kernel; first_kernel.trouble = None; "
    code += "import runpy, helpers; runpy.run_path(helpers.__file__)"
    known = os.environ | {"CUPY_STANDIN": "always"}
    done = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("stand-in") == 2


@pytest.mark.parametrize(
    "came_from, given, expected",
    [
        (f"https://github.com/{OWNER}/book", "", PUBLISHED),
        (None, f"https://github.com/{OWNER}/book/", PUBLISHED),
        (None, "https://forge.example/some/book", str(PAGE)),
        (None, "", str(PAGE)),
    ],
)
def test_the_address_is_the_published_one_where_it_is_known(
    monkeypatch, came_from, given, expected
):
    raw = came_from and f"{came_from}/raw/{'0' * 40}/"
    monkeypatch.setattr(fetch, "address", lambda file: raw)
    monkeypatch.setenv("BOOK_REPOSITORY", given)
    assert first_kernel.address() == expected.format(first_kernel.PAGE)


def test_the_address_in_the_settings_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(first_kernel, "ROOT", tmp_path)
    monkeypatch.setattr(fetch, "address", lambda file: None)
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    assert first_kernel.address() == "the page *When it goes wrong* of the book"
    settings = 'title: x\nrepository:\n  url: "https://github.com/a/book"\n  branch: main\n'
    (tmp_path / "_config.yml").write_text(settings)
    assert first_kernel.address() == f"https://a.github.io/book/{first_kernel.PAGE}.html"


@pytest.mark.skipif(not helpers.on_gpu, reason="no GPU here")
def test_the_first_kernel_costs_little_when_it_is_compiled():
    """In a fresh process, once the GPU's context is there."""
    code = "import sys; sys.argv[0] = '-m'; "  # else the import runs it
    code += "import time, cupy; cupy.zeros(1).get(); from helpers import first_kernel as f; "
    code += "t = time.perf_counter(); said = f.trouble(); "
    code += "import json; print(json.dumps([said, time.perf_counter() - t]))"
    for _ in range(2):  # the first may compile
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        said, seconds = json.loads(done.stdout.splitlines()[-1])
        assert said == "" and seconds < time.perf_counter() - begun
    assert seconds < 0.05
