"""The picture on the first page: one step of a network, four programs, and what lies between them.

python -m helpers.press.hero    write book/hero-light.svg, hero-dark.svg and hero.png from the
                                results of the GPU that the book was recorded on
"""

import math
from html import escape
from pathlib import Path

from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from helpers.press import notebook, results

FOLDER = notebook.BOOK / "book"
WIDTH, HEIGHT = 420, 276
# The colours of a theme; "site" takes those of the page that the picture stands in.
PALETTES = {
    "light": {"text": "#22303c", "quiet": "#56626e", "slow": "#8593a0", "fast": "#0072B2"},
    "dark": {"text": "#e8edf2", "quiet": "#a9b4be", "slow": "#75828e", "fast": "#56B4E9"},
    "site": {name: f"var(--hero-{name})" for name in ("text", "quiet", "slow", "fast")},
}
LEFT, RIGHT, LOWEST, HIGHEST = 4, 330, 1, 2e4  # of the axis: pixels, and microseconds


def rungs(entries):
    """Return the ladder: (what it is, microseconds a step, its chapter), and its last gain.

    `entries` are headlines, each of its own chapter's run; the gain is against the loop of 40.
    """
    found = {entry["name"]: entry["value"] for entry in entries}
    loop, fast = found["oja.source_step_us_2000"], found["oja.fast_step_us_2000"]
    steps = [
        ("the best NumPy, on the CPU", found["oja.gpu_vs_numpy_2000"] * loop, 40),
        ("a CuPy kernel a step", loop, 40),
        ("one pass, in a CUDA graph", found["oja.graph_step_us_2000"], 45),
        ("one launch, the matrix on the chip", fast, 47),
    ]
    return steps, loop / fast


def time(microseconds):
    """Write a time with its unit, two or three digits."""
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.3g} µs"


def alternative(entries):
    """Return the picture in one sentence."""
    steps, gain = rungs(entries)
    times = "; ".join(f"{what} {time(us)}" for what, us, _ in steps)
    return (
        f"Time of one step of a learning network of 2,000 neurons: {times}. The last is"
        f" {gain:.0f} times as fast as the CuPy loop. The times are of three chapters, each from"
        " its own run."
    )


def shapes(entries, gpu):
    """Yield the parts of the picture: ("bar", x, y, w, h, colour) or

    ("text", x, y, size, bold, colour, text); a text's y is that of its foot.
    """
    steps, gain = rungs(entries)
    yield "text", LEFT, 18, 15, True, "text", "One step of a network of 2,000 neurons"
    scale = (RIGHT - LEFT) / math.log10(HIGHEST / LOWEST)
    for k, (what, us, chapter) in enumerate(steps):
        top, colour = 32 + 48 * k, "fast" if k == len(steps) - 1 else "slow"
        width = scale * math.log10(us / LOWEST)
        yield "text", LEFT, top + 13, 13.5, False, "text", f"{chapter} · {what}"
        yield "bar", LEFT, top + 19, width, 17, colour
        yield "text", LEFT + width + 7, top + 33, 14, True, "text", time(us)
    yield "text", 276, 116, 32, True, "fast", f"{gain:.0f} ×"
    yield "text", 276, 135, 13, False, "text", "as fast as the loop"
    yield "text", 276, 151, 13, False, "text", "that it started from"
    foot = f"Same result, to rounding. Logarithmic. {gpu}."
    yield "text", LEFT, HEIGHT - 30, 12.5, False, "quiet", foot
    whose = "The times are of three chapters, each from its own run."
    yield "text", LEFT, HEIGHT - 13, 12.5, False, "quiet", whose


def svg(entries, gpu, palette):
    """Return the picture as SVG in the colours of one palette."""
    colours, parts = PALETTES[palette], []
    for kind, x, y, *rest in shapes(entries, gpu):
        if kind == "bar":
            w, h, colour = rest
            at = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h}" rx="3"'
            parts.append(f'<rect {at} fill="{colours[colour]}"/>')
        else:
            size, bold, colour, text = rest
            weight = ' font-weight="700"' if bold else ""
            at = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}"{weight}'
            parts.append(f'<text {at} fill="{colours[colour]}">{escape(text)}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" font-family="system-ui, sans-serif">'
    )
    title = f"<title>{escape(alternative(entries))}</title>"
    return "\n".join([head, title, *parts, "</svg>"]) + "\n"


def png(entries, gpu, path):
    """Write the picture to `path` as other sites show it beside a link: 1200 by 630 pixels."""
    colours, scale = PALETTES["light"], 2
    image = Image.new("RGB", (1200, 630), "white")
    pen = ImageDraw.Draw(image)

    def font(size, bold):
        weight = "bold" if bold else "normal"
        style = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
        found = font_manager.findfont(style)
        return ImageFont.truetype(found, size)

    pen.text((60, 74), "From Kernel to Network", colours["text"], font(48, True), "ls")
    for kind, x, y, *rest in shapes(entries, gpu):
        x, y = 60 + scale * x, 84 + scale * (y - 4) * 0.97
        if kind == "bar":
            w, h, colour = rest
            pen.rectangle((x, y, x + scale * w, y + scale * h * 0.97), colours[colour])
        else:
            size, bold, colour, text = rest
            pen.text((x, y), text, colours[colour], font(0.9 * scale * size, bold), "ls")
    image.quantize(16).save(path, optimize=True, bits=4)


def recorded():
    """Return the headlines of the GPU that the book was recorded on, and its name."""
    book = notebook.read(notebook.paths([notebook.BOOK / "notebooks"])[0])
    facts, entries = results.load(results.file(book.metadata["receipt"]["gpu"], FOLDER / "results"))
    return entries, facts["gpu"]


def write(folder=FOLDER):
    """Write the pictures to `folder`; return their paths."""
    entries, gpu = recorded()
    written = []
    for palette in ("light", "dark"):
        path = Path(folder) / f"hero-{palette}.svg"
        path.write_text(svg(entries, gpu, palette), encoding="utf-8")
        written.append(path)
    png(entries, gpu, Path(folder) / "hero.png")
    return [*written, Path(folder) / "hero.png"]


if __name__ == "__main__":
    for path in write():
        print(path)
