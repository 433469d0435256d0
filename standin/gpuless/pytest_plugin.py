"""``pytest --gpuless``: the stand-in is in place before the first conftest.py is read.

In pyproject.toml, so that nobody need remember the option::

    [tool.pytest.ini_options]
    gpuless = "strict"      # or "lenient", or "off"
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

MODES = ("strict", "lenient", "off")
HERE = Path(__file__).parent


def mode(said: str) -> str:
    """Return what `--gpuless` was given, where it is a mode; else say how to write it."""
    if said not in MODES:
        raise argparse.ArgumentTypeError(
            f"{said!r} is none of its modes ({', '.join(MODES)}). Before a file or a folder "
            "write --gpuless=strict, or put --gpuless last"
        )
    return said


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option, and the setting of the same name."""
    group = parser.getgroup("gpuless", "CuPy without a GPU")
    group.addoption(
        "--gpuless",
        nargs="?",
        const="strict",
        type=mode,
        metavar="MODE",
        help="serve `cupy` by the CPU stand-in where there is no CuPy or no GPU: strict (the "
        "default), lenient (take what CuPy takes) or off",
    )
    parser.addini("gpuless", "as the option --gpuless: strict, lenient or off", default="off")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Put it in place. A pytest.UsageError says what to do where that cannot be done."""
    mode = early_config.known_args_namespace.gpuless or early_config.getini("gpuless")
    if mode not in MODES:
        raise pytest.UsageError(f"gpuless must be one of {', '.join(MODES)}, not {mode!r}")
    if mode == "off":
        return
    import gpuless

    try:
        gpuless.install(lenient=True if mode == "lenient" else None)
    except (RuntimeError, ValueError) as error:
        raise pytest.UsageError(f"gpuless: {error}") from None


def pytest_report_header(config: pytest.Config) -> str | None:
    """One line: what stands behind `cupy`."""
    if (config.getoption("gpuless") or config.getini("gpuless")) == "off":
        return None
    from gpuless import notice

    return f"gpuless: {notice.text()}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo) -> None:
    """An error is shown where a test met it, not within gpuless; ``--full-trace`` shows it all."""
    for entry in call.excinfo.traceback if call.excinfo else ():
        if HERE in Path(entry.path).parents:
            entry.frame.f_globals["__tracebackhide__"] = True
