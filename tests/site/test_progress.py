"""A reader's marks: chapters read and exercises done, kept in the browser alone."""

import json
import re

import pytest
from conftest import CHAPTERS, PAGES, notebook
from marks import long_but

KEY = "from-kernel-to-network.progress"
FIRST, SECOND = CHAPTERS[:2]
NUMBER = re.search(r"/(\d\d)_", FIRST)[1]
READ = f"I have read chapter {NUMBER}"
LIMIT = 15_000  # bytes

built = pytest.mark.parametrize("site", ["built"], indirect=True)


def exercises(chapter):
    """Return the numbers of a chapter's exercises, as its notebook has them."""
    text = "\n".join(
        "".join(cell["source"])
        for cell in notebook(chapter)["cells"]
        if cell["cell_type"] == "markdown"
    )
    return re.findall(r"^### Exercise (\d+\.\d+)", text, re.M)


def kept(page):
    """Return what the browser keeps of the book's own."""
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "null")


def mark(page, chapter=FIRST):
    """Return the mark of a chapter in the sidebar, as a locator."""
    number = re.search(r"/(\d\d)_", chapter)[1]
    return page.locator(f".bd-sidebar-primary a:has-text('{number} ·') .progress-mark")


def laid_out(page):
    """Return a page whose cells are laid out at once, so that none moves a box under a pointer."""
    page.add_style_tag(content=".bd-article section .cell { content-visibility: visible }")
    return page


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_has_a_box(seen, chapter):
    found = seen("light", f"{chapter}.html")
    assert found["boxes"] == [*exercises(chapter), "read"] and len(found["boxes"]) > 3
    assert KEY not in found["stored"] and found["marks"] == 0


@built
def test_marks_are_kept_and_shown_on_every_page(site, reader):
    visit = reader()
    page = laid_out(visit.open(f"{FIRST}.html"))
    first, second = exercises(FIRST)[:2]
    page.get_by_label(READ).check()
    page.get_by_label(f"I have done exercise {second}").check()
    words = f"read, 1 of {len(exercises(FIRST))} exercises done"
    assert mark(page).get_attribute("aria-label") == words
    assert mark(page).inner_text() == f"✓ 1/{len(exercises(FIRST))}"
    for name in (PAGES[0], f"{SECOND}.html", f"{FIRST}.html"):
        page = laid_out(visit.open(name))
        assert mark(page).get_attribute("aria-label") == words
        assert page.locator(".progress-mark").count() == 1
    assert page.get_by_label(READ).is_checked()
    assert page.get_by_label(f"I have done exercise {second}").is_checked()
    assert not page.get_by_label(f"I have done exercise {first}", exact=True).is_checked()
    page.get_by_label(READ).uncheck()
    page.get_by_label(f"I have done exercise {second}").uncheck()
    assert kept(page) is None and mark(page).count() == 0
    assert visit.complaints == []


@built
def test_one_button_forgets_everything_and_says_so(site, reader):
    visit = reader()
    for chapter in (FIRST, SECOND):
        page = visit.open(f"{chapter}.html")
        for box in (".progress-box input", ".progress-done input"):
            laid_out(page).locator(box).first.check()
    assert len(kept(page)) == 2
    page.evaluate("localStorage.setItem('of-another', 'stays')")
    page.get_by_role("button", name="Forget all my marks").click()
    assert "forgotten" in page.locator(".progress-box [role=status]").inner_text()
    assert kept(page) is None and page.locator(".progress-mark").count() == 0
    assert page.locator(".progress-done input:checked").count() == 0
    assert page.evaluate("localStorage.getItem('of-another')") == "stays"
    assert KEY not in "".join(page.evaluate("Object.keys(localStorage)"))
    assert visit.complaints == []


@built
def test_by_keyboard(site, reader):
    page = reader().open(f"{FIRST}.html")
    page.get_by_label(READ).focus()
    page.keyboard.press("Space")
    assert mark(page).get_attribute("aria-label") == "read"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Forget all my marks"
    page.keyboard.press("Enter")
    assert mark(page).count() == 0 and kept(page) is None


@built
def test_by_touch(site, reader):
    visit = reader(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    page = laid_out(visit.open(f"{FIRST}.html"))
    for label in page.locator(".progress-done").all():
        label.scroll_into_view_if_needed()
        box = label.bounding_box()
        assert box["height"] >= 24 and box["x"] + box["width"] <= 360
        label.tap()
    every = len(exercises(FIRST))
    assert kept(page)[NUMBER] == {"read": True, "done": exercises(FIRST), "of": every}
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert visit.complaints == []


@built
@pytest.mark.parametrize(
    "script",
    [
        "Object.defineProperty(window, 'localStorage',"
        " {get() { throw new DOMException('no', 'SecurityError') }})",
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }",
    ],
    ids=["refused", "full"],
)
def test_a_browser_that_keeps_nothing_is_asked_for_nothing(site, reader, script):
    """The theme's own script needs the storage, so it is left out here."""
    visit = reader()
    visit.page.route("**/scripts/pydata-sphinx-theme.js*", lambda route: route.fulfill(body=""))
    visit.page.route("**/scripts/sphinx-book-theme.js*", lambda route: route.fulfill(body=""))
    visit.page.add_init_script(script)
    errors = []
    visit.page.on("pageerror", lambda error: errors.append(error.stack or ""))
    page = visit.open(f"{FIRST}.html")
    assert page.locator("article h1").is_visible()
    assert page.locator(".progress-done, .progress-box, .progress-mark").count() == 0
    assert [error for error in errors if "progress.js" in error] == []


@built
@pytest.mark.parametrize(
    "text",
    long_but(
        ['{"10": {"done": 3, "of": "x"}}'],
        ["", "{", "7", "null", '{"10": 3}', '{"10": {"done": 3, "of": "x"}}', '[["x"]]'],
    ),
)
def test_what_somebody_else_has_left_there_does_no_harm(site, reader, text):
    visit = reader()
    visit.page.add_init_script(f"localStorage.setItem('{KEY}', {json.dumps(text)})")
    page = laid_out(visit.open(f"{FIRST}.html"))
    page.get_by_label(READ).check()
    assert mark(page).get_attribute("aria-label") == "read"
    assert visit.complaints == []


CONTRAST = """marks => marks.map((e) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let ground = e;
  while (/, 0\\)$|transparent/.test(getComputedStyle(ground).backgroundColor))
    ground = ground.parentElement;
  const lights = [getComputedStyle(e).color, getComputedStyle(ground).backgroundColor].map(light);
  return [e.textContent, (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05)];
})"""


@built
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_can_be_read(site, reader, scheme):
    page = laid_out(reader(color_scheme=scheme).open(f"{FIRST}.html"))
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    for box in page.locator(".progress-done input").all():
        box.check()
    words = page.locator(".progress-mark, .progress-done span, .progress-box :is(p, button)")
    found = words.evaluate_all(CONTRAST)
    assert len(found) > 6
    assert [(text, ratio) for text, ratio in found if text and ratio < 4.5] == []


@built
def test_marks_are_not_printed_and_weigh_little(site, reader):
    page = reader().open(f"{FIRST}.html")
    assert page.locator(".progress-box").is_visible()
    page.emulate_media(media="print")
    assert page.locator(":is(.progress-box, .progress-done):visible").count() == 0
    for name in ("progress.js", "progress.css"):
        assert 0 < (site / "_static" / name).stat().st_size < LIMIT
