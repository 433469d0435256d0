"""Memory hooks: who is told of what a memory pool does."""

from __future__ import annotations

import threading

from cupy.cuda._hooks import hooks, of_this_thread


def get_memory_hooks() -> dict[str, MemoryHook]:
    """The hooks of this thread by their names, in the order in which they were entered."""
    return of_this_thread()


class MemoryHook:
    """Base class of hooks: inside ``with hook:`` its methods are called by the memory pools, in
    the thread that entered it.

    Around ``malloc`` of a pool, and of ``alloc`` inside it where no freed block has room; and
    around ``free``, which gives memory back to the pool. All arguments are keywords: ``device_id``;
    ``size``, the bytes asked for; ``mem_size``, the same rounded up to 512; ``mem_ptr``, the
    address; ``pmem_id``, the ``id`` of the memory's object. The last two are 0 where there is no
    memory. KeyError for a second hook of the same ``name``.
    """

    name = "MemoryHook"

    def __enter__(self):
        ours = hooks.setdefault(threading.get_ident(), {})
        if self.name in ours:
            raise KeyError(f"memory hook {self.name} already exists")
        ours[self.name] = self
        return self

    def __exit__(self, *_) -> None:
        ours = get_memory_hooks()
        del ours[self.name]
        if not ours:
            del hooks[threading.get_ident()]

    def alloc_preprocess(self, **kwargs) -> None:
        """``device_id``, ``mem_size``."""

    def alloc_postprocess(self, **kwargs) -> None:
        """``device_id``, ``mem_size``, ``mem_ptr``."""

    def malloc_preprocess(self, **kwargs) -> None:
        """``device_id``, ``size``, ``mem_size``."""

    def malloc_postprocess(self, **kwargs) -> None:
        """``device_id``, ``size``, ``mem_size``, ``mem_ptr``, ``pmem_id``."""

    def free_preprocess(self, **kwargs) -> None:
        """``device_id``, ``mem_size``, ``mem_ptr``, ``pmem_id``."""

    def free_postprocess(self, **kwargs) -> None:
        """``device_id``, ``mem_size``, ``mem_ptr``, ``pmem_id``."""
