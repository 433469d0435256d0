"""Drawings of elements in memory, threads, and what is read or written: squares, circles, arrows.

All is measured in squares; y runs down, as rows do. What is marked has a thick outline too, and the
tints of rows differ in grey as well.
"""

from helpers import display

TINTS = ("#FFFFFF", "#D3E7F5", "#97C8E8", "#5BA7D6")  # of row 0, 1, 2, 3: ever darker
MARK = "#B84300"  # vermilion, dark enough to stand out in grey too
EDGE, GREY = "black", "#555555"


def sheet(width, height, unit=0.52):
    """Return (figure, axes) of a blank sheet of `width` by `height` squares of `unit` inches."""
    fig, ax = display.figure(figsize=(unit * width, unit * height))
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.axis("off")
    return fig, ax


def square(ax, x, y, text="", colour="white", mark=False, wide=1.0, size=13, **style):
    """Draw an element, `wide` squares wide, whose upper left corner is (x, y)."""
    from matplotlib.patches import Rectangle

    look = {"facecolor": colour, "edgecolor": MARK if mark else EDGE, "zorder": 2 + mark}
    look |= {"linewidth": 3.5 if mark else 0.8} | style
    ax.add_patch(Rectangle((x + 0.06 * wide, y + 0.06), 0.88 * wide, 0.88, **look))
    write(ax, x + wide / 2, y + 0.5, text, size=size, weight=_weight(mark), zorder=5)


def thread(ax, x, y, text, mark=False):
    """Draw the thread whose number is `text`, in the square at (x, y)."""
    from matplotlib.patches import Circle

    look = {"facecolor": "white", "edgecolor": MARK if mark else EDGE, "zorder": 3}
    look |= {"linewidth": 3 if mark else 0.8}
    ax.add_patch(Circle((x + 0.5, y + 0.5), 0.4, **look))
    write(ax, x + 0.5, y + 0.5, text, weight=_weight(mark), zorder=5)


def arrow(ax, start, end, mark=False):
    """Draw an arrow between two points."""
    look = {"arrowstyle": "-|>", "color": MARK if mark else GREY, "mutation_scale": 14}
    look |= {"linewidth": 2.4 if mark else 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=look, zorder=4 + mark)


def write(ax, x, y, text, ha="center", size=13, **style):
    """Write `text` at (x, y), on its middle line."""
    ax.text(x, y, text, ha=ha, va="center", fontsize=size, **style)


def _weight(mark):
    return "bold" if mark else "normal"
