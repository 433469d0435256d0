"""Draw the landing page's picture, the road from one thread to many GPUs, for light and dark.

    python book/figures/road.py

writes road-light.svg and road-dark.svg beside this file.
"""

import math
from pathlib import Path

WIDTH, HEIGHT = 680, 420
BLUE, ORANGE, GREEN, RED, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
PALETTES = {
    "light": {"text": "#22303c", "line": "#7a8794", "road": "#e6ebf0", "card": "#ffffff"},
    "dark": {"text": "#e8edf2", "line": "#93a1ae", "road": "#313a44", "card": "#1d242b"},
}


def rect(x, y, w, h, fill, stroke="none", r=2):
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{r}"'
        f' fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'
    )


def dot(x, y, r, fill):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{fill}"/>'


def line(x1, y1, x2, y2, stroke, width=1.5):
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        f' stroke="{stroke}" stroke-width="{width}"/>'
    )


def matrix(x, y, n, size, colour, empty):
    """An n by n matrix centred on (x, y); colour(i, j) is a fill or None."""
    left, top = x - n * size / 2, y - n * size / 2
    return [
        rect(left + j * size, top + i * size, size - 2, size - 2, colour(i, j) or empty)
        for i in range(n)
        for j in range(n)
    ]


def one_thread(x, y, c):
    """One element of the product: a row, a column, and the place where they meet."""
    pick = {True: BLUE, False: None}
    parts = matrix(x - 21, y + 21, 4, 10, lambda i, j: pick[i == 2], c["road"])
    parts += matrix(x + 23, y - 23, 4, 10, lambda i, j: pick[j == 1], c["road"])
    return parts + matrix(
        x + 23, y + 21, 4, 10, lambda i, j: ORANGE if (i, j) == (2, 1) else None, c["road"]
    )


def many_threads(x, y, c):
    """A grid of blocks of threads."""
    parts = []
    for block, colour in enumerate((BLUE, ORANGE, GREEN, PURPLE)):
        left, top = x - 42 + 43 * (block % 2), y - 42 + 43 * (block // 2)
        parts.append(rect(left, top, 40, 40, "none", c["line"], r=5))
        parts += [
            dot(left + 8 + 8 * (k % 4), top + 8 + 8 * (k // 4), 2.6, colour) for k in range(16)
        ]
    return parts


def arrays(x, y, c):
    """z = x + 2 * y, element by element."""
    parts = []
    for row, colour in enumerate((BLUE, GREEN, ORANGE)):
        top = y - 40 + 31 * row
        parts += [rect(x - 42 + 14.5 * k, top, 11.5, 18, colour) for k in range(6)]
    for top in (y - 20, y + 11):
        left = [x - 36 + 14.5 * k for k in range(6)]
        parts += [line(px, top, px, top + 9, c["line"]) for px in left]
    return parts


def reservoir(x, y, c):
    """Neurons that feed each other."""
    at = [
        (x + 38 * math.cos(k * math.tau / 8), y + 38 * math.sin(k * math.tau / 8)) for k in range(8)
    ]
    links = [(0, 3), (1, 4), (2, 7), (3, 6), (5, 1), (6, 2), (7, 4), (0, 5), (4, 5), (1, 2), (6, 7)]
    return [line(*at[a], *at[b], c["line"], 1.2) for a, b in links] + [
        dot(px, py, 7, (GREEN, BLUE)[k % 2]) for k, (px, py) in enumerate(at)
    ]


def network(x, y, c):
    """Layers, each joined to the next."""
    layers = [(x - 40, 4, BLUE), (x, 5, ORANGE), (x + 40, 3, GREEN)]
    at = [[(lx, y + 20 * (k - (n - 1) / 2)) for k in range(n)] for lx, n, _ in layers]
    parts = [
        line(*a, *b, c["line"], 0.8)
        for left, right in zip(at, at[1:], strict=False)
        for a in left
        for b in right
    ]
    return parts + [
        dot(*place, 6.5, colour)
        for places, (_, _, colour) in zip(at, layers, strict=True)
        for place in places
    ]


def many_gpus(x, y, c):
    """Four chips that talk to each other."""
    at = [(x - 27, y - 25), (x + 27, y - 25), (x - 27, y + 25), (x + 27, y + 25)]
    parts = [line(*a, *b, c["line"]) for k, a in enumerate(at) for b in at[k + 1 :]]
    for px, py in at:
        parts += [rect(px - 17, py - 15, 34, 30, c["card"], c["line"], r=4)]
        parts += matrix(px, py, 3, 8, lambda i, j: RED, RED)
    return parts


STOPS = [
    ("One thread", one_thread),
    ("Many threads", many_threads),
    ("Whole arrays", arrays),
    ("A reservoir", reservoir),
    ("A network", network),
    ("Many GPUs", many_gpus),
]
PLACES = [(110, 95), (330, 95), (550, 95), (550, 305), (330, 305), (110, 305)]
ROAD = "M 0 95 H 545 C 680 95 680 305 545 305 H 0"


def draw(palette):
    """Return the picture as SVG text, in the colours of one palette."""
    c = PALETTES[palette]
    parts = [
        f'<path d="{ROAD}" fill="none" stroke="{c["road"]}" stroke-width="30"/>',
        f'<path d="{ROAD}" fill="none" stroke="{c["line"]}" stroke-dasharray="9 9"/>',
    ]
    for number, ((x, y), (label, picture)) in enumerate(zip(PLACES, STOPS, strict=True), start=1):
        parts.append(rect(x - 68, y - 68, 136, 136, c["card"], c["line"], r=12))
        parts += picture(x, y, c)
        parts.append(
            f'<text x="{x}" y="{y + 93}" text-anchor="middle" font-family="system-ui, sans-serif"'
            f' font-size="19" fill="{c["text"]}">{number}. {label}</text>'
        )
    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>\n' + "\n".join(parts) + "\n</svg>\n"


if __name__ == "__main__":
    for name in PALETTES:
        Path(__file__).with_name(f"road-{name}.svg").write_text(draw(name), encoding="utf-8")
