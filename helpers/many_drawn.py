"""The drawings of chapters 90 and 95: what goes from GPU to GPU."""

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from helpers import display

_COLOURS = ("#D3E7F5", "#F6D8A8", "#DDEBDD", "#EBD9E8")


def _box(ax, x, y, text, colour="#F4F4F4", wide=1.5, tall=0.6):
    style = {
        "boxstyle": "round,pad=0.04",
        "facecolor": colour,
        "edgecolor": "black",
    }
    ax.add_patch(FancyBboxPatch((x - wide / 2, y - tall / 2), wide, tall, **style))
    ax.text(x, y, text, ha="center", va="center", fontsize=10)


def _arrow(ax, start, end, **style):
    shape = {"arrowstyle": "-|>", "mutation_scale": 13, "color": "0.25"}
    shape |= {"shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
    ax.add_patch(FancyArrowPatch(start, end, **shape | style))


def _canvas(xlim, ylim, size):
    fig, ax = display.figure(figsize=size)
    ax.set(xlim=xlim, ylim=ylim)
    ax.axis("off")
    return fig, ax


def batch_in_parts():
    """A batch cut in two parts, two GPUs, and the sum of their gradients."""
    fig, ax = _canvas((-0.9, 9.7), (-0.6, 2.9), (8.6, 2.9))
    _box(ax, 0, 1.2, "a batch", wide=1.2, tall=1.6)
    for r, y in ((0, 2.0), (1, 0.4)):
        _box(ax, 2.0, y, f"part {r}", _COLOURS[r], wide=1.2)
        _box(ax, 4.3, y, "forward,\nbackward", _COLOURS[r], tall=0.8)
        _box(ax, 8.7, y, "update", _COLOURS[r], wide=1.3)
        ax.text(4.3, y + 0.52, f"GPU {r}: all weights", ha="center", fontsize=9)
        _arrow(ax, (0.65, 1.2 + (y - 1.2) / 2), (1.35, y))
        _arrow(ax, (2.65, y), (3.5, y))
        _arrow(ax, (5.1, y), (6.0, 1.2 + (y - 1.2) / 3))
        _arrow(ax, (7.5, 1.2 + (y - 1.2) / 3), (8.0, y))
    _box(ax, 6.75, 1.2, "sum of\ngradients", _COLOURS[2], wide=1.4, tall=1.1)
    display.show(
        fig,
        alt=(
            "A batch is cut into two parts; each of two GPUs, which both have all "
            "weights, goes forward and backward with its part; the gradients are "
            "summed, and both make the same update."
        ),
    )


def ring():
    """Four ranks pass pieces to the right: first added up, then handed on."""
    fig, ax = _canvas((-0.8, 9.4), (-0.9, 3.6), (8.4, 3.5))
    for half, (left, title) in enumerate(
        ((0.0, "first half: add up"), (5.2, "second half: hand on"))
    ):
        ax.text(left + 1.5, 3.4, title, ha="center", fontsize=11)
        for r in range(4):
            ax.text(left + r, 2.85, f"rank {r}", ha="center", fontsize=9)
            for k in range(4):
                mine = (r + 1) % 4 == k
                full = half == 1 and mine
                colour = _COLOURS[2] if full else "#F4F4F4"
                text = "sum" if full else f"{r}.{k}"
                _box(ax, left + r, 2.3 - 0.6 * k, text, colour, wide=0.62, tall=0.34)
            k = r if half == 0 else (r + 1) % 4
            end = left + r + 0.62
            style = {"color": "#B84300", "linewidth": 2}
            _arrow(ax, (left + r + 0.33, 2.3 - 0.6 * k), (end, 2.3 - 0.6 * k), **style)
        ax.text(
            left + 1.5,
            -0.45,
            "(the last rank's arrow leads to rank 0)",
            ha="center",
            fontsize=9,
        )
    display.show(
        fig,
        alt=(
            "Four ranks with four pieces each. In a step of the first half rank r "
            "passes its piece r to the right, where it is added; in the second half"
            " the finished piece r plus 1 is passed on and replaces what is there."
        ),
    )


def processes():
    """A launcher, two processes, their GPUs."""
    fig, ax = _canvas((-0.6, 9.6), (-0.5, 2.8), (8.4, 2.9))
    _box(ax, 0.6, 1.1, "launcher", wide=1.5)
    for r, y in ((0, 2.0), (1, 0.2)):
        _box(
            ax,
            4.2,
            y,
            f"Python, RANK={r}\nforward, backward, update",
            _COLOURS[r],
            wide=3.2,
            tall=0.85,
        )
        _box(ax, 8.0, y, f"GPU {r}", _COLOURS[r], wide=1.4)
        _arrow(ax, (1.4, 1.1), (2.55, y))
        _arrow(ax, (5.85, y), (7.25, y))
    _arrow(ax, (8.0, 1.65), (8.0, 0.55), arrowstyle="<|-|>", color="#B84300", linewidth=2)
    ax.text(8.15, 1.1, "NCCL", va="center", color="#B84300")
    _arrow(ax, (4.2, 1.52), (4.2, 0.68), arrowstyle="<|-|>", linestyle=":")
    ax.text(4.35, 1.1, "meet once, at a port", va="center", fontsize=9)
    display.show(
        fig,
        alt=(
            "A launcher starts two Python processes, with RANK 0 and RANK 1; each "
            "drives its own GPU. They meet once at a port; from then on their GPUs "
            "talk by NCCL."
        ),
    )


def overlap():
    """Sums after the backward pass, and beside it."""
    fig, ax = _canvas((-1.4, 10.4), (-0.6, 2.9), (8.4, 2.9))
    for row, (name, together_) in enumerate((("one after another", False), ("overlapped", True))):
        y = 2.2 - 1.5 * row
        ax.text(-1.3, y + 0.5, name, fontsize=10)
        for k in range(3):
            _box(
                ax,
                0.6 + 1.7 * k,
                y,
                f"back, layer {2 - k}",
                _COLOURS[0],
                wide=1.55,
                tall=0.42,
            )
        for k in range(3):
            x = 2.0 + 1.7 * k if together_ else 5.5 + 1.3 * k
            x += 0.2 if together_ else 0
            _box(ax, x, y - 0.6, f"sum {2 - k}", _COLOURS[1], wide=1.1, tall=0.42)
        end = 2.2 + 1.7 * 2 + 0.55 if together_ else 5.5 + 2.6 + 0.55
        ax.plot([end, end], [y - 0.9, y + 0.3], color="#B84300", linestyle="-", marker="")
    ax.text(9.3, -0.45, "time →", fontsize=10)
    display.show(
        fig,
        alt=(
            "Three layers go back, the top one first. One after another, three sums"
            " follow the whole backward pass. Overlapped, each sum begins when its "
            "layer has gone back, and only the last one sticks out."
        ),
    )


def letter_boxes():
    """Two ranks post numbers into each other's letter boxes."""
    fig, ax = _canvas((-0.4, 8.9), (-0.3, 3.6), (8.2, 3.3))
    for r, x in ((0, 0.3), (1, 5.3)):
        ax.text(x + 1.5, 3.35, f"rank {r}", ha="center", fontsize=11)
        _box(ax, x + 1.5, 2.7, f"x of rank {r}", _COLOURS[r], wide=3.0, tall=0.45)
        for slot in range(2):
            now = slot == 1
            label = f"from rank {1 - r}, step 5" if now else f"from rank {1 - r}, step 4"
            _box(
                ax,
                x + 1.5,
                1.5 - 0.55 * slot,
                label,
                _COLOURS[1 - r] if now else "#F4F4F4",
                wide=3.0,
                tall=0.42,
            )
        _box(ax, x + 1.5, 0.0, "sum", _COLOURS[2], wide=3.0, tall=0.42)
    style = {"color": "#B84300", "linewidth": 2}
    _arrow(ax, (3.4, 2.65), (5.2, 1.05), **style)
    _arrow(ax, (5.2, 2.65), (3.4, 1.05), **style)
    ax.text(4.3, 2.75, "post", ha="center", color="#B84300", fontsize=10)
    for x in (1.8, 6.8):
        _arrow(ax, (x, 0.68), (x, 0.25))
    display.show(
        fig,
        alt=(
            "Two ranks, each with its numbers x and two letter boxes for the other "
            "rank, one for even and one for odd steps. In step 5 each posts x into "
            "the odd box of the other, and adds up what is in its own."
        ),
    )
