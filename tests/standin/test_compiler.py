"""Finding a compiler, the cache, options, and messages."""

import ctypes
import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from gpuless.engine import Allocation, Module, compiler
from gpuless.engine.errors import CompileError
from gpuless.engine.options import parse

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULESS_CACHE", str(tmp_path / "cache"))
    compiler._include_shim.cache_clear()
    yield tmp_path / "cache"
    compiler._include_shim.cache_clear()


def answer(library):
    library.answer.restype = ctypes.c_double
    return library.answer()


def test_the_shim_is_there_without_an_include():
    library = compiler.build('extern "C" double answer() { return max(3, 5) + rsqrt(0.25); }')
    assert answer(library) == 7


def test_a_source_is_compiled_once(cache, monkeypatch):
    source = 'extern "C" double answer() { return 42; }'
    assert answer(compiler.build(source)) == 42
    monkeypatch.setattr(compiler, "_make", lambda *a: pytest.fail("compiled again"))
    assert answer(compiler.build(source)) == 42


@pytest.mark.parametrize("change", ["source", "options", "compiler", "shim"])
def test_a_change_makes_another_library(cache, monkeypatch, change):
    source = 'extern "C" double answer() { return __cplusplus > 201703 ? 2 : 1; }'
    compiler.build(source)
    before = set(cache.glob("*.so"))
    options = ("-std=c++20",) if change == "options" else ("-std=c++17",)
    if change == "source":
        source += " "
    elif change == "compiler":
        found = compiler.find_compiler()
        newer = compiler.Compiler(found.command, found.family, found.version + "1")
        monkeypatch.setattr(compiler, "find_compiler", lambda: newer)
    elif change == "shim":
        monkeypatch.setattr(compiler, "_shim_hash", lambda: "another")
    library = compiler.build(source, options=options)
    assert answer(library) == (2 if change == "options" else 1)
    assert set(cache.glob("*.so")) > before


def test_a_failed_compilation_leaves_nothing(cache):
    with pytest.raises(CompileError):
        compiler.build("this is not C++")
    assert not [p for p in cache.iterdir() if p.suffix == ".so" and "runtime" not in p.name]
    assert not list(cache.glob("making-*"))


@pytest.mark.long
def test_several_processes_at_once(cache):
    code = (
        "import ctypes, gpuless as s; s.install()\n"
        "from gpuless.engine import compiler\n"
        "f = compiler.build('extern \"C\" double answer() { return 17; }').answer\n"
        "f.restype = ctypes.c_double; assert f() == 17"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPULESS_CACHE": str(cache)}

    def run(_):
        return subprocess.run([sys.executable, "-c", code], env=environment).returncode

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, range(3))) == [0, 0, 0]
    assert len([p for p in cache.glob("*.so") if "runtime" not in p.name]) == 1


def test_options():
    parsed = parse(
        (
            "-DN=3",
            "-D",
            "M",
            "--define-macro=F(x)=x+1",
            "-UN",
            "-I/some/where",
            "--std=c++20",
            "--use_fast_math",
            "-arch=sm_80",
            "-lineinfo",
        )  # fmt: skip
    )
    assert parsed.arguments == ("-std=c++20",)
    assert parsed.folders == ("/some/where",)
    assert parsed.definitions == (
        "#define N 3",
        "#define M 1",
        "#define F(x) x+1",
        "#undef N",
    )
    assert parse(("-std=c++11",)).arguments == ("-std=c++17",)


def test_definitions_do_not_reach_the_shim():
    source = 'extern "C" __global__ void k(REAL *x) { x[0] = c; }'
    module = Module(source, ("-DREAL=double", "-Dc=2.5", "-Di=float", "-DVALUE=char"))
    held = Allocation(8)
    module.kernel("k").launch((1, 1, 1), (1, 1, 1), [held])
    assert np.asarray(held).view(np.float64)[0] == 2.5


def test_messages_have_the_lines_of_the_source():
    source = '\nextern "C" double answer() {\n    return one\n      + two;\n}'
    for pch in (True, False):
        with pytest.raises(CompileError) as caught:
            compiler.build(source, name="sum", pch=pch)
        assert re.search(r"^sum.cu\(3\): error: .*'one'", str(caught.value), re.MULTILINE)
        assert re.search(r"^sum.cu\(4\): error: .*'two'", str(caught.value), re.MULTILINE)
        assert str(caught.value).endswith('2 errors detected in the compilation of "sum.cu".\n')


def test_what_no_processor_does_by_itself(cache):
    """A division of 128 bits is a function of the compiler's own library."""
    source = (
        "typedef unsigned __int128 big;\n"
        'extern "C" double answer() { volatile big x = (big)1 << 100, y = x / 42; return x / y; }'
    )
    # Outside of a launch there is no shadow of the stack: pointers=False does without one.
    assert answer(compiler.build(source, pointers=False)) == 42


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere zig links all of its own library")
def test_zig_does_not_compile_a_library_of_its_own_first(tmp_path):
    """For which a first array would have to wait four seconds more."""
    code = "import gpuless; gpuless.install(); import cupy; assert cupy.arange(9).sum() == 36"
    folders = {"ZIG_GLOBAL_CACHE_DIR": "global", "ZIG_LOCAL_CACHE_DIR": "local"}
    environment = {
        **os.environ,
        **{name: str(tmp_path / folder) for name, folder in folders.items()},
        "CXX": f"{sys.executable} -m ziglang c++",
        "GPULESS_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT / "standin"),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list((tmp_path / "local").rglob("*.o"))  # it was zig
    assert not list(tmp_path.rglob("libcompiler_rt*"))


def test_kernels_wait_for_each_other_whatever_a_distribution_has_its_compiler_do(tmp_path):
    """Ubuntu's g++ protects stacks and jumps of itself; fibers jump from one stack to another."""
    code = """
import gpuless; gpuless.install(); import cupy as cp
source = '''extern "C" __global__ void k(float* x) {
    x[threadIdx.x] *= 2;
    __syncthreads();
    x[255 - threadIdx.x] += 1;
}'''
x = cp.arange(256, dtype="f")
cp.RawKernel(source, "k")((1,), (256,), (x,))
assert (x == 2 * cp.arange(256) + 1).all()
"""
    defaults = "-fstack-protector-strong -D_FORTIFY_SOURCE=2"
    if platform.machine() == "x86_64":
        defaults += " -fcf-protection=full"
    environment = {
        **os.environ,
        "CXX": f"{' '.join(compiler.find_compiler().command)} {defaults}",
        "GPULESS_CACHE": str(tmp_path),
        "PYTHONPATH": str(ROOT / "standin"),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_messages_that_are_not_understood_are_kept():
    assert compiler.readable("ld: something else", "k") == "ld: something else"


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    compiler._find_compiler.cache_clear()
    with pytest.raises(RuntimeError, match=r"found no C\+\+ compiler.*pip install ziglang"):
        compiler.find_compiler()
    compiler._find_compiler.cache_clear()


def _program(folder, name, version):
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return path


def test_which_compiler_is_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CXX", raising=False)
    _program(tmp_path, "clang++", "clang version 99")
    _program(tmp_path, "g++", "g++ (mine) 98")
    assert compiler.find_compiler().version == "g++ (mine) 98\n"
    assert compiler.find_compiler().family == "gcc"
    monkeypatch.setenv("CXX", "clang++ --some-flag")
    chosen = compiler.find_compiler()
    assert (chosen.command, chosen.family) == (("clang++", "--some-flag"), "clang")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert compiler.find_compiler().family == "gcc"


@pytest.mark.parametrize(
    ("version", "major"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", 12),
        ("g++ (GCC) 13.2.1 20230801", 13),
        ("Ubuntu clang version 14.0.0-1ubuntu1.1", 14),
        ("Apple clang version 16.0.0 (clang-1600.0.26.6)", 16),
        ("something else", 0),
    ],
)
def test_the_version_of_a_compiler(version, major):
    assert compiler.Compiler(("c++",), "gcc", version).major == major
