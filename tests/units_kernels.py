"""Every kernel of the stand-in's own tests, read by NVRTC.

A test that is run alone has its kernels read at once (standin/conftest.py). ``make test`` has them
written down, with this file as the stand-in's listener, and ``make test-all`` compiles them after
all tests: each distinct one once and on all cores.
"""

import sys
from pathlib import Path

import chapters_kernels
import nvrtc

HEADERS = ("-I", "--include-path", "-include", "--pre-include")
FOLDER = Path(__file__).parent.parent / "_build" / "tests" / "kernels"


def check(source, options, *named):
    """Write down what the stand-in tells a listener; with headers of its own, read it at once."""
    if any(option.startswith(HEADERS) for option in options):
        nvrtc.check(source, options, *named)  # a test's headers go when it ends
    else:
        chapters_kernels.keep(FOLDER, (source, options, *named))


if __name__ == "__main__":
    sys.exit(chapters_kernels.judged(FOLDER, "nvrtc"))
