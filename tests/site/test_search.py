"""The search by section: questions and error messages lead to the place that answers them."""

import json
import re
from urllib.parse import quote

import pytest
from conftest import CHAPTERS, soup

from helpers.press import evidence, wrong_page
from helpers.programs import wrong

WRONG = "book/when-it-goes-wrong"
PAGE = wrong_page.notebook.BOOK / f"{WRONG}.md"
pytestmark = pytest.mark.parametrize("site", ["built"], indirect=True)

EXPLAINED = {  # what a reader looks for, and what the place that explains it says
    "coalescing": ("10_matmul_kernel", "coalescing"),
    "warp": ("10_matmul_kernel", "warps"),
    "Oja": ("40_oja_reservoir", "Oja"),
    "all-reduce": ("glossary", "sum of all"),
    "bank conflict": ("glossary", "32 banks"),
    "bank conflicts": ("36_work_together", "bank"),
    "pinned": ("glossary", "Memory of the host"),
    "numba": ("which-tool", "Numba"),
    "scan": ("36_work_together", "scan"),
    "prefix sum": ("36_work_together", "Scan"),
    "install": ("setup", "pip install"),
    "install cupy": ("setup", "pip install"),
    "error": ("when-it-goes-wrong", "message"),
    "slow": ("when-it-goes-wrong", "slow"),
    "compile error": ("when-it-goes-wrong", "NVRTC refused"),
    "out of memory": ("when-it-goes-wrong", "free_all_blocks"),
    "insufficient driver": ("when-it-goes-wrong", "nvidia-smi"),
    "illegal memory access": ("when-it-goes-wrong", "Test the index"),
    "kernel hangs": ("when-it-goes-wrong", "never ends"),
    "deadlock": ("when-it-goes-wrong", "never ends"),
    "all zeros": ("when-it-goes-wrong", "Round up"),
    "nan loss": ("when-it-goes-wrong", "isfinite"),
    "wrong dtype": ("when-it-goes-wrong", "garbage"),
    "different results every run": ("when-it-goes-wrong", "atomicAdd"),
    "dlpack stream": ("when-it-goes-wrong", "from_dlpack"),
    "peer access": ("when-it-goes-wrong", "current device"),
    "no gpu": ("when-it-goes-wrong", "No GPU was found"),
    "segmentation fault": ("when-it-goes-wrong", "Test the index"),
    "unspecified launch failure": ("when-it-goes-wrong", "Test the index"),
    "ModuleNotFoundError: No module named 'cupy'": ("setup", "pip install"),
    "NotImplementedError: cupyx.scipy.interpolate is not covered by the CPU stand-in": (
        "gpuless",
        "Libr",
    ),
    "too many threads": ("when-it-goes-wrong", "1,024 threads"),
    "how to time a kernel": ("10_matmul_kernel", "clock"),
    "what is a warp": ("glossary", "Thirty-two"),
    "multiple gpus": ("90_many_gpus", "GPU"),
    "print in kernel": ("when-it-goes-wrong", "Any thread may print"),
    "occupancy": ("glossary", "places for warps"),
    "occupency": ("glossary", "places for warps"),
    "speed up numpy": ("20_drop_in_arrays", "NumPy"),
    "memory pool": ("20_drop_in_arrays", "pool"),
    "tensor core": ("glossary", "small matrices"),
    "softmax": ("52_training", "Softmax"),
    "hello world": ("first-kernel", "kernel of your own"),
    "getting started": ("first-kernel", "kernel of your own"),
    "where to start": ("how-to-read", "An evening"),
    "prerequisites": ("how-to-read", "needs"),
    "lesson plan": ("teaching", "Six lessons"),
    "course": ("teaching", "lesson"),
    "__shfl_down_sync": ("36_work_together", "warp"),
}


DONE = "/found/.test(document.querySelector('#search-results > p')?.innerText)"
FIND = """query => Search.find(query).hits.slice(0, 3)
    .map(({ section }) => `${section.page}#${section.anchor}`)"""


@pytest.fixture(scope="module")
def find(browser, addresses):
    """Return a function: the places of the first three hits for a query."""
    page = browser.new_page()
    page.goto(f"{addresses('built')}/search.html?q=x")
    page.wait_for_function("/found/i.test(document.querySelector('#search-results').innerText)")
    yield lambda query: page.evaluate(FIND, query)
    page.close()


@pytest.mark.parametrize("query", EXPLAINED)
def test_the_search_leads_to_the_place_that_explains(site, find, query):
    name, text = EXPLAINED[query]
    (place,) = [place for place in find(query) if f"/{name}#" in f"/{place}"][:1]
    page, _, section = place.partition("#")
    found = soup(site / f"{page}.html").find(id=section)
    if found.name == "dt":
        assert text in found.find_next_sibling("dd").get_text()
    else:
        assert found.name == "section" and text in found.get_text()


def sections():
    """Return [(heading, the programs under it)] of the page of messages."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if title := re.fullmatch("###? (.*)", line):
            found.append((title[1].replace("`", ""), []))
        if program := re.fullmatch(r"```\{include\} generated/wrong/(\w+)\.md", line):
            found[-1][1].append(program[1])
    return found


def anchor(heading):
    """Return the id of a heading, as docutils makes it."""
    return re.sub("[^a-z0-9]+", "-", heading.lower()).strip("-")


PASTED = [  # what was really said, with the heading it belongs to
    (heading, name, said)
    for heading, names in sections()
    for name in names
    for said in [
        wrong_page.text((stored or {"said": {}})["said"][name]["wrong"])
        for stored in map(evidence.load, wrong_page.NAMES.values())
        if name in (stored or {"said": {}})["said"]
    ]
]
MESSAGES = [heading for heading, _ in sections()]


@pytest.mark.parametrize("heading", MESSAGES)
def test_a_message_leads_to_its_heading(site, find, heading):
    assert f"{WRONG}#{anchor(heading)}" in find(heading)


@pytest.mark.parametrize("name", wrong_page.standin())
def test_a_message_of_the_stand_in_leads_to_its_cure(site, find, name):
    said = wrong_page.standin()[name]["wrong"]
    if not (said["error"] or said["warned"]):
        return  # what it prints is no message
    (heading,) = [heading for heading, names in sections() if name in names]
    assert f"{WRONG}#{anchor(heading)}" in find(said["error"] or said["warned"])


@pytest.mark.parametrize("heading, name, said", PASTED, ids=[name for _, name, _ in PASTED])
def test_a_recorded_message_pasted_whole_leads_to_its_cure(site, find, heading, name, said):
    if wrong.GPU in wrong.PROGRAMS[name] and "Error" not in said and "Exception" not in said:
        return  # what it prints is no message
    assert f"{WRONG}#{anchor(heading)}" in find(said)


def test_a_hit_opens_where_the_words_stand(site, reader):
    visit = reader(viewport={"width": 1280, "height": 800})
    page = visit.open("search.html?q=decoupled+look-back")
    page.wait_for_function(DONE)
    page.click("#search-results li a[href*=look-back]")
    page.wait_for_url("**#*")
    page.wait_for_function("scrollY > 1000")
    place = page.evaluate("document.querySelector(':target').getBoundingClientRect().top")
    assert -5 < place < 300
    assert visit.complaints == []


# Of a word far below its heading, the text around it, and whether that is in the window.
SEEN = """word => {
  const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.toLowerCase().includes(word)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.height && box.bottom > 0 && box.top < innerHeight) return true;
  }
  return false;
}"""


@pytest.mark.parametrize(
    "query, place",
    [
        ("spill", "xray.html#registers-without-a-gpu"),
        ("volatile", "36_work_together.html#one-pass-look-back"),
        ("volatile", "xray.html#what-counts-as-a-race"),
        ("little's law", "37_pace.html#bytes-in-flight"),
    ],
)
def test_in_a_long_section_it_goes_on_to_the_words(site, reader, query, place):
    visit = reader(viewport={"width": 1280, "height": 600})
    page = visit.open(f"search.html?q={quote(query)}")
    page.wait_for_function(DONE)
    page.click(f"#search-results li a[href$='{place}']")
    page.wait_for_selector("article h1")
    page.wait_for_function(SEEN, arg=query.split("'")[0])
    assert page.url.endswith(place)


@pytest.mark.parametrize("query", ["", "   ", "?!"])
def test_a_search_for_nothing_says_so_and_fetches_nothing(site, reader, query):
    visit = reader()
    asked = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open(f"search.html?q={quote(query)}")
    page.wait_for_selector("#search-results .elsewhere a")
    assert [url for url in asked if "searchindex" in url] == []
    assert "paste an error message" in page.inner_text("#search-results")
    assert visit.complaints == []


@pytest.mark.parametrize("query", ["qzxwvk", "<img src=x onerror=alert(1)>qzxwvk", "q" * 4000])
def test_an_unknown_message_is_answered_with_where_to_look(site, reader, query):
    visit = reader()
    page = visit.open("search.html")
    page.fill(".bd-search-container input[type=search]", query)
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results .elsewhere a, #search-results li a")
    links = page.eval_on_selector_all("#search-results a", "all => all.map(a => a.href)")
    assert any(WRONG in link for link in links) or "img" in query
    assert page.locator("#search-results img").count() == 0
    assert visit.complaints == []


def test_without_javascript_the_search_leads_on(site, browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/search.html?q=error")
    links = page.eval_on_selector_all(
        ".bd-search-container noscript a", "all => all.map(a => a.getAttribute('href'))"
    )
    assert page.locator(".bd-search-container a:visible").count() == len(links) == 4
    assert all((site / link).is_file() for link in links)
    page.goto(f"{address}/{CHAPTERS[0]}.html")
    page.click("p.stuck a")
    assert page.url.endswith(f"{WRONG}.html") and page.locator("article h1").is_visible()
    context.close()


BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name,
        { configurable: true, get() { throw new DOMException("no", "SecurityError") } })"""


def test_a_browser_that_blocks_storage_searches_and_has_its_colours(site, reader):
    visit = reader(color_scheme="dark")
    visit.page.add_init_script(BLOCKED)
    errors = []
    visit.page.on("pageerror", lambda error: errors.append(str(error)))
    page = visit.open("search.html?q=barrier")
    page.wait_for_selector("#search-results li a")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("#search-results li a >> nth=0")
    page.wait_for_selector("article h1")
    assert errors == []


def test_the_index_cannot_be_fetched_and_the_page_says_so(site, reader):
    visit = reader()
    visit.page.route("**/searchindex.js", lambda route: route.abort())
    page = visit.open("search.html?q=warp")
    page.wait_for_function("/could not be fetched/.test(document.body.innerText)")


def test_the_search_works_on_a_site_opened_from_a_folder(site, browser):
    page = browser.new_page()
    page.goto(f"file://{site}/search.html?q=warp")
    page.wait_for_selector("#search-results li a")
    page.click("#search-results li a >> nth=0")
    page.wait_for_selector("article h1")
    page.close()


def test_the_glass_is_not_drawn_over_the_words(site, reader):
    page = reader().open("search.html?q=warp")
    glass, begin = page.evaluate(
        """() => { const field = document.querySelector(".bd-search-container input[type=search]");
        const [glass, box] = [field.form.querySelector("i"), field].map(
            (e) => e.getBoundingClientRect());
        return [glass.right, box.left + parseFloat(getComputedStyle(field).paddingLeft)] }"""
    )
    assert glass < begin < glass + 40


def index(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.take(").rstrip().removesuffix(");"))["sections"]


def test_the_index_has_every_page_and_nothing_of_what_is_hidden(site):
    found = index(site)
    pages = {row[0] for row in found}
    assert set(CHAPTERS) <= pages and {WRONG, "book/setup"} <= pages
    titles = {row[2] for row in found}
    assert "Receipt" not in titles and "coalescing" in titles
    said = " ".join(" ".join(row[4:6]) for row in found)
    for hidden in ("facecolor", "set_xtick", "Setup, the same in every chapter", "ARCHIVE_LINE"):
        assert hidden not in said
    assert "atomicAdd" in said and "__syncthreads" in said
    for page, anchor, *_ in found[::7]:
        assert f'id="{anchor}"' in (site / f"{page}.html").read_text(encoding="utf-8")


def test_a_name_for_what_is_no_section_stops_the_build(site, monkeypatch):
    monkeypatch.syspath_prepend(str(PAGE.parent / "_ext"))
    import sections
    from sphinx.errors import ExtensionError

    monkeypatch.setattr(sections.glossary, "explained", lambda app: {})
    found = sections.Index(None)
    found.pages = {"book/a": [("here", "Here", ("A",), "some text", "names")]}
    found.words = {"called": {"book/a#here": ["this", "that"]}, "synonyms": {}}
    found.words["last"] = {"left out": [], "sections": {"Here": 0.5}, "pages": {}}
    assert '["book/a","here","Here","A","some text","names","this; that",0.5]' in found.write()
    found.words["called"] = {"book/a#gone": ["this"]}
    with pytest.raises(ExtensionError, match="no section: .'book/a#gone'."):
        found.write()


def test_the_index_is_light(site):
    import gzip

    assert len(gzip.compress((site / "searchindex.js").read_bytes())) < 300_000
