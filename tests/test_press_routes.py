"""Routes, the map and the plans for teachers are those of the chapters as they are."""

import re

import nbformat
import pytest

from helpers.press import labels, map_picture, notebook, routes, sittings, teaching

FOUND = {path.name: (path, notebook.read(path)) for path in notebook.paths()}
KNOWN = routes.chapters(FOUND)
BOOKS = {int(path.stem[:2]): book for path, book in FOUND.values()}
# The map of an invented book: 50 needs 40 through 45 alone.
NEEDS = {10: (), 20: (10,), 40: (10, 20), 45: (20, 40), 50: (10, 40, 45)}


def need(text):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("**You need** chapters 30 and 35 (`raw` and `i`). No GPU.", ["30", "35"]),
        ("**You need** [chapter 10](10_matmul_kernel.ipynb), [36](36_x.ipynb)\nand 40.", None),
        ("**You need** chapter 45, with the solution of exercise 45.4, NARMA10, 2,000.", ["45"]),
        ("**You will** 12.\n\n**You need** Python.\n\n**Time** 64 minutes.", []),
    ],
)
def test_what_a_chapter_says_that_it_needs(text, numbers):
    numbers = ["10", "36", "40"] if numbers is None else numbers
    assert routes.NUMBER.findall(routes.need(need(text))) == numbers


@pytest.mark.parametrize("number", KNOWN)
def test_a_chapter_says_what_it_needs_and_it_comes_before(number):
    chapter = KNOWN[number]
    assert "You need" in routes.need(BOOKS[number])
    assert set(chapter.needs) <= set(KNOWN) - {number}
    assert (chapter.needs == ()) == (number == 10)
    assert chapter.side or not any(KNOWN[n].side for n in chapter.needs)


def test_what_is_left_out_of_a_line_is_in_it():
    for number, beside in routes.plan()["beside"].items():
        if int(number) in KNOWN:
            named = set(map(int, routes.NUMBER.findall(routes.need(BOOKS[int(number)]))))
            assert named & set(beside), f"{number}: take it off [beside] in book/routes.toml"


def test_all_routes_lead_through_known_or_planned_chapters():
    every = set(map(int, labels.plan()["chapters"]))
    for kind in ("time", "aim", "plan"):
        for route in routes.plan()[kind]:
            assert "page" in route or routes.members(KNOWN, route)
            if not isinstance(route.get("chapters", ""), str):
                assert set(route["chapters"]) - every <= {25, 38, 52}  # in book/chapters.toml later
    aims = [n for route in routes.plan()["aim"] for n in route["chapters"]]
    assert {10, 20, 30, 50} <= set(aims)


def test_minutes_are_counted():
    text = "\n".join(routes.routes(FOUND))
    evening = sum(sittings.minutes(BOOKS[n])[None] for n in (10, 20, 30))
    assert f"| {sittings.words(evening)} | kernels, arrays" in text
    everything = sum(sittings.minutes(book)[None] for book in BOOKS.values())
    assert f"| {len(BOOKS)} chapters | {sittings.words(everything)} |" in text
    road = [n for n in KNOWN if not KNOWN[n].side]
    assert f"| {len(road)} chapters | {routes.hours(KNOWN, road)} |" in text


def test_a_route_says_what_it_builds_on():
    assert routes.before(KNOWN, [10]) == []
    assert routes.before(KNOWN, [30]) == [10, 20]
    assert routes.before(KNOWN, [20, 37]) == [10, 30, 35, 36]


def test_a_t4_is_told_what_it_cannot_run():
    asked = {
        number
        for number, book in BOOKS.items()
        for wanted in re.findall(r"needs compute capability (\d+\.\d+)", nbformat.writes(book))
        if float(wanted) > 7.5
    }
    assert asked == {n for n in KNOWN if max(KNOWN[n].capabilities, default=0) > 7.5}
    t4 = next(text for text in routes.by_machine(KNOWN) if "T4" in text)
    assert all(KNOWN[n].stem in t4 for n in asked)


def test_an_arrow_for_what_is_needed_directly():
    needs = map_picture.reduced(NEEDS)
    assert needs == {10: [], 20: [10], 40: [20], 45: [40], 50: [45]}
    layers, arrows = map_picture.layered({10: [], 20: [10], 30: [10], 40: [20], 60: [10, 40]})
    assert layers == [[10], [20, 30, (10, 60, 1)], [40, (10, 60, 2)], [60]]
    assert [10, (10, 60, 1), (10, 60, 2), 60] in arrows


def test_a_layer_is_no_wider_than_a_phone():
    layers, _ = map_picture.layered({10: []} | {number: [10] for number in range(20, 29)})
    chapters = [[n for n in layer if isinstance(n, int)] for layer in layers]
    assert chapters == [[10], [20, 21, 22, 23], [24, 25, 26, 27], [28]]


def test_arrows_cross_less_after_ordering():
    layers, arrows = [[1, 2, 3], [4, 5, 6]], [[1, 6], [2, 5], [3, 4]]
    assert map_picture.crossings(layers, arrows) == 3
    assert map_picture.crossings(map_picture.ordered(layers, arrows), arrows) == 0


def test_the_map_has_every_chapter_and_every_arrow_leads_down():
    drawn = map_picture.draw({n: (c.stem, c.title, c.needs, c.side) for n, c in KNOWN.items()})
    assert drawn.count("<a href=") == len(KNOWN)
    assert drawn.count("stroke-dasharray") == sum(c.side for c in KNOWN.values())
    arrows = sum(map(len, map_picture.reduced({n: c.needs for n, c in KNOWN.items()}).values()))
    assert drawn.count(" h 8 l -4 7 z") == arrows
    height = {
        int(n): float(y)
        for y, n in re.findall(r' y="(\d+)"[^>]*font-weight="700"[^>]*>(\d+)<', drawn)
    }
    assert all(height[n] < height[c.number] for c in KNOWN.values() for n in c.needs)


@pytest.mark.parametrize("number", KNOWN)
def test_a_lesson_and_what_is_left_are_the_whole_chapter(number):
    book, pace = BOOKS[number], 2
    units = teaching.units(book)
    total = sum(minutes for _, minutes in units)
    assert abs(total - sittings.minutes(book)[None]) <= 5  # short sections and key points
    for length in (1, 90, 10_000):
        taken, spent, left = teaching.lesson(book, length, pace)
        assert taken == [heading for heading, _ in units[: len(taken)]] and taken
        assert spent / pace + left == pytest.approx(total, abs=1)
        assert spent <= length or len(taken) == 1
    assert len(teaching.lesson(book, 10_000, pace)[0]) == len(units)


@pytest.mark.parametrize("number", KNOWN)
def test_exercises_have_the_minutes_that_are_counted(number):
    found = teaching.exercises(BOOKS[number])
    assert len(found) >= 3 and all(str(number) in words for words, _ in found)
    counted = [p for p in sittings.pieces(BOOKS[number]) if p.what in ("exercise", "optional")]
    assert len(found) == len(counted)
    assert sum(minutes or 0 for _, minutes in found) == sum(round(p.minutes) for p in counted)


def test_terms_stand_with_the_chapter_that_explains_them():
    terms = teaching.terms(KNOWN)
    assert "coalescing" in terms[10] and "scan" in terms[36] and "Adam" in terms[52]
    text = teaching.GLOSSARY.read_text(encoding="utf-8")
    told = sum(map(len, terms.values()))
    assert told == text.count("Explained in")


def test_the_plans_have_as_many_lessons_as_they_say():
    words = {"Two": 2, "Six": 6, "Twelve": 12}
    for plan in routes.plan()["plan"]:
        assert len(routes.members(KNOWN, plan)) == words[plan["name"].split()[0]]
