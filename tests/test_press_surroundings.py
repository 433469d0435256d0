"""What a recording stands on is told as it is: versions, host, switches; what is not known, too."""

import ctypes
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import pytest

from helpers.press import notebook, surroundings, used

LIBRARY = r"""
extern "C" int %s(int part, int *value) { *value = 12 + part; return part > %d; }
extern "C" int ncclGetVersion(int *value) { *value = 22809; return 0; }
"""


@pytest.fixture
def library(tmp_path):
    """Return a function that builds and loads a library of the file name, with a function."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no compiler here")

    def build(name, function="other", last=2):
        path = tmp_path / name
        path.with_suffix(".cpp").write_text(LIBRARY % (function, last))
        command = [compiler, "-shared", "-fPIC", "-o", path, path.with_suffix(".cpp")]
        subprocess.run(command, check=True)
        ctypes.CDLL(str(path))
        return path

    return build


def listing(folder, paths):
    """Return a file like /proc/self/maps that has the libraries at `paths`, each twice."""
    line = "7f31d6f9{:04x}-7f31d6fa0000 r-xp 00000000 08:01 123    {}\n"
    lines = [line.format(k, path) for k, path in enumerate([*paths, *paths])]
    file = folder / "maps"
    file.write_text("7ffc0000-7ffc1000 rw-p 00000000 00:00 0    [stack]\n" + "".join(lines))
    return file


def test_loaded_libraries_tell_their_versions(library, tmp_path):
    paths = [
        library("libcublas.so.13", "cublasGetProperty"),
        library("libcublasLt.so.13", "cublasGetProperty"),  # another library
        library("libcudnn.so.9", "cudnnGetProperty", last=0),  # it fails when asked for the second
        library("libcufft.so.12"),  # has no such function
        library("libnccl.so.2"),
        "/gone/libcurand.so.10",
    ]
    assert surroundings.native_libraries(listing(tmp_path, paths)) == {
        "cuBLAS": "12.13.14",
        "cuDNN": "unknown",
        "cuFFT": "unknown",
        "cuRAND": "unknown",
        "NCCL": "2.28.9",
    }
    if sys.platform == "linux":  # they are loaded into this very process
        assert surroundings.native_libraries()["NCCL"] == "2.28.9"


def test_where_nothing_is_loaded_nothing_is_told(tmp_path):
    assert surroundings.native_libraries(listing(tmp_path, ["/usr/lib/libc.so.6"])) == {}
    assert surroundings.native_libraries(tmp_path / "no such file") == {}


def test_versions_of_what_was_imported(monkeypatch):
    found = surroundings.libraries({"matplotlib", "skimage", "cupy", "cupyx", "numpy", "nothing"})
    assert found.pop("nothing") == "not installed"
    wanted = ("matplotlib", "scikit-image")
    assert found == {name: importlib.metadata.version(name) for name in wanted}
    monkeypatch.setitem(sys.modules, "nothing", SimpleNamespace())
    assert surroundings.libraries({"nothing"}) == {"nothing": "unknown"}


def test_switches_of_the_environment_and_of_pytorch(monkeypatch):
    for name in surroundings.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert surroundings.switches() == {}
    matmul = SimpleNamespace(allow_tf32=True)
    cudnn = SimpleNamespace(benchmark=False)  # a PyTorch to come, without one of the switches
    backends = SimpleNamespace(cuda=SimpleNamespace(matmul=matmul), cudnn=cudnn)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(backends=backends))
    monkeypatch.setenv("CUPY_TF32", "1")
    assert surroundings.switches() == {
        "CUPY_TF32": "1",
        "torch.backends.cuda.matmul.allow_tf32": "True",
        "torch.backends.cudnn.allow_tf32": "unknown",
        "torch.backends.cudnn.benchmark": "False",
    }


def test_the_host(monkeypatch):
    host = surroundings.host()
    assert 1 <= host["cores"] <= os.cpu_count() and host["cpu"] and host["blas"] != "unknown"
    monkeypatch.setattr(surroundings.np, "show_config", lambda mode: {})
    assert surroundings.host()["blas"] == "unknown"


def test_all_of_it_can_be_stored():
    found = surroundings.facts({"matplotlib"})
    assert json.loads(json.dumps(found)) == found
    assert "helpers/timing.py" in found["modules"]


@pytest.mark.parametrize(
    "source, found",
    [
        ("RawModule(code=c, options=('-std=c++17', '--use_fast_math'))", ["--use_fast_math"]),
        (
            "flags = '-O3 -march=native -ffast-math, -shared'",
            ["-O3", "-ffast-math", "-march=native"],
        ),
        (
            "f(('--ptxas-options=-dlcm=cg', '-fmad=false'))",
            ["--ptxas-options=-dlcm=cg", "-fmad=false"],
        ),
        ("torch.backends.cudnn.benchmark = True", ["torch.backends.cudnn.benchmark = True"]),
        (
            "if x:\n    torch.backends.cuda.matmul.allow_tf32 = y",
            ["torch.backends.cuda.matmul.allow_tf32 = y"],
        ),
        (
            "torch.set_float32_matmul_precision('high')",
            ["torch.set_float32_matmul_precision('high')"],
        ),
        ("print('a - b', '-1', 'x-O3', '-m')\nbenchmark = 3", []),
    ],
)
def test_switches_that_the_code_sets(source, found):
    assert surroundings.in_the_code([source]) == found


def test_what_chapters_import_is_declared():
    """Dependencies, engines, peers. Each machine has its CuPy, and PyTorch brings Triton."""
    project = tomllib.loads((notebook.BOOK / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = " ".join(project["dependencies"] + extras["engines"] + extras["peers"])
    for path in notebook.paths():
        for name in used.libraries(notebook.read(path)) - {"cupy", "cupyx", "triton"}:
            assert name in wanted, f"{path.name} imports {name}"
