"""On which machines kernels run, and what is less on some of them."""

from __future__ import annotations

import platform
import sys

WHOLE = ("x86_64", "AMD64")
KNOWN = (*WHOLE, "aarch64", "arm64")


def check() -> None:
    """RuntimeError, saying what to do, where the stand-in cannot run kernels."""
    if sys.platform not in ("linux", "darwin"):
        raise RuntimeError(
            f"The CPU stand-in does not run under {platform.system() or sys.platform}: use Linux "
            "or macOS; on Windows, Linux in WSL (`wsl --install`)"
        )
    if platform.machine() not in KNOWN:
        raise RuntimeError(
            f"The CPU stand-in does not run on this processor, {platform.machine()}: use a machine "
            "(in GitHub Actions: `runs-on: ubuntu-latest`) with a 64-bit Intel, AMD or ARM one"
        )


def remark() -> str:
    """What is less here than elsewhere, and what to do, in one line; empty where nothing is."""
    if platform.machine() in WHOLE:
        return ""
    return (
        f"{platform.machine()} is not x86-64: kernels run, but the x-ray, which finds races, does "
        "not; run your tests on an Intel or AMD machine as well"
    )
