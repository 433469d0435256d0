"""Chapter 52's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("52_training")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


SQUARES = "self.v += new * (grad * grad - self.v)"
STEPS = "self.u += new * (s * s - self.u)"
WRONG = [
    (1, [("z.max(axis=1, keepdims=True)", "z.max()")], "nan|inf"),
    (1, [("z = z - z.max(axis=1, keepdims=True)", "")], "inf"),
    (1, [("axis=1", "axis=0")], "expected"),
    (1, [("z = z - z.max(", "z = z - z.min(")], "inf|nan"),
    (1, [("z - xp.log(xp.exp(z)", "xp.log(xp.exp(z) / xp.exp(z)")], "inf|expected"),
    (1, [("return z - xp.log", "z = z.astype('f8')\n    return z - xp.log")], "dtype is float64"),
    (1, [("xp.log(", "xp.log2(")], "expected"),
    (1, [("z = z - ", "z -= ")], "changed argument 1"),
    (1, [("xp.exp", "cp.exp")], "given NumPy arrays"),
    (1, [("xp.log(xp.exp(z).sum(axis=1, keepdims=True))", "1")], "expected"),
    (2, [("wb -= self.rate * s", "wb = wb - self.rate * s")], "expected"),
    (2, [(STEPS, "")], "expected"),
    (2, [(STEPS, "self.u += new * (s - self.u)")], "wrong"),
    (2, [("(s * s - self.u)", "(grad * grad - self.u)")], "expected"),
    (2, [(SQUARES, "self.v += grad * grad")], "expected"),
    (2, [("self.rate * s", "s")], "expected"),
    (2, [("new = 1 - self.rho", "new = self.rho")], "expected"),
    (2, [(") ** 0.5", ")")], "expected"),
    (2, [("(self.v + self.eps)", "(self.v**0.5 + self.eps) ** 2")], "expected"),
    (2, [("xp = cp.get_array_module(wb)", "xp = cp")], "given NumPy arrays|TypeError"),
    (2, [("wb -= self.rate * s", "grad *= 0\n        wb -= self.rate * s")], "changed|expected"),
    (2, [("self.u, self.v = xp.zeros_like(wb), xp.zeros_like(wb)",
          "self.u = self.v = xp.zeros_like(wb)")], "expected"),
    (3, [("    return network\n", "")], "returned None"),
    (3, [("    network.append(SoftmaxLayer)\n", "")], "Dense with n=10, and Softmax"),
    (3, [("(10, 20)", "(10,)")], "two convolutions"),
    (3, [("F_shape=(3, 3), pad=1", "F_shape=(1, 1)")], "one pixel"),
    (3, [("        network.append(ReLULayer)\n", "")], "no ReLU between"),
    (3, [("        network.append(PoolingLayer, pool=2)\n", "")], "two poolings"),
    (3, [("    network.append(DenseLayer, n=10)\n", "")], "Dense with n=10"),
    (3, [("n=10)", "n=11)")], "Dense with n=10"),
    (3, [("    network.append(ReLULayer)\n    network.append(DenseLayer, n=10)",
          "    network.append(DenseLayer, n=10)")], "no ReLU between"),
    (3, [("pad=1", "pad=0"), ("pool=2", "pool=9")], "ValueError"),
    (4, [(">= low", "> low")], "expected"),
    (4, [("< high", "<= high")], "expected"),
    (4, [("(right * mask).sum() / mask.sum()", "right.mean()")], "result 2 of 2"),
    (4, [("(sure * mask).sum() / mask.sum()", "sure.mean()")], "result 1 of 2"),
    (4, [("argmax(axis=1)", "argmin(axis=1)")], "result 2 of 2"),
    (4, [("(sure * mask).sum() / mask.sum()", "(sure * mask).mean()")], "result 1 of 2"),
    (4, [("sure = p.max(axis=1)", "sure = p.mean(axis=1)")], "wrong"),
    (4, [("(right * mask).sum() / mask.sum()", "1 - (right * mask).sum() / mask.sum()")], "2 of 2"),
]  # fmt: skip
LAZY = {
    "the judge's rows, 1": (
        1,
        "def log_softmax(z):\n"
        "    if isinstance(z, np.ndarray):\n"
        "        return judge_log_rows(z)\n"
        "    return cp.asarray(judge_log_rows(z.get()))",
        "leave the device",
    ),
    "on the host, 2": (
        2,
        "class Adadelta:\n"
        "    def __init__(self, wb, rate=1.0, rho=0.95, eps=1e-7):\n"
        "        self.u = self.v = 0\n"
        "        self.rate, self.rho, self.eps = rate, rho, eps\n\n"
        "    def update(self, wb, grad):\n"
        "        g, new = cp.asnumpy(grad), 1 - self.rho\n"
        "        self.v = self.rho * self.v + new * g * g\n"
        "        s = g * ((self.u + self.eps) / (self.v + self.eps)) ** 0.5\n"
        "        self.u = self.rho * self.u + new * s * s\n"
        "        wb -= self.rate * cp.get_array_module(wb).asarray(s)\n",
        "leave the device",
    ),
    "Adam for Adadelta": (
        2,
        "class Adadelta(Adam):\n"
        "    def __init__(self, wb, rate=1.0, rho=0.95, eps=1e-7):\n"
        "        super().__init__(wb, rate, beta2=rho, eps=eps)\n",
        "expected",
    ),
    "build_cnn": (3, "build_deeper = build_cnn", "two convolutions"),
    "whole, 3": (
        3,
        "def build_deeper(network):\n"
        "    for _ in range(2):\n"
        "        network.append(PoolingLayer, pool=2)\n"
        "    network.append(DenseLayer, n=10)\n"
        "    network.append(SoftmaxLayer)\n"
        "    return network",
        "two convolutions",
    ),
    "the judge's rows, 4": (
        4,
        "def believed(p, t, low, high):\n"
        "    if isinstance(p, np.ndarray):\n"
        "        return judge_believed_loops(p, t, low, high)\n"
        "    rows = judge_believed_loops(p.get(), t.get(), low, high)\n"
        "    return tuple(map(cp.asarray, rows))",
        "leave the device",
    ),
    "a mask as an index": (
        4,
        "def believed(p, t, low, high):\n"
        "    sure, right = p.max(axis=1), p.argmax(axis=1) == t\n"
        "    mask = (sure >= low) & (sure < high)\n"
        "    return sure[mask].mean(), right[mask].mean()",
        "leave the device",
    ),
}


@pytest.mark.parametrize("number, changes, says", WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.parametrize("name", LAZY)
def test_lazy_answers_are_refused(chapter, name):
    number, answer, says = LAZY[name]
    line = chapter.judged(number, answer)
    assert "correct" not in line and says in line, line


def test_a_wrong_layer_in_the_readers_network_is_told(chapter):
    """The judge of 52.3 measures the slope of the error, not the look of the layers."""
    wrong = (
        "class Doubled(ReLULayer):\n"
        "    def backward(self, grad):\n"
        "        return 2 * super().backward(grad)\n\n\n"
    )
    text = chapter.answer(
        3, ("        network.append(ReLULayer)", "        network.append(Doubled)")
    )
    line = chapter.judged(3, wrong + text.replace("Doubled)", "type('R', (Doubled,), {}))"))
    assert "not the slopes" in line, line


RIGHT = {
    "log-sum-exp of the library's kind": (
        1,
        "def log_softmax(z):\n"
        "    xp = cp.get_array_module(z)\n"
        "    most = z.max(1)[:, None]\n"
        "    return z - (most + xp.log(xp.exp(z - most).sum(1)[:, None]))",
    ),
    "means by rho": (
        2,
        "class Adadelta:\n"
        "    def __init__(self, wb, rate=1.0, rho=0.95, eps=1e-7):\n"
        "        self.u, self.v, self.rate, self.rho, self.eps = 0 * wb, 0 * wb, rate, rho, eps\n\n"
        "    def update(self, wb, grad):\n"
        "        rho, xp = self.rho, cp.get_array_module(wb)\n"
        "        self.v = rho * self.v + (1 - rho) * grad**2\n"
        "        s = grad * xp.sqrt(self.u + self.eps) / xp.sqrt(self.v + self.eps)\n"
        "        self.u = rho * self.u + (1 - rho) * s**2\n"
        "        wb[...] = wb - self.rate * s\n",
    ),
    "five by five, no frame": (
        3,
        "def build_deeper(network):\n"
        "    network.append(ConvLayer, M=6, F_shape=(5, 5))\n"
        "    network.append(PoolingLayer)\n"
        "    network.append(ReLULayer)\n"
        "    network.append(ConvLayer, M=16, F_shape=(5, 5))\n"
        "    network.append(ReLULayer)\n"
        "    network.append(PoolingLayer)\n"
        "    network.append(DenseLayer, n=10)\n"
        "    network.append(SoftmaxLayer)\n"
        "    return network",
    ),
    "where": (
        4,
        "def believed(p, t, low, high):\n"
        "    xp, sure = cp.get_array_module(p), p.max(axis=1)\n"
        "    mask = xp.logical_and(sure >= low, sure < high)\n"
        "    count = mask.sum()\n"
        "    right = xp.where(mask, p.argmax(axis=1) == t, False).sum()\n"
        "    return xp.where(mask, sure, 0).sum() / count, right / count",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    line = chapter.judged(*RIGHT[name])
    assert "correct" in line, line
