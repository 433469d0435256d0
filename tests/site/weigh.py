"""What a page weighs, and how long it takes to load on a telephone.

python tests/site/weigh.py           weigh the pages of the built site, and print a table
python tests/site/weigh.py --store   and write it into the evidence "page_weights"

A page is loaded as on a slow line: 1.6 Mbit/s, 150 ms for an answer, a processor four times slower
than the one at hand, gzip, nothing in the cache. The times depend on the machine; the weights, the
stops of the tab key and the shifts do not.
"""

import argparse
import contextlib
import functools
import gzip
import http.server
import sys
import threading
from pathlib import Path

from helpers.press import evidence

# What all pages load, and what makes them so. The weights of today's pages, a sentence more and a
# figure less, are compared with what is stored by a test of their own.
ABOUT = ["_config.yml", "book/_ext/*.py", "book/_static/**/*"]
TEXT = {".html", ".css", ".js", ".svg", ".json", ".xml"}
LINE = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 9.4e4}
SLOWER = 4
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

# Runs in the page before anything else: when the text was painted, how far the layout moved.
WATCH = """
  window.seen = {painted: 0, shift: 0};
  new PerformanceObserver(list => list.getEntries().forEach(e => {
    if (e.name === 'first-contentful-paint') seen.painted = e.startTime;
  })).observe({type: 'paint', buffered: true});
  new PerformanceObserver(list => list.getEntries().forEach(e => {
    if (!e.hadRecentInput) seen.shift += e.value;
  })).observe({type: 'layout-shift', buffered: true});
"""
# Scrolls to the end, no faster than the browser draws: cells are laid out as they come near.
SCROLL = """async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
    scrollTo(0, y);
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  }
}"""
# Opens the answers to questions and loads their pictures, as a reader does.
OPEN = """() => Promise.allSettled([...document.querySelectorAll('.prediction details')]
  .flatMap(d => { d.open = true; return [...d.querySelectorAll('img')]; })
  .map(i => { i.loading = 'eager'; return i.decode(); }))"""
# What the tab key stops at, in the order of the page, until the first exercise or the end.
STOPS = """() => {
  const first = [...document.querySelectorAll('article h2, article h3')]
    .find(h => /^(Exercise|Exercises)\\b/.test(h.textContent));
  const before = e => !first || !!(e.compareDocumentPosition(first) & 4);
  return [...document.querySelectorAll(
      'a[href], button, input, select, summary, audio, video, [tabindex]')]
    .filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({visibilityProperty: true}))
    .filter(before).map(e => e.tagName + '.' + e.className);
}"""


@functools.lru_cache(maxsize=200)
def packed(path, changed):
    """Return the gzipped text of the file at `path`, which was last `changed` at that time."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


class Zipped(http.server.SimpleHTTPRequestHandler):
    """A quiet server of files that packs texts, as the servers of published copies do."""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if path.suffix not in TEXT or not path.is_file():
            super().do_GET()
            return
        content = packed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(http.server.ThreadingHTTPServer):
    """One that does not mind a reader who leaves before all has come."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serve(folder):
    """Serve `folder` from this machine; yield the address."""
    handler = functools.partial(Zipped, directory=folder)
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def weigh(browser, url, slow=True):
    """Load the page at `url` as on a telephone and read it to its end; return what it took.

    kB (gzipped, of 1,000 bytes, all that a reader of the whole page loads), requests, seconds until
    the text is painted, its formulas with it, and until the page is usable (its scripts have run),
    the shift of the layout, and the stops of the tab key before the first exercise.
    """
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.add_init_script(WATCH)
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    sizes = []
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    if slow:
        wire.send("Network.emulateNetworkConditions", LINE)
        wire.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(url, wait_until="load", timeout=120_000)
    painted, usable = page.evaluate(
        "[seen.painted, performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]"
    )
    if slow:
        wire.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        wire.send(
            "Network.emulateNetworkConditions",
            {**LINE, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    page.evaluate(SCROLL)
    page.wait_for_load_state("networkidle")
    shift = page.evaluate("seen.shift")  # what comes now moves everything
    page.evaluate(OPEN)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(700)  # what scrolls at this width is a stop; the theme looks again
    found = {
        "kB": round(sum(sizes) / 1000),
        "requests": len(sizes),
        "painted_s": round(painted / 1000, 2),
        "usable_s": round(usable / 1000, 2),
        "shift": round(shift, 3),
        "stops": len(page.evaluate(STOPS)),
    }
    context.close()
    return found


def main(arguments=None):
    """Run the command line; return the exit status."""
    from conftest import CHAPTERS, FLAGS, SITE, chromium
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python tests/site/weigh.py")
    parser.add_argument("--store", action="store_true", help="store what was found")
    parser.add_argument("--site", type=Path, default=SITE, help="another built site's folder")
    options = parser.parse_args(arguments)
    pages = ["book/index", *CHAPTERS]
    with sync_playwright() as p, serve(options.site) as address:
        browser = p.chromium.launch(executable_path=chromium(), args=FLAGS)
        found = {}
        for name in pages:
            found[name] = weigh(browser, f"{address}/{name}.html")
            print(name, found[name], flush=True)
        facts = evidence.cpu() | {"browser": browser.version}
        browser.close()
    if options.store:
        made = evidence.receipt("python tests/site/weigh.py --store", facts, ABOUT)
        stored = {"line": LINE, "times slower": SLOWER, "pages": found}
        evidence.store("page_weights", stored, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
