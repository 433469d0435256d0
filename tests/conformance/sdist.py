"""CuPy's own test suite, from CuPy's source distribution, unpacked into ``.cache/cupy-sdist``.

Nothing of it is kept in this repository. ``python tests/conformance/sdist.py`` fetches it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "14.2.0"
SHA256 = "cfed725e612178cfbdbf62f4a3a598b60edecbbca718c0d4580c21a16ae4a62c"
FOLDER = Path(__file__).parents[2] / ".cache" / "cupy-sdist" / VERSION
# The tests, and the functions they compare with. CuPy's own conftest.py stays out: it configures a
# whole test run.
_WANTED = ("tests/cupy_tests", "tests/cupyx_tests", "cupy/testing")


class Unavailable(Exception):
    """The source distribution is not in the cache and cannot be downloaded."""


def fetch() -> Path:
    """The folder with CuPy's tests and ``cupy/testing``; downloaded where a part is missing.

    Raises Unavailable without a network, and ValueError where the file is not the expected one.
    """
    if all((FOLDER / part).is_dir() for part in _WANTED):
        return FOLDER
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    (FOLDER.parent / ".gitignore").write_text("*\n")
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as scratch:
        archive = _download(Path(scratch))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != SHA256:
            raise ValueError(f"{archive.name}: SHA-256 is {found}, expected {SHA256}")
        with tarfile.open(archive) as tar:
            wanted = tuple(f"cupy-{VERSION}/{part}/" for part in _WANTED)
            members = [m for m in tar.getmembers() if m.name.startswith(wanted)]
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4
            tar.extractall(scratch, members, **safely)
        try:
            (Path(scratch) / f"cupy-{VERSION}").rename(FOLDER)
        except OSError:  # another process was faster
            if not FOLDER.is_dir():
                raise
    return FOLDER


def _download(target: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", "cupy", "--dest", str(target), f"cupy=={VERSION}"]
    # pip asks the package for its metadata; without this CuPy's setup looks for CUDA then.
    environment = {**os.environ, "CUPY_INSTALL_USE_STUB": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise Unavailable(
            f"CuPy {VERSION}'s source distribution could not be downloaded by pip:\n"
            f"{result.stderr.strip()[-2000:]}"
        )
    (archive,) = target.glob("cupy-*.tar.gz")
    return archive


if __name__ == "__main__":
    if "--again" in sys.argv:
        shutil.rmtree(FOLDER, ignore_errors=True)
    print(fetch())
