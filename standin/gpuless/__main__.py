"""``python -m gpuless script.py arguments``: a program with the stand-in in place.

python -m gpuless [--lenient] script.py ...     run a file
python -m gpuless [--lenient] -m package ...    run a module
python -m gpuless                               say what is covered and what is not
"""

from __future__ import annotations

import os
import runpy
import sys
import textwrap

import gpuless
from gpuless import notice

USAGE = __doc__.partition("\n\n")[2].strip()


def main(arguments: list[str]) -> int:
    """Run what is asked for; return the exit status if that program has not set one."""
    lenient = arguments[:1] == ["--lenient"]
    rest = arguments[lenient:]
    if rest[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if rest and rest[0].startswith("-") and rest[0] != "-m" or rest == ["-m"]:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        gpuless.install(lenient=lenient or None)
    except (RuntimeError, ValueError) as error:
        print(f"gpuless: {error}", file=sys.stderr)
        return 1
    print(f"gpuless: {notice.text()}", file=sys.stderr)
    if not rest:
        _tell()
    elif rest[0] == "-m":
        sys.argv = rest[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    elif not os.path.exists(rest[0]):
        print(f"gpuless: there is no file {rest[0]}", file=sys.stderr)
        return 2
    else:
        sys.argv = rest
        sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
        runpy.run_path(rest[0], run_name="__main__")
    return 0


def _tell() -> None:
    for heading, table in (("Covered", gpuless.COVERED), ("Not covered", gpuless.NOT_COVERED)):
        print(f"\n{heading}")
        for name, what in table.items():
            print(f"  {name}: " + textwrap.fill(what, 88, subsequent_indent="    "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
