"""What `import helpers` finds, in processes of its own because it decides once."""

import os
import subprocess
import sys
from importlib.machinery import PathFinder

import pytest

import helpers
from helpers import device


def run(code, **variables):
    environment = {
        k: v for k, v in os.environ.items() if k not in ("CUPY_STANDIN", "HELPERS_SIZES")
    }
    return subprocess.run(
        [sys.executable, "-c", code], env=environment | variables, capture_output=True, text=True
    )


def test_import_says_in_one_line_that_the_stand_in_is_in_use():
    done = run("import helpers; assert not helpers.on_gpu", CUPY_STANDIN="always")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "stand-in" in done.stdout and "timings say nothing about a GPU" in done.stdout


@pytest.mark.skipif(not helpers.on_gpu, reason="no GPU here")
def test_import_names_gpu_driver_cuda_and_cupy():
    done = run(
        "import helpers, cupy; assert helpers.on_gpu; assert 'standin' not in cupy.__version__"
    )
    assert done.returncode == 0, done.stderr
    for text in ("driver", "CUDA", "CuPy"):
        assert text in done.stdout


@pytest.mark.skipif(helpers.on_gpu, reason="there is a GPU here")
def test_never_gives_cupys_own_error():
    done = run("import helpers; import cupy; cupy.zeros(3)", CUPY_STANDIN="never")
    assert done.returncode != 0
    assert "stand-in" not in done.stdout + done.stderr
    if PathFinder.find_spec("cupy") is None:
        assert "ModuleNotFoundError: No module named 'cupy'" in done.stderr
    else:
        assert "cudaError" in done.stderr


def test_an_unknown_choice_is_refused():
    done = run("import helpers", CUPY_STANDIN="maybe")
    assert "CUPY_STANDIN must be auto, always or never" in done.stderr


def test_pick_needs_both_sizes_and_follows_the_device(monkeypatch):
    with pytest.raises(TypeError):
        helpers.pick(gpu=4096)
    monkeypatch.delenv("HELPERS_SIZES", raising=False)
    monkeypatch.setattr(device, "on_gpu", True)
    assert helpers.pick(gpu=4096, cpu=256) == 4096
    monkeypatch.setenv("HELPERS_SIZES", "cpu")
    assert helpers.pick(gpu=4096, cpu=256) == 256
    monkeypatch.setattr(device, "on_gpu", False)
    monkeypatch.delenv("HELPERS_SIZES")
    assert helpers.pick(gpu=4096, cpu=256) == 256
    monkeypatch.setenv("HELPERS_SIZES", "large")
    monkeypatch.setattr(device, "on_gpu", True)
    with pytest.raises(ValueError, match="HELPERS_SIZES must be unset or cpu, not 'large'"):
        helpers.pick(gpu=4096, cpu=256)


@pytest.mark.long
def test_the_command_lines_print_their_own_lines_only():
    command = [sys.executable, "-m", "helpers.press.notebook", "--check", os.devnull + "-none"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "" and done.returncode != 0
