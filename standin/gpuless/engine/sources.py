"""Tell a listener of every CUDA C source that the stand-in compiles.

``CUPY_STANDIN_LISTENER=/path/to/file.py`` names a Python file with a function ``check``. It is
called with each source that the C++ compiler at hand has accepted, and may raise to refuse it:
so a test can show every kernel of a run to another compiler. As for a script, other files of the
file's folder can be imported from it.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

VARIABLE = "CUPY_STANDIN_LISTENER"


def tell(
    source: str,
    options: tuple[str, ...] = (),
    name: str = "kernel",
    expressions: tuple[str, ...] = (),
) -> None:
    """Call the listener, where there is one; what it raises comes through.

    Args:
        source: CUDA C.
        options: of NVRTC, as the kernel's author gave them.
        name: what messages call the source, without ``.cu``.
        expressions: names of template kernels that the source was compiled for.

    Raises:
        RuntimeError: the variable names a file that is not there or that has no ``check``.
    """
    if path := os.environ.get(VARIABLE):
        _load(path)(source, tuple(options), name, tuple(expressions))


@functools.cache
def _load(path: str) -> Callable:
    if not Path(path).is_file():
        raise RuntimeError(f"{VARIABLE}={path}: there is no such file")
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(f"standin_listener_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "check"):
        raise RuntimeError(f"{VARIABLE}={path}: the file has no function `check`")
    return module.check
