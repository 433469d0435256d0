"""The picture of an LSTM's cell."""

import helpers

GATES = {2.0: "forget\nσ", 3.4: "in\nσ", 4.6: "fresh\ntanh", 6.2: "out\nσ"}
DOTS = (2.0, 4.0, "×"), (4.0, 4.0, "+"), (4.0, 2.7, "×"), (7.2, 1.5, "×")
NAMES = (
    (0.1, 4.0, "$c_{t-1}$"),
    (0.1, 0.6, "$h_{t-1}$"),
    (1.0, -0.5, "$x_t$"),
    (8.85, 4.0, "$c_t$"),
    (8.85, 1.5, "$h_t$"),
)
MEMORY = ((0.45, 4.0), (1.77, 4.0)), ((2.23, 4.0), (3.77, 4.0)), ((4.23, 4.0), (8.6, 4.0))
ARROWS = (
    ((1.0, -0.3), (1.0, 0.58)),
    ((2.0, 1.82), (2.0, 3.77)),
    ((3.4, 1.82), (3.4, 2.7), (3.77, 2.7)),
    ((4.6, 1.82), (4.6, 2.7), (4.23, 2.7)),
    ((4.0, 2.93), (4.0, 3.77)),
    ((7.2, 4.0), (7.2, 3.07)),
    ((7.2, 2.53), (7.2, 1.73)),
    ((6.72, 1.5), (6.97, 1.5)),
    ((7.43, 1.5), (8.6, 1.5)),
    *(((place, 0.6), (place, 1.18)) for place in GATES),
)


def draw_cell():
    """Show one step of the cell: the memory above, the four gates below."""
    fig, ax = helpers.figure(figsize=(8.6, 4.3))
    for points in MEMORY:
        _arrow(ax, *points, color="#0072B2", linewidth=2.6)
    _arrow(ax, (0.45, 0.6), (6.2, 0.6), arrowstyle="-")
    for points in ARROWS:
        _arrow(ax, *points)
    for place, text in GATES.items():
        _box(ax, place, 1.5, text, "#D3E7F5")
    _box(ax, 7.2, 2.8, "tanh", "#DDEBDD")
    for x, y, text in DOTS:
        ax.plot([x], [y], "o", markersize=19, color="#F6D8A8", markeredgecolor="black")
        ax.text(x, y, text, ha="center", va="center", fontsize=12)
    for x, y, text in NAMES:
        ax.text(x, y, text, ha="center", va="center", fontsize=14)
    ax.set(xlim=(-0.3, 9.2), ylim=(-0.8, 4.5))
    ax.axis("off")
    helpers.show(
        fig,
        alt="One step of the cell. The memory c runs along the top: multiplied by the forget gate, "
        "then added to it the product of the in gate and the fresh values. The old h and x enter "
        "the four gates below; h leaves as the out gate times tanh of c.",
    )


def _box(ax, x, y, text, colour):
    from matplotlib.patches import FancyBboxPatch

    style = {"boxstyle": "round,pad=0.05", "facecolor": colour, "edgecolor": "black"}
    ax.add_patch(FancyBboxPatch((x - 0.475, y - 0.27), 0.95, 0.54, **style))
    ax.text(x, y, text, ha="center", va="center", fontsize=11)


def _arrow(ax, *points, **style):
    from matplotlib.patches import FancyArrowPatch

    for start, end in zip(points, points[1:], strict=False):
        shape = {"arrowstyle": "-|>" if end is points[-1] else "-", "mutation_scale": 13}
        shape |= {"shrinkA": 0, "shrinkB": 0, "color": "0.25", "linewidth": 1.4}
        ax.add_patch(FancyArrowPatch(start, end, **shape | style))


def draw_lanes():
    """Show which lane of a warp has which gate of which of five units."""
    fig, ax = helpers.figure(figsize=(8.2, 1.6))
    gates = {"in": "#56B4E9", "forget": "#E69F00", "fresh": "#7BC8A4", "out": "#CC79A7"}
    for k, (gate, colour) in enumerate(gates.items()):
        for unit in range(5):
            ax.barh(0, 0.9, left=5 * k + unit, align="center", color=colour)
            ax.text(5 * k + unit + 0.45, 0, f"{unit}", ha="center", va="center", fontsize=9)
        ax.text(5 * k + 2.5, 0.5, gate, ha="center", va="bottom", fontsize=11)
    ax.barh(0, 12, left=20, color="0.92")
    ax.text(26, 0.5, "idle", ha="center", va="bottom", fontsize=11)
    ax.set(xlim=(-0.2, 32.2), ylim=(-0.5, 1.1))
    ax.axis("off")
    helpers.show(
        fig,
        alt="A warp of 32 lanes: lanes 0 to 4 have the in gates of units 0 to 4, then five forget "
        "gates, five fresh values, five out gates; twelve are idle.",
    )
