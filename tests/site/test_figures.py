"""The figures one can touch: their arithmetic, by other means, and what a reader's hands find."""

import functools
import json
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest
from conftest import CHAPTERS, SITE, notebook
from marks import long_but
from seen import STILL, Reader

import helpers  # noqa: F401  the stand-in where there is no GPU
from helpers.press import figures

PLACE = re.compile(
    r'<div class="touch-figure" data-figure="(\w+)">\n\n!\[(.+)\]\(\.\./book/figures/(\S+)\)'
)
PLACES = {  # figure: its chapter
    found[1]: chapter
    for chapter in CHAPTERS
    for cell in notebook(chapter)["cells"]
    for found in PLACE.finditer("".join(cell["source"]))
}
LIMIT = 15_000  # bytes of a script
BOARD = "[data-figure={}] .tf-board"
SAYS = "[data-figure={}] .tf-says"


# The arithmetic, in a page of its own that has nothing but the scripts.


@pytest.fixture(scope="module")
def scripts(browser):
    """Return a blank page with the figures' scripts."""
    page = browser.new_page()
    figures.load(page)
    yield page
    page.close()


def computed(scripts, figure, function, cases):
    """Return what the function of a figure's arithmetic makes of each case, a list of arguments."""
    call = "([figure, name, cases]) => cases.map(c => touch.figures[figure].arithmetic[name](...c))"
    return scripts.evaluate(call, [figure, function, cases])


def launch_in_python():
    """Return chapter 10's own function of that name, which plays a launch."""
    for cell in notebook("notebooks/10_matmul_kernel")["cells"]:
        source = "".join(cell["source"])
        if source.startswith("def launch_in_python"):
            names = {"np": np}
            exec(source, names)
            return names["launch_in_python"]
    raise AssertionError("chapter 10 has no launch_in_python any more")


@pytest.mark.parametrize("block", [[2, 2], [4, 2], [3, 5], [1, 6], [6, 1]])
def test_threads_are_those_of_chapter_10(scripts, block):
    play = launch_in_python()
    sizes = (1, 2, 5, 7, 12)
    launches = computed(scripts, "grid", "launch", [[n, block] for n in sizes])
    for n, launch in zip(sizes, launches, strict=True):
        grid = [-(-n // side) for side in block]
        seen = []
        play(lambda row, col, seen=seen: seen.append((row, col)), grid, block, ())
        assert launch == {"grid": grid, "threads": len(seen), "idle": len(seen) - n * n}
        found = computed(scripts, "grid", "find", [[block, row, col] for row, col in seen])
        # The launch in Python goes through the blocks, and in each through its threads, x fastest.
        order = [(block_y, block_x) for block_y, block_x in np.ndindex(grid[1], grid[0])]
        inner = [(y, x) for y, x in np.ndindex(block[1], block[0])]
        places = [(b, t) for b, t in product(order, inner)]
        assert [(tuple(f["blockIdx"][::-1]), tuple(f["threadIdx"][::-1])) for f in found] == places
        cases = [[n, block, f["blockIdx"], f["threadIdx"]] for f in found]
        for (row, col), thread in zip(seen, computed(scripts, "grid", "place", cases), strict=True):
            assert (thread["row"], thread["col"]) == (row, col)
            assert thread["inside"] == (row < n and col < n)
            if thread["inside"]:
                assert thread["flat"] == np.ravel_multi_index((row, col), (n, n))


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_sectors_are_those_of_a_numpy_view(scripts, size):
    """The addresses of x[offset:][::stride], as NumPy has them, from a sector's beginning."""
    memory = np.zeros(33 * 32 + 64, dtype=f"V{size}")
    base = memory.__array_interface__["data"][0]
    cases = [[stride, offset, size] for stride in range(34) for offset in (0, 1, 7, 31)]
    lanes = [[k, *case] for case in cases for k in range(32)]
    addresses = np.reshape(computed(scripts, "sectors", "address", lanes), (-1, 32)).tolist()
    requests = computed(scripts, "sectors", "request", cases)
    for (stride, offset, _), found, address in zip(cases, requests, addresses, strict=True):
        start = memory[offset:]
        view = start[::stride][:32] if stride else np.broadcast_to(start[:1], 32)
        first = [view[k : k + 1].__array_interface__["data"][0] - base for k in range(32)]
        assert address == first
        asked = {byte for start in first for byte in range(start, start + size)}
        sectors = sorted({byte // 32 for byte in asked})
        assert found["sectors"] == sectors
        assert (found["asked"], found["moved"]) == (len(asked), 32 * len(sectors))
        assert found["share"] == pytest.approx(len(asked) / (32 * len(sectors)))


def test_banks_are_those_of_a_numpy_tile(scripts):
    """A tile of 4-byte words: the bank of an element is its address in words, modulo 32."""
    cases = [
        [width, padding, along]
        for width in range(1, 65)
        for padding in (0, 1, 2, 8)
        for along in ("column", "row")
    ]
    lanes = [[k, *case] for case in cases for k in range(32)]
    wanted = np.reshape(computed(scripts, "banks", "word", lanes), (-1, 32)).tolist()
    requests = computed(scripts, "banks", "request", cases)
    for (width, padding, along), found, word in zip(cases, requests, wanted, strict=True):
        tile = np.zeros((32, width + padding), np.int32)
        step = tile.strides[0 if along == "column" else 1]
        words = [k * step // tile.itemsize for k in range(32)]
        assert word == words
        banks = Counter(word % 32 for word in words)
        assert found["turns"] == max(banks.values())
        assert [len(threads) for threads in found["threads"]] == [banks[k] for k in range(32)]
        assert [words[k] % 32 for threads in found["threads"] for k in threads] == [
            bank for bank, threads in enumerate(found["threads"]) for _ in threads
        ]


def test_tree_and_scans_are_those_of_numpy(scripts):
    """What a place holds is the sum of the numbers it covers; additions are as many as said."""
    ways = ["tree", "hillis", "work"]
    steps = dict(zip(ways, computed(scripts, "tree", "steps", [[w] for w in ways]), strict=True))
    rows = dict(zip(ways, computed(scripts, "tree", "rows", [[w] for w in ways]), strict=True))
    numbers = np.array(rows["tree"][0])
    assert [len(steps[way]) for way in ways] == [4, 4, 7]
    assert [sum(map(len, steps[way])) for way in ways] == [15, 49, 26]
    assert rows["tree"][-1][0] == numbers.sum()
    for way in ("hillis", "work"):
        assert rows[way][-1] == np.cumsum(numbers).tolist()
    for way in ways:
        held = [{k} for k in range(16)]
        for step, pairs in enumerate(steps[way], 1):
            assert len({place for place, _ in pairs}) == len(pairs)
            held = [
                h | set().union(*(held[f] for p, f in pairs if p == k)) for k, h in enumerate(held)
            ]
            covers = computed(scripts, "tree", "covers", [[way, step, k] for k in range(16)])
            assert covers == [sorted(places) for places in held]
            assert rows[way][step] == [int(numbers[list(places)].sum()) for places in held]


def reads():
    """Return {name of a way to read: its code}, as the figure offers them."""
    source = (figures.SCRIPTS / "raw.js").read_text(encoding="utf-8")
    return dict(re.findall(r'^    (\w+): \["([^"]+)", \(i', source, re.M))


@pytest.mark.parametrize("decide", ["z", "size"])
@pytest.mark.parametrize("read", sorted(reads()))
def test_touched_elements_are_those_that_a_kernel_reads(scripts, read, decide):
    """Run the very kernel, on an x whose elements say where they lie.

    x is a part of a longer array of ours, so that a GPU that reads outside finds a number of ours
    there. The stand-in stops, and names the first index outside.
    """
    x_type = "T x" if read == "own" else "raw T x"
    z_type, left = ("raw T z", "z[i]") if decide == "size" else ("T z", "z")
    import cupy as cp

    kernel = cp.ElementwiseKernel(x_type, z_type, f"{left} = {reads()[read]}", "touch")
    cases = [[read, decide, x, z] for x, z in product((1, 2, 5, 8, 12), (1, 2, 5, 6, 12))]
    refusals = computed(scripts, "raw", "refusal", cases)
    touched = computed(scripts, "raw", "touched", cases)
    assert len(reads()) == 6
    for (_, _, length, count), refusal, indices in zip(cases, refusals, touched, strict=True):
        x = cp.arange(-40, 80)[40 : 40 + length]
        z = cp.full(count, -99)
        options = {"size": count} if decide == "size" else {}
        outside = [k for k in indices if not 0 <= k < length]
        try:
            kernel(x, z, **options)
        except IndexError as error:
            assert f"index {outside[0]} is outside the raw array 'x'" in str(error)
        except ValueError as error:
            assert str(error) == refusal and indices == []
        else:
            assert refusal is None
            assert z.tolist() == indices


def test_roof_is_the_larger_of_two_times(scripts):
    """A time is at least bytes over bandwidth, and operations over the peak rate."""
    steps = computed(scripts, "roofline", "operations", [[k] for k in range(23)])
    assert steps == sorted({2**k for k in range(12)} | {3 * 2**k for k in range(11)})
    rng = np.random.default_rng(15)
    cases = [
        [int(rng.integers(1, 65)), int(rng.choice(steps)), *(10 ** rng.uniform(10, 14, 2)).tolist()]
        for _ in range(400)
    ]
    binding = Counter()
    for (size, flop, bandwidth, peak), found in zip(
        cases, computed(scripts, "roofline", "roof", cases), strict=True
    ):
        times = {"memory": size / bandwidth, "arithmetic": flop / peak}
        assert found["rate"] == pytest.approx(flop / max(times.values()))
        assert found["binds"] == max(times, key=times.get)
        assert found["intensity"] == pytest.approx(flop / size)
        assert found["ridge"] * bandwidth == pytest.approx(peak)
        binding[found["binds"]] += 1
    assert min(binding["memory"], binding["arithmetic"]) > 50
    values = [4.221e12, 50.71e12, 999.6e9, 1e6, 12]
    short = computed(scripts, "roofline", "short", [[value] for value in values])
    assert [text.strip() for text in short] == ["4.22 T", "50.7 T", "1000 G", "1 M", "12"]


# The files.


def test_every_figure_stands_in_one_chapter_with_its_picture():
    names = {path.stem for path in figures.scripts()} - {"touch"}
    assert names == PLACES.keys() and len(names) == 6
    stored = {path.name for path in figures.PICTURES.glob("touch-*.svg")}
    assert stored == {f"touch-{name}.svg" for name in names}


def test_pictures_match_the_scripts(scripts):
    drawn = figures.draw(scripts)
    assert drawn.keys() == PLACES.keys()
    for name, svg in drawn.items():
        stored = (figures.PICTURES / f"touch-{name}.svg").read_text(encoding="utf-8")
        assert stored == svg, "run python -m helpers.press.figures"
        assert "var(" not in svg and "data-at" not in svg


def test_scripts_are_small():
    files = [*figures.scripts(), figures.SCRIPTS / "touch.css"]
    assert {path.name: path.stat().st_size for path in files if path.stat().st_size > LIMIT} == {}


def test_colours_can_be_told_apart():
    """What is filled from what is empty, what is marked from its ground: 3 : 1, light and dark."""
    css = (figures.SCRIPTS / "touch.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--tf-(\w+): #(\w+);", part)) for part in css.split("}")[:2]]

    def light(colour):
        channels = np.array([int(colour[k : k + 2], 16) for k in (0, 2, 4)]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return float(linear @ (0.2126, 0.7152, 0.0722))

    for theme in themes:
        for a, b in (("fill", "empty"), ("fill", "ground"), ("mark", "ground"), ("mark", "empty")):
            lights = sorted((light(theme[a]), light(theme[b])))
            assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 3, (a, b, theme)


# The pages.

BUILT = pytest.mark.parametrize("site", ["built"], indirect=True)
EACH = pytest.mark.parametrize("name", PLACES)
# What all figures have from the same script and stylesheet: two stand for them in `make test`.
SHARED = pytest.mark.parametrize("name", long_but(["banks", "tree"], PLACES))


@BUILT
def test_pages_without_a_figure_load_none(site):
    for page in site.glob("notebooks/*.html"):
        loaded = re.findall(r'src="[./]*_static/figures/(\w+)\.js', page.read_text("utf-8"))
        here = [name for name, chapter in PLACES.items() if chapter.endswith(page.stem)]
        assert sorted(loaded) == sorted(here + ["touch"] * bool(here)), page.name
    html = (site / f"{PLACES['roofline']}.html").read_text("utf-8")
    told = json.loads(re.search(r"window\.touchCeilings = (.*);", html)[1])
    assert told == figures.ceilings()


def open_at(visit, name):
    """Open the chapter of a figure and bring the figure into view; return the page."""
    page = visit.open(f"{PLACES[name]}.html")
    page.locator(BOARD.format(name)).scroll_into_view_if_needed()
    return page


@pytest.fixture(scope="module")
def desk(browser, addresses):
    """Return a function: a figure's chapter as open_at leaves it, on a desktop, in the light.

    It is opened once for the tests of the pointer, of contrast, the keyboard and paper: they come
    in this order, for the pointer's finds the figure as it starts.
    """
    context = browser.new_context()

    @functools.cache
    def at(name):
        visit = Reader(context, addresses("built"))
        return visit, open_at(visit, name)

    yield at
    context.close()


# What each figure says, as it starts, of another place: the place, and parts of the words.
WORDS = {
    "grid": ("0,3", "row = 1 · 2 + 1 = 3, col = 0 · 2 + 0 = 0", "3 · 5 + 0 = 15"),
    "sectors": ("7", "Thread 7 reads bytes 112 to 115, in sector 3", "25 %"),
    "banks": (
        "9",
        "Thread 9 reads word 9 · 32 = 288, which lies in bank 288 mod 32 = 0",
        "32 turn",
    ),
    "raw": ("2", "Thread 2 reads x[3] and writes z[2]", "6 threads"),
    "tree": ("5", "Step 4: 1 place adds", "Place 5 keeps 10", "the sum of 2 numbers"),
    "roofline": ("0", "12 bytes and 1 FLOP an element are 0.0833 FLOP a byte", "Memory binds"),
}


def place(page, name, at):
    """Return where on the screen the place `at` of a figure is, as (x, y)."""
    spot = page.locator(f'{BOARD.format(name)} [data-at="{at}"]').first
    spot.scroll_into_view_if_needed()
    box = spot.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@EACH
def test_pointer(desk, name):
    visit, page = desk(name)
    at, *words = WORDS[name]
    before = page.locator(SAYS.format(name)).inner_text()
    page.mouse.move(*place(page, name, at))
    after = page.locator(SAYS.format(name)).inner_text()
    assert after != before and [part for part in words if part not in after] == []
    assert visit.complaints == []


@BUILT
@SHARED
def test_touch(site, reader, name):
    visit = reader(viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    page = open_at(visit, name)
    at, *words = WORDS[name]
    page.touchscreen.tap(*place(page, name, at))
    tapped = page.locator(SAYS.format(name)).inner_text()
    assert [part for part in words if part not in tapped] == []
    # A finger that is drawn across the drawing takes the cursor along.
    box = page.locator(BOARD.format(name)).bounding_box()
    x, y = place(page, name, at)
    hand = page.context.new_cdp_session(page)
    for kind, dx in (("touchStart", 0), ("touchMove", 20), ("touchMove", 60)):
        points = [{"x": min(x + dx, box["x"] + box["width"] - 10), "y": y}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    if name not in ("banks",):  # where a stack of threads has nothing beside it
        assert page.locator(SAYS.format(name)).inner_text() != tapped
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert visit.complaints == []


# Contrast of every text of a figure with what is painted under its middle.
CONTRAST = """place => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const painted = (e) => {
    const style = getComputedStyle(e);
    if (e instanceof SVGElement && !["rect", "circle"].includes(e.tagName)) return null;
    const colour = e instanceof SVGElement ? style.fill : style.backgroundColor;
    return colour !== "none" && numbers(colour)[3] !== 0 ? colour : null;
  };
  const words = [...place.querySelectorAll(".tf p, .tf label span, .tf svg text")];
  return words.filter((e) => e.textContent.trim()).map((e) => {
    e.scrollIntoView({block: "center"});
    const box = e.getBoundingClientRect();
    const under = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
      .filter((u) => u !== e && !(u instanceof SVGTextElement));
    const ground = light(under.map(painted).find(Boolean));
    const style = getComputedStyle(e);
    const ink = light(e instanceof SVGElement ? style.fill : style.color);
    return [e.textContent, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
  });
}"""


@SHARED
def test_contrast(desk, name):
    _, page = desk(name)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        page.wait_for_function(STILL)
        found = page.locator(f"[data-figure={name}]").evaluate(CONTRAST)
        assert len(found) >= 6
        assert [(words, ratio) for words, ratio in found if ratio < 4.5] == []


@EACH
def test_keyboard(desk, name):
    visit, page = desk(name)
    board, says = page.locator(BOARD.format(name)), page.locator(SAYS.format(name))
    first = page.locator(f"[data-figure={name}] :is(input, select)").first
    first.focus()
    before = says.inner_text()
    first.press("ArrowDown" if first.evaluate("e => e.tagName") == "SELECT" else "ArrowRight")
    moved = says.inner_text()
    assert moved != before
    for _ in range(4):  # from the controls to the drawing
        if not board.evaluate("e => e === document.activeElement"):
            page.keyboard.press("Tab")
    assert board.evaluate("e => e === document.activeElement")
    seen = {moved}
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.add(says.inner_text())
    assert len(seen) == 3
    for _ in range(60):  # the arrows stop at the edge
        page.keyboard.press("ArrowLeft")
    edge = says.inner_text()
    page.keyboard.press("ArrowLeft")
    assert says.inner_text() == edge
    assert visit.complaints == []


def shown(page, name):
    """Return whether the picture is shown, and whether the figure is."""
    picture = page.locator(f"[data-figure={name}] img")
    assert picture.evaluate("img => img.complete && img.naturalWidth") >= 600
    return picture.is_visible(), page.locator(f"[data-figure={name}] .tf").is_visible()


@SHARED
def test_on_paper_stands_the_picture(desk, name):
    _, page = desk(name)
    assert shown(page, name) == (False, True)
    page.emulate_media(media="print")
    assert shown(page, name) == (True, False)
    page.emulate_media(media="screen")


@BUILT
@SHARED
def test_without_scripts_stands_the_picture(site, reader, name):
    page = reader(java_script_enabled=False).page
    page.goto(f"file://{SITE}/{PLACES[name]}.html")
    picture = page.locator(f"[data-figure={name}] img")
    assert picture.is_visible() and len(picture.get_attribute("alt")) > 60
    assert picture.bounding_box()["width"] > 300
