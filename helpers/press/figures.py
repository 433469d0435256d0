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

from helpers.press import notebook

SCRIPTS = notebook.BOOK / "book" / "_static" / "figures"
PICTURES = notebook.BOOK / "book" / "figures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
UNITS = {"M": 1e6, "G": 1e9, "T": 1e12}

# Where the chapters say how fast the GPU they were recorded on can be.
COPY = ("30_elementwise_kernel", r"^copy: ([\d.]+) ([MGT])B/s on ")
PRODUCT = ("10_matmul_kernel", r"^cuBLAS, {type} .* ([\d.]+) ([MGT])FLOP/s *$")


def _stored(stem, pattern):
    """Return the rate that `pattern` finds in the outputs of the chapter `stem`, and its GPU."""
    book = notebook.read(notebook.NOTEBOOKS / f"{stem}.ipynb")
    for cell in notebook.code_cells(book):
        for output in cell.outputs:
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            if found := re.search(pattern, text, re.M):
                return float(found[1]) * UNITS[found[2]], book.metadata.receipt["gpu"]
    raise ValueError(f"{stem} stores no output like {pattern!r}, where the roofline's ceiling was")


def ceilings():
    """Return the recorded GPU's ceilings, one for float32 and one for float64.

    Each is a dictionary of gpu, type, bandwidth (of a copy, bytes a second) and peak (of the best
    matrix product, operations a second), read from the stored outputs of the chapters. ValueError
    where they are not found, or come from two GPUs.
    """
    found = []
    for kind in ("float32", "float64"):
        bandwidth, gpu = _stored(*COPY)
        peak, other = _stored(PRODUCT[0], PRODUCT[1].format(type=kind))
        if gpu != other:
            raise ValueError(f"{COPY[0]} was recorded on {gpu}, but {PRODUCT[0]} on {other}")
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
