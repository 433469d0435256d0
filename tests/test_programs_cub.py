"""CUB as the peer of chapter 36: run where it can be, and nothing made up where it cannot."""

import os
import stat

import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers import device
from helpers.programs import cub

NAMES = ("sum", "scan", "select", "histogram_flat", "histogram_normal", "histogram_constant")
LINES = "\n".join(f"{name} 0.00{k}" for k, name in enumerate(NAMES, 1)) + "\nversion 300001"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with a GPU and an nvcc that makes, of any source, the shell script it is given."""
    monkeypatch.setattr(device, "on_gpu", True)
    monkeypatch.delenv("HELPERS_SIZES", raising=False)
    monkeypatch.delenv("HELPERS_LAUNCH", raising=False)

    def install(program, status=0):
        compiler = tmp_path / "nvcc"
        made = f"#!/bin/sh\n{program}\n"
        (tmp_path / "made").write_text(made)
        script = f"""#!/bin/sh
[ {status} = 0 ] || {{ echo "cub.cu(1): error: no"; exit {status}; }}
while [ "$1" != -o ]; do shift; done
cp {tmp_path}/made "$2" && chmod +x "$2"
"""
        compiler.write_text(script)
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])

    return install


def test_without_a_gpu_nothing_is_run(capsys):
    if device.on_gpu:
        pytest.skip("there is a GPU")
    assert cub.seconds(1000) == {}
    assert capsys.readouterr().out.startswith("CUB was not run: it needs a GPU")


def test_without_nvcc_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(device, "on_gpu", True)
    monkeypatch.setattr(cub, "nvcc", lambda: None)
    monkeypatch.delenv("HELPERS_SIZES", raising=False)
    monkeypatch.delenv("HELPERS_LAUNCH", raising=False)
    assert cub.seconds(1000) == {}
    assert "there is no nvcc" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "value"), [("HELPERS_LAUNCH", "no"), ("HELPERS_SIZES", "cpu")])
def test_the_memory_check_runs_no_other_program(machine, monkeypatch, capsys, name, value):
    machine("echo sum 1")
    monkeypatch.setenv(name, value)
    assert cub.seconds(1000) == {}
    assert capsys.readouterr().out.startswith("CUB was not run")


def test_what_the_program_prints_is_returned(machine, capsys):
    machine(f"[ $1 = 1001 ] && echo '{LINES}'")
    found = cub.seconds(1001)
    assert found == {name: k / 1000 for k, name in enumerate(NAMES, 1)}
    assert capsys.readouterr().out == "CUB 3.0.1, compiled by nvcc\n"


def test_a_program_that_does_not_compile_is_no_result(machine, capsys):
    machine("true", status=2)
    assert cub.seconds(1000) == {}
    assert capsys.readouterr().out.endswith("nvcc did not compile it: cub.cu(1): error: no\n")


def test_a_program_that_fails_is_an_error(machine):
    machine("echo 'CUDA: out of memory'; exit 1")
    with pytest.raises(RuntimeError, match="CUB's program failed: CUDA: out of memory"):
        cub.seconds(1000)


def test_the_source_prints_the_names_that_are_read():
    source = cub.SOURCE.read_text(encoding="utf-8")
    assert [name for name in NAMES if f'"{name}"' not in source] == []
    with pytest.raises(ValueError):
        cub.parse("sum 1\nerror")
