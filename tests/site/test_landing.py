"""The landing page shows what the book is, and leads on in one step."""

import re

import pytest
from conftest import CHAPTERS, FORK, notebook, soup

from helpers.press import labels, routes

LANDING = "book/index.html"


@pytest.mark.parametrize("width, height, screens", [(1440, 900, 1), (360, 800, 3)])
def test_hero_routes_and_road_are_in_one_screen_and_on_a_phone_in_three(
    reader, width, height, screens
):
    page = reader(viewport={"width": width, "height": height}).open(LANDING)
    boxes = [page.locator(s).bounding_box() for s in (".hero svg", ".routes", ".road")]
    assert [box["y"] > 0 and box["width"] > 200 for box in boxes] == [True] * 3
    assert max(box["y"] + box["height"] for box in boxes) <= screens * height
    letters = page.locator(".hero svg text").last
    assert letters.bounding_box()["height"] >= 10  # can be read


@pytest.mark.parametrize("width", [1280, 360])
def test_no_words_of_the_hero_are_cut_off(reader, width):
    page = reader(viewport={"width": width, "height": 800}).open(LANDING)
    edge = "element => element.getBoundingClientRect().right"
    texts = page.eval_on_selector_all(".hero svg text", f"all => all.map({edge})")
    assert len(texts) > 10 and max(texts) <= page.eval_on_selector(".hero svg", edge)


def test_the_first_step_leads_to_chapter_10(reader):
    page = reader(viewport={"width": 360, "height": 800}).open(LANDING)
    begin = page.get_by_role("link", name="Read chapter 10")
    assert begin.bounding_box()["y"] < 700  # without scrolling
    buttons, picture = (page.locator(s).bounding_box() for s in (".start", ".hero svg"))
    assert 0 < picture["y"] - buttons["y"] - buttons["height"] < 60  # nothing empty in between
    begin.click()
    page.wait_for_url("**/10_matmul_kernel.html")


def test_a_published_copy_leads_to_colab(published, site):
    links = [a["href"] for a in soup(site / LANDING).select(".start a")]
    colab = [link for link in links if "colab.research.google.com" in link]
    path = FORK.removeprefix("https://github.com/")
    target = f"https://colab.research.google.com/github/{path}/blob/colab/{CHAPTERS[0]}.ipynb"
    assert colab == ([target] if site == published else [])


# Chapters still come: of the road nine in part I and seven in part II, of side roads four and six.
GROW = """() => {
  for (const [k, counts] of [[9, 4], [7, 6]].entries()) {
    const list = document.querySelectorAll(".road ol")[k];
    ["written", "written side"].forEach((kind, i) => {
      const stops = [...list.children].filter(stop => stop.className === kind);
      const from = stops.at(-1) ?? list.lastElementChild.cloneNode(true);
      from.className = kind;
      for (let n = stops.length; n < counts[i]; n++) list.append(from.cloneNode(true));
    });
  }
  return document.querySelectorAll(".road li").length;
}"""


@pytest.mark.both
def test_there_is_room_for_all_chapters_to_come(site, reader):
    page = reader(viewport={"width": 1440, "height": 900}).open(LANDING)
    assert page.evaluate(GROW) == 26
    box = page.locator(".road").bounding_box()
    assert box["y"] + box["height"] <= 900


def test_a_stop_for_each_chapter_and_no_link_to_an_unwritten_one(site):
    page = soup(site / LANDING)
    links = [a["href"] for a in page.select(".road a")]
    assert links == [f"../{name}.html" for name in CHAPTERS]
    planned = page.select(".road .planned")
    titles = [x["title"] for x in labels.plan()["chapters"].values() if "title" in x]
    assert len(planned) == len(titles)
    assert all("(to come)" in stop.get_text() for stop in planned)


def test_side_roads_are_set_back(site):
    sides = [stop.select_one(".number").get_text() for stop in soup(site / LANDING).select(".side")]
    assert sides == [c[10:12] for c in CHAPTERS if int(c[10:12]) in routes.plan()["roads"]["side"]]


def test_the_ways_in_lead_to_where_they_are_told(site):
    page = soup(site / LANDING)
    links = page.select(".routes a")
    told = [route["name"] for kind in ("time", "aim", "machine") for route in routes.plan()[kind]]
    assert [link.get_text() for link in links] == told
    for link in links:
        name, _, anchor = link["href"].partition("#")
        target = soup(site / "book" / name)
        place = target.find(id=anchor) if anchor else target.find("article")
        words = place.get_text().replace("’", "'")
        assert link.get_text() in words or link.get_text() == place.find("h1").get_text()[:11]


def test_the_hero_shows_a_number_that_a_chapter_recorded(site):
    text = soup(site / LANDING).select_one(".hero svg").get_text()
    stored = "".join(
        str(output.get("data", {}).get("text/plain", ""))
        for cell in notebook(next(name for name in CHAPTERS if "/47_" in name))["cells"]
        for output in cell.get("outputs", [])
    )
    step = float(re.search(r"oja.fast_step_us_2000 = ([\d.]+)", stored)[1])
    assert f"{step:.3g} µs" in text


def test_the_title_does_not_repeat_itself(site):
    title = soup(site / LANDING).title.get_text()
    assert "GPU computing with CuPy" in title and title.count("From Kernel to Network") == 1
