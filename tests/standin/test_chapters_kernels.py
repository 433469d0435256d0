"""The kernels of a run are written down, then compiled; those that a GPU refuses are shown."""

import chapters_kernels
import cupy as cp
import nvrtc
import pytest

from gpuless.engine import sources

KERNEL = """extern "C" __global__ void row(int *x) {
    __shared__ int row[N];
    row[threadIdx.x] = x[0];
    __syncthreads();
    x[1] = row[threadIdx.x ^ 1];
}"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where the kernels are written down; nothing is known of them yet."""
    monkeypatch.setenv("GPULESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(chapters_kernels, "FOLDER", tmp_path / "kernels")
    return tmp_path / "kernels"


def test_each_source_is_written_down_once(monkeypatch):
    monkeypatch.setattr(sources, "_load", lambda path: chapters_kernels.check)
    monkeypatch.setenv(sources.VARIABLE, "the listener")
    for n in (7, 8, 7):
        cp.RawKernel(KERNEL, "row", options=(f"-DN={n}",)).compile()
    assert len(list(chapters_kernels.FOLDER.iterdir())) == 2


@pytest.mark.long
@pytest.mark.skipif(not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl")
@pytest.mark.parametrize(
    "judge, wrong, says",
    [
        ("cubins", "12289", ("row: NVRTC refused it for sm_75", "49156 bytes smem")),
        ("nvrtc", "missing", ("row: NVRTC refused it", 'identifier "missing" is undefined')),
    ],
)
def test_those_refused_are_shown(judge, wrong, says, folder, capsys):
    chapters_kernels.check(KERNEL, ("-DN=12288",), "row", ())
    assert chapters_kernels.judged(folder, judge) == 0
    assert "1 sources compiled" in capsys.readouterr().out
    chapters_kernels.check(KERNEL, (f"-DN={wrong}",), "row", ())
    assert chapters_kernels.judged(folder, judge) == 1
    shown = capsys.readouterr().out
    assert all(text in shown for text in says)
    assert KERNEL in shown and "2 sources" in shown and "1 refused" in shown


def test_without_a_run_there_is_nothing_to_say(folder, capsys):
    assert chapters_kernels.judged(folder, "nvrtc") == 1
    assert "run their tests first" in capsys.readouterr().out
