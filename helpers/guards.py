"""Canaries: values which nobody may write, and which spoil the result of whoever reads them.

`Guarded` puts an argument among them, `watched` whatever a function allocates. `checks` uses both.
"""

import contextlib
import math

import numpy as np

PAD = 64  # canaries on each side of an array, along the last axis of the larger one it lies in
FENCE = 512  # bytes on each side of an allocation; CuPy's pool aligns memory to as many
FENCE_BYTE = 0xFE  # as a float64 -5e303, as a float32 -2e38
LAYOUTS = ("contiguous", "stepped", "transposed", "reversed")


class Guarded:
    """A CuPy array (`.view`) that lies inside a larger one, among canaries of its `number`."""

    def __init__(self, number, shape, dtype, layout, values=None):
        import cupy

        shape, dtype = tuple(shape), np.dtype(dtype)
        if layout == "contiguous" or not shape:
            size = math.prod(shape)
            self.before = _canaries((2 * PAD + size,), dtype, number)

            def view(buffer):
                return buffer[PAD : PAD + size].reshape(shape)
        else:
            step = {"stepped": 2, "transposed": 1, "reversed": -1}[layout]
            lengths = shape[::-1] if layout == "transposed" else shape
            pads = (1,) * (len(shape) - 1) + (PAD,)
            larger = tuple(2 * p + abs(step) * n for p, n in zip(pads, lengths, strict=True))
            self.before = _canaries(larger, dtype, number)
            window = tuple(
                slice(p, p + step * n, step) if step > 0 else slice(p + n - 1, p - 1, -1)
                for p, n in zip(pads, lengths, strict=True)
            )

            def view(buffer):
                return buffer[window].T if layout == "transposed" else buffer[window]

        self.inside = np.zeros(self.before.shape, bool)
        view(self.inside)[...] = True
        if values is not None:
            view(self.before)[...] = values
        self.buffer = cupy.asarray(self.before)
        self.view = view(self.buffer)

    def written(self):
        """Return (inside, outside): whether a bit of the array, or around it, has changed."""
        after = self.buffer.get()
        width = after.dtype.itemsize
        changed = _bytes(after, width) != _bytes(self.before, width)
        changed = changed.any(axis=1).reshape(after.shape)
        return bool(changed[self.inside].any()), bool(changed[~self.inside].any())


def _bytes(array, width):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, width)


def _canaries(shape, dtype, number):
    """Return an array of NaNs (of large integers, of True) whose bits differ from number to number.

    So a canary of one array, read too far and written too far in another one, is seen there.
    """
    if dtype.kind == "c":
        return _canaries((*shape, 2), np.empty(0, dtype).real.dtype, number).view(dtype)[..., 0]
    if dtype.kind == "f":
        bits = np.dtype(f"u{dtype.itemsize}")
        nan = np.array(np.nan, dtype).view(bits) | bits.type(0x55 + number)
        return np.full(shape, nan, bits).view(dtype)
    return np.full(shape, True if dtype.kind == "b" else np.iinfo(dtype).max - 86 + number, dtype)


class Watch:
    """What was allocated inside `watched`: how often, how many bytes at most at once, and whether
    memory around it was written."""

    def __init__(self, fenced):
        self.count = self.largest = 0
        self._fenced = fenced
        self._taken = []  # (MemoryPointer of the whole, bytes inside)

    def allocate(self, size):
        """Be the allocator: `size` bytes from CuPy's pool, filled and fenced with FENCE_BYTE."""
        import cupy

        self.count += size > 0
        self.largest = max(self.largest, size)
        pool = cupy.get_default_memory_pool()
        if not self._fenced or not size:
            return pool.malloc(size)
        whole = pool.malloc(size + 2 * FENCE)
        with cupy.cuda.using_allocator(pool.malloc):  # so that filling never comes back here
            cupy.ndarray((size + 2 * FENCE,), np.uint8, whole).fill(FENCE_BYTE)
        self._taken.append((whole, size))
        return whole + FENCE

    def outside_written(self):
        """Say whether a byte of a fence has changed."""
        import cupy

        for whole, size in self._taken:
            around = cupy.ndarray((size + 2 * FENCE,), np.uint8, whole).get()
            if (np.delete(around, slice(FENCE, FENCE + size)) != FENCE_BYTE).any():
                return True
        return False


@contextlib.contextmanager
def watched(fenced):
    """Yield a Watch over all device memory that this thread allocates inside the `with` block.

    fenced  put canaries around it; the stand-in has fences of its own, and names who broke them
    """
    import cupy

    watch = Watch(fenced)
    with cupy.cuda.using_allocator(watch.allocate):
        yield watch
