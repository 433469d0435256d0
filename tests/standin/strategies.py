"""Hypothesis strategies shared by the kernel tests: arrays that lie in memory in odd ways."""

import cupy as cp
import numpy as np
from hypothesis import strategies as st


@st.composite
def views(draw, shape, dtype, seed=None):
    """A NumPy view of that shape and its device twin: permuted axes, steps, reversed, offset."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, -1, 2, -3])) for _ in shape]
    offsets = [draw(st.integers(0, 1)) for _ in shape]
    lengths = [shape[axis] for axis in order]
    base_shape = [
        offset + abs(step) * length
        for offset, step, length in zip(offsets, steps, lengths, strict=True)
    ]
    rng = np.random.default_rng(draw(st.integers(0, 99)) if seed is None else seed)
    base = rng.integers(-50, 50, base_shape).astype(dtype)
    cuts = tuple(
        slice(offset, offset + step * length, step)
        if step > 0
        else slice(offset - step * length - 1, offset - 1 if offset else None, step)
        for offset, step, length in zip(offsets, steps, lengths, strict=True)
    )
    back = tuple(np.argsort(order)) if shape else ()
    host = base[cuts].transpose(back)
    device = cp.asarray(base)[cuts].transpose(back)
    assert host.shape == tuple(shape)
    return host, device


def shapes(max_dims=3, max_side=5):
    """Small shapes, 0-d included, without sides of length 0."""
    return st.lists(st.integers(1, max_side), max_size=max_dims).map(tuple)
