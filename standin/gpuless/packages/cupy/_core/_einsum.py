"""``einsum``: NumPy's sums, in the types and the order in memory that CuPy gives them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from cupy._core._casts import cast
from cupy._core._creation import asarray
from cupy._core._dispatch import check_dtype, named
from cupy._core._reductions import MANY
from cupy._core._sums import summed_in_f


def of_arrays(row: Callable) -> Callable:
    """``row``, with arrays of the device in place of all operands."""

    def einsum(*operands, **kwargs):
        if operands and isinstance(operands[0], str):
            text, *others = operands
            return row(text, *map(asarray, others), **kwargs)
        last = len(operands) - 1
        operands = [one if i % 2 or i == last else asarray(one) for i, one in enumerate(operands)]
        return row(*operands, **kwargs)

    return named(einsum, "einsum")


def einsum(*operands, **kwargs):
    """NumPy's, of operands of one type, the result's: CuPy converts them first."""
    if unknown := kwargs.keys() - {"dtype", "optimize"}:
        raise TypeError(f"Did not understand the following kwargs: {sorted(unknown)}")
    optimize = kwargs.get("optimize", False)
    if not isinstance(optimize, (bool, str, list, tuple)):
        raise TypeError(f"Did not understand the path (optimize): {optimize}")
    if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
        raise TypeError(f"Did not understand the path (optimize): {optimize}")
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    dtype = kwargs.pop("dtype", None)
    dtype = dtype if dtype is None else check_dtype(dtype)
    if len(arrays) == 1 and not arrays[0].ndim:
        np.einsum(*operands, **kwargs)  # its errors
        return arrays[0].view()
    if len(arrays) == 1 and dtype is not None:
        inputs, output = _labels(operands)
        if set(inputs[0]) <= set(output):  # a view, which has the array's type
            return np.einsum(*operands, **kwargs)
    if len(arrays) > 1 or dtype is not None:
        common = np.result_type(*(array.dtype for array in arrays)) if dtype is None else dtype
        operands = tuple(
            cast(operand, np.dtype(common)).astype(common, copy=False)
            if isinstance(operand, np.ndarray)
            else operand
            for operand in operands
        )
        arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    result = _summed(operands, arrays, kwargs)
    a_view = len(arrays) == 1 and np.may_share_memory(result, arrays[0])
    if np.ndim(result) == 0 or a_view:
        return result
    inputs, output = _labels(operands)
    if len(inputs) == 2 and all(len(set(sub) & set(output)) == len(sub) for sub in inputs):
        result = _product(inputs, output, arrays)
    if result.ndim == 1:
        return result
    order, in_f = _order(inputs, output, arrays, operands, kwargs.get("optimize", False))
    axes = [output.index(label) for label in [*order, *(set(output) - set(order))]]
    lying = np.asarray(result.transpose(axes), order="F" if in_f else "C")
    return lying.transpose(np.argsort(axes))


def _summed(operands: tuple, arrays: list[np.ndarray], kwargs: dict):
    """NumPy's sum, in a wider type if it has many numbers of single precision or any of half: NumPy
    may add them one after the other, where threads of a GPU add a part each."""
    kind = arrays[0].dtype if arrays else np.dtype("d")
    if kind.char == "e" or kind.char in "fF" and max(array.size for array in arrays) > MANY:
        inputs, output = _labels(operands)
        lengths: dict = {}
        for sub, array in zip(inputs, arrays, strict=False):
            lengths |= {x: n for x, n in zip(sub, array.shape, strict=False) if n != 1}
        count = math.prod(n for label, n in lengths.items() if label not in output)
        if count > (1 if kind.char == "e" else MANY):
            wide = np.result_type(kind, "f" if kind.char == "e" else "d")
            widened = (v.astype(wide) if isinstance(v, np.ndarray) else v for v in operands)
            return np.asarray(np.einsum(*widened, **kwargs)).astype(kind)
    return np.einsum(*operands, **kwargs)


def _product(inputs, output, arrays) -> np.ndarray:
    """Where nothing is summed: NumPy adds a zero, of which -0.0 loses its sign."""
    spread = []
    for sub, array in zip(inputs, arrays, strict=True):
        length = dict(zip(sub, array.shape, strict=True))
        turned = array.transpose(np.argsort([output.index(label) for label in sub]))
        spread.append(turned.reshape([length.get(label, 1) for label in output]))
    return np.multiply(*spread)


def _labels(operands: tuple) -> tuple[list[list[int]], list[int]]:
    """The labels of each operand and of the result, as numbers: negative ones for an ellipsis."""
    if isinstance(operands[0], str):
        text, arrow, result = operands[0].replace(" ", "").replace("...", "@").partition("->")
        arrays, inputs, output = operands[1:], text.split(","), result if arrow else None
    else:  # operand, labels, operand, labels, and perhaps the labels of the result
        pairs = len(operands) // 2
        arrays, inputs = operands[0 : 2 * pairs : 2], operands[1 : 2 * pairs : 2]
        output = operands[-1] if len(operands) % 2 else None

    def numbers(labels, hidden: int) -> list[int]:
        spread = [range(-hidden, 0) if x in ("@", Ellipsis) else [x] for x in labels]
        return [ord(x) if isinstance(x, str) else x for x in itertools.chain(*spread)]

    pairs_of = zip(inputs, arrays, strict=True)
    hidden = [np.ndim(a) - sum(x not in ("@", Ellipsis) for x in sub) for sub, a in pairs_of]
    found = [numbers(sub, n) for sub, n in zip(inputs, hidden, strict=True)]
    if output is not None:
        return found, numbers(output, max(hidden))
    counts = Counter(itertools.chain(*found))
    return found, sorted(label for label, count in counts.items() if label < 0 or count == 1)


def _order(inputs, output, arrays, operands, optimize) -> tuple[list[int], bool]:
    """The result's labels as they lie in memory, the widest stride first, and whether it is the
    last instead, as in a sum of one operand that cuB makes.

    CuPy takes the operands two by two from the end, and multiplies matrices: first the labels that
    both and the result have, then those of the later operand, then those of the earlier one.
    """
    if len(inputs) == 1:
        (sub,) = inputs
        summed = tuple(axis for axis, label in enumerate(sub) if label not in output)
        kept = [label for label in dict.fromkeys(sub) if label in output]
        alone = len(set(sub)) == len(sub)
        return kept, alone and summed_in_f(arrays[0], summed, True)
    wide = [
        [x for x, n in dict(zip(sub, array.shape, strict=True)).items() if n != 1]
        for sub, array in zip(inputs, arrays, strict=True)
    ]
    used = Counter(itertools.chain(output, *wide))
    ordered = [[label for label in labels if used[label] > 1] for labels in wide]
    path = [range(len(ordered))]
    if optimize is not False:  # NumPy's path, most often CuPy's
        path = np.einsum_path(*operands, optimize=optimize)[0][1:]
    for step in path:
        last, *others = sorted(step, reverse=True)
        for other in others:
            pair = ordered.pop(last), ordered.pop(other)
            ordered.append(_pair(*pair, [*output, *itertools.chain(*ordered)]))
            last = -1
    return [label for label in ordered[0] if label in output], False


def _pair(first: list[int], second: list[int], others: list[int]) -> list[int]:
    """The labels of the product of two operands, in the order of its axes."""
    if not (first and second):
        return first + second
    shared = set(first) & set(second)
    batch = sorted(shared & set(others))
    made = [*batch, *sorted(set(first) - shared), *sorted(set(second) - shared)]
    nothing_summed = len(batch) == len(shared)
    return list(others) if nothing_summed and len(made) == len(others) else made


def einsum_blas(*args, **kwargs) -> str | None:
    """A label that two operands have and the result has not is summed over by cuBLAS."""
    if isinstance(args[0], str):
        inputs, arrow, output = args[0].replace(" ", "").partition("->")
        operands, inputs = args[1:], inputs.split(",")
    else:  # operand, labels, operand, labels, and perhaps the labels of the result
        pairs = len(args) // 2
        operands, inputs = args[0 : 2 * pairs : 2], args[1 : 2 * pairs : 2]
        arrow, output = len(args) % 2, args[-1]
    counts = Counter(label for labels in inputs for label in set(labels) - {".", Ellipsis})
    shared = {label for label, count in counts.items() if count > 1}
    inexact = any(np.asarray(getattr(v, "_array", v)).dtype.kind in "fc" for v in operands)
    return "cuBLAS" if inexact and shared.difference(output if arrow else ()) else None
