"""Judges and models for chapter 85: each judge says in a line whether an answer is right."""

import itertools

import cupy as cp
import numpy as np

NAMES = "l1.w l1.b l2.w_x l2.w_h l2.b l3.w l3.b".split()


def model_without_zeros(make, n_units, xp=np, dtype=np.float32):
    """Return make(n_units, rng, xp, dtype), always the same one, with no bias of zero."""
    rng = np.random.default_rng(5)
    model = make(n_units, rng, xp, dtype)
    for p in model.params():
        p.data += xp.asarray((0.2 * rng.standard_normal(p.shape)).astype(dtype))
    return model


def windows(walk, n_windows):
    """Return the next windows x and t of a walk, (n_windows, n_steps, n_batch), on the device."""
    pairs = list(itertools.islice(walk, n_windows))
    return tuple(cp.asarray(np.stack(arrays)) for arrays in zip(*pairs, strict=True))


def operations_by_shapes(n_units, n_batch, n_steps):
    """Return the FLOP of a step in general and with brackets elsewhere, product by product."""
    rows, n = n_steps * n_batch, n_units
    loop = n_steps * [(n_batch, n, 4 * n), (n_batch, 4 * n, n)]
    weights = [(n, rows, 4 * n)]
    general = [(rows, n, 4 * n), (rows, 4 * n, n), *weights, *weights]
    brackets = [(2, n, 4 * n), (n, 2, 4 * n), (2, 4 * n, n), *weights]
    return tuple(sum(2 * m * k * n for m, k, n in loop + more) for more in (general, brackets))


def judge_operations(operations):
    """Judge operations(n_units, n_batch, n_steps), most sizes new each time."""
    sizes = np.random.default_rng().integers(2, 600, (4, 3)).tolist()
    for case in [(512, 256, 100), (1, 2, 3), *map(tuple, sizes)]:
        answer = _answer(operations, *case)
        if isinstance(answer, str):
            return answer
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            return f"two numbers are wanted, not {answer!r}"
        right = operations_by_shapes(*case)
        for name, got, wanted in zip(("general", "brackets"), answer, right, strict=True):
            if isinstance(got, bool) or got != wanted:
                return f"wrong for {case}, {name}: {got!r}, expected {wanted:,}"
    return "correct"


def judge_fits(fits):
    """Judge fits(n_units, n_steps, n_batch): may a warp be a series and a lane a gate?"""
    for case in itertools.product(range(1, 11), (1, 31, 32, 33), (1, 4, 7, 11, 20, 32, 33)):
        answer = _answer(fits, *case)
        if isinstance(answer, str):
            return answer
        n_units, n_steps, n_batch = case
        count = sum((n_units, n_units, 2 * n_units * 4 * n_units, 4 * n_units, n_units, 1))
        right = max(4 * n_units, n_steps, n_batch) <= 32 and count <= 32 * n_batch
        if not isinstance(answer, (bool, np.bool_)) or answer != right:
            return f"wrong for units, steps, series = {case}: {answer!r}, expected {right}"
    return "correct"


def judge_forgetful(forgetful, make):
    """Judge forgetful(model): forget biases 0, in place, in models that make() gives."""
    for n_units, xp in ((5, cp), (3, np), (7, cp)):
        model = model_without_zeros(make, n_units, xp)
        held = [p.data for p in model.params()]
        wanted = [cp.asnumpy(a).copy() for a in held]
        wanted[4][n_units : 2 * n_units] = 0
        answer = _answer(forgetful, model)
        if isinstance(answer, str):
            return answer
        if any(p.data is not a for p, a in zip(model.params(), held, strict=True)):
            return "wrong: a parameter has got a new array; write into the old one"
        for name, got, right in zip(NAMES, held, wanted, strict=True):
            off = np.flatnonzero(cp.asnumpy(got).ravel() != right.ravel())
            if len(off):
                return f"wrong: element {off[0]} of {name} with {n_units} units"
    return "correct"


def _answer(candidate, *arguments):
    """Return what the candidate returns, or a line that says why there is no answer."""
    try:
        return candidate(*arguments)
    except NotImplementedError:
        return "not done yet"
    except Exception as error:
        return f"it raised {type(error).__name__}: {error}"
