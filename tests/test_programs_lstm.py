"""Chapter 90's training program, in one process and several: the same weights as one process with
the whole batch, and clear ends."""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from processes import kill_when, none_left

import helpers
from helpers.chapters import lstm_sine as ls
from helpers.chapters.autograd import Adam
from helpers.programs import train_lstm

cp = pytest.importorskip("cupy")

NAME = "helpers.programs.train_lstm"
SIZES = {"--batch": 12, "--steps": 7, "--units": 5, "--windows": 6, "--seed": 3, "--rate": 0.02}
ARGUMENTS = [word for pair in SIZES.items() for word in pair]
LIMIT = 1e-10


@pytest.fixture(autouse=True)
def four_devices(monkeypatch):
    """Four logical devices, where there is no GPU, also for what is started from here."""
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "4")


def needs(n):
    if cp.cuda.runtime.getDeviceCount() < n:
        pytest.skip(f"{n} GPUs are needed")


@pytest.fixture(scope="module")
def whole():
    """Errors and weights of one process with NumPy, the whole batch and one step after another."""
    rng = np.random.default_rng(3)
    model = ls.SineLSTM(5, rng, np, np.float64)
    walk = ls.Walk(ls.sine, 7, 12, rng, np, np.float64)
    optimizer = Adam(model, rate=0.02)
    errors = [float(ls.train_step(model, optimizer, *next(walk))) for _ in range(6)]
    return np.array(errors), np.concatenate([p.data.ravel() for p in model.params()])


@pytest.mark.parametrize(
    "ranks, mpi, arguments, by",
    [
        (3, False, [], "NCCL"),
        (2, True, ["--way", "mpi+nccl"], "NCCL"),
        pytest.param(
            *(4, True, ["--way", "mpi", "--gpu-aware", "no"], "MPI, by way of the host"),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *(2, True, ["--way", "mpi", "--gpu-aware", "yes"], "MPI, GPU-aware"),
            marks=pytest.mark.long,
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_ranks_together_do_what_one_does(ranks, mpi, arguments, by, whole, tmp_path):
    needs(ranks)
    if helpers.on_gpu and "yes" in arguments and not train_lstm.mpi_is_gpu_aware():
        pytest.skip("this MPI takes no pointers to GPU memory")
    file = tmp_path / "out.npz"
    with none_left():
        helpers.launch(ranks, NAME, *ARGUMENTS, *arguments, "--save", file, mpi=mpi)
    found = np.load(file)
    np.testing.assert_allclose(found["errors"], whole[0], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(found["weights"], whole[1], rtol=0, atol=LIMIT)
    assert found["by"] == by and found["seconds"] > 0


@pytest.mark.parametrize("mpi", [False, True], ids=["nccl", "mpi"])
def test_a_rank_that_is_killed_in_mid_run_ends_the_others(mpi, capfd, monkeypatch):
    needs(2)
    lines = []
    monkeypatch.setattr("builtins.print", lambda *words, **how: lines.append(words[0]))
    variable = "PMI_RANK" if mpi else "RANK"
    victim = lambda p: p.environ().get(variable) == "1" and NAME in p.cmdline()  # noqa: E731
    training = lambda: any("window 1 of" in line for line in lines)  # noqa: E731
    way = ["--way", "mpi"] if mpi else []
    with none_left(), kill_when(training, victim) as killed, pytest.raises(RuntimeError) as caught:
        helpers.launch(2, NAME, "--windows", 10**6, *way, mpi=mpi)
    assert time.monotonic() - killed[0] < 30
    wanted = "mpirun failed with exit status 9" if mpi else "rank 1 was killed by SIGKILL"
    assert str(caught.value).startswith(wanted)


def test_the_rehearsal_of_it():
    needs(2)
    with none_left(), pytest.raises(RuntimeError, match="rank 1 was killed by SIGKILL"):
        helpers.launch(2, NAME, "--windows", 10**6, "--lose", 1, 3)


def test_a_device_that_is_not_there(monkeypatch):
    have = 1
    if helpers.on_gpu:
        have = cp.cuda.runtime.getDeviceCount()
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "1")
    began = time.monotonic()
    with none_left(), pytest.raises(RuntimeError) as caught:
        helpers.launch(have + 1, NAME)
    assert time.monotonic() - began < 30
    wanted = rf"rank {have} needs device {have}, and this machine has {have}, .* start at most"
    assert re.search(wanted, str(caught.value))
    if not helpers.on_gpu:
        assert "or set CUPY_STANDIN_DEVICES=2" in str(caught.value)


@pytest.mark.parametrize("way", ["nccl", "mpi"])
def test_a_rank_that_is_killed_resumes_with_the_same_bits(way, tmp_path):
    """Also where both ranks share a device, by MPI."""
    if way == "nccl":
        needs(2)
    mpi, folder = way == "mpi", tmp_path / "checkpoint"
    options = [*ARGUMENTS, "--windows", 7, "--way", way]
    kept = [*options, "--checkpoint", folder, "--every", 2]
    straight, resumed = tmp_path / "straight.npz", tmp_path / "resumed.npz"
    with none_left():
        helpers.launch(2, NAME, *options, "--save", straight, mpi=mpi)
        with pytest.raises(RuntimeError):
            helpers.launch(2, NAME, *kept, "--lose", 1, 5, mpi=mpi)
        assert {path.name[-9:] for path in folder.glob("window*")} == {"k0of2.npz", "k1of2.npz"}
        said = helpers.launch(2, NAME, *kept, "--resume", "--save", resumed, mpi=mpi)
    assert re.search("goes on after window [24]", " ".join(said.values()))
    with np.load(straight) as wanted, np.load(resumed) as found:
        assert (found["weights"] == wanted["weights"]).all()
        assert (found["errors"] == wanted["errors"]).all() and len(found["errors"]) == 7


def checkpoints(folder, rank=0, size=2, **options):
    given = {"batch": 12, "steps": 7, "units": 5, "rate": 0.02, "dtype": "float64", "seed": 3}
    given |= {"checkpoint": folder, "every": 2} | options
    return train_lstm.Checkpoints(argparse.Namespace(**given), rank, size)


def test_the_newest_checkpoint_is_the_one_that_all_ranks_have(tmp_path):
    zero, one = (checkpoints(tmp_path, rank) for rank in (0, 1))
    assert zero.newest() == (0, {})
    for window in (2, 4):
        zero.write(window, {"a": np.arange(window)})
    one.write(2, {"a": np.ones(2)})
    assert zero.newest()[0] == one.newest()[0] == 2
    assert zero.newest()[1]["a"].tolist() == [0, 1] and one.newest()[1]["a"].tolist() == [1, 1]
    one.write(4, {"a": np.ones(2)})
    zero.write(6, {"a": np.ones(2)})
    assert not zero.path(2, 0).exists() and zero.newest()[0] == 4
    assert not list(tmp_path.glob("*.part"))


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    checkpoints(tmp_path, 0, 1).write(2, {"a": np.ones(2)})
    with pytest.raises(ValueError, match="start as many"):
        checkpoints(tmp_path, 0, 2).newest()
    with pytest.raises(ValueError, match="asked for is"):
        checkpoints(tmp_path, 0, 1, units=6).newest()
    with pytest.raises(SystemExit):
        train_lstm.main(["--resume"])


@pytest.mark.skipif(not helpers.on_gpu, reason="the stand-in's NCCL tells devices by numbers")
def test_ranks_that_see_one_device_each(tmp_path):
    """As Slurm binds them: each process is shown one GPU, which has the number 0 there."""
    needs(2)
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")
    port, file = str(helpers.launcher.free_port()), tmp_path / "out.npz"
    variables = {}
    for rank in (0, 1):
        who = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
        who |= {"CUDA_VISIBLE_DEVICES": seen[rank], "CUPYX_DISTRIBUTED_PORT": port}
        variables[f"rank {rank}"] = os.environ | who
    command = [sys.executable, "-m", NAME, *map(str, ARGUMENTS), "--save", str(file)]
    with none_left():
        commands = dict.fromkeys(variables, command)
        helpers.launcher.run_together(commands, list(variables.values()), 60)
    assert np.load(file)["by"] == "NCCL"


@pytest.mark.parametrize("visible", ["1", None])
def test_a_process_that_sees_one_device(visible, tmp_path, monkeypatch):
    """Bound to one GPU it takes that one, whatever its number; else it is refused."""
    if helpers.on_gpu:
        needs(2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    variables = {"RANK": 0, "LOCAL_RANK": 7, "WORLD_SIZE": 1, "CUPY_STANDIN_DEVICES": 1}
    if visible:
        variables["CUDA_VISIBLE_DEVICES"] = visible
    variables["CUPYX_DISTRIBUTED_PORT"] = helpers.launcher.free_port()
    file = tmp_path / "out.npz"
    with none_left():
        code, said = start(*ARGUMENTS, "--save", file, **variables)
    assert code == (0 if visible else 1) and file.exists() == bool(visible)
    assert visible or "rank 0 needs device 7" in said


@pytest.mark.parametrize(
    "have, visible, shared, number, uses",
    [
        (1, "3", False, 1, 0),
        (1, "GPU-7a", False, 2, 0),
        (1, "3", False, -1, None),
        (1, "", False, 1, None),
        (1, None, False, 1, None),
        (1, None, True, 1, 0),
        (2, "0,1", False, 1, 1),
        (2, "0,1", True, 3, 1),
        (2, "0,1", False, 2, None),
        (1, "0,1", False, 1, None),
    ],
)
def test_which_device_a_rank_takes(have, visible, shared, number, uses, monkeypatch):
    taken = []
    monkeypatch.setattr(cp.cuda.runtime, "getDeviceCount", lambda: have)
    monkeypatch.setattr(cp.cuda, "Device", lambda n: SimpleNamespace(use=lambda: taken.append(n)))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    if uses is None:
        with pytest.raises(RuntimeError, match=f"needs device {number}, and this machine has"):
            train_lstm.use_device(number, 5, shared)
    else:
        train_lstm.use_device(number, 5, shared)
    assert taken == ([] if uses is None else [uses])


def start(*arguments, **variables):
    """Run the program from a shell that sets the variables: (exit status, stderr)."""
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    command = [sys.executable, "-m", NAME, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_never_comes(rank):
    port = helpers.launcher.free_port()
    variables = {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": 0, "CUPYX_DISTRIBUTED_PORT": port}
    with none_left():
        code, said = start("--wait", 1, **variables)
    assert code == 1
    assert f"rank {rank}: not all of the 2 ranks came within 1 s. Start the others" in said


@pytest.mark.parametrize(
    "rank, size, message",
    [
        (
            1,
            5,
            "5 ranks cannot share 12 series evenly: take a --batch that is a multiple",
        ),
        (2, 2, "RANK=2 must be at least 0 and below WORLD_SIZE=2"),
        (-1, 2, "RANK=-1 must be at least 0"),
    ],
)
def test_what_is_refused_before_anybody_waits(rank, size, message, monkeypatch):
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", str(size))
    with pytest.raises(ValueError, match=message):
        train_lstm.main(["--batch", "12"])


@pytest.mark.parametrize("option", ["--windows", "--batch", "--units", "--steps"])
@pytest.mark.parametrize("value", ["0", "-3", "2.5"])
def test_numbers_that_cannot_be(option, value, capsys):
    with pytest.raises(SystemExit):
        train_lstm.main([f"{option}={value}"])
    assert f"{option}: {value} is not a whole number, 1 or more" in capsys.readouterr().err


def test_the_mpirun_of_another_mpi():
    """As Open MPI's mpirun would start it, while mpi4py finds another MPI, in which it is alone."""
    code, said = start("--way", "mpi", OMPI_COMM_WORLD_SIZE=3)
    assert code == 1
    assert "mpirun started 3 ranks, but mpi4py found 1: they belong to different MPIs" in said


@pytest.mark.parametrize("n_batch, size", [(12, 1), (12, 3), (12, 12), (35, 5)])
def test_the_parts_of_all_ranks_are_the_batch(n_batch, size):
    batch = np.arange(n_batch)
    parts = [batch[train_lstm.part_of(n_batch, rank, size)] for rank in range(size)]
    assert {len(part) for part in parts} == {n_batch // size}
    assert np.concatenate(parts).tolist() == batch.tolist()


@pytest.mark.parametrize("n_batch, size", [(0, 1), (-4, 2), (3, 6), (10, 4)])
def test_parts_that_cannot_be(n_batch, size):
    with pytest.raises(ValueError, match=f"{size} ranks cannot share {n_batch} series evenly"):
        train_lstm.part_of(n_batch, 0, size)


def test_a_block_in_time_goes_on():
    threads = threading.active_count()
    with train_lstm.at_most(0.05, "late"):
        pass
    time.sleep(0.2)
    assert threading.active_count() == threads
