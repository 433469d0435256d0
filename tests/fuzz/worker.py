"""Run programs in a process of their own, which may die of them.

As a program (``python -m tests.fuzz.worker``) it takes one JSON string a line, a program, and
answers with one JSON string: what the program raised, or "" if it passed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .cases import Case

# After each mistake the session must go on: this kernel is right.
STILL_WORKS = """
code = 'extern "C" __global__ void fine(int *x) { x[threadIdx.x] += threadIdx.x; }'
x = cp.ones(40, 'i')
cp.RawKernel(code, 'fine')((1,), (40,), (x,))
assert (x.get() == np.arange(1, 41)).all()
"""


class Worker:
    """A process that runs programs; a new one where the last has died."""

    def __init__(self):
        self.process: subprocess.Popen | None = None

    def ask(self, program: str) -> str:
        """What the program raised, "" if it passed; AssertionError if it ended the process."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[len(__package__.split("."))],
                text=True,
            )
        try:
            self.process.stdin.write(json.dumps(program) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self.process.wait()
            self.process = None
            raise AssertionError(f"the interpreter ended with status {code}")
        return json.loads(answer)

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()
            self.process = None

    def check(self, case: Case) -> None:
        """AssertionError unless the program raises an exception that names its kernel."""
        said = self.ask(case.program())
        assert said, "a wrong program passed without an error"
        assert case.error in said, f"the error does not name {case.error!r}: {said}"
        said = self.ask(Case(STILL_WORKS.strip()).program())
        assert not said, f"after the error a right program fails: {said}"


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        said = ""
        try:
            exec(json.loads(line), {})
        except Exception as error:
            said = f"{type(error).__name__}: {error} {' '.join(getattr(error, '__notes__', ()))}"
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
