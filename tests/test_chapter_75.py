"""Chapter 75's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("75_graphs")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


DIFFERENCES = """def hessian(f, x):
    rows = []
    for step in 1e-5 * cp.eye(len(x)):
        ends = [Variable(x + step), Variable(x - step)]
        for end in ends:
            f(end).backward()
        rows.append((ends[0].grad.data - ends[1].grad.data) / 2e-5)
    return cp.stack(rows)"""


def test_finite_differences_are_refused(chapter):
    assert "precision" in chapter.judged(1, DIFFERENCES)


WRONG = [
    (1, [("        x.grad = None\n", "")], "element"),
    (1, [("keep=True", "keep=False")], "freed"),
    (1, [("rows.append(x.grad.data)", "rows.append(x.grad.data * (x.xp.arange(len(rows) + 1, "
         "len(rows) + 1 + x.data.size) > len(rows) + 1))")], "element"),
    (1, [("gradient[i].backward(keep=True)", "gradient.sum().backward(keep=True)")], "element"),
    (2, [("(first * v).sum()", "first.sum()")], "element"),
    (2, [("slope((first * v).sum(), x).data", "hessian(f, x.data) @ v")], "ways back"),
    (2, [("slope((first * v).sum(), x).data", "first.data * v")], "element"),
    (3, [("with using(recording=False):", "if True:"), ("float((y * y).mean().data)",
         "(y * y).mean()")], "holds its graph"),
    (3, [("with using(recording=False):", "kept = []\n    if True:"),
         ("y = network(x)", "y = network(x)\n            kept.append(y)")], "more are held"),
    # The last batch's graph is there until `y` is another Variable.
    (3, [("with using(recording=False):", "if True:")], "more are held"),
    (3, [("total / len(batches)", "total")], "wrong"),
    (4, [("squares > limit**2", "squares > 0")], "element"),
    (4, [("p.grad = p.grad * (limit / squares**0.5)",
          "p.grad = Variable(p.grad.data.clip(-limit, limit))")], "element"),
    (4, [("p.grad = p.grad *", "p.grad.data = p.grad.data *")], "element"),
    (4, [("squares**0.5", "squares")], "element"),
    (4, [("link.params()", "vars(link).values()")], "wrong"),
    (4, [("p.grad = p.grad * (limit / squares**0.5)", "p.grad.data *= limit / squares**0.5")],
     "wrong"),
    (4, [("p.grad = p.grad * (limit / squares**0.5)", "p.data *= limit / squares**0.5")], "wrong"),
    (4, [("p.grad * (", "p.grad.data * (")], "not an array"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "changes", "words"), WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, words):
    said = chapter.judged(number, chapter.answer(number, *changes))
    assert "wrong" in said and "correct" not in said and words in said


RIGHT = [
    (1, "def hessian(f, x):\n    rows = []\n    for i in range(len(x)):\n"
        "        v = Variable(x)\n        rows.append(slope(slope(f(v), v)[i], v).data)\n"
        "    return np.stack([cp.asnumpy(r) for r in rows]) if isinstance(x, np.ndarray) "
        "else cp.stack(rows)"),
    (4, "def clip(link, limit):\n    ps = link.params()\n"
        "    length = sum(float((p.grad.data**2).sum()) for p in ps) ** 0.5\n"
        "    factor = min(1, limit / (length + 1e-6))\n    for p in ps:\n"
        "        p.grad = Variable(p.grad.data * factor)"),
    (3, "def mean_error(network, batches):\n    found = []\n    for x in batches:\n"
        "        y = network(x).data\n        found.append(float((y * y).mean()))\n"
        "    return sum(found) / len(found)"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert "correct" in chapter.judged(number, answer)
