"""How CuPy's own tests are judged: tests/conformance on a few made-up tests."""

import json
import shutil
import textwrap
from pathlib import Path

import pytest

from helpers.press import evidence

pytest_plugins = ["pytester"]

CONFORMANCE = Path(__file__).parent / "conformance"

CASES = {
    "cupy_tests/a_tests/test_a.py": """
        import pytest

        def test_fine(): pass
        def test_listed(): assert 1 == 2, "one is not two"
        def test_missing(): raise NotImplementedError("cupy.x is not covered")
        def test_left(): raise SystemError("must not run")
        @pytest.mark.slow
        def test_long(): raise SystemError("must not run")
        @pytest.mark.skip
        def test_skipped(): pass
        @pytest.mark.parametrize("n", range(40))
        def test_many(n): pass
    """,
    "cupy_tests/a_tests/test_b.py": "raise NotImplementedError('cupy.y is not covered')",
    "cupyx_tests/z_tests/test_z.py": "raise SystemError('must not run')",
}
RULES = """
quick = { files = "nowhere", one_case_in = 4 }
not_run = [
  { files = "z_tests/", reason = "z needs a GPU" },
  { cases = "test_left$", reason = "left" },
  { marker = "slow", reason = "long" },
]
by_design = [{ files = "test_a[.]py", cases = "test_listed$", error = "not two", reason = "two" }]
not_covered = [{ error = 'NotImplementedError: (cupy[.][a-z]+) is not', reason = '\\1' }]
"""
COUNTS = {
    "cupy_tests/a_tests/test_a.py": {
        "passed": 41,
        "by design: two": 1,
        "not covered: cupy.x": 1,
        "not run: left": 1,
        "not run: long": 1,
        "skipped by CuPy": 1,
    },
    "cupy_tests/a_tests/test_b.py": {"not covered: cupy.y": 1},
    "cupyx_tests/z_tests/test_z.py": {"not run: z needs a GPU": 1},
}
STORED = "conformance.json"
MADE = {"date": "2026-11-20", "commit": "an old one", "on": {"numpy": "2.0"}}


class Suite:
    """A copy of tests/conformance with the tests and the rules of this file."""

    def __init__(self, pytester):
        self.pytester = pytester
        for name in ("conftest.py", "rules.py", "stored.py"):
            shutil.copy(CONFORMANCE / name, pytester.path)
        fetch = "def fetch(): return Path(__file__).parent / '.sdist'"
        self.write("sdist.py", f"from pathlib import Path\nVERSION = '14.2.0'\n{fetch}\n")
        self.write("private_names.py", "def install(folder): pass\n")
        self.write("suite.toml", RULES)
        self.write(STORED, json.dumps({"receipt": MADE, "files": COUNTS}))
        for name, text in CASES.items():
            self.write(f".sdist/tests/{name}", textwrap.dedent(text))

    def write(self, name, text):
        path = self.pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def change(self, name, old, new):
        text = (self.pytester.path / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, *options):
        """Run; return the exit status, the numbers of outcomes and what is printed."""
        done = self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *options, ".")
        counts = done.parseoutcomes() if done.ret in (0, 1) else {}
        return done.ret, counts, done.stdout.str() + done.stderr.str()

    def stored(self):
        return evidence.load("conformance")["files"]


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(evidence, "FOLDER", pytester.path)
    for name in ("CUPY_STANDIN", "CUPY_STANDIN_DEVICES", "CUPY_TEST_GPU_LIMIT"):
        monkeypatch.setenv(name, "2")  # the run sets these: here they are set back
    return Suite(pytester)


A, B = (f".sdist/tests/cupy_tests/a_tests/test_{name}.py" for name in "ab")
FINE, BROKEN = "def test_fine(): pass", "def test_fine(): raise OSError(7)"


def test_the_whole_stores_what_it_found(suite):
    suite.write(STORED, json.dumps({"receipt": MADE, "files": {"old": {"passed": 1}}}))
    status, _, output = suite.run("--whole", "--store")
    assert status == 0 and suite.stored() == COUNTS, output
    assert evidence.state("conformance") == "fresh"
    status, counts, output = suite.run("--whole")
    assert status == 0 and counts["passed"] == 42, output  # the 41, and the check of what is stored
    assert counts["xfailed"] == 3 and counts["skipped"] == 1


def test_the_quick_part_is_a_sample_and_always_the_same(suite):
    status, counts, output = suite.run()
    assert status == 0 and 3 < counts["passed"] < 25, output
    assert suite.run()[1] == counts


def test_of_many_cases_one_in_so_many_is_run(suite):
    rule = '{ files = "test_a", cases = "test_many", but_one_in = 4, reason = "alike" },'
    suite.change("suite.toml", "not_run = [", f"not_run = [{rule}")
    suite.run("--whole", "--store")
    found = suite.stored()["cupy_tests/a_tests/test_a.py"]
    left = found["not run: alike"]
    assert 20 < left < 40 and found["passed"] == 41 - left
    suite.run("--whole", "--store")
    assert suite.stored()["cupy_tests/a_tests/test_a.py"] == found


@pytest.mark.parametrize(
    "name, old, new, says",
    [
        (A, "assert 1 == 2", "assert 1 < 2", "passes, but is listed (by design: two)"),
        (A, "one is not two", "something else", "AssertionError: something else"),
        (A, FINE, BROKEN, "OSError: 7"),
        (A, "cupy.x", "cupy.z", "not stored for this file: not covered: cupy.z"),
        (A, "range(40)", "range(41)", "passed: 41 stored, 42 now"),
        (B, "cupy.y is not covered", "oh no", "NotImplementedError: oh no"),
        (B, "raise", "def test_y(): pass #", "passed: 0 stored, 1 now"),
    ],
)
def test_what_changes_is_red(suite, name, old, new, says):
    suite.change(name, old, new)
    status, _, output = suite.run("--whole")
    assert status == 1 and says in output, output


def test_a_file_with_an_unexplained_failure_keeps_its_stored_counts(suite):
    suite.change(A, FINE, BROKEN)
    suite.change(B, "cupy.y", "cupy.w")
    status, _, output = suite.run("--whole", "--store")
    assert status == 1 and "test_a.py: not stored" in output
    after = {"cupy_tests/a_tests/test_b.py": {"not covered: cupy.w": 1}}
    assert suite.stored() == COUNTS | after
    assert evidence.load("conformance")["receipt"] == MADE  # it speaks of the other file, too


def test_some_files_are_stored_alone(suite):
    suite.change(A, FINE, BROKEN)
    suite.change(B, "cupy.y", "cupy.w")
    status, _, output = suite.run("--files", "test_b", "--store")
    after = {"cupy_tests/a_tests/test_b.py": {"not covered: cupy.w": 1}}
    assert status == 0 and suite.stored() == COUNTS | after, output
    assert evidence.load("conformance")["receipt"] == MADE


IDLE = 'by_design = [{ error = "none", reason = "idle" },'


@pytest.mark.parametrize(
    "name, old, new, says",
    [
        ("suite.toml", "by_design = [", IDLE, "by design: 'idle' fits nothing"),
        (STORED, "test_z.py", "test_y.py", "test_y.py: stored, but not in the suite"),
        (STORED, "test_z.py", "test_y.py", "test_z.py: no results are stored"),
        (STORED, "skipped by CuPy", "odd", "unknown kind of result: odd"),
    ],
)
def test_what_is_stored_must_fit_the_rules(suite, name, old, new, says):
    suite.change(name, old, new)
    status, _, output = suite.run()
    assert status == 1 and says in output, output


@pytest.mark.parametrize(
    "rule, says",
    [
        ('by_design = [{ files = "a", reason = "no case" }]', "'no case' does not say what"),
        ('by_design = [{ marker = "a", reason = "other" }]', "'other' does not say what"),
        (
            'differs = [{ cases = "a", but_one_in = 2, reason = "some" }]',
            "'some' does not say what",
        ),
        ('not_run = [{ error = "a", reason = "never seen" }]', "'never seen' does not say what"),
        ('not_run = [{ reason = "all" }]', "'all' does not say what"),
        ('odd = [{ cases = "a", reason = "b" }]', "suite.toml: unknown odd"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(suite, rule, says):
    suite.write("suite.toml", f'quick = {{ files = "a", one_case_in = 2 }}\n{rule}\n')
    status, _, output = suite.run()
    assert status == pytest.ExitCode.USAGE_ERROR and says in output
