"""A page as a reader sees it: opened once on a screen, and all that the tests ask of it noted.

The views are those that differ. A desktop shows all there is; in the dark, which comes while the
page is open, colours differ alone. A phone has another layout, in which something may be too wide,
but no colour of its own. A published copy differs from the built one in its header alone (the
buttons that need an address), which is the same in all chapters and has least room on a phone.
axe-core takes longer than all else, so here it looks at a page of each kind, and in the long part
at every page, also at those opened in the dark.
"""

import time

from axe_playwright_python.sync_playwright import Axe

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
VIEWS = {  # name: the copy of the site, the options of a Playwright context
    "light": ("built", {"color_scheme": "light", **DESKTOP}),
    "dark": ("built", {"color_scheme": "dark", **DESKTOP}),
    "phone": ("built", {"color_scheme": "light", **PHONE}),
    "published": ("published", {"color_scheme": "light", **PHONE}),
}
PATIENCE = 30  # seconds for all that was asked for to come

# What can be noted of a page without touching it.
LOOK = """async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  await Promise.allSettled([...document.images].map(i => ((i.loading = 'eager'), i.decode())));
  await document.fonts.ready;
  const grounds = new Map();
  const ground = (e) => {
    if (!e) return 'rgb(255, 255, 255)';  // the paper itself
    if (!grounds.has(e)) {
      const colour = getComputedStyle(e).backgroundColor;
      grounds.set(e, /, 0\\)$/.test(colour) ? ground(e.parentElement) : colour);
    }
    return grounds.get(e);
  };
  const tokens = {};  // class, colour and ground of each kind of token on each ground
  for (const e of all('article .highlight pre span[class]')) {
    const kind = e.className + ground(e.parentElement);
    if (!(kind in tokens) && e.textContent.trim())
      tokens[kind] = [e.className, getComputedStyle(e).color, ground(e)];
  }
  return {
    theme: document.documentElement.dataset.theme,
    width: document.documentElement.scrollWidth,
    lost: all('img').filter(i => i.checkVisibility() && !(i.complete && i.naturalWidth))
      .map(i => i.src),
    wrong: all('math').map(e => e.textContent).filter(text => /\\\\|\\$/.test(text)),
    cut: all('math[display=block]').filter(
        e => e.firstElementChild.getBoundingClientRect().width > e.parentElement.clientWidth + 1)
      .map(e => e.closest('section').id),
    formulas: [all('.math').length, all('.math > math > mrow').length],
    icons: all('.fa-solid, .fas').filter(e => e.checkVisibility()).map(
      e => [getComputedStyle(e, '::before').content, e.getBoundingClientRect().width]),
    fonts: [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family),
    pictures: all('.cell_output img').map(i => [i.getAttribute('width'), i.naturalWidth]),
    grounds: all('.cell_output img').map(
      i => [getComputedStyle(i).backgroundColor, getComputedStyle(i).filter]),
    boxes: all('.progress-done input').map(box => box.name),
    marks: all('.progress-mark').length,
    stored: Object.keys(localStorage),
    tokens: Object.values(tokens),
  };
}"""
# For each solution, whether its code is seen before and after a press on it.
SOLUTIONS = """() => [...document.querySelectorAll('.cell.tag_solution')].map(cell => {
  const seen = () => cell.querySelector('.cell_input').checkVisibility();
  const before = seen();
  cell.querySelector('summary').click();
  return [before, seen()];
})"""
STILL = "document.getAnimations().every(animation => animation.playState !== 'running')"
# A token of code is a span. Their colours are in LOOK, each kind once; for axe-core, which takes
# half a minute for a page with tens of thousands, code becomes plain text.
PLAIN_CODE = (
    "document.querySelectorAll('.highlight pre').forEach(e => e.textContent = e.textContent)"
)


class Reader:
    """A browser page that notes what a reader should never meet."""

    def __init__(self, context, address):
        self.address = address
        self.context = context
        self.page = context.new_page()
        self.complaints = []
        self.awaited = set()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("requestfinished", lambda request: self.awaited.discard(request))
        self.page.on("request", self._request)
        self.page.on("response", self._response)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        self.awaited.add(request)
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.complaints.append(f"request to another host: {request.url}")

    def _failed(self, request):
        self.awaited.discard(request)
        # A picture that was still on its way when the reader left the page is no fault of the site.
        # The icon of the site is of the type "other".
        picture = request.resource_type in ("image", "other")
        left = picture and request.failure == "net::ERR_ABORTED"
        if not left:
            self.complaints.append(f"request failed: {request.failure}: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.complaints.append(f"status {response.status}: {response.url}")

    def open(self, path):
        """Open a page of the site; wait until its scripts have run."""
        self.awaited.clear()
        self.page.goto(f"{self.address}/{path}", wait_until="load")
        self.settle()
        return self.page

    def settle(self):
        """Wait until all that was asked for has come; say what has not."""
        end = time.monotonic() + PATIENCE
        while self.awaited and time.monotonic() < end:
            self.page.wait_for_timeout(5)  # lets the events in
        self.complaints += [f"never answered: {request.url}" for request in self.awaited]


class Eyes:
    """Opens a page once in a view, and keeps what was seen."""

    def __init__(self, browser, addresses):
        self.browser, self.addresses = browser, addresses
        self.visits, self.kept = {}, {}

    def seen(self, view, name, axe=False):
        """Return what was seen on the page `name` in a view, a dictionary; with `axe`, by axe-core
        too, on a page that was opened in that view."""
        key = view, name, axe
        if key not in self.kept:
            try:
                if (view, axe) == ("dark", False):
                    self.seen("light", name)
                else:
                    self.kept[key] = self._look(view, name, axe)
            except Exception as error:  # not to be waited for by each test again
                self.kept[key] = error
        if isinstance(self.kept[key], Exception):
            raise self.kept[key]
        return self.kept[key]

    def _look(self, view, name, axe):
        """Go to the page in the window of that view, and look.

        A page leaves nothing to the next; to open a window takes as long as to open a page.
        """
        site, options = VIEWS[view]
        if view not in self.visits:
            context = self.browser.new_context(**options)
            self.visits[view] = Reader(context, self.addresses(site))
        visit = self.visits[view]
        visit.complaints.clear()
        page = visit.open(name)
        found = page.evaluate(LOOK)
        visit.settle()
        found["complaints"] = list(visit.complaints)  # axe-core makes requests of its own
        if view == "light" and not axe:
            self.kept["dark", name, False] = self._turned(visit, "dark")
            self._turned(visit, "light")
            found["solutions"] = page.evaluate(SOLUTIONS)
        if axe:
            page.evaluate(SOLUTIONS)
            page.wait_for_function(STILL)  # what was opened fades in
            page.evaluate(PLAIN_CODE)
            found["axe"] = inaccessible(page)
        return found

    def _turned(self, visit, scheme):
        """Look at the open page again when the system has turned dark, or light."""
        visit.page.emulate_media(color_scheme=scheme)
        visit.page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        visit.page.wait_for_function(STILL)
        found = visit.page.evaluate(LOOK)
        visit.settle()
        return found | {"complaints": list(visit.complaints)}


def inaccessible(page):
    """Return what axe-core finds that is serious or critical."""
    options = {"resultTypes": ["violations"], "preload": False}  # what is right is not described
    return [
        f"{violation['impact']}: {violation['help']}: {node['html'][:200]}"
        for violation in Axe().run(page, options=options).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
