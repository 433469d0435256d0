"""Chapter 90's Dask program: several workers find what NumPy finds in one process."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from processes import kill_when, none_left

import helpers
from helpers.programs import dask_series

cp = pytest.importorskip("cupy")
from distributed import Client, LocalCluster  # noqa: E402

LIMIT = 1e-10


def whole(n_steps, n_series):
    """The statistics by plain NumPy, all steps at once."""
    step, number = np.meshgrid(np.arange(n_steps), np.arange(n_series), indexing="ij")
    x = 0.8 * np.sin(2 * np.pi * step / (50 + number)) + 0.01 * number
    mean = sum(x) / n_steps
    spread = np.sqrt(((x - mean) ** 2).sum(axis=0) / n_steps)
    return mean, spread, np.einsum("ti,tj->ij", x, x) / n_steps


def agree(found, wanted):
    for name, expected in zip(dask_series.NAMES, wanted, strict=True):
        assert isinstance(found[name], np.ndarray)
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=LIMIT, err_msg=name)


@pytest.fixture
def two_workers():
    if helpers.on_gpu and cp.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("2 GPUs are needed")


@pytest.mark.long
def test_two_workers_with_cupys_chunks_find_what_one_process_finds(two_workers):
    with none_left():
        found = dask_series.by_dask(2, 7 * 1001, 5, 1001, "cupy")
    agree(found, whole(7 * 1001, 5))
    assert len(found["peaks"]) == 2 and found["seconds"] > 0


@pytest.mark.long
def test_a_worker_that_is_killed_in_mid_run_is_replaced(two_workers, monkeypatch):
    asked = []
    compute = Client.compute

    def ask(*arguments):
        asked.append(time.monotonic())
        return compute(*arguments)

    monkeypatch.setattr(Client, "compute", ask)
    worker = lambda process: "spawn_main" in " ".join(process.cmdline())  # noqa: E731
    with none_left(), kill_when(lambda: asked, worker) as killed:
        found = dask_series.by_dask(2, 500_000, 20, 5_000)
    assert asked[0] < killed[0] < asked[0] + found["seconds"]
    agree(found, whole(500_000, 20))


@pytest.mark.long
def test_a_time_limit(two_workers):
    with none_left(), pytest.raises(TimeoutError):
        dask_series.by_dask(2, 200_000, 20, 1_000, seconds=0.2)


def test_each_worker_has_a_gpu_of_its_own(monkeypatch):
    """By the variable that CUDA reads, also where the reader may not use all GPUs."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,2")
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(worker_class=dask_series.OneGpuEach, **how) as cluster:
        with Client(cluster) as client:
            client.wait_for_workers(2, timeout=60)
            seen = client.run(os.getenv, "CUDA_VISIBLE_DEVICES")
    assert sorted(seen.values()) == ["2", "5"]


@pytest.mark.parametrize(
    "n_steps, chunk, message",
    [
        (1000, 300, "1000 steps are not a whole number of chunks of 300: take 900 steps"),
        (10, 30, "10 steps are not a whole number of chunks of 30"),
        (10, 0, "10 steps are not a whole number of chunks of 0"),
    ],
)
def test_chunks_that_do_not_fit(n_steps, chunk, message):
    with pytest.raises(ValueError, match=message):
        dask_series.series(n_steps, 3, chunk)


def test_no_workers_at_all():
    with pytest.raises(ValueError, match="n_workers must be 1 or more, not 0"):
        dask_series.by_dask(0, 100, 3, 10)


@pytest.mark.long
def test_no_worker_ever_holds_the_series_and_it_starts_from_a_shell(two_workers, tmp_path):
    n_steps, n_series, file = 400_000, 40, tmp_path / "out.npz"
    command = [sys.executable, "-m", dask_series.__name__, "--workers", "2", "--chunk", "5000"]
    command += ["--steps", str(n_steps), "--series", str(n_series), "--save", str(file)]
    with none_left():
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("128 MB of series")  # and not with what `import helpers` says
    found = np.load(file)
    agree(found, whole(n_steps, n_series))
    total = n_steps * n_series * 8
    assert all(0 < peak < total / 2 for peak in found["peaks"]), (found["peaks"], total)
