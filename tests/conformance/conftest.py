"""Run CuPy's own tests on the stand-in.

python -m pytest tests/conformance                   the quick part: all tests of kernels and a
                                                     sample of the rest
python -m pytest tests/conformance --whole           every test, compared with the stored
python -m pytest tests/conformance --whole --store   the same, and store what it gave
python -m pytest tests/conformance --files REGEX     every test of the files that fit; may --store

All of CuPy's test files are in. ``suite.toml`` has the rules for what fails or is not run, with a
reason each. A failure that no rule explains is red, a case that a rule lists is red when it passes,
and so is a reason that is not stored for its file. The whole run is also red when a count is not
the stored one. The site shows what is stored.

It is a run of its own, because it puts CuPy's ``cupy.testing`` and a few private names in place.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import rules  # noqa: E402
import stored  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("CuPy's own tests")
    group.addoption("--whole", action="store_true", help="every test of CuPy's")
    group.addoption("--files", metavar="REGEX", help="every test of the files that fit")
    group.addoption("--store", action="store_true", help="store the counts")


def _alone(config: pytest.Config) -> bool:
    """Whether this run is for this folder only."""
    root = config.invocation_params.dir
    paths = [(root / str(arg).split("::")[0]).resolve() for arg in config.args]
    return all(path == HERE or HERE in path.parents for path in paths)


def pytest_configure(config: pytest.Config) -> None:
    if not _alone(config):
        return
    for marker in ("slow", "multi_gpu", "thread_unsafe", "parallel_threads", "iterations"):
        config.addinivalue_line("markers", f"{marker}: a marker of CuPy's tests")
    os.environ["CUPY_STANDIN"] = "always"
    os.environ["CUPY_STANDIN_DEVICES"] = os.environ["CUPY_TEST_GPU_LIMIT"] = "2"
    config.pluginmanager.import_plugin("pytester")  # CuPy's tests of cupy.testing use it
    config.pluginmanager.register(Run(config), "cupy's own tests")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path == rules.SUITE and _alone(parent.config):
        return Everything.from_parent(parent, path=file_path)
    return None


class Everything(pytest.File):
    """CuPy's test files, less those that a rule leaves out."""

    def collect(self):
        import private_names
        import sdist

        try:
            folder = sdist.fetch()
        except sdist.Unavailable as error:
            if os.environ.get("CI"):
                raise self.CollectError(str(error)) from error
            yield Missing.from_parent(self, name="missing", reason=str(error))
            return
        private_names.install(folder)
        run = self.config.pluginmanager.get_plugin("cupy's own tests")
        for file, path in sorted(
            (path.relative_to(folder / "tests").as_posix(), path)
            for path in (folder / "tests").rglob("test_*.py")
        ):
            run.every_file.append(file)
            if not re.search(self.config.getoption("files") or "", file):
                continue
            reason = run.suite.file_left_out(file)
            run.counts[file] = Counter({reason: 1} if reason else {})
            if not reason:
                yield CuPysFile.from_parent(self, path=path)
        yield Fits.from_parent(self, name="the stored results fit the rules")


class CuPysFile(pytest.Module):
    """One of CuPy's test files; where it cannot be imported, one case that says why.

    The tests of ``cupy.testing`` get the stand-in's, all others CuPy's own.
    """

    def collect(self):
        import private_names

        own = self.path.parent.name == "testing_tests"
        try:
            with private_names.own_testing() if own else contextlib.nullcontext():
                return super().collect()
        except Exception as error:  # whatever the file does when it is imported
            text = f"{type(error).__name__}: {error}"
            return [Unimportable.from_parent(self, name="import", error=text)]


class Unimportable(pytest.Item):
    def __init__(self, *, error: str, **kwargs):
        super().__init__(**kwargs)
        self.error = error

    def runtest(self) -> None:
        raise ImportError(self.error)


class Fits(pytest.Item):
    """Compares what is stored with the rules; not while it is being stored."""

    def runtest(self) -> None:
        run = self.config.pluginmanager.get_plugin("cupy's own tests")
        if self.config.getoption("store"):
            pytest.skip("it is being stored")
        if misfits := stored.misfits(run.suite, run.every_file):
            pytest.fail("\n".join(misfits), pytrace=False)


class Missing(pytest.Item):
    """What is reported, outside CI, where CuPy's tests cannot be had."""

    def __init__(self, *, reason: str, **kwargs):
        super().__init__(**kwargs)
        self.reason = reason

    def runtest(self) -> None:
        pytest.skip(f"{self.reason}\nThis part of the tests needs a network once.")


def _name(nodeid: str) -> tuple[str, str]:
    """The file and the case of a test's name; two empty texts for a test that is not CuPy's."""
    found = re.search(r"/((?:cupy|cupyx)_tests/.*?\.py)::(.*)", nodeid, re.DOTALL)
    return (found[1], found[2]) if found else ("", "")


class Run:
    """Chooses the cases, judges the failures by the rules and counts."""

    def __init__(self, config: pytest.Config):
        self.config = config
        try:
            self.suite = rules.Suite.read()
        except ValueError as error:
            raise pytest.UsageError(str(error)) from error
        self.counts: stored.Counts = {}
        self.every_file: list[str] = []
        self.before = stored.read()["files"]
        self.complaints: list[str] = []
        options = ("whole", "files", "keyword")
        self.quick = not any(config.getoption(option) for option in options)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept, left = [], []
        for item in items:
            file, case = _name(item.nodeid)
            markers = {marker.name for marker in item.iter_markers()}
            reason = file and self.suite.case_left_out(file, case, markers)
            if reason:
                self.counts[file][reason] += 1
            unwanted = reason or (file and self.quick and not self.suite.is_quick(file, case))
            (left if unwanted else kept).append(item)
        self.config.hook.pytest_deselected(items=left)
        items[:] = kept

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo):
        report = yield
        file, case = _name(item.nodeid)
        if not file:
            return report
        if report.failed:
            error = call.excinfo.exconly() if call.excinfo else str(report.longrepr)
            label = self.suite.explain(file, case, error)
            known = self.config.getoption("store") or label in self.before.get(file, {})
            if label and known:
                report.outcome, report.wasxfail, report.label = "skipped", label, label
            elif label:
                report.longrepr = f"{error}\n\nnot stored for this file: {label}"
        elif report.passed and report.when == "call" and (rule := self.suite.listed(file, case)):
            report.outcome = "failed"
            report.longrepr = f"passes, but is listed ({rule.kind}: {rule.reason})"
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file, _ = _name(report.nodeid)
        if not file or (report.passed and report.when != "call"):
            return
        if report.failed:
            label = "failed"
        elif report.skipped:
            label = getattr(report, "label", rules.SKIPPED)
        else:
            label = rules.PASSED
        self.counts[file][label] += 1

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        clean = {name: found for name, found in self.counts.items() if not found["failed"]}
        if self.config.getoption("store"):
            stored.write(clean, self.every_file)
            self.complaints = [f"{name}: not stored" for name in self.counts if name not in clean]
        elif not self.quick and not self.config.getoption("keyword"):
            self.complaints = stored.differences(clean)
        if self.complaints:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.complaints:
            terminalreporter.section("counts that are not the stored ones")
            terminalreporter.write_line("\n".join(self.complaints))
