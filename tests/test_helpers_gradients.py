"""What judges a way back sees a wrong one, of the first and of the second order."""

import numpy as np
import pytest

from helpers import gradients
from helpers.chapters.autograd import Function, Variable

X = np.array([[0.3, -1.2, 0.7]])


def test_right_ways_back_have_no_error():
    assert max(gradients.errors(Variable, lambda x: (x**3).sum() * x, X)) < 1e-7


@pytest.mark.parametrize(
    ("backward", "order"),
    [(lambda g, y, x: g * 2 * x, 0), (lambda g, y, x: g * Variable(3 * x.data**2), 1)],
    ids=["another slope", "a slope that forgets x"],
)
def test_wrong_ways_back_have_one(backward, order):
    cube = Function("cube", lambda xp, x: x**3, backward)
    found = gradients.errors(Variable, cube, X)
    assert found[order] > 0.01 and max(found[:order], default=0) < 1e-7


def test_a_function_is_run_there_and_back_and_once_more():
    run = gradients.there_and_back(
        Function, Variable, lambda xp, x: x**3, lambda g, y, x: g * 3 * x**2
    )
    g = np.array([[2.0, 0.5, -1.0]])
    for got, want in zip(run(X, g), (X**3, 3 * g * X**2, 6 * g * X), strict=True):
        assert np.allclose(got, want, rtol=1e-12)
