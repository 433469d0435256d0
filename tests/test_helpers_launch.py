"""`helpers.launch`: output, errors, and that nothing stays."""

import sys
import time

import pytest
from processes import kill_when, none_left

import helpers


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A function that makes a module for `launch` of some lines."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(text):
        head = "import os, sys, time\n"
        head += "rank, size = (int(os.environ[k]) for k in ('RANK', 'WORLD_SIZE'))\n"
        (tmp_path / "a_program.py").write_text(head + text)
        return "a_program"

    return write


def test_each_rank_knows_its_place_and_is_heard(program, capsys):
    name = program(
        "print(rank, size, os.environ['LOCAL_RANK'], sys.argv[1:])\n"
        "print(os.environ['CUPYX_DISTRIBUTED_PORT'], file=sys.stderr)"
    )
    with none_left():
        texts = helpers.launch(3, name, "--n", 7)
    assert list(texts) == ["rank 0", "rank 1", "rank 2"]
    ports = set()
    for rank, text in enumerate(texts.values()):
        first, second = sorted(text.splitlines(), key=len, reverse=True)
        assert first == f"{rank} 3 {rank} ['--n', '7']"
        ports.add(int(second))
    assert len(ports) == 1
    printed = sorted(capsys.readouterr().out.splitlines())
    assert [line for line in printed if "--n" in line] == [
        f"rank {k}| {k} 3 {k} ['--n', '7']" for k in range(3)
    ]
    assert len(printed) == 6


def test_what_is_said_is_shown_at_once(program):
    """The second line comes when the first has been read: its reader is this test."""
    came = []

    class Screen:
        def write(self, text):
            if text.strip():
                came.append(time.monotonic())

        def flush(self):
            pass

    name = program("print(1, flush=True); time.sleep(1); print(2, flush=True)")
    screen, sys.stdout = sys.stdout, Screen()
    try:
        helpers.launch(1, name)
    finally:
        sys.stdout = screen
    assert len(came) == 2 and came[1] - came[0] > 0.7


def test_an_error_in_one_rank_ends_all_and_is_shown(program):
    name = program("if rank == 1: raise ZeroDivisionError('a slip')\ntime.sleep(600)")
    began = time.monotonic()
    with none_left(), pytest.raises(RuntimeError) as caught:
        helpers.launch(3, name)
    assert time.monotonic() - began < 15
    text = str(caught.value)
    assert text.startswith("rank 1 failed with exit status 1; the others were stopped. Its last")
    assert text.endswith("ZeroDivisionError: a slip")


def test_a_rank_that_is_killed_ends_all(program, capsys):
    name = program("print('here', flush=True)\ntime.sleep(600)")
    heard = lambda: True  # noqa: E731
    victim = lambda p: "a_program" in p.cmdline() and p.environ()["RANK"] == "2"  # noqa: E731
    with none_left(), kill_when(heard, victim) as killed:
        with pytest.raises(RuntimeError, match="rank 2 was killed by SIGKILL; the others were st"):
            helpers.launch(3, name)
    assert time.monotonic() - killed[0] < 10


def test_those_that_do_not_listen_and_those_they_started_end_too(program, monkeypatch):
    monkeypatch.setattr(helpers.launcher, "GRACE", 0.5)
    name = program(
        "import signal, subprocess\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "if rank == 0: os._exit(3)\n"
        "time.sleep(600)"
    )
    began = time.monotonic()
    with none_left(), pytest.raises(RuntimeError, match="rank 0 .* status 3; .* It said nothing"):
        helpers.launch(2, name)
    assert time.monotonic() - began < 15


def test_a_run_that_takes_too_long(program):
    name = program("print('waits', flush=True)\nif rank: time.sleep(600)")
    with none_left(), pytest.raises(TimeoutError) as caught:
        helpers.launch(2, name, seconds=1.5)
    text = str(caught.value)
    assert text.startswith("not done after 1.5 s, and stopped: rank 1. Allow more `seconds`")
    assert "rank 1| waits" in text


def test_a_module_that_is_not_there():
    with pytest.raises(RuntimeError, match="(?s)rank 0 failed.*No module named no_such_module"):
        helpers.launch(1, "no_such_module")


@pytest.mark.parametrize("ranks", [0, -1, 2.0, True, "2"])
def test_a_number_of_ranks_that_cannot_be(ranks):
    with pytest.raises(ValueError, match="ranks must be a whole number of processes, 1 or more"):
        helpers.launch(ranks, "a_program")


def test_without_an_mpirun(monkeypatch):
    monkeypatch.setattr(helpers.launcher.shutil, "which", lambda name, path: None)
    with pytest.raises(RuntimeError, match="no mpirun here: `pip install mpi4py mpich`"):
        helpers.launch(2, "a_program", mpi=True)


def test_nothing_is_started_where_the_environment_says_so(program, monkeypatch, capsys):
    name = program("print('started')")
    monkeypatch.setenv("HELPERS_LAUNCH", "no")
    with none_left(), pytest.raises(RuntimeError, match="in this run no processes are started"):
        helpers.launch(2, name)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("HELPERS_LAUNCH", "yes")
    assert helpers.launch(1, name) == {"rank 0": "started"}
