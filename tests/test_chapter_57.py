"""Chapter 57's exercises refuse wrong and lazy answers; its kernels have no race."""

import numpy as np
import pytest
from chapter_cells import Chapter

import helpers
from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("57_training_kernels")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


WRONG = [
    (1, [(" && y > 0", "")]),
    (1, [("y > 0", "y >= 0")]),
    (1, [("ptrdiff_t row = i / width, column", "short row = i / width, column")]),
    (1, [("y.shape[-1])", "y.shape[-2])")]),
    (1, [("window = row / 2", "window = row")]),
    (1, [("row % 2 * 2 + column % 2", "column % 2 * 2 + row % 2")]),
    (2, [(', "h"}', "}")]),
    (2, [('"h"}', '"h", "W1"}')]),
    (2, [('"filters", ', "")]),
    (2, [('"h"}', '"h", "shares"}')]),
    (3, [("hand_over<4>(p), hand_over<2>(p)", "hand_over<2>(p), hand_over<4>(p)")]),
    (3, [("sum, 16", "sum, 8")]),
    (3, [("return sum + __shfl_xor_sync(ALL, sum, 16)", "return sum")]),
    (3, [("hand_over<4>(p)", "__shared__ float s[8]; hand_over<4>(p)")]),
    (
        3,
        [
            (
                "return sum +",
                "for (int k = 0; k < 9; k++) __shfl_down_sync(ALL, sum, 0); return sum +",
            )
        ],
    ),
    (3, [("return sum + __shfl_xor_sync(ALL, sum, 16)", "return p[0]")]),
    (4, [("cp.arange(1, len(rates) + 1) / n", "cp.arange(1, len(rates) + 1) / (n - 1)")]),
    (4, [("rates.copy()", "rates")]),
    (4, [("arange(1, len(rates) + 1)", "arange(len(rates))")]),
    (4, [("warmer[:, 0]", "warmer")]),
    (4, [("factor.astype(rates.dtype)", "factor.astype(rates.dtype) * 0 + 1")]),
]
LAZY = {
    "the loops on the host": (
        1,
        "def pool_and_relu(g, w, y):\n"
        "    return cp.asarray(pool_and_relu_loops(g.get(), w.get(), y.get()))",
    ),
    "array functions": (
        1,
        "def pool_and_relu(g, w, y):\n"
        "    place = cp.arange(y.shape[2])[:, None] % 2 * 2 + cp.arange(y.shape[3]) % 2\n"
        "    big = lambda a: a.repeat(2, axis=2).repeat(2, axis=3)\n"
        "    return cp.where((big(w) == place) & (y > 0), big(g), 0)",
    ),
    "forty shuffles": (
        3,
        'body = "float mine = 0; UNROLLED(k, 8) { float s = p[k];'
        " for (int b = 16; b; b /= 2) s += __shfl_xor_sync(ALL, s, b);"
        ' if (threadIdx.x % 8 == k) mine = s; } return mine;"',
    ),
    "sum_16": (
        3,
        'body = "float q[16] = {}; UNROLLED(k, 8) q[k] = q[k + 8] = p[k]; return sum_16(q);"',
    ),
    "NumPy": (
        4,
        "def warm_up(r, n):\n    return cp.asarray(warm_up_numpy(r.get(), n))",
    ),
    "a loop": (
        4,
        "def warm_up(r, n):\n    r = r.copy()\n"
        "    for s in range(min(n, len(r))):\n        r[s, 0] *= np.float32((s + 1) / n)\n"
        "    return r",
    ),
}


@pytest.mark.parametrize("number, changes", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes):
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line, line


@pytest.mark.parametrize("name", LAZY)
def test_lazy_answers_are_refused(chapter, name):
    number, answer = LAZY[name]
    line = chapter.judged(number, answer)
    assert "correct" not in line, line


@needs_xray
def test_the_two_kernels_have_no_race(chapter):
    load, pieces = chapter.names["cnn_step"].load, chapter.names["pieces"]
    net = load(chapter.names["new_manager"](), 5, pieces)
    for name, grid, block in (("forward", 70, 416), ("backward", 82, 384)):
        kernel = net.kernel(name)
        found = helpers.xray(kernel, (grid,), (block,), (net.struct, np.int32(0)))
        assert not found.races, found.races[0]
        kernel((grid,), (block,), (net.struct, np.int32(0)))
