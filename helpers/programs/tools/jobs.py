"""The four jobs: their sizes, inputs and the answers, by NumPy in float64."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Job:
    """One job: what it computes, how large it is, and what it is measured against."""

    title: str
    full: tuple  # sizes that are measured
    odd: tuple  # sizes, several of them, at which results are checked
    ceiling: str  # "copy" or "cublas"
    tolerance: float  # |result - NumPy's| over NumPy's, as norms


JOBS = {
    "add_twice": Job("x + 2y", (2**28,), ((1,), (100_003,), (2**18,)), "copy", 1e-6),
    "stencil": Job("A 3×3 stencil", (2**14, 2**14), ((1, 1), (67, 131), (130, 256)), "copy", 1e-6),
    "softmax": Job(
        "Softmax of rows", (2**15, 2**12), ((1, 1), (37, 1001), (3, 4096)), "copy", 1e-5
    ),
    "dense": Job(
        "relu(A B + bias)",
        (4096, 4096, 4096),
        ((1, 1, 1), (67, 45, 131), (136, 72, 264)),
        "cublas",
        1e-3,
    ),
}


def work(job, size):
    """Return what must be done: bytes read and written once each or, for `dense`, operations."""
    if job == "dense":
        rows, inner, columns = size
        return 2 * rows * inner * columns
    numbers = int(np.prod(size))
    return 4 * numbers * (3 if job == "add_twice" else 2)


def inputs(job, size, seed=2):
    """Return the arrays of `job` on the host, and the shape and dtype of its result.

    float32, but `dense` takes and gives float16, and adds in float32.
    """
    rng = np.random.default_rng(seed)
    if job == "dense":
        m, k, n = size
        a, b, bias = (rng.standard_normal(shape) for shape in ((m, k), (k, n), (n,)))
        arrays = [x.astype(np.float16) for x in (a, b * k**-0.5, bias)]
        return arrays, (m, n), np.float16
    arrays = [_numbers(rng, size) for _ in range(2 if job == "add_twice" else 1)]
    if job == "stencil":
        arrays.append(rng.standard_normal((3, 3)).astype(np.float32))
    return arrays, size, np.float32


def _numbers(rng, size):
    """Normal numbers; many of them repeat a piece of odd length, which is quick to make."""
    count = int(np.prod(size))
    piece = rng.standard_normal(min(count, 2**22 + 1), np.float32)
    return np.resize(piece, count).reshape(size)


def answer(job, arrays, rows=slice(None)):
    """Return what `job` should give in the `rows`, a slice, in float64."""
    wide = [x.astype(np.float64) if x.size < 2**20 else x for x in arrays]
    first, last, _ = rows.indices(len(arrays[0]))
    if job == "add_twice":
        x, y = (v[rows].astype(np.float64) for v in wide)
        return x + 2 * y
    if job == "stencil":
        x, weights = wide
        top, bottom = max(first - 1, 0), min(last + 1, len(x))
        above = np.pad(x[top:bottom].astype(np.float64), 1)[first - top :]
        count, columns = last - first, x.shape[1]
        return sum(
            weights[i, j] * above[i : i + count, j : j + columns]
            for i in range(3)
            for j in range(3)
        )
    if job == "softmax":
        x = wide[0][rows].astype(np.float64)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    a, b, bias = (x.astype(np.float64) for x in (wide[0][rows], wide[1], wide[2]))
    return np.maximum(a @ b + bias, 0)


def error(found, wanted):
    """Return |found - wanted| over |wanted|, as norms; infinite where a number is not finite."""
    difference = np.linalg.norm(np.asarray(found, np.float64) - wanted)
    norm = np.linalg.norm(wanted)
    found = difference / norm if norm else difference
    return float(found) if np.isfinite(found) else float("inf")


def samples(job, rows):
    """Return slices of the rows of a large result that are held against NumPy."""
    step = 4099 if job == "add_twice" else 5
    starts = (0, rows // 3, rows - step)
    return [slice(start, start + step) for start in starts]
