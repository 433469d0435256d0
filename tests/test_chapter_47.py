"""Chapter 47's exercises refuse wrong answers, and take right ones that look unusual."""

import re

import numpy as np
import pytest
from chapter_cells import Chapter

from helpers.programs import oja_cluster

chapter = Chapter.fixture("47_oja_on_chip")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert chapter.verdict(number, chapter.answer(number)).startswith("correct")
    assert not chapter.verdict(number, chapter.stub(number)).startswith("correct")


ALL = "(t + 1) * gridDim.x"
ADD = "atomicAdd(arrived, 1u);"
WITH_BREAK = "while (true) if (*(volatile unsigned*)arrived == all) break; else"
LAST = "    }\n    __syncthreads();\n}"
WRONG = [
    (1, [("-(-(n - lane) // 32)", "(n - lane) // 32")], "wrong"),
    (1, [("n - lane", "n")], "lane"),
    (1, [("columns // 8 * 8, columns", "n // 256 * 8, columns")], "of 255"),
    (1, [("columns // 8 * 8, columns % 8", "columns // 8, columns % 8")], "wrong"),
    (1, [("columns // 8 * 8, columns % 8", "columns % 8, columns // 8 * 8")], "wrong"),
    (2, [(ALL, "(t + 1) * gridDim.x - 1")], "old stamps"),  # one arrival fewer
    (2, [(ALL, "t * gridDim.x")], "old stamps"),  # a step behind
    (2, [(ALL, "gridDim.x")], "old stamps"),  # right at step 0 only
    (2, [(ADD, "*arrived += 1;")], "atomicAdd"),
    (2, [(ADD, "*arrived += 1;  // atomicAdd")], "atomicAdd"),
    (2, [(LAST, "    }\n}")], "old stamps"),  # the other threads do not wait
    (2, [("        __threadfence();\n    }", "    }")], "fence"),
    (2, [("        __threadfence();\n        atomic", "        atomic")], "fence"),
    (2, [("if (threadIdx.x == 0)", "if (threadIdx.x < 2)")], "old stamps|counter ends"),
    (2, [("    if (threadIdx.x == 0) {", "    if (threadIdx.x == 0 && t < 0) {")], "old stamps"),
    (2, [("while", "if")], "old stamps"),
    (2, [("    __syncthreads();\n    if", "    if")], "old stamps"),  # who adds does not wait
    (2, [("< all", "!= all")], "or more"),
    (2, [("while (*(volatile unsigned*)arrived < all)", WITH_BREAK)], "or more"),
    (2, [("*(volatile unsigned*)arrived", "*arrived")], "volatile"),
    (2, [("*(volatile unsigned*)arrived", "*arrived /* volatile */")], "volatile"),
    (
        2,
        [
            ("__device__ void", "__device__ unsigned mine;\n__device__ void"),
            (ADD, "atomicAdd(&mine, 1u); atomicAdd(arrived, 1u);"),
            ("(volatile unsigned*)arrived", "(volatile unsigned*)&mine"),
        ],
        "old stamps",
    ),  # a counter that keeps what an earlier launch counted
    (3, [("-(-n // blocks)", "n // blocks")], "wrong"),
    (3, [("-(-n // threads)", "n // threads")], "wrong"),
    (3, [("2 * rows", "rows")], "wrong"),
    (3, [("-(-n // blocks), -(-n // threads)", "-(-n // threads), -(-n // blocks)")], "wrong"),
    (4, [("t // 3 % 2", "t // 2 % 2")], "at step"),
    (4, [("1 - t // 3 % 2", "t // 3 % 2")], "at step 0"),
    (4, [("1 - t // 3 % 2", "t % 2")], "at step"),
    (4, [("1 - t // 3 % 2", "t // 3")], "0 or 1|at step"),
    (4, [("1 - t // 3 % 2", "0.5")], "0 or 1"),
    (4, [("1 - t // 3 % 2", "[1][2]")], "IndexError"),
]


@pytest.mark.parametrize("number, changes, says", WRONG)
def test_wrong_answers_are_refused(chapter, number, changes, says):
    line = chapter.verdict(number, chapter.answer(number, *changes))
    assert not line.startswith("correct") and re.search(says, line), line


def test_cuda_s_own_barrier_and_none_are_refused(chapter):
    own = (
        "barrier_code = r'''\n#include <cooperative_groups.h>\n"
        "__device__ void barrier(unsigned* arrived, int t) {\n"
        "    // atomicAdd __threadfence() __threadfence()\n"
        "    cooperative_groups::this_grid().sync();\n}'''"
    )
    assert chapter.verdict(2, own).startswith("wrong")
    block = (
        "barrier_code = r'''\n__device__ void barrier(unsigned* arrived, int t) {\n"
        "    __threadfence();\n    if (threadIdx.x == 0) atomicAdd(arrived, 1u);\n"
        "    __threadfence();\n    __syncthreads();\n}'''"
    )
    assert "old stamps" in chapter.verdict(2, block)


RIGHT = {
    "looks by adding nothing, 2": (
        2,
        [("*(volatile unsigned*)arrived < all", "atomicAdd(arrived, 0u) < all")],
    ),
    "while it is not so, 2": (2, [("arrived < all", "arrived - all > ~0u / 2")]),
    "a loop that is left, 2": (
        2,
        [
            (
                "while (*(volatile unsigned*)arrived < all) __nanosleep(20);",
                "while (true) if (*(volatile unsigned*)arrived >= all) break;",
            ),
        ],
    ),
    "no nap, 2": (2, [(" __nanosleep(20);", " ;")]),
    "another thread, 2": (2, [("threadIdx.x == 0", "threadIdx.x == blockDim.x - 1")]),
    "a tag that is a float, 4": (4, [("1 - t // 3 % 2", "1.0 - t // 3 % 2")]),
    "a tag that is a bool, 4": (4, [("1 - t // 3 % 2", "t // 3 % 2 == 0")]),
    "columns counted, 1": (1, [("max(0, -(-(n - lane) // 32))", "len(range(lane, n, 32))")]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(chapter, name):
    number, changes = RIGHT[name]
    line = chapter.verdict(number, chapter.answer(number, *changes))
    assert line.startswith("correct"), line


def test_states_that_could_pass_the_tag_are_refused(chapter, monkeypatch):
    names = chapter.names
    monkeypatch.setitem(names, "GAIN", 0.4)
    W, win, u = names["to_device"](names["make_reservoir"](9, 2, seed=1))
    with pytest.raises(ValueError, match="states could pass 1"):
        names["run_on_chip"](names["OnChip"](9), W, win, u, 1e-3)


def test_what_does_not_fit_is_refused(chapter):
    names = chapter.names
    chip = names["OnChip"](100 * names["n_sms"])
    assert not chip.fits
    with pytest.raises(ValueError, match="cannot run on this GPU"):
        names["run_on_chip"](chip, None, None, np.zeros(1), 0.0)


@pytest.mark.parametrize("n", [0, 257])
def test_one_cluster_has_room_for_256(n):
    with pytest.raises(ValueError, match="room for 256"):
        oja_cluster.source(n, "")
