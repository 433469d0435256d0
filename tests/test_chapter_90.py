"""Chapter 90's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

# ruff: noqa: E501
import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("90_many_gpus")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert ": correct" in chapter.judged(number, chapter.answer(number))


COMBINE = "def combine(parts, sizes):\n    {}\n"
PASS = "def piece_to_pass(r, step, n):\n    return {}\n"
MINE = "def mine(n, rank, size, seed, epoch):\n    {}\n"
DRAW = "order = np.random.default_rng([seed, epoch]).permutation(n)\n    return "
PACK = """parts = fresh, windows, unpack
def pack(model, optimizer, walk):
    saved = {{"updates": optimizer.t, "k": walk.k.copy()}}
    saved["h"], saved["c"] = model.l2.h.data.get(), model.l2.c.data.get()
    for n, p in enumerate(model.params()):
        saved[f"p{{n}}"] = p.data.get()
        mean, square = optimizer.means[p]
        saved[f"mean{{n}}"], saved[f"square{{n}}"] = mean.get(), square.get()
    {}
    return saved
"""
DROP = "saved = {{name: a for name, a in saved.items() if not name.startswith({!r})}}"
MEMORY = """def memory(weights, n, stage, sizes):
    a, b, c = sizes
    return weights * ({})
"""
WRONG = [
    (1, COMBINE.format("return parts.mean(axis=0)"), "wrong"),
    (1, COMBINE.format("return (sizes // sizes.sum()) @ parts"), "wrong"),
    (1, COMBINE.format("return sizes @ parts"), "wrong"),
    (1, COMBINE.format("return (sizes / sizes.max()) @ parts"), "wrong"),
    (1, COMBINE.format("return parts.sum(axis=0)"), "wrong"),
    (1, COMBINE.format("return cp.asarray(many_checks.combine_in_numpy(parts.get(), sizes.get()))"), ""),
    (1, COMBINE.format("return sum(p * (s / sizes.sum()) for p, s in zip(parts, sizes))"), ""),
    (2, PASS.format("(r - step) % n"), "wrong"),
    (2, PASS.format("(r + 1 + step) % n"), "wrong"),
    (2, PASS.format("n"), "cannot pass"),
    (2, PASS.format("(r + 1) % n"), "wrong"),
    (2, PASS.format("r + 1 - step"), "cannot pass"),
    (2, PASS.format("(r + 1 - step) % 2"), "wrong"),
    (2, PASS.format("True"), "cannot pass"),
    (3, MINE.format("return np.arange(n)[: n - n % size][rank::size]"), "drawn anew"),
    (3, MINE.format(DRAW + "order[rank::size]"), "waits for ever"),
    (3, MINE.format("order = np.random.default_rng([seed, epoch, rank]).permutation(n)\n    return order[: n // size]"), "same example"),
    (3, MINE.format("order = np.random.default_rng().permutation(n)\n    return order[: n - n % size][rank::size]"), ""),
    (3, MINE.format("order = np.random.default_rng(seed).permutation(n)\n    return order[: n - n % size][rank::size]"), "drawn anew"),
    (3, MINE.format("order = np.random.default_rng(epoch).permutation(n)\n    return order[: n - n % size][rank::size]"), "seed"),
    (3, MINE.format(DRAW + "np.resize(order, -(-n // size) * size)[rank::size]"), "all there is"),
    (3, MINE.format(DRAW + "order[: n - n % size][rank::size].astype(np.int16)"), ""),
    (3, MINE.format(DRAW + "order[: n - n % size][rank::size] / 1"), "whole numbers"),
    (3, MINE.format(DRAW + "1 + order[: n - n % size][rank::size]"), ""),
    (3, MINE.format("mine_ = np.arange(n)[rank * (n // size) : (rank + 1) * (n // size)]\n    return np.random.default_rng([seed, epoch]).permutation(mine_)"), ""),
    (4, PACK.format(DROP.format("mean")), "other bits"),
    (4, PACK.format(DROP.format("square")), "other bits"),
    (4, PACK.format(DROP.format("h")), "other bits"),
    (4, PACK.format(DROP.format("c")), "other bits"),
    (4, PACK.format(DROP.format("k")), "other bits"),
    (4, PACK.format(DROP.format("updates")), "other bits"),
    (4, PACK.format(DROP.format("p3")), "other bits"),
    (4, PACK.format("saved['k'] = walk.k"), "copy it"),
    (4, PACK.format("saved['p0'] = model.params()[0].data"), "NumPy"),
    (4, PACK.format("saved['p1'] = saved['p1'].astype(np.float32)"), "other bits"),
    (4, PACK.format("saved = list(saved.values())"), "dictionary"),
    (5, MEMORY.format("a / (n if stage > 2 else 1) + b / (n if stage > 0 else 1) + c / (n if stage > 1 else 1)"), "wrong"),
    (5, MEMORY.format("a / (n if stage > 1 else 1) + b / (n if stage > 2 else 1) + c / (n if stage > 0 else 1)"), "wrong"),
    (5, MEMORY.format("16 / (n if stage else 1)"), "wrong"),
    (5, MEMORY.format("a + b + c"), "wrong"),
    (5, MEMORY.format("(2 + 2) + 12 / (n if stage else 1)"), "wrong"),
    (5, MEMORY.format("(a + b + c) / n"), "wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "answer", "words"), WRONG)
def test_wrong_answers_are_refused(chapter, number, answer, words):
    said = chapter.judged(number, answer)
    assert ": correct" not in said and words in said


RIGHT = [
    (1, COMBINE.format("return (parts * (sizes / sizes.sum())[:, None]).sum(axis=0)")),
    (1, COMBINE.format("return sizes @ parts / sizes.sum()")),
    (2, PASS.format("np.int64((n + r + 1 - step) % n)")),
    (3, MINE.format(DRAW + "order.reshape(-1)[: n // size * size].reshape(-1, size)[:, rank]")),
    (3, MINE.format("m = n // size\n    " + DRAW + "order[rank * m : (rank + 1) * m]")),
    (4, PACK.format("saved['more'] = np.ones(3)")),
    (5, MEMORY.format("sum(x / n if stage > k else x for k, x in enumerate((c, b, a)))")),
]


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert ": correct" in chapter.judged(number, answer)


def test_names_of_functions_stay_functions(chapter):
    """A cell run again must find what it found: no name is a function once and a number later."""
    assigned = " ".join(chapter.cells.values())
    for name in ("step", "split", "trained", "time_step", "weights_of"):
        assert callable(chapter.names[name]) and not re.search(rf"^{name} = ", assigned, re.M)
