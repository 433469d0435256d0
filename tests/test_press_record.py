"""Recording refuses the stand-in and stores a receipt which any change breaks."""

import importlib.metadata
import os
import stat
import subprocess
import sys

import nbformat
import pytest
import samples

from helpers import report
from helpers.press import asserts, execute, host, notebook, record, results

FACTS = {
    "gpu": "NVIDIA Test GPU",
    "driver": "580.1",
    "cuda": "13.0",
    "nvrtc": "13.0",
    "cupy": "14.2.0",
    "numpy": "2.4.6",
    "python": "3.12.3",
    "date": "2026-11-21",
}
QUIET = {"median": 8.0, "low": 7.9, "high": 8.2}


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
        times = iter([QUIET, QUIET | {"median": 25.0, "high": 25.5}])
        patch.setattr(host, "measure", lambda: next(times))
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
    after = QUIET | {"median": 25.0, "high": 25.5}
    assert receipt.host_us == {"before": QUIET, "after": after} and receipt.disturbed is True
    said = notebook.code_cells(book)[-1].outputs[-1].text.splitlines()
    assert said[-1] == "Host    disturbed: 8.0 µs for one operation before, 25.0 µs after"
    assert receipt.modules == {} and receipt.libraries == {}  # beside CuPy and NumPy
    assert receipt.host.cores >= 1 and receipt.host.cpu and receipt.host.blas
    assert receipt.switches["in the code"] == []
    assert not any("surroundings" in cell.source for cell in book.cells)
    assert record.main(["--check", str(recorded)]) == 0


@pytest.mark.long
def test_the_kernel_of_the_recording_tells_what_it_stands_on(path, on_a_gpu, monkeypatch):
    """Its own libraries and variables, and not those of the process that starts it."""
    monkeypatch.setattr(execute.host, "measure", lambda: QUIET)
    book = notebook.read(path)
    samples.cell_with(book, "print(twice").source = (
        "import os"
        "\nimport matplotlib"
        "\nos.environ['NVIDIA_TF32_OVERRIDE'] = '0'"
        "\noptions = ('--use_fast_math',)"
        "\nhelpers.astronaut()"
        "\nhelpers.measure(lambda: 1, where='cpu')"
        "\nfrom helpers.chapters.autograd import Variable"
    )
    notebook.write(notebook.canonical(book), path)
    receipt = record.record(path, memcheck=False)
    assert set(receipt.modules) == {
        "helpers/timing.py",
        "helpers/chapters/autograd.py",
        "helpers/chapters/cnn_mnist.py",
    }
    assert {"matplotlib", "scikit-image"} <= set(receipt.libraries)
    assert receipt.libraries.matplotlib == importlib.metadata.version("matplotlib")
    assert receipt.switches["in the code"] == ["--use_fast_math"]
    assert receipt.switches["at the end"].NVIDIA_TF32_OVERRIDE == "0"
    assert record.state(notebook.read(path)) == "fresh"


@pytest.mark.long
def test_a_module_that_cannot_be_seen_is_refused(path, on_a_gpu, monkeypatch, tmp_path):
    """A receipt would go on being fresh when it changes."""
    monkeypatch.setattr(execute.host, "measure", lambda: QUIET)
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    book = notebook.read(path)
    cell = samples.cell_with(book, "print(twice")
    cell.source = "import importlib\nimportlib.import_module('helpers.' + 'chapters.oja_reservoir')"
    notebook.write(book, path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="imported helpers/chapters/oja_reservoir.py, and the"):
        record.record(path, memcheck=False)
    assert path.read_bytes() == before


def test_a_chapter_that_waits_is_left_out_but_where_it_is_named(recorded, monkeypatch, capsys):
    book = notebook.read(recorded)
    one_character_of_the_code(book)
    notebook.write(book, recorded)
    monkeypatch.setattr(record, "waits", lambda path: "two GPUs")
    assert record.main(["--check", str(recorded)]) == 0
    assert "was recorded; waits for two GPUs\n" in capsys.readouterr().out
    asked = []

    def fake(path, **options):
        asked.append(path)
        raise RuntimeError("a cell failed")

    monkeypatch.setattr(record, "record", fake)
    monkeypatch.setattr(execute, "refusal", lambda: None)
    monkeypatch.setattr(notebook, "NOTEBOOKS", recorded.parent)
    assert record.main([]) == 0 and asked == []
    assert "left out, it waits for two GPUs" in capsys.readouterr().out
    assert record.main([str(recorded)]) == 1 and asked == [recorded]


def test_a_chapter_that_is_fresh_may_not_wait(recorded, monkeypatch):
    monkeypatch.setattr(record, "waits", lambda path: "two GPUs")
    assert record.main(["--check", str(recorded)]) == 1


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


def test_a_failing_cell_leaves_the_file_as_it_was_and_keeps_what_came_out(
    path, on_a_gpu, tmp_path, monkeypatch
):
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    book = notebook.read(path)
    samples.cell_with(book, "print(twice").source = "1 / 0"
    notebook.write(book, path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="ZeroDivisionError") as caught:
        record.record(path)
    assert path.read_bytes() == before
    kept = tmp_path / "failed" / path.name
    assert str(kept) in str(caught.value)
    failed = samples.cell_with(notebook.read(kept), "1 / 0")
    assert failed.outputs[-1].ename == "ZeroDivisionError"


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


@pytest.mark.long
def test_the_sanitizers_verdict(path, tmp_path, monkeypatch):
    body = f'{RUN} {sys.executable} -m helpers.press.record --run-only "$2" || exit\n'
    body += 'echo "sizes $HELPERS_SIZES"; echo "========= ERROR SUMMARY: 0 errors"'
    sanitizer(tmp_path, monkeypatch, body)
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    found = record.sanitize(path)
    assert found == {"tool": "memcheck", "version": "2025.3.1", "verdict": "0 errors"}
    assert not list((tmp_path / "failed").iterdir())


@pytest.mark.long
def test_the_cell_that_fails_in_a_memory_check_is_told(path, tmp_path, monkeypatch):
    """Whatever is said before it, and after it by the tool."""
    book = notebook.read(path)
    cell = samples.cell_with(book, "print(twice")
    cell.source = "import os\nprint('a long story\\n' * 2000)\n"
    cell.source += "raise KeyError(os.environ['HELPERS_LAUNCH'] + ' such thing')"
    notebook.write(book, path)
    body = "echo '========= COMPUTE-SANITIZER'\necho '========= Invalid __global__ read of 4'\n"
    body += f'{RUN} {sys.executable} -m helpers.press.record --run-only "$2"; status=$?\n'
    body += "for i in $(seq 500); do echo '========= a frame of the host'; done; exit $status"
    sanitizer(tmp_path, monkeypatch, body)
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    with pytest.raises(RuntimeError) as caught:
        record.sanitize(path)
    said = str(caught.value)
    assert said.startswith(
        "a cell failed with HELPERS_SIZES=cpu\n========= Invalid __global__ read"
    )
    assert "failed: KeyError: 'no such thing'" in said
    log = tmp_path / "failed" / f"{path.stem}.memcheck.txt"
    assert said.endswith(f"all of it: {log}") and log.read_text().count("a long story") > 1999


@pytest.mark.long
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
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match=says):
        record.record(path)
    assert path.read_bytes() == before
    kept = notebook.read(tmp_path / "failed" / path.name)
    assert any(cell.outputs for cell in notebook.code_cells(kept))


def test_a_slow_or_broken_sanitizer_is_recorded_as_what_it_is(path, tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    said = "echo code cell 1 of 9; echo code cell 2 of 9; "
    sanitizer(tmp_path, monkeypatch, said + "[ -f now ] || exec sleep 60")
    monkeypatch.setattr(record, "SANITIZER_SECONDS", 0.5)
    assert record.sanitize(path)["verdict"] == "timed out after 0.5 s, in code cell 2 of 9"
    (tmp_path / "bin" / "compute-sanitizer").write_text("#!/bin/sh\necho 'no device'; exit 7\n")
    assert record.sanitize(path)["verdict"] == "could not run: no device"


def test_memory_can_be_checked_after_the_recording(recorded, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    sanitizer(tmp_path, monkeypatch, "echo '========= ERROR SUMMARY: 3 errors'")
    monkeypatch.setattr(execute, "refusal", lambda: None)
    assert record.main(["--memcheck", str(recorded)]) == 0
    assert "memcheck: 3 errors" in capsys.readouterr().out
    book = notebook.read(recorded)
    assert book.metadata.receipt.sanitizer.verdict == "3 errors"
    assert record.state(book) == "fresh" and notebook.problems(recorded) == []
    samples.cell_with(book, "print(twice").source += "  # changed"
    notebook.write(book, recorded)
    assert record.main(["--memcheck", str(recorded)]) == 1
    assert "this is stale: the code is not" in capsys.readouterr().out


@pytest.mark.long
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


@pytest.mark.long
def test_run_only_gives_these_helpers_to_what_the_cells_start(path):
    """Also where PYTHONPATH is relative: the chapter runs in its own folder."""
    book = notebook.read(path)
    cell = samples.cell_with(book, "print(twice")
    cell.source = (
        "import subprocess, sys\n"
        "find = 'import helpers; print(helpers.__file__)'\n"
        "found = subprocess.run([sys.executable, '-c', find], capture_output=True, text=True)\n"
        f"assert {str(notebook.BOOK / 'helpers')!r} in found.stdout"
    )
    notebook.write(book, path)
    command = [sys.executable, "-m", "helpers.press.record", "--run-only", str(path)]
    done = subprocess.run(command, cwd=notebook.BOOK, env=os.environ | {"PYTHONPATH": "."})
    assert done.returncode == 0


def test_one_failure_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    paths = [tmp_path / f"{number}_sample.ipynb" for number in (97, 98)]
    for path in paths:
        notebook.write(samples.chapter(), path)
    done, gathered = [], []

    def fake(path, **options):
        assert options == {"all_asserts": False, "memcheck": True}
        done.append(path.name)
        if path.name.startswith("97"):
            raise RuntimeError("a cell failed")
        return {"duration_seconds": 1.0, "sanitizer": {"verdict": "0 errors"}}

    monkeypatch.setattr(record, "record", fake)
    monkeypatch.setattr(results, "gather", lambda paths: gathered.extend(paths))
    monkeypatch.setattr(record.device, "on_gpu", True)
    monkeypatch.setattr(record.device, "description", lambda: "a GPU")
    assert record.main([str(path) for path in paths]) == 1
    assert done == ["97_sample.ipynb", "98_sample.ipynb"]
    assert gathered == paths[1:]
    assert "97_sample.ipynb: FAILED: a cell failed" in capsys.readouterr().out


HIDDEN = """\
limit, times = 3, [1, 5, 7]
if os.environ["HELPERS_RECORDING"] == "1":
    for time in times:
        assert time < limit, "too slow"
    assert max(times) == limit + len(times)
    assert times
if limit < 10:
    ok = True
    assert ok and not times
"""


def claims(path, *, then="pass"):
    """Give the chapter at `path` hidden cells with claims, some of which fail; return their ids."""
    book = notebook.read(path)
    sources = ["import os", HIDDEN, "assert ok; 1 / 0; assert not ok", then]
    for source in sources:
        cell = nbformat.v4.new_code_cell(source)
        cell.metadata.tags = [] if source in ("import os", then) else ["remove-cell"]
        book.cells.insert(-4, cell)
    notebook.write(notebook.canonical(book), path)
    return [samples.cell_with(book, text).id for text in ("limit, times", "1 / 0")]


def test_all_failed_claims_are_named_at_once(path, on_a_gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(execute, "FAILED", tmp_path / "failed")
    first, second = claims(path, then="raise OSError('later')")
    monkeypatch.setattr(execute.host, "measure", lambda: QUIET)
    before = path.read_bytes()
    with pytest.raises(RuntimeError) as caught:
        record.record(path, all_asserts=True, memcheck=False)
    said = str(caught.value)
    loop = (
        f"hidden cell {first}, line 4: assert time < limit, 'too slow' | AssertionError('too slow')"
    )
    assert f"{loop} | 5 | 3" in said and f"{loop} | 7 | 3" in said and f"{loop} | 1" not in said
    total = f"hidden cell {first}, line 5: assert max(times) == limit + len(times)"
    assert f"{total} | AssertionError() | 7 | 6" in said
    assert f"hidden cell {first}, line 9: assert ok and (not times)" in said
    assert f"hidden cell {second}: ZeroDivisionError: division by zero" in said
    assert "a cell failed" in said and "later" in said and "after " in said
    assert said.count("ASSERT FAILED") == 4
    assert path.read_bytes() == before


def test_a_failed_claim_is_named_whole_where_its_line_comes_in_pieces():
    """As it does when the kernel sends what was printed in the middle of a line."""
    book = samples.chapter()
    cell = nbformat.v4.new_code_cell("assert ok")
    cell.metadata.tags = ["remove-cell"]
    warned = nbformat.v4.new_output("stream", name="stderr", text="a warning\n")
    cell.outputs = [samples.output("4\nASSERT FAI"), warned, samples.output("LED | line 1\n5\n")]
    book.cells.append(cell)
    assert asserts.failures(book) == ["ASSERT FAILED | line 1"]


def test_where_no_claim_fails_it_is_a_recording_like_any_other(path, on_a_gpu, monkeypatch):
    monkeypatch.setattr(execute.host, "measure", lambda: QUIET)
    book = notebook.read(path)
    cell = samples.cell_with(book, "print(twice")
    hidden = nbformat.v4.new_code_cell("assert  twice(21) == 42  # as it must be")
    hidden.metadata.tags = ["remove-cell"]
    book.cells.insert(book.cells.index(cell) + 1, hidden)
    notebook.write(notebook.canonical(book), path)
    receipt = record.record(path, all_asserts=True, memcheck=False)
    assert receipt.sanitizer == {"tool": "memcheck", "version": None, "verdict": "not run"}
    assert receipt.disturbed is False
    after = notebook.read(path)
    assert record.state(after) == "fresh" and notebook.problems(path) == []
    cell = samples.cell_with(after, "as it must be")
    assert cell.source == hidden.source and cell.metadata == hidden.metadata
    assert samples.cell_with(after, "print(twice").outputs[0].text == "42\n"


@pytest.mark.parametrize("text", ["--all-asserts", "--no-sanitizer"])
def test_options_reach_the_recording(path, text, monkeypatch):
    seen = []
    monkeypatch.setattr(execute, "refusal", lambda: None)

    def fake(path, **options):
        seen.append(options)
        raise RuntimeError("a cell failed")

    monkeypatch.setattr(record, "record", fake)
    assert record.main([text, str(path)]) == 1
    wanted = {"all_asserts": text == "--all-asserts", "memcheck": text != "--no-sanitizer"}
    assert seen == [wanted]
