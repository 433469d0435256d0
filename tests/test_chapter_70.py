"""Chapter 70's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("70_autograd")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


SUB = "def sub_forward(xp, a, b):\n    return {}\ndef sub_backward(g, y, a, b):\n    return {}"
BELL = "def bell_forward(xp, x):\n    return {}\ndef bell_backward(g, y, x):\n    return {}"
ERROR = "def mean_squared_error(x, t):\n{}"
FIND = "def find(link):\n{}"
WRONG = [
    (1, SUB.format("a - b", "g, g"), "element"),
    (1, SUB.format("a - b", "scale(g, c=-1), g"), "element"),
    (1, SUB.format("b - a", "scale(g, c=-1), g"), "element"),
    (1, SUB.format("a - b", "g"), "1 gradients, not 2"),
    (1, SUB.format("a - b", "[g, scale(g, c=-1)]"), "returned a list; return a tuple"),
    (1, SUB.format("a - b", "g, None"), "NoneType, not a Variable"),
    (1, SUB.format("a - b", "g, -g.data"), "not a Variable"),
    (1, SUB.format("a - b", "g, Variable(-g.data)"), "g must be in"),
    (1, SUB.format("cp.asnumpy(a) - cp.asnumpy(b)", "g, scale(g, c=-1)"), "not an array of xp"),
    (2, BELL.format("xp.exp(-0.5 * x * x)", "mul(g, mul(x, y))"), "element"),
    (2, BELL.format("xp.exp(-0.5 * x * x)", "scale(mul(x, y), c=-1)"), "g must be in"),
    (2, BELL.format("cp.exp(-0.5 * x * x)", "scale(mul(g, mul(x, y)), c=-1)"), "TypeError"),
    # The first derivative is right, the second is not: y does not lead to x any more.
    (
        2,
        BELL.format("xp.exp(-0.5 * x * x)", "scale(mul(g, mul(x, Variable(y.data))), c=-1)"),
        "element",
    ),
    (
        2,
        BELL.format("xp.exp(-0.5 * x * x)", "scale(mul(g, mul(Variable(x.data), y)), c=-1)"),
        "element",
    ),
    (2, BELL.format("xp.exp(-0.5 * x.astype(float) ** 2)", "g"), "wrong"),
    (3, ERROR.format("    return ((x - t) ** 2).mean()"), "takes results of"),
    (
        3,
        ERROR.format(
            "    if (x - t).shape != x.shape:\n        raise ValueError\n"
            "    return ((x - t) ** 2).mean()"
        ),
        "(3, 4) and targets of (4,)",
    ),
    (3, ERROR.format("    assert x.shape == t.shape\n    return ((x - t) ** 2).mean()"), "Assert"),
    (3, ERROR.format("    return ((x - t.reshape(x.shape)) ** 2).mean()"), "wrong"),
    (
        3,
        ERROR.format(
            "    if x.data.size != t.shape[0]:\n        raise ValueError\n"
            "    return ((x - t) ** 2).mean()"
        ),
        "wrong",
    ),
    (
        3,
        ERROR.format(
            "    if x.shape != t.shape:\n        raise ValueError\n    return ((x - t) ** 2).sum()"
        ),
        "wrong",
    ),
    (
        3,
        ERROR.format(
            "    if x.shape != t.shape:\n        raise ValueError\n"
            "    return Variable(((x - t) ** 2).mean().data)"
        ),
        "wrong",
    ),
    (4, FIND.format("    return [p for p in vars(link).values() if isinstance(p, Parameter)]"), ""),
    (4, FIND.format("    return []"), "0 of 2"),
    (
        4,
        FIND.format(
            "    found = []\n    for v in vars(link).values():\n"
            "        for one in v if isinstance(v, list) else [v]:\n"
            "            if isinstance(one, Parameter):\n                found.append(one)\n"
            "            elif isinstance(one, Link):\n                found += find(one)\n"
            "    return list(dict.fromkeys(found))"
        ),
        "tuple",
    ),
    (
        4,
        FIND.format(
            "    found = []\n    for v in vars(link).values():\n"
            "        for one in v if isinstance(v, (list, tuple)) else [v]:\n"
            "            if isinstance(one, Parameter):\n                found.append(one)\n"
            "            elif isinstance(one, Link):\n                found += find(one)\n"
            "    return found"
        ),
        "a Link in two places",
    ),
    (
        4,
        FIND.format(
            "    found = []\n    for v in vars(link).values():\n"
            "        for one in v if isinstance(v, (list, tuple)) else [v]:\n"
            "            if isinstance(one, Variable):\n                found.append(one)\n"
            "            elif isinstance(one, Link):\n                found += find(one)\n"
            "    return list(dict.fromkeys(found))"
        ),
        "no Parameter",
    ),
]


@pytest.mark.parametrize(("number", "answer", "words"), WRONG)
def test_wrong_answers_are_refused(chapter, number, answer, words):
    said = chapter.judged(number, answer)
    assert "wrong" in said and "correct" not in said and words in said


RIGHT = [
    (1, SUB.format("xp.subtract(a, b)", "[g, scale(g, c=-1)]").replace("[", "(").replace("]", ")")),
    (2, BELL.format("xp.exp(-(x**2) / 2)", "mul(scale(g, c=-1), mul(y, x))")),
    (3, ERROR.format("    assert_same = add(x, scale(Variable(t) if not isinstance(t, Variable)"
                     " else t, c=-1))\n    if x.shape != t.shape:\n        raise ValueError\n"
                     "    return (assert_same * assert_same).sum() / x.data.size")),
    (4, FIND.format("    found, waiting = {}, [link]\n    while waiting:\n"
                    "        one = waiting.pop()\n        if isinstance(one, Parameter):\n"
                    "            found[one] = 1\n        elif isinstance(one, (list, tuple)):\n"
                    "            waiting += one\n        elif isinstance(one, Link):\n"
                    "            waiting += vars(one).values()\n    return list(found)")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert "correct" in chapter.judged(number, answer)
