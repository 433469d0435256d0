"""Run so many random cases of a kind. A failure comes back as a minimal program and its error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from . import wrong
from .cases import Case
from .elementwise import elementwise
from .fused import fused
from .rawkernel import raw
from .reduction import reduction
from .worker import Worker

# The strategy, whether its programs are wrong, and its share of the cases of a long run.
KINDS: dict[str, tuple[Callable[[], SearchStrategy[Case]], bool, float]] = {
    "ElementwiseKernel": (elementwise, False, 0.44),
    "RawKernel": (raw, False, 0.27),
    "ReductionKernel": (reduction, False, 0.1),
    "fuse": (fused, False, 0.1),
    "outside an array": (wrong.bounds, True, 0.05),
    "other mistakes": (wrong.others, True, 0.04),
}
_CHUNK = 50  # kernels that hypothesis draws in one go; the next go has another seed


def run(kind: str, cases: int, first_seed: int = 0, trace: Path | None = None):
    """Run at least ``cases`` cases; their number and the failures.

    ``trace`` is a file that holds the program being run, for whoever finds this process dead.
    """
    strategy, is_wrong, _ = KINDS[kind]
    worker, done, failures = Worker(), 0, []
    while done < cases:
        seen: list[Case] = []  # the last one, and how many cases before a failure

        def check(case: Case, seen=seen) -> None:
            seen[:] = [case]
            if trace is not None:
                trace.write_text(case.program(), encoding="utf-8")
            if is_wrong:
                worker.check(case)
            else:
                case.run()

        counted = _Counter(check)
        try:
            _property(strategy(), counted, first_seed, min(_CHUNK, cases - done))()
        except Exception as error:  # whatever it is, the program shows it
            failures.append(f"{seen[0].program()}\n# {type(error).__name__}: {error}".strip())
        done += max(counted.cases, 1)
        first_seed += 1
    worker.close()
    return done, failures


class _Counter:
    """Calls ``check`` and counts cases, those of a failure's shrinking apart."""

    def __init__(self, check: Callable[[Case], None]):
        self.check, self.cases, self.failed = check, 0, False

    def __call__(self, case: Case) -> None:
        try:
            self.check(case)
        except Exception:
            self.failed = True
            raise
        finally:
            self.cases += 0 if self.failed else case.count


def _property(strategy, check: Callable, number: int, most: int) -> Callable[[], None]:
    @seed(number)
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(strategy)
    def test(case):
        check(case)

    return test
