"""Who answers to ``import cupy``: each case in a Python of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOW = "import cupy; print(getattr(cupy, 'is_standin', 'other'))"


def python(code, *, mode=None, path=()):
    environment = {k: v for k, v in os.environ.items() if k != "CUPY_STANDIN"}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), str(ROOT)])
    if mode is not None:
        environment["CUPY_STANDIN"] = mode
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)


@pytest.fixture
def other_cupy(tmp_path):
    """A folder with a package that is called cupy and is not the stand-in."""
    (tmp_path / "cupy").mkdir()
    (tmp_path / "cupy" / "__init__.py").write_text("__version__ = '14.2.0'\n")
    return tmp_path


# A `helpers` that announces nothing and installs nothing by itself.
BARE = (
    "import sys, types; h = types.ModuleType('helpers'); "
    f"h.__path__ = [{str(ROOT / 'helpers')!r}]; sys.modules['helpers'] = h; "
    "import gpuless as s; "
)


@pytest.mark.parametrize(
    ("mode", "gpus", "installed", "standin"),
    [
        (None, 0, True, True),
        ("auto", 0, True, True),
        ("auto", 0, False, True),
        ("auto", 1, False, True),
        ("auto", 1, True, False),
        ("always", 1, True, True),
        ("never", 0, True, False),
        ("never", 1, True, False),
    ],
)
def test_choice(mode, gpus, installed, standin, other_cupy):
    # What the driver and the installation say is replaced, so that this runs alike on any machine.
    code = (
        f"{BARE} s.gpu_count = lambda: {gpus}; s._real_cupy_installed = lambda: {installed}; "
        f"print(s.install(), s.is_active()); {SHOW}"
    )
    done = python(code, mode=mode, path=[other_cupy])
    answer = f"{standin} {standin}\n{True if standin else 'other'}\n"
    assert done.stdout == answer, done.stderr


def test_an_installed_cupy_is_recognised(other_cupy):
    code = f"{BARE} print(s._real_cupy_installed()); s.install(); print(s._real_cupy_installed())"
    assert python(code, mode="always", path=[other_cupy]).stdout == "True\nTrue\n"


def test_never_without_cupy_is_pythons_own_error():
    hidden = "sys.path = [p for p in sys.path if 'site-packages' not in p]; "
    done = python(f"{BARE} {hidden} s.install(); import cupy", mode="never")
    assert "No module named 'cupy'" in done.stderr


def test_unknown_mode():
    done = python("import helpers", mode="sometimes")
    assert "ValueError: CUPY_STANDIN must be auto, always or never, not 'sometimes'" in done.stderr


def test_cupy_imported_first_on_a_machine_without_gpu(other_cupy):
    done = python("import cupy, gpuless as s; s.install()", mode="always", path=[other_cupy])
    assert "RuntimeError: cupy was imported before the CPU stand-in was put in place" in done.stderr
    assert "CUPY_STANDIN=always" in done.stderr
    assert "call gpuless.install() first, or run `python -m gpuless script.py`" in done.stderr


def test_import_helpers_serves_cupy_and_its_submodules_once():
    done = python(
        "import helpers; import cupy as cp, cupyx, cupyx.profiler; from cupy.cuda import runtime; "
        "import gpuless as s; s.install(); import sys; "
        "assert len([f for f in sys.meta_path if type(f).__name__ == '_Finder']) == 1; "
        "assert cp.__file__.startswith(str(s.PACKAGES)); " + SHOW,
        mode="always",
    )
    assert done.stdout.splitlines()[-1] == "True", done.stderr
    assert len(done.stdout.splitlines()) == 2, "one line of announcement"


def test_what_is_covered_is_listed():
    import gpuless

    assert gpuless.COVERED and gpuless.NOT_COVERED
    for page in (gpuless.COVERED, gpuless.NOT_COVERED):
        assert all(isinstance(k, str) and isinstance(v, str) and v for k, v in page.items())
    assert "cupy.cuda.nccl is not covered" in str(gpuless.not_covered("cupy.cuda.nccl"))


def test_cupy_backends_has_the_modules_of_cupy():
    import cupy
    import cupy_backends.cuda.api.runtime as runtime
    from cupy_backends.cuda.api import driver
    from cupy_backends.cuda.api.runtime import CUDARuntimeError

    assert runtime is cupy.cuda.runtime and driver is cupy.cuda.driver
    assert CUDARuntimeError is cupy.cuda.runtime.CUDARuntimeError
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice: invalid device ordinal"):
        runtime.setDevice(99)
    with pytest.raises(ModuleNotFoundError, match="cupy_backends.cuda.libs is not covered"):
        from cupy_backends.cuda.libs import cublas  # noqa: F401
    with pytest.raises(AttributeError, match="'cupy_backends.cuda' has no attribute 'apis'"):
        import cupy_backends

        print(cupy_backends.cuda.apis)


def test_cupy_backends_may_be_imported_first():
    code = "import helpers; from cupy_backends.cuda.api import runtime; import cupy; "
    code += "print(runtime is cupy.cuda.runtime, cupy.cuda.runtime.getDeviceCount())"
    done = python(code, mode="always", path=[ROOT / "standin"])
    assert done.stdout.splitlines()[-1] == "True 1", done.stderr


SPAWNING = """
import multiprocessing
import cupy

def work(i):
    return float((cupy.arange(4.0) * i).sum())

if __name__ == "__main__":
    x = cupy.arange(3)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(cupy.is_standin, pool.map(work, [1, 2]))
"""


def test_a_process_that_is_spawned_has_it_as_well(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SPAWNING, encoding="utf-8")
    start = f"import runpy, sys; sys.argv = ['gpuless', {str(script)!r}]; "
    start += "runpy.run_module('gpuless', run_name='__main__')"
    done = python(start, mode="always", path=[ROOT / "standin"])
    assert done.stdout == "True [6.0, 12.0]\n", done.stderr
