"""The ways in: the first kernel, How to read this book, Teaching with it."""

import pytest
from conftest import CHAPTERS, FORK, documents, soup

from helpers.press import first_page, notebook, routes
from helpers.press.paper import pages

FIRST, READ, TEACH = "book/first-kernel", "book/how-to-read", "book/teaching"
built = pytest.mark.parametrize("site", ["built"], indirect=True)
OUTSIDE = """() => [...document.querySelectorAll('article svg text')].filter(e => {
  const box = e.closest('a').querySelector('rect').getBoundingClientRect();
  const own = e.getBoundingClientRect();
  return own.left < box.left || own.right > box.right;
}).map(e => e.textContent)"""


def test_two_pages_and_setup_come_before_chapter_10():
    names = documents()
    before = names[: names.index(CHAPTERS[0])]
    assert before == ["book/index", FIRST, READ, "book/setup"]
    assert set(pages()) >= {TEACH, "book/standin", "book/xray", "book/how-numbers-are-made"}


@built
def test_the_first_kernel_is_on_one_screen(site, reader):
    page = reader(viewport={"width": 1440, "height": 900}).open(f"{FIRST}.html")
    for heading in ("1. Run it", "2. Break it", "3. Mend it"):
        box = page.get_by_role("heading", name=heading).bounding_box()
        assert 0 < box["y"] < 850
    answer = page.locator("article details summary")
    box = answer.bounding_box()
    assert box["y"] + box["height"] <= 900
    wide = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert page.eval_on_selector_all("article pre", wide) == []
    answer.click()
    assert page.get_by_text(first_page.standin()["mend"]).is_visible()


def test_the_first_kernel_can_be_run(published, site):
    page = soup(site / f"{FIRST}.html")
    links = {a.get_text(): a["href"] for a in page.select("p.start a")}
    file = site / "book" / links["Download the notebook"]
    book = notebook.read(file)
    assert [c.source for c in notebook.code_cells(book)][1:3] == list(first_page.parts().values())[
        :2
    ]
    assert ("archive/" in book.cells[1].source) == (site == published)
    path = FORK.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{path}/blob/colab/first_kernel.ipynb"
    binder = f"https://mybinder.org/v2/gh/{path}/main?urlpath=lab%2Ftree%2Ffirst_kernel.ipynb"
    assert links.get("On Binder") == (binder if site == published else None)
    assert links.get("Run it on Colab") == (colab if site == published else None)


@built
def test_the_map_can_be_read_and_followed(site, reader):
    visit = reader(viewport={"width": 390, "height": 844})
    page = visit.open(f"{READ}.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".map").bounding_box()  # in which the picture scrolls
    assert 300 < box["width"] <= 390 and box["height"] > 300
    assert page.locator(".map text").nth(1).bounding_box()["height"] > 8  # a name can be read
    assert page.evaluate(OUTSIDE) == []
    page.locator(".map a").nth(0).click()
    page.wait_for_url("**/10_matmul_kernel.html")
    assert visit.complaints == []


@built
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_has_the_colours_of_the_page(site, reader, scheme):
    page = reader(color_scheme=scheme).open(f"{READ}.html")
    fill = "e => getComputedStyle(e).fill"
    text = page.eval_on_selector(".map text", fill)
    ground = page.eval_on_selector(".map rect", fill)
    light = [sum(map(int, c[4:-1].split(","))) > 380 for c in (text, ground)]
    assert light == [scheme == "dark", scheme == "light"]


@built
def test_without_javascript_the_page_and_its_routes_are_read(site, browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/book/index.html")
    assert page.locator(".hero svg").is_visible()
    page.get_by_role("link", name="Write kernels").click()
    assert page.url.endswith("how-to-read.html#by-aim")
    row = page.locator("tr", has_text="Write kernels")
    assert row.is_visible() and row.get_by_role("link").count() > 4
    assert page.locator(".map svg").is_visible()
    page.goto(f"{address}/book/index.html")
    page.get_by_role("link", name="A kernel in ten minutes").click()
    page.locator("article details summary").click()
    assert page.get_by_text(first_page.standin()["mend"]).is_visible()
    context.close()


BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name,
        { configurable: true, get() { throw new DOMException("no", "SecurityError") } })"""


@built
def test_a_browser_that_blocks_storage_reads_and_follows_the_routes(site, reader):
    visit = reader()
    visit.page.add_init_script(BLOCKED)
    errors = []
    visit.page.on("pageerror", lambda error: errors.append(str(error)))
    page = visit.open("book/index.html")
    page.get_by_role("link", name="An evening").click()
    page.wait_for_url("**/how-to-read.html#by-time")
    page.locator("tr", has_text="An evening").get_by_role("link", name="30").click()
    page.wait_for_url("**/30_elementwise_kernel.html")
    assert errors == []


@built
def test_a_teacher_finds_lessons_exercises_and_terms(site):
    page = soup(site / f"{TEACH}.html")
    for plan in routes.plan()["plan"]:
        section = page.find(id=plan["name"].lower().replace(" ", "-"))
        assert len(section.select("tbody tr")) == len(plan["chapters"])
    assert len(page.select("#exercises details")) == len(CHAPTERS)
    assert "scan" in page.find(id="terms-by-chapter").get_text()
