"""The runner of the parts: it counts what pytest counted, goes on after a failure, and says so."""

import os
import re
import signal
import subprocess
import sys
import time

import parts
import pytest
from parts import Part, Row

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError(7)

@pytest.mark.parametrize("n", range(5))
def test_passes(n): pass
def test_fails(): assert "left" == "right"
def test_has_an_error(broken): pass
@pytest.mark.parametrize("n", range(3))
def test_is_skipped(n): pytest.skip("no time")
@pytest.mark.xfail
def test_is_known(): assert False
"""


def python(text):
    return (sys.executable, "-c", text)


@pytest.fixture
def runner(tmp_path):
    return parts.Runner(
        tmp_path / "made", {"GREETING": "hello", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    )


@pytest.fixture
def suite(tmp_path):
    """A command that runs a file of tests, whose text can be given."""

    def command(text, *options):
        (tmp_path / "test_some.py").write_text(text)
        plain = ("-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-c", os.devnull)
        return (*parts.PYTEST, *plain, *options, str(tmp_path / "test_some.py"))

    return command


def counts(row):
    return (row.passed, row.failed, row.skipped, row.xfailed)


def test_the_numbers_are_pytests_own(runner, suite, capsys):
    (row,) = runner.run([Part("some", (suite(TESTS),))])
    assert counts(row) == (5, 2, 3, 1)
    assert 0 < row.cpu and 0 < row.seconds
    shown = capsys.readouterr().out
    assert "some: failed" in shown and "'left' == 'right'" in shown  # all that pytest printed


@pytest.mark.parametrize(
    "text, options",
    [
        ("import no_such_module", ()),  # pytest counts an error
        ("x = 1", ()),  # and here no test at all
        ("def test(): pass", ("--no-such-option",)),  # and here it writes nothing
        ("import os\ndef test(): os._exit(0)", ()),  # and here it ends without a word
    ],
)
def test_what_is_no_result_is_a_failure(runner, suite, text, options):
    (row,) = runner.run([Part("some", (suite(text, *options),))])
    assert counts(row) == (0, 1, 0, 0)


def test_a_command_is_one_test(runner):
    good, bad = python("import os; assert os.environ['GREETING'] == 'hello'"), python("exit(3)")
    (row,) = runner.run([Part("commands", (good, bad, good))])
    assert counts(row) == (2, 1, 0, 0)


def test_after_a_failure_the_others_are_run(runner, capsys):
    found = runner.run(
        [
            Part("first", (python("print('a' + 'loud'); exit(1)"),)),
            Part("second", (python("print('si' + 'lent')"),)),
        ]
    )
    assert [(row.part, *counts(row)) for row in found] == [
        ("first", 0, 1, 0, 0),
        ("second", 1, 0, 0, 0),
    ]
    shown = capsys.readouterr().out
    assert "aloud" in shown and "silent" not in shown
    assert (runner.folder / "second.txt").read_text() == "silent\n"


def test_parts_run_side_by_side_but_after_what_they_need(runner, tmp_path):
    """Two that wait for each other, and one that needs what the slower of them has made."""
    runner.free = 2
    wait = (
        "import pathlib, time; a, b = (pathlib.Path({folder!r}, x) for x in {names!r}); a.touch()\n"
        "while not b.exists(): time.sleep(0.01)\n"
    )
    one, other = (wait.format(folder=str(tmp_path), names=names) for names in ("ab", "ba"))
    made = str(tmp_path / "made.txt")
    found = runner.run(
        [
            Part("one", (python(f"{one}time.sleep(0.5); open({made!r}, 'w')"),), 1),
            Part("other", (python(other),), 1),
            Part("needs", (python(f"open({made!r})"),), 2, after=("one",)),
        ]
    )
    assert [counts(row) for row in found] == [(1, 0, 0, 0)] * 3


def test_the_table():
    rows = [Row("units", 1234, 1, 2, 3, 61.4, 100), Row("ruff", 2, seconds=0.6)]
    *lines, empty, last = parts.table(rows, 61.7).splitlines()
    assert [line.split() for line in lines] == [
        ["part", "passed", "failed", "skipped", "xfailed", "seconds", "CPU", "s"],
        ["units", "1,234", "1", "2", "3", "61", "100"],
        ["ruff", "2", "0", "0", "0", "1", "0"],
        ["all", "1,236", "1", "2", "3", "62", "100"],
    ]
    assert (empty, last) == ("", "1236 passed, 1 failed, 2 skipped")
    assert parts.table(rows[1:], 1).splitlines()[-1] == "2 passed, 0 failed"


@pytest.fixture
def house(tmp_path, monkeypatch):
    """The runner with folders of its own and two parts, of which the first fails."""
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "FOLDER", tmp_path / "_build" / "tests")
    cache = "import os, pathlib; c = pathlib.Path(os.environ['GPULESS_CACHE'])\n"
    fill = "c.mkdir(parents=True); (c / 'made').touch(); exit(1)"
    monkeypatch.setattr(parts, "FIRST", (Part("first", (python(cache + fill),)),))
    look = "assert (c / 'made').exists()"
    monkeypatch.setattr(parts, "REST", (Part("rest", (python(cache + look),)),))
    monkeypatch.setattr(signal, "signal", lambda *how: None)
    return tmp_path


def test_the_rest_goes_on_where_the_first_parts_ended(house, capsys):
    """With what they compiled, and with their table: what failed in them is still failed."""
    assert parts.main([]) == 1
    assert capsys.readouterr().out.endswith("\n0 passed, 1 failed\n")
    for _ in range(2):
        assert parts.main(["--rest"]) == 1
        shown = capsys.readouterr().out
        assert re.search(r"^first .*\nrest ", shown, re.M)
        assert shown.endswith("\n1 passed, 1 failed\n")


def test_a_run_of_all_trusts_nothing_of_another(house, capsys):
    """What is there would make the first part fail in another way: its folder is made anew."""
    for folder in ("_build/tests/cache", "_build/kernels"):
        (house / folder).mkdir(parents=True)
        (house / folder / "half").touch()
    assert parts.main(["--all"]) == 1
    assert capsys.readouterr().out.endswith("\n1 passed, 1 failed\n")
    assert not list((house / "_build").rglob("half"))


@pytest.mark.parametrize(
    "name", ["35", "35_indexing", "35_indexing.ipynb", "notebooks/35_indexing"]
)
def test_a_chapter_is_found(name):
    assert parts.chapter(name) == parts.CHAPTERS / "35_indexing.ipynb"


@pytest.mark.parametrize("name", ["99", "", "3", "indexing"])
def test_a_chapter_that_there_is_not(name, capsys):
    assert parts.main(["--chapter", name]) == 2
    said = capsys.readouterr().err
    assert all(path.stem in said for path in parts.CHAPTERS.glob("*.ipynb"))


def runs(command, mark):
    """The files of tests that a command of pytest runs under that choice of marks."""
    if "pytest" not in command or mark not in " ".join(command):
        return set()
    asked = [word.partition("=")[2] or word for word in command if "tests" in word]
    left = {word.partition("=")[2] for word in command if word.startswith("--ignore=")}
    found = {path for name in asked if name not in left for path in files(name)}
    return found - {path for name in left for path in files(name)}


def files(name):
    path = parts.ROOT / name
    return set(path.rglob("test_*.py")) if path.is_dir() else {path}


@pytest.mark.parametrize("which, mark", [("FIRST", "-m not long"), ("REST", "-m long")])
def test_every_test_is_run_once(which, mark):
    """In the first parts or, where it is long, in the rest: whatever file is new, too."""
    found = [runs(command, mark) for part in getattr(parts, which) for command in part.commands]
    assert set.union(*found) == files("tests")
    assert sum(map(len, found)) == len(files("tests"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_when_it_is_stopped_nothing_runs_on(how, tmp_path):
    begun = tmp_path / "begun"
    sleeper = f"import os, time; open({str(begun)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    code = (
        # A shell starts what is to run in the background so that it does not hear of SIGINT.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"import parts, pathlib, sys\nparts.ROOT = pathlib.Path({str(tmp_path)!r})\n"
        f"parts.FOLDER = parts.ROOT / 'made'\n"
        f"sleep = (sys.executable, '-c', {sleeper!r})\n"
        "parts.FIRST = (parts.Part('sleeps', (sleep, sleep)),)\nsys.exit(parts.main([]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=os.path.dirname(parts.__file__),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    while not (begun.exists() and begun.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    assert process.communicate(timeout=60)[1] == "stopped\n"
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    assert not (tmp_path / "made" / "rows.json").exists()
