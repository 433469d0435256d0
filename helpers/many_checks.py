"""Judges for chapter 90: each says in a line whether an answer is right."""

import numpy as np

from helpers.checks import judge


def combine_in_numpy(parts, sizes):
    """The gradient of a whole batch: parts (R, P), sizes (R,) give (P,)."""
    total = np.zeros(parts.shape[1])
    for part, size in zip(parts, sizes, strict=True):
        total += part * (size / sizes.sum())
    return total


def parts_and_sizes(rng):
    """A case for it: sizes all different, the shapes odd."""
    n_parts, n_weights = rng.choice([3, 5, 7, 9], 2, replace=False)
    sizes = rng.permutation(np.arange(1, 20))[:n_parts]
    return rng.standard_normal((n_parts, n_weights)), sizes


def add_up(pieces):
    """The first half of a ring: rank r gets the sum of piece r + 1. Returns numbers sent."""
    n, sent = len(pieces), 0
    for step in range(n - 1):
        passed = [pieces[r][(r - step) % n].copy() for r in range(n)]
        for r in range(n):
            pieces[(r + 1) % n][(r - step) % n] += passed[r]
        sent += max(p.size for p in passed)
    return sent


def hand_on(pieces, piece_to_pass):
    """The second half: what arrives replaces what is there. Returns numbers sent."""
    n, sent = len(pieces), 0
    for step in range(n - 1):
        which = [piece_to_pass(r, step, n) for r in range(n)]
        passed = [pieces[r][k].copy() for r, k in enumerate(which)]
        for r, k in enumerate(which):
            pieces[(r + 1) % n][k] = passed[r]
        sent += max(p.size for p in passed)
    return sent


@judge
def judge_ring(piece_to_pass):
    rng = np.random.default_rng(2)
    for n in (2, 3, 5, 8):
        for r, step in np.ndindex(n, n - 1):
            k = piece_to_pass(r, step, n)
            if k is None:
                return "not done yet"
            if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < n:
                return f"wrong for {n} ranks: rank {r} cannot pass piece {k!r}"
        arrays = rng.integers(-9, 9, (n, 4 * n + 1)).astype(float)
        pieces = [np.array_split(array, n) for array in arrays.copy()]
        add_up(pieces)
        hand_on(pieces, piece_to_pass)
        right = np.array_split(arrays.sum(axis=0), n)
        for r, k in np.ndindex(n, n):
            if not (pieces[r][k] == right[k]).all():
                return f"wrong for {n} ranks: in the end rank {r} lacks the sum of piece {k}"
    return "correct for 2, 3, 5 and 8 ranks"


@judge
def judge_mine(mine):
    """mine(n, rank, size, seed, epoch): the rank's numbers below n, all ranks' as many."""
    for n, size in ((12, 3), (13, 4), (7, 2), (101, 8), (40_003, 3)):
        epochs = []
        for epoch in (0, 1):
            parts = [mine(n, rank, size, 5, epoch) for rank in range(size)]
            if any(part is None for part in parts):
                return "not done yet"
            parts = [np.asarray(part) for part in parts]
            where = f"wrong for {n} examples and {size} ranks: "
            if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
                return where + "a rank's part is an array of whole numbers, of one dimension"
            lengths = {len(part) for part in parts}
            if len(lengths) > 1:
                return (
                    where + f"parts of {sorted(lengths)}: in the last step somebody waits for ever"
                )
            if lengths != {n // size}:
                return where + f"{lengths.pop()} for each rank; {n // size} is all there is"
            together = np.concatenate(parts)
            if together.min() < 0 or together.max() >= n:
                return where + f"there are numbers that are not between 0 and {n - 1}"
            if len(set(together.tolist())) < len(together):
                return where + "two ranks, or two steps, have the same example"
            if any((mine(n, r, size, 5, epoch) != part).any() for r, part in enumerate(parts)):
                return where + "asked again it gives others: a rank must be able to resume"
            epochs.append(together)
        if (epochs[0] == epochs[1]).all() or (np.sort(parts[0]) == np.arange(n // size)).all():
            return where + "the order is not drawn anew in each epoch"
        if n > 50 and len(set(epochs[0][: n // size]) & set(epochs[1][: n // size])) == n // size:
            return where + "a rank sees the same examples in every epoch"
        if n > 50 and (np.asarray(mine(n, 0, size, 6, 0)) == epochs[0][: n // size]).all():
            return where + "another seed gives the same order"
    return "correct for 5 numbers of examples and ranks"


@judge
def judge_memory(memory):
    """memory(weights, n, stage, sizes): the bytes of each of n GPUs, sizes of three parts."""

    def right(weights, n, stage, sizes):
        firsts = 3, 2, 1  # the stage that shares a weight, a gradient, an optimizer
        parts = zip(sizes, firsts, strict=True)
        return sum(b * weights / (n if stage >= first else 1) for b, first in parts)

    for sizes in ((2, 2, 12), (2, 4, 12), (4, 3, 8)):  # equal sizes could change places
        for weights, n, stage in np.ndindex(3, 3, 4):
            case = (1e6, 7e9, 3e11)[weights], (1, 8, 1000)[n], stage, sizes
            answer = memory(*case)
            if answer is None:
                return "not done yet"
            if not isinstance(answer, int | float | np.number):
                return f"wrong: {answer!r} is not a number of bytes"
            if not abs(answer - right(*case)) <= max(1, 1e-9 * right(*case)):
                return f"wrong for {case}: {answer:,.0f} bytes, expected {right(*case):,.0f}"
    return "correct in 108 cases"


def judge_saved(pack, new, windows, unpack):
    """Whether what pack(model, optimizer, walk) takes is enough for the same bits.

    new()      a fresh (model, optimizer, walk)
    windows    windows(model, optimizer, walk, n) trains for n windows
    unpack     unpack(saved, model, optimizer, walk) puts back all that is in saved
    """

    @judge
    def look(pack):
        whole, cut = new(), new()
        windows(*whole, 3)
        windows(*cut, 3)
        saved = pack(*cut)
        if saved is None:
            return "not done yet"
        if not isinstance(saved, dict):
            return f"wrong: {type(saved).__name__} is not a dictionary of arrays"
        for name, array in saved.items():
            if not isinstance(array, np.ndarray | np.generic | int):
                return f"wrong: {name!r} is a {type(array).__name__}; a file takes NumPy's arrays"
        kept = {name: np.array(array) for name, array in saved.items()}
        windows(*cut, 1)  # what was saved must not go on with the training
        if any((np.asarray(saved[name]) != kept[name]).any() for name in kept):
            return "wrong: what was saved changes as the training goes on: copy it"
        begun = new()
        unpack(saved, *begun)
        for n in range(1, 4):
            windows(*whole, 1)
            windows(*begun, 1)
            pairs = zip(whole[0].params(), begun[0].params(), strict=True)
            if not all((p.data.get() == q.data.get()).all() for p, q in pairs):
                said = {1: "already the first window", 2: "the second window", 3: "the third"}
                return f"wrong: after resuming, {said[n]} gives other bits: what else goes on?"
        return "correct: the same bits, three windows on"

    return look(pack)
