"""The oldest CuPy that the book promises to run with, which is Colab's: its headers and its names.

They are read from CuPy's own wheel; nothing of it is installed or run, so no GPU is needed.
``python tests/cupy_oldest.py`` puts them into ``.venv/cupy-14.0.1``.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nvrtc

import gpuless

gpuless.install()  # for what imports cupy

from cupy._core._launch import CARRAY  # noqa: E402

VERSION = "14.0.1"
FOLDER = Path(sys.prefix, f"cupy-{VERSION}")
_INCLUDE = FOLDER / "cupy" / "_core" / "include"
_WANTED = re.compile(r"cupyx?/(?:\w+/)*\w+\.py|cupy/_core/include/cupy/(?!_dlpack|xsf).*[^/]")
_START = "".join(
    f"#include <cupy/{name}>\n"
    for name in ("complex.cuh", "carray.cuh", "atomics.cuh", "math_constants.h")
)


def fetch() -> Path:
    """The folder with CuPy's headers and Python files; its wheel is downloaded where it is missing.

    Raises subprocess.CalledProcessError where pip cannot download it.
    """
    if FOLDER.is_dir():
        return FOLDER
    with tempfile.TemporaryDirectory(dir=sys.prefix) as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
        pip += ["--only-binary=:all:", "--implementation", "cp", "--python-version", "3.12"]
        pip += ["--platform", "manylinux2014_x86_64", "--dest", scratch]
        subprocess.run([*pip, f"cupy-cuda13x=={VERSION}"], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            found = [name for name in packed.namelist() if _WANTED.fullmatch(name)]
            packed.extractall(Path(scratch, "unpacked"), found)
        Path(scratch, "unpacked").rename(FOLDER)
    return FOLDER


def is_there() -> bool:
    """Whether it has been fetched."""
    return FOLDER.is_dir()


def names(module: str) -> set[str] | None:
    """What a module of CuPy's binds, by its source; None where that is compiled or not there."""
    stem = FOLDER.joinpath(*module.split("."))
    file = next(filter(Path.is_file, (stem / "__init__.py", stem.with_suffix(".py"))), None)
    if file is None:
        return None
    found = set()
    todo = list(ast.parse(file.read_text(encoding="utf-8")).body)
    for node in todo:  # it grows: what stands under an `if` counts, what is in a function does not
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).partition(".")[0] for name in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            todo += ast.iter_child_nodes(node)
    return found


def options(options: tuple[str, ...]) -> tuple[str, ...]:
    """A kernel's options with what CuPy adds: where its headers are, before CUDA's own."""
    folders = [_INCLUDE / "cupy" / "_cccl" / part for part in ("cub", "thrust", "libcudacxx")]
    folders += [_INCLUDE, nvrtc.include_folder("cuda_fp16.h")]
    return (*(f"-I{folder}" for folder in folders), *options)


def is_generated(source: str) -> bool:
    """Whether a source is that of an ElementwiseKernel or a ReductionKernel."""
    return source.startswith(CARRAY)


def rewrite(source: str) -> str:
    """A source as it is, a generated one as CuPy would begin it and find elements."""
    if not is_generated(source):
        return source
    source = source.replace(CARRAY, _START, 1)
    return re.sub(r"\.at\((\w+\.get\(\))\)", r"[\1]", source)


if __name__ == "__main__":
    fetch()
