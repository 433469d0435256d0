"""Guesses at the mistake behind a wrong result, for the checks of exercises."""

import numpy as np


def guess(got, expected, bad, case, near):
    """Return a guess at the mistake as a sentence with a space before it, or nothing."""

    def same(a, b):
        return a.size > 1 and a.shape == b.shape and a.dtype == b.dtype and near(a, b).all()

    if got.dtype.kind in "fc" and np.isnan(got[bad]).any():
        return " NaN: an element that was never written, or read from outside the array?"
    if got.size > 1 and not got.any():
        return " All zeros: did the kernel run, and over all elements?"
    if got.ndim == 2 and same(got.T, expected):
        return " It looks transposed."
    for number, argument in enumerate(a for a in case if isinstance(a, np.ndarray)):
        if same(got, argument):
            return f" It is argument {number + 1}, unchanged."
    for axis in range(got.ndim):
        inner = [slice(None)] * got.ndim
        inner[axis] = slice(1, -1)
        for by in (1, -1):
            if same(np.roll(got, by, axis)[tuple(inner)], expected[tuple(inner)]):
                return f" It looks shifted by one along axis {axis}."
        for name, index in (("first", 0), ("last", -1)):
            edge = np.zeros_like(bad)
            np.moveaxis(edge, axis, 0)[index] = True
            if got.shape[axis] > 1 and not bad[~edge].any():
                return f" Only the {name} index of axis {axis} is wrong: look at the bounds."
    with np.errstate(all="ignore"):
        ratio = (got.astype(complex) / expected.astype(complex))[expected != 0]
    if (
        ratio.size > 1
        and np.isfinite(ratio).all()
        and ratio[0]
        and not got[expected == 0].any()
        and np.allclose(ratio, ratio[0], rtol=1e-4)
    ):
        if abs(ratio[0] - 1) < 1e-3:
            return " The values are close: look at the precision."
        return f" Every element is {ratio[0].real:.4g} times what it should be."
    if got.dtype.kind in "fc" and np.abs(got - expected).max() < 1e-4 * np.abs(expected).max():
        return " The values are close: look at the precision."
    return ""


def transposed(got, oracle, case, contiguous, near):
    """Return a sentence if `got` is the answer for one square argument transposed, or nothing."""
    for number, argument in enumerate(case):
        square = isinstance(argument, np.ndarray) and argument.ndim == 2
        if not square or argument.shape[0] != argument.shape[1]:
            continue
        swapped = [a.copy() if isinstance(a, np.ndarray) else a for a in case]
        swapped[number] = np.ascontiguousarray(argument.T)
        if got.size > 1 and near(got, np.asarray(oracle(*swapped))).all():
            raw = " A raw kernel sees no strides: given x.T, it reads x." if contiguous else ""
            return f" It is the answer for argument {number + 1} transposed.{raw}"
    return ""
