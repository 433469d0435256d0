"""Chapter 65's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("65_deep_kernels")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [("exp(-5 * fabs(z + c))", "exp(5 * fabs(z + c))")], "NaN|nan|expected"),
    (1, [("? e : 1", "? 1 : e")], "expected"),
    (1, [("-5 * fabs", "-4 * fabs")], "expected"),
    (1, [("z + c < 0", "z < 0")], "expected"),
    (2, [(" / push.shape[2]", "")], "expected"),
    (2, [("X.swapaxes(2, 3)[:, None]", "X.swapaxes(2, 3)[:, :, None]"),
         ("push[:, :, None]", "push[:, None]")], "expected"),
    (3, [("z > 0 ? z : 0", "z > 0 ? z : -z")], "expected"),
    (3, [("len(layers) + 1", "len(layers)")], "shape|outside"),
    (3, [("cp.empty((len(layers) + 1, len(x), 64))", "cp.empty((len(x), len(layers) + 1, 64))")],
     "shape"),
    (4, [("input < 32", "input < 31")], "expected"),
    (4, [("error > 0 : error < 0", "error < 0 : error > 0")], "expected"),
    (4, [("input < 32 ? error > 0 : error < 0", "error > 0")], "expected"),
    (4, [("layers.copy()", "layers")], "changed argument"),
    (4, [("unused, error, rate", "unused, error, 1.0")], "expected"),
]  # fmt: skip
LAZY = {
    "arrays, 1": (
        1,
        "def squash(z, c, y):\n    y[...] = 1 / (1 + cp.exp(-5 * cp.clip(z + c, -100, 100)))",
        "were made",
    ),
    "NumPy, 1": (
        1,
        "def squash(z, c, y):\n    y.set(squash_oracle(z.get(), c.get()))",
        "kernel|leave|contiguous",
    ),
    "the large array, 2": (
        2,
        "def steps(push, X):\n"
        "    return cp.stack([cp.einsum('pbo,qbi->pqbio', p, x).mean(axis=2)"
        " for p, x in zip(push, X)])",
        "asked",
    ),
    "the post's own, 2": (
        2,
        "def steps(push, X):\n    return cp.einsum('dpbo,dqbi->dpqbio', push, X).mean(axis=3)",
        "times as large",
    ),
    "arrays, 3": (
        3,
        "def relu_forward(first, layers, last, x):\n"
        "    X = [cp.maximum(x @ first[:-1] + first[-1], 0)]\n"
        "    for layer in layers:\n"
        "        X.append(cp.maximum(X[-1] @ layer[:-1] + layer[-1], 0))\n"
        "    return cp.stack(X), cp.maximum(X[-1] @ last[:-1] + last[-1], 0)",
        "kernel",
    ),
    "arrays, 4": (
        4,
        "def kaneko_update(layers, X, error, rate):\n"
        "    new, s = layers.copy(), cp.asarray(signs(32))\n"
        "    push = rate / len(error) * error[:, None] * s * X[1:] * (1 - X[1:])\n"
        "    x = X[:-1].swapaxes(1, 2)\n"
        "    new[:, :32] += x[:, :32] @ (push * (error > 0)[:, None])\n"
        "    new[:, 32:64] += x[:, 32:] @ (push * (error < 0)[:, None])\n"
        "    new[:, 64] += push.sum(axis=1)\n"
        "    return new",
        "kernel|leave",
    ),
    "the oracle, 4": (
        4,
        "def kaneko_update(layers, X, error, rate):\n"
        "    return cp.asarray(kaneko_oracle(layers.get(), X.get(), error.get(), rate))",
        "kernel|leave",
    ),
}
RIGHT = {
    "infinity, 1": (  # where the exponential overflows, one over it is 0
        1,
        "squash = cp.ElementwiseKernel('float64 z, float64 c', 'float64 y',"
        " 'y = 1 / (1 + exp(-5 * (z + c)))', 'squash')",
    ),
    "tanh, 1": (
        1,
        "squash = cp.ElementwiseKernel('T z, T c', 'T y', 'y = 0.5 * (1 + tanh(2.5 * (z + c)))',"
        " 'squash')",
    ),
    "a batched product of reshaped arrays, 2": (
        2,
        "def steps(push, X):\n"
        "    (d, _, b, o), i = push.shape, X.shape[3]\n"
        "    x = X.transpose(0, 1, 3, 2).reshape(d, 2 * i, b)\n"
        "    g = push.transpose(0, 2, 1, 3).reshape(d, b, 2 * o) / b\n"
        "    return (x @ g).reshape(d, 2, i, 2, o).transpose(0, 3, 1, 2, 4)",
    ),
    "einsum, 2": (
        2,
        "def steps(push, X):\n    return cp.einsum('dpbo,dqbi->dpqio', push, X) / push.shape[2]",
    ),
    "fmax, 3": (
        3,
        "k = forward_kernel(ahead=1, activation="
        "'__device__ double activate(double z) { return fmax(z, 0.0); }')\n"
        "def relu_forward(first, layers, last, x):\n"
        "    X, y = cp.empty((len(layers) + 1, len(x), 64)), cp.empty(len(x))\n"
        "    launch_forward(k, (first, layers, last), x, X, y)\n"
        "    return X, y",
    ),
}


@pytest.mark.parametrize(("number", "changes", "said"), WRONG)
def test_slips_are_refused(chapter, number, changes, said):
    verdict = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in verdict and re.search(said, verdict), verdict


@pytest.mark.parametrize("what", LAZY)
def test_lazy_answers_are_refused(chapter, what):
    number, answer, said = LAZY[what]
    verdict = chapter.judged(number, answer)
    assert "correct" not in verdict and re.search(said, verdict), verdict


@pytest.mark.parametrize("what", RIGHT)
def test_right_answers_pass(chapter, what):
    number, answer = RIGHT[what]
    assert "correct" in chapter.judged(number, answer)


def test_a_kernel_without_its_barrier_is_caught(chapter):
    """On the stand-in a missing barrier is a race, told by thread and line."""
    source = chapter.names["forward_source"]
    assert source.count("__syncthreads();  // 4. wait") == 1
    answer = "forward_source = forward_source.replace('__syncthreads();  // 4. wait', '')\n"
    verdict = chapter.judged(3, answer + chapter.answer(3))
    assert "correct" not in verdict, verdict
