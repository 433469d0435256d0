"""What a page weighs, and how long it takes to load on a telephone.

python tests/site/weigh.py           weigh the pages of the built site, and print a table
python tests/site/weigh.py --store   and write it into tests/site/weights.json

A page is loaded as on a slow line: 1.6 Mbit/s, 150 ms for an answer, a processor four times slower
than the one at hand, gzip, nothing in the cache. The times depend on the machine; the weights, the
stops of the tab key and the shifts do not.
"""

import argparse
import contextlib
import functools
import gzip
import http.server
import json
import platform
import sys
import threading
from pathlib import Path

HERE = Path(__file__).parent
STORED = HERE / "weights.json"
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
        content = gzip.compress(path.read_bytes(), 6, mtime=0)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def serve(folder):
    """Serve `folder` from this machine; yield the address."""
    handler = functools.partial(Zipped, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def weigh(browser, url, slow=True):
    """Load the page at `url` as on a telephone and read it to its end; return what it took.

    kB (gzipped, of 1,000 bytes, all that a reader of the whole page loads), requests, seconds until
    the text is painted, until the page is usable (its scripts have run, but for the formulas',
    which nothing waits for) and until all is loaded and the formulas are set, the shift of the
    layout, and the stops of the tab key before the first exercise.
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
    formulas = page.evaluate(
        "(async () => { await window.MathJax?.startup?.promise; return performance.now(); })()"
    )
    painted, usable = page.evaluate(
        "[seen.painted, performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]"
    )
    if slow:
        wire.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        wire.send(
            "Network.emulateNetworkConditions",
            {**LINE, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    height = page.evaluate("document.documentElement.scrollHeight")
    for y in range(0, height, 600):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(20)
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
        "formulas_s": round(formulas / 1000, 2),
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
    parser.add_argument("--store", action="store_true", help="write weights.json")
    parser.add_argument("--site", type=Path, default=SITE, help="another built site's folder")
    options = parser.parse_args(arguments)
    pages = ["book/index", *CHAPTERS]
    with sync_playwright() as p, serve(options.site) as address:
        browser = p.chromium.launch(executable_path=chromium(), args=FLAGS)
        found = {}
        for name in pages:
            found[name] = weigh(browser, f"{address}/{name}.html")
            print(name, found[name], flush=True)
        facts = {"browser": browser.version, "processor": platform.machine(), "line": LINE}
        browser.close()
    if options.store:
        stored = facts | {"times slower": SLOWER, "pages": found}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
