"""The folder of what was compiled, which is loaded and run: nobody else may write there.

It is ``$GPULESS_CACHE`` or ``~/.cache/gpuless``. A file's name is a hash of all it
was made from, so nothing in it is ever stale and the folder may be deleted at any time.
"""

from __future__ import annotations

import os
import stat
import struct
import tempfile
from pathlib import Path

_END = "\n# whole\n"
DEFAULT = "~/.cache/gpuless"
REMEDY = (
    "Set the environment variable GPULESS_CACHE to a folder of your own, such as one in your home "
    "folder, before you start Python"
)


def folder() -> Path:
    """The folder of compiled libraries; made, for this user alone, if need be.

    Raises:
        RuntimeError: it cannot be made, or others own it or can write to it: they could put there
            what would then be run.
    """
    path = Path(os.environ.get("GPULESS_CACHE") or DEFAULT).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)
        found = path.stat()
    except OSError as error:
        raise RuntimeError(
            f"the folder for compiled kernels, {path}, cannot be made: {error.strerror}. {REMEDY}"
        ) from None
    if hasattr(os, "geteuid"):
        _check(path, found)
    return path


def _check(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise RuntimeError(f"the folder for compiled kernels, {path}, is another user's. {REMEDY}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        if not any(path.iterdir()):  # nobody can have put anything there yet
            path.chmod(0o700)
            return
        raise RuntimeError(
            f"other users can write to the folder for compiled kernels, {path}, and so could have "
            f"this program run what they like. Delete it, or allow it to yourself alone "
            f"(chmod 700) if all in it is yours. {REMEDY} to use another one"
        )


def store(path: Path, text: str) -> None:
    """Write a file that appears complete or not at all, also where several processes do so."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix="making-")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text + _END)
    os.replace(name, path)


def stored(path: Path) -> str | None:
    """What was stored there; None if nothing was, or it was cut off."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    return text.removesuffix(_END) if text.endswith(_END) else None


def is_whole(path: Path) -> bool:
    """Whether a library is there, and not cut off, as a full disk or a power cut may leave it: the
    table of sections, by which an ELF file ends, lies in it."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return False
    if len(header) == 64 and header[:6] == b"\x7fELF\x02\x01":
        (table,), (entry, count) = (
            struct.unpack_from("<Q", header, 40),
            struct.unpack_from("<HH", header, 58),
        )
        return table + entry * count <= size
    return len(header) == 64 and header[:4] != b"\0\0\0\0"
