"""Run CuPy's own tests on the stand-in: ``pytest tests/conformance``.

``suite.toml`` lists the test files and, with a reason each, the cases that are left out. A case
listed as ``xfail`` is run, and is red when it passes; a case listed as ``skip`` is not run. A rule
that matches another number of cases than it says is an error.

It is a run of its own, because it puts CuPy's ``cupy.testing`` and a few private names in place.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITE = HERE / "suite.toml"
sys.path.insert(0, str(HERE))


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


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path == SUITE and _alone(parent.config):
        return Suite.from_parent(parent, path=file_path)
    return None


class Suite(pytest.File):
    """The test files of ``suite.toml``."""

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
        for name in tomllib.loads(self.path.read_text()):
            path = folder / "tests" / "cupy_tests" / name
            yield pytest.Module.from_parent(self, path=path)


class Missing(pytest.Item):
    """What is reported, outside CI, where CuPy's tests cannot be had."""

    def __init__(self, *, reason: str, **kwargs):
        super().__init__(**kwargs)
        self.reason = reason

    def runtest(self) -> None:
        pytest.skip(f"{self.reason}\nThis part of the tests needs a network once.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not _alone(config):
        return
    suite = tomllib.loads(SUITE.read_text())
    whole = not config.getoption("keyword") and len(config.args) == 1
    skipped: list[pytest.Item] = []
    for name, entry in suite.items():
        ours = [item for item in items if item.path.as_posix().endswith(f"cupy_tests/{name}")]
        for rule in entry.get("left_out", []):
            found = [i for i in ours if re.search(rule["cases"], i.nodeid.split("::", 1)[1])]
            if whole and ours and len(found) != rule["count"]:
                raise pytest.UsageError(
                    f"suite.toml, {name}: {rule['cases']!r} is said to match {rule['count']} "
                    f"cases, it matches {len(found)}"
                )
            if rule["how"] == "skip":
                skipped += found
                continue
            for item in found:
                item.add_marker(pytest.mark.xfail(reason=rule["reason"], strict=True))
    config.hook.pytest_deselected(items=skipped)
    items[:] = [item for item in items if item not in set(skipped)]
