"""What a run of somebody's tests gave is counted right, and compared with what is stored."""

import pytest
from projects import __main__ as projects

CASES = """<testsuites><testsuite>
<testcase name="a"/>
<testcase name="b"/>
<testcase name="c"><skipped message="no"/></testcase>
<testcase name="d"><failure message="it broke">x is not covered by the CPU stand-in; see</failure>
</testcase>
<testcase name="e"><error message="E: cupy.a.b is not covered by the CPU stand-in"/>
</testcase>
<testcase name="f"><failure message="assert 3 == 4">in line 3</failure></testcase>
<testcase name="g"><failure message="TypeError: odd">in line 4</failure></testcase>
</testsuite></testsuites>"""


def test_outcomes_are_told_apart(tmp_path):
    (tmp_path / "r.xml").write_text(CASES)
    assert projects.outcomes(tmp_path / "r.xml", {"TypeError: odd": "oddness"}) == {
        "passed": 2,
        "skipped": 1,
        "refused: x": 1,
        "refused: cupy.a.b": 1,
        "failed: not explained": 1,
        "failed: oddness": 1,
    }


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A project whose run gives what the test says, and an evidence that holds what it says."""
    given = {"cases": {"passed": 3}, "stored": None}
    monkeypatch.setattr(projects, "FOLDER", tmp_path)
    monkeypatch.setattr(projects, "PROJECTS", {"p": {"name": "p", "version": "1", "about": "x"}})
    monkeypatch.setattr(projects, "prepare", lambda *_: (None, None))
    monkeypatch.setattr(projects, "run", lambda *_: (given["cases"], 2))
    monkeypatch.setattr(projects.evidence, "load", lambda _: given["stored"])
    return given


def test_a_run_that_is_as_stored_passes_and_another_does_not(one, capsys):
    entry = {"version": "1", "about": "x", "kernels": 2, "cases": {"passed": 3}}
    one["stored"] = {"projects": {"p": entry}}
    assert projects.main([]) == 0
    one["cases"] = {"passed": 2, "refused: cupy.a": 1}
    assert projects.main([]) == 1
    assert "(not as stored)" in capsys.readouterr().out


@pytest.mark.parametrize("cases", [{"failed: not explained": 1}, {}])
def test_a_failure_without_a_reason_and_a_run_without_tests_are_not_stored(one, monkeypatch, cases):
    one["cases"] = cases
    monkeypatch.setattr(projects.evidence, "store", lambda *_: pytest.fail("stored"))
    assert projects.main(["--store"]) == 1


def test_what_cannot_be_had_is_skipped_and_said(one, monkeypatch, capsys):
    def prepare(*_):
        raise projects.Unavailable("the index is out of reach")

    monkeypatch.setattr(projects, "prepare", prepare)
    assert projects.main([]) == 0
    assert "p: skipped: the index is out of reach" in capsys.readouterr().out


def test_an_unknown_project_is_refused(one):
    with pytest.raises(SystemExit):
        projects.main(["q"])
