"""The rules of ``suite.toml``: which of CuPy's tests fail or are not run here, and why."""

from __future__ import annotations

import dataclasses
import re
import tomllib
import zlib
from collections.abc import Collection
from pathlib import Path

SUITE = Path(__file__).with_name("suite.toml")
KINDS = ("not run", "by design", "not covered", "differs")
PASSED, SKIPPED = "passed", "skipped by CuPy"


@dataclasses.dataclass(frozen=True)
class Rule:
    """One line of ``suite.toml``; `files`, `cases` and `error` are regular expressions.

    A rule with `cases` lists them: each must fail, with `error` where that is given. A rule with
    `error` alone fits every failure with that error; its reason may quote groups of it. A rule
    that leaves out, kind "not run", may name a `marker` of CuPy's in the place of cases, or `files`
    alone for whole files; of the cases that it names it leaves one in `but_one_in`, always the
    same.
    """

    kind: str
    reason: str
    files: str = ""
    cases: str = ""
    error: str = ""
    marker: str = ""
    but_one_in: int = 0

    def __post_init__(self):
        if self.kind == "not run":
            right = not self.error and (self.files or self.cases or self.marker)
        else:
            right = not self.marker and not self.but_one_in and (self.cases or self.error)
        if not right:
            raise ValueError(f"the rule {self.reason!r} does not say what it is for")

    def lists(self, file: str, case: str, markers: Collection[str] = ()) -> bool:
        """Whether this rule names the case, which has these markers."""
        if not (self.cases or self.marker) or not re.search(self.files, file):
            return False
        if self.but_one_in and _sampled(file, case, self.but_one_in):
            return False
        return bool(re.search(self.cases, case)) and (not self.marker or self.marker in markers)

    def leaves_out(self, file: str) -> bool:
        """Whether this rule leaves the whole file out."""
        some = self.cases or self.error or self.marker
        return not some and bool(re.search(self.files, file))

    def label(self, file: str, case: str, error: str) -> str | None:
        """``kind: reason`` of a failure that this rule explains, else None."""
        if self.kind == "not run" or not re.search(self.files, file):
            return None
        found = re.search(self.error, error)
        if not found or (self.cases and not re.search(self.cases, case)):
            return None
        return f"{self.kind}: {found.expand(self.reason)}"


@dataclasses.dataclass(frozen=True)
class Suite:
    """All rules, in their order, and what belongs to the quick part."""

    rules: tuple[Rule, ...]
    quick_files: str
    quick_one_in: int

    @classmethod
    def read(cls, path: Path = SUITE) -> Suite:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        quick = table.pop("quick")
        found = [
            Rule(kind, **entry) for kind in KINDS for entry in table.pop(kind.replace(" ", "_"), [])
        ]
        if table:
            raise ValueError(f"{path.name}: unknown {', '.join(table)}")
        return cls(tuple(found), quick["files"], quick["one_case_in"])

    def is_quick(self, file: str, case: str) -> bool:
        """Whether a case belongs to the quick part; always the same answer."""
        sampled = _sampled(file, case, self.quick_one_in)
        return sampled or bool(re.search(self.quick_files, file))

    def file_left_out(self, file: str) -> str | None:
        """``kind: reason`` of a file that is not run, else None."""
        found = (rule for rule in self.rules if rule.leaves_out(file))
        return next((f"{rule.kind}: {rule.reason}" for rule in found), None)

    def case_left_out(self, file: str, case: str, markers: Collection[str]) -> str | None:
        """``kind: reason`` of a case that is not run, else None."""
        found = (r for r in self.rules if r.kind == "not run" and r.lists(file, case, markers))
        return next((f"{rule.kind}: {rule.reason}" for rule in found), None)

    def explain(self, file: str, case: str, error: str) -> str | None:
        """``kind: reason`` of the first rule that fits a failure, else None."""
        labels = (rule.label(file, case, error) for rule in self.rules)
        return next(filter(None, labels), None)

    def listed(self, file: str, case: str) -> Rule | None:
        """The rule that says that this case fails, if there is one."""
        return next((rule for rule in self.rules if rule.lists(file, case)), None)

    def unused(self, labels: set[str]) -> list[Rule]:
        """The rules that explain none of the `labels`: there is nothing left for them to do."""
        return [r for r in self.rules if not any(_gives(r, label) for label in labels)]


def _sampled(file: str, case: str, one_in: int) -> bool:
    return zlib.crc32(f"{file}::{case}".encode()) % one_in == 0


def _gives(rule: Rule, label: str) -> bool:
    pattern = re.sub(r"\\\\\d", ".*", re.escape(f"{rule.kind}: {rule.reason}"))
    return bool(re.fullmatch(pattern, label))
