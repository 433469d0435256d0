"""Arrays to test with, of NumPy's or CuPy's: ``xp`` is the module. The numbers are CuPy's own."""

from __future__ import annotations

import math

import numpy as np

import cupy


def _row(size: int, first: int, step: int, dtype) -> np.ndarray:
    """So many integers as ``dtype``: a complex one has them in both parts, a boolean is whether
    they are even."""
    dtype, numbers = np.dtype(dtype), first + step * np.arange(size)
    if dtype.kind == "b":
        return numbers % 2 == 0
    return (numbers * (1 + 1j) if dtype.kind == "c" else numbers).astype(dtype)


def _size(shape) -> int:
    return math.prod(shape) if isinstance(shape, tuple | list) else shape


def shaped_arange(shape, xp=cupy, dtype=np.float32, order="C"):
    """1, 2, 3... as an array of that shape (default float32), laid out in ``order``.

    Of a complex dtype both parts count; of ``bool`` the even numbers are True.
    """
    shape = tuple(shape)
    return xp.array(_row(_size(shape), 1, 1, dtype).reshape(shape), order=order)


def shaped_reverse_arange(shape, xp=cupy, dtype=np.float32):
    """``shaped_arange`` from the largest number down to 1."""
    shape = tuple(shape)
    size = _size(shape)
    return xp.array(_row(size, size, -1, dtype).reshape(shape))


def shaped_linspace(start, stop, shape, xp=cupy, dtype=np.float32):
    """Numbers from ``start`` to ``stop`` at equal distances, as an array of that shape.

    The ends are moved into what the dtype has: from 0 on if unsigned, from 0 to 1 if boolean.
    """
    kind = np.dtype(dtype).kind
    if kind in "ub":
        start = max(start, 0)
    if kind == "b":
        stop = min(stop, 1)
    return xp.array(np.linspace(start, stop, _size(shape)).astype(dtype).reshape(shape))


def shaped_random(shape, xp=cupy, dtype=np.float32, scale=10, seed=0, order="C"):
    """Numbers that are uniform in [0, ``scale``), always the same for a ``seed``.

    Of a complex dtype both parts are; of ``bool`` True is as likely as False.
    """
    draw, kind = np.random.RandomState(seed), np.dtype(dtype).kind
    if kind == "b":
        numbers = draw.randint(2, size=shape)
    elif kind == "c":
        numbers = (draw.rand(*shape) + 1j * draw.rand(*shape)) * scale
    else:
        numbers = draw.rand(*shape) * scale
    return xp.asarray(numbers, dtype=dtype, order=order)


def shaped_sparse_random(shape, sp=None, dtype=np.float32, density=0.01, format="coo", seed=0):
    """A sparse matrix of ``sp``, ``scipy.sparse`` or (by default) ``cupyx.scipy.sparse``, whose
    elements other than zero are uniform in [0, 1) and fill a part, ``density``, of it.

    ValueError where ``sp`` is no such module.
    """
    import cupyx.scipy.sparse
    import scipy.sparse

    sp = cupyx.scipy.sparse if sp is None else sp
    if not hasattr(sp, "coo_matrix"):
        raise ValueError(f"Module {sp} does not have the expected sparse APIs")
    made = scipy.sparse.random(*shape, density, random_state=seed).astype(dtype)
    return sp.coo_matrix(made).asformat(format)


def generate_matrix(shape, xp=cupy, dtype=np.float32, *, singular_values=None):
    """A random matrix with these singular values, or a stack of them.

    Args:
        shape: (..., m, n).
        xp: the module, NumPy or CuPy.
        dtype: float or complex.
        singular_values: array that can be broadcast to (..., min(m, n)); real, none negative.

    Raises:
        ValueError: the shape has fewer than two axes, a value is negative, or they do not fit.
        TypeError: another dtype, complex values, or none.
    """
    if len(shape) < 2:
        raise ValueError(f"shape {shape} is invalid for matrices: too few axes")
    if singular_values is None:
        raise TypeError("singular_values is not given")
    values, dtype = xp.asarray(singular_values), np.dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"dtype {dtype} is not supported")
    if not xp.isrealobj(values):
        raise TypeError("singular_values is not real")
    if (values < 0).any():
        raise ValueError("negative singular value is given")
    start = xp.random.randn(*shape)
    if dtype.kind == "c":
        start = start + 1j * xp.random.randn(*shape)
    left, old, right = xp.linalg.svd(start, full_matrices=False)
    values = xp.broadcast_to(values, old.shape)
    return ((left * values[..., None, :]) @ right).astype(dtype)
