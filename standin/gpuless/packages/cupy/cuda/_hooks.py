"""Which memory hooks are in use, and how they are told; below the memory that tells them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

#: By thread, and by their names.
hooks: dict[int, dict] = {}


def of_this_thread() -> dict:
    """The hooks of this thread by their names, in the order in which they were entered."""
    return hooks.get(threading.get_ident(), {})


@contextlib.contextmanager
def told(what: str, before: dict, after: dict) -> Iterator[None]:
    """Tell this thread's hooks what is known before a ``with`` block, and ``after`` it as well."""
    ours = list(of_this_thread().values())
    for hook in ours:
        getattr(hook, f"{what}_preprocess")(**before)
    try:
        yield
    finally:
        for hook in ours:
            getattr(hook, f"{what}_postprocess")(**before, **after)
