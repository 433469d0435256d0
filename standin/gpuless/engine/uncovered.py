"""What CUDA offers to kernels and the stand-in does not: by name, so that errors can say so.

``uncovered.txt`` lists functions, types and headers of NVIDIA's headers that the shim lacks.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

# Folders of headers that come with CUDA.
_FOLDERS = re.compile(r"(cuda|cub|thrust|nv|cooperative_groups|crt)/")
# What compilers say of a name that they do not know, after "NAME.cu(LINE): error: ".
_UNKNOWN = re.compile(
    r"^(?P<where>[^\s(]+\(\d+\)): error: .*?"
    r"(?:declared|member|does not name|unknown type|template)",
    re.MULTILINE,
)


@functools.cache
def names() -> frozenset[str]:
    """The names in ``uncovered.txt``."""
    lines = Path(__file__).with_name("uncovered.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines[1:] for word in line.split())


def is_header(header: str) -> bool:
    """Whether CUDA has the header, so that a reader who includes it made no mistake."""
    return header in names() or bool(_FOLDERS.match(header))


def refusal(where: str, what: str, why: str = "it needs a GPU") -> NotImplementedError:
    """The error for ``what`` in ``where``, such as ``k.cu(3)``."""
    return NotImplementedError(f"{where}: the CPU stand-in does not cover {what} of CUDA; {why}")


def in_message(message: str) -> NotImplementedError | None:
    """The error to raise if the compiler's ``message`` is about a name of CUDA's, else None."""
    for match in _UNKNOWN.finditer(message):
        line = message[match.start() :].partition("\n")[0]
        for name in re.findall(r"['\u2018](?:\w+::)*(\w+)", line):
            if name in names():
                return refusal(match["where"], name)
    return None
