"""The figures one can touch: what they are made from, and their pictures for paper.

python -m helpers.press.figures              draw book/figures/touch-<name>.svg anew, each figure as
                                             it starts; needs Chromium and the extra `test`
python -m helpers.press.figures --ceilings   print what the roofline is drawn from, as JSON

A page shows the picture where there is no script: on paper, in Jupyter, on Colab and GitHub.
"""

import argparse
import json
import os
import re
import shutil
import sys

from bs4 import BeautifulSoup

from helpers.press import notebook

SCRIPTS = notebook.BOOK / "book" / "_static" / "figures"
PICTURES = notebook.BOOK / "book" / "figures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
UNITS = {"M": 1e6, "G": 1e9, "T": 1e12}

# Where the chapters show how fast the GPU they were recorded on can be: a line with the copy's
# rate, "copy: 4.223 TB/s on …", and a table with the products', a row each, the rate in the last
# column.
COPY, PRODUCTS = "30_elementwise_kernel", "10_matmul_kernel"


def _outputs(stem, kind):
    """Return the outputs of a kind that the chapter `stem` stores, as text, and its GPU."""
    book = notebook.read(notebook.NOTEBOOKS / f"{stem}.ipynb")
    outputs = (output for cell in notebook.code_cells(book) for output in cell.outputs)
    found = (x.get("text") if kind == "stream" else x.get("data", {}).get(kind) for x in outputs)
    return [text for text in found if text], book.metadata.receipt["gpu"]


def _copy():
    """Return the rate of the copy in bytes a second, and the GPU."""
    texts, gpu = _outputs(COPY, "stream")
    for line in "".join(texts).splitlines():
        match line.split():
            case ["copy:", number, unit, "on", *_]:
                return float(number) * UNITS[unit.removesuffix("B/s")], gpu
    raise ValueError(f"{COPY} stores no line of a copy, where the roofline's ceiling was")


def _product(kind):
    """Return the rate of cuBLAS's product of a type, operations a second, and the GPU."""
    texts, gpu = _outputs(PRODUCTS, "text/html")
    for row in BeautifulSoup("".join(texts), "html.parser").find_all("tr"):
        match [cell.get_text(strip=True) for cell in row.find_all("td")]:
            case [name, *_, rate] if name == f"cuBLAS, {kind}":
                number, unit = rate.split()
                return float(number) * UNITS[unit.removesuffix("FLOP/s")], gpu
    raise ValueError(f"{PRODUCTS} has no row of cuBLAS, {kind}, where the roofline's ceiling was")


def ceilings():
    """Return the recorded GPU's ceilings, one for float32 and one for float64.

    Each is a dictionary of gpu, type, bandwidth (of a copy, bytes a second) and peak (of the best
    matrix product, operations a second), read from the stored outputs of the chapters. ValueError
    where they are not found, or come from two GPUs.
    """
    found = []
    for kind in ("float32", "float64"):
        (bandwidth, gpu), (peak, other) = _copy(), _product(kind)
        if gpu != other:
            raise ValueError(f"{COPY} was recorded on {gpu}, but {PRODUCTS} on {other}")
        found.append({"gpu": gpu, "type": kind, "bandwidth": bandwidth, "peak": peak})
    return found


def scripts():
    """Return the scripts in the order in which a page loads them: the common one, then figures."""
    common = SCRIPTS / "touch.js"
    return [common, *sorted(path for path in SCRIPTS.glob("*.js") if path != common)]


def load(page):
    """Load the figures into the browser's `page`, as a page of the site does."""
    page.evaluate("ceilings => { window.touchCeilings = ceilings }", ceilings())
    for script in scripts():
        page.add_script_tag(path=script)


def draw(page):
    """Return {name: SVG text} of all figures as they start, in the colours of paper.

    `page` is a page in a browser of Playwright's, into which load() has put the figures.
    """
    drawn = page.evaluate(
        "() => Object.fromEntries(Object.entries(touch.figures).map("
        "([name, figure]) => [name, figure.draw(touch.fit(figure, touch.start(figure)))]))"
    )
    css = (SCRIPTS / "touch.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"(--tf-\w+): (#\w+);", css[: css.index("}")]))
    return {name: _on_paper(svg, light) for name, svg in sorted(drawn.items())}


def _on_paper(svg, colours):
    """Fix the colours and the size of a drawing, and leave out what is only there to be touched."""
    lines = [line for line in svg.split("\n") if 'fill="transparent"' not in line]
    svg = re.sub(r' data-at="[^"]*"| pointer-events="none"', "", "\n".join(lines))
    svg = re.sub(r"var\((--tf-\w+)\)", lambda found: colours[found[1]], svg)
    width, height = (float(n) for n in re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    svg = svg.replace("<svg ", f'<svg width="{2 * width:g}" height="{2 * height:g}" ', 1)
    ground = f'\n<rect width="{width:g}" height="{height:g}" fill="{colours["--tf-ground"]}"/>\n'
    return svg.replace("\n", ground, 1) + "\n"


def main(arguments=None):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser("python -m helpers.press.figures")
    parser.add_argument("--ceilings", action="store_true", help="print the roofline's, as JSON")
    options = parser.parse_args(arguments)
    if options.ceilings:
        print(json.dumps(ceilings()))
        return 0
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        print("figures: no Chromium on the PATH, and CHROMIUM names none", file=sys.stderr)
        return 1
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        load(page)
        for name, svg in draw(page).items():
            path = PICTURES / f"touch-{name}.svg"
            path.write_text(svg, encoding="utf-8")
            print(path)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
