"""Chapter 39's exercises refuse wrong answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from parts_of_products import chapters

from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("39_matmul_limits")


@needs_xray
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


FREE = '"stage ? stage - 1 : STAGES - 1"'
SCALE = "2.0 ** (15 - int(np.frexp(float(abs(x).max()))[1]))"
WRONG = {
    "1: no reserve": (1, [(" - 1024", "")], "wrong"),
    "1: once for all": (1, [("of_sm // blocks - 1024", "(of_sm - 1024) // blocks")], "wrong"),
    "1: the SM alone": (1, [("min(of_sm // blocks - 1024, of_block)",
                             "(of_sm // blocks - 1024)")], "wrong"),
    "1: the block alone": (1, [("of_sm // blocks - 1024", "of_block")], "wrong"),
    "1: rounded up": (1, [("// size", "// size + 1")], "wrong"),
    "2: a tile early": (2, [("STAGES * BK + 1", "STAGES * BK")], "is right"),
    "2: a number late": (2, [("STAGES * BK + 1", "STAGES * BK + 2")], "already"),
    "2: a ring late": (2, [("STAGES * BK + 1", "2 * STAGES * BK + 1")], "already"),
    "2: still the colleague's": (2, [(FREE, '"STAGES - 1"')], "not right"),
    "2: the stage in use": (2, [(FREE, '"stage"')], "wrong"),
    "2: the next": (2, [(FREE, '"stage + 1 < STAGES ? stage + 1 : 0"')], "wrong"),
    "2: beyond": (2, [(FREE, '"stage - 1"')], "wrong"),
    "3: none": (3, [("4, 4", "0, 0")], "wrong"),
    "3: A alone": (3, [("4, 4", "4, 0")], "wrong"),
    "3: B alone": (3, [("4, 4", "0, 4")], "wrong"),
    "3: two": (3, [("4, 4", "2, 2")], "wrong"),
    "3: odd": (3, [("4, 4", "3, 5")], "wrong"),
    "3: too many": (3, [("4, 4", "20, 20")], "wrong"),
    "4: no scale": (4, [(SCALE, "1.0")], "largest"),
    "4: too large": (4, [("np.frexp(float(abs(x).max()))[1]",
                          "np.ceil(np.log2(float(abs(x).max())))")], "largest is 32768"),
    "4: the largest positive": (4, [("abs(x).max()", "x.max()")], "wrong"),
    "4: x itself": (4, [("scaled = x * np", "x *= np"), ("high = scaled", "high = x"),
                           ("(scaled", "(x")],
                    "changed"),
    "4: no low part": (4, [("(scaled - high).astype(np.float16)", "0 * high")], "not s"),
    "4: swapped": (4, [("return high, (scaled - high).astype(np.float16), s",
                        "return (scaled - high).astype(np.float16), high, s")], "larger"),
    "4: float32": (4, [("return high,", "return high.astype(np.float32),")], "float16"),
    "4: negated": (4, [("return high, (scaled - high)", "return high, (high - scaled)")], "not s"),
    "4: minus s": (4, [("float16), s", "float16), -s")], "no power"),
    "4: no power of two": (4, [(SCALE, "20000 / float(abs(x).max())")], "no power"),
    "4: two results": (4, [(".astype(np.float16), s", ".astype(np.float16)")], "wrong"),
    "4: on the host": (4, [("return high,", "return high.get(),")], "CuPy"),
    "4: half of the rest": (4, [("(scaled - high)", "(scaled / 2 - high / 2)")], "not s"),
}  # fmt: skip


@needs_xray
@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_refused(chapter, name):
    number, changes, says = WRONG[name]
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line and re.search(says, line), line


@needs_xray
@pytest.mark.parametrize(
    "number, changes",
    [
        (1, [("return min", "return 1.0 * min")]),
        (2, [(FREE, '"(stage + STAGES - 1) % STAGES"')]),
        (4, [("float16), s", "float16), np.float32(s)")]),
        (4, [("float16), s", "float16), cp.asarray(s)")]),
        (4, [("return high,", "return [high,"), (", s", ", s]")]),
    ],
)
def test_right_answers_pass(chapter, number, changes):
    assert "correct" in chapter.judged(number, chapter.answer(number, *changes))


@needs_xray
def test_the_colleagues_copy_is_a_race_as_well(chapter):
    """What the values tell from K = 49 on, the x-ray tells, too."""
    names = chapter.names
    wrong = names["outer"](names["ahead_source"], 4, 2, FREE="STAGES - 1")
    assert wrong.xray(K=4 * names["BK"]).races
    assert not names["ahead"].xray(K=4 * names["BK"]).races


def test_a_missing_wait_is_told_on_the_stand_in(chapter):
    names = chapter.names
    waits = "STAGES == 1 ? 0 : STAGES - 2"
    assert waits in names["ahead_source"]
    source = names["ahead_source"].replace(waits, "STAGES == 1 ? 0 : STAGES - 1")
    with pytest.raises(Exception, match="has not waited"):
        names["agrees"](names["outer"](source, 4, 2))


@needs_xray
def test_fragments_are_read_without_bank_conflicts(chapter):
    names = chapter.names
    for product, most in (
        *((p, 1) for p in names["in_halves"].values()),
        (names["double_product"](4, 4), 2),
    ):
        reads = [a for a in product.xray().accesses if a.shared and a.kind == "load"]
        assert reads and all(a.passes == most * a.requests for a in reads)


def test_both_chapters_have_their_rungs():
    first, second = chapters()
    assert first["vector"] and len(second["fast"]) == 3 and len(second["in_halves"]) == 3
