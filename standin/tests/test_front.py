"""How the stand-in is put in place, and what it says where that cannot be done."""

import os
import subprocess
import sys

import pytest

SCRIPT = """\
import sys
import cupy
print(cupy.__version__, *sys.argv[1:])
sys.exit(3)
"""
FIRST_ARRAY = "import cupy; print(cupy.arange(4).sum())"


def run(*arguments, cwd, path=(), **environment):
    """A Python in the folder ``cwd``, with folders before all others on its path."""
    given = {k: v for k, v in os.environ.items() if not k.startswith(("CUPY_", "PYTEST_"))}
    given |= {"PYTHONPATH": os.pathsep.join(map(str, path)), **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def other(tmp_path):
    """A folder with a package that is called cupy and is not the stand-in."""
    folder = tmp_path / "other"
    (folder / "cupy").mkdir(parents=True)
    (folder / "cupy" / "__init__.py").write_text("__version__ = 'the real one'\n")
    return folder


def told(tmp_path, text):
    """A folder with what a Python does as it starts: how this machine is made to seem another."""
    folder = tmp_path / "told"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text)
    return folder


GPU = "import gpuless\ngpuless.gpu_count = lambda: 1\n"
MACHINE = "import platform\nplatform.machine = lambda: {!r}\n"


def test_a_file_after_the_option_is_not_taken_for_its_mode(tmp_path):
    (tmp_path / "test_it.py").write_text("import cupy\ndef test(): assert cupy.is_standin\n")
    run_pytest = ("-m", "pytest", "-q")
    done = run(*run_pytest, "--gpuless", "test_it.py", cwd=tmp_path)
    assert done.returncode == 4
    assert "Before a file or a folder write --gpuless=strict" in done.stderr
    for right in (["--gpuless=strict", "test_it.py"], ["test_it.py", "--gpuless"]):
        assert run(*run_pytest, *right, cwd=tmp_path).returncode == 0


def test_a_script_gets_its_arguments_and_gives_its_status(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run("-m", "gpuless", "script.py", "--lenient", "2", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.split() == ["14.2.0+standin", "--lenient", "2"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("gpuless: `cupy` is the CPU stand-in (")


def test_a_module_is_run_as_well(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run("-m", "gpuless", "-m", "script", "7", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (3, ["14.2.0+standin", "7"])


def test_without_a_script_it_says_what_is_covered(tmp_path):
    done = run("-m", "gpuless", cwd=tmp_path)
    assert done.returncode == 0 and "RawKernel" in done.stdout and "Not covered" in done.stdout


@pytest.mark.parametrize("arguments", [["--no-such"], ["-m"], ["missing.py"]])
def test_a_wrong_command_line_has_status_2(tmp_path, arguments):
    done = run("-m", "gpuless", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr


def test_cupy_imported_before(tmp_path, other):
    code = "import cupy, gpuless; gpuless.install()"
    done = run("-c", code, cwd=tmp_path, path=[other], CUPY_STANDIN="always")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: cupy was imported before the CPU stand-in was put in")
    assert "Restart Python" in last and "pytest --gpuless" in last


def test_cupy_imported_before_by_a_plugin_of_pytest(tmp_path, other):
    (tmp_path / "early.py").write_text("import cupy")
    done = run(
        *("-m", "pytest", "-p", "early", "--gpuless"),
        cwd=tmp_path,
        path=[other, tmp_path],
        CUPY_STANDIN="always",
    )
    assert done.returncode == 4
    assert "ERROR: gpuless: cupy was imported before" in done.stderr


def test_where_cupy_and_a_gpu_are_they_are_used_and_it_is_said(tmp_path, other):
    (tmp_path / "script.py").write_text(SCRIPT)
    path = [told(tmp_path, GPU), other]
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=path)
    assert done.stdout == "the real one\n"
    (line,) = done.stderr.splitlines()
    assert "a GPU answers" in line and "CUPY_STANDIN=always" in line
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=path, CUPY_STANDIN="always")
    assert done.stdout == "14.2.0+standin\n"


def test_an_unknown_choice(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, CUPY_STANDIN="perhaps")
    assert done.returncode == 1
    assert done.stderr == "gpuless: CUPY_STANDIN must be auto, always or never, not 'perhaps'\n"


def test_without_a_compiler(tmp_path):
    (tmp_path / "script.py").write_text(FIRST_ARRAY)
    hidden = told(tmp_path, "import sys\nsys.modules['ziglang'] = None\n")
    hidden.joinpath("sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'ziglang' else find(name, *a)\n"
    )
    where = {"PATH": str(tmp_path), "CXX": ""}
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=[hidden], **where)
    first, *_, last = done.stderr.splitlines()
    assert done.returncode == 1
    for line in (first, last):
        assert "no C++ compiler. Install one: g++ or clang++" in line and "ziglang" in line


def test_on_another_processor(tmp_path):
    (tmp_path / "script.py").write_text(FIRST_ARRAY)
    path = [told(tmp_path, MACHINE.format("riscv64"))]
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "does not run on this processor, riscv64" in line and "ubuntu-latest" in line


def test_on_arm_it_runs_and_says_what_is_less(tmp_path):
    xray = """
from gpuless.xray import xray
kernel = cupy.RawKernel('extern "C" __global__ void k(int *x) { x[0] = 1; }', "k")
xray(kernel, (1,), (1,), (cupy.zeros(1, "i4"),))
"""
    (tmp_path / "script.py").write_text(FIRST_ARRAY + xray)
    path = [told(tmp_path, MACHINE.format("aarch64"))]
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=path)
    assert done.stdout == "6\n"
    first, *_, last = done.stderr.splitlines()
    assert "aarch64 is not x86-64" in first and "run your tests on an Intel or AMD machine" in first
    assert last.startswith("RuntimeError: ") and "aarch64" in last


def test_under_windows(tmp_path):
    (tmp_path / "script.py").write_text(FIRST_ARRAY)
    text = "import gpuless.engine.machine as m\nclass s: platform = 'win32'\nm.sys = s\n"
    done = run("-m", "gpuless", "script.py", cwd=tmp_path, path=[told(tmp_path, text)])
    assert done.returncode == 1 and "WSL" in done.stderr.splitlines()[-1]


USES = """\
def test_it():
    import cupy
    assert cupy.is_standin
"""
LENIENT = """\
import cupy as cp
import numpy as np

KERNEL = cp.RawKernel('extern "C" __global__ void k(int *x, int n) { x[0] = n; }', "k")

def test_an_array_of_another_type_and_one_argument_more():
    x = cp.zeros(1, cp.float32)
    KERNEL((1,), (1,), (x, (1 << 32) + 5, 7))
    assert x.view(cp.int32).get() == 5
"""


def pytest_run(tmp_path, *arguments, **environment):
    return run("-m", "pytest", "-p", "no:cacheprovider", *arguments, cwd=tmp_path, **environment)


def test_the_plugin_is_off_until_it_is_asked_for(tmp_path):
    (tmp_path / "test_uses.py").write_text(
        "import sys\ndef test():\n    assert 'gpuless.engine' "
        "not in sys.modules and 'numpy' not in sys.modules\n"
    )
    done = pytest_run(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "gpuless: " not in done.stdout


def test_an_error_is_shown_where_the_test_met_it(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import cupy\ndef test():\n    cupy.RawKernel(r'''extern \"C\" __global__ "
        "void k(float *x) { x[threadIdx.x] = 1; }''', 'k')((1,), (9,), (cupy.zeros(8, 'f4'),))\n"
    )
    short = run("-m", "pytest", "--gpuless", "-q", cwd=tmp_path)
    assert "writes x[8], outside the array" in short.stdout and "kernels.py" not in short.stdout
    whole = run("-m", "pytest", "--gpuless", "-q", "--full-trace", cwd=tmp_path)
    assert "kernels.py" in whole.stdout


@pytest.mark.parametrize("how", ["option", "ini"])
def test_the_plugin_puts_it_in_place_before_conftest(tmp_path, how):
    (tmp_path / "conftest.py").write_text("import cupy\nassert cupy.is_standin\n")
    (tmp_path / "test_uses.py").write_text(USES)
    if how == "ini":
        (tmp_path / "pytest.ini").write_text("[pytest]\ngpuless = strict\n")
    done = pytest_run(tmp_path, *(["--gpuless"] if how == "option" else []))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gpuless: `cupy` is the CPU stand-in (" in done.stdout


def test_a_wrong_setting_is_told(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\ngpuless = maybe\n")
    done = pytest_run(tmp_path)
    assert done.returncode == 4
    assert "gpuless must be one of strict, lenient, off, not 'maybe'" in done.stderr


def test_lenient_takes_what_cupy_takes_and_strict_does_not(tmp_path):
    (tmp_path / "test_uses.py").write_text(LENIENT)
    assert pytest_run(tmp_path, "--gpuless=lenient").returncode == 0
    done = pytest_run(tmp_path, "--gpuless")
    assert done.returncode == 1 and "takes 2 arguments" in done.stdout


def test_nothing_is_imported_that_only_a_book_needs(tmp_path):
    (tmp_path / "script.py").write_text(
        f"{FIRST_ARRAY}\nimport sys, gpuless.xray, gpuless.xray.occupancy\n"
        "print({'matplotlib', 'skimage', 'IPython', 'helpers', 'scipy'} & set(sys.modules))\n"
    )
    done = run("-m", "gpuless", "script.py", cwd=tmp_path)
    assert done.stdout.splitlines() == ["6", "set()"], done.stderr
