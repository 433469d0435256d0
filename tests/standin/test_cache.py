"""The folder of what was compiled: whose it is, and files in it that are cut off."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
from marks import long_but

from gpuless.engine import CompileError, cache, compiler, preprocess
from gpuless.engine.options import parse

ROOT = Path(__file__).parents[2]
SOURCE = 'extern "C" double answer() { return 17; }'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULESS_CACHE", str(tmp_path / "cache"))
    compiler._include_shim.cache_clear()
    preprocess._answers.cache_clear()
    yield tmp_path / "cache"
    compiler._include_shim.cache_clear()
    preprocess._answers.cache_clear()


def kernels(folder):
    return [p for p in folder.glob("*.so") if not p.name.startswith("runtime")]


def test_it_is_for_its_user_alone(folder):
    before = os.umask(0o002)
    try:
        assert cache.folder() == folder
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_others_could_write_there(folder, mode):
    cache.folder()
    (folder / "planted.so").write_text("")
    folder.chmod(mode)
    with pytest.raises(RuntimeError, match="other users can write .*chmod 700.*GPULESS_CACHE"):
        compiler.build(SOURCE)
    (folder / "planted.so").unlink()
    assert cache.folder().stat().st_mode & 0o777 == 0o700  # nobody has put anything there


def test_it_is_another_users(folder, monkeypatch):
    cache.folder()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(RuntimeError, match="another user's.*GPULESS_CACHE"):
        cache.folder()


def test_it_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        monkeypatch.setenv("GPULESS_CACHE", str(tmp_path / place))
        with pytest.raises(
            RuntimeError, match="cannot be made: .*environment variable GPULESS_CACHE"
        ):
            cache.folder()


@pytest.mark.parametrize("part", [0, 30, 0.5, 0.99])
def test_a_library_that_is_cut_off_is_made_again(folder, part):
    compiler.build(SOURCE)
    (path,) = kernels(folder)
    whole = path.read_bytes()
    path.unlink()  # another file, or the loaded one would change
    path.write_bytes(whole[: part if isinstance(part, int) else int(part * len(whole))])
    library = compiler.build(SOURCE)
    library.answer.restype = ctypes.c_double
    assert library.answer() == 17
    assert len(path.read_bytes()) == len(whole)


@pytest.mark.long
def test_a_runtime_that_is_cut_off_is_made_again(folder):
    program = f"from gpuless.engine import compiler\ncompiler.build({SOURCE!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        (path,) = folder.glob("runtime-*.so")
        assert cache.is_whole(path)
        os.truncate(path, path.stat().st_size // 2)


def test_a_precompiled_header_that_is_cut_off_is_made_again(folder):
    if compiler.find_compiler().family != "gcc":
        pytest.skip("only g++ has one")
    compiler.build(SOURCE)
    (path,) = folder.glob("headers-*/*.gch")
    size = path.stat().st_size
    os.truncate(path, size - 5000)
    compiler.build(SOURCE + " ")
    (path,) = folder.glob("headers-*/*.gch")
    assert path.stat().st_size > size - 500


def test_a_text_that_is_cut_off_is_made_again(folder):
    def read():
        return preprocess.preprocess("int A;\nint b;", "k", parse(("-DA=a",))).text

    text = read()
    (path,) = folder.glob("*.ii")
    path.write_text(path.read_text()[:-9])
    assert read() == text and "int b;" in text
    path.write_text(path.read_text().replace("int b", "int c"))
    assert "int c;" in read()  # it was taken from there


def test_a_function_that_is_nowhere_is_no_matter_of_the_cache(folder):
    for _ in range(2):
        with pytest.raises(CompileError, match="Unresolved extern function 'nowhere'"):
            compiler.build(
                'extern "C" double nowhere(); extern "C" double f() { return nowhere(); }'
            )


LIMITED = r"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1000 * int(sys.argv[1]),) * 2)
import gpuless
from gpuless.engine.options import parse
gpuless.install()
import cupy as cp, numpy as np

x = cp.arange(1000, dtype=np.float32)
source = '''extern "C" __global__ void turn(float *x, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = s[blockDim.x - 1 - threadIdx.x];
}'''
turn = cp.RawKernel(source, "turn")
turn((2,), (500,), (x, 1000), shared_mem=2000)
assert x[:2].tolist() == [499, 498]
assert cp.zeros(1_000_000).sum() == 0 and len([cp.zeros(3) for _ in range(300)]) == 300
wrong = ((500, 1996, "outside the 1,996 bytes of its dynamic"), (512, 2048, r"x\[1000\]"))
for size, shared, what in wrong:
    try:
        turn((2,), (size,), (x, 1000), shared_mem=shared)
    except RuntimeError as error:
        import re
        assert re.search(what, str(error)), error
    else:
        raise AssertionError("no error")
try:
    cp.zeros(10**12)
except cp.cuda.memory.OutOfMemoryError:
    pass
print("done")
"""


def with_so_many_addresses(kilobytes):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUPY_STANDIN": "always"}
    environment.pop("CUPY_STANDIN_LISTENER", None)
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(kilobytes)],
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")
@pytest.mark.parametrize("kilobytes", long_but([12_000_000], [3_000_000, 12_000_000, 30_000_000]))
def test_where_addresses_are_limited(kilobytes):
    done = with_so_many_addresses(kilobytes)
    assert done.stdout.endswith("done\n"), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")
def test_where_there_are_too_few_addresses():
    done = with_so_many_addresses(600_000)
    assert "RuntimeError" in done.stderr and "ulimit -v" in done.stderr
