"""Chapter 95's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

# ruff: noqa: E501
import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("95_allreduce")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert ": correct" in chapter.judged(number, chapter.answer(number))
    assert "not done yet" in chapter.judged(number, chapter.stub(number))


DONE = "def done(back, sums):\n    return {}\n"
OVER = "max(sum(back[: k + 1]) + sum(sums[k:]) for k in {})"
BEST = "def best(n_layers, back, total, fixed):\n    {}\n"
MEETS = "def meets(n, nccl, ours, link):\n    return {}\n"
POST = """    word bits = __double_as_longlong(x);
    box[2 * i] = (word)step << 32 | (unsigned)bits;
    box[2 * i + 1] = (word)step << 32 | bits >> 32;
"""
ARRIVED = """    word low = box[2 * i], high = box[2 * i + 1];
    *x = __longlong_as_double(high << 32 | (unsigned)low);
    return low >> 32 == step && high >> 32 == step;
"""
LETTERS = '''double_letters = r"""
typedef double number;
#define WORDS {words}

__device__ void post({box} box, int i, number x, unsigned step) {{
{post}}}
__device__ bool arrived({box} box, int i, unsigned step, number* x) {{
{arrived}}}
"""
'''


def letters(post=POST, arrived=ARRIVED, words=2, box="Box"):
    return LETTERS.format(post=post, arrived=arrived, words=words, box=box)


HALVES = """    unsigned* at = (unsigned*)&box[2 * i];
    word bits = __double_as_longlong(x);
    at[1] = step, at[0] = (unsigned)bits, at[3] = step, at[2] = bits >> 32;
"""
WRONG = [
    (1, DONE.format(OVER.format("sorted({0, min(1, len(back) - 1), len(back) - 1})")), "wrong"),
    (1, DONE.format(OVER.format("sorted({0, max(0, len(back) - 2), len(back) - 1})")), "wrong"),
    (1, DONE.format(OVER.format("range(0, len(back), 2)")), "wrong"),
    (1, DONE.format("sum(back) + sums[-1]"), "wrong"),
    (1, DONE.format("sum(back) + sum(sums)"), "wrong"),
    (1, DONE.format("max(sum(back), sum(sums))"), "wrong"),
    (1, DONE.format("sum(max(b, s) for b, s in zip(back, sums)) + sums[-1]"), "wrong"),
    (1, DONE.format("sums"), "not a number"),
    (1, "def done(back):\n    return 0\n", "TypeError"),
    (2, BEST.format("return n_layers"), "wrong"),
    (2, BEST.format("return 1"), "wrong"),
    (2, BEST.format("return max(1, int((total / fixed) ** 0.5)) if fixed else n_layers"), "wrong"),
    (2, BEST.format("return 2.0"), "not a number of buckets"),
    (2, BEST.format("ms = [m for m in range(1, n_layers + 1) if n_layers % m == 0]\n    return min(ms, key=lambda m: total / m + m * fixed)"), "wrong"),
    (2, BEST.format("ms = [m for m in range(1, 9) if n_layers % m == 0]\n    return min(ms, key=lambda m: finish([n_layers / m * back] * m, [total / m + fixed] * m))"), "wrong"),
    (3, letters(post=HALVES), "whole words"),
    (3, letters(post=HALVES.replace("(unsigned*)&box[2 * i]", "(unsigned*)(box + 2 * i)")), "whole words"),
    (3, letters(post="    word* plain = (word*)box;\n" + POST.replace("box[", "plain[")), "whole words"),
    (3, letters(arrived="    word* plain = (word*)box;\n" + ARRIVED.replace("box[", "plain[")), "whole words"),
    (3, letters(box="volatile word*"), "wrong"),
    (3, letters(words=1), "WORDS is 1"),
    (3, letters(words=3), "WORDS is 3"),
    (3, letters(arrived=ARRIVED.replace(" && high >> 32 == step", "")), "word 0 alone"),
    (3, letters(arrived=ARRIVED.replace("low >> 32 == step && ", "")), "word 1 alone"),
    (3, letters(arrived=ARRIVED.replace("&&", "||")), "alone"),
    (3, letters(arrived=ARRIVED.replace("low >> 32 == step && high >> 32 == step", "true")), "wrong"),
    (3, letters(post=POST.replace("(x)", "((float)x)")), "wrong"),
    (3, letters(post=POST.replace("bits >> 32", "(unsigned)bits")), "wrong"),
    (3, letters(post=POST.replace("box[2 * i + 1]", "box[2 * i + 2]")), "wrong"),
    (3, letters().replace("post(", "send("), "CompileException"),
    (3, "double_letters = float_letters", "WORDS is 1"),
    (4, MEETS.format("(nccl - ours) * link / (2 * (n - 1))"), "wrong"),
    (4, MEETS.format("(nccl - ours) * link"), "wrong"),
    (4, MEETS.format("(ours - nccl) * link / (2 * (n - 1) - 2 * (n - 1) / n)"), "wrong"),
    (4, MEETS.format("nccl * link / (2 * (n - 1) - 2 * (n - 1) / n)"), "wrong"),
    (4, MEETS.format("(nccl - ours) * link / (n - 1 - (n - 1) / n)"), "wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "answer", "words"), WRONG)
def test_wrong_answers_are_refused(chapter, number, answer, words):
    said = chapter.judged(number, answer)
    assert ": correct" not in said and words in said


THROUGH = POST.replace("    box[2 * i] =", "    Box mine = box + 2 * i;\n    *mine =")
RIGHT = [
    (1, DONE.format(OVER.format("range(len(back))"))),
    (2, BEST.format("ms = [m for m in range(1, n_layers + 1) if n_layers % m == 0]\n    return np.int64(min(ms[::-1], key=lambda m: finish([n_layers / m * back] * m, [total / m + fixed] * m)))")),
    (3, letters(post=THROUGH.replace("box[2 * i + 1]", "mine[1]"))),
    (3, letters(arrived=ARRIVED.replace("word low", "unsigned long long low"))),
    (4, MEETS.format("(nccl - ours) * link * n / (2 * (n - 1) ** 2)")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert ": correct" in chapter.judged(number, answer)


def test_names_of_functions_stay_functions(chapter):
    """The check of an exercise, run again after the whole chapter, finds what it found before."""
    cells = [cell for cell in chapter.cells.values() if not cell.startswith("# @title Solution")]
    for name in ("finish", "moments", "deep_step", "open_mail", "meets", "done"):
        assert callable(chapter.names[name])
        assert not any(re.search(rf"^{name} = |, {name} = ", cell, re.M) for cell in cells)
