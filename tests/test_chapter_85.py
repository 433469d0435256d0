"""Chapter 85's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("85_lstm_kernels")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert chapter.judged(number, chapter.answer(number)).endswith(": correct")
    assert "not done yet" in chapter.judged(number, chapter.stub(number))


COUNT = """def operations(n_units, n_batch, n_steps):
    product = 2 * n_steps * n_batch * n_units * 4 * n_units
    two_rows = 2 * 2 * n_units * 4 * n_units
    return {}
"""
STEP = """def enter_by_brackets(s):
    {}
def leave_by_brackets(s):
    {}
"""
ENTER = 'gemm(s.L, s.w["l2.w_x"], s.entered)', "gemm(s.x_and_1.T, s.entered, s.dz)"
LEAVE = 'gemm(s.L.T, s.sums, s.dw["l2.w_x"])', 'gemm(s.sums, s.w["l2.w_x"].T, s.dL)'


def step(enter=None, leave=None):
    return STEP.format(enter or "; ".join(ENTER), leave or "; ".join(LEAVE))


FITS = """def fits(n_units, n_steps, n_batch):
    count = {count}
    return {limit} and count <= 32 * n_batch
"""
COUNT_OF = "8 * n_units**2 + 7 * n_units + 1"
BIAS = "def forgetful(model):\n    n = model.l2.w_h.shape[0]\n    {}\n"
WRONG = [
    (1, COUNT.format("6 * product, 3 * product"), "brackets"),
    (1, COUNT.format("6 * product, 3 * product + 2 * two_rows"), "brackets"),
    (1, COUNT.format("6 * product / 2, 3 * product + 3 * two_rows"), "general"),
    (1, COUNT.format("product, product"), "general"),
    (1, COUNT.format("6 * product"), "two numbers"),
    (1, COUNT.format("6 * n_units * product // n_batch, product"), "general"),
    (1, "def operations(n_units, n_batch, n_steps):\n    return 322122547200, 161073856512\n", ""),
    (2, "enter_by_brackets, leave_by_brackets = enter, leave", "large products"),
    (2, "enter_by_brackets, leave_by_brackets = enter, lambda s: None", "gradients"),
    (2, step(enter="enter(s)"), "large products"),
    (2, step(enter=ENTER[1]), "wrong"),
    (2, step(leave=LEAVE[0]), "gradients"),
    (2, step(leave=LEAVE[1]), "gradients"),
    (2, step(leave="; ".join(LEAVE).replace("s.L.T", "s.dL.T")), "wrong"),
    (2, step(leave="; ".join((*LEAVE, LEAVE[1]))), "two products"),
    (2, step(enter="s.dz[...] = s.x_and_1.T @ (s.L @ s.w['l2.w_x'])"), "two products"),
    (3, FITS.format(count="8 * n_units**2", limit="max(4 * n_units, n_steps, n_batch) <= 32"), ""),
    (3, FITS.format(count=COUNT_OF, limit="max(n_steps, n_batch) <= 32"), ""),
    (3, FITS.format(count=COUNT_OF, limit="max(4 * n_units, n_batch) <= 32"), ""),
    (3, FITS.format(count=COUNT_OF, limit="max(4 * n_units, n_steps) <= 32"), ""),
    (3, FITS.format(count=COUNT_OF, limit="max(4 * n_units, n_steps, n_batch) < 32"), ""),
    (3, "def fits(n_units, n_steps, n_batch):\n    return n_units <= 8\n", ""),
    (4, BIAS.format("model.l2.b.data[:] = 0"), "element"),
    (4, BIAS.format("model.l2.b.data[:n] = 0"), "element"),
    (4, BIAS.format("model.l2.b.data[n : 3 * n] = 0"), "element"),
    (4, BIAS.format("model.l2.b.data[5:10] = 0"), "element"),
    (4, BIAS.format("model.l2.b.data[n : 2 * n] -= 1"), "element"),
    (4, BIAS.format("model.l2.b.data = model.l2.b.data * 0"), "new array"),
    (4, BIAS.format("pass"), "element"),
]


@pytest.mark.parametrize(("number", "answer", "words"), WRONG)
def test_wrong_answers_are_refused(chapter, number, answer, words):
    said = chapter.judged(number, answer)
    assert not said.endswith(": correct") and words in said


RIGHT = [
    (1, COUNT.format("[product * 6, two_rows * 3 + 3 * product]")),
    (2, step(leave="; ".join(LEAVE[::-1]))),
    (4, BIAS.format("model.l2.b.data.reshape(4, n)[1].fill(0)")),
]


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert chapter.judged(number, answer).endswith(": correct")
