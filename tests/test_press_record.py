"""Recording refuses the stand-in and stores a receipt which any change breaks."""

import os
import stat
import subprocess
import sys

import pytest
import samples

from helpers import report
from helpers.press import notebook, record

FACTS = {
    "gpu": "NVIDIA Test GPU",
    "driver": "580.1",
    "cuda": "13.0",
    "cupy": "14.2.0",
    "numpy": "2.4.6",
    "python": "3.12.3",
    "date": "2026-11-21",
}


@pytest.fixture
def on_a_gpu(monkeypatch):
    monkeypatch.setattr(report, "facts", lambda: dict(FACTS))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "99_sample.ipynb"
    notebook.write(samples.chapter(), path)
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recorded chapter; made once, because it starts a kernel."""
    path = tmp_path_factory.mktemp("recording") / "99_sample.ipynb"
    notebook.write(samples.chapter(), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "facts", lambda: dict(FACTS))
        patch.setattr(record, "sanitize", lambda path: {"verdict": "0 errors", "version": "1"})
        record.record(path)
    return path


@pytest.fixture
def recorded(recording, path):
    path.write_bytes(recording.read_bytes())
    return path


def test_without_a_gpu_it_refuses_and_changes_nothing(path):
    before = path.read_bytes()
    command = [sys.executable, "-m", "helpers.press.record", "--force", str(path)]
    environment = os.environ | {"CUPY_STANDIN": "always"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "record: there is no GPU here; chapters are recorded on a real GPU at full size only\n"
    )
    assert done.stdout == "" and path.read_bytes() == before


def test_a_recording_is_canonical_and_fresh(recorded):
    assert notebook.problems(recorded) == []
    book = notebook.read(recorded)
    assert record.state(book) == "fresh"
    assert samples.cell_with(book, "print(twice").outputs[0].text == "42\n"
    receipt = book.metadata.receipt
    assert FACTS.items() <= receipt.items()
    assert receipt.sanitizer.verdict == "0 errors" and receipt.duration_seconds > 0
    assert record.main(["--check", str(recorded)]) == 0


def one_character_of_the_code(book):
    samples.cell_with(book, "print(twice").source = "print(twice(22))"


def one_character_of_an_output(book):
    samples.cell_with(book, "print(twice").outputs[0].text = "43\n"


def one_character_of_a_solution(book):
    cell = samples.cell_with(book, "Solution 99.3")
    cell.source = cell.source.replace("Solution 3", "solution 3")


def a_receipt_of_the_stand_in(book):
    book.metadata.receipt.gpu = "CPU stand-in, no GPU"


def no_receipt(book):
    del book.metadata["receipt"]


@pytest.mark.parametrize(
    "change, says",
    [
        (one_character_of_the_code, "stale: the code"),
        (one_character_of_an_output, "stale: the stored outputs"),
        (one_character_of_a_solution, "stale: the code"),
        (a_receipt_of_the_stand_in, "not recorded on a GPU"),
        (no_receipt, "not recorded"),
    ],
)
def test_any_change_makes_it_stale(recorded, change, says, capsys):
    book = notebook.read(recorded)
    change(book)
    notebook.write(book, recorded)
    assert record.main(["--check", str(recorded)]) == 1
    assert says in capsys.readouterr().out


def test_prose_may_change_and_the_address_be_filled_in(recorded):
    book = notebook.read(recorded)
    book.cells[0].source += " More."
    cell = samples.cell_with(book, "ARCHIVE")
    cell.source = cell.source.replace('""', '"https://example.org/a.zip"')
    assert record.state(book) == "fresh"


def test_a_failing_cell_leaves_the_file_as_it_was(path, on_a_gpu):
    book = notebook.read(path)
    samples.cell_with(book, "print(twice").source = "1 / 0"
    notebook.write(book, path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        record.record(path)
    assert path.read_bytes() == before


def sanitizer(folder, monkeypatch, body):
    """Put a program named compute-sanitizer first in the path."""
    program = folder / "bin" / "compute-sanitizer"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "Version 2025.3.1" && exit\n{body}\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


RUN = 'while [ "$1" != --run-only ]; do last=$1; shift; done; '


def test_the_sanitizers_verdict(path, tmp_path, monkeypatch):
    body = f'{RUN} {sys.executable} -m helpers.press.record --run-only "$2" || exit\n'
    body += 'echo "sizes $HELPERS_SIZES"; echo "========= ERROR SUMMARY: 0 errors"'
    sanitizer(tmp_path, monkeypatch, body)
    found = record.sanitize(path)
    assert found == {"tool": "memcheck", "version": "2025.3.1", "verdict": "0 errors"}


@pytest.mark.parametrize(
    "body, says",
    [
        (
            "echo '========= Invalid __global__ write of size 8'; exit 99",
            "Invalid __global__ write",
        ),
        ("echo 'code cell 3 failed'; exit 3", "a cell failed with HELPERS_SIZES=cpu"),
    ],
)
def test_memory_errors_fail_the_recording(path, tmp_path, monkeypatch, on_a_gpu, body, says):
    sanitizer(tmp_path, monkeypatch, body)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match=says):
        record.record(path)
    assert path.read_bytes() == before


def test_a_slow_or_broken_sanitizer_is_recorded_as_what_it_is(path, tmp_path, monkeypatch):
    sanitizer(tmp_path, monkeypatch, "[ -f now ] || exec sleep 60")
    monkeypatch.setattr(record, "SANITIZER_SECONDS", 0.5)
    assert record.sanitize(path)["verdict"] == "timed out after 0.5 s"
    (tmp_path / "bin" / "compute-sanitizer").write_text("#!/bin/sh\necho 'no device'; exit 7\n")
    assert record.sanitize(path)["verdict"] == "could not run: no device"


def test_run_only_leaves_hidden_cells_out_and_reports_failures(path):
    def status():
        command = [sys.executable, "-m", "helpers.press.record", "--run-only", str(path)]
        return subprocess.run(command, capture_output=True, text=True).returncode

    book = notebook.read(path)
    cell = samples.cell_with(book, "print(twice")
    cell.source, cell.metadata.tags = "assert False", ["remove-cell"]
    notebook.write(book, path)
    assert status() == 0
    cell.metadata.tags = []
    notebook.write(book, path)
    assert status() == record.CELL_FAILED


def test_one_failure_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    paths = [tmp_path / f"{number}_sample.ipynb" for number in (97, 98)]
    for path in paths:
        notebook.write(samples.chapter(), path)
    done = []

    def fake(path):
        done.append(path.name)
        if path.name.startswith("97"):
            raise RuntimeError("a cell failed")
        return {"duration_seconds": 1.0, "sanitizer": {"verdict": "0 errors"}}

    monkeypatch.setattr(record, "record", fake)
    monkeypatch.setattr(record.device, "on_gpu", True)
    monkeypatch.setattr(record.device, "description", lambda: "a GPU")
    assert record.main([str(path) for path in paths]) == 1
    assert done == ["97_sample.ipynb", "98_sample.ipynb"]
    assert "97_sample.ipynb: FAILED: a cell failed" in capsys.readouterr().out
